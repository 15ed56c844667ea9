"""What a run started and wrote: ended and removed with it, or later if the recorder was killed."""

import contextlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from filelock import FileLock, Timeout

# In the environment of all that a run starts: the run's folder. Processes keep it when they leave
# their parent and its session.
MARK = "RECIPE_GALLERY_RUN"
_PREFIX = "recipe-run-"
_OWNER = "owner.lock"  # locked as long as the recorder lives: the system frees it, whatever happens
_PATIENCE = 10  # seconds in which all that is killed should be gone
_KERNELS: dict[Path, int] = {}  # that run: the process above each, by the folder of its run


def end_kernels() -> None:
    """Let all kernels of this process end at once, with all that they started."""
    for pid in [*_KERNELS.values()]:
        with contextlib.suppress(psutil.Error):
            psutil.Process(pid).terminate()


@contextlib.contextmanager
def kernel_runs(folder: Path, pid: int) -> Iterator[None]:
    """Know of a kernel as long as this is open; at the end nothing is left of what it started."""
    _KERNELS[folder] = pid
    try:
        yield
    finally:
        with contextlib.suppress(psutil.Error):
            guard = psutil.Process(pid)  # on Linux it ends all that descends from it: launcher.py
            below = [guard, *guard.children(recursive=True)]
            guard.terminate()
            psutil.wait_procs([guard], timeout=_PATIENCE)
            for each in below:
                with contextlib.suppress(psutil.Error):
                    each.kill()
        end_processes(folder)
        del _KERNELS[folder]


def end_processes(folder: Path) -> int:
    """Kill what carries the mark of a run, until nothing is left; return how many there were."""
    ended: set[psutil.Process] = set()
    until = time.monotonic() + _PATIENCE
    # More than once: a process may start another while the first ones are ended.
    while (left := _find(folder)) and time.monotonic() < until:
        for process in left:
            with contextlib.suppress(psutil.Error):
                process.kill()
        ended |= left
        psutil.wait_procs(left, timeout=1)
    return len(ended)


def _find(folder: Path) -> set[psutil.Process]:
    found = set()
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            is_alive = process.status() != psutil.STATUS_ZOMBIE
            if is_alive and process.environ().get(MARK) == str(folder):
                found.add(process)
    return {each for each in found if each.pid != os.getpid()}


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """Yield an empty folder of a run's own, in the folder for temporary files; remove it after."""
    # It gets its name when it is locked: what bears the name and is not locked was left behind.
    new = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}"))
    folder = new.with_name(new.name.removeprefix("."))
    try:
        with FileLock(new / _OWNER):
            new.rename(folder)
            try:
                yield folder
            finally:
                remove(folder)
    finally:
        remove(new)  # if it could not be locked


def remove(folder: Path) -> None:
    """Remove a folder with all in it, also what may not be written."""
    with contextlib.suppress(OSError):
        folder.chmod(0o700)
    for path, names, _files in os.walk(folder):
        for name in names:
            inner = Path(path, name)
            if not inner.is_symlink():
                with contextlib.suppress(OSError):
                    inner.chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers() -> str:
    """End the processes and remove the folders of runs whose recorder was killed.

    Returns a line that tells what there was, or an empty text.
    """
    folders = processes = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(Timeout, OSError):  # Timeout: its recorder lives
            found = folder.lstat()  # of the link, if it is one: others may write here
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if not (is_own and (folder / _OWNER).is_file()):
                continue
            with FileLock(folder / _OWNER, timeout=0):
                processes += end_processes(folder)
                remove(folder)
            folders += 1
    what = f"folders: {folders}, processes: {processes}"
    note = f"note: a recording was killed before; what it left is removed: {what}"
    return note if folders else ""
