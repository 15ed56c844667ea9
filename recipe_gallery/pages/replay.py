"""Replay recordings: hand Sphinx-Gallery what a recipe printed and drew instead of running it.

``sphinx_gallery.gen_rst.execute_script`` is the one place where Sphinx-Gallery runs code (its
signature has been the same since 0.17). It is replaced while pages are made, and ``plot_gallery``
is off as well, so that code still would not run if a later Sphinx-Gallery called something else.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from filelock import FileLock
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ConfigError
from sphinx.util import logging
from sphinx_gallery import gen_gallery, gen_rst
from sphinx_gallery._doctree_links import CodeLinksTransform
from sphinx_gallery.gen_gallery import generate_gallery_rst
from sphinx_gallery.py_source_parser import Block

from ..project import gallery_folders, suggest
from ..recipes.cells import OUTPUT_CLASS
from ..recipes.gallery import GalleryFile, find_file, ignore_pattern
from ..recipes.page import Unrecorded, load_recorded
from ..recipes.recipe import Cell, is_blank
from .reuse import (
    CountWarnings,
    Memory,
    digest_settings,
    remove_pages,
    remove_published,
    state_of_pages,
    state_of_sources,
)

if TYPE_CHECKING:
    from nbformat import NotebookNode

logger = logging.getLogger(__name__)

# Settings of Sphinx-Gallery that cannot be others while recordings are replayed.
_FORCED = {
    "plot_gallery": False,
    "remove_config_comments": True,
    "inspect_global_variables": False,  # nothing ran, so there are none
    "image_scrapers": (),  # figures come from the recordings
    "reset_modules": (),  # no recipe leaves anything behind
    "notebook_extensions": set(),  # notebook.py writes better ones
    "download_all_examples": False,
    "write_computation_times": False,  # the provenance box tells them
    "min_reported_time": float("inf"),  # likewise
    "show_signature": False,
}
IMAGE_SUFFIXES = {"image/svg+xml": ".svg", "image/png": ".png", "image/jpeg": ".jpg"}


def check_config(app: Sphinx, config: Config) -> None:
    """Turn off what would run a recipe, and refuse a setting under which replaying cannot work.

    At this moment the settings are those of conf.py alone, without Sphinx-Gallery's defaults.
    """
    gallery: dict[str, Any] = config.sphinx_gallery_conf
    if gallery.get("parallel"):
        raise ConfigError(
            "conf.py: set sphinx_gallery_conf['parallel'] = False; its worker processes would run "
            "recipes instead of replaying them (sphinx-build -j is fine)"
        )
    unused = sorted(name for name, value in _FORCED.items() if gallery.get(name, value) != value)
    if unused:
        logger.info(
            "sphinx_gallery_conf: not used where recordings are shown: %s", ", ".join(unused)
        )
    folders = gallery_folders(config)
    gallery.update(
        _FORCED,
        ignore_pattern=ignore_pattern(config),
        gallery_dirs=[pages for pages, _examples in folders],  # Sphinx-Gallery wants no Path
        examples_dirs=[examples for _pages, examples in folders],
    )


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
            with CountWarnings() as warnings, _replaying(app, memory) as without_alt:
                generate_gallery_rst(app)
            if without_alt:
                logger.info(
                    "%d figures have no text for those who cannot see them; to be told which, set "
                    "recipe_gallery_alt_required = True in conf.py",
                    len(without_alt),
                )
            memory.pages = {name: memory.pages[name] for name in memory.seen & memory.pages.keys()}
            if not warnings.count:
                memory.state = state + state_of_pages(app)
        finally:
            memory.write(path)


@contextmanager
def _replaying(app: Sphinx, memory: Memory) -> Iterator[list[str]]:
    """Put replaying in the place of running, and memory before making.

    The list that is yielded gets a line for each figure that has no text and need not have one.
    """
    without_alt: list[str] = []

    recordings = Path(app.srcdir, app.config.recipe_gallery_recordings)

    def find(copy: Path) -> GalleryFile | None:
        docname = copy.relative_to(app.srcdir).as_posix().removesuffix(".py")
        return find_file(app.config, Path(app.srcdir), docname)

    def recordings_of(copy: Path) -> list[Path]:
        file = find(copy)
        return [file.recording(recordings)] if file else []

    def replay_script(
        script_blocks: list[Block],
        script_vars: dict[str, Any],
        gallery_conf: dict[str, Any],
        file_conf: dict[str, Any],
    ) -> tuple[list[str], float]:
        # Sphinx-Gallery would show a block of nothing but settings as an empty code block.
        script_blocks[:] = [block for block in script_blocks if not is_blank(block)]
        script_vars.update(memory_delta=0.0, example_globals={})
        images = _ImageWriter(script_vars["image_path_iterator"], Path(gallery_conf["src_dir"]))
        file = find(Path(script_vars["target_file"]))
        if file is None:  # a page without results
            return ["" for _ in script_blocks], 0.0
        replay = _Replay(file, recordings, images)
        outputs = replay.run()
        if app.config.recipe_gallery_alt_required:
            replay.warn_of_missing_alt()
        without_alt.extend(replay.without_alt)
        return [
            outputs.pop(0) if block.type == "code" and outputs else "" for block in script_blocks
        ], 0.0

    replacements = {
        "generate_file_rst": memory.wrap(gen_rst.generate_file_rst, recordings_of),
        "execute_script": replay_script,
        # It parses every recipe to see which may run side by side; none runs.
        "_split_parallel": lambda names, *_others: (names, []),
    }
    before = {name: getattr(gen_rst, name) for name in replacements}
    vars(gen_rst).update(replacements)
    try:
        yield without_alt
    finally:
        vars(gen_rst).update(before)


class _ImageWriter:
    """Writes recorded images where Sphinx-Gallery looks for a recipe's figures."""

    def __init__(self, paths: Iterable[str], root: Path) -> None:
        self._paths = iter(paths)
        self._root = root

    def write(self, data: bytes, suffix: str) -> str:
        """Write an image unless it is there already; return its address for reStructuredText."""
        path = Path(next(self._paths)).with_suffix(suffix)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        return "/" + path.relative_to(self._root).as_posix()


class _Replay:
    """Turns the recording of one recipe into reStructuredText.

    Everything that is wrong is logged as a warning that says what to do.
    """

    def __init__(self, file: GalleryFile, recordings: Path, images: _ImageWriter) -> None:
        self.without_alt: list[str] = []  # what to tell of figures that have no text
        self._page = load_recorded(file, recordings)
        self._source = file.path
        self._images = images

    def run(self) -> list[str]:
        """Return the recorded output of each code cell.

        A cell whose code changed since gets none: an old result beside new code would mislead.
        """
        page = self._page
        if isinstance(page, Unrecorded):
            kind = "recipe" if page.recipe is None else "recording"
            place = "" if page.recipe is None else f"{_relative(self._source)}: "
            self._warn(kind, f"{place}{page.error}")
            return ["" for _ in page.recipe.cells] if page.recipe else []
        recipe, comparison = page.recipe, page.comparison
        if not comparison.is_current:
            self._warn(
                "stale",
                f"{_relative(self._source)}: stale recording: {comparison.describe()}; "
                f"run: {suggest('record', recipe.name)}",
            )
        texts = []
        for cell in recipe.cells:
            recorded = comparison.recorded.get(cell.number)
            texts.append(self._cell_rst(cell, recorded.outputs) if recorded else "")
        if texts:
            # A comment that changes with the recording, so that Sphinx reads the page again.
            state = hashlib.sha256(page.recording.path.read_bytes()).hexdigest()
            texts[0] = f"\n.. recorded {state} {comparison.describe()}\n\n{texts[0]}"
        return texts

    def warn_of_missing_alt(self) -> None:
        """Tell of each figure that has no text."""
        while self.without_alt:
            self._warn("alt", self.without_alt.pop(0))

    def _warn(self, kind: str, message: str) -> None:
        logger.warning("%s", message, type="recipe_gallery", subtype=kind)

    def _cell_rst(self, cell: Cell, outputs: list[NotebookNode]) -> str:
        alts = list(cell.alt)
        parts = []
        for output in outputs:
            if output.output_type == "stream":
                parts.append(_text_rst(output.text))
            elif output.output_type == "error":
                parts.append(_text_rst("\n".join(output.traceback)))
            else:
                parts.append(self._data_rst(cell, output.data, alts))
        body = "\n\n".join(part for part in parts if part)
        if not body:
            return ""
        return f".. container:: {OUTPUT_CLASS}\n\n{indent(body, '    ')}\n\n"

    def _data_rst(self, cell: Cell, data: dict[str, Any], alts: list[str]) -> str:
        """Return the richest form of one displayed object that a page can show."""
        if "text/html" in data:
            return _html_rst(data["text/html"])
        for mime, suffix in IMAGE_SUFFIXES.items():
            if mime in data:
                if not alts:
                    self.without_alt.append(
                        f"{_relative(self._source)}:{cell.line}: the figure of cell {cell.number} "
                        "has no text for those who cannot see it; add a line to the cell: "
                        '# sphinx_gallery_alt = "..."'
                    )
                alt = alts.pop(0) if alts else ""
                image = data[mime]
                raw = image.encode() if mime == "image/svg+xml" else base64.b64decode(image)
                address = self._images.write(raw, suffix)
                return f".. image:: {address}\n    :alt: {alt}\n    :class: sphx-glr-single-img"
        for mime in ("text/markdown", "text/latex", "text/plain"):  # as they were written
            if mime in data:
                return _text_rst(data[mime])
        return ""


def _html_rst(html: str) -> str:
    """Return HTML in a box that scrolls by itself, and with the keyboard."""
    # What pandas writes: a style in the head of each table, but a page may hold none (head.py), and
    # a heading without words above the index, which screen readers would announce.
    html = html.replace(' style="text-align: right;"', "").replace("<th></th>", "<td></td>")
    body = indent(html.strip(), "    ")
    return f'.. raw:: html\n\n    <div class="recorded-html" tabindex="0">\n{body}\n    </div>'


def _text_rst(text: str) -> str:
    """Return printed text as Sphinx-Gallery's output block."""
    text = text.expandtabs().strip("\n")
    return gen_rst.CODE_OUTPUT.format(indent(text, " " * 4)) if text.strip() else ""


def _relative(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
