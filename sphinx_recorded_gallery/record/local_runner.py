"""Runs tasks on this machine: one at a time in each slot, which has a GPU of its own.

Several slots share the CPU cores, if there are enough; on a CPU, slots have cores only.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import GalleryError
from .cleanup import end_kernels
from .gpu_facts import Gpu, require_gpus
from .run_environment import Conditions, prepare
from .run_task import Result, Task, attempt

_POLL_SECONDS = 0.2  # between two checks of signals


@dataclass(frozen=True, kw_only=True)
class Slot:
    """A place for one task at a time."""

    name: str
    gpu: Gpu | None = None
    cores: tuple[int, ...] = ()  # numbers of the system; empty for all that this process may use


def find_slots(device: str, workers: int | None) -> list[Slot]:
    """Return the slots of a device, "gpu" or "cpu"; at most ``workers``.

    By default there is one slot for each GPU, or one for the processor. Raises ``GalleryError`` if
    there are fewer GPUs than ``workers``.
    """
    gpus: list[Gpu | None] = [None] * (workers or 1)
    if device == "gpu":
        gpus = list(require_gpus())
    if workers and workers > len(gpus):
        raise GalleryError(
            f"{workers} workers need {workers} GPUs; there are {len(gpus)}",
            remedy="leave out --workers: by default there is one per GPU",
        )
    gpus = gpus[:workers]
    shares = _share_cores(len(gpus))
    slots: list[Slot] = []
    for gpu, cores in zip(gpus, shares, strict=True):
        slots.append(Slot(name=f"{device}{len(slots)}", gpu=gpu, cores=cores))
    return slots


def _share_cores(count: int) -> list[tuple[int, ...]]:
    """Return the cores of each of ``count`` slots.

    All shares are empty if there is only one slot, if there are more slots than cores, or if the
    system does not say which cores this process may use.
    """
    if count < 2 or not hasattr(os, "sched_getaffinity"):
        return [()] * count
    cores = sorted(os.sched_getaffinity(0))
    size = len(cores) // count
    return [tuple(cores[number * size : (number + 1) * size]) for number in range(count)]


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Hold a lock while the context is open; raise ``GalleryError`` if another process holds it."""
    try:
        with FileLock(lock, timeout=0, mode=0o666):  # all users share the lock of a GPU
            yield
    except Timeout:
        raise GalleryError(
            f"another recording is running (it holds {lock})",
            remedy="wait for it to end and try again",
        ) from None


class LocalRunner:
    """Runs each task in a thread and a kernel of its own, one at a time in each slot."""

    def __init__(
        self, slots: Sequence[Slot], tasks: Sequence[Task], say: Callable[[str], None]
    ) -> None:
        """Prepare to run tasks, whose galleries are probed in each slot.

        ``say`` prints lines for the person who records. Raises ``GalleryError`` if a gallery cannot
        be run.
        """
        self._say = say
        self._slots = slots
        self._stopping = threading.Event()
        self._conditions: dict[tuple[str, Path], Conditions] = {}  # by slot name and gallery
        galleries = dict.fromkeys(task.file.gallery for task in tasks)
        notes: list[str] = []
        for slot in slots:
            for gallery in galleries:
                self._conditions[slot.name, gallery] = prepare(gallery, slot.gpu, notes.append)
        for note in dict.fromkeys(notes):
            say(note)

    def find_recording_groups(self) -> set[tuple[str, str, str]]:
        """Return this host, with the device and the release of each slot and gallery."""
        return {conditions.recording_group for conditions in self._conditions.values()}

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield each task with its result when it ends, including tasks added to ``waiting`` later.

        Raises ``KeyboardInterrupt`` once ``signals`` holds a number. However the loop ends, no
        kernel is left behind.
        """
        free_slots = list(self._slots)
        running: dict[Future[Result], tuple[Task, Slot]] = {}
        started = 0
        pool = ThreadPoolExecutor(len(self._slots))
        try:
            while waiting or running:
                while free_slots and waiting:
                    task = waiting.popleft()
                    slot = free_slots.pop(0)
                    started += 1
                    place = f" on {slot.name}" if len(self._slots) > 1 else ""
                    count = started + len(waiting)
                    self._say(f"{task.title}: begins{place} ({started} of {count})")
                    future = pool.submit(self._run_task, task, slot)
                    running[future] = (task, slot)
                for future in wait(running, _POLL_SECONDS, FIRST_COMPLETED).done:
                    task, slot = running.pop(future)
                    free_slots.append(slot)
                    yield task, future.result()
                if signals:
                    raise KeyboardInterrupt
        finally:
            self._stopping.set()
            while wait(running, _POLL_SECONDS).not_done:
                end_kernels()  # repeatedly, since a thread may be about to start one
            pool.shutdown()

    def _run_task(self, task: Task, slot: Slot) -> Result:
        """Run a task in this thread, on the slot's cores."""
        if slot.cores:
            with suppress(OSError):  # a container may have lost some of its cores
                # This affects only this thread and the processes that it starts.
                os.sched_setaffinity(0, slot.cores)

        def say_or_stop(text: str) -> None:
            # A thread cannot be ended from outside, and a task says something before each step.
            if self._stopping.is_set():
                raise GalleryError("interrupted")
            self._say(text)

        return attempt(task, self._conditions[slot.name, task.file.gallery], say_or_stop)
