"""Refuse outputs that a recording cannot hold or a page not show; tell what pages leave out."""

from collections.abc import Sequence
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ....errors import GalleryError
from ....recipes.harmless import clean_svg, find_left_out
from ....recipes.pictures import SUFFIXES, read_picture
from ....recipes.recipe import Cell

_LIMIT = "output_limit under [limits] in recording.toml"
_SHARE = 4  # a picture may take a quarter of what a recording may


def accept(
    path: Path, cells: Sequence[Cell], notebook: NotebookNode, output_limit: float
) -> list[str]:
    """Return what pages leave out of the outputs of a recipe, a line for each cell.

    ``output_limit`` is in MB (of a million bytes); a picture may take a quarter of it. Raises
    ``GalleryError`` if an output is too large, is no valid output, or a picture cannot be opened.
    """
    told = []
    for cell, node in zip(cells, notebook.cells, strict=True):
        left_out: list[str] = []
        for output in node.outputs:
            try:
                _require_valid(output, output_limit)
            except ValueError as error:
                text, _, remedy = str(error).partition("; ")
                text = f"cell {cell.number}: {text}"
                raise GalleryError(text, path=path, line=cell.line, remedy=remedy) from None
            left_out += find_left_out(output.get("data", {}))
        if left_out:
            names = ", ".join(dict.fromkeys(left_out))
            text = f"cell {cell.number}: pages and notebooks leave out {names}"
            remedy = "show what needs no script and no style, or a picture"
            told.append(GalleryError(text, path=path, line=cell.line, remedy=remedy))
    size = len(nbformat.writes(notebook).encode()) / 1e6
    if size > output_limit:
        text = f"its recording takes {size:.1f} MB, and may take {output_limit:g} MB"
        raise GalleryError(text, path=path, remedy=f"print and show less, or raise {_LIMIT}")
    return [each.describe(Path.cwd()) for each in told]


def _require_valid(output: NotebookNode, output_limit: float) -> None:
    """Raise ``ValueError`` with a text and a remedy unless all can show an output.

    The collector has refused what no notebook can hold.
    """
    mend = "mend what its _repr_..._ method or display() is given"
    for mime, value in output.get("data", {}).items():
        if not (isinstance(value, str) or mime.endswith("json")):
            kind = "dict" if isinstance(value, dict) else type(value).__name__
            raise ValueError(f"what it shows as {mime} is of type {kind}, not text; {mend}")
    for mime in SUFFIXES.keys() & output.get("data", {}).keys():
        data = output.data[mime]
        try:
            content = read_picture(mime, data)
            if mime == "image/svg+xml":
                clean_svg(data)
        except ValueError as error:
            raise ValueError(f"its picture, {mime}, {error}; {mend}") from None
        size, limit = len(content) / 1e6, output_limit / _SHARE
        if size > limit:
            text = f"its picture takes {size:.1f} MB, and a picture may take {limit:g} MB"
            raise ValueError(f"{text}; draw it with fewer points or dots, or raise {_LIMIT}")
