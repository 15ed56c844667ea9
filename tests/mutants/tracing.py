"""Which functions of the engine a test calls, also in the processes that it starts.

The tracer appends a line to a file whenever a test calls a function for the first time. Processes
that a test starts find ``sitecustomize.py`` in the copy of the repository, and do the same. What a
fixture calls that several tests share is what each of them calls.
"""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

CUSTOMIZE = """\
import sys

def trace():
    sys.path.append({folder!r})
    try:
        import tracing
        tracing.follow({copy!r})
    except Exception:
        pass
    finally:
        sys.path.remove({folder!r})

trace()
"""


def install(copy: Path) -> None:
    """Make processes that run in a copy tell what they call, while a test is named."""
    text = CUSTOMIZE.format(folder=str(copy / "tests/mutants"), copy=str(copy))
    copy.joinpath("sitecustomize.py").write_text(text)


class _Calls:
    def __init__(self, copy: Path, caller: str) -> None:
        self.caller = caller
        self.seen: dict[int, CodeType] = {}  # kept, so that no other gets the same id
        self.folder = f"{copy}/recipe_gallery/"
        self.start = len(f"{copy}/")
        self.file = (copy / "calls.txt").open("a", buffering=1)

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if id(code) in self.seen:
            return
        self.seen[id(code)] = code
        if code.co_filename.startswith(self.folder):
            place = f"{code.co_filename[self.start :]}:{code.co_firstlineno}"
            self.file.write(f"call\t{self.caller}\t{place}\n")


def follow(copy: str) -> None:
    """Trace this process, if a test of a traced run has started it."""
    now = Path(copy, "test_now.txt")
    if now.exists() and (caller := now.read_text()):
        _set(_Calls(Path(copy), caller))


def _set(calls: _Calls | None) -> None:
    sys.settrace(calls)  # type: ignore[arg-type]
    threading.settrace(calls)  # type: ignore[arg-type]


def _forget() -> None:
    """Empty what functions of the engine keep for the life of a process, which is one mutant."""
    for name, module in list(sys.modules.items()):
        if name.startswith("recipe_gallery"):
            for each in vars(module).values():
                if hasattr(each, "cache_clear"):
                    each.cache_clear()
    if recipe := sys.modules.get("recipe_gallery.recipes.recipe"):
        recipe.PARSED.clear()


class Tracer:
    """A plugin of pytest that notes calls, seconds of computing and outcomes of tests."""

    def __init__(self, copy: Path) -> None:
        self.copy = copy
        self.failed = False
        self.now: _Calls | None = None

    @contextmanager
    def _tracing(self, caller: str) -> Iterator[None]:
        before, self.now = self.now, _Calls(self.copy, caller)
        named = self.copy / "test_now.txt"
        named.write_text(caller)
        _set(self.now)
        try:
            yield
        finally:
            self.now = before
            named.write_text(before.caller if before else "")
            _set(before)

    def _note(self, *words: str) -> None:
        with (self.copy / "calls.txt").open("a") as file:
            file.write("\t".join(words) + "\n")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace one test with its own fixtures."""
        self.failed = False
        _forget()
        start = sum(os.times()[:4])
        with self._tracing(item.nodeid):
            result = yield
        self._note("test", item.nodeid, f"{sum(os.times()[:4]) - start:.3f}", str(not self.failed))
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(
        self, fixturedef: pytest.FixtureDef[Any], request: pytest.FixtureRequest
    ) -> Iterator[object]:
        """Trace a fixture that several tests share under its own name."""
        if fixturedef.scope == "function":
            return (yield)
        with self._tracing(_name(fixturedef)):
            return (yield)

    @pytest.hookimpl
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Note which shared fixtures a test uses."""
        used = getattr(item, "_fixtureinfo", None)
        for fixtures in used.name2fixturedefs.values() if used else ():
            if fixtures[-1].scope != "function":
                self._note("uses", item.nodeid, _name(fixtures[-1]))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note that a test failed, or was left out."""
        self.failed |= report.failed or report.skipped


def _name(fixture: pytest.FixtureDef[Any]) -> str:
    return f"fixture {fixture.baseid}::{fixture.argname}"


def read(copy: Path) -> dict[str, dict[str, Any]]:
    """Return what was noted in a copy, by test."""
    tests: dict[str, dict[str, Any]] = {}
    called: dict[str, set[str]] = {}
    used: dict[str, set[str]] = {}
    for line in (copy / "calls.txt").read_text().splitlines():
        kind, name, *rest = line.split("\t")
        if kind == "test":
            tests[name] = {"seconds": float(rest[0]), "passed": rest[1] == "True"}
        else:
            (called if kind == "call" else used).setdefault(name, set()).add(rest[0])
    for name, test in tests.items():
        callers = [name, *used.get(name, ())]
        test["functions"] = sorted(set().union(*(called.get(each, ()) for each in callers)))
    return tests
