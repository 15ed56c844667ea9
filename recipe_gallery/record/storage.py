"""What may be kept, and how: written whole or not at all, elsewhere where there is no room."""

import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..errors import GalleryError, describe_error
from ..recipes import files
from ..recipes.harmless_html import find_left_out
from ..recipes.hashes import seal
from ..recipes.pictures import SUFFIXES, open_picture
from ..recipes.recipe import Recipe
from ..recipes.recording import PUBLISHED_MIME

_ROOM = 64 * 1024  # bytes; a full disk is found out before minutes of work, not behind them
# Forms of an output that a page shows, or reads rows from
_SHOWN = ("text/html", "text/markdown", "text/latex", "text/plain", *SUFFIXES, PUBLISHED_MIME)


def require_place(path: Path) -> None:
    """Raise ``GalleryError`` unless a recording can be written to ``path``."""
    place, unfinished = path.parent, files.unfinished_path(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
        files.write_through(unfinished, bytes(_ROOM))
        if path.is_dir():
            place = path
            raise IsADirectoryError(None, "a folder is in its place")
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        remedy = "recordings are written here: mend that first"
        raise GalleryError(text, path=place, remedy=remedy) from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def require_room() -> None:
    """Raise ``GalleryError`` unless temporary files can be written: every run has some."""
    try:
        with tempfile.TemporaryFile() as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        text = f"temporary files cannot be written: {error.strerror}"
        raise GalleryError(text, remedy="make room, or let TMPDIR name another folder") from None


def write_whole(notebook: NotebookNode, path: Path) -> None:
    """Write a recording completely or not at all; what was there before stays until then.

    Raises ``GalleryError`` if that fails; it tells where the recording is kept instead.
    """
    nbformat.validate(notebook)
    text = nbformat.writes(seal(notebook))
    data = (text if text.endswith("\n") else text + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        files.write_whole(path, data)
    except OSError as error:
        raise files.tell_unwritten(error, path, data, "the recording") from None


def accept(
    recipe: Recipe, notebook: NotebookNode, output_limit: float, *, trusted: bool = False
) -> list[str]:
    """Return what pages leave out of the outputs of a recipe, a line for each cell.

    What is ``trusted`` is shown as it is, but there are forms that no page shows.
    ``output_limit`` is in MB (of a million bytes). Raises ``GalleryError`` if a picture cannot be
    opened, or all is too large.
    """
    told = []
    for cell, node in zip(recipe.cells, notebook.cells, strict=True):
        tell = partial(GalleryError, path=recipe.path, line=cell.line)
        left_out: list[str] = []
        for data in (each.data for each in node.outputs if "data" in each):
            for mime in SUFFIXES.keys() & data.keys():
                try:
                    open_picture(mime, data[mime])
                except ValueError as error:
                    text = f"cell {cell.number}: its picture, {mime}, {error}"
                    remedy = "mend what its _repr_..._ method or display() is given"
                    raise tell(text, remedy=remedy) from None
            left_out += [] if trusted else find_left_out(data)
            if data and not any(mime.startswith(_SHOWN) for mime in data):
                left_out += [f"an output that has no form but {', '.join(data)}"]
        if left_out:
            names = ", ".join(dict.fromkeys(left_out))
            text = f"cell {cell.number}: pages and notebooks leave out {names}"
            told.append(tell(text, remedy="show what needs no script and no style, or a picture"))
    size = len(nbformat.writes(notebook).encode()) / 1e6
    if size > output_limit:
        text = f"its recording takes {size:.1f} MB, and may take {output_limit:g} MB"
        remedy = "print and show less, or raise output_limit in recording.toml"
        raise GalleryError(text, path=recipe.path, remedy=remedy)
    return [describe_error(each) for each in told]
