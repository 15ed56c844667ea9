"""Tasks on workers of a scheduler, both started by Dask's own commands, here on one machine."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT, Gallery

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n'
PUBLISHES = """
import os
from IPython.display import display

row = {"case": "Adam", "variant": "compiled", "size": 10, "quantity": "time", "unit": "s"}
row["value"] = 1.5 + int(os.environ["RECIPE_REPLICATE"]) / 100
display({"application/vnd.recorded-gallery.rows+json": {"rows": [row]}}, raw=True)
"""
# The parent of a kernel is its guard, and the guard's is what records.
ENDS_WORKER = """
import pathlib, psutil, time
begun = pathlib.Path({begun!r})
if not begun.exists():
    begun.touch()
    psutil.Process().parent().parent().kill()
    time.sleep(60)
"""


class Cluster:
    """A scheduler, and what talks to it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "DASK_TEMPORARY_DIRECTORY": str(folder),
            "TMPDIR": str(folder),
        }
        self.processes: list[subprocess.Popen[bytes]] = []
        known = folder / "scheduler.json"
        options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard"]
        self.scheduler = self.start("scheduler", *options, "--scheduler-file", str(known))
        self.wait(lambda: known.exists() and known.read_text().endswith("}"))
        self.address = json.loads(known.read_text())["address"]

    def start(self, what: str, *options: str, cwd: Path | None = None) -> "subprocess.Popen[bytes]":
        with (self.folder / f"{what}{len(self.processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", what, *options],
                cwd=cwd or self.folder,
                env=self.environment,
                stderr=log,
                stdout=log,
            )
        self.processes.append(process)
        return process

    def add_worker(self, checkout: Path) -> None:
        """Start a worker as CONTRIBUTING.md says, and wait until it is there."""
        options = ["--no-nanny", "--nworkers", "1", "--nthreads", "1", "--no-dashboard"]
        options += [
            "--resources",
            "PLACE=1",
            "--preload",
            "sphinx_recorded_gallery.record.dask_runner",
        ]
        self.start("worker", self.address, *options, cwd=checkout)
        log = self.folder / f"worker{len(self.processes) - 1}.log"
        self.wait(lambda: "Starting established connection" in log.read_text())

    def wait(self, is_so: Callable[[], object]) -> None:
        until = time.monotonic() + 60
        while not is_so():
            assert time.monotonic() < until
            time.sleep(0.1)

    def record(self, gallery: Gallery, *options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "sphinx_recorded_gallery", "record", "--device", "cpu"]
        return subprocess.run(
            [*command, "--scheduler", self.address, *options],
            cwd=gallery.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    for process in cluster.processes:
        process.kill()
        process.wait()


def test_a_lost_worker_costs_a_second_try_and_other_code_gets_no_task(
    gallery: Gallery, scheduler: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> None:
    begun = tmp_path_factory.mktemp("begun") / "begun"
    gallery.write("a", TITLE + PUBLISHES + ENDS_WORKER.format(begun=str(begun)))
    gallery.write("b", TITLE + "print(1)\n")
    other = scheduler.folder / "other"
    shutil.copytree(gallery.root, other)
    (other / "recipes_source/a.py").write_text(TITLE + "print('other')\n")
    (other / "recipes_source/b.py").write_text(TITLE + "print('other')\n")
    for checkout in (gallery.root, gallery.root, other):
        scheduler.add_worker(checkout)
    done = scheduler.record(gallery, "--replicates", "2")
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    lost = [line for line in lines if " was lost with a" in line]
    assert len(lost) == 1
    assert lost[0].endswith(", which runs again")
    (refused,) = {line for line in lines if "gets no task: " in line}
    assert refused.endswith(("gets no task: it has another recipe a", "it has another recipe b"))
    assert gallery.recording("b").notebook.cells[0].outputs[0].text == "1\n"
    assert "2 of 2 recorded: a, b" in lines
    assert lines[-1] == "2 of 2 replicates made"
    assert len((gallery.recordings / "a.jsonl").read_text().splitlines()) == 2


@pytest.mark.nightly
def test_what_is_finished_is_kept_when_the_scheduler_goes_away(
    gallery: Gallery, scheduler: Cluster
) -> None:
    gallery.write("a", TITLE + "print(1)\n")
    end = f"import os, time\nos.kill({scheduler.scheduler.pid}, 9)\ntime.sleep(600)\n"
    gallery.write("b", TITLE + end)
    scheduler.add_worker(gallery.root)
    done = scheduler.record(gallery)
    assert done.returncode == 1
    told = (
        "the scheduler is gone; finished tasks are kept; start it, and run the same command again"
    )
    assert f"error: {told}" in done.stderr
    assert (gallery.recordings / "a.ipynb").exists()
    assert "Traceback" not in done.stderr
    (worker,) = scheduler.processes[1:]
    worker.wait(60)  # it ends by itself, and with it what it runs
    assert not [each for each in scheduler.folder.glob("recipe-run-*") if each.is_dir()]


def test_without_a_scheduler_or_a_worker_a_line_says_what_to_do(
    gallery: Gallery, scheduler: Cluster
) -> None:
    gallery.write("a", TITLE + "print(1)\n")
    scheduler.scheduler.kill()
    scheduler.scheduler.wait()
    done = scheduler.record(gallery)
    assert done.returncode == 1
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert line.startswith(f"error: no Dask scheduler at {scheduler.address}: ")
    assert line.endswith("; start one: python -m dask scheduler")
