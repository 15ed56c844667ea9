"""A small gallery of its own for a test, and the recipe that most tests use."""

import gettext
import io
import textwrap
from dataclasses import dataclass
from pathlib import Path

import polib
from rich.console import Console
from sphinx.application import Sphinx
from sphinx.locale import translators
from sphinx.util.docutils import docutils_namespace, patch_docutils

from recipe_gallery.recipes.recording import Recording, read_recording
from recipe_gallery.record.session import Job, record

ROOT = Path(__file__).parents[1]

CONF = """
extensions = ["recipe_gallery", "second_call"]
html_baseurl = "https://example.org/site/"
exclude_patterns = ["recipes_source", "out"]
html_math_renderer = "mathml"
sphinx_gallery_conf = {
    "examples_dirs": "recipes_source",
    "gallery_dirs": "recipes",
}
"""


@dataclass(frozen=True)
class Build:
    """What a run of Sphinx left."""

    out: Path
    warnings: str
    read: list[str]  # pages that were read
    exit_status: int

    def page(self, name: str) -> str:
        return (self.out / f"{name}.html").read_text(encoding="utf-8")


class Gallery:
    """A small site of its own in a temporary folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.recipes = root / "recipes_source"
        self.recordings = root / "recordings"
        self.recipes.mkdir()
        self.messages = ""
        root.joinpath("conf.py").write_text(CONF)
        root.joinpath("index.rst").write_text("Site\n====\n\n.. toctree::\n\n   recipes/index\n")
        self.recipes.joinpath("GALLERY_HEADER.rst").write_text("Recipes\n=======\n\nAll.\n")

    def write(self, name: str, text: str) -> Path:
        path = self.recipes / f"{name}.py"
        path.write_text(textwrap.dedent(text).lstrip("\n"))
        return path

    def record(self, *names: str, **options: object) -> bool:
        """Record on the CPU; what was printed is in ``messages``."""
        paths = [self.recipes / f"{name}.py" for name in names]
        stream = io.StringIO()
        job = Job(
            recipes_folder=self.recipes,
            recordings_folder=self.recordings,
            **{"device": "cpu", **options},
        )
        try:
            return record(paths, job, Console(file=stream, soft_wrap=True, width=500))
        finally:
            self.messages = stream.getvalue()

    def recording(self, name: str) -> Recording:
        return read_recording(self.recordings / f"{name}.ipynb")

    def build(self, builder: str = "html", **overrides: object) -> Build:
        warnings, read = io.StringIO(), []
        # Catalogs are kept for the life of a process, which is one build outside of tests.
        translators.clear()
        gettext._translations.clear()
        with patch_docutils(), docutils_namespace():
            app = Sphinx(
                srcdir=self.root,
                confdir=self.root,
                outdir=self.root / "out" / builder,
                doctreedir=self.root / "out" / "doctrees",
                buildername=builder,
                confoverrides=overrides,
                status=io.StringIO(),
                warning=warnings,
            )
            app.connect("source-read", lambda app, docname, source: read.append(docname))
            app.build()
        return Build(self.root / "out" / builder, warnings.getvalue(), read, app.statuscode)

    def translate(self, page: str, messages: dict[str, str], language: str = "ko") -> Path:
        """Write a catalog by hand."""
        path = self.root / "locale" / language / "LC_MESSAGES" / f"{page}.po"
        path.parent.mkdir(parents=True, exist_ok=True)
        catalog = polib.POFile(wrapwidth=0)
        catalog.metadata = {
            "Language": language,
            "Content-Type": "text/plain; charset=UTF-8",
            "Content-Transfer-Encoding": "8bit",
        }
        for text, translation in messages.items():
            comment = "Comment in code" if text.startswith("Why") else ""
            catalog.append(polib.POEntry(msgid=text, msgstr=translation, comment=comment))
        catalog.save(str(path))
        return path


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
