"""Faults of recording at two places: of a recipe, and of the recorder."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

from .bench import Bench, Done
from .case import Case, contains, left_behind, prints
from .leftovers import CHILD
from .runs import FULL, when_running, with_mounts

TWO = ("record", "--device", "cpu", "--workers", "2")
ONCE = "mark = pathlib.Path('ROOT/begun')\nif not mark.exists():\n    mark.touch()\n    "
BEGUN = "\nimport pathlib, time\npathlib.Path('ROOT/begun').touch()\ntime.sleep(600)"


def signals(number: int) -> Callable[[Bench, subprocess.Popen[bytes]], None]:
    """Send a signal to the recorder while its places are busy."""

    def send(bench: Bench, process: subprocess.Popen[bytes]) -> None:
        when_running(bench)
        time.sleep(0.5)
        os.kill(process.pid, number)

    return send


def goes_on(bench: Bench, done: Done) -> Iterator[str]:
    """After a recorder that ended early the same command has to work, and to clean up."""
    bench.write("recipes_source/faulty.py", (bench.recipes / "neighbour.py").read_text())
    again = bench.run(*TWO, seconds=120)
    if again.status != 0:
        yield f"the next run ended with {again.status}: {again.err[-200:]}"
    yield from (f"after the next run: {each}" for each in left_behind(bench, ("begun",)))


RECIPES = [
    Case(
        name="cluster-exception",
        kind="G1",
        injects="two places, a recipe that fails",
        ends="refused",
        code="1 / 0",
        arguments=TWO,
        says="ZeroDivisionError",
        seconds=120,
    ),
    Case(
        name="cluster-kernel-killed",
        kind="G1",
        injects="two places, a kernel that is killed once",
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
        injects="two places, children with an empty environment in their own session",
        ends="recorded",
        code=CHILD,
        arguments=TWO,
        holds=contains("started"),
        seconds=120,
    ),
    Case(
        name="cluster-disk-full",
        kind="G1",
        injects="two places, a disk of 8 kB for the recordings",
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


def _client(name: str, number: signal.Signals) -> Case:
    killed = number == signal.SIGKILL
    return Case(
        name=f"cluster-client-{name}",
        kind="G3",
        injects=f"{number.name} to a recorder of two places, children running; then another run",
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
]
CASES = [*RECIPES, *CLIENTS]
