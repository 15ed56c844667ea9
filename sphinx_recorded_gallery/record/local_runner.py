"""Run tasks on this machine, in several slots at the same time: each a GPU and cores of its own."""

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

_POLL_SECONDS = 0.2  # between two looks at signals


@dataclass(frozen=True, kw_only=True)
class Slot:
    """Where one task at a time runs."""

    name: str
    gpu: Gpu | None = None
    cores: tuple[int, ...] = ()  # the system's numbers; if empty, all that this process may use


def find_slots(device: str, workers: int | None) -> list[Slot]:
    """Return the slots of a device, "gpu" or "cpu"; at most ``workers``.

    By default there is one slot for each GPU, or one for the processor. Raises ``GalleryError`` if
    there are fewer GPUs than ``workers``.
    """
    gpus: list[Gpu | None] = [*require_gpus()] if device == "gpu" else [None] * (workers or 1)
    if workers and workers > len(gpus):
        raise GalleryError(
            f"{workers} workers need {workers} GPUs; there are {len(gpus)}",
            remedy="leave out --workers: by default each GPU has one",
        )
    gpus = gpus[:workers]
    shares = _share_cores(len(gpus))
    return [
        Slot(name=f"{device}{number}", gpu=gpu, cores=cores)
        for number, (gpu, cores) in enumerate(zip(gpus, shares, strict=True))
    ]


def _share_cores(count: int) -> list[tuple[int, ...]]:
    """Return the cores of each of ``count`` slots.

    All shares are empty if there is one slot only, if there are more slots than cores, or if the
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
        with FileLock(lock, timeout=0, mode=0o666):  # the lock of a GPU is shared by all users
            yield
    except Timeout:
        raise GalleryError(
            f"another recording is under way (it holds {lock})",
            remedy="wait for it to end and try again",
        ) from None


class LocalRunner:
    """Runs tasks in threads, one at a time in each slot; each task starts a kernel of its own."""

    def __init__(
        self, slots: Sequence[Slot], tasks: Sequence[Task], say: Callable[[str], None]
    ) -> None:
        """Prepare to run recipes of the galleries that ``tasks`` are from.

        Raises ``GalleryError`` if one of these galleries cannot be run. ``say`` gets lines for the
        person who records.
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

    @property
    def hosts(self) -> set[tuple[str, str, str]]:
        """This host with the device and the release of each slot and gallery."""
        return {conditions.place for conditions in self._conditions.values()}

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield each task with its result as it ends, also tasks added to ``waiting`` meanwhile.

        Raises ``KeyboardInterrupt`` once ``signals`` has a number in it. However the loop ends, no
        kernel is left.
        """
        free_slots = [*self._slots]
        running: dict[Future[Result], tuple[Task, Slot]] = {}
        started = 0
        pool = ThreadPoolExecutor(len(self._slots))
        try:
            while waiting or running:
                while free_slots and waiting:
                    task = waiting.popleft()
                    slot = free_slots.pop(0)
                    started += 1
                    where = f" on {slot.name}" if len(self._slots) > 1 else ""
                    count = started + len(waiting)
                    self._say(f"{task.title}: begins{where} ({started} of {count})")
                    running[pool.submit(self._run_task, task, slot)] = task, slot
                for future in wait(running, _POLL_SECONDS, FIRST_COMPLETED).done:
                    task, slot = running.pop(future)
                    free_slots.append(slot)
                    yield task, future.result()
                if signals:
                    raise KeyboardInterrupt
        finally:
            self._stopping.set()
            while wait(running, _POLL_SECONDS).not_done:
                end_kernels()  # again and again: a thread may be about to start one
            pool.shutdown()

    def _run_task(self, task: Task, slot: Slot) -> Result:
        """Run a task in this thread, on the slot's cores."""
        if slot.cores:
            with suppress(OSError):  # a container may have lost some of its cores since
                # affects this thread and the processes that it starts
                os.sched_setaffinity(0, slot.cores)

        def say(text: str) -> None:
            if self._stopping.is_set():
                raise GalleryError("interrupted")
            self._say(text)

        return attempt(task, self._conditions[slot.name, task.file.gallery], say)
