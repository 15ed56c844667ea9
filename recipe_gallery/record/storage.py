"""Recordings on disk: written whole or not at all, and kept elsewhere where there is no room."""

import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from ..errors import GalleryError
from ..recipes import files
from ..recipes.hashes import seal

_ROOM = 64 * 1024  # bytes; a full disk is found out before minutes of work, not behind them


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
        reason = error.strerror or str(error)
        if isinstance(error, FileExistsError):
            reason = "a link that leads nowhere" if place.is_symlink() else "a file, not a folder"
        remedy = "recordings are written here: mend that first"
        raise GalleryError(f"cannot be written: {reason}", path=place, remedy=remedy) from None
    finally:
        with suppress(OSError):
            unfinished.unlink()


def require_room() -> None:
    """Raise ``GalleryError`` unless temporary files can be written: every run has some."""
    folder = None
    try:
        folder = Path(tempfile.gettempdir())
        with tempfile.TemporaryFile() as file:
            file.write(bytes(_ROOM))
    except OSError as error:
        text = f"temporary files cannot be written: {error.strerror}"
        remedy = "make room, or let TMPDIR name another folder"
        raise GalleryError(text, path=folder, remedy=remedy) from None


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
        text = f"cannot be written: {error.strerror or error}"
        remedy = "make room and record again; there was none for it elsewhere"
        if kept := files.keep_elsewhere(path, data):
            remedy = f"the recording is kept: make room, then move {kept} to {path}"
        raise GalleryError(text, path=path, remedy=remedy) from None


def remove_unfinished(paths: Iterable[Path]) -> None:
    """Remove what a run left of recordings that was killed while it wrote them."""
    for path in paths:
        with suppress(OSError):
            files.unfinished_path(path).unlink()
