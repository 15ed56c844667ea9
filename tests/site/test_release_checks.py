import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.gallery import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import release_checks
from release_checks import Check, Outcome, Run

PROGRAM = ROOT / "benchmarks/release_checks.py"
ENDINGS = """
import json, os, subprocess, sys, time
name, answer = sys.argv[1:]
if name == "wrong":
    with open(answer, "w") as file:
        json.dump({"outcome": "wrong", "figures": {"error": 0.5}, "error": None}, file)
elif name == "status":
    print("some noise")
    sys.exit("no driver")
elif name == "signal":
    os.kill(os.getpid(), 11)
elif name == "slow":
    subprocess.run([sys.executable, "-c", "import time; time.sleep(60)"])
elif name == "environment":
    with open(answer, "w") as file:
        caches = {key: os.environ[key] for key in ("TORCHINDUCTOR_CACHE_DIR", "SWITCH")}
        json.dump({"outcome": "right", "figures": caches, "error": None}, file)
"""


def make_run(version: str, **outcomes: Outcome) -> Run:
    return Run(
        torch=version,
        gpu="NVIDIA H200",
        driver="580.1",
        python="3.12.3",
        date="2026-11-28",
        outcomes=outcomes,
    )


def start(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, PROGRAM, *arguments],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def experiments(tmp_path: Path) -> Path:
    path = tmp_path / "experiments.py"
    path.write_text(ENDINGS)
    return path


def test_each_check_has_an_experiment() -> None:
    tree = ast.parse((ROOT / "benchmarks/release_experiments.py").read_text(encoding="utf-8"))
    functions = [part for part in tree.body if isinstance(part, ast.FunctionDef)]
    experiments = {
        function.name for function in functions if ast.unparse(function.args) == "figures: Figures"
    }
    assert sorted(check.name for check in release_checks.load_checks()) == sorted(experiments)


def test_a_check_answers_with_outcome_and_figures(experiments: Path) -> None:
    outcome = release_checks.run_check(Check(name="wrong", question=""), 20, experiments)
    assert (outcome.outcome, outcome.figures) == ("wrong", {"error": 0.5})


def test_a_check_has_its_environment_and_caches_of_its_own(experiments: Path) -> None:
    check = Check(name="environment", question="", environment={"SWITCH": "0"})
    figures = release_checks.run_check(check, 20, experiments).figures
    assert figures["SWITCH"] == "0"
    assert not Path(figures["TORCHINDUCTOR_CACHE_DIR"]).exists()


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("status", "ended with status 1: no driver"),
        ("signal", "ended with signal 11"),
        ("slow", "not done after 1 s"),
    ],
)
def test_a_check_that_does_not_answer_is_an_error(experiments: Path, name: str, error: str) -> None:
    outcome = release_checks.run_check(Check(name=name, question=""), 1, experiments)
    assert (outcome.outcome, outcome.error) == ("error", error)


def test_no_check_starts_when_the_time_of_all_is_over() -> None:
    checks = [Check(name="kept_results_by_default", question="")]
    outcome = release_checks.run_checks(checks, 1, seconds=0)["kept_results_by_default"]
    assert outcome.error == "not started: the time of all checks was over"


def test_the_document_has_a_column_for_each_release() -> None:
    checks = [
        Check(name="kept", question="Is it kept?"),
        Check(name="loaded", question="Does it load?"),
    ]
    new = make_run(
        "2.15.0+cu132",
        kept=Outcome(outcome="right", figures={"largest error": 0.00123, "bytes": 62914560}),
        loaded=Outcome(outcome="not in this release", error="no load"),
    )
    old = make_run("2.9.1", kept=Outcome(outcome="error", error="RuntimeError: a | b `c`"))
    text = release_checks.draw(checks, [new, old])
    assert "| Check | What is asked | PyTorch 2.9 | PyTorch 2.15 |" in text
    kept = "**right**: largest error 0.0012; bytes 62,914,560"
    error = "**error**: `RuntimeError: a \\| b 'c'`"
    assert f"| `kept` | Is it kept? | {error} | {kept} |" in text
    assert "| Does it load? | not run | **not in this release**: `no load` |" in text
    assert "| 2.15.0+cu132 | NVIDIA H200 | 580.1 | 3.12.3 | 2026-11-28 |" in text


def test_outcomes_that_differ_between_runs_are_counted() -> None:
    checks = [Check(name="kept", question="Is it kept?")]
    outcomes = [Outcome(outcome=word) for word in ("right", "wrong", "right")]
    runs = [make_run("2.15.0", kept=outcome) for outcome in outcomes]
    text = release_checks.draw(checks, runs)
    assert "| **right** (of 3 runs: right in 2, wrong in 1) |" in text


def test_runs_are_added_to_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    runs = [make_run("2.11.0", kept=Outcome(outcome="right", figures={"bytes": 1}, seconds=2.5))]
    release_checks.write_runs(path, runs)
    assert release_checks.read_runs(path) == runs
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("text", ["[", "{}", '[{"torch": "2.11.0"}]', "[3]"])
def test_a_broken_file_of_runs_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runs.json"
    path.write_text(text)
    done = start("--write", "--runs", str(path), "--report", str(tmp_path / "report.md"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"release_checks: {path} is not a list of runs")
    assert len(done.stderr.splitlines()) == 1
    assert path.read_text() == text


def test_the_program_draws_the_document(tmp_path: Path) -> None:
    runs, report = tmp_path / "runs.json", tmp_path / "report.md"
    outcome = Outcome(outcome="right", figures={"largest error": 0.0})
    release_checks.write_runs(runs, [make_run("2.15.0", calls_from_two_threads=outcome)])
    done = start("--write", "--runs", str(runs), "--report", str(report))
    assert (done.returncode, done.stderr) == (0, "")
    assert "`calls_from_two_threads` | Can a second thread" in report.read_text(encoding="utf-8")


@pytest.mark.slow
def test_without_a_gpu_it_ends_in_one_line(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    path = tmp_path / "runs.json"
    done = start("--runs", str(path))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].endswith("run the checks on a CUDA GPU")
    assert not path.exists()


def test_a_folder_that_is_missing_is_seen_before_checks_run(tmp_path: Path) -> None:
    done = start("--runs", str(tmp_path / "missing/runs.json"))
    assert done.returncode == 1
    expected = f"release_checks: {tmp_path / 'missing'} is no folder; make it first, for --runs\n"
    assert done.stderr == expected


def test_without_runs_there_is_nothing_to_draw(tmp_path: Path) -> None:
    done = start("--write", "--runs", str(tmp_path / "runs.json"))
    assert done.returncode == 1
    assert "run the checks on a GPU first" in done.stderr
