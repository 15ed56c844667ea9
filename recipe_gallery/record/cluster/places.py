"""Places of this machine where tasks run at the same time: a GPU each, and cores of its own."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from ...errors import GalleryError, suggest
from ..machine.gpu import Gpu
from ..machine.gpus import require_gpus

_MOMENT = 3  # seconds in which one or two kernels start
_TOPOLOGY = "/sys/devices/system/cpu/cpu{}/topology/{}"


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
    if device == "gpu":
        gpus: list[Gpu | None] = [*require_gpus()]
        if workers and workers > len(gpus):
            text = f"{workers} workers need {workers} GPUs; there are {len(gpus)}"
            raise GalleryError(text, remedy=f"run: {suggest('record')}")
    else:
        gpus = [None] * (workers or 1)
    gpus = gpus[:workers]
    places = [Place(name=f"{device}{number}", gpu=gpu) for number, gpu in enumerate(gpus)]
    if len(places) == 1 or not hasattr(os, "sched_getaffinity"):
        return places
    shares = divide(sorted(os.sched_getaffinity(0), key=_locate), len(places))
    return [replace(each, cores=share) for each, share in zip(places, shares, strict=True)]


def divide(cores: Sequence[int], parts: int) -> list[tuple[int, ...]]:
    """Return shares of cores of the same size; with fewer cores than parts some share one."""
    if len(cores) < parts:
        return [(cores[number % len(cores)],) for number in range(parts)]
    size = len(cores) // parts
    return [tuple(cores[number * size : (number + 1) * size]) for number in range(parts)]


def keep_to(place: Place) -> None:
    """Let this thread, and what it starts, use the cores of a place alone."""
    if place.cores:
        with suppress(OSError):  # a container may have taken some away
            os.sched_setaffinity(0, place.cores)


@contextmanager
def start_alone(place: Place, folder: Path) -> Iterator[None]:
    """Wait for the one that starts a recipe on the same cores, a moment at most.

    Started at once, and again when they end at once, all have to wait for the last one's kernel.
    """
    if not place.cores:
        yield
        return
    lock = FileLock(folder / f"core-{place.cores[0]}.lock", timeout=_MOMENT)
    with suppress(OSError):  # also of time
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _locate(core: int) -> tuple[int, int, int]:
    """Return what sorts hardware threads by processor, then by the core that they share."""
    try:
        package = int(Path(_TOPOLOGY.format(core, "physical_package_id")).read_text())
        threads = Path(_TOPOLOGY.format(core, "thread_siblings_list")).read_text()
        return package, int(threads.replace("-", ",").split(",")[0]), core
    except (OSError, ValueError):
        return 0, core, core
