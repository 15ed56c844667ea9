"""Write recordings, whole or not at all; tell what pages leave out."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .. import atomic_files
from ..errors import GalleryError, describe_error
from ..measurements.replicates import Replicate
from ..recipes.pictures import SUFFIXES, open_picture
from ..recipes.recipe import Recipe
from ..recipes.recording import PUBLISHED_MIME, seal
from ..recipes.sanitize import find_left_out
from .normalize_outputs import WIDGET_VIEW

_ROOM = 64 * 1024  # bytes; a full disk is found out before minutes of work, not behind them
# Forms of an output that a page shows, or reads rows from
_SHOWN = ("text/html", "text/markdown", "text/latex", "text/plain", *SUFFIXES, PUBLISHED_MIME)


def ensure_writable(path: Path) -> None:
    """Raise ``GalleryError`` unless a recording can be written to ``path``, and temporary files."""
    place, unfinished = path.parent, atomic_files.unfinished_path(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
        atomic_files.write_synced(unfinished, bytes(_ROOM))
        if path.is_dir():
            place = path
            raise IsADirectoryError(None, "a folder is in its place")
        place = Path(tempfile.gettempdir())  # every run has files there
        with tempfile.TemporaryFile() as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        remedy = "recordings and temporary files are written here: mend that first"
        raise GalleryError(text, path=place, remedy=remedy) from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def write_recording(notebook: NotebookNode, path: Path) -> None:
    """Write a recording completely or not at all; what was there before stays until then."""
    nbformat.validate(notebook)
    data = f"{nbformat.writes(seal(notebook))}\n".encode()
    with _explain_failure(path):
        atomic_files.atomic_write(path, data)


def append_replicate(replicate: Replicate, path: Path) -> None:
    """Append the line of a replicate, whole or not at all."""
    line = replicate.line.encode() + b"\n"
    with _explain_failure(path):
        before = path.read_bytes() if path.exists() else b""
        end = b"\n" if before and not before.endswith(b"\n") else b""
        atomic_files.atomic_write(path, before + end + line)


@contextmanager
def _explain_failure(path: Path) -> Iterator[None]:
    """Turn what a full disk or a missing right raises into a ``GalleryError``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        raise GalleryError(text, path=path, remedy="make room and record again") from None


def accept(recipe: Recipe, notebook: NotebookNode, *, trusted: bool = False) -> Iterator[str]:
    """Yield what pages leave out of the outputs of a recipe, a line for each cell.

    What is ``trusted`` is shown as it is, but there are forms that no page shows. Raises
    ``GalleryError`` if a picture cannot be opened.
    """
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
            if WIDGET_VIEW in data:
                left_out.append("a widget, and show its words")
            if data and not any(mime.startswith(_SHOWN) for mime in data):
                left_out += [f"an output that has no form but {', '.join(data)}"]
        if left_out:
            names = ", ".join(dict.fromkeys(left_out))
            text = f"cell {cell.number}: pages and notebooks leave out {names}"
            remedy = _find_remedy(left_out)
            yield describe_error(tell(text, remedy=remedy))


def _find_remedy(left_out: Sequence[str]) -> str:
    """Return how a cell shows what pages leave out of it."""
    names = " ".join(left_out)
    if "application/vnd.plotly" in names:
        return 'write in recording.toml: PLOTLY_RENDERER = "notebook_connected" under [environment]'
    if "application/vnd.vega" in names:
        return 'add to the recipe: altair.renderers.enable("html")'
    return "show what needs no script and no style, or a picture"
