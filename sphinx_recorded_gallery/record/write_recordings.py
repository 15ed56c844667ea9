"""Write recordings, whole or not at all; tell what pages leave out."""

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from .. import atomic_files
from ..errors import GalleryError, describe_error
from ..measurements.replicates import Replicate
from ..recipes.mime_types import PICTURES, is_shown
from ..recipes.pictures import TooLargeError, open_picture
from ..recipes.recipe import Recipe
from ..recipes.recording import check_recording, seal
from ..recipes.sanitize import find_left_out
from .normalize_outputs import WIDGET_VIEW

_ROOM = 64 * 1024  # bytes; a full disk is found out before minutes of work, not behind them


def ensure_writable(path: Path) -> None:
    """Raise ``GalleryError`` unless a recording can be written to ``path``, and temporary files."""
    if path.is_dir():
        text = "a folder is in the place of a recording"
        raise GalleryError(text, path=path, remedy="move it away, with what it holds")
    place, unfinished = path.parent, atomic_files.unfinished_path(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
        atomic_files.write_synced(unfinished, bytes(_ROOM))
        unfinished.unlink()
        place = Path(tempfile.gettempdir())  # every run has files there
        with tempfile.TemporaryFile() as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        remedy = "recordings and temporary files are written here: mend that first"
        raise GalleryError(text, path=place, remedy=remedy) from None


def write_recording(notebook: NotebookNode, path: Path) -> None:
    """Write a recording completely or not at all; what was there before stays until then.

    Raises ``GalleryError`` if it cannot be written, or no build could read it.
    """
    nbformat.validate(notebook)
    sealed = seal(notebook)
    try:
        check_recording(sealed)
    except GalleryError as error:
        text = f"cannot be kept: {error.text}"
        raise GalleryError(text, path=path, remedy="mend what the recipe shows") from None
    data = f"{nbformat.writes(sealed)}\n".encode()
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
    ``GalleryError`` if a picture cannot be opened, or HTML is nested too deeply.
    """
    for cell, node in zip(recipe.cells, notebook.cells, strict=True):
        tell = partial(GalleryError, path=recipe.path, line=cell.line)
        left_out: list[str] = []
        for data in (each.data for each in node.outputs if "data" in each):
            for mime in PICTURES.keys() & data.keys():
                try:
                    open_picture(mime, data[mime])
                except ValueError as error:
                    text = f"cell {cell.number}: its picture, {mime}, {error}"
                    remedy = "mend what its _repr_..._ method or display() is given"
                    if isinstance(error, TooLargeError):
                        remedy = "draw it smaller, as with fewer dots per inch"
                    raise tell(text, remedy=remedy) from None
            if WIDGET_VIEW in data:
                left_out.append("a widget, and show its words")
            if data and not any(map(is_shown, data)):
                left_out.append(f"an output that has no form but {', '.join(data)}")
            elif not trusted:
                try:
                    forms = {mime: data[mime] for mime in data if mime != WIDGET_VIEW}
                    left_out += find_left_out(forms)
                except ValueError as error:
                    text = f"cell {cell.number}: {error}"
                    raise tell(text, remedy="show less, or a picture") from None
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
