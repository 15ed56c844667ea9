"""Sphinx-Gallery writes the pages of recipes; it never runs one.

With ``plot_gallery = False`` it writes text and code alone. What was recorded is put in when Sphinx
reads the pages (``outputs``), so they are written anew only when a recipe changes.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx_gallery.gen_gallery import generate_gallery_rst
from sphinx_gallery.utils import get_md5sum

from ..errors import GalleryError
from ..project import code_digest, file_state, gallery_folders
from ..recipes.find_recipes import GalleryFile, ignore_pattern, list_files
from ..recorded_page import Unrecorded, load_recorded
from .outputs import write_pictures

logger = logging.getLogger(__name__)

# Settings of Sphinx-Gallery that cannot be others where recordings are shown
_FORCED = {
    "plot_gallery": False,
    "remove_config_comments": True,
    "notebook_extensions": set(),  # downloads.py writes better ones
    "download_all_examples": False,
    "write_computation_times": False,  # the provenance box tells them
    "show_signature": False,
}
# What Sphinx-Gallery notes in its settings while it works
_NOT_OF_CONF = {"titles", "passing_examples", "failing_examples", "stale_examples"}
# What it and the engine write for a recipe
_ENDINGS = (".rst", ".py", ".py.md5", ".zip", ".codeobj.json")


def check_config(_app: Sphinx, config: Config) -> None:
    """Turn off what would run a recipe, or add to its page what a recording has."""
    gallery: dict[str, Any] = config.sphinx_gallery_conf
    if gallery.get("parallel"):
        raise ConfigError(
            "conf.py: set sphinx_gallery_conf['parallel'] = False; its worker processes would run "
            "recipes instead of replaying them (sphinx-build -j is fine)"
        )
    folders = gallery_folders(config)
    gallery.update(
        _FORCED,
        ignore_pattern=ignore_pattern(config),
        gallery_dirs=[pages for pages, _examples in folders],  # Sphinx-Gallery wants no Path
        examples_dirs=[examples for _pages, examples in folders],
    )


def take_over(app: Sphinx) -> None:
    """Have Sphinx-Gallery called by ``make_pages``."""
    listeners = app.events.listeners["builder-inited"]
    for listener in [each for each in listeners if each.handler is generate_gallery_rst]:
        app.disconnect(listener.id)
    app.connect("builder-inited", make_pages)
    app.connect("env-get-outdated", remove_published)


def make_pages(app: Sphinx) -> None:
    """Let Sphinx-Gallery write the pages unless recipes, settings and pictures are as they were.

    All languages share them, so one build at a time does this and the others find them. It leaves
    out recipes that it finds marked by a hash, as it marks those that it has run. ``.made`` holds
    what pages were made from; a build that is interrupted leaves only their names in it.
    """
    app.config.sphinx_gallery_conf["plot_gallery"] = False  # `sphinx-build -D` may have set it
    root = Path(app.srcdir)
    folder = root / gallery_folders(app.config)[0][0]
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / ".made"
    with FileLock(folder / ".lock"):
        files = list_files(app.config, root)
        before: dict[str, Any] = {"settings": "", "sources": "", "recipes": {}, "pages": []}
        with contextlib.suppress(OSError, ValueError, TypeError):  # missing or damaged
            before |= json.loads(path.read_text(encoding="utf-8"))
        # somebody may have removed a page
        now = {"settings": _settings(app), "sources": _sources(app), "pages": _find_pages(app)}
        names = {file.docname for file in files}
        recipes = {
            docname: states
            for docname, states in before["recipes"].items()
            if docname in names and states == _states(states)
        }
        has_changed = any(before[each] != now[each] for each in now)
        if not has_changed and len(recipes) == len(files):
            return
        path.write_text(json.dumps({"pages": before["pages"]}), encoding="utf-8")

        redrawn = set()
        broken: dict[GalleryFile, GalleryError] = {}
        for file in (each for each in files if each.docname not in recipes):
            recording = file.recording(root / app.config.recipe_gallery_recordings)
            states = _states([file.path, recording])  # what is saved meanwhile is for the next one
            page = load_recorded(file, root / app.config.recipe_gallery_recordings)
            if isinstance(page, Unrecorded) and page.recipe is None:
                broken[file] = page.error  # the next build looks at it again
                continue
            recipes[file.docname] = _states(page.recipe.files if page.recipe else []) | states
            if write_pictures(root, file, page):
                redrawn.add(file.docname)
        if redrawn or has_changed:
            for file in files:
                is_new = before["settings"] != now["settings"] or file.docname in redrawn
                if is_new or file in broken or not (root / f"{file.docname}.rst").exists():
                    (root / f"{file.docname}.py.md5").unlink(missing_ok=True)
            left_out = [file for file in broken if not file.path.is_file()]  # a pipe never ends
            try:
                _generate(app, left_out)
            except Exception:  # of many kinds: Sphinx-Gallery makes pages of some
                left_out = [*broken]
                if not broken:
                    raise
                _generate(app, left_out)
            _remove_code_objects(app)
            missing = {*before["pages"]} - {*_find_pages(app)} | {each.docname for each in left_out}
            for path_of_page in (root / f"{name}{end}" for name in missing for end in _ENDINGS):
                path_of_page.unlink(missing_ok=True)
            for copy in (root / f"{file.docname}.py" for file in files if file not in broken):
                # of what the page was made from: the recipe may be another by now
                copy.with_name(f"{copy.name}.md5").write_text(get_md5sum(copy, mode="t"))
        for file, error in broken.items():
            if not (root / f"{file.docname}.rst").exists():
                logger.warning("%s", error, type="recipe_gallery", subtype="recipe")
        made = {**now, "recipes": recipes, "pages": _find_pages(app)}
        path.write_text(json.dumps(made), encoding="utf-8")


def _states(files: Iterable[str | Path]) -> dict[str, str]:
    """Return time and size of files by their paths."""
    return {str(path): repr(file_state(path)) for path in files}


def _settings(app: Sphinx) -> str:
    """Return a hash of the code and of Sphinx-Gallery's settings."""
    values = {
        # sets have no order; objects without a text of their own have an address
        name: sorted(map(repr, value)) if isinstance(value, set | frozenset) else repr(value)
        for name, value in app.config.sphinx_gallery_conf.items()
        if name not in _NOT_OF_CONF and " at 0x" not in repr(value)
    }
    return hashlib.sha256(code_digest() + repr(sorted(values.items())).encode()).hexdigest()


def _sources(app: Sphinx) -> str:
    """Return a hash of the times and sizes of recipes and files beside them."""
    folders = [Path(app.srcdir, examples) for _pages, examples in gallery_folders(app.config)]
    files = [
        path
        for folder in folders
        for path in sorted(folder.rglob("[!.]*"))
        if "__pycache__" not in path.parts and path.is_file()
    ]
    return hashlib.sha256(repr(_states(files)).encode()).hexdigest()


def _find_pages(app: Sphinx) -> list[str]:
    """Return the pages that were made of what lies beside recipes, and those of sub-galleries."""
    ignored = app.config.sphinx_gallery_conf["ignore_pattern"]
    found = []
    for pages, examples in gallery_folders(app.config):
        folder = Path(app.srcdir, examples)
        for source in folder.rglob("*.py"):
            if not re.search(ignored, source.name):
                found.append(f"{pages}/{source.relative_to(folder).with_suffix('').as_posix()}")
        for part in (each for each in folder.rglob("*") if each.is_dir()):
            found.append(f"{pages}/{part.relative_to(folder).as_posix()}/index")
    return sorted(name for name in found if Path(app.srcdir, f"{name}.rst").exists())


def _generate(app: Sphinx, left_out: Iterable[GalleryFile]) -> None:
    """Let Sphinx-Gallery write all pages that are not marked, but those of some files."""
    gallery = app.config.sphinx_gallery_conf
    ignored = gallery["ignore_pattern"]
    names = [f"^{re.escape(file.path.name)}$" for file in left_out]
    try:
        gallery["ignore_pattern"] = "|".join([ignored, *names])
        generate_gallery_rst(app)
    finally:
        gallery["ignore_pattern"] = ignored


def _remove_code_objects(app: Sphinx) -> None:
    """Where nothing tells what names lead to, keep code as Sphinx shows it, with its colours."""
    links = {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"} & app.extensions.keys()
    if not links and not app.config.sphinx_gallery_conf["backreferences_dir"]:
        for pages, _examples in gallery_folders(app.config):
            for path in Path(app.srcdir, pages).rglob("*.codeobj.json"):
                path.unlink()


def remove_published(
    app: Sphinx, _env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Remove what was published of pages that are gone; a hook of ``env-get-outdated``."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        for docname in removed:
            Path(app.builder.get_outfilename(docname)).unlink(missing_ok=True)
            for ending in (".ipynb", ".py"):
                Path(app.outdir, docname + ending).unlink(missing_ok=True)
    return []
