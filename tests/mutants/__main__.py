"""Do tests fail when the engine is wrong? `make mutants` changes it, one place at a time, and asks.

Each change is made in a copy of the repository, in which the tests run that call the changed
function (found by a traced run of them all before), the fast ones first, up to the first failure.
Of each room a sample is drawn, each of its mutants as likely as any other. Results are kept in
_build/mutants: a run that is interrupted goes on where it was, and only what is new or survived is
tried again when tests change. The scores are written to benchmarks/mutants.md.
"""

import argparse
import hashlib
import importlib
import json
import math
import os
import random
import shutil
import sys
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import mutations
import tracing
from mutations import Mutant
from runs import HERE, ROOT, WORK, Runs, make_copy, start

ENGINE = "recipe_gallery"
ROOMS = ("recipes", "record", "translate")
TESTS = "tests/engine"
REPORT = ROOT / "benchmarks/mutants.md"
MARK = "<!-- made by `make mutants` -->\n"
EQUIVALENT = HERE / "equivalent.toml"
WANTED = 85  # percent of the mutants of a room
# What the tests of one mutant may compute without it; the limit is three times that and 15 s.
SECONDS_OF_TESTS = 25.0
# After every so many mutants a run is made with nothing changed: tests that fail in one fail by
# chance, and may have killed mutants so.
EVERY = 15
# Loaded once, by the process that all runs of tests are forked from.
LIBRARIES = (
    "hypothesis playwright.sync_api bs4 rich.console sphinx.application sphinx.cmd.build nbclient "
    "sphinx_gallery.gen_gallery pydata_sphinx_theme jupytext nbformat "
    "polib babel.messages watchfiles sphinx.builders.html sphinx.builders.gettext "
    "distributed"
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
    tests: str  # hash of the tests that ran


def digest(paths: Iterable[Path]) -> str:
    """Return a short hash of files."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:16]


def find_tests(chosen: list[str]) -> tuple[list[Path], str]:
    """Return the chosen files of tests, and a hash of all else that their outcome depends on."""
    paths = sorted(ROOT.glob("tests/**/test_*.py"))
    files = [each for each in paths if str(each.relative_to(ROOT)).startswith(tuple(chosen))]
    engine = [path for path in ROOT.glob(f"{ENGINE}/**/*") if path.suffix in (".py", ".po")]
    helpers = [path for path in ROOT.glob("tests/**/*.py") if path not in paths]
    return files, digest(sorted([*engine, *(path for path in helpers if HERE not in path.parents)]))


def trace_tests(chosen_files: list[str], copies: list[Path]) -> dict[str, Any]:
    """Return by test how long it computes, whether it passes, and the functions that it calls.

    What was found for a file is kept for as long as neither it nor the engine changes.
    """
    kept = WORK / "traced.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    files, state = find_tests(chosen_files)
    states = {path.relative_to(ROOT).as_posix(): f"{state}{digest([path])}" for path in files}
    traced = {name: before[name] for name in states if before.get(name, [""])[0] == states[name]}
    others = {name: found for name, found in before.items() if found[0].startswith(state)}
    missing = sorted(states.keys() - traced.keys(), key=lambda name: (ROOT / name).stat().st_size)
    if missing:
        print(f"tracing {len(missing)} files of tests", flush=True)
        if not others:
            shutil.rmtree(WORK / "recordings", ignore_errors=True)  # of another state of the engine
        running = {}
        for number, copy in enumerate(copies):
            if chosen := missing[number :: len(copies)]:
                wanted = ["-m", "not nightly and (not slow or kernel)", *chosen]
                running[start(copy, wanted, tracing.Tracer(copy))] = copy
        for process, copy in running.items():
            _, status = os.waitpid(process, 0)
            if os.waitstatus_to_exitcode(status) not in (0, 1):  # 1: some fail
                sys.exit(f"the tests were not run to their end; see {copy / 'tests.log'}")
        found = dict(chain(*(tracing.read(copy).items() for copy in running.values())))
        for name in missing:
            of_file = {test: facts for test, facts in found.items() if test.startswith(f"{name}::")}
            traced[name] = [states[name], of_file]
        kept.write_text(json.dumps(others | traced))
    tests: dict[str, Any] = {}
    for state_of_file, of_file in traced.values():
        tests |= {name: facts | {"state": state_of_file} for name, facts in of_file.items()}
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


def choose_mutants(room: str, seed: int, sample: int) -> tuple[list[Mutant], int]:
    """Return a sample of the mutants of a room, and how many there are."""
    paths = sorted(ROOT.glob(f"{ENGINE}/{room}/**/*.py"))
    found = [each for path in paths for each in mutations.find(path, str(path.relative_to(ROOT)))]
    random.Random(f"{seed} {room}").shuffle(found)
    return found[:sample], len(found)


def add_controls(mutants: list[Mutant]) -> list[Mutant]:
    """Return mutants, and after some of them one that changes nothing."""
    found = []
    for number, each in enumerate(mutants):
        found.append(each)
        if number % EVERY == 0:
            text = (ROOT / each.file).read_text(encoding="utf-8")
            found.append(replace(each, change="nothing", text=text))
    return found


def read_results() -> dict[tuple[str, int, str], Result]:
    """Return the results of modules that are as they were."""
    path, results = WORK / "results.jsonl", {}
    for line in path.read_text().splitlines() if path.exists() else ():
        each = Result(**json.loads(line))
        file = ROOT / each.file
        if file.exists() and each.source == digest([file]):
            results[each.file, each.line, each.change] = each
    return results


def try_mutants(
    mutants: list[Mutant], tests: dict[str, Any], copies: list[Path], deadline: float
) -> dict[tuple[str, int, str], Result]:
    """Run the tests of mutants, but where the result is known; return all results."""
    results, runs = read_results(), Runs(copies)
    chosen = {each.key: choose_tests(each, tests) for each in mutants}
    states = {
        key: hashlib.sha256(
            json.dumps([(name, tests[name]["state"]) for name in names]).encode()
        ).hexdigest()[:16]
        for key, names in chosen.items()
    }

    def is_known(mutant: Mutant) -> bool:
        known = results.get(mutant.key)
        if known and known.outcome == "survived":
            return known.tests == states[mutant.key]
        return known is not None

    waiting = [each for each in mutants if not is_known(each)]
    print(f"{len(mutants)} mutants, {len(waiting)} to run", flush=True)
    with (WORK / "results.jsonl").open("a", encoding="utf-8") as kept:
        while runs.running or (waiting and time.monotonic() < deadline):
            ended = []
            if waiting and runs.free and time.monotonic() < deadline:
                mutant = waiting.pop(0)
                if names := chosen[mutant.key]:
                    seconds = sum(tests[name]["seconds"] for name in names)
                    runs.add(mutant, names, limit=15 + 3 * seconds)
                else:
                    ended = [(mutant, "survived", "no test calls it")]
            for mutant, outcome, killer in chain(ended, runs.wait()):
                result = Result(
                    **{"file": mutant.file, "line": mutant.line, "change": mutant.change},
                    **{"outcome": outcome, "killer": killer},
                    source=digest([ROOT / mutant.file]),
                    tests=states[mutant.key],
                )
                results[mutant.key] = result
                kept.write(json.dumps(asdict(result), ensure_ascii=False) + "\n")
                kept.flush()
                if (outcome == "survived") != (mutant.change == "nothing"):
                    print(f"{outcome}: {mutant.file}:{mutant.line}: {mutant.change}", flush=True)
                    print(f"    {killer}" if killer else "", end="\n" * bool(killer))
    return results


def wilson(killed: int, total: int) -> tuple[float, float]:
    """Return the bounds, in percent, between which a score of all mutants lies in 95 % of samples.

    >>> [round(each, 1) for each in wilson(90, 100)]
    [82.6, 94.5]
    """
    if not total:
        return 0.0, 100.0
    z, share = 1.96, killed / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    width = z * math.sqrt(share * (1 - share) / total + (z / (2 * total)) ** 2)
    width /= 1 + z * z / total
    return 100 * (middle - width), 100 * (middle + width)


def report(results: list[Result], sizes: dict[str, int]) -> tuple[str, bool]:
    """Return the tables of the report, and whether each room has the score that is wanted."""
    named = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    equal = {(each["file"], each["change"]) for each in named}
    counts: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for each in results:
        kind = 2 if (each.file, each.change) in equal else int(each.outcome == "survived")
        for name in (each.file.split("/")[1], each.file):
            counts[name][kind] += 1
    rooms = [
        "| Room | All mutants | Sample | Equivalent | Killed | Survived | Score | 95 % interval |"
    ]
    rooms.append("|---|---:|---:|---:|---:|---:|---:|---:|")
    modules = ["| Module | Sample | Equivalent | Killed | Survived |", "|---|---:|---:|---:|---:|"]
    enough = True
    for name, (killed, survived, equivalent) in sorted(counts.items()):
        row = f"{killed + survived + equivalent} | {equivalent} | {killed} | {survived} |"
        if name not in sizes:
            modules.append(f"| {name.removeprefix(f'{ENGINE}/')} | {row}")
            continue
        low, high = wilson(killed, killed + survived)
        score = 100 * killed / max(killed + survived, 1)
        enough &= score >= WANTED
        rooms.append(
            f"| {name}/ | {sizes[name]} | {row} {score:.1f} % | {low:.0f} – {high:.0f} % |"
        )
    return "\n".join([*rooms, "", *modules]), enough


def main() -> int:
    """Run the mutants; return 1 if too many survive."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rooms", nargs="*", default=list(ROOMS), help="folders of the engine")
    parser.add_argument("--tests", nargs="*", default=[TESTS], help="folders, files: only these")
    parser.add_argument("--seed", type=int, default=1, help="which mutants are drawn")
    parser.add_argument("--sample", type=int, default=150, help="so many of each room")
    parser.add_argument("--minutes", type=float, default=90, help="begin none after this time")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    deadline = time.monotonic() + 60 * options.minutes
    for name in LIBRARIES.split():
        importlib.import_module(name)
    WORK.mkdir(parents=True, exist_ok=True)
    copies = [make_copy(number) for number in range(options.jobs)]
    tests = trace_tests(options.tests, copies)
    for name, test in tests.items():
        if not test["passed"]:
            print(f"left out, for it fails or is skipped without a mutant: {name}")
    drawn = {room: choose_mutants(room, options.seed, options.sample) for room in options.rooms}
    samples = [add_controls(mutants) for mutants, _size in drawn.values()]
    # in turn, so that a run cut short has some of each room
    mutants = [each for each in chain(*zip_longest(*samples)) if each]
    results = try_mutants(mutants, tests, copies, deadline)
    done = [results[each.key] for each in mutants if each.key in results]
    controls = [each for each in done if each.change == "nothing"]
    failed = [each for each in controls if each.outcome != "survived"]
    sizes = {room: size for room, (_mutants, size) in drawn.items()}
    table, enough = report([each for each in done if each.change != "nothing"], sizes)
    about = (
        f"Seed {options.seed}, {options.sample} mutants of each room drawn, "
        f"{len(done) - len(controls)} tried. Of {len(controls)} runs with nothing changed, "
        f"{len(failed)} failed."
    )
    head, _mark, _old = REPORT.read_text(encoding="utf-8").partition(MARK)
    REPORT.write_text(f"{head}{MARK}\n{about}\n\n{table}\n", encoding="utf-8")
    print(f"{about}\n\n{table}")
    return int(not enough)


if __name__ == "__main__":
    sys.exit(main())
