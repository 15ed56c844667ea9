"""What a recipe printed and drew as reStructuredText, for Sphinx-Gallery to put on its page."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterable
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from sphinx.util import logging
from sphinx_gallery import gen_rst

from ..errors import suggest
from ..recipes.cell_marks import OUTPUT_CLASS
from ..recipes.gallery import GalleryFile
from ..recipes.pictures import SUFFIXES, decode_picture
from ..recipes.recipe import Cell
from ..recipes.recorded_page import Unrecorded, describe_version, load_recorded
from ..recipes.rows import Row
from .measurements.scope import find_rows, leave_place

if TYPE_CHECKING:
    from nbformat import NotebookNode

logger = logging.getLogger(__name__)

_HEAD = re.compile(r"<thead\b.*?</thead>", re.DOTALL)


class ImageWriter:
    """Writes recorded images where Sphinx-Gallery looks for a recipe's figures."""

    def __init__(self, paths: Iterable[str], root: Path) -> None:
        self._paths = iter(paths)
        self._root = root
        self._written: set[Path] = set()

    def write(self, data: bytes, suffix: str) -> str:
        """Write an image unless it is there already; return its address for reStructuredText."""
        path = Path(next(self._paths)).with_suffix(suffix)
        if not path.exists() or path.read_bytes() != data:
            path.write_bytes(data)
        self._written.add(path)
        return "/" + path.relative_to(self._root).as_posix()

    def remove_others(self, recipe: Path) -> None:
        """Remove the figures of earlier recordings beside the page of a recipe.

        Its thumbnail, which may be of one of them, goes as well; Sphinx-Gallery makes another.
        """
        folder, stem = recipe.parent / "images", f"sphx_glr_{recipe.stem}"
        name = re.compile(rf"{re.escape(stem)}_\d{{3,}}(?:_\d+_\d+x)?\.\w+")
        others = [path for path in folder.glob("*.*") if name.fullmatch(path.name)]
        old = set(others) - self._written
        if old:
            old |= set((folder / "thumb").glob(f"{glob.escape(stem)}_thumb.*"))
        for path in old:
            path.unlink()


class Replay:
    """Turns the recording of one recipe into reStructuredText.

    Everything that is wrong is logged as a warning that says what to do.
    """

    def __init__(self, file: GalleryFile, recordings: Path, images: ImageWriter) -> None:
        self.without_alt: list[str] = []  # what to tell of figures that have no text
        self._page = load_recorded(file, recordings)
        self._source = file.path
        self._images = images

    def run(self, *, alt_required: bool) -> list[str]:
        """Return the recorded output of each code cell; where required, tell figures without text.

        The first begins with a comment that changes with what the page shows, so that Sphinx reads
        the page again; that of a recipe which cannot be read is all there is.
        """
        texts = self._texts() or [""]
        while alt_required and self.without_alt:
            self._warn("alt", self.without_alt.pop(0))
        return [f"\n.. {describe_version(self._page)}\n\n{texts[0]}", *texts[1:]]

    def _texts(self) -> list[str]:
        """Return the outputs and warn of what is wrong.

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
        for cell in (each for each in recipe.cells if each.source):  # what is hidden shows nothing
            recorded = comparison.recorded.get(cell.number)
            texts.append(self._cell_rst(cell, recorded.outputs) if recorded else "")
        return texts

    def _warn(self, kind: str, message: str) -> None:
        logger.warning("%s", message, type="recipe_gallery", subtype=kind)

    def _cell_rst(self, cell: Cell, outputs: list[NotebookNode]) -> str:
        alts = list(cell.alt)
        parts = []
        rows: list[Row] = []  # published since the last table
        for output in outputs:
            if output.output_type == "stream":
                parts.append(_text_rst(output.text))
            elif output.output_type == "error":
                parts.append(_text_rst("\n".join(output.traceback)))
            else:
                rows += find_rows(output.data)
                parts.append(self._data_rst(cell, output.data, alts, rows))
                if "text/html" in output.data:
                    rows = []
        body = "\n\n".join(part for part in parts if part)
        if not body:
            return ""
        return f".. container:: {OUTPUT_CLASS}\n\n{indent(body, '    ')}\n\n"

    def _data_rst(self, cell: Cell, data: dict[str, Any], alts: list[str], rows: list[Row]) -> str:
        """Return the richest form of one displayed object that a page can show."""
        if "text/html" in data:
            return _html_rst(leave_place(data["text/html"], rows))
        for mime, suffix in SUFFIXES.items():
            if mime in data:
                if not alts:
                    self.without_alt.append(
                        f"{_relative(self._source)}:{cell.line}: the figure of cell {cell.number} "
                        "has no text for those who cannot see it; add a line to the cell: "
                        '# sphinx_gallery_alt = "..."'
                    )
                alt = alts.pop(0) if alts else ""
                address = self._images.write(decode_picture(mime, data[mime]), suffix)
                return f".. image:: {address}\n    :alt: {alt}\n    :class: sphx-glr-single-img"
        for mime in ("text/markdown", "text/latex", "text/plain"):  # as they were written
            if mime in data:
                return _text_rst(data[mime])
        return ""


def _html_rst(html: str) -> str:
    """Return HTML in a box that scrolls by itself, and with the keyboard."""
    # Above the index pandas writes a heading without words, which screen readers would announce.
    html = html.replace("<th></th>", "<td></td>")
    html = _HEAD.sub(lambda head: head[0].replace("<th>", '<th scope="col">'), html)
    if "<thead" in html:
        html = html.replace("<th>", '<th scope="row">')
    body = indent(html.strip(), "    ")
    return f'.. raw:: html\n\n    <div class="recorded-html" tabindex="0">\n{body}\n    </div>'


def _text_rst(text: str) -> str:
    """Return printed text as Sphinx-Gallery's output block."""
    text = text.expandtabs().strip("\n")
    return gen_rst.CODE_OUTPUT.format(indent(text, " " * 4)) if text.strip() else ""


def _relative(path: Path) -> Path:
    path = path.resolve()
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
