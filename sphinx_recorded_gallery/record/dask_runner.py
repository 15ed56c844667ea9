"""Run tasks on other machines, on workers that Dask's own command has started in checkouts there.

Start one worker for each GPU, which CUDA_VISIBLE_DEVICES names:

python -m dask worker tcp://host:8786 --nworkers 1 --nthreads 1 --no-nanny --resources PLACE=1 \
    --preload sphinx_recorded_gallery.record.dask_runner
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

TRIES = 3  # workers that may be lost with one task
PATIENCE = 60  # seconds to wait while there is no worker
_ABANDONED = threading.Event()  # on a worker: nobody waits any more for the task that it runs


def describe_code(task: Task) -> dict[str, str]:
    """Return what has to be the same on all machines, as digests and versions by name."""
    recipe = task.recipe
    settings_file = task.file.gallery / FILE_NAME
    settings_digest = ""
    if settings_file.exists():
        settings_digest = sha256(settings_file.read_bytes()).hexdigest()
    cells = [cell.fingerprint for cell in recipe.cells]
    recipe_text = repr((cells, recipe.inputs, recipe.settings))
    packages = load_settings(task.file.gallery).packages
    return {
        "engine": code_digest().hex(),
        f"recipe {recipe.name}": sha256(recipe_text.encode()).hexdigest(),
        FILE_NAME: settings_digest,
        **package_versions((*packages, "distributed", "nbclient", "ipykernel", "nbformat")),
    }


async def dask_setup(worker: Worker) -> None:
    """Prepare a worker: Dask calls this for ``--preload``."""
    remove_leftovers()
    await worker.plugin_add(_EndKernels())


class _EndKernels(WorkerPlugin):
    """Ends a worker's kernels when nobody waits for the task any more, or the worker is closed."""

    name = "recorded-gallery"

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        if finish == "executing":
            _ABANDONED.clear()
        elif start == "executing" and finish == "released":  # cancelled, or its client is gone
            self.teardown()

    def teardown(self, worker: Worker | None = None) -> None:
        _ABANDONED.set()
        end_kernels()


# once for each session: files may change between two of them
@lru_cache(maxsize=4)
def _prepare(session: str, gallery: Path, device: str) -> tuple[Gpu | None, Conditions]:
    """Return the GPU of this worker, if tasks need one, and the conditions they run under."""
    gpu = require_gpus()[0] if device == "gpu" else None
    return gpu, prepare(gallery, gpu, partial(get_worker().log_event, session))


def find_host(session: str, device: str) -> tuple[str, str, str]:
    """Return the host, the device and the release of the worker that calls this."""
    _pages, gallery = load_project(Path.cwd()).galleries[0]
    _gpu, conditions = _prepare(session, gallery, device)
    return conditions.place


def carry_out(
    session: str, device: str, name: str, number: int, expected_code: dict[str, str]
) -> Result:
    """Run a task in the worker's own checkout; raise ``RuntimeError`` if this worker cannot."""
    worker = get_worker()

    def say(text: str) -> None:
        if _ABANDONED.is_set():
            raise GalleryError("interrupted")
        worker.log_event(session, text)

    with ExitStack() as stack:
        try:
            file = name_files(load_project(Path.cwd()))[name]
            task = Task(file=file, recipe=load_recipe(file.path, file.name), number=number)
            _refuse_other_code(expected_code, describe_code(task))
            if _EndKernels.name not in worker.plugins:
                raise GalleryError(f"it was started without --preload {__name__}, or that failed")
            gpu, conditions = _prepare(session, file.gallery, device)
            if gpu:
                stack.enter_context(one_at_a_time(gpu.lock))
        except Exception as error:  # as one line, which can be pickled whatever the error was
            raise RuntimeError(describe_error(error)) from None
        return attempt(task, conditions, say)


def _refuse_other_code(expected: dict[str, str], own: dict[str, str]) -> None:
    """Raise ``GalleryError`` if this worker's code differs from that of the client."""
    names = dict.fromkeys([*expected, *own])
    differing = [name for name in names if expected.get(name) != own.get(name)]
    if differing:
        raise GalleryError(f"it has another {', '.join(differing)}")


def _by_value() -> Any:
    """Return a function that is pickled as code, as the scheduler loads it without a checkout."""
    module = __name__

    def call(function: str, *arguments: Any) -> Any:
        return getattr(import_module(module), function)(*arguments)

    return call


class DaskRunner:
    """Runs tasks on the workers of a scheduler, on each worker one at a time."""

    def __init__(self, address: str, device: str, say: Callable[[str], None]) -> None:
        """Connect to the scheduler at ``address``; raise ``GalleryError`` if there is none."""
        logging.disable()  # Dask prints tracebacks; the messages below say what matters
        self._say = say
        self._session = f"recipes-{secrets.token_hex(8)}"
        self._device = device
        self._refusals: dict[str, str] = {}  # why a worker gets no task, by its address
        self._lost_workers: Counter[str] = Counter()  # by the title of the task
        try:
            self._client = Client(address, timeout=15, set_as_default=False)
        except (OSError, ValueError) as error:
            raise GalleryError(
                f"no scheduler of Dask at {address}: {error}",
                remedy="start one: python -m dask scheduler",
            ) from None
        self._pool = self._client.get_executor(resources={"PLACE": 1}, pure=False)
        self._client.subscribe_topic(self._session, lambda event: say(event[1]))

    def close(self) -> None:
        """Disconnect, which also ends what workers run for this client."""
        self._client.close()

    @property
    def hosts(self) -> set[tuple[str, str, str]]:
        """Host, name of the device and release of each worker that answers."""
        futures = [self._call(address, "find_host") for address in self._find_workers()]
        answered = wait(futures, PATIENCE).done
        return {future.result() for future in answered if not future.exception()}

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield each task with its result as it ends, also tasks added to ``waiting`` meanwhile.

        A task whose worker is lost is run again. Raises ``KeyboardInterrupt`` once ``signals`` has
        a number in it, ``GalleryError`` if no worker can run the tasks or the scheduler is gone.
        """
        running: dict[Future[Any], tuple[Task, str]] = {}
        deadline = time.monotonic() + PATIENCE
        while waiting or running:
            workers = self._find_workers()
            self._start_tasks(waiting, running, workers)
            if running:
                deadline = time.monotonic() + PATIENCE
            else:
                self._give_up_without_workers(deadline)
            if signals:
                raise KeyboardInterrupt
            ended = self._wait_for_ended(running, workers)
            # Dask keeps a result on its worker, or computes it again, as long as there is a
            # reference to its future: so none outlives the reading
            while ended:
                future = ended.pop()
                task, address = running.pop(future)
                result = self._read(future, task, address)
                del future
                if result is None:
                    waiting.appendleft(task)
                else:
                    yield task, result

    def _start_tasks(
        self,
        waiting: deque[Task],
        running: dict[Future[Any], tuple[Task, str]],
        workers: set[str],
    ) -> None:
        """Move tasks from ``waiting`` to ``running``, one for each free worker."""
        busy = {address for _task, address in running.values()}
        for address in workers - self._refusals.keys() - busy:
            if not waiting:
                return
            task = waiting.popleft()
            arguments = task.file.name, task.number, describe_code(task)
            running[self._call(address, "carry_out", *arguments)] = task, address
            self._say(f"{task.title}: begins on {address}, {len(waiting)} wait")

    def _give_up_without_workers(self, deadline: float) -> None:
        """Raise ``GalleryError`` if no worker is to be expected, while nothing runs.

        That is at once where workers refused tasks and none was lost, which might come back, and
        otherwise after ``deadline``, in seconds of the monotonic clock.
        """
        only_refusals = self._refusals and not self._lost_workers
        if only_refusals or time.monotonic() > deadline:
            reasons = "; ".join(self._refusals.values()) or "there is none"
            raise GalleryError(
                f"no worker fits: {reasons}",
                remedy="start some, of the same commit and versions",
            )

    def _wait_for_ended(
        self, running: dict[Future[Any], tuple[Task, str]], workers: set[str]
    ) -> set[Future[Any]]:
        """Return the futures that are done, after a second at most, and those of lost workers."""
        ended = wait(running, timeout=1, return_when=FIRST_COMPLETED).done
        for future, (_task, address) in running.items():
            if address not in workers:
                ended.add(future)
        return ended

    def _read(self, future: Future[Any], task: Task, address: str) -> Result | None:
        """Return the result of a task; None if it has to be run again, after saying why."""
        if future.cancel() or future.cancelled():  # its worker is gone
            self._lost_workers[task.title] += 1
            if self._lost_workers[task.title] == TRIES:
                return f"{task.title}: {TRIES} workers were lost with it"
            self._say(f"note: worker {address} was lost with {task.title}; it is done again")
            return None
        error = future.exception()
        if error:
            self._refusals[address] = f"{address}: {error}"
            self._say(f"note: worker {address} gets no task: {error}")
            return None
        result: Result = future.result()
        return result

    def _call(self, address: str, function: str, *arguments: Any) -> Future[Any]:
        """Call a function of this module on a worker."""
        return self._pool.submit(
            _by_value(), function, self._session, self._device, *arguments, workers=[address]
        )

    def _find_workers(self) -> set[str]:
        """Return the addresses of the workers that take tasks of recordings.

        Raises ``GalleryError`` if the scheduler is gone.
        """
        if self._client.status != "running":  # the question below would wait until it is back
            remedy = "what was finished is kept; start it, and the same command goes on"
            raise GalleryError("the scheduler is gone", remedy=remedy)
        workers = self._client.scheduler_info()["workers"]
        return {address for address, facts in workers.items() if facts["resources"].get("PLACE")}
