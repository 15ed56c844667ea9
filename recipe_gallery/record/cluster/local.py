"""Clients of Dask: of a cluster on this machine, and of a scheduler that exists."""

import contextlib
import logging
import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import dask
from distributed import Client, Nanny, Scheduler, SpecCluster
from distributed.scheduler import KilledWorker

from ...errors import GalleryError, visible
from ..progress import Progress
from ..run.remains import run_folder
from ..run.supervise import describe_end
from .places import Place
from .remote import PlacePlugin

RESOURCE = "place"  # of which each worker has one: a task at a time
LOCAL = "127.0.0.1"  # what listens there cannot be reached from other machines
CONNECT = 15  # seconds
_ended: dict[str, int] = {}  # with what processes of workers here ended, by their addresses


@contextlib.contextmanager
def set_up(scratch: Path) -> Iterator[None]:
    """Keep Dask quiet, its files in ``scratch``, and the environment of recipes as it is."""
    # In place of its own: one thread for each of OpenMP's, OpenBLAS' and MKL's libraries. A Nanny
    # puts it into the environment of this process and leaves it there.
    name = "DASK_LOGGING__DISTRIBUTED"
    before = os.environ.get(name)
    settings = {
        "distributed.nanny.pre-spawn-environ": {name: "critical"},
        "distributed.comm.timeouts.connect": f"{CONNECT}s",
        "distributed.worker.daemon": True,
        "temporary-directory": str(scratch),
    }
    for logger in [*logging.root.manager.loggerDict]:  # some have a level of their own
        if logger.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        with dask.config.set(settings):
            yield
    finally:
        os.environ.pop(name, None)
        if before is not None:
            os.environ[name] = before


def describe_worker(place: Place, root: Path, folder: Path, name: str) -> dict[str, Any]:
    """Return what Dask's Nanny needs to start the worker of a place."""
    return {
        "name": name,
        "nthreads": 1,
        "resources": {RESOURCE: 1},
        "memory_limit": 0,  # a recipe's memory is not the worker's to judge
        "local_directory": str(folder),
        "plugins": (PlacePlugin(place, root),),
        "silence_logs": logging.CRITICAL,
    }


class _Watched(Nanny):
    """A nanny that tells how a process of its worker ended; it starts another one at once."""

    def _on_worker_exit_sync(self, exitcode: int) -> None:
        _ended[self.worker_address] = exitcode
        super()._on_worker_exit_sync(exitcode)


def describe_loss(client: Client, address: str, error: Exception | None = None) -> str:
    """Return how a worker was lost, in brackets, as far as that is known here."""
    until = time.monotonic() + (1 if client.cluster else 0)  # on this machine it is known soon
    while address not in _ended and time.monotonic() < until:
        time.sleep(0.01)
    if address in _ended:
        return f" (its process ended {describe_end(_ended.pop(address))})"
    if error is None or isinstance(error, KilledWorker):
        return ""
    return f" ({visible(' '.join(f'{type(error).__name__}: {error}'.split()))[:200]})"


@contextlib.contextmanager
def local_cluster(places: Sequence[Place], root: Path, progress: Progress) -> Iterator[Client]:
    """Yield a client of a cluster with a worker at each place; nothing of it is left after."""
    http = f"{LOCAL}:0"
    own = {"host": LOCAL, "dashboard_address": http}
    with contextlib.ExitStack() as held:
        folder = held.enter_context(run_folder())
        held.enter_context(set_up(folder))
        workers = {
            place.name: {
                "cls": _Watched,
                "options": {**describe_worker(place, root.resolve(), folder, place.name), **own},
            }
            for place in places
        }
        has_dashboard = find_spec("bokeh") is not None
        scheduler = {
            "cls": Scheduler,
            "options": {
                "host": LOCAL,
                "port": 0,
                "dashboard": has_dashboard,
                "dashboard_address": http,
                "allowed_failures": 0,  # the client knows how often a task was tried
            },
        }
        cluster = held.enter_context(SpecCluster(workers, scheduler, silence_logs=logging.CRITICAL))
        client = held.enter_context(Client(cluster, set_as_default=False))
        if has_dashboard:
            progress.say(f"dashboard: {cluster.dashboard_link}")
        yield client


@contextlib.contextmanager
def remote_cluster(address: str) -> Iterator[Client]:
    """Yield a client of a scheduler that exists; raise ``GalleryError`` if it does not answer."""
    with run_folder() as folder, set_up(folder):
        try:
            client = Client(address, timeout=CONNECT, set_as_default=False)
        except (OSError, ValueError, TypeError) as error:
            raise no_scheduler(address, error) from None
        except AssertionError:  # Dask waits 10 s for a thread of its own
            busy = TimeoutError("this machine is too busy to start a client")
            raise no_scheduler(address, busy) from None
        try:
            yield client
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=2)


def no_scheduler(address: str, error: Exception) -> GalleryError:
    """Return the error of a scheduler that cannot be reached."""
    reason = " ".join(str(error).split())[:200]
    text = f"no scheduler of Dask at {address}" + (f": {reason}" if reason else "")
    return GalleryError(text, remedy="start one with: dask scheduler")
