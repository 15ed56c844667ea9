"""What a run started and wrote: ended and removed with it, or later if the recorder was killed."""

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
_OWNER = "owner.lock"  # locked as long as the recorder lives: the system frees it, whatever happens
_PATIENCE = 10  # seconds in which all that is ended should be gone
_KERNELS: set[int] = set()  # that run: the process above each


def end_kernels() -> None:
    """Let all kernels of this process end at once, with all that they started."""
    for pid in [*_KERNELS]:
        with contextlib.suppress(psutil.Error):
            psutil.Process(pid).terminate()


@contextlib.contextmanager
def kernel_runs(pid: int) -> Iterator[None]:
    """Know of a kernel as long as this is open; at the end nothing is left of what it started."""
    _KERNELS.add(pid)
    try:
        yield
    finally:
        with contextlib.suppress(psutil.Error):
            guard = psutil.Process(pid)  # on Linux it ends what it started: kernel_process.py
            below = [guard, *guard.children(recursive=True)]
            guard.terminate()
            psutil.wait_procs([guard], timeout=_PATIENCE)
            for each in below:
                with contextlib.suppress(psutil.Error):
                    each.kill()
        _KERNELS.remove(pid)


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """Yield an empty folder of a run's own, in the folder for temporary files; remove it after."""
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with contextlib.ExitStack() as held:
        held.callback(remove, folder)  # if it cannot be locked
        held.enter_context(FileLock(folder / _OWNER))
        held.callback(remove, folder)  # as long as it is locked nobody takes it for left behind
        yield folder


def remove(folder: Path) -> None:
    """Remove a folder with all in it, also what may not be written."""
    shutil.rmtree(folder, ignore_errors=True)
    if folder.exists():
        with contextlib.suppress(OSError):
            run_program(["chmod", "-R", "u+rwx", str(folder)])
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> str:
    """Remove the folders of runs whose recorder was killed; return a line that tells it, or "".

    Their processes have ended with it: kernel_process.py.
    """
    folders = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(Timeout, OSError):  # Timeout: its recorder lives
            found = folder.lstat()  # of the link, if it is one: others may write here
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if is_own and (folder / _OWNER).is_file():
                with FileLock(folder / _OWNER, timeout=0):
                    remove(folder)
                folders += 1
    note = f"note: a recording was killed before; what it left is removed: folders: {folders}"
    return note if folders else ""
