"""What a worker does with a task that it is sent; no scheduler, and no recipe really runs."""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from distributed.core import Status

from gallery import RECIPE, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.recipes.gallery import list_files
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.record.cluster import remote
from recipe_gallery.record.cluster.code import describe_code
from recipe_gallery.record.cluster.places import Place
from recipe_gallery.record.cluster.remote import PLUGIN, Order, PlacePlugin, Refusal, carry_out
from recipe_gallery.record.machine import gpus
from recipe_gallery.record.machine.conditions import Conditions
from recipe_gallery.record.machine.gpu import Gpu
from recipe_gallery.record.recording_toml import Settings
from recipe_gallery.record.tasks.task import Ear, Failure, Task

GPU = Gpu(identity="GPU-1", facts={"gpu": "A GPU"})
DONE = Failure(text="what came of it")


class FakeWorker(SimpleNamespace):
    """A worker that does one task, and what it told."""

    def __init__(self, root: Path, place: Place) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.task = SimpleNamespace(state="executing")
        super().__init__(
            name="worker-1",
            status=Status.running,
            state=SimpleNamespace(tasks={"key": self.task}),
            plugins={PLUGIN: PlacePlugin(place, root)},
            local_directory=str(root / "worker-1"),
            get_current_task=lambda: "key",
            log_event=lambda topic, event: self.events.append((topic, event)),
        )


@pytest.fixture
def worker(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> FakeWorker:
    made = FakeWorker(gallery.root, Place(name="gpu0", gpu=GPU))
    monkeypatch.setattr(remote, "get_worker", lambda: made)
    monkeypatch.setattr(remote, "_prepared", {})
    return made


@pytest.fixture
def prepared(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, Gpu | None]]:
    """The galleries that were prepared for, each with its GPU."""
    made: list[tuple[Path, Gpu | None]] = []

    def prepare(gallery: Path, gpu: Gpu | None, say: Callable[[str], None]) -> Conditions:
        made.append((gallery, gpu))
        say("note: prepared")
        return Conditions(settings=Settings(), gallery=gallery, environment={})

    monkeypatch.setattr(remote, "prepare", prepare)
    return made


@pytest.fixture
def order(gallery: Gallery) -> Order:
    """The second replicate of a recipe."""
    gallery.write("adding", RECIPE)
    project = load_project(gallery.root)
    (file,) = list_files(project.config, project.root)
    code = describe_code(Task(file=file, recipe=load_recipe(file.path, file.name)))
    return Order(session="mine", key="order-1", name="adding", number=2, device="gpu", code=code)


def test_a_worker_does_a_task_of_its_own_checkout_and_tells_how_it_goes(
    worker: FakeWorker,
    prepared: list[tuple[Path, Gpu | None]],
    order: Order,
    gallery: Gallery,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted, kept = [], []
    worker.plugins[PLUGIN].place = Place(name="gpu0", gpu=GPU, cores=(2, 3))
    monkeypatch.setattr(os, "sched_setaffinity", lambda *to: kept.append(to), raising=False)

    def attempt(task: Task, conditions: Conditions, ear: Ear) -> Failure:
        assert (task.title, task.recipe.path) == (
            "adding replicate 2",
            gallery.recipes / "adding.py",
        )
        assert conditions.gallery == gallery.recipes
        ear.on_start()
        ear.on_cell(1)
        ear.say("a line")
        for state, status in (
            ("executing", Status.running),
            ("executing", Status.paused),
            ("executing", Status.closing),
            ("cancelled", Status.running),
        ):
            worker.task.state, worker.status = state, status
            wanted.append(ear.is_wanted())
        worker.state.tasks.clear()
        wanted.append(ear.is_wanted())
        return DONE

    monkeypatch.setattr(remote, "attempt", attempt)
    assert carry_out(order) == DONE
    assert wanted == [True, True, False, False, False]
    assert prepared == [(gallery.recipes, GPU)]
    assert kept == [(0, (2, 3))]  # this thread, and what it starts
    told = [
        {"event": "taken"},
        {"event": "say", "text": "note: prepared"},
        {"event": "start"},
        {"event": "cell", "cell": 1},
        {"event": "say", "text": "a line"},
    ]
    assert worker.events == [("mine", {"key": "order-1", **event}) for event in told]


@pytest.mark.usefixtures("worker", "prepared")
def test_the_next_one_on_the_same_cores_starts_when_cells_run(
    order: Order, gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[object] = []

    @contextmanager
    def start_alone(place: Place, folder: Path) -> Iterator[None]:
        seen.append((place.name, folder))
        yield
        seen.append("started")

    def attempt(task: Task, conditions: Conditions, ear: Ear) -> Failure:
        for cell in cells:
            ear.on_cell(cell)
            seen.append(cell)
        return DONE

    monkeypatch.setattr(remote, "start_alone", start_alone)
    monkeypatch.setattr(remote, "attempt", attempt)
    cells = [1, 2]
    assert carry_out(order) == DONE
    assert seen == [("gpu0", gallery.root), "started", 1, 2]
    cells = []  # it failed before
    assert carry_out(order) == DONE
    assert seen[4:] == [("gpu0", gallery.root), "started"]


def test_a_gallery_is_prepared_for_once_in_a_session(
    worker: FakeWorker,
    prepared: list[tuple[Path, Gpu | None]],
    order: Order,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "attempt", lambda *_unused: DONE)
    for session, times in (("mine", 1), ("mine", 1), ("yours", 2), ("mine", 3)):
        assert carry_out(replace(order, session=session)) == DONE
        assert len(prepared) == times
        assert len(remote._prepared) == 1
    for name, times in (("parts", 4), ("others", 5), ("parts", 5)):
        remote._prepare("mine", Path(name), None, lambda line: None)
        assert len(prepared) == times


def test_a_worker_with_another_recipe_or_none_refuses(
    worker: FakeWorker, prepared: list[tuple[Path, Gpu | None]], order: Order, gallery: Gallery
) -> None:
    here = f"{socket.gethostname()}:{gallery.root}"
    assert carry_out(replace(order, name="missing")) == Refusal(
        text=f"{gallery.root}: no recipe named missing (on {here})"
    )
    other = order.code | {"the recipe adding": "0" * 64}
    assert carry_out(replace(order, code=other)) == Refusal(
        text=f"the recipe adding is another on {here}"
    )
    assert prepared == []


def test_where_a_worker_runs_is_told_by_its_gpu_or_its_processor(
    worker: FakeWorker, gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote, "host_hash", lambda: "0123456789ab")
    monkeypatch.setattr(remote, "describe_host", lambda: {"cpu": "A CPU", "cores": 2})
    assert remote.meet("gpu", worker) == ("0123456789ab", "A GPU")
    worker.plugins[PLUGIN] = PlacePlugin(Place(name="cpu0"), gallery.root)
    assert remote.meet("cpu", worker) == ("0123456789ab", "A CPU")
    # Dask's own command knows of no places
    worker.plugins.clear()
    monkeypatch.setattr(gpus, "find_gpus", lambda: [GPU])
    monkeypatch.chdir(gallery.root)
    assert remote._find_place("gpu", worker) == (Place(name="worker-1", gpu=GPU), gallery.root)
    assert remote._find_place("cpu", worker) == (Place(name="worker-1"), gallery.root)
    monkeypatch.setattr(gpus, "find_gpus", list)
    with pytest.raises(GalleryError, match="no GPU found"):
        remote._find_place("gpu", worker)
