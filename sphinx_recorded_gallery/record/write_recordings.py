"""Write recordings, whole or not at all; report what pages leave out."""

import difflib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from .. import atomic_files
from ..errors import GalleryError, describe_error
from ..measurements.replicates import Replicate
from ..measurements.rows import MIME as ROWS_MIME
from ..measurements.spans import SPANS_MIME
from ..recipes.mime_types import PICTURES, is_shown
from ..recipes.pictures import TooLargeError, open_picture
from ..recipes.recipe import Cell, Recipe
from ..recipes.recording import check_recording, seal
from ..recipes.sanitize import find_left_out
from .normalize_outputs import WIDGET_VIEW

_PUBLISHED = (ROWS_MIME, SPANS_MIME)
_LEAST_LIKENESS = 0.9  # of two types: they begin alike
_ROOM = 64 * 1024  # bytes, to notice a full disk before minutes of work
_MOST_NAMES = 8  # of what a line says that pages leave out: a script of 4 MB has hundreds


def ensure_writable(path: Path) -> None:
    """Raise ``GalleryError`` unless ``path`` and temporary files can be written."""
    if path.is_dir():
        text = "a folder is in the place of a recording"
        raise GalleryError(text, path=path, remedy="move the folder away")
    place = path.parent
    unfinished = atomic_files.unfinished_path(path)
    try:
        place.mkdir(parents=True, exist_ok=True)
        atomic_files.write_synced(unfinished, bytes(_ROOM))
        unfinished.unlink()
        place = Path(tempfile.gettempdir())  # every run has files there
        with tempfile.TemporaryFile() as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        remedy = "recordings and temporary files are written here: make it writable first"
        raise GalleryError(text, path=place, remedy=remedy) from None


def write_recording(notebook: NotebookNode, path: Path) -> None:
    """Write a recording completely or not at all; an older one stays until then.

    Raises ``GalleryError`` if it cannot be written, or if no build could read it.
    """
    nbformat.validate(notebook)
    sealed = seal(notebook)
    try:
        check_recording(sealed)
    except GalleryError as error:
        text = f"cannot be recorded: {error.text}"
        raise GalleryError(text, path=path, remedy="correct what the example shows") from None
    data = f"{nbformat.writes(sealed)}\n".encode()
    with _explain_failure(path):
        atomic_files.atomic_write(path, data)


def append_replicate(replicate: Replicate, path: Path) -> None:
    """Append the line of a replicate, whole or not at all."""
    line = replicate.line.encode() + b"\n"
    with _explain_failure(path):
        content = b""
        if path.exists():
            content = path.read_bytes()
        if content and not content.endswith(b"\n"):
            content += b"\n"
        atomic_files.atomic_write(path, content + line)


@contextmanager
def _explain_failure(path: Path) -> Iterator[None]:
    """Turn errors of a full disk or missing permissions into a ``GalleryError``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        raise GalleryError(text, path=path, remedy="free disk space and record again") from None


def report_left_out(
    recipe: Recipe, notebook: NotebookNode, *, trusted: bool = False
) -> Iterator[str]:
    """Yield what pages leave out of the outputs of a recipe, a line for each cell.

    Outputs that are ``trusted`` are shown unchanged, except for forms that no page shows. Raises
    ``GalleryError`` if a picture cannot be opened, or HTML is nested too deeply.
    """
    for cell, node in zip(recipe.cells, notebook.cells, strict=True):
        left_out: list[str] = []
        for output in node.outputs:
            if "data" in output:
                for error in _find_misspelt(recipe, cell, output.data):
                    yield describe_error(error)
                _require_pictures(recipe, cell, output.data)
                left_out += _find_left_out(recipe, cell, output.data, trusted=trusted)
        if not left_out:
            continue
        names = [*dict.fromkeys(left_out)]  # each once
        if len(names) > _MOST_NAMES:
            names[_MOST_NAMES:] = [f"{len(names) - _MOST_NAMES} more"]
        text = f"cell {cell.number}: pages and notebooks leave out {', '.join(names)}"
        remedy = _find_remedy(left_out, trusted=trusted)
        yield describe_error(GalleryError(text, path=recipe.path, line=cell.line, remedy=remedy))


def _find_misspelt(recipe: Recipe, cell: Cell, data: Mapping[str, Any]) -> Iterator[GalleryError]:
    """Yield the types of an output that are near one of what recipes publish."""
    for mime in sorted(data.keys() - {*_PUBLISHED}):
        similar = difflib.get_close_matches(mime, _PUBLISHED, n=1, cutoff=_LEAST_LIKENESS)
        if similar:
            text = f"cell {cell.number}: nothing reads an output of the type {mime}"
            remedy = f"did you mean {similar[0]}?"
            yield GalleryError(text, path=recipe.path, line=cell.line, remedy=remedy)


def _require_pictures(recipe: Recipe, cell: Cell, data: Mapping[str, Any]) -> None:
    """Raise ``GalleryError`` if a picture of an output cannot be opened."""
    for mime in PICTURES:
        if mime not in data:
            continue
        try:
            open_picture(mime, data[mime])
        except ValueError as error:
            text = f"cell {cell.number}: its picture, {mime}, {error}"
            remedy = "correct the data that its _repr_..._ method returns or display() gets"
            if isinstance(error, TooLargeError):
                remedy = "draw it smaller, for example with fewer dots per inch"
            raise GalleryError(text, path=recipe.path, line=cell.line, remedy=remedy) from None


def _find_left_out(
    recipe: Recipe, cell: Cell, data: Mapping[str, Any], *, trusted: bool
) -> list[str]:
    """Return what pages leave out of one output; raise ``GalleryError`` for too deep HTML."""
    left_out = []
    if WIDGET_VIEW in data:
        left_out.append("a widget, and show its text")
    shown_forms = [mime for mime in data if is_shown(mime)]
    if data and not shown_forms:
        left_out.append(f"an output whose only form is {', '.join(data)}")
        return left_out
    if trusted:
        return left_out
    forms = {mime: form for mime, form in data.items() if mime != WIDGET_VIEW}
    try:
        return left_out + find_left_out(forms)
    except ValueError as error:
        text = f"cell {cell.number}: {error}"
        remedy = "show less, or a picture"
        raise GalleryError(text, path=recipe.path, line=cell.line, remedy=remedy) from None


def _find_remedy(left_out: Sequence[str], *, trusted: bool) -> str:
    """Return how a cell can show what pages leave out of it."""
    names = " ".join(left_out)
    if trusted and "application/vnd.plotly" in names:
        return 'write in recording.toml: PLOTLY_RENDERER = "notebook_connected" under [environment]'
    if trusted and "application/vnd.vega" in names:
        return 'add to the example: altair.renderers.enable("html")'
    # The HTML of both is a script, which pages leave out of what is not trusted
    return "show something without scripts and styles, or a picture"
