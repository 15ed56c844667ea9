"""Do tests fail when the engine is wrong? `make mutants` changes it, one place at a time, and asks.

Each change is made in a copy of the repository, in which the tests run that call the changed
function (found by a traced run of them all before), the fast ones first, up to the first failure.
Results are kept in _build/mutants: a run that is interrupted goes on where it was, and only what is
new or survived is tried again when tests change. The score is written to benchmarks/mutants.md.
"""

import argparse
import hashlib
import importlib
import json
import os
import random
import shutil
import signal
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import psutil
import pytest

import mutations
import tracing
from mutations import Mutant

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ENGINE = "recipe_gallery"
ROOMS = ("recipes", "record", "translate")
TESTS = "tests/engine"
WORK = ROOT / "_build/mutants"
REPORT = ROOT / "benchmarks/mutants.md"
EQUIVALENT = HERE / "equivalent.toml"
WANTED = 85  # percent of the mutants of a room
# What the tests of one mutant may take without it; the time limit is three times that and 20 s.
SECONDS_OF_TESTS = 45.0
# Loaded once, by the process that all runs of tests are forked from.
LIBRARIES = (
    "hypothesis playwright.sync_api bs4 rich.console sphinx.application sphinx.cmd.build nbclient "
    "sphinx_gallery.gen_gallery pydata_sphinx_theme jupytext nbformat "
    "polib babel.messages watchfiles sphinx.builders.html sphinx.builders.gettext sphinxlint"
)


@dataclass(frozen=True, kw_only=True)
class Result:
    """What became of a mutant."""

    file: str  # below the root
    line: int
    change: str  # "before -> after"
    outcome: str  # killed, survived, timeout
    killer: str  # the test that failed
    source: str  # hash of the file
    tests: str  # hash of the tests


def digest(paths: Iterable[Path]) -> str:
    """Return a short hash of files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def make_copy(number: int) -> Path:
    """Copy what the tests of the engine need."""
    copy = WORK / f"copy{number}"
    shutil.rmtree(copy, ignore_errors=True)
    left_out = {"_build", "recipes", "__pycache__", "node_modules"}
    shutil.copytree(
        ROOT,
        copy,
        ignore=lambda folder, names: {
            name
            for name in names
            if (name in left_out and Path(folder) == ROOT)
            or (name.startswith(".") and name != ".github")
            or name == "__pycache__"
            or name.endswith(".mo")
        },
    )
    tracing.install(copy)
    return copy


def start(copy: Path, arguments: list[str], plugin: object | None = None) -> int:
    """Run pytest in a copy, in a forked process; return its id. Its exit status is pytest's."""
    process = os.fork()
    if process:
        return process
    os.setsid()
    os.chdir(copy)
    sys.path[:] = [
        str(copy),
        str(copy / "tests"),
        *(each for each in sys.path if each != str(HERE)),
    ]
    os.environ |= {
        "PYTHONPATH": str(copy),
        "HYPOTHESIS_PROFILE": "mutants",
        "RECORDINGS_OF_TESTS": str(WORK / "recordings"),
    }
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:xdist", f"--basetemp={copy}-temp"]
    status = 70
    try:
        with (copy / "tests.log").open("w") as log, redirect_stdout(log), redirect_stderr(log):
            status = int(pytest.main([*options, *arguments], [plugin] if plugin else None))
    finally:
        os._exit(status)


def end(process: int) -> None:
    """End a process and all that it started."""
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(process).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                child.kill()
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def trace_tests(copies: list[Path], state: str) -> dict[str, Any]:
    """Return by test its duration, whether it passes, and the functions that it calls."""
    kept = WORK / "tests.json"
    if kept.exists() and (data := json.loads(kept.read_text()))["state"] == state:
        return data["tests"]
    print("tracing the tests", flush=True)
    shutil.rmtree(WORK / "recordings", ignore_errors=True)  # of another state of the engine
    files = sorted(ROOT.glob(f"{TESTS}/**/test_*.py"), key=lambda path: path.stat().st_size)
    running = {}
    for number, copy in enumerate(copies):
        chosen = [path.relative_to(ROOT).as_posix() for path in files[number :: len(copies)]]
        running[start(copy, ["-m", "not slow", *chosen], tracing.Tracer(copy))] = copy
    for process, copy in running.items():
        _, status = os.waitpid(process, 0)
        if os.waitstatus_to_exitcode(status) not in (0, 1):  # 1: some fail
            sys.exit(f"the tests were not run to their end; see {copy / 'tests.log'}")
    tests = dict(chain(*(tracing.read(copy).items() for copy in copies)))
    kept.write_text(json.dumps({"state": state, "tests": tests}))
    return tests


def choose_tests(mutant: Mutant, tests: dict[str, Any]) -> list[str]:
    """Return the tests that call the function of a mutant: of its room and fast ones first."""
    room = mutant.file.split("/")[1]
    places = {f"{mutant.file}:{line}" for line in mutant.functions}
    callers = [
        (f"/{room}/" not in name, test["seconds"], name)
        for name, test in tests.items()
        if test["passed"] and not places.isdisjoint(test["functions"])
    ]
    chosen, total = [], 0.0
    for _other_room, seconds, name in sorted(callers):
        total += seconds
        if chosen and total > SECONDS_OF_TESTS:
            break
        chosen.append(name)
    return chosen


def choose_mutants(rooms: list[str], seed: int, per_module: int) -> list[Mutant]:
    """Return mutants of all modules in turn, so that a run cut short has some of each."""
    modules = []
    for path in sorted(chain(*(ROOT.glob(f"{ENGINE}/{room}/**/*.py") for room in rooms))):
        found = mutations.find(path, path.relative_to(ROOT).as_posix())
        random.Random(f"{seed}{path.name}").shuffle(found)
        modules.append(found[:per_module])
    return [mutant for mutant in chain(*zip_longest(*modules)) if mutant]


class Runs:
    """Runs the tests of mutants, one in each copy at a time."""

    def __init__(self, copies: list[Path], tests: dict[str, Any], state: str) -> None:
        self.free = list(copies)
        self.tests = tests
        self.state = state
        self.running: dict[int, tuple[Path, Mutant, float]] = {}
        self.clock = int(time.time())

    def add(self, mutant: Mutant) -> Result | None:
        """Start the tests of a mutant; without any it has survived."""
        chosen = choose_tests(mutant, self.tests)
        if not chosen:
            return self._result(mutant, "survived", "no test calls it")
        copy = self.free.pop()
        path = copy / mutant.file
        path.write_text(mutant.text, encoding="utf-8")
        self.clock += 1  # compiled modules are known by the second
        os.utime(path, (self.clock, self.clock))
        limit = 20 + 3 * sum(self.tests[name]["seconds"] for name in chosen)
        self.running[start(copy, ["-x", *chosen])] = (copy, mutant, time.monotonic() + limit)
        return None

    def wait(self) -> Iterator[Result]:
        """Yield the results of runs that have ended, or had to be."""
        time.sleep(0.02)
        for process, (copy, mutant, deadline) in list(self.running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            late = time.monotonic() > deadline
            if not ended and not late:
                continue
            if not ended:
                end(process)
                os.waitpid(process, 0)
            outcome = "timeout" if late else "killed" if status else "survived"
            log = (copy / "tests.log").read_text(errors="replace")
            failed = [line for line in log.splitlines() if line.startswith(("FAILED", "ERROR"))]
            yield self._result(mutant, outcome, failed[0][:120] if failed else "")
            shutil.copyfile(ROOT / mutant.file, copy / mutant.file)
            self.clock += 1
            os.utime(copy / mutant.file, (self.clock, self.clock))
            del self.running[process]
            self.free.append(copy)

    def _result(self, mutant: Mutant, outcome: str, killer: str) -> Result:
        source = digest([ROOT / mutant.file])
        return Result(
            **{"file": mutant.file, "line": mutant.line, "change": mutant.change},
            **{"outcome": outcome, "killer": killer, "source": source, "tests": self.state},
        )


def read_results(state: str) -> dict[tuple[str, int, str], Result]:
    """Return the results that still hold: of the same source, and of the same tests or killed."""
    path, results = WORK / "results.jsonl", {}
    for line in path.read_text().splitlines() if path.exists() else ():
        each = Result(**json.loads(line))
        file = ROOT / each.file
        same = file.exists() and each.source == digest([file])
        if same and (each.outcome != "survived" or each.tests == state):
            results[each.file, each.line, each.change] = each
    return results


def report(results: list[Result]) -> tuple[str, bool]:
    """Return the table of the report, and whether each room has the score that is wanted."""
    named = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    equal = {(each["file"], each["change"]) for each in named}
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in results:
        room = f"**{each.file.split('/')[1]}/**"
        kind = 2 if (each.file, each.change) in equal else int(each.outcome == "survived")
        for name in (room, each.file):
            counts[name][kind] += 1
    lines = ["| Module | Mutants | Killed | Survived | Equivalent | Score |"]
    lines.append("|---|---:|---:|---:|---:|---:|")
    enough = True
    for name, (killed, survived, equivalent) in sorted(counts.items()):
        score = 100 * killed / (killed + survived) if killed + survived else 100
        enough &= score >= WANTED or not name.startswith("**")
        total = killed + survived + equivalent
        lines.append(f"| {name} | {total} | {killed} | {survived} | {equivalent} | {score:.0f} % |")
    return "\n".join(lines), enough


def main() -> int:
    """Run the mutants; return 1 if too many survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=list(ROOMS), help="of the engine, or modules")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are chosen")
    parser.add_argument("--per-module", type=int, default=40, help="at most so many of each module")
    parser.add_argument("--minutes", type=float, default=90, help="begin none after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    for name in LIBRARIES.split():
        importlib.import_module(name)
    WORK.mkdir(parents=True, exist_ok=True)
    copies = [make_copy(number) for number in range(options.jobs)]
    test_files = [path for path in sorted(ROOT.glob("tests/**/*")) if path.is_file()]
    state = digest(path for path in test_files if "__pycache__" not in path.parts)
    engine = digest(sorted(ROOT.glob(f"{ENGINE}/**/*.py")))
    tests = trace_tests(copies, state + engine)
    for name, test in tests.items():
        if not test["passed"]:
            print(f"left out, for it fails without a mutant: {name}")
    mutants = choose_mutants(options.rooms, options.seed, options.per_module)
    results = read_results(state)
    waiting = [each for each in mutants if each.key not in results]
    print(f"{len(mutants)} mutants, {len(waiting)} to run", flush=True)
    runs = Runs(copies, tests, state)
    with (WORK / "results.jsonl").open("a", encoding="utf-8") as kept:
        while runs.running or (waiting and time.monotonic() < deadline):
            ended: list[Result] = []
            if waiting and runs.free and time.monotonic() < deadline:
                ended = list(filter(None, [runs.add(waiting.pop(0))]))
            for each in chain(ended, runs.wait()):
                results[each.file, each.line, each.change] = each
                kept.write(json.dumps(asdict(each), ensure_ascii=False) + "\n")
                kept.flush()
                if each.outcome == "survived":
                    print(f"survived: {each.file}:{each.line}: {each.change}", flush=True)
                    print(f"    {each.killer}" if each.killer else "", end="\n" * bool(each.killer))
    done = [results[each.key] for each in mutants if each.key in results]
    table, enough = report(done)
    text = REPORT.read_text(encoding="utf-8")
    head, mark, _old = text.partition("<!-- made by `make mutants` -->\n")
    REPORT.write_text(f"{head}{mark}\n{table}\n", encoding="utf-8")
    print(table)
    return int(not enough)


if __name__ == "__main__":
    sys.exit(main())
