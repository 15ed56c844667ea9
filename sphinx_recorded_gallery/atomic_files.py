"""Files that are replaced whole or not at all, and read where they are files."""

import os
from contextlib import suppress
from pathlib import Path


def ensure_regular_file(path: Path) -> None:
    """Raise ``OSError`` for what is there and no file: pipes are waited for, devices endless."""
    if path.exists() and not path.is_file():
        raise OSError(0, "it is no file")


def atomic_write(path: Path, data: bytes) -> None:
    """Write a file completely or not at all; what was there before stays until then."""
    unfinished = unfinished_path(path)
    try:
        write_synced(unfinished, data)
        unfinished.replace(path)
    finally:
        with suppress(OSError):
            unfinished.unlink()


def unfinished_path(path: Path) -> Path:
    """Return where a file lies while it is written; a killed process leaves it there."""
    return path.with_name(f".{path.name}.new")


def write_synced(path: Path, data: bytes) -> None:
    """Write a file; it is on the disk when this returns."""
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())  # some disks tell only now that they are full
