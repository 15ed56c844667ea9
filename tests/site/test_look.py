"""The first look at an iteration, which the recipes show."""

import importlib.util
import types
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow  # imports PyTorch

SOURCE = Path(__file__).parents[2] / "recipes_source/_look.py"


@pytest.fixture
def module() -> Any:
    spec = importlib.util.spec_from_file_location("_look", SOURCE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Job:
    """An iteration, slower in the first calls, and the clock that sees it."""

    def __init__(self, *, slow_calls: int) -> None:
        self.now, self.calls, self.slow_calls = 50.0, 0, slow_calls

    def iteration(self) -> None:
        self.calls += 1
        self.now += 1.0 if self.calls <= self.slow_calls else 0.00845


@pytest.fixture
def job(module: Any, monkeypatch: pytest.MonkeyPatch) -> Job:
    job = Job(slow_calls=10)
    monkeypatch.setattr(module.time, "perf_counter", lambda: job.now)
    return job


def make_event(device: str, microseconds: float, *, annotation: bool = False) -> Any:
    return types.SimpleNamespace(
        device_type=types.SimpleNamespace(name=device),
        is_user_annotation=annotation,
        time_range=types.SimpleNamespace(elapsed_us=lambda: microseconds),
    )


class Report:
    """What the profiler saw, as a context."""

    def __init__(self, events: list[Any]) -> None:
        self.events = lambda: events

    def __enter__(self) -> "Report":
        return self

    def __exit__(self, *_error: object) -> None:
        pass


@pytest.mark.parametrize(
    ("kernels", "busy"), [([1000.0, 859.0], "22"), ([8400.0], "99"), ([9000.0], "100")]
)
def test_look_tells_the_time_and_how_busy_the_gpu_is(
    module: Any,
    job: Job,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    kernels: list[float],
    busy: str,
) -> None:
    events = [make_event("CUDA", microseconds) for microseconds in kernels]
    events += [make_event("CPU", 5000.0), make_event("CUDA", 8000.0, annotation=True)]
    monkeypatch.setattr(module.torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(module.torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(module, "profile", lambda **_options: Report(events))
    module.look(job.iteration, calls=10)
    assert capsys.readouterr().out == f"8.45 ms per iteration, GPU busy {busy} %\n"
    assert job.calls == 21


def test_without_a_gpu_look_tells_the_time_alone(
    module: Any, job: Job, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module.torch.cuda, "is_available", lambda: False)
    module.look(job.iteration, calls=10)
    assert capsys.readouterr().out == "8.45 ms per iteration\n"
