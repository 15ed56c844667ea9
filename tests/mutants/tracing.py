"""Which functions of the engine a test calls, also in the processes that it starts.

The tracer appends a line to a file whenever a test calls a function for the first time. Processes
that a test starts find ``sitecustomize.py`` in the copy of the repository, and do the same.
"""

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

CUSTOMIZE = """\
import sys
sys.path.append({folder!r})
try:
    import tracing
    tracing.follow({copy!r})
except Exception:
    pass
finally:
    sys.path.remove({folder!r})
"""


def install(copy: Path) -> None:
    """Make processes that run in a copy tell what they call, while a test is named."""
    text = CUSTOMIZE.format(folder=str(copy / "tests/mutants"), copy=str(copy))
    copy.joinpath("sitecustomize.py").write_text(text)


class _Calls:
    def __init__(self, copy: Path, test: str) -> None:
        self.test = test
        self.seen: set[tuple[str, int]] = set()
        self.folder = f"{copy}/recipe_gallery/"
        self.start = len(f"{copy}/")
        self.file = (copy / "calls.txt").open("a", buffering=1)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        place = (code.co_filename, code.co_firstlineno)
        if place not in self.seen and code.co_filename.startswith(self.folder):
            self.seen.add(place)
            self.file.write(f"{self.test}\t{place[0][self.start :]}:{place[1]}\n")


def follow(copy: str) -> None:
    """Trace this process, if a test of a traced run has started it."""
    now = Path(copy, "test_now.txt")
    if now.exists() and (test := now.read_text()):
        _set(_Calls(Path(copy), test))


def _set(calls: _Calls | None) -> None:
    sys.settrace(calls)  # type: ignore[arg-type]
    threading.settrace(calls)  # type: ignore[arg-type]


class Tracer:
    """A plugin of pytest that notes calls, durations and outcomes of tests."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self.failed = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test with its fixtures."""
        self.failed = False
        self.copy.joinpath("test_now.txt").write_text(item.nodeid)
        _set(_Calls(self.copy, item.nodeid))
        start = time.monotonic()
        try:
            return (yield)
        finally:
            seconds = time.monotonic() - start
            _set(None)
            self.copy.joinpath("test_now.txt").unlink()
            with (self.copy / "calls.txt").open("a") as file:
                file.write(f"{item.nodeid}\t{seconds:.3f}\t{int(not self.failed)}\n")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed, or was left out."""
        self.failed |= report.failed or report.skipped


def read(copy: Path) -> dict[str, dict[str, Any]]:
    """Return what was noted in a copy, by test."""
    tests: dict[str, dict[str, Any]] = {}
    calls: dict[str, list[str]] = {}
    for line in (copy / "calls.txt").read_text().splitlines():
        name, *rest = line.split("\t")
        if len(rest) == 2:
            tests[name] = {"seconds": float(rest[0]), "passed": rest[1] == "1"}
        else:
            calls.setdefault(name, []).append(rest[0])
    return {name: test | {"functions": calls.get(name, [])} for name, test in tests.items()}
