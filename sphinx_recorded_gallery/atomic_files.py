"""Write files completely or not at all, and refuse to read anything but regular files.

Nothing is written through a link, which a pull request can put in the place of a file.
"""

import errno
import os
import stat
from pathlib import Path


def ensure_regular_file(path: Path) -> None:
    """Raise ``OSError`` for an existing path that is not a file: reading a pipe may block."""
    if path.exists() and not path.is_file():
        raise OSError(0, "it is not a regular file")


def _ensure_own_file(path: Path) -> None:
    """Raise ``OSError`` for an existing path that is not a file itself, such as a link to one."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, "it is a link", str(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))


def atomic_write(path: Path, data: bytes) -> None:
    """Write a file completely or not at all; an older file stays until then.

    Raises ``OSError`` if that fails, or if a link or a folder is in its place.
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
    """Return the path of a file while it is written; a killed process leaves it there."""
    return path.with_name(f".{path.name}.new")


def write_synced(path: Path, data: bytes) -> None:
    """Write a new file, and return when it is on the disk.

    An existing file was left by a killed process and is removed. Raises ``OSError`` if a link or a
    folder is in its place.
    """
    try:
        _ensure_own_file(path)
    except OSError as error:
        text = f"{path.name} is in the way ({error.strerror}): remove it"
        raise OSError(error.errno, text, str(path)) from None
    path.unlink(missing_ok=True)
    # O_EXCL refuses existing paths, so that a link created meanwhile is not followed.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(path, flags, 0o666)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # some disks report only now that they are full
    except BaseException:
        path.unlink(missing_ok=True)
        raise
