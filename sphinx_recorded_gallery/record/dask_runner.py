"""Places on other machines: each a worker that Dask's own command has started in a checkout there.

python -m dask worker tcp://host:8786 --nworkers 1 --nthreads 1 --no-nanny --resources PLACE=1 \
    --preload sphinx_recorded_gallery.record.dask_runner

once a GPU, which CUDA_VISIBLE_DEVICES names.
"""

import logging
import secrets
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from functools import lru_cache, partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

from distributed import Client, Worker, WorkerPlugin, get_worker

from ..errors import GalleryError, describe_error
from ..project import code_digest, load_project
from ..recipes.recipe import load_recipe
from ..recipes.recording_toml import FILE_NAME, load_settings
from .check_recordings import name_files
from .cleanup import end_kernels, remove_leftovers
from .gpu_facts import Gpu, require_gpus
from .local_runner import one_at_a_time
from .run_environment import Conditions, package_versions, prepare
from .run_task import Result, Task, attempt

TRIES, PATIENCE = 3, 60  # workers that may be lost with one task; seconds without any
_UNWANTED = threading.Event()  # on a worker: nobody waits any more for what it does


def describe_code(task: Task) -> dict[str, str]:
    """Return what has to be the same on all machines, by name."""
    recipe, settings = task.recipe, task.file.gallery / FILE_NAME
    packages = load_settings(task.file.gallery).packages
    cells = [cell.fingerprint for cell in recipe.cells], recipe.inputs, recipe.settings
    return {
        "engine": code_digest().hex(),
        f"recipe {recipe.name}": sha256(repr(cells).encode()).hexdigest(),
        FILE_NAME: sha256(settings.read_bytes()).hexdigest() if settings.exists() else "",
        **package_versions((*packages, "distributed", "nbclient", "ipykernel", "nbformat")),
    }


async def dask_setup(worker: Worker) -> None:
    """Prepare a worker: Dask calls this for ``--preload``."""
    remove_leftovers()
    await worker.plugin_add(_Ending())


class _Ending(WorkerPlugin):
    """Ends what a worker runs when nobody waits for it any more, or the worker is closed."""

    name = "recorded-gallery"

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        if finish == "executing":
            _UNWANTED.clear()
        elif start == "executing" and finish == "released":  # cancelled, or its client is gone
            self.teardown()

    def teardown(self, worker: Worker | None = None) -> None:
        _UNWANTED.set()
        end_kernels()


@lru_cache(maxsize=4)  # between two sessions files may change
def _prepare(session: str, gallery: Path, device: str) -> tuple[Gpu | None, Conditions]:
    gpu = require_gpus()[0] if device == "gpu" else None
    return gpu, prepare(gallery, gpu, partial(get_worker().log_event, session))


def find_place(session: str, device: str) -> tuple[str, str, str]:
    """Return host, device and release of the worker that runs this."""
    return _prepare(session, load_project(Path.cwd()).galleries[0][1], device)[1].place


def carry_out(session: str, device: str, name: str, number: int, wanted: dict[str, str]) -> Result:
    """Do a task in the worker's own checkout; raise ``RuntimeError`` if this worker cannot."""
    worker = get_worker()

    def say(text: str) -> None:
        if _UNWANTED.is_set():
            raise GalleryError("interrupted")
        worker.log_event(session, text)

    with ExitStack() as held:
        try:
            file = name_files(load_project(Path.cwd()))[name]
            task = Task(file=file, recipe=load_recipe(file.path, file.name), number=number)
            found = describe_code(task)
            others = [name for name in {**wanted, **found} if wanted.get(name) != found.get(name)]
            if others:
                raise GalleryError(f"it has another {', '.join(others)}")
            if _Ending.name not in worker.plugins:
                raise GalleryError(f"it was started without --preload {__name__}, or that failed")
            gpu, conditions = _prepare(session, file.gallery, device)
            if gpu:
                held.enter_context(one_at_a_time(gpu.lock))
        except Exception as error:  # pickled as a line
            raise RuntimeError(describe_error(error)) from None
        return attempt(task, conditions, say)


def _by_value() -> Any:
    """Return a function that is pickled as code: the scheduler loads it, and has no checkout."""
    module = __name__

    def ask(what: str, *order: Any) -> Any:
        return getattr(import_module(module), what)(*order)

    return ask


class Machines:
    """Does tasks on the workers of a scheduler, on each one at a time."""

    def __init__(self, address: str, device: str, say: Callable[[str], None]) -> None:
        logging.disable()  # Dask's tracebacks: what matters is told below
        self._refused: dict[str, str] = {}  # addresses of workers, and why
        self._lost: Counter[str] = Counter()  # workers, by a task's title
        self._say, self._order = say, (f"recipes-{secrets.token_hex(8)}", device)
        try:
            self._client = Client(address, timeout=15, set_as_default=False)
        except (OSError, ValueError) as error:
            text = f"no scheduler of Dask at {address}: {error}"
            raise GalleryError(text, remedy="start one: python -m dask scheduler") from None
        self._pool = self._client.get_executor(resources={"PLACE": 1}, pure=False)
        self._client.subscribe_topic(self._order[0], lambda event: say(event[1]))
        self.close = self._client.close  # it also ends what workers do for this client

    @property
    def hosts(self) -> set[tuple[str, str, str]]:
        """Host, name of the device and release of each worker that answers."""
        asked = [self._ask(address, "find_place") for address in self._find_workers()]
        return {each.result() for each in wait(asked, PATIENCE).done if not each.exception()}

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield what comes of each task, also of those that are added meanwhile."""
        running: dict[Future[Any], tuple[Task, str]] = {}
        until = time.monotonic() + PATIENCE
        while waiting or running:
            there = self._find_workers()
            busy = {address for _task, address in running.values()}
            for address in there - self._refused.keys() - busy:
                if waiting:
                    task = waiting.popleft()
                    order = task.file.name, task.number, describe_code(task)
                    running[self._ask(address, "carry_out", *order)] = task, address
                    self._say(f"{task.title}: begins on {address}, {len(waiting)} wait")
            if running:
                until = time.monotonic() + PATIENCE
            elif (self._refused and not self._lost) or time.monotonic() > until:
                text = f"no worker fits: {'; '.join(self._refused.values()) or 'there is none'}"
                raise GalleryError(text, remedy="start some, of the same commit and versions")
            if signals:
                raise KeyboardInterrupt
            done = wait(running, timeout=1, return_when=FIRST_COMPLETED).done
            done |= {each for each, (_task, address) in running.items() if address not in there}
            while done:  # what is kept of a future, Dask keeps on its worker, or does again
                future = done.pop()
                task, address = running.pop(future)
                result = self._read(future, task, address)
                del future
                if result:
                    yield task, result
                else:
                    waiting.appendleft(task)

    def _read(self, future: Future[Any], task: Task, address: str) -> Result | None:
        """Return what came of a task; None if it has to be done again, which is told."""
        if future.cancel() or future.cancelled():  # its worker is gone
            self._lost[task.title] += 1
            if self._lost[task.title] == TRIES:
                return f"{task.title}: {TRIES} workers were lost with it"
            self._say(f"note: worker {address} was lost with {task.title}; it is done again")
            return None
        if error := future.exception():
            self._refused[address] = f"{address}: {error}"
            self._say(f"note: worker {address} gets no task: {error}")
            return None
        result: Result = future.result()
        return result

    def _ask(self, address: str, what: str, *order: Any) -> Future[Any]:
        return self._pool.submit(_by_value(), what, *self._order, *order, workers=[address])

    def _find_workers(self) -> set[str]:
        if self._client.status == "running":  # else the next line waits until it is
            found = self._client.scheduler_info()["workers"]
            return {key for key, each in found.items() if each["resources"].get("PLACE")}
        remedy = "what was finished is kept; start it, and the same command goes on"
        raise GalleryError("the scheduler is gone", remedy=remedy)
