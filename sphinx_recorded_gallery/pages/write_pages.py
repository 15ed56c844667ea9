"""Let Sphinx-Gallery write the pages of recipes without running any.

With ``plot_gallery = False`` it writes only text and code. Recorded outputs are added when Sphinx
reads the pages (``outputs``), so a page is written again only when its recipe changes.
"""

import contextlib
import json
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

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

# Settings of Sphinx-Gallery that a gallery of recordings needs
_FORCED = {
    "plot_gallery": False,
    "binder": {},
    "parallel": False,  # it would start processes, with nothing to run
    "remove_config_comments": True,
    "notebook_extensions": set(),  # downloads.py writes better ones
    "download_all_examples": False,
    "write_computation_times": False,  # the provenance box shows them
    "show_signature": False,
}
# Settings for what a gallery of recordings does not have, and what to do instead
_WITHOUT_EFFECT = {
    "binder": "link to Binder from a page of your own",
    "download_all_examples": "link to the folder of examples",
    "jupyterlite": "put the notebooks of the finished site into JupyterLite",
    "image_scrapers": "show pictures with display(), or let their class have a _repr_png_",
    "matplotlib_animations": "show it with display(HTML(animation.to_jshtml()))",
    "reset_modules": "import what it does from a module beside the examples",
}
# Scrapers and resets that are not needed
_COMMON = {"matplotlib", "seaborn"}
# Files that Sphinx-Gallery and the engine write for a recipe
_ENDINGS = (".rst", ".py", ".py.md5", ".zip", ".codeobj.json")


def check_config(_app: Sphinx, config: Config) -> None:
    """Set what Sphinx-Gallery may not do: run recipes, and add what recordings bring along."""
    # Sphinx-Gallery would import Matplotlib in each build, next at priority 10, and not use it.
    sys.modules.setdefault("matplotlib", None)  # type: ignore[arg-type]
    _warn_of_settings_without_effect(config)
    config.sphinx_gallery_conf.update(_FORCED, ignore_pattern=ignore_pattern(config))


def _warn_of_settings_without_effect(config: Config) -> None:
    """Warn of settings in ``sphinx_gallery_conf`` that would add something to pages."""
    for name, remedy in _WITHOUT_EFFECT.items():
        value = config.sphinx_gallery_conf.get(name)
        if name in ("image_scrapers", "reset_modules"):
            values = [value] if isinstance(value, str) else list(value or ())
            is_fine = all(isinstance(item, str) and item in _COMMON for item in values)
        elif isinstance(value, tuple):  # a switch, and how to do it
            is_fine = not any(value[:1])
        else:
            is_fine = not value
        if not is_fine:
            text = f"conf.py: sphinx_gallery_conf: {name} has no effect on recordings"
            error = GalleryError(text, remedy=f"remove it; {remedy}")
            logger.warning("%s", error, type="recorded_gallery", subtype="setting")


def exclude_notebooks(_app: Sphinx, config: Config) -> None:
    """Exclude recordings, and files that Sphinx-Gallery writes beside its pages, from the pages.

    Extensions such as MyST-NB and nbsphinx turn notebooks and scripts into pages, and would run
    those without outputs.
    """
    patterns = [PurePath(config.recorded_gallery_recordings).as_posix()]
    for pages, _examples in gallery_folders(config):
        patterns += [f"{pages}/**.ipynb", f"{pages}/**.py"]
    config.exclude_patterns = [*config.exclude_patterns, *patterns]


def unhide_matplotlib(_app: Sphinx, _config: Config) -> None:
    """Let Matplotlib be imported again."""
    if sys.modules.get("matplotlib", sys) is None:
        del sys.modules["matplotlib"]


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """Everything that the pages of recipes are made from."""

    files: tuple[GalleryFile, ...]
    # time and size of each file by path, which show whether it changed; "code" is the engine's code
    states: dict[str, str]
    # the recipe to which a source or a recording belongs, by the path of the file
    owners: dict[str, GalleryFile]
    recordings: frozenset[str]  # paths of recordings
    conf: str  # path of conf.py


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What to do after inputs have changed or pages were removed."""

    rewrite: frozenset[GalleryFile]  # pages to write even if Sphinx-Gallery's hashes are current
    check_pictures: frozenset[GalleryFile]  # recipes whose recorded pictures may have changed
    edited: frozenset[GalleryFile]  # the changed recipes, if nothing else changed
    changes_text: bool  # something other than a recording has changed


def plan(inputs: Inputs, former: Mapping[str, str], missing: Collection[GalleryFile]) -> Plan:
    """Return what to do, given the ``former`` states, those when pages were last made.

    ``missing`` are the recipes without a page.
    """
    paths = inputs.states.keys() | former.keys()
    changed = {path for path in paths if inputs.states.get(path) != former.get(path)}
    touched = set(missing)
    rewrite = set(missing)
    for path in changed & inputs.owners.keys():
        file = inputs.owners[path]
        touched.add(file)
        if path in inputs.recordings and file.links_code:  # its links may lead elsewhere now
            rewrite.add(file)
    if {"code", inputs.conf} & changed:
        rewrite.update(inputs.files)
    check_pictures = touched
    edited = touched
    # A file without an owner, such as a module beside the recipes, may be part of any of them.
    concerns_all = not changed <= inputs.owners.keys()
    if concerns_all:
        check_pictures = set(inputs.files)
    if concerns_all or missing:
        edited = set()
    return Plan(
        rewrite=frozenset(rewrite),
        check_pictures=frozenset(check_pictures),
        edited=frozenset(edited),
        changes_text=not changed <= inputs.recordings,
    )


def make_pages(app: Sphinx) -> None:
    """Let Sphinx-Gallery write the pages, unless recipes, conf.py and pictures are unchanged.

    All languages share the pages: one build at a time writes them, and the others find them.
    ``.made`` records the inputs of the last complete run; an interrupted build leaves no such file.
    """
    app.config.sphinx_gallery_conf["plot_gallery"] = False  # `sphinx-build -D` may have set it
    root = Path(app.srcdir)
    galleries = gallery_folders(app.config)
    if not galleries:
        return
    folder = root / galleries[0][0]
    folder.mkdir(parents=True, exist_ok=True)
    state_file = folder / ".made"
    with FileLock(folder / ".lock"):
        inputs = _read_inputs(app)
        former = _read_states(state_file)
        missing = [file for file in inputs.files if not (root / f"{file.docname}.rst").exists()]
        if inputs.states == former and not missing:
            return
        state_file.unlink(missing_ok=True)
        _apply(app, plan(inputs, former, missing), inputs)
        state_file.write_text(json.dumps(inputs.states), encoding="utf-8")


def _read_inputs(app: Sphinx) -> Inputs:
    """Return the current inputs; a file that is saved later is left to the next build."""
    root = Path(app.srcdir)
    files = list_files(app.config, root)
    folder = root / app.config.recorded_gallery_recordings
    owners_of_recordings = {str(file.recording_path(folder)): file for file in files}
    owners = {str(file.path): file for file in files} | owners_of_recordings
    conf = str(Path(app.confdir, "conf.py"))
    paths = {conf, *owners}
    for _pages, examples in gallery_folders(app.config):
        for path in (root / examples).rglob("[!.]*"):
            if path.is_file() and "__pycache__" not in path.parts:
                paths.add(str(path))
    states = {path: repr(file_state(path)) for path in paths}
    return Inputs(
        files=tuple(files),
        states={"code": code_digest().hex(), **states},
        owners=owners,
        recordings=frozenset(owners_of_recordings),
        conf=conf,
    )


def _read_states(state_file: Path) -> dict[str, str]:
    """Return the states that pages were made from; none if the file is missing or damaged."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return dict(json.loads(state_file.read_text(encoding="utf-8")))
    return {}


def _apply(app: Sphinx, plan: Plan, inputs: Inputs) -> None:
    """Write pictures, and the pages whose text or thumbnail changes.

    Sphinx-Gallery skips recipes with an up-to-date ``.md5``, as if it had run them.
    """
    root = Path(app.srcdir)
    recordings = root / app.config.recorded_gallery_recordings
    rewrite = set(plan.rewrite)
    unreadable: list[GalleryFile] = []
    for file in inputs.files:
        if file not in plan.check_pictures:
            continue
        try:
            if write_pictures(root, file, load_recorded(file, recordings)):
                rewrite.add(file)  # for its thumbnail
        except GalleryError as error:
            unreadable.append(file)
            logger.warning("%s", error, type="recorded_gallery", subtype="recipe")
    if not rewrite and not plan.changes_text:
        return
    for file in rewrite:
        (root / f"{file.docname}.py.md5").unlink(missing_ok=True)
    edited: Collection[GalleryFile] = plan.edited
    if rewrite or unreadable:
        edited = ()
    with give_names(inputs.files, recordings):
        _generate(app, unreadable, edited)
    for file in inputs.files:
        copy = root / f"{file.docname}.py"
        if copy.exists():  # hash the copy, since the recipe may have been saved meanwhile
            copy.with_name(f"{copy.name}.md5").write_text(get_md5sum(copy, mode="t"))


def _generate(
    app: Sphinx, unreadable: Iterable[GalleryFile], edited: Collection[GalleryFile]
) -> None:
    """Let Sphinx-Gallery write the pages whose ``.md5`` is missing or old; remove leftovers.

    Sphinx-Gallery reads all recipes twice for that. If lists of the gallery do not change, only the
    ``edited`` recipes are read.
    """
    gallery = app.config.sphinx_gallery_conf
    ignored = gallery["ignore_pattern"]
    names = [f"^{re.escape(file.path.name)}$" for file in unreadable]
    without_pages = "|".join([ignored, *names])
    gallery["ignore_pattern"] = without_pages
    try:
        if edited and _are_listed_as_before(app, edited):
            for file in edited:
                copy = Path(app.srcdir, f"{file.docname}.py")
                generate_file_rst(file.path.name, copy.parent, file.path.parent, gallery)
        else:
            generate_gallery_rst(app)
    finally:
        gallery["ignore_pattern"] = ignored
    _remove_leftovers(app, without_pages)


def _are_listed_as_before(app: Sphinx, files: Collection[GalleryFile]) -> bool:
    """Return whether lists of the gallery show these recipes as in the last build."""
    gallery = app.config.sphinx_gallery_conf
    order = str(gallery["within_subsection_order"])
    if gallery["backreferences_dir"] or gallery["recommender"]["enable"] or "Size" in order:
        return False  # lists depend on the whole text
    if "FileName" in order and not app.config.recorded_gallery_thumbnails:
        return True  # lists depend on no text
    return all(_is_alike(file, Path(app.srcdir, f"{file.docname}.py")) for file in files)


def _remove_leftovers(app: Sphinx, without_pages: str) -> None:
    """Remove files of recipes without a page, and lists of names that nobody uses."""
    gallery = app.config.sphinx_gallery_conf
    # Where names lead nowhere, code keeps the highlighting of Sphinx.
    has_links = gallery["backreferences_dir"] or (
        {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"} & app.extensions.keys()
    )
    unused = () if has_links else (".codeobj.json",)
    for pages, examples in gallery_folders(app.config):
        folder = Path(app.srcdir, pages)
        for copy in folder.rglob("*.py"):
            source = Path(app.srcdir, examples, copy.relative_to(folder))
            is_gone = not source.exists() or re.search(without_pages, source.name)
            endings = _ENDINGS if is_gone else unused
            for ending in endings:
                copy.with_name(f"{copy.stem}{ending}").unlink(missing_ok=True)
            if not source.parent.exists():
                (copy.parent / "index.rst").unlink(missing_ok=True)


def _is_alike(file: GalleryFile, copy: Path) -> bool:
    """Return whether title, settings and code of a recipe equal the copy of the last build."""

    def read(path: Path) -> tuple[Any, ...]:
        settings, blocks = split_code_and_text_blocks(path)
        code = [block.content for block in blocks if block.type == "code"]
        return settings, blocks[0], code

    return read(file.path) == read(copy)


def remove_published(
    app: Sphinx, _env: BuildEnvironment, _added: set[str], _changed: set[str], removed: set[str]
) -> list[str]:
    """Remove the published files of removed pages; a listener of ``env-get-outdated``."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        for docname in removed:
            Path(app.builder.get_outfilename(docname)).unlink(missing_ok=True)
            for ending in (".ipynb", ".py"):
                Path(app.outdir, docname + ending).unlink(missing_ok=True)
    return []
