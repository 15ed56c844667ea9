"""Files that are replaced whole or not at all, and read where they are files.

Nothing is written through a link: a pull request can hold one in a file's place.
"""

import errno
import os
import stat
from pathlib import Path


def ensure_regular_file(path: Path) -> None:
    """Raise ``OSError`` for what is there and no file: pipes are waited for, devices endless."""
    if path.exists() and not path.is_file():
        raise OSError(0, "it is no file")


def _ensure_own_file(path: Path) -> None:
    """Raise ``OSError`` if something other than a file is there, such as a link to one."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a link", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is no file", str(path))


def atomic_write(path: Path, data: bytes) -> None:
    """Write a file completely or not at all; what was there before stays until then.

    Raises ``OSError`` if that fails, also where a link or a folder is in its place.
    """
    _ensure_own_file(path)
    unfinished = unfinished_path(path)
    write_synced(unfinished, data)
    try:
        unfinished.replace(path)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def unfinished_path(path: Path) -> Path:
    """Return where a file lies while it is written; a killed process leaves it there."""
    return path.with_name(f".{path.name}.new")


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file; it is on the disk when this returns.

    A file of that name is one that a killed process has left, and is removed. Raises ``OSError`` if
    a link or a folder is in its place: nothing is written through it.
    """
    try:
        _ensure_own_file(path)
    except OSError as error:
        text = f"{path.name} is in the way ({error.strerror}): remove it"
        raise OSError(error.errno, text, str(path)) from None
    path.unlink(missing_ok=True)
    # O_EXCL opens nothing that is there, so that no link is followed that comes in between
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # some disks tell only now that they are full
    except BaseException:
        path.unlink(missing_ok=True)
        raise
