"""What Dask is told when workers are started, here and for a scheduler elsewhere; none is."""

import logging
import os
import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import dask
import pytest
from distributed import Nanny, Scheduler

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.record import session, storage
from recipe_gallery.record.cluster import local, places, serve
from recipe_gallery.record.cluster.places import Place
from recipe_gallery.record.machine.gpu import Gpu
from recipe_gallery.record.progress import Progress

GPU = Gpu(identity="GPU-1a", facts={})
REMEDY = "start it again, then this command"


class FakeNanny:
    """What starts a worker: it ends when the scheduler does, which is at once."""

    made: ClassVar[list["FakeNanny"]]
    fails = ""

    def __init__(self, address: str, **options: Any) -> None:
        self.address, self.options = address, options
        self.done: list[object] = []
        self.made.append(self)

    def __await__(self) -> Generator[None, None, "FakeNanny"]:
        if self.fails:
            raise OSError(self.fails)
        self.done.append("started")
        yield
        return self

    async def finished(self) -> None:
        # as long as workers run, signals interrupt, and others are kept from the GPU
        assert signal.getsignal(signal.SIGTERM) is signal.default_int_handler
        assert Path(dask.config.get("temporary-directory")) == Path(self.folder)
        assert Path(self.folder).is_dir()
        if self.options["plugins"][0].place.gpu:
            with pytest.raises(GalleryError, match="another recording"), session.alone_on(GPU):
                pass

    async def close(self, timeout: float) -> None:
        self.done.append(timeout)
        raise TimeoutError("and is killed")

    @property
    def folder(self) -> str:
        return self.options["local_directory"]


@pytest.fixture
def nannies(monkeypatch: pytest.MonkeyPatch) -> list[FakeNanny]:
    made: list[FakeNanny] = []
    monkeypatch.setattr(FakeNanny, "made", made, raising=False)
    monkeypatch.setattr(serve, "Nanny", FakeNanny)
    monkeypatch.setattr(serve, "remove_leftovers", lambda: "")
    return made


@pytest.fixture
def _levels() -> Iterator[None]:
    """Have loggers of libraries, and others, log what they do not after `set_up`."""
    names = ["distributed.worker", "tornado.application", "asyncio", "distribution", "other"]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.INFO)
    yield
    for name, level in before.items():
        logging.getLogger(name).setLevel(level)


def of_worker(options: dict[str, Any], name: str, place: Place, root: Path) -> dict[str, Any]:
    """Check what each worker is told, and return what else it is."""
    wanted = {
        "name": name,
        "nthreads": 1,
        "resources": {"place": 1},  # one task at a time
        "memory_limit": 0,
        "silence_logs": logging.CRITICAL,
    }
    assert {key: options[key] for key in wanted} == wanted
    (plugin,) = options["plugins"]
    assert (plugin.place, plugin.root) == (place, root)
    known = {*wanted, "plugins", "local_directory"}
    return {key: value for key, value in options.items() if key not in known}


@pytest.mark.parametrize("device", ["cpu", "gpu"])
@pytest.mark.usefixtures("_own_locks")
def test_workers_run_until_the_scheduler_ends(
    gallery: Gallery,
    nannies: list[FakeNanny],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    device: str,
) -> None:
    monkeypatch.setattr(serve, "remove_leftovers", lambda: "note: removed")
    monkeypatch.setattr(places, "require_gpus", lambda: [GPU])
    before = signal.getsignal(signal.SIGTERM)
    address = "tcp://127.0.0.1:8786"
    with pytest.raises(GalleryError) as caught:
        serve.serve(load_project(gallery.root), address, device, None)
    assert str(caught.value) == f"the scheduler at {address} has ended; {REMEDY}"
    (nanny,) = nannies
    assert nanny.done == ["started", 10]
    name = nanny.options["name"]
    place = Place(name=f"{device}0", gpu=GPU if device == "gpu" else None)
    own = of_worker(nanny.options, name, place, gallery.root.resolve())
    # on this machine's own network if the scheduler is there
    assert own == {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0", "death_timeout": 15}
    assert capsys.readouterr().err == (
        f"note: removed\n1 worker for {address}, until it ends or Ctrl-C\n"
    )
    assert not Path(nanny.folder).exists()
    assert signal.getsignal(signal.SIGTERM) is before
    with session.alone_on(GPU):
        pass


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("tcp://localhost:8786", {"host": "127.0.0.1"}),
        ("tcp://192.0.2.1:8786", {}),
        ("192.0.2.1:8786", {}),
    ],
)
def test_each_place_has_a_worker_that_others_reach_if_the_scheduler_is_elsewhere(
    gallery: Gallery,
    nannies: list[FakeNanny],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
    own: dict[str, str],
) -> None:
    monkeypatch.setattr(serve.socket, "gethostname", lambda: "machine")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1}, raising=False)
    with pytest.raises(GalleryError, match="has ended"):
        serve.serve(load_project(gallery.root), address, "cpu", 2)
    rest = {"dashboard_address": "127.0.0.1:0", "death_timeout": 15}
    names = [each.options["name"] for each in nannies]
    common = names[0].removesuffix("cpu0")
    assert common.startswith("machine-")
    assert len(common) == len("machine-1234-")
    for number, nanny in enumerate(nannies):
        place = Place(name=f"cpu{number}", cores=(number,))
        name = f"{common}cpu{number}"  # of one start; another one on this machine has others
        found = of_worker(nanny.options, name, place, gallery.root.resolve())
        assert (nanny.address, found) == (address, own | rest)
    assert f"2 workers for {address}, " in capsys.readouterr().err


def test_a_scheduler_that_does_not_answer_workers_is_told(
    gallery: Gallery, nannies: list[FakeNanny], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FakeNanny, "fails", "Timed out\n  trying " + "x" * 300)
    with pytest.raises(GalleryError) as caught:
        serve.serve(load_project(gallery.root), "tcp://192.0.2.1:1", "cpu", 1)
    reason = ("Timed out trying " + "x" * 300)[:200]
    assert str(caught.value) == (
        f"no scheduler of Dask at tcp://192.0.2.1:1: {reason}; start one with: dask scheduler"
    )
    assert [each.done for each in nannies] == [[10]]


@pytest.mark.parametrize("name", ["require_room", "require_open_files"])
def test_no_worker_is_started_where_nothing_can_be_recorded(
    gallery: Gallery, nannies: list[FakeNanny], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    def refuse() -> None:
        raise GalleryError("no room")

    monkeypatch.setattr(storage if name == "require_room" else serve, name, refuse)
    with pytest.raises(GalleryError, match=r"^no room$"):
        serve.serve(load_project(gallery.root), "tcp://192.0.2.1:1", "cpu", 1)
    assert nannies == []


class FakeClient:
    """What Dask's client is told; it does nothing."""

    def __init__(self, to: object, **options: object) -> None:
        self.to, self.options = to, options
        self.closed: list[object] = []

    def __enter__(self) -> "FakeClient":
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.append("left")

    def close(self, timeout: float) -> None:
        self.closed.append(timeout)
        raise TimeoutError


@pytest.fixture
def _fake_client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "Client", FakeClient)


@pytest.mark.usefixtures("_fake_client")
@pytest.mark.parametrize("bokeh", [None, object()])
def test_a_local_cluster_has_a_worker_at_each_place_and_nobody_else_reaches_it(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    bokeh: object,
) -> None:
    made: list[Any] = []

    class Cluster(SimpleNamespace):
        dashboard_link = "http://127.0.0.1:1/status"

        def __enter__(self) -> "Cluster":
            made.append(self)
            return self

        def __exit__(self, *_: object) -> None:
            made.append("left")

    def start(workers: object, scheduler: object, *, silence_logs: object) -> Cluster:
        return Cluster(workers=workers, scheduler=scheduler, silence_logs=silence_logs)

    monkeypatch.setattr(local, "SpecCluster", start)
    monkeypatch.setattr(local, "find_spec", {"bokeh": bokeh}.get)
    found = [Place(name="cpu0", cores=(0,)), Place(name="cpu1", cores=(1,))]
    with local.local_cluster(found, tmp_path, Progress(sys.stderr)) as client:
        (cluster,) = made
        assert (client.to, client.options, client.closed) == (
            cluster,
            {"set_as_default": False},
            [],
        )
        assert cluster.silence_logs == logging.CRITICAL
        listens = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
        scheduler = {**listens, "port": 0, "dashboard": bool(bokeh), "allowed_failures": 0}
        assert cluster.scheduler == {"cls": Scheduler, "options": scheduler}
        assert list(cluster.workers) == ["cpu0", "cpu1"]
        for place, worker in zip(found, cluster.workers.values(), strict=True):
            assert issubclass(worker["cls"], Nanny)
            options = worker["options"]
            assert of_worker(options, place.name, place, tmp_path.resolve()) == listens
            assert options["local_directory"] == dask.config.get("temporary-directory")
    assert (client.closed, made[1:]) == (["left"], ["left"])
    assert not Path(options["local_directory"]).exists()
    line = "dashboard: http://127.0.0.1:1/status\n" if bokeh else ""
    assert capsys.readouterr().err == line


@pytest.mark.usefixtures("_fake_client")
def test_a_client_of_a_scheduler_elsewhere_is_closed_whatever_happens() -> None:
    for error in ([], [ValueError]):
        with suppress(*error), local.remote_cluster("tcp://192.0.2.1:8786") as client:
            assert client.to == "tcp://192.0.2.1:8786"
            assert client.options == {"timeout": 15, "set_as_default": False}
            assert dask.config.get("distributed.comm.timeouts.connect") == "15s"
            assert client.closed == []
            for each in error:
                raise each
        assert client.closed == [2]


@pytest.mark.parametrize("error", [OSError(), ValueError(""), TypeError("odd")])
def test_a_scheduler_that_does_not_answer_a_client_is_told(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(local, "Client", fail)
    with pytest.raises(GalleryError) as caught, local.remote_cluster("here"):
        pass
    reason = f": {error}" if str(error) else ""
    assert str(caught.value) == (
        f"no scheduler of Dask at here{reason}; start one with: dask scheduler"
    )


@pytest.mark.usefixtures("_levels")
def test_dask_is_quiet_and_keeps_to_its_folder_as_long_as_it_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["distributed.nanny.pre-spawn-environ", "distributed.comm.timeouts.connect"]
    names += ["distributed.worker.daemon", "temporary-directory"]

    def look() -> tuple[object, ...]:
        return dict(os.environ), [dask.config.get(name, None) for name in names]

    monkeypatch.setitem(dask.config.config["distributed"]["worker"], "daemon", False)  # a user's
    for value in ("info", None):
        monkeypatch.setenv("DASK_LOGGING__DISTRIBUTED", "info")
        if value is None:
            monkeypatch.delenv("DASK_LOGGING__DISTRIBUTED")
        before = look()
        with local.set_up(tmp_path):
            spawn = {"DASK_LOGGING__DISTRIBUTED": "critical"}
            assert look()[1] == [spawn, "15s", True, str(tmp_path)]
            os.environ |= dask.config.get(names[0])  # as a Nanny does
        assert look() == before
        for name in ("distributed.worker", "tornado.application", "asyncio"):
            assert logging.getLogger(name).level == logging.CRITICAL
        for name in ("distribution", "other"):
            assert logging.getLogger(name).level == logging.INFO
