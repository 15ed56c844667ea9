"""Inject faults into recordings and look at what is left: ``make faults``.

Each fault is injected through the commands that people call, on a small gallery in a folder of its
own. What is looked at afterwards: exit status, messages, the recording, other recipes of the run,
processes, files, and whether `check` and the pages agree. Ends with 1 if anything is not as it has
to be; ``--write`` puts the table into faults.md. fault_cases/ holds the faults.
"""

import argparse
import os
import platform
import random
import signal
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from fault_cases import CASES  # noqa: E402
from fault_cases.case import Case, NotRunError, Row, run_case  # noqa: E402
from fault_cases.damage import change_bytes  # noqa: E402
from fault_cases.storms import repeat_lost_output, send_signals  # noqa: E402

REPORT = HERE / "faults.md"
BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def main() -> int:
    """Inject what was asked for; return 1 if something is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names or kinds such as A1")
    parser.add_argument("--list", action="store_true", help="tell the faults and stop")
    parser.add_argument("--jobs", type=int, default=2, help="how many at the same time")
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--repeat-a1", type=int, default=0, metavar="N", help="at a load of 8")
    parser.add_argument("--signals", type=int, default=0, metavar="N", help="random ones")
    parser.add_argument("--bytes", type=int, default=0, metavar="N", help="random changes")
    parser.add_argument("--write", action="store_true", help="write the table into faults.md")
    options = parser.parse_args()
    cases = choose(options.only)
    if options.list:
        print("\n".join(f"{each.kind:<4} {each.name:<28} {each.injects}" for each in cases))
        return 0
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(
            number, signal.SIG_DFL
        )  # what nohup and & ignore, recorders would ignore, too
    print(f"seed {options.seed}", flush=True)
    rows = inject(cases, options.jobs)
    storms = {
        repeat_lost_output: options.repeat_a1,
        send_signals: options.signals,
        change_bytes: options.bytes,
    }
    for storm, count in storms.items():
        if count:
            rows += storm(count, options.seed)
    wrong = [row for row in rows if row[-1] not in ("right", *_not_run(rows))]
    print("\n".join(f"wrong: {kind} {name}: {what}" for kind, name, _, _, what in wrong))
    print(summary := describe(rows, wrong))
    if options.write:
        write_report(rows, summary)
    return int(bool(wrong))


def choose(names: Sequence[str] | None) -> list[Case]:
    """Return the faults of these names, kinds or letters; all if there are none."""
    if not names:
        return CASES
    chosen = [
        each
        for each in CASES
        if {each.name, each.kind, each.kind[0], f"{each.kind}-{each.name}"} & set(names)
    ]
    known = {word for each in CASES for word in (each.name, each.kind, each.kind[0])}
    unknown = sorted(set(names) - known)
    if unknown:
        sys.exit(f"no fault is called {unknown[0]}; --list tells all")
    return chosen


def inject(cases: Sequence[Case], jobs: int) -> list[Row]:
    """Inject faults, a few at the same time; tell each as it ends."""
    outcomes: dict[str, str] = {}
    with ThreadPoolExecutor(jobs) as pool:
        started = {pool.submit(judge, case): case for case in cases}
        for number, job in enumerate(as_completed(started), 1):
            case, (outcome, seconds) = started[job], job.result()
            outcomes[case.name] = outcome
            count = f"{number:>3}/{len(cases)}"
            print(f"{count} {case.kind:<4} {case.name:<28} {seconds:5.1f} s  {outcome}", flush=True)
    return [
        (each.kind, each.name, each.injects, each.expects, outcomes[each.name]) for each in cases
    ]


def judge(case: Case) -> tuple[str, float]:
    """Inject one fault; return what came of it in one line, and the seconds it took."""
    began = time.monotonic()
    try:
        outcome = "; ".join(run_case(case)) or "right"
    except NotRunError as error:
        outcome = f"not run: {error}"
    except Exception as error:  # of this program; the others go on
        outcome = f"cannot be judged: {type(error).__name__}: {error}"
    return " ".join(outcome.split()), time.monotonic() - began


def _not_run(rows: Sequence[Row]) -> list[str]:
    return [row[-1] for row in rows if row[-1].startswith("not run: ")]


def describe(rows: Sequence[Row], wrong: Sequence[Row]) -> str:
    """Return the counts in one line."""
    left_out = len(_not_run(rows))
    right = len(rows) - len(wrong) - left_out
    return f"{len(rows)} faults: {right} right, {len(wrong)} wrong, {left_out} not run here"


def write_report(rows: Sequence[Row], summary: str) -> None:
    """Put the table between the marks of faults.md."""
    lines = ["", f"    $ python {' '.join(['benchmarks/faults.py', *sys.argv[1:]])}", ""]
    python = f"Python {platform.python_version()}, {platform.system()}, {os.cpu_count()} cores"
    lines += [f"{summary} ({python}, {time.strftime('%Y-%m-%d')}).", ""]
    lines += ["| Kind | Fault | Injected | Expected | Outcome |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(map(escape, row)) + " |" for row in rows]
    text = REPORT.read_text(encoding="utf-8")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    REPORT.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n\n{END}{tail}", encoding="utf-8")


def escape(text: str) -> str:
    """Return text for a cell of a table in Markdown."""
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


if __name__ == "__main__":
    sys.exit(main())
