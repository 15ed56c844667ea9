"""Replay recordings: hand Sphinx-Gallery what a recipe printed and drew instead of running it.

``sphinx_gallery.gen_rst.execute_script`` is the one place where Sphinx-Gallery runs code (its
signature has been the same since 0.17). It is replaced while pages are made, and ``plot_gallery``
is off as well, so that code still would not run if a later Sphinx-Gallery called something else.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx_gallery import gen_gallery, gen_rst
from sphinx_gallery._doctree_links import CodeLinksTransform
from sphinx_gallery.gen_gallery import generate_gallery_rst
from sphinx_gallery.gen_rst import extract_intro_and_title
from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError
from ..incremental.made_pages import (
    Generated,
    Memory,
    digest_settings,
    note_warnings,
    remove_pages,
    remove_published,
    state_of_pages,
    state_of_sources,
)
from ..project import gallery_folders
from ..recipes.gallery import GalleryFile, find_file, list_files
from ..recipes.recipe import Cell, is_blank, load_recipe
from ..recipes.references import leave_out_figures
from ..recipes.settings import without_notes
from .gallery_settings import tell_unused
from .outputs_rst import ImageWriter, Replay

logger = logging.getLogger(__name__)


def take_over(app: Sphinx) -> None:
    """Have ``make_pages`` called where Sphinx-Gallery would make its pages."""
    listeners = app.events.listeners["builder-inited"]
    for listener in [each for each in listeners if each.handler is generate_gallery_rst]:
        app.disconnect(listener.id)
    app.connect("builder-inited", make_pages)
    app.connect("env-get-outdated", remove_published)
    # Sphinx-Gallery fills in its defaults at 10, and imports Matplotlib for figures of recipes that
    # run. Importing it takes longer than all the rest of a build in which nothing has changed.
    needed = gen_gallery._import_matplotlib
    for priority, function in ((9, lambda: None), (11, needed)):
        replace = partial(setattr, gen_gallery, "_import_matplotlib", function)
        app.connect("config-inited", lambda *_, replace=replace: replace(), priority=priority)


def make_pages(app: Sphinx) -> None:
    """Let Sphinx-Gallery make the pages of recipes that have changed.

    All languages share these pages, so one build at a time makes them and the others find them
    made. After a warning a page is made again, so that it is told in every build.
    """
    if not {"sphinx.ext.intersphinx", "sphinx.ext.autodoc"} & app.extensions.keys():
        # It turns all code into thousands of nodes, to link names of which none is known here.
        transforms = app.registry.post_transforms
        transforms[:] = [each for each in transforms if each is not CodeLinksTransform]
    folder = Path(app.srcdir, gallery_folders(app.config)[0][0])
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / ".lock"):
        path = folder / ".made"
        memory, settings = Memory.read(path), digest_settings(app.config)
        # Of the sources as they are before: what is saved meanwhile is for the next build.
        state = settings + state_of_sources(app)
        if memory.state == state + state_of_pages(app):
            return
        path.unlink(missing_ok=True)
        if memory.settings != settings:
            memory = Memory(settings=settings)
        memory.state = ""
        remove_pages(app)
        try:
            with note_warnings() as warnings, _replaying(app, memory) as without_alt:
                _generate(app)
            if without_alt:
                logger.info(
                    "%d figures have no text for those who cannot see them; to be told which, set "
                    "recipe_gallery_alt_required = True in conf.py",
                    len(without_alt),
                )
            memory.pages = {name: memory.pages[name] for name in memory.seen & memory.pages.keys()}
            if not warnings:
                memory.state = state + state_of_pages(app)
        finally:
            memory.write(path)


def _generate(app: Sphinx) -> None:
    """Let Sphinx-Gallery make pages; where it fails, name the recipe that is the cause."""
    files = list_files(app.config, Path(app.srcdir))
    for file in files:
        if file.path.is_fifo():
            load_recipe(file.path)  # it says so; Sphinx-Gallery would wait for it
    try:
        with without_notes():
            generate_gallery_rst(app)
    except GalleryError:
        raise
    except Exception:
        for file in files:
            load_recipe(file.path, file.name)
        raise


def _naming(
    make: Callable[..., Generated], find: Callable[[Path], GalleryFile | None]
) -> Callable[..., Generated]:
    """Return ``make`` as one that names the line of a recipe of which it can make no page."""

    def make_or_name(name: str, target: Path, folder: Path, conf: Any) -> Generated:
        file = find(Path(target, name))
        try:
            with without_notes(file is not None):
                return make(name, target, folder, conf)
        except Exception:
            if file:
                load_recipe(file.path, file.name)
            raise

    return make_or_name


def _show(blocks: list[Block], file: GalleryFile | None) -> list[Block]:
    """Return the blocks that a page shows, with the source of modules that its recipe inlines."""
    # Sphinx-Gallery would show a block of nothing but settings as an empty code block.
    blocks = [block for block in blocks if not is_blank(block)]
    cells: Iterator[Cell] = iter(())
    with contextlib.suppress(GalleryError):  # replaying tells it
        if file:
            cells = (each for each in load_recipe(file.path, file.name).cells if each.source)
    pairs = [(block, next(cells, None) if block.type == "code" else None) for block in blocks]
    return [
        block._replace(content=f"{cell.source}\n") if cell and cell.inlined else block
        for block, cell in pairs
    ]


def _find_recipe(app: Sphinx, copy: Path) -> GalleryFile | None:
    """Return the recipe of which Sphinx-Gallery has made a copy."""
    docname = copy.relative_to(app.srcdir).as_posix().removesuffix(".py")
    return find_file(app.config, Path(app.srcdir), docname)


@contextlib.contextmanager
def _replaying(app: Sphinx, memory: Memory) -> Iterator[list[str]]:
    """Put replaying in the place of running, and memory before making.

    The list that is yielded gets a line for each figure that has no text and need not have one.
    """
    without_alt: list[str] = []
    recordings = Path(app.srcdir, app.config.recipe_gallery_recordings)

    find = partial(_find_recipe, app)

    def sources_of(copy: Path) -> list[Path]:
        file = find(copy)
        if file is None:
            return [copy]
        sources = [file.path, file.recording(recordings)]
        with contextlib.suppress(GalleryError):  # making the page tells it
            sources += load_recipe(file.path, file.name).files
        return sources

    def replay_script(
        script_blocks: list[Block],
        script_vars: dict[str, Any],
        gallery_conf: dict[str, Any],
        file_conf: dict[str, Any],
    ) -> tuple[list[str], float]:
        script_vars.update(memory_delta=0.0, example_globals={})
        images = ImageWriter(script_vars["image_path_iterator"], Path(gallery_conf["src_dir"]))
        target = Path(script_vars["target_file"])
        file = find(target)
        script_blocks[:] = _show(script_blocks, file)
        if file is None:  # a page without results
            images.remove_others(target)
            return ["" for _ in script_blocks], 0.0
        tell_unused(file)
        replay = Replay(file, recordings, images)
        outputs = replay.run(alt_required=app.config.recipe_gallery_alt_required)
        images.remove_others(target)
        without_alt.extend(replay.without_alt)
        return [
            outputs.pop(0) if block.type == "code" and outputs else "" for block in script_blocks
        ], 0.0

    make = memory.wrap(_naming(gen_rst.generate_file_rst, find), sources_of)
    replacements = {
        "generate_file_rst": make,
        "execute_script": replay_script,
        # of a thumbnail, which is the same in every language
        "extract_intro_and_title": lambda name, docstring: extract_intro_and_title(
            name, leave_out_figures(docstring)
        ),
    }
    before = {name: getattr(gen_rst, name) for name in replacements}
    vars(gen_rst).update(replacements)
    try:
        yield without_alt
    finally:
        vars(gen_rst).update(before)
