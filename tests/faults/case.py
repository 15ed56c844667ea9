"""One fault, and whether the commands end as they have to."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
import psutil

from .bench import Bench, Done, make_bench, old_recording

LARGEST = 100_000_000  # bytes of a recording: what hosts of repositories take
Look = Callable[[Bench, Done], Iterable[str]]
Holds = Callable[[Any], Iterable[str]]


class NotRunError(Exception):
    """This machine cannot inject the fault; never counted as right."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One fault; ``faulty`` is the recipe that it hits, ``neighbour`` one that comes after it.

    ``ends`` says how: ``recorded`` is exit status 0 and a whole recording, ``refused`` exit
    status 1, one line and the old recording untouched, ``either`` one of both, and ``stopped`` one
    line because nothing can be recorded at all. ``interrupted`` is exit status 130 and one line,
    ``killed`` a recorder that could say nothing more, ``any`` all recipes with or without the fault:
    each recording is whole or the old one.
    """

    name: str
    kind: str  # such as A1: letter and number of what it shows
    injects: str
    ends: str
    code: str = "print('fine')"
    source: str | bytes | None = None  # the whole text of faulty.py, in place of code
    files: Mapping[str, str | bytes] = field(default_factory=dict)  # by path in the gallery
    settings: Mapping[str, object] = field(default_factory=dict)  # of conf.py
    environment: Mapping[str, str] = field(default_factory=dict)
    wrap: tuple[str, ...] = ()  # put in front of the command
    arguments: tuple[str, ...] = ("record", "--device", "cpu")
    below: str = "b"  # name of the folder around the gallery
    prepare: Callable[[Bench], object] | None = None
    during: Callable[[Bench, subprocess.Popen[bytes]], object] | None = None
    says: str = ""  # what the line of error has to match
    holds: Holds | None = None  # what the recording lacks
    look: Look | None = None  # what else is not right
    pages: bool = False  # build them, too: they and `check` have to agree
    seconds: float = 60
    leaves: tuple[str, ...] = ()  # files that may be left, as patterns
    neighbour: bool = True  # whether it has to be recorded
    noise: bool = False  # whether the fault itself makes Python print warnings

    @property
    def expects(self) -> str:
        """What has to come of it, in words."""
        told = {
            "recorded": "recorded, whole",
            "refused": "one line, old recording kept",
            "either": "recorded whole, or one line",
            "stopped": "one line, nothing done",
            "interrupted": "exit status 130, nothing left",
            "any": "each recording whole or as before",
            "killed": "the next run records and cleans up",
        }[self.ends]
        return f"{told}; page agrees" if self.pages else told


def run_case(case: Case) -> list[str]:
    """Inject the fault; return what is not as it has to be. Raises ``NotRunError``."""
    with make_bench(case.settings, case.below) as bench:
        if case.source is None:
            bench.add("faulty", case.code)
        else:
            bench.write("recipes_source/faulty.py", case.source)
        bench.add("neighbour", "print('a neighbour')")
        for name, content in case.files.items():
            bench.write(name, content)
        (bench.recordings / "faulty.ipynb").write_bytes(old_recording())
        filled = {
            name: value.replace("ROOT", str(bench.root)) for name, value in case.environment.items()
        }
        bench.environment |= filled
        bench.wrap = [word.replace("ROOT", str(bench.root)) for word in case.wrap]
        if case.prepare:
            case.prepare(bench)
        bench.before, old = bench.files(), _content(bench.recordings / "faulty.ipynb")
        done = bench.run(*case.arguments, seconds=case.seconds, during=case.during)
        return [*_judge(case, bench, done, old)]


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _judge(case: Case, bench: Bench, done: Done, old: bytes | None) -> Iterator[str]:
    if done.status is None:
        yield f"not ended after {case.seconds:g} s"
    if not case.noise:
        yield from (f"prints: {line!r}" for line in done.surprises[:1])
    if case.ends != "killed":  # then the next run has to remove them
        yield from left_behind(bench, case.leaves)
    if len(done.err) > 500_000:
        yield f"{len(done.err):,} characters of messages"
    if case.ends in ("interrupted", "killed"):
        yield from _judge_interruption(case, bench, done, old)
    else:
        yield from _judge_end(case, bench, done, old)
    if case.look:
        yield from case.look(bench, done)
    if case.ends in ("recorded", "refused", "either") or case.pages:
        yield from _judge_check(case, bench)


def left_behind(bench: Bench, allowed: Sequence[str] = ()) -> Iterator[str]:
    """Tell processes and files that should be gone."""
    left = []
    for process in bench.left_processes():
        with contextlib.suppress(psutil.Error):
            left.append(f"{process.pid} {' '.join(process.cmdline())[:80]}")
    if left:
        yield f"{len(left)} processes left: {left[0]}"
    files = bench.left_files(allowed)
    if files:
        yield f"{len(files)} files left: {', '.join(files[:3])}"


def _judge_interruption(case: Case, bench: Bench, done: Done, old: bytes | None) -> Iterator[str]:
    if case.ends == "interrupted" and done.status not in (
        130,
        -signal.SIGINT,
        None,
    ):  # 130 to a shell
        yield f"exit status {done.status} instead of 130"
    if case.ends == "interrupted" and not re.search("(?m)^interrupted", done.err):
        yield f"does not say that it was interrupted: {done.err[-200:]}"
    if case.ends == "killed" and (done.status is None or done.status >= 0):
        yield f"ended with {done.status} before it was killed"
    if _content(bench.recordings / "faulty.ipynb") != old:
        yield "the old recording is not what it was"


def _judge_end(case: Case, bench: Bench, done: Done, old: bytes | None) -> Iterator[str]:
    if case.ends == "any":
        if done.status not in (0, 1, None):
            yield f"exit status {done.status}: {done.err[-200:]}"
        path = bench.recordings / "faulty.ipynb"
        if done.status == 0 or _content(path) != old:
            yield from _judge_recording(case, bench, path, old)
        return
    recorded = case.ends == "recorded" or (case.ends == "either" and done.status == 0)
    if case.ends == "stopped" or not recorded:
        if done.status not in (1, None):
            yield f"exit status {done.status} instead of 1"
        if len(done.errors) != 1:
            yield f"{len(done.errors)} lines of error instead of 1: {done.errors[:2] or done.err[-300:]}"
        elif case.says and not re.search(case.says, done.errors[0]):
            yield f"the error does not say {case.says!r}: {done.errors[0][:300]}"
        elif not re.match(r"error: .+; .+", done.errors[0]):
            yield f"no remedy: {done.errors[0][:300]}"
        elif case.ends != "stopped" and "faulty" not in done.errors[0] and not case.says:
            yield f"the error does not name the recipe: {done.errors[0][:300]}"
    elif done.status not in (0, None) or done.errors:
        yield f"exit status {done.status} instead of 0: {done.errors or done.err[-300:]}"
    recording, beside = (bench.recordings / f"{name}.ipynb" for name in ("faulty", "neighbour"))
    if recorded:
        yield from _judge_recording(case, bench, recording, old)
    elif case.ends != "stopped" and _content(recording) != old:
        yield "the old recording is not what it was"
    if case.neighbour and case.ends != "stopped" and not beside.exists():
        yield "the neighbour was not recorded"


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _judge_recording(case: Case, bench: Bench, path: Path, old: bytes | None) -> Iterator[str]:
    if _content(path) in (None, old):
        yield "not recorded"
        return
    if path.stat().st_size > LARGEST:
        yield f"a recording of {path.stat().st_size:,} bytes"
        return
    try:
        json.loads(path.read_text(encoding="utf-8"), parse_constant=_refuse)
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
    except Exception as error:
        yield f"not a valid notebook: {type(error).__name__}: {str(error)[:80]}"
        return
    if case.holds:
        yield from case.holds(notebook)


def _judge_check(case: Case, bench: Bench) -> Iterator[str]:
    """Ask ``check``, and with ``pages`` the build, and compare their answers."""
    bench.wrap = []
    checked = bench.run("check")
    yield from (f"check prints: {line!r}" for line in checked.surprises[:1])
    if checked.status not in (0, 1):
        yield f"check ended with {checked.status}"
    if case.pages:
        built = build(bench)
        yield from (f"html prints: {line!r}" for line in built.surprises[:1])
        if (built.status == 0) != (checked.status == 0):
            told = [line for line in built.err.splitlines() if "arning" in line or "rror" in line]
            yield f"check ended with {checked.status}, html with {built.status}: {told[:2]}"


def build(bench: Bench) -> Done:
    """Build the pages, warnings as errors, as the Makefile does."""
    return bench.run("html", "--", "-W", "-q", seconds=120)


def read_page(bench: Bench, name: str = "faulty", ending: str = ".html") -> str:
    """Return what was built of a recipe; empty if there is nothing."""
    found = sorted(bench.site.glob(f"_build/html/*/recipes/{name}{ending}"))
    return found[0].read_text(encoding="utf-8") if found else ""


def stream(notebook: Any, cell: int = 1) -> str:
    """Return all text that a cell printed."""
    outputs = notebook.cells[cell - 1].outputs
    return "".join(each.text for each in outputs if each.output_type == "stream")


def prints(text: str, cell: int = 1) -> Holds:
    """Ask for exactly this text, printed by a cell."""

    def holds(notebook: Any) -> Iterator[str]:
        found = stream(notebook, cell)
        if found != text:
            yield f"recorded {found[:120]!r} instead of {text[:80]!r}"

    return holds


def contains(*texts: str) -> Holds:
    """Ask for these texts anywhere in the recording."""

    def holds(notebook: Any) -> Iterator[str]:
        whole = repr([cell.outputs for cell in notebook.cells])
        yield from (f"the recording lacks {text!r}" for text in texts if text not in whole)

    return holds


def lacks(*texts: str) -> Holds:
    """Ask for these texts not to be in the recording."""

    def holds(notebook: Any) -> Iterator[str]:
        whole = repr([cell.outputs for cell in notebook.cells])
        yield from (f"the recording has {text!r}" for text in texts if text in whole)

    return holds
