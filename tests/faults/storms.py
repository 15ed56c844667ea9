"""Lost output under load, and signals at random moments."""

import contextlib
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace

import nbformat
import psutil

from .bench import Bench, Done, make_bench, role
from .case import left_behind, stream
from .wrong_recordings import LOG, LOST, PUBLISH, all_lines

STOPPED = next(case for case in LOST if case.name == "stopped-recorder")
LOADED = [
    replace(
        STOPPED,
        name="log-lines-under-load",
        injects="4,000 log lines, then a headline figure",
        code=LOG.format(lines=4000) + PUBLISH,
        during=None,
        seconds=300,
    ),
    replace(
        STOPPED,
        name="stopped-under-load",
        injects="the same with the recorder stopped for 2 s",
        seconds=300,
    ),
    replace(
        STOPPED,
        name="flushed-prints-under-load",
        injects="100,000 print(flush=True), then a headline figure",
        code="for i in range(100_000):\n    print(f'line {i:06d}', flush=True)\n" + PUBLISH,
        holds=all_lines(100_000),
        during=None,
        seconds=900,
    ),
]


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep two cores busy with ``count`` processes."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(cores)[:2])
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
        os.sched_setaffinity(0, cores)


# A recipe that runs for a while, with a child that keeps its environment and one that does not.
# A kernel that a signal hits just as it takes a cell up may forget it: the limit ends that.
WORKING = """
# sphinx_gallery_cell_timeout = 20

import os, subprocess, sys, time
code = "import time; time.sleep(600)"
subprocess.Popen([sys.executable, "-c", code, "TOKEN"])
subprocess.Popen([sys.executable, "-c", code, "TOKEN"], env={}, start_new_session=True)
for number in range(1000):
    print(f"line {number:06d}", flush=True)

# %%

for number in range(20):
    time.sleep(0.05)
    print("step", number, flush=True)
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGQUIT)


@dataclass(frozen=True, kw_only=True)
class Shot:
    """A signal at a moment."""

    number: int
    target: str  # recorder, kernel, child, or group: as Ctrl-C in a terminal
    after: float  # seconds since there is one


def choose_shots(count: int, seed: int) -> list[Shot]:
    """Choose signals, whom they hit, and when."""
    choices = random.Random(seed)
    shots = []
    for _ in range(count):
        target = choices.choice(("recorder", "group", "kernel", "child"))
        # a recorder is Python that starts at first
        after = (
            choices.uniform(0.4, 4) if target in ("recorder", "group") else choices.uniform(0, 2)
        )
        shots.append(Shot(number=choices.choice(SIGNALS), target=target, after=after))
    return shots


def shoot(shot: Shot) -> list[str]:
    """Record, send one signal, look, and record again; return what is wrong."""
    hit = ["nobody"]

    def during(bench: Bench, process: subprocess.Popen[bytes]) -> None:
        found = find_process(process.pid, shot.target)
        time.sleep(shot.after)
        with contextlib.suppress(psutil.Error, ProcessLookupError):  # it has ended meanwhile
            if shot.target == "group":
                os.killpg(process.pid, shot.number)
            else:
                found.send_signal(shot.number)
            hit[0] = shot.target

    with make_bench() as bench:
        bench.add("faulty", WORKING)
        bench.before = bench.files()
        done = bench.run("record", "--device", "cpu", during=during, seconds=60)
        wrong = [*_judge_shot(bench, done, hit[0])]
        if (done.status or 0) >= 0:  # otherwise the next run has to clean up
            wrong += left_behind(bench)
        again = bench.run("record", "--device", "cpu", seconds=60)
        wrong += [f"the next run prints: {line!r}" for line in again.surprises[:1]]
        if again.status != 0 or not _is_whole(bench):
            wrong.append(f"the next run ended with {again.status}: {again.err[-200:]}")
        wrong += [f"after the next run: {each}" for each in left_behind(bench)]
        return [" ".join(each.split()) for each in wrong]


def find_process(recorder: int, wanted: str) -> psutil.Process:
    """Return the process of this role below a recorder, once there is one; the recorder if none."""
    until = time.monotonic() + 20
    with contextlib.suppress(psutil.Error):
        while wanted not in ("recorder", "group") and time.monotonic() < until:
            for each in psutil.Process(recorder).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    if role(each) == wanted:
                        return each
            time.sleep(0.02)
    return psutil.Process(recorder)


def _judge_shot(bench: Bench, done: Done, hit: str) -> Iterator[str]:
    yield from (f"prints: {line!r}" for line in done.surprises[:1])
    recording = bench.recordings / "faulty.ipynb"
    if done.status is None:
        yield "not ended after 60 s"
    elif done.status == 0 and not _is_whole(bench):
        yield "not all is recorded"
    elif done.status and recording.exists() and not _is_whole(bench):
        yield "half a recording"
    elif done.status == 1 and len(done.errors) != 1:
        yield f"{len(done.errors)} lines of error: {done.err[-200:]}"
    elif done.status not in (0, 1, 130) and hit not in ("recorder", "group"):
        yield f"exit status {done.status}"


def _is_whole(bench: Bench) -> bool:
    path = bench.recordings / "faulty.ipynb"
    if not path.exists():
        return False
    notebook = nbformat.read(path, as_version=4)
    # the same cells may hold the last words of a child that was hit
    lines = re.findall(r"(?m)^line \d{6}$", stream(notebook, 1))
    steps = re.findall(r"(?m)^step \d+$", stream(notebook, 2))
    return (len(lines), len(steps)) == (1000, 20)
