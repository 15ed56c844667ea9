"""Files that several write: a line is appended whole or not at all, and a file replaced so."""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from ..errors import GalleryError


def append_line(path: Path, line: str, is_finished: Callable[[bytes], bool]) -> None:
    """Append a line, on the disk when this returns; two processes may do so at once.

    What a killed process left behind the last line break is dropped, unless ``is_finished`` says
    that only its line break is missing. Raises ``OSError``; the file is as before then.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    with lock, path.open("ab", buffering=0) as file:
        end = file.seek(0, os.SEEK_END)
        rest = path.read_bytes().rpartition(b"\n")[2]
        data = line.encode() + b"\n"
        if rest and is_finished(rest):
            data = b"\n" + data
        elif rest:
            end -= len(rest)
            file.truncate(end)
        try:
            while data:
                data = data[file.write(data) :]
            os.fsync(file.fileno())  # some disks tell only now that they are full
        except BaseException:
            with suppress(OSError):
                file.truncate(end)
            raise


def write_whole(path: Path, data: bytes) -> None:
    """Write a file completely or not at all; what was there before stays until then."""
    unfinished = unfinished_path(path)
    try:
        write_through(unfinished, data)
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def unfinished_path(path: Path) -> Path:
    """Return where a file lies while it is written; a killed process leaves it there."""
    return path.with_name(f".{path.name}.new")


def write_through(path: Path, data: bytes) -> None:
    """Write a file; it is on the disk when this returns."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # some disks tell only now that they are full


def tell_unwritten(
    error: OSError, path: Path, data: bytes, what: str, how: str = "move {} to {}"
) -> GalleryError:
    """Return what is told where a file could not be written: ``data`` is kept elsewhere."""
    text = f"cannot be written: {error.strerror or error}"
    remedy = f"make room and record again; there was none for {what} elsewhere"
    for folder in (tempfile.gettempdir(), "/var/tmp", "/dev/shm"):
        with suppress(OSError):
            place = Path(tempfile.mkdtemp(prefix=f"{path.stem[:80]}-", dir=folder), path.name)
            try:
                write_through(place, data)
            except OSError:
                shutil.rmtree(place.parent)
                raise
            remedy = f"{what} is kept: make room, then {how.format(place, path)}"
            break
    return GalleryError(text, path=path, remedy=remedy)
