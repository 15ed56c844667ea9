"""Sphinx-Gallery writes the pages of recipes; it never runs one.

With ``plot_gallery = False`` it writes text and code alone. What was recorded is put in when Sphinx
reads the pages (``outputs``), so they are written anew only when a recipe changes.
"""

import contextlib
import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path, PurePath

from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx_gallery.gen_gallery import generate_gallery_rst
from sphinx_gallery.gen_rst import generate_file_rst
from sphinx_gallery.py_source_parser import split_code_and_text_blocks
from sphinx_gallery.utils import get_md5sum

from ..errors import GalleryError
from ..project import code_digest, file_state, gallery_folders
from ..recipes.find_recipes import GalleryFile, ignore_pattern, list_files
from ..recipes.recorded_recipe import load_recorded
from .outputs import write_pictures
from .recorded_names import give_names

logger = logging.getLogger(__name__)

# Settings of Sphinx-Gallery that cannot be others where recordings are shown
_FORCED = {
    "plot_gallery": False,
    "binder": {},
    "parallel": False,  # runs nothing, and would start processes for it
    "remove_config_comments": True,
    "notebook_extensions": set(),  # downloads.py writes better ones
    "download_all_examples": False,
    "write_computation_times": False,  # the provenance box tells them
    "show_signature": False,
}
# Those that add to pages what a gallery of recordings has not, and what to do instead
_WITHOUT_EFFECT = {
    "binder": "link to Binder from a page of your own",
    "download_all_examples": "link to the folder of examples",
    "jupyterlite": "put the notebooks of the finished site into JupyterLite",
    "image_scrapers": "show pictures with display(), or let their class have a _repr_png_",
    "matplotlib_animations": "show it with display(HTML(animation.to_jshtml()))",
    "reset_modules": "import what it does from a module beside the examples",
}
# Scrapers and resets whose work is done without them
_COMMON = {"matplotlib", "seaborn"}
# What it and the engine write for a recipe
_ENDINGS = (".rst", ".py", ".py.md5", ".zip", ".codeobj.json")


def check_config(_app: Sphinx, config: Config) -> None:
    """Turn off what would run a recipe, or add to its page what a recording has."""
    # Sphinx-Gallery would import it for each build, next at 10, though it draws nothing here.
    sys.modules.setdefault("matplotlib", None)  # type: ignore[arg-type]
    _tell_settings_without_effect(config)
    config.sphinx_gallery_conf.update(_FORCED, ignore_pattern=ignore_pattern(config))


def _tell_settings_without_effect(config: Config) -> None:
    """Warn of settings in ``sphinx_gallery_conf`` without which something is missing on pages."""
    for name, remedy in _WITHOUT_EFFECT.items():
        value = config.sphinx_gallery_conf.get(name)
        if name in ("image_scrapers", "reset_modules"):
            values = [value] if isinstance(value, str) else list(value or ())
            is_fine = all(isinstance(item, str) and item in _COMMON for item in values)
        elif isinstance(value, tuple):  # whether, and how
            is_fine = not any(value[:1])
        else:
            is_fine = not value
        if not is_fine:
            text = f"conf.py: sphinx_gallery_conf: {name} has no effect on recordings"
            error = GalleryError(text, remedy=f"remove it; {remedy}")
            logger.warning("%s", error, type="recorded_gallery", subtype="setting")


def exclude_notebooks(_app: Sphinx, config: Config) -> None:
    """Let recordings, and what Sphinx-Gallery left beside its pages, be no pages themselves.

    Other extensions, such as MyST-NB and nbsphinx, make pages of notebooks and scripts, and would
    run those that have no outputs.
    """
    patterns = [PurePath(config.recorded_gallery_recordings).as_posix()]
    for pages, _examples in gallery_folders(config):
        patterns += [f"{pages}/**.ipynb", f"{pages}/**.py"]
    config.exclude_patterns = [*config.exclude_patterns, *patterns]


def unhide_matplotlib(_app: Sphinx, _config: Config) -> None:
    """Let others import it again."""
    if sys.modules.get("matplotlib", sys) is None:
        del sys.modules["matplotlib"]


def make_pages(app: Sphinx) -> None:
    """Let Sphinx-Gallery write the pages unless recipes, conf.py and pictures are as they were.

    All languages share them, so one build at a time does this and the others find them. It leaves
    out recipes that it finds marked by a hash, as it marks those that it has run. ``.made`` holds
    what pages were made from; a build that is interrupted leaves none. A recipe that cannot be read
    has no page.
    """
    app.config.sphinx_gallery_conf["plot_gallery"] = False  # `sphinx-build -D` may have set it
    root = Path(app.srcdir)
    galleries = gallery_folders(app.config)
    if not galleries:
        return
    folder = root / galleries[0][0]
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / ".made"
    with FileLock(folder / ".lock"):
        files = list_files(app.config, root)
        recordings = root / app.config.recorded_gallery_recordings
        of_recording = {str(file.recording(recordings)): file for file in files}
        owners = {str(file.path): file for file in files} | of_recording
        conf, code = str(Path(app.confdir, "conf.py")), code_digest().hex()
        names = {conf, *owners}  # what is saved meanwhile is for the next build
        for _pages, examples in gallery_folders(app.config):
            beside = (path for path in (root / examples).rglob("[!.]*") if path.is_file())
            names |= {str(path) for path in beside if "__pycache__" not in path.parts}
        now = {"code": code} | {name: repr(file_state(name)) for name in names}
        before: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError, TypeError):  # missing or damaged
            before = dict(json.loads(made.read_text(encoding="utf-8")))
        changed = {name for name in {*now, *before} if now.get(name) != before.get(name)}
        lost = {file for file in files if not (root / f"{file.docname}.rst").exists()}
        if not changed and not lost:
            return
        made.unlink(missing_ok=True)

        broken: dict[GalleryFile, GalleryError] = {}
        again = set(files) if {"code", conf} & changed else lost
        # What is no recipe's, such as a module, may be of any.
        at_hand = lost | {owners[name] for name in changed if name in owners}
        for file in files if changed - owners.keys() else at_hand:
            try:
                has_other_pictures = write_pictures(root, file, load_recorded(file, recordings))
                is_recorded_anew = str(file.recording(recordings)) in changed
                if has_other_pictures or (file.links_code and is_recorded_anew):
                    again.add(file)
            except GalleryError as error:
                broken[file] = error
                logger.warning("%s", error, type="recorded_gallery", subtype="recipe")
        if again or changed - of_recording.keys():
            for file in again:
                (root / f"{file.docname}.py.md5").unlink(missing_ok=True)
            edited = at_hand if not (again or broken or changed - owners.keys()) else set()
            with give_names(files, recordings):
                _generate(app, broken, edited)
            for copy in (root / f"{file.docname}.py" for file in files):
                if copy.exists():  # the recipe may be another by now
                    copy.with_name(f"{copy.name}.md5").write_text(get_md5sum(copy, mode="t"))
        made.write_text(json.dumps(now), encoding="utf-8")


def _generate(app: Sphinx, broken: Iterable[GalleryFile], edited: Iterable[GalleryFile]) -> None:
    """Let Sphinx-Gallery write all pages that are not marked; remove those of no recipe.

    It reads all recipes twice for that: not if just these are ``edited``, and listed as before.
    """
    gallery = app.config.sphinx_gallery_conf
    order = str(gallery["within_subsection_order"])
    by_text = gallery["backreferences_dir"] or gallery["recommender"]["enable"] or "Size" in order
    is_plain = "FileName" in order and not app.config.recorded_gallery_thumbnails
    copies = {file: Path(app.srcdir, f"{file.docname}.py") for file in edited}
    is_alone = copies and not by_text and (is_plain or all(map(_is_alike, copies, copies.values())))
    ignored = gallery["ignore_pattern"]
    names = [f"^{re.escape(file.path.name)}$" for file in broken]
    gallery["ignore_pattern"] = without = "|".join([ignored, *names])
    try:
        if not is_alone:
            generate_gallery_rst(app)
        for file in copies if is_alone else ():
            generate_file_rst(file.path.name, copies[file].parent, file.path.parent, gallery)
    finally:
        gallery["ignore_pattern"] = ignored
    # Where nothing tells what names lead to, code stays as Sphinx shows it, with its colours.
    links = {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"} & app.extensions.keys()
    unused = () if links or gallery["backreferences_dir"] else (".codeobj.json",)
    for pages, examples in gallery_folders(app.config):
        folder = Path(app.srcdir, pages)
        for copy in folder.rglob("*.py"):
            source = Path(app.srcdir, examples, copy.relative_to(folder))
            is_gone = not source.exists() or re.search(without, source.name)
            for ending in _ENDINGS if is_gone else unused:
                copy.with_name(f"{copy.stem}{ending}").unlink(missing_ok=True)
            if not source.parent.exists():
                (copy.parent / "index.rst").unlink(missing_ok=True)


def _is_alike(file: GalleryFile, copy: Path) -> bool:
    """Tell whether title, settings and code of a recipe are as in the copy of the last build."""
    now, before = (
        (settings, blocks[0], [block.content for block in blocks if block.type == "code"])
        for settings, blocks in map(split_code_and_text_blocks, (file.path, copy))
    )
    return now == before


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
