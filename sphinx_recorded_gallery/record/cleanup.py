"""End and remove what a run started and wrote, or later if the recorder was killed."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

from .run_program import run_program

_PREFIX = "recipe-run-"
_OWNER = "owner.lock"  # locked while the recorder lives; the system releases the lock in any case
_PATIENCE = 10  # seconds to wait for processes to end
_KERNELS: set[int] = set()  # running ones, by the process that guards each


def end_kernels() -> None:
    """Terminate all kernels of this process, with all that they started."""
    for pid in list(_KERNELS):
        with contextlib.suppress(psutil.Error):
            psutil.Process(pid).terminate()


@contextlib.contextmanager
def guard_kernel(pid: int) -> Iterator[None]:
    """Register a running kernel; at the end, kill whatever it has started."""
    _KERNELS.add(pid)
    try:
        yield
    finally:
        with contextlib.suppress(psutil.Error):
            guard = psutil.Process(pid)  # on Linux it ends its descendants: kernel_process.py
            processes = [guard, *guard.children(recursive=True)]
            guard.terminate()
            psutil.wait_procs([guard], timeout=_PATIENCE)
            for process in processes:
                with contextlib.suppress(psutil.Error):
                    process.kill()
        _KERNELS.remove(pid)


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """Yield an empty temporary folder for a run; remove it afterwards."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        with FileLock(folder / _OWNER):
            try:
                yield folder
            finally:
                remove(folder)  # while it is locked, so that nobody else removes it
    finally:
        remove(folder)  # if it could not be locked


def remove(folder: Path) -> None:
    """Remove a folder with its contents, including write-protected ones."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        with contextlib.suppress(OSError):
            run_program(["chmod", "-R", "u+rwx", str(folder)])
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> str:
    """Remove the folders of runs whose recorder was killed; return a note on them, or "".

    Their processes ended with the recorder: kernel_process.py.
    """
    folders = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(Timeout, OSError):  # Timeout: its recorder lives
            status = folder.lstat()  # does not follow links, which other users may plant here
            is_own = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
            if is_own and (folder / _OWNER).is_file():
                with FileLock(folder / _OWNER, timeout=0):
                    remove(folder)
                folders += 1
    if not folders:
        return ""
    return f"note: an earlier recording was killed; its temporary folders were removed: {folders}"
