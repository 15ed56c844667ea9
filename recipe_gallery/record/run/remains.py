"""What a run started and wrote: ended and removed with it, or later if the recorder was killed."""

import contextlib
import ctypes
import os
import shutil
import signal
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

# In the environment of all that a run starts: the run's folder. Processes keep it when they leave
# their parent and its session.
MARK = "RECIPE_GALLERY_RUN"
_PREFIX = "recipe-run-"
_OWNER = "owner.lock"  # locked as long as the recorder lives: the system frees it, whatever happens
_PR_SET_CHILD_SUBREAPER = 36  # of Linux' <sys/prctl.h>
_PATIENCE = 10  # seconds in which all that is killed should be gone
_TO_TIDY_UP = 3  # seconds


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends.

    So they are found without a mark, also with an environment and a session of their own. Only
    Linux has this; elsewhere what clears its environment and loses its parents is not found.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_processes(folder: Path, root: int | None = None) -> int:
    """Kill all that a run started, until nothing is left; return how many there were.

    That is what descends from the process ``root``, which lives on, and what carries the mark of
    the run. Without a root, its processes were left behind by a run that was killed: then also what
    works in its folder, unless it has a terminal, for that is a person looking.
    """
    ended: set[psutil.Process] = set()
    began = time.monotonic()
    while time.monotonic() < began + _PATIENCE:
        # More than once: a process may start another while the first ones are ended.
        left = _find(folder, root)
        if not left:
            break
        for process in left:
            with contextlib.suppress(psutil.Error):
                if time.monotonic() > began + _TO_TIDY_UP or not _tidies_up(process):
                    process.kill()
        ended |= left
        psutil.wait_procs(left, timeout=1)
    return len(ended)


def _find(folder: Path, root: int | None) -> set[psutil.Process]:
    found = set()
    with contextlib.suppress(psutil.Error):
        if root is not None:
            found.update(psutil.Process(root).children(recursive=True))
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            is_marked = process.environ().get(MARK) == str(folder)
            if is_marked or (root is None and _works_in(folder, process)):
                found.add(process)
    return {each for each in found if each.pid not in (os.getpid(), root) and _is_alive(each)}


def _tidies_up(process: psutil.Process) -> bool:
    """Tell whether it is Python's keeper of shared memory, which ends after all that use it."""
    return any("multiprocessing.resource_tracker" in word for word in process.cmdline())


def _works_in(folder: Path, process: psutil.Process) -> bool:
    return Path(process.cwd()).is_relative_to(folder.resolve()) and process.terminal() is None


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


@contextlib.contextmanager
def run_folder() -> Iterator[Path]:
    """Yield an empty folder of a run's own, in the folder for temporary files; remove it after."""
    from filelock import FileLock  # slow, and not for the worker, which imports this module first

    # It gets its name when it is locked: what bears the name and is not locked was left behind.
    new = Path(tempfile.mkdtemp(prefix=f".{_PREFIX}"))
    folder = new.with_name(new.name.removeprefix("."))
    try:
        with FileLock(new / _OWNER):
            new.rename(folder)
            try:
                yield folder
            finally:
                with undisturbed():
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
    from filelock import FileLock, Timeout

    folders = processes = 0
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        # Timeout: its recorder lives
        with contextlib.suppress(Timeout, OSError):
            found = folder.lstat()  # of the link, if it is one: others may write here
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if not (is_own and (folder / _OWNER).is_file()):
                continue
            with FileLock(folder / _OWNER, timeout=0):
                processes += end_processes(folder)
                remove(folder)
            folders += 1
    if not folders:
        return ""
    return (
        f"note: a recording was killed before; what it left is removed: folders: {folders}, "
        f"processes: {processes}"
    )


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Let Ctrl-C and other signals that end a recording wait until nothing of it is left."""
    signals = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
