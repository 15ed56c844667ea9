"""Tasks on several workers: where each runs, and what becomes of them when something is killed."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import psutil
import pytest

from gallery import RECIPE, ROOT, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.recipes.gallery import list_files
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import read_replicates
from recipe_gallery.record.cluster import on_cluster, places
from recipe_gallery.record.cluster.code import describe_code, find_difference
from recipe_gallery.record.machine import gpus
from recipe_gallery.record.machine.gpu import Gpu
from recipe_gallery.record.tasks.task import Task

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n'
PUBLISHES = """
import os
from IPython.display import display

number = int(os.environ["RECIPE_REPLICATE"])
row = {"case": "Adam", "arm": "compiled", "size": 10, "quantity": "speedup", "unit": ""}
kind = "application/vnd.recipe-gallery.rows+json"
display({kind: {"rows": [row | {"value": 1.5 + number / 100}]}}, raw=True)
"""
# Dask's worker process is the parent of the process that runs the kernel.
WORKER = "import os, psutil, signal, time\nworker = psutil.Process().parent().parent()\n"
GPU = Gpu(identity="GPU-1a", facts={})
Start = Callable[..., subprocess.Popen[str]]


def write(gallery: Gallery, name: str, code: str) -> Path:
    return gallery.write(name, TITLE + textwrap.dedent(code))


def numbers(gallery: Gallery, name: str) -> list[int]:
    recipe = load_recipe(gallery.recipes / f"{name}.py")
    path = gallery.recordings / f"{name}.jsonl"
    current = read_replicates(path, recipe.replicate_fingerprint).current
    return sorted(each.replicate for each in current)


def printed(gallery: Gallery, name: str) -> str:
    (cell,) = gallery.recording(name).notebook.cells
    return "".join(each.text for each in cell.outputs if each.output_type == "stream")


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """The folder for temporary files of processes that a test starts; empty when they are gone."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    return folder


@pytest.fixture
def start(gallery: Gallery, temporary: Path) -> Iterator[Start]:
    """Start a command of Python's; at the end of the test nothing of it runs any more."""
    started: list[subprocess.Popen[str]] = []
    mark = {"CLUSTER_TEST": str(temporary), "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)}

    def start(
        *arguments: str, cwd: Path = gallery.root, **environment: str
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=cwd,
            env=os.environ | mark | environment,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
    for child in running(temporary):  # those that a test has stopped hold pipes open
        child.kill()
    for process in started:
        process.communicate()


def running(temporary: Path) -> list[psutil.Process]:
    """Return processes of a test, wherever they are."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            words = " ".join(process.cmdline())
            marked = process.environ().get("CLUSTER_TEST") == str(temporary)
            if (marked or str(temporary) in words) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def nothing_left(temporary: Path) -> bool:
    until = time.monotonic() + 20
    while (left := running(temporary)) and time.monotonic() < until:
        time.sleep(0.2)
    assert not left
    assert not list(temporary.iterdir())
    return True


def wait_for(path: Path) -> None:
    until = time.monotonic() + 60
    while not path.exists():
        assert time.monotonic() < until, f"{path.name} does not come"
        time.sleep(0.05)


def record(*arguments: str) -> tuple[str, ...]:
    return ("-m", "recipe_gallery", "record", "--device", "cpu", *arguments)


@pytest.fixture
def scheduler(start: Start, tmp_path: Path) -> tuple[str, subprocess.Popen[str]]:
    """A scheduler of Dask: its address and its process."""
    address = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    command = ["-m", "distributed.cli.dask_scheduler", "--no-dashboard", *address]
    process = start(*command, TMPDIR=str(tmp_path))
    assert process.stderr
    for line in process.stderr:
        if "Scheduler at:" in line:
            return line.split()[-1], process
    raise AssertionError("no scheduler")


def join(start: Start, address: str, root: Path) -> subprocess.Popen[str]:
    worker = start(
        "-m", "recipe_gallery", "record-worker", "--device", "cpu", "--root", str(root), address
    )
    assert worker.stderr
    line = worker.stderr.readline()
    assert line == f"1 worker for {address}, until it ends or Ctrl-C\n"
    return worker


def test_cores_are_shared_out() -> None:
    assert places.divide(range(8), 2) == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert places.divide(range(5), 2) == [(0, 1), (2, 3)]
    assert places.divide([3, 7], 4) == [(3,), (7,), (3,), (7,)]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="cores are not told here")
def test_workers_get_cores_of_one_processor_and_threads_of_one_core_stay_together(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # numbered as systems do: of two processors with two cores each, first one thread of each core
    threads = ["0,4", "1,5", "2,6", "3,7", "0,4", "1,5", "2,6", "3,7"]
    for core, siblings in enumerate(threads):
        folder = tmp_path / f"cpu{core}"
        folder.mkdir()
        (folder / "physical_package_id").write_text(f"{core // 2 % 2}\n")
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    monkeypatch.setattr(places, "_TOPOLOGY", f"{tmp_path}/cpu{{}}/{{}}")
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)))
    assert [(each.name, each.cores) for each in places.find_places("cpu", 4)] == [
        ("cpu0", (0, 4)),
        ("cpu1", (1, 5)),
        ("cpu2", (2, 6)),
        ("cpu3", (3, 7)),
    ]
    assert [each.cores for each in places.find_places("cpu", 2)] == [(0, 4, 1, 5), (2, 6, 3, 7)]
    # hyphens say from which to which; where nothing is told, numbers have to do
    (tmp_path / "cpu3" / "thread_siblings_list").write_text("2-3\n")
    assert places._locate(3) == (1, 2, 3)
    assert places._locate(99) == (0, 99, 99)
    (alone,) = places.find_places("cpu", None)
    assert (alone.name, alone.cores, alone.gpu) == ("cpu0", (), None)


def test_a_result_depends_on_the_recipe_on_files_beside_it_and_on_packages(
    gallery: Gallery,
) -> None:
    gallery.write("adding", RECIPE)
    for name in ("recording.toml", "matplotlibrc"):
        (gallery.recipes / name).write_text("")
    for name in ("other.py", "text.rst", "text.md", "text.txt"):
        (gallery.recipes / name).write_text("x = 1")
    project = load_project(gallery.root)
    (file,) = [each for each in list_files(project.config, project.root) if each.name == "adding"]
    told = describe_code(Task(file=file, recipe=load_recipe(file.path)))
    assert list(told) == [
        *("the code of recipe_gallery", "the recipe adding", "matplotlibrc", "recording.toml"),
        *("python", "nbclient", "ipykernel", "nbformat", "distributed"),
    ]
    (gallery.recipes / "matplotlibrc").write_text("figure.dpi: 100")
    gallery.write("adding", RECIPE.replace("1 + 2", "2 + 2"))
    again = describe_code(Task(file=file, recipe=load_recipe(file.path)))
    changed = [name for name in told if told[name] != again[name]]
    assert changed == ["the recipe adding", "matplotlibrc"]


def test_cores_that_a_container_took_away_are_done_without(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(os, "sched_setaffinity", refuse, raising=False)
    places.keep_to(places.Place(name="cpu0", cores=(99,)))


def test_on_the_same_cores_one_starts_after_another_within_patience(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []

    def start(name: str, *cores: int) -> Thread:
        def run() -> None:
            with places.start_alone(places.Place(name=name, cores=cores), tmp_path):
                started.append(name)

        thread = Thread(target=run)
        thread.start()
        return thread

    with places.start_alone(places.Place(name="first", cores=(1,)), tmp_path):
        second = start("second", 1)
        start("elsewhere", 2).join()
        start("anywhere").join()
        second.join(0.2)
        assert started == ["elsewhere", "anywhere"]
        monkeypatch.setattr(places, "_MOMENT", 0)
        start("impatient", 1).join()
    second.join()
    assert started == ["elsewhere", "anywhere", "impatient", "second"]


def test_more_workers_than_gpus_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpus, "find_gpus", lambda: [GPU])
    with pytest.raises(GalleryError, match=r"^2 workers need 2 GPUs; there are 1; run: "):
        places.find_places("gpu", 2)


def test_gpus_are_asked_for_once_as_they_may_vanish(monkeypatch: pytest.MonkeyPatch) -> None:
    answers = [[GPU, GPU], []]
    monkeypatch.setattr(gpus, "find_gpus", lambda: answers.pop(0))
    assert [each.name for each in places.find_places("gpu", None)] == ["gpu0", "gpu1"]
    with pytest.raises(GalleryError, match="no GPU found"):
        places.find_places("gpu", None)


def test_what_differs_is_named() -> None:
    wanted = {"python": "3.11.7", "torch": "2.11.0", "the recipe adding": "a" * 64}
    assert find_difference(wanted, wanted) == ""
    assert find_difference(wanted, wanted | {"torch": "2.10.0"}) == (
        "torch is 2.10.0, here it is 2.11.0"
    )
    assert find_difference(wanted, wanted | {"the recipe adding": "b" * 64}) == (
        "the recipe adding is another"
    )
    without = {name: each for name, each in wanted.items() if name != "torch"}
    assert find_difference(wanted, without) == "torch is none, here it is 2.11.0"
    del wanted["torch"]
    assert find_difference(wanted, wanted | {"torch": "2.10.0"}) == (
        "torch is 2.10.0, here it is none"
    )


@pytest.mark.slow
def test_each_worker_has_its_cores_the_environment_is_as_in_turn_and_failures_stop_nobody(
    gallery: Gallery,
) -> None:
    code = "print(os.sched_getaffinity(0), sorted(os.environ))\nimport time\ntime.sleep(1)"
    for name in ("a", "b"):
        write(gallery, name, PUBLISHES + code)
    write(gallery, "fails", "1 / 0")
    write(gallery, "dies", "import os\nos.kill(os.getpid(), 9)")
    assert not gallery.record(workers=2, replicates=1)
    shares = [printed(gallery, name).partition("}")[0] for name in ("a", "b")]
    if len(os.sched_getaffinity(0)) > 1:
        assert shares[0] != shares[1]
    assert " on cpu0: cell 1 of 1, " in gallery.messages
    assert " on cpu1: cell 1 of 1, " in gallery.messages
    assert "2 of 4 recorded: a, b\n2 of 2 replicates made: a 1, b 1" in gallery.messages
    assert "2 failed: " in gallery.messages
    assert "ZeroDivisionError: division by zero; mend the recipe" in gallery.messages
    assert gallery.messages.count("trying once more") == 1
    environment = printed(gallery, "a").partition("}")[2]
    assert gallery.record("a", workers=1, force=True)
    assert printed(gallery, "a").partition("}")[2] == environment
    assert numbers(gallery, "b") == [1]


@pytest.mark.slow
def test_tasks_of_a_killed_worker_and_of_one_that_hangs_are_tried_again(
    gallery: Gallery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(on_cluster, "MARGIN", -5)
    once = WORKER + textwrap.dedent(f"""
        import pathlib
        marker = pathlib.Path({str(tmp_path)!r}, "begun-")
        marker = marker.with_name(marker.name + pathlib.Path(__file__).stem)
        if not marker.exists():
            marker.touch()
            worker.HOW()
            time.sleep(60)
        """)
    write(gallery, "killed", once.replace("HOW", "kill"))
    write(gallery, "stopped", "# sphinx_gallery_deadline = 12\n" + once.replace("HOW", "suspend"))
    write(gallery, "good", "x = 1")
    assert gallery.record(workers=2)
    lines = [line for line in gallery.messages.splitlines() if line.startswith("note: ")]
    told = sorted(re.sub(r"cpu\d", "cpu", line) for line in lines if "worker" in line)
    assert told == [
        "note: killed: its worker cpu was lost (its process ended by signal SIGKILL (Killed)); "
        "it is tried again",
        "note: stopped: its worker cpu hangs; it is tried again",
    ]
    for name in ("killed", "stopped", "good"):
        assert gallery.recording(name).notebook.cells


SLEEPS = """
import os, pathlib, subprocess, sys
code = "import time; time.sleep(600)"
child = subprocess.Popen(
    [sys.executable, "-c", code, {temporary!r}], env={{}}, start_new_session=True
)
pathlib.Path({begun!r}).touch()
import time
time.sleep(600)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGKILL, marks=pytest.mark.nightly)]
)
def test_a_client_that_is_ended_leaves_nothing_and_the_same_command_goes_on(
    gallery: Gallery, start: Start, temporary: Path, tmp_path: Path, number: signal.Signals
) -> None:
    begun = tmp_path / "begun"
    write(gallery, "sleeps", SLEEPS.format(temporary=str(temporary), begun=str(begun)))
    write(gallery, "quick", PUBLISHES)
    client = start(*record("--workers", "2", "--replicates", "1"))
    wait_for(begun)
    wait_for(gallery.recordings / "quick.jsonl")
    listening = {
        connection.laddr.ip
        for process in running(temporary)
        for connection in process.net_connections("inet")
        if connection.status == psutil.CONN_LISTEN
    }
    assert listening == {"127.0.0.1"}  # nobody on another machine can reach it
    client.send_signal(number)
    _, messages = client.communicate(timeout=30)
    assert "Traceback" not in messages
    if number is not signal.SIGKILL:
        assert client.returncode == 130
        assert "interrupted; what was finished is kept" in messages
        assert nothing_left(temporary)
    write(gallery, "sleeps", "print('awake')")
    again = start(*record("--workers", "2", "--replicates", "1"))
    _, messages = again.communicate(timeout=120)
    assert again.returncode == 0, messages
    assert "quick: its 1 replicates are there already" in messages
    assert printed(gallery, "sleeps") == "awake\n"
    assert nothing_left(temporary)


@pytest.mark.slow
def test_a_worker_with_other_code_is_refused_and_one_that_hangs_keeps_no_other_from_its_work(
    gallery: Gallery, start: Start, tmp_path: Path, scheduler: tuple[str, subprocess.Popen[str]]
) -> None:
    address, _ = scheduler
    write(gallery, "recipe", PUBLISHES)
    (tmp_path / "other").mkdir()
    other = Gallery(tmp_path / "other")
    write(other, "recipe", PUBLISHES + "x = 1")
    unfit = join(start, address, other.root)
    client = start(*record("--scheduler", address))
    _, messages = client.communicate(timeout=60)
    assert client.returncode == 1
    lines = messages.splitlines()
    assert " is refused: the recipe recipe is another on " in messages
    assert lines[-1].startswith("error: no worker fits: ")
    assert lines[-1].endswith("; bring all machines to the same commit and the same versions")
    for each in psutil.Process(unfit.pid).children(recursive=True):
        each.suspend()
    join(start, address, gallery.root)
    client = start(*record("--scheduler", address, "--replicates", "2"))
    _, messages = client.communicate(timeout=60)
    assert client.returncode == 0, messages
    assert numbers(gallery, "recipe") == [1, 2]
    assert " is refused" not in messages  # it was not heard


@pytest.mark.slow
def test_a_scheduler_that_goes_away_is_told_in_a_line_and_nothing_finished_is_lost(
    gallery: Gallery,
    start: Start,
    temporary: Path,
    tmp_path: Path,
    scheduler: tuple[str, subprocess.Popen[str]],
) -> None:
    address, process = scheduler
    begun = tmp_path / "begun"
    write(gallery, "quick", PUBLISHES)
    write(gallery, "sleeps", SLEEPS.format(temporary=str(temporary), begun=str(begun)))
    worker = join(start, address, gallery.root)
    client = start(*record("--scheduler", address))
    wait_for(begun)
    process.kill()
    _, messages = client.communicate(timeout=30)
    assert client.returncode == 1
    assert messages.splitlines()[-1] == (
        "error: the scheduler is gone; what was finished is kept; start it, and the same command "
        "goes on"
    )
    assert gallery.recording("quick").notebook.cells
    _, messages = worker.communicate(timeout=30)
    assert worker.returncode == 1
    assert (
        messages
        == f"error: the scheduler at {address} has ended; start it again, then this command\n"
    )
    assert nothing_left(temporary)


@pytest.mark.slow
def test_a_worker_of_another_process_does_what_one_client_wants_after_the_other(
    gallery: Gallery, start: Start, tmp_path: Path, scheduler: tuple[str, subprocess.Popen[str]]
) -> None:
    address, _ = scheduler
    timed = "import time\nbegan = time.time()\ntime.sleep(1)\nprint(began, time.time())"
    write(gallery, "recipe", PUBLISHES + timed)
    worker = join(start, address, gallery.root)
    folders = [tmp_path / name for name in ("first", "second")]
    wanted = ["--scheduler", address, "--replicates", "1", "--recordings-folder"]
    clients = [start(*record(*wanted, str(folder))) for folder in folders]
    for client in clients:
        _, messages = client.communicate(timeout=90)
        assert client.returncode == 0, messages
    spans = []
    for folder in folders:
        gallery.recordings = folder
        spans.append([*map(float, printed(gallery, "recipe").split())])
        assert numbers(gallery, "recipe") == [1]
    (_, end), (begin, _) = sorted(spans)
    assert begin >= end
    worker.send_signal(signal.SIGTERM)
    _, messages = worker.communicate(timeout=30)
    assert (worker.returncode, messages) == (130, "interrupted; what was finished is kept\n")


@pytest.mark.slow
def test_an_address_without_a_scheduler_is_a_line(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recipe_gallery.record.cluster.local.CONNECT", 1)
    write(gallery, "recipe", "x = 1")
    for address in ("tcp://127.0.0.1:1", "nonsense", "tcp://", "foo://bar:1"):
        with pytest.raises(GalleryError, match="no scheduler of Dask at ") as caught:
            gallery.record(scheduler=address)
        assert "\n" not in str(caught.value)
