"""What PyTorch does where pages warn or promise: ``python benchmarks/release_checks.py``.

Run it on a GPU, once for each release. release_checks.toml says what is asked; each check is a
function of release_experiments.py, runs in a process of its own, and ends as right, wrong, error,
or not in this release. A run takes at most five minutes, most of them for AOTInductor, which calls
a C++ compiler, and is added to release_checks.json. ``--write`` runs nothing: it draws
release_checks.md from all runs.
"""

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

CHECKS = Path(__file__).with_suffix(".toml")
EXPERIMENTS = Path(__file__).with_name("release_experiments.py")
RUNS = Path(__file__).with_suffix(".json")
REPORT = Path(__file__).with_suffix(".md")
SECONDS_OF_A_CHECK = 60.0  # unless release_checks.toml says otherwise
SECONDS_OF_ALL = 300
OUTCOMES = ("right", "wrong", "error", "not in this release")
MOST_OF_AN_ERROR = 240  # characters of an error in the table
INTRODUCTION = """\
# What releases of PyTorch do where pages warn or promise

`benchmarks/release_checks.py` runs small experiments on a GPU, each in a process of its own, once
for each release. `python benchmarks/release_checks.py --write` draws this page from
`release_checks.json`.

- **right**: it ran, and the results are those of eager mode (or what the question asks is so).
- **wrong**: it ran without an error, and the results are others (or what the question asks is not
  so).
- **error**: it ended with an error, whose first line is shown.
- **not in this release**: there is nothing of this name, or it is off by default.

A number after "error" is the largest difference from eager results, as a part of the largest
number."""


@dataclass(frozen=True, kw_only=True)
class Check:
    """An experiment: a function of release_experiments.py."""

    name: str
    question: str
    environment: Mapping[str, str] = field(default_factory=dict)
    seconds: float = SECONDS_OF_A_CHECK


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """How a check ended; ``figures`` are those measured until then."""

    outcome: str
    figures: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Run:
    """The outcomes of one run of the program, by the name of the check."""

    torch: str
    gpu: str
    driver: str
    python: str
    date: str
    outcomes: Mapping[str, Outcome]

    @property
    def release(self) -> str:
        """Such as 2.15."""
        return ".".join(self.torch.split(".")[:2])


class RunsError(Exception):
    """The file of runs is not as this program writes it."""


def main() -> int:
    """Run the checks and add the run to the file, or draw the document."""
    began = time.monotonic()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write release_checks.md, run nothing")
    parser.add_argument("--runs", type=Path, default=RUNS, help="the JSON file of all runs")
    parser.add_argument("--report", type=Path, default=REPORT, help="what --write writes")
    parser.add_argument("--workers", type=int, default=8, help="checks at the same time")
    checks = load_checks()
    names = [check.name for check in checks]
    parser.add_argument("--only", nargs="+", choices=names, metavar="CHECK", default=names)
    options = parser.parse_args()
    try:
        runs = read_runs(options.runs)
    except RunsError as error:
        return fail(str(error))
    if options.write:
        if not runs:
            return fail(f"{options.runs} has no run yet; run the checks on a GPU first")
        options.report.write_text(draw(checks, runs), encoding="utf-8")
        return 0
    if not options.runs.parent.is_dir():
        return fail(f"{options.runs.parent} is no folder; make it first, for --runs")
    try:
        import torch
    except ImportError as error:
        return fail(f"PyTorch cannot be imported ({error}); install it")
    if not torch.cuda.is_available():
        return fail(f"PyTorch {torch.__version__} sees no GPU here; run the checks on a CUDA GPU")
    checks = [check for check in checks if check.name in options.only]
    seconds = SECONDS_OF_ALL - (time.monotonic() - began)
    run = Run(
        torch=torch.__version__,
        gpu=torch.cuda.get_device_name(),
        driver=read_driver(),
        python=sys.version.split()[0],
        date=time.strftime("%Y-%m-%d"),
        outcomes=run_checks(checks, options.workers, seconds),
    )
    write_runs(options.runs, [*runs, run])
    return 0


def load_checks() -> list[Check]:
    """Return the checks of release_checks.toml."""
    tables = tomllib.loads(CHECKS.read_text(encoding="utf-8"))["check"]
    return [Check(**table) for table in tables]


def fail(message: str) -> int:
    """Print a message; return the exit status of a failure."""
    print(f"release_checks: {message}", file=sys.stderr)
    return 1


def read_driver() -> str:
    """Return the version of the GPU's driver, or nothing where ``nvidia-smi`` is missing."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return done.stdout.splitlines()[0].strip()


def run_checks(checks: Sequence[Check], workers: int, seconds: float) -> dict[str, Outcome]:
    """Run all checks, several at the same time; print each outcome when it is there."""
    deadline = time.monotonic() + seconds

    def run(check: Check) -> Outcome:
        limit = min(check.seconds, deadline - time.monotonic())
        outcome = run_check(check, limit)
        print(f"{check.name}: {describe(outcome)}", flush=True)
        return outcome

    with ThreadPoolExecutor(workers) as pool:
        outcomes = list(pool.map(run, checks))
    return {check.name: outcome for check, outcome in zip(checks, outcomes, strict=True)}


def run_check(check: Check, limit: float, experiments: Path = EXPERIMENTS) -> Outcome:
    """Run a check in a process of its own, with empty caches, for at most ``limit`` seconds."""
    if limit <= 0:
        return Outcome(outcome="error", error="not started: the time of all checks was over")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        answer, errors = folder / "answer.json", folder / "stderr"
        caches = {
            "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"),
            "TRITON_CACHE_DIR": str(folder / "triton"),
            "TORCHINDUCTOR_COMPILE_THREADS": "1",  # each worker process would import PyTorch
        }
        began = time.monotonic()
        with errors.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, str(experiments), check.name, str(answer)],
                env={**os.environ, **caches, **check.environment},
                stdout=stderr,
                stderr=stderr,
                start_new_session=True,
            )
            try:
                process.wait(limit)
            except subprocess.TimeoutExpired:
                return Outcome(outcome="error", error=f"not done after {limit:.0f} s")
            finally:
                end_group(process)
        seconds = round(time.monotonic() - began, 1)
        if answer.exists():
            return Outcome(**json.loads(answer.read_text(encoding="utf-8")), seconds=seconds)
        error = say_how_it_ended(process.returncode, errors.read_text(errors="replace"))
        return Outcome(outcome="error", error=error, seconds=seconds)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process, and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def say_how_it_ended(status: int, errors: str) -> str:
    """Return one line for a process that ended without an answer."""
    end = f"ended with signal {-status}" if status < 0 else f"ended with status {status}"
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    return f"{end}: {lines[-1]}" if lines else end


def read_runs(path: Path) -> list[Run]:
    """Return the runs of a file, none if there is no file; raise RunsError."""
    if not path.exists():
        return []
    try:
        records = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(records, list):
            raise TypeError(f"a list is expected, and it holds a {type(records).__name__}")
        return [read_run(record) for record in records]
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise RunsError(
            f"{path} is not a list of runs ({error}); restore it from Git, or remove it"
        ) from error


def read_run(record: dict[str, Any]) -> Run:
    """Return a run as the file has it."""
    outcomes = {name: Outcome(**outcome) for name, outcome in record["outcomes"].items()}
    for name, outcome in outcomes.items():
        if outcome.outcome not in OUTCOMES:
            raise ValueError(f"{name}: unknown outcome {outcome.outcome!r}")
    return Run(**{**record, "outcomes": outcomes})


def write_runs(path: Path, runs: Sequence[Run]) -> None:
    """Write all runs; the file of before stays whole until they are written."""
    text = json.dumps([asdict(run) for run in runs], indent=2, ensure_ascii=False)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(f"{text}\n", encoding="utf-8")
    beside.replace(path)


def draw(checks: Sequence[Check], runs: Sequence[Run]) -> str:
    """Return the document: which runs there are, and a table of checks and releases."""
    by_release: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: release_key(run.release)):
        by_release.setdefault(run.release, []).append(run)
    lines = [
        INTRODUCTION,
        "",
        "| PyTorch | GPU | Driver | Python | Date |",
        "|---|---|---|---|---|",
    ]
    for releases in by_release.values():
        lines += [f"| {' | '.join(describe_run(run))} |" for run in releases]
    columns = [f"PyTorch {release}" for release in by_release]
    lines += ["", f"| Check | What is asked | {' | '.join(columns)} |"]
    lines.append("|---" * (2 + len(columns)) + "|")
    for check in checks:
        cells = [write_cell(check.name, releases) for releases in by_release.values()]
        lines.append(f"| `{check.name}` | {check.question} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def release_key(release: str) -> list[int]:
    """Return numbers in whose order releases come: 2.9 before 2.11."""
    return [int(part) for part in release.split(".")]


def describe_run(run: Run) -> list[str]:
    """Return the cells of a run."""
    return [run.torch, run.gpu, run.driver or "unknown", run.python, run.date]


def write_cell(name: str, runs: Sequence[Run]) -> str:
    """Return what the runs of a release say of a check: figures and error are those of the last."""
    outcomes = [run.outcomes[name] for run in runs if name in run.outcomes]
    if not outcomes:
        return "not run"
    counts = Counter(outcome.outcome for outcome in outcomes)
    text = describe(outcomes[-1], bold=True).replace("|", "\\|")
    if len(counts) == 1:
        return text
    parts = ", ".join(f"{outcome} in {count}" for outcome, count in counts.most_common())
    return f"{text} (of {len(outcomes)} runs: {parts})"


def describe(outcome: Outcome, *, bold: bool = False) -> str:
    """Return an outcome in one line: the word, the figures, the error."""
    parts = [f"{name} {write_figure(figure)}" for name, figure in outcome.figures.items()]
    if outcome.error:
        error = outcome.error.replace("`", "'")
        if len(error) > MOST_OF_AN_ERROR:
            error = f"{error[:MOST_OF_AN_ERROR].rstrip()} …"
        parts.append(f"`{error}`")
    word = f"**{outcome.outcome}**" if bold else outcome.outcome
    return f"{word}: {'; '.join(parts)}" if parts else word


def write_figure(figure: Any) -> str:
    """Return a figure as text: counts in full, other numbers with two digits."""
    if isinstance(figure, int):
        return f"{figure:,}"
    return f"{figure:.2g}" if isinstance(figure, float) else str(figure)


if __name__ == "__main__":
    sys.exit(main())
