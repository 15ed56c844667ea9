"""Runs tests in copies of the repository, each run in a process that is forked from this one.

What a run may take is counted in seconds of computing, of all its processes: on a machine that is
busy with other things nothing is killed that would have ended well on an idle one.
"""

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

import tracing
from mutations import Mutant

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
WORK = ROOT / "_build/mutants"
# A run that computes nothing for so many seconds waits for what does not come.
IDLE = 90.0


def make_copy(number: int) -> Path:
    """Copy what the tests of the engine need."""
    copy = WORK / f"copy{number}"
    shutil.rmtree(copy, ignore_errors=True)
    left_out = {"_build", "recipes", "node_modules"}
    kept = {".github", ".gitattributes"}

    def leave_out(folder: str, names: list[str]) -> set[str]:
        at_root = left_out if Path(folder) == ROOT else set()
        hidden = {name for name in names if name.startswith(".") and name not in kept}
        made = {name for name in names if name == "__pycache__" or name.endswith(".mo")}
        return hidden | made | (at_root & set(names))

    shutil.copytree(ROOT, copy, ignore=leave_out)
    tracing.install(copy)
    return copy


def start(copy: Path, arguments: list[str], plugin: object | None = None) -> int:
    """Run pytest in a copy, in a forked process; return its id. Its exit status is pytest's."""
    process = os.fork()
    if process:
        return process
    os.setsid()
    os.chdir(copy)
    others = [each for each in sys.path if each != str(HERE)]
    sys.path[:] = [str(copy), str(copy / "tests"), *others]
    os.environ |= {
        "PYTHONPATH": str(copy),
        "HYPOTHESIS_PROFILE": "mutants",
        "RECORDINGS_OF_TESTS": str(WORK / "recordings"),
        # Folders of tests lie below the repository, and some are about being in none.
        "GIT_CEILING_DIRECTORIES": str(WORK),
    }
    # Tests and modules are compiled once for all runs.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={copy}-temp"]
    status = 70
    try:
        with (copy / "tests.log").open("w") as log, redirect_stdout(log), redirect_stderr(log):
            status = int(pytest.main([*options, *arguments], [plugin] if plugin else None))
    finally:
        os._exit(status)


def _computed(process: psutil.Process) -> float:
    """Return the seconds that a process and all that it started have computed."""
    total = 0.0
    for each in [process, *process.children(recursive=True)]:
        with suppress(psutil.NoSuchProcess):
            total += sum(each.cpu_times()[:4])  # with children that have ended
    return total


@dataclass
class _Run:
    copy: Path
    mutant: Mutant
    process: psutil.Process
    limit: float  # seconds of computing
    computed: float = 0.0
    since: float = field(default_factory=time.monotonic)  # it last computed anything

    def is_late(self) -> bool:
        """Tell whether it has computed too long, or waits for nothing."""
        with suppress(psutil.NoSuchProcess):
            computed = _computed(self.process)
            if computed > self.computed + 0.05:
                self.computed, self.since = computed, time.monotonic()
        return self.computed > self.limit or time.monotonic() - self.since > IDLE

    def end(self) -> None:
        """End its processes."""
        with suppress(psutil.NoSuchProcess):
            for child in self.process.children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    child.kill()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        os.waitpid(self.process.pid, 0)


class Runs:
    """Runs the tests of mutants, those of one mutant in each copy at a time."""

    def __init__(self, copies: list[Path]) -> None:
        self.free = list(copies)
        self.running: list[_Run] = []
        self.clock = int(time.time())

    def add(self, mutant: Mutant, tests: list[str], limit: float) -> None:
        """Start tests of a mutant, up to the first that fails."""
        copy = self.free.pop()
        self._write(copy / mutant.file, mutant.text)
        self.running.append(_Run(copy, mutant, psutil.Process(start(copy, ["-x", *tests])), limit))

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, encoding="utf-8")
        self.clock += 1  # compiled modules are known by the second
        os.utime(path, (self.clock, self.clock))

    def wait(self) -> Iterator[tuple[Mutant, str, str]]:
        """Yield mutants whose runs have ended, or had to be; the outcome; the test that failed."""
        time.sleep(0.1)
        for run in list(self.running):
            ended, status = os.waitpid(run.process.pid, os.WNOHANG)
            if not ended and not run.is_late():
                continue
            if not ended:
                run.end()
            outcome = "survived" if ended and status == 0 else "killed" if ended else "timeout"
            log = (run.copy / "tests.log").read_text(errors="replace")
            failed = [line for line in log.splitlines() if line.startswith(("FAILED", "ERROR"))]
            self._write(
                run.copy / run.mutant.file, (ROOT / run.mutant.file).read_text(encoding="utf-8")
            )
            self.running.remove(run)
            self.free.append(run.copy)
            yield run.mutant, outcome, failed[0][:160] if failed else ""
