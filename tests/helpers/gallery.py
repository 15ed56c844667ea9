"""A small gallery of its own for a test, and the recipe that most tests use."""

import gettext
import hashlib
import io
import json
import os
import shutil
import subprocess
import tempfile
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import nbformat
import polib
from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.highlighting import lexer_classes
from sphinx.locale import translators
from sphinx.util.docutils import docutils_namespace, patch_docutils

from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.recipes.recording import Recording, read_recording, seal

ROOT = Path(__file__).parents[2]

# The engine but for its search, which replaces that of Sphinx
ENGINE = (
    "sphinx_recorded_gallery",
    "sphinx_recorded_gallery.measurements",
    "sphinx_recorded_gallery.translate",
)

# conf.py of a gallery: those of a test's own come on top. None leaves a setting out.
SETTINGS: dict[str, Any] = {
    "html_baseurl": "https://example.org/site/",
    "exclude_patterns": ["recipes_source", "out", "locale", "_build"],
    "html_math_renderer": "mathml",
    # the plainest pages: what stands around texts takes a sixth of the CPU time of a build
    "html_theme": "basic",
    "html_sidebars": {"**": []},
    "html_use_index": False,
    "html_domain_indices": False,
    "html_copy_source": False,
    # a list of its own: Sphinx-Gallery adds to Sphinx's default, so that the next build of the same
    # process would find another one, and write all pages again
    "templates_path": [],
    "recorded_gallery_trust_outputs": False,
    "locale_dirs": ["locale"],
    "gettext_compact": False,
    "sphinx_gallery_conf": {"examples_dirs": "recipes_source", "gallery_dirs": "recipes"},
}
# as they stand in languages.toml
LANGUAGES = {
    "en": 'en = { name = "English" }',
    "ko": 'ko = { name = "한국어" }',
    "zh_CN": 'zh_CN = { name = "简体中文" }',
    "ja": 'ja = { name = "日本語" }',
    "fr": 'fr = { name = "Français" }',
}


def copy_repository(folder: Path) -> None:
    """Copy this repository without what was made in it."""
    made = {"_build", "recipes"}

    def leave_out(parent: str, names: list[str]) -> set[str]:
        at_root = made if Path(parent) == ROOT else set()
        found = {name for name in names if name in at_root or name.endswith((".mo", ".pyc"))}
        hidden = {".github", ".gitignore", ".readthedocs.yaml"}
        return found | {name for name in names if name.startswith(".") and name not in hidden}

    shutil.copytree(ROOT, folder, ignore=leave_out)


def git(folder: Path, *arguments: str) -> None:
    """Run git in a folder, as somebody who commits."""
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@dataclass(frozen=True)
class Build:
    """What a run of Sphinx left."""

    out: Path
    warnings: str
    read: list[str]  # pages that were read

    def page(self, name: str) -> str:
        return (self.out / f"{name}.html").read_text(encoding="utf-8")


class Gallery:
    """A small site of its own in a temporary folder.

    ``settings`` are those of conf.py: ``configure(**settings)`` changes them, ``add_extension``
    names another one. ``set_languages`` writes languages.toml, ``translate`` a catalog. ``add``
    brings a recipe with its recording, which is made once for all tests.
    """

    def __init__(self, root: Path, extensions: Sequence[str] = ENGINE) -> None:
        self.root = root
        self.settings = SETTINGS | {"extensions": list(extensions)}
        self.recipes = root / "recipes_source"
        self.recordings = root / "recordings"
        self.recipes.mkdir()
        self.messages = ""
        self.configure()
        root.joinpath("index.rst").write_text("Site\n====\n\n.. toctree::\n\n   recipes/index\n")
        self.recipes.joinpath("GALLERY_HEADER.rst").write_text("Recipes\n=======\n\nAll.\n")

    def configure(self, **settings: object) -> None:
        """Set, change or (with None) leave out settings of conf.py."""
        self.settings |= settings
        lines = [
            f"{name} = {value!r}\n" for name, value in self.settings.items() if value is not None
        ]
        (self.root / "conf.py").write_text("".join(lines), encoding="utf-8")

    def add_extension(self, name: str, **settings: object) -> None:
        """Name one more extension in conf.py, with its settings."""
        self.configure(extensions=[*self.settings["extensions"], name], **settings)

    def set_languages(self, *codes: str) -> None:
        """Write languages.toml: English and these; each is published below the site's address."""
        lines = [f"{LANGUAGES[code]}\n" for code in ("en", *codes)]
        (self.root / "languages.toml").write_text("".join(lines), encoding="utf-8")
        self.configure(html_baseurl=None, recorded_gallery_site_url="https://example.org/site/")

    def write(self, name: str, text: str) -> Path:
        """Write a recipe."""
        path = self.recipes / f"{name}.py"
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    def add(self, name: str = "adding", text: str = "") -> Path:
        """Write a recipe, by default ``RECIPE``, and its recording, made once for all tests."""
        path = self.write(name, text or RECIPE)
        self.recordings.mkdir(exist_ok=True)
        (self.recordings / f"{name}.ipynb").write_bytes(_record_once(name, text or RECIPE))
        return path

    def record(self, *names: str, **options: object) -> bool:
        """Record on the CPU; what was printed is in ``messages``."""
        from sphinx_recorded_gallery.record.record_recipes import (  # for tests that record
            Options,
            record,
        )

        stream = io.StringIO()
        wanted = Options(**{"device": "cpu", **options})
        try:
            return record(load_project(self.root), names, wanted, stream)
        finally:
            self.messages = stream.getvalue()

    def recording(self, name: str) -> Recording:
        return read_recording(self.recordings / f"{name}.ipynb")

    def build(self, builder: str = "html", parallel: int = 1, **overrides: object) -> Build:
        warnings, read = io.StringIO(), []
        # Catalogs are kept for the life of a process, which is one build outside of tests.
        translators.clear()
        gettext._translations.clear()
        lexers = patch.dict(lexer_classes)  # Sphinx keeps those of an extension for other builds
        with patch_docutils(), docutils_namespace(), lexers:
            app = Sphinx(
                srcdir=self.root,
                confdir=self.root,
                outdir=self.root / "out" / builder,
                doctreedir=self.root / "out" / "doctrees",
                buildername=builder,
                confoverrides=overrides,
                status=io.StringIO(),
                warning=warnings,
                parallel=parallel,
            )
            app.connect("source-read", lambda app, docname, source: read.append(docname))
            app.build()
        return Build(self.root / "out" / builder, warnings.getvalue(), read)

    def translate(self, page: str, messages: dict[str, str], language: str = "ko") -> Path:
        """Write a catalog by hand."""
        entries = []
        for text, translation in messages.items():
            comment = "Comment in code" if text.startswith("Why") else ""
            entries.append(polib.POEntry(msgid=text, msgstr=translation, comment=comment))
        path = self.root / "locale" / language / "LC_MESSAGES" / f"{page}.po"
        return save_catalog(path, *entries, language=language)


def save_catalog(path: Path, *entries: polib.POEntry, language: str = "ko") -> Path:
    """Write a catalog with a header as it should be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog = polib.POFile(wrapwidth=0)
    catalog.metadata = {
        "Language": language,
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    catalog.extend(entries)
    catalog.save(str(path))
    return path


def write_recording(path: Path, text: str) -> None:
    """Write the text of a recording that a test has changed, with hashes that fit it."""
    path.write_text(json.dumps(seal(nbformat.v4.reads_json(text)), indent=1), encoding="utf-8")


@cache
def _record_once(name: str, text: str) -> bytes:
    """Return a recording; RECORDINGS_OF_TESTS is a folder in which processes share them."""
    if folder := os.environ.get("RECORDINGS_OF_TESTS"):
        shared = Path(folder, f"{name}-{hashlib.sha256(text.encode()).hexdigest()[:16]}.ipynb")
        shared.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{shared}.lock"):
            if not shared.exists():
                made = shared.with_suffix(".new")
                made.write_bytes(_record(name, text))
                made.rename(shared)
            return shared.read_bytes()
    return _record(name, text)


def _record(name: str, text: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        gallery = Gallery(Path(folder))
        gallery.write(name, text)
        assert gallery.record(name), gallery.messages
        return (gallery.recordings / f"{name}.ipynb").read_bytes()


# A recipe with text, code, a table and a figure
RECIPE = '''
        """
        Adding numbers
        ==============

        A first sentence with ``code``.

        See :doc:`/index`, `Python <https://www.python.org>`__ and :math:`x^2`.
        """

        # sphinx_gallery_cell_timeout = 60

        # %%
        # Text
        # ----
        #
        # A paragraph.
        #
        # .. note::
        #
        #    A remark.

        # Why this is here.
        total = 1 + 2
        print("the total is", total)

        # %%
        # .. list-table::
        #    :header-rows: 1
        #
        #    * - one
        #      - two
        #    * - 1
        #      - 2


        class Table:
            """Something that shows itself as HTML."""

            def _repr_html_(self):
                return "<table><tr><td>cell</td></tr></table>"


        Table()

        # %%

        # sphinx_gallery_alt = "A black square"
        from base64 import b64decode

        from IPython.display import Image

        PNG = (
            "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJ"
            "RU5ErkJggg=="
        )
        Image(b64decode(PNG))
        '''
