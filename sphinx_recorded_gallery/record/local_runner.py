"""Places of this machine where tasks run at the same time: a GPU each, and cores of its own."""

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
from .run_environment import prepare
from .run_task import Result, Task, attempt


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where one task at a time runs."""

    name: str
    gpu: Gpu | None = None
    cores: tuple[int, ...] = ()  # numbers of the system; none: all that this process may use


def find_places(device: str, workers: int | None) -> list[Place]:
    """Return the places for a device, "gpu" or "cpu"; ``workers`` bounds how many.

    By default each GPU is one, or the processor is. Raises ``GalleryError`` if there are too few.
    """
    gpus: list[Gpu | None] = [*require_gpus()] if device == "gpu" else [None] * (workers or 1)
    if workers and workers > len(gpus):
        text = f"{workers} workers need {workers} GPUs; there are {len(gpus)}"
        raise GalleryError(text, remedy="leave out --workers: by default each GPU has one")
    gpus = gpus[:workers]
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    # with fewer cores than places all use all
    size = len(cores) // len(gpus) if len(gpus) > 1 else 0
    return [
        Place(name=f"{device}{n}", gpu=gpu, cores=tuple(cores[n * size : (n + 1) * size]))
        for n, gpu in enumerate(gpus)
    ]


@contextmanager
def one_at_a_time(lock: Path) -> Iterator[None]:
    """Hold a lock as long as this is open; raise ``GalleryError`` if another process does."""
    try:
        with FileLock(lock, timeout=0, mode=0o666):  # that of a GPU is for all users
            yield
    except Timeout:
        text = f"another recording is under way (it holds {lock})"
        raise GalleryError(text, remedy="wait for it to end and try again") from None


class Places:
    """Does tasks in threads, one at a time at each place; each runs a kernel of its own."""

    def __init__(
        self, places: Sequence[Place], tasks: Sequence[Task], say: Callable[[str], None]
    ) -> None:
        """Prepare for the galleries of ``tasks``; raise ``GalleryError`` if one cannot run."""
        self._say, self._places = say, places
        notes: list[str] = []
        self._conditions = {
            (place.name, gallery): prepare(gallery, place.gpu, notes.append)
            for place in places
            for gallery in dict.fromkeys(task.file.gallery for task in tasks)
        }
        for note in dict.fromkeys(notes):
            say(note)
        self.hosts = {each.place for each in self._conditions.values()}  # with device and release
        self._stopping = threading.Event()

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield what comes of each task, also of those that are added meanwhile."""
        free, begun = [*self._places], 0
        running: dict[Future[Result], tuple[Task, Place]] = {}
        pool = ThreadPoolExecutor(len(free))
        try:
            while waiting or running:
                while free and waiting:
                    task, place = waiting.popleft(), free.pop(0)
                    begun += 1
                    where = f" on {place.name}" if len(self._places) > 1 else ""
                    self._say(f"{task.title}: begins{where} ({begun} of {begun + len(waiting)})")
                    running[pool.submit(self._do, task, place)] = task, place
                for future in wait(running, 0.2, FIRST_COMPLETED).done:
                    task, place = running.pop(future)
                    free.append(place)
                    yield task, future.result()
                if signals:
                    raise KeyboardInterrupt
        finally:
            self._stopping.set()
            while wait(running, 0.2).not_done:
                end_kernels()  # also those that were about to start
            pool.shutdown()

    def _do(self, task: Task, place: Place) -> Result:
        if place.cores:
            with suppress(OSError):  # a container may have taken some away
                os.sched_setaffinity(0, place.cores)  # of this thread, and of what it starts

        def say(text: str) -> None:
            if self._stopping.is_set():
                raise GalleryError("interrupted")
            self._say(text)

        return attempt(task, self._conditions[place.name, task.file.gallery], say)
