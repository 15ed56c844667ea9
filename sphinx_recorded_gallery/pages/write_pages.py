"""Sphinx-Gallery writes the pages of recipes; it never runs one.

With ``plot_gallery = False`` it writes text and code alone. What was recorded is put in when Sphinx
reads the pages (``outputs``), so they are written anew only when a recipe changes.
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


@dataclass(frozen=True, kw_only=True)
class Inputs:
    """All that the pages of recipes are made from."""

    files: tuple[GalleryFile, ...]
    # what tells whether a file is another by now, by its path; "code" is that of the engine
    states: dict[str, str]
    # to which recipe a file belongs, by its path: its source and its recording
    owners: dict[str, GalleryFile]
    recordings: frozenset[str]  # those of the paths that are recordings
    conf: str  # path of conf.py


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What has to be done because inputs have changed, or pages are gone."""

    rewrite: frozenset[GalleryFile]  # pages to write whatever Sphinx-Gallery's hashes say
    check_pictures: frozenset[GalleryFile]  # whose recorded pictures may have changed
    edited: frozenset[GalleryFile]  # recipes that changed, if nothing else did; else none
    changes_text: bool  # something else than a recording has changed


def plan(inputs: Inputs, former: Mapping[str, str], missing: Collection[GalleryFile]) -> Plan:
    """Return what to do: ``former`` are the states when pages were last made.

    ``missing`` are the recipes without a page.
    """
    paths = inputs.states.keys() | former.keys()
    changed = {path for path in paths if inputs.states.get(path) != former.get(path)}
    touched = {inputs.owners[path] for path in changed if path in inputs.owners} | {*missing}
    # What belongs to no recipe, such as a module beside them, may be part of any.
    concerns_all = not changed <= inputs.owners.keys()
    changes_every_page = not changed.isdisjoint({"code", inputs.conf})
    recorded = {inputs.owners[path] for path in changed & inputs.recordings}
    with_other_links = {file for file in recorded if file.links_code}
    return Plan(
        rewrite=frozenset(inputs.files if changes_every_page else {*missing, *with_other_links}),
        check_pictures=frozenset(inputs.files if concerns_all else touched),
        edited=frozenset() if concerns_all or missing else frozenset(touched),
        changes_text=not changed <= inputs.recordings,
    )


def make_pages(app: Sphinx) -> None:
    """Let Sphinx-Gallery write the pages, unless recipes, conf.py and pictures are as they were.

    All languages share the pages, so one build at a time does this and the others find them.
    ``.made`` records the inputs of the last complete run; an interrupted build leaves no such file.
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
        inputs = _read_inputs(app)
        former = _read_states(made)
        missing = [file for file in inputs.files if not (root / f"{file.docname}.rst").exists()]
        if inputs.states == former and not missing:
            return
        made.unlink(missing_ok=True)
        _apply(app, plan(inputs, former, missing), inputs)
        made.write_text(json.dumps(inputs.states), encoding="utf-8")


def _read_inputs(app: Sphinx) -> Inputs:
    """Look at all inputs; what is saved afterwards is for the next build."""
    root = Path(app.srcdir)
    files = list_files(app.config, root)
    folder = root / app.config.recorded_gallery_recordings
    of_recordings = {str(file.recording(folder)): file for file in files}
    owners = {str(file.path): file for file in files} | of_recordings
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
        recordings=frozenset(of_recordings),
        conf=conf,
    )


def _read_states(made: Path) -> dict[str, str]:
    """Return the states that pages were made from; none if the file is missing or damaged."""
    with contextlib.suppress(OSError, ValueError, TypeError):
        return dict(json.loads(made.read_text(encoding="utf-8")))
    return {}


def _apply(app: Sphinx, plan: Plan, inputs: Inputs) -> None:
    """Write pictures, and pages where text or thumbnails change.

    Sphinx-Gallery skips recipes with an up-to-date ``.md5``, as it does those that it has run.
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
    with give_names(inputs.files, recordings):
        _generate(app, unreadable, () if rewrite or unreadable else plan.edited)
    for file in inputs.files:
        copy = root / f"{file.docname}.py"
        if copy.exists():  # the recipe may be another by now
            copy.with_name(f"{copy.name}.md5").write_text(get_md5sum(copy, mode="t"))


def _generate(
    app: Sphinx, unreadable: Iterable[GalleryFile], edited: Collection[GalleryFile]
) -> None:
    """Let Sphinx-Gallery write all pages that are not marked; remove those of no recipe.

    To write any, it reads all recipes twice. That is not done if only recipes that it lists as
    before were ``edited``.
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
    """Tell whether lists of the gallery show these recipes as in the last build."""
    gallery = app.config.sphinx_gallery_conf
    order = str(gallery["within_subsection_order"])
    if gallery["backreferences_dir"] or gallery["recommender"]["enable"] or "Size" in order:
        return False  # they depend on the whole text
    if "FileName" in order and not app.config.recorded_gallery_thumbnails:
        return True  # they depend on no text
    return all(_is_alike(file, Path(app.srcdir, f"{file.docname}.py")) for file in files)


def _remove_leftovers(app: Sphinx, without_pages: str) -> None:
    """Remove what was written for recipes that are gone or have no page, and unused notes."""
    gallery = app.config.sphinx_gallery_conf
    # Where nothing tells what names lead to, code stays as Sphinx shows it, with its colours.
    has_links = gallery["backreferences_dir"] or (
        {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"} & app.extensions.keys()
    )
    unused = () if has_links else (".codeobj.json",)
    for pages, examples in gallery_folders(app.config):
        folder = Path(app.srcdir, pages)
        for copy in folder.rglob("*.py"):
            source = Path(app.srcdir, examples, copy.relative_to(folder))
            is_gone = not source.exists() or re.search(without_pages, source.name)
            for ending in _ENDINGS if is_gone else unused:
                copy.with_name(f"{copy.stem}{ending}").unlink(missing_ok=True)
            if not source.parent.exists():
                (copy.parent / "index.rst").unlink(missing_ok=True)


def _is_alike(file: GalleryFile, copy: Path) -> bool:
    """Tell whether title, settings and code of a recipe are as in the copy of the last build."""

    def read(path: Path) -> tuple[Any, ...]:
        settings, blocks = split_code_and_text_blocks(path)
        code = [block.content for block in blocks if block.type == "code"]
        return settings, blocks[0], code

    return read(file.path) == read(copy)


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
