"""What runs on a worker: it finds the task in its own checkout, and does it if that is the same."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Worker, WorkerPlugin, get_worker
from distributed.core import Status

from ...errors import GalleryError, describe_error
from ...project import load_project
from ...recipes.recipe import load_recipe
from ...recipes.recording import name_device
from ..machine.conditions import Conditions, prepare
from ..machine.gpu import Gpu
from ..machine.gpus import require_gpus
from ..machine.host import describe_host, host_hash
from ..recording_status import name_files
from ..tasks.task import Ear, Result, Task, attempt
from .code import describe_code, describe_machine, find_difference
from .places import Place, keep_to, start_alone

PLUGIN = "recipe-gallery"


@dataclass(frozen=True, kw_only=True)
class Order:
    """A task as it is sent to a worker."""

    session: str  # of the client, and the topic under which it hears how the task goes
    key: str
    name: str  # of the recipe
    number: int  # of the replicate
    device: str
    code: dict[str, str]  # see code.py


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """Why a worker does not do a task: another one may."""

    text: str


class PlacePlugin(WorkerPlugin):
    """Tells a worker its place and the folder of its checkout."""

    name = PLUGIN

    def __init__(self, place: Place, root: Path) -> None:
        self.place = place
        self.root = root

    def setup(self, worker: Worker) -> None:
        """Leave Ctrl-C, which a terminal sends to all, to the process that started this one."""
        import gc
        import signal

        gc.freeze()  # what was imported needs no collecting: ending would take a second
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def meet(device: str, dask_worker: Worker) -> tuple[str, str]:
    """Return host and device of the worker that runs this; Dask gives it by that name."""
    place, _root = _find_place(device, dask_worker)
    return host_hash(), name_device(place.gpu.facts if place.gpu else describe_host())


def carry_out(order: Order) -> Result | Refusal:
    """Do a task; say how it goes to the client that wants it."""
    worker = get_worker()
    key = worker.get_current_task()

    def tell(**event: Any) -> None:
        worker.log_event(order.session, {"key": order.key, **event})

    def is_wanted() -> bool:
        state = worker.state.tasks.get(key)
        is_executing = state is not None and state.state == "executing"
        return is_executing and worker.status in (Status.running, Status.paused)

    place, root = _find_place(order.device, worker)
    keep_to(place)
    tell(event="taken")
    try:
        task = _find_task(order, root)
        if difference := find_difference(order.code, describe_code(task)):
            return Refusal(text=f"{difference} on {describe_machine(root)}")
        conditions = _prepare(
            order.session, task.file.gallery, place.gpu, lambda text: tell(event="say", text=text)
        )
    except Exception as error:
        return Refusal(text=f"{describe_error(error)} (on {describe_machine(root)})")
    with contextlib.ExitStack() as starting:

        def on_cell(cell: int) -> None:
            starting.close()
            tell(event="cell", cell=cell)

        # the folder of all workers that the same process started
        starting.enter_context(start_alone(place, Path(worker.local_directory).parent))
        ear = Ear(
            on_start=lambda: tell(event="start"),
            on_cell=on_cell,
            say=lambda text: tell(event="say", text=text),
            is_wanted=is_wanted,
        )
        return attempt(task, conditions, ear)


def _find_place(device: str, worker: Worker) -> tuple[Place, Path]:
    """Return the place of this worker; one that Dask's own command started has no plugin."""
    plugin = worker.plugins.get(PLUGIN)
    if isinstance(plugin, PlacePlugin):
        return plugin.place, plugin.root
    gpu = require_gpus()[0] if device == "gpu" else None
    return Place(name=str(worker.name), gpu=gpu), Path.cwd()


def _find_task(order: Order, root: Path) -> Task:
    files = name_files(load_project(root))
    if order.name not in files:
        raise GalleryError(f"no recipe named {order.name}", path=root)
    file = files[order.name]
    return Task(file=file, recipe=load_recipe(file.path, file.name), number=order.number)


_prepared: dict[tuple[str, Path], Conditions] = {}  # of the last session, by gallery


def _prepare(
    session: str, gallery: Path, gpu: Gpu | None, say: Callable[[str], None]
) -> Conditions:
    """Prepare for a gallery once in a session: between two its files may change."""
    key = session, gallery
    if key not in _prepared:
        for old in [each for each in _prepared if each[0] != session]:
            del _prepared[old]
        _prepared[key] = prepare(gallery, gpu, say)
    return _prepared[key]
