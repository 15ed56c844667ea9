"""Dask runner: run tasks on other machines, on workers that Dask's own command started there.

Start one worker for each GPU in a checkout, with the GPU in CUDA_VISIBLE_DEVICES:

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

TRIES = 3  # a task fails when it has lost this many workers
PATIENCE = 60  # seconds to wait while there is no worker
_ABANDONED = threading.Event()  # on a worker: nobody waits for its task any more


def describe_code(task: Task) -> dict[str, str]:
    """Return digests and versions, by name, that have to be equal on all machines."""
    recipe = task.recipe
    settings_file = task.file.gallery / FILE_NAME
    settings_digest = ""
    if settings_file.exists():
        settings_digest = sha256(settings_file.read_bytes()).hexdigest()
    cells = [cell.fingerprint for cell in recipe.cells]
    recipe_text = repr((cells, recipe.hash_inputs(), recipe.settings))
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
    """Ends a worker's kernels when nobody waits for its task any more, or when it is closed."""

    name = "recorded-gallery"

    def transition(self, key: Any, start: str, finish: str, **_: Any) -> None:
        if finish == "executing":
            _ABANDONED.clear()
        elif start == "executing" and finish == "released":  # cancelled, or its client is gone
            self.teardown()

    def teardown(self, worker: Worker | None = None) -> None:
        _ABANDONED.set()
        end_kernels()


# The session is a parameter, since files may change between sessions.
@lru_cache(maxsize=4)
def _prepare(session: str, gallery: Path, device: str) -> tuple[Gpu | None, Conditions]:
    """Return the GPU of this worker, if tasks need one, and the conditions of its runs."""
    gpu = None
    if device == "gpu":
        gpu = require_gpus()[0]
    return gpu, prepare(gallery, gpu, partial(get_worker().log_event, session))


def find_host(session: str, device: str) -> tuple[str, str, str]:
    """Return the host, the device and the release of the worker that calls this."""
    _pages, gallery = load_project(Path.cwd()).galleries[0]
    _gpu, conditions = _prepare(session, gallery, device)
    return conditions.recording_group


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
        except Exception as error:  # as one line, which can always be pickled
            raise RuntimeError(describe_error(error)) from None
        return attempt(task, conditions, say)


def _refuse_other_code(expected: dict[str, str], own: dict[str, str]) -> None:
    """Raise ``GalleryError`` if this worker's code differs from that of the client."""
    names = dict.fromkeys([*expected, *own])
    differing = [name for name in names if expected.get(name) != own.get(name)]
    if differing:
        raise GalleryError(f"it has another {', '.join(differing)}")


def _by_value() -> Any:
    """Return a function that is pickled as code, since the scheduler has no checkout."""
    module = __name__

    def call(function: str, *arguments: Any) -> Any:
        return getattr(import_module(module), function)(*arguments)

    return call


class DaskRunner:
    """Runs tasks on the workers of a scheduler, one at a time on each."""

    def __init__(self, address: str, device: str, say: Callable[[str], None]) -> None:
        """Connect to the scheduler at ``address``; raise ``GalleryError`` if there is none."""
        logging.disable()  # Dask prints tracebacks; the messages below are enough
        self._say = say
        self._session = f"recipes-{secrets.token_hex(8)}"
        self._device = device
        self._refusals: dict[str, str] = {}  # why a worker gets no task, by its address
        self._lost_workers: Counter[str] = Counter()  # by the title of the task
        try:
            self._client = Client(address, timeout=15, set_as_default=False)
        except (OSError, ValueError) as error:
            raise GalleryError(
                f"no Dask scheduler at {address}: {error}",
                remedy="start one: python -m dask scheduler",
            ) from None
        self._pool = self._client.get_executor(resources={"PLACE": 1}, pure=False)
        self._client.subscribe_topic(self._session, lambda event: say(event[1]))

    def close(self) -> None:
        """Disconnect, which also ends the tasks of this client."""
        self._client.close()

    def find_recording_groups(self) -> set[tuple[str, str, str]]:
        """Return host, device and release of each worker that answers within ``PATIENCE``."""
        futures = [self._call(address, "find_host") for address in self._find_workers()]
        groups = set()
        for future in wait(futures, PATIENCE).done:
            if not future.exception():
                groups.add(future.result())
        return groups

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield each task with its result when it ends, including tasks added to ``waiting`` later.

        A task whose worker is lost runs again. Raises ``KeyboardInterrupt`` once ``signals`` holds
        a number, ``GalleryError`` if no worker can run the tasks or the scheduler is gone.
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
            # Dask keeps a result on its worker, or computes it again, while there is a reference to
            # its future. So none is kept after reading it.
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
        """Raise ``GalleryError`` if no worker can be expected while nothing runs.

        If workers only refused tasks, that is at once. If one was lost, it might come back, so the
        error is raised after ``deadline``, in seconds of the monotonic clock.
        """
        only_refusals = self._refusals and not self._lost_workers
        if only_refusals or time.monotonic() > deadline:
            reasons = "; ".join(self._refusals.values()) or "there is none"
            raise GalleryError(
                f"no suitable worker: {reasons}",
                remedy="start some with the same commit and versions",
            )

    def _wait_for_ended(
        self, running: dict[Future[Any], tuple[Task, str]], workers: set[str]
    ) -> set[Future[Any]]:
        """Wait a second at most; return the futures that are done and those of lost workers."""
        if not running:
            time.sleep(1)
            return set()
        ended = wait(running, timeout=1, return_when=FIRST_COMPLETED).done
        for future, (_task, address) in running.items():
            if address not in workers:
                ended.add(future)
        return ended

    def _read(self, future: Future[Any], task: Task, address: str) -> Result | None:
        """Return the result of a task, or its error as text; None, with a note, to run it again."""
        future.cancel()  # no effect if it is done; else its worker is gone
        if future.cancelled():
            self._lost_workers[task.title] += 1
            if self._lost_workers[task.title] == TRIES:
                return f"{task.title}: {TRIES} workers were lost with it"
            self._say(f"note: worker {address} was lost with {task.title}, which runs again")
            return None
        error = future.exception()
        if error:
            self._refusals[address] = f"{address}: {error}"
            self._say(f"note: worker {address} gets no task: {error}")
            return None
        result: Result = future.result()
        return result

    def _call(self, address: str, function: str, *arguments: Any) -> Future[Any]:
        """Call a function of this module on a worker, with this session and device first."""
        return self._pool.submit(
            _by_value(), function, self._session, self._device, *arguments, workers=[address]
        )

    def _find_workers(self) -> set[str]:
        """Return the addresses of the workers that take tasks of recordings.

        Raises ``GalleryError`` if the scheduler is gone.
        """
        if self._client.status != "running":  # else the call below would wait until it is back
            remedy = "finished tasks are kept; start it, and run the same command again"
            raise GalleryError("the scheduler is gone", remedy=remedy)
        workers = self._client.scheduler_info()["workers"]
        return {address for address, facts in workers.items() if facts["resources"].get("PLACE")}
