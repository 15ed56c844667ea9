"""Faults of recording on several workers: of a recipe, a worker, the scheduler or the client."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import psutil

from .bench import ROOT, Bench, Done
from .case import Case, contains, left_behind, prints
from .leftovers import CHILD
from .runs import FULL, when_running, with_mounts

TWO = ("record", "--device", "cpu", "--workers", "2")
# Dask's worker is the parent of the process that runs the kernel.
WORKER = "import os, pathlib, psutil, time\nworker = psutil.Process().parent().parent()\n"
ONCE = "mark = pathlib.Path('ROOT/begun')\nif not mark.exists():\n    mark.touch()\n    "
# A client that is signalled where Python ignores errors: while it collects garbage.
COLLECTS = """
import gc, pathlib, signal, sys, threading
begun = pathlib.Path('ROOT/begun')
def collect(phase, info):
    if threading.current_thread() is threading.main_thread() and begun.exists():
        begun.unlink()
        signal.raise_signal(signal.SIGTERM)
if 'record' in sys.orig_argv:
    gc.callbacks.append(collect)
"""
BEGUN = "\nimport pathlib, time\npathlib.Path('ROOT/begun').touch()\ntime.sleep(600)"


def signals(number: int) -> Callable[[Bench, subprocess.Popen[bytes]], None]:
    """Send a signal to the client while its workers are busy."""

    def send(bench: Bench, process: subprocess.Popen[bytes]) -> None:
        when_running(bench)
        time.sleep(0.5)
        os.kill(process.pid, number)

    return send


def goes_on(bench: Bench, done: Done) -> Iterator[str]:
    """After a client that ended early the same command has to work, and to clean up."""
    bench.write("recipes_source/faulty.py", (bench.recipes / "neighbour.py").read_text())
    again = bench.run(*TWO, seconds=120)
    if again.status != 0:
        yield f"the next run ended with {again.status}: {again.err[-200:]}"
    yield from (f"after the next run: {each}" for each in left_behind(bench, ("begun",)))


def start_scheduler(bench: Bench) -> None:
    """Start a scheduler of Dask and, in the bench's gallery, a worker for it."""
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    command += ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0"]
    scratch = {"DASK_TEMPORARY_DIRECTORY": str(bench.root)}
    with (bench.root / "scheduler").open("wb") as log:
        subprocess.Popen(command, env=bench.environment | scratch, stderr=log, cwd=bench.root)
    address = _wait_for(bench, "scheduler", r"Scheduler at: +(\S+)")
    bench.environment["DASK_SCHEDULER"] = address
    with (bench.root / "worker").open("wb") as log:
        subprocess.Popen(
            [sys.executable, "-m", "recipe_gallery", "record-worker", "--device", "cpu", address],
            env=bench.environment,
            cwd=bench.site,
            stderr=log,
        )
    _wait_for(bench, "worker", "1 worker for (.*),")
    # the address is known only now: it takes the place of the word in the command
    bench.wrap = ["sh", "-c", 'exec "$@" --scheduler "$DASK_SCHEDULER"', "sh"]


def _wait_for(bench: Bench, name: str, pattern: str) -> str:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if found := re.search(pattern, (bench.root / name).read_text(errors="replace")):
            return found[1]
        time.sleep(0.1)
    raise TimeoutError(f"{name} does not start")


def kill_scheduler(bench: Bench, process: subprocess.Popen[bytes]) -> None:
    """Kill the scheduler while a recipe runs; its worker ends by itself, within half a minute."""
    when_running(bench)
    for word, seconds in (("dask_scheduler", 0), ("record-worker", 30)):
        for each in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if str(bench.root) in each.cwd() and any(word in part for part in each.cmdline()):
                    each.wait(seconds) if seconds else each.kill()


RECIPES = [
    Case(
        name="cluster-exception",
        kind="G1",
        injects="two workers, a recipe that fails",
        ends="refused",
        code="1 / 0",
        arguments=TWO,
        says="ZeroDivisionError",
        seconds=120,
    ),
    Case(
        name="cluster-kernel-killed",
        kind="G1",
        injects="two workers, a kernel that is killed once",
        ends="recorded",
        code="import os, pathlib\n" + ONCE + "os.kill(os.getpid(), 9)\nprint('fine')",
        arguments=TWO,
        holds=prints("fine\n"),
        leaves=("begun",),
        seconds=120,
    ),
    Case(
        name="cluster-orphan",
        kind="G1",
        injects="two workers, children with an empty environment in their own session",
        ends="recorded",
        code=CHILD,
        arguments=TWO,
        holds=contains("started"),
        seconds=120,
    ),
    Case(
        name="cluster-disk-full",
        kind="G1",
        injects="two workers, a disk of 8 kB for the recordings",
        ends="refused",
        code="print('q' * 100_000)",
        arguments=TWO,
        prepare=with_mounts,
        wrap=FULL,
        neighbour=False,
        says="No space left on device|ENOSPC",
        leaves=(r"site/recordings(/.*)?",),
        seconds=120,
    ),
]
WORKERS = [
    Case(
        name="cluster-worker-killed",
        kind="G2",
        injects="SIGKILL to the worker of a recipe, once",
        ends="recorded",
        code=WORKER + ONCE + "worker.kill()\n    time.sleep(60)\nprint('fine')",
        arguments=TWO,
        holds=prints("fine\n"),
        leaves=("begun",),
        seconds=180,
    ),
    Case(
        name="cluster-worker-killed-always",
        kind="G2",
        injects="SIGKILL to the worker of a recipe, each time",
        ends="refused",
        code=WORKER + "worker.kill()\ntime.sleep(60)",
        arguments=TWO,
        says="faulty: its worker was lost, 3 times",
        seconds=240,
    ),
    Case(
        name="cluster-worker-stopped",
        kind="G2",
        injects="SIGSTOP to the worker of a recipe, once",
        ends="recorded",
        code="# sphinx_gallery_deadline = 20\n"
        + WORKER
        + ONCE
        + "worker.suspend()\n    time.sleep(60)\nprint('fine')",
        arguments=TWO,
        holds=prints("fine\n"),
        leaves=("begun",),
        seconds=240,
    ),
]


def _client(name: str, number: signal.Signals) -> Case:
    killed = number == signal.SIGKILL
    return Case(
        name=f"cluster-client-{name}",
        kind="G3",
        injects=f"{number.name} to the client of two workers, children running; then another run",
        ends="killed" if killed else "interrupted",
        code=CHILD + BEGUN,
        arguments=TWO,
        during=signals(number),
        look=goes_on,
        leaves=("begun",),
        seconds=120,
    )


CLIENTS = [
    _client("interrupted", signal.SIGINT),
    _client("terminated", signal.SIGTERM),
    _client("killed", signal.SIGKILL),
    Case(
        name="cluster-client-collecting",
        kind="G3",
        injects="SIGTERM to the client in a callback of its garbage collector; then another run",
        ends="interrupted",
        code=CHILD + BEGUN,
        files={"../hook/sitecustomize.py": COLLECTS},
        environment={"PYTHONPATH": f"ROOT/hook{os.pathsep}{ROOT}"},
        arguments=TWO,
        look=goes_on,
        seconds=120,
    ),
    Case(
        name="cluster-scheduler-killed",
        kind="G3",
        injects="SIGKILL to a scheduler elsewhere while a recipe runs; its worker has to end, too",
        ends="stopped",
        code=BEGUN,
        arguments=("record", "--device", "cpu"),
        prepare=start_scheduler,
        during=kill_scheduler,
        says="the scheduler is gone; what was finished is kept",
        leaves=("begun", "scheduler", "worker", r"dask-scratch-space(/.*)?"),
        seconds=120,
    ),
]
CASES = [*RECIPES, *WORKERS, *CLIENTS]
