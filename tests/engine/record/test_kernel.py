"""How a run tells what is wrong, without running anything."""

import asyncio
import signal
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.run.kernel import Execution, indent
from recipe_gallery.record.run.outputs.cleaner import Cleaner
from recipe_gallery.record.run.supervise import CellToRun, KernelDiedError, Run

CELL = CellToRun(number=2, line=7, code="x", raises=None)
FAILING = CellToRun(number=2, line=7, code="x", raises="KeyError")
ERROR = nbformat.v4.new_output("error", ename="KeyError", evalue="'k'\n^", traceback=["TB"])


def make_run(**changes: Any) -> Run:
    values = {
        "recipe": Path("a.py"),
        "file": Path("/gallery/a.py"),
        "cells": (CELL,) * 3,
        "folder": Path("/no/folder"),
        "environment": {},
        "drop": (),
        "secrets": (),
        "cell_timeout": 20.0,
        "deadline": 100.0,
        "output_limit": 2.5,
    }
    return Run(**values | changes)


class Collector:
    """Ends each cell in ``error``, after it printed a line; the kernel ended in ``code``."""

    def __init__(self, error: Exception | None, outputs: list[Any], code: int, left: float) -> None:
        self.error = error
        self.outputs = outputs
        self.left = left
        self.refused: GalleryError | None = None
        self.kernel = SimpleNamespace(process=SimpleNamespace(wait=lambda: code))

    async def async_execute_cell(self, node: nbformat.NotebookNode, index: int) -> None:
        assert index == 1
        node.outputs = [nbformat.v4.new_output("stream", text="so far\n"), *self.outputs]
        if self.error:
            raise self.error


def execute(
    error: Exception | None = None,
    cell: CellToRun = CELL,
    outputs: tuple[Any, ...] = (),
    code: int = 0,
    left: float = 1,
    refused: GalleryError | None = None,
    **changes: Any,
) -> tuple[Collector, nbformat.NotebookNode]:
    collector = Collector(error, list(outputs), code, left)
    collector.refused = refused
    node = nbformat.v4.new_code_cell()
    cleaner = Cleaner(hidden=[])
    execution = Execution(run=make_run(**changes), collector=collector, cleaner=cleaner)
    asyncio.run(execution._execute_cell(cell, node))
    return collector, node


def end_in(error: Exception | None, *arguments: Any, **changes: Any) -> GalleryError:
    """Return the error of a cell whose execution ends in ``error`` after it printed a line."""
    with pytest.raises(GalleryError) as caught:
        execute(error, *arguments, **changes)
    assert (caught.value.path, caught.value.line) == (Path("a.py"), 7)
    assert caught.value.text.startswith("cell 2 of 3 ")
    assert "\n" not in caught.value.text
    return caught.value


def test_a_cell_runs_while_any_time_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "time_left", lambda _run: 0.5)
    _collector, node = execute()
    assert node.outputs[0].text == "so far\n"


def test_time_left_counts_from_the_start() -> None:
    assert 89 < make_run(started=time.monotonic() - 10).time_left() <= 90
    assert make_run(started=time.monotonic() - 200).time_left() < 0


@pytest.mark.parametrize(
    ("error", "changes", "text", "remedy"),
    [
        (
            CellTimeoutError("late"),
            {},
            "cell 2 of 3 ran out of time (sphinx_gallery_cell_timeout = 20 s)",
            "make it do less or raise the limit in the recipe\n    so far",
        ),
        (
            CellTimeoutError("late"),
            {"deadline": 19.0},
            "cell 2 of 3 ran out of time (sphinx_gallery_deadline = 19 s)",
            "make it do less or raise the limit in the recipe\n    so far",
        ),
        (
            None,
            {"deadline": 0.0},
            "cell 2 of 3 ran out of time (sphinx_gallery_deadline = 0 s)",
            "make it do less or raise the limit in the recipe",
        ),
        (
            CellExecutionError("", "KeyError", "'k'"),
            {},
            "cell 2 of 3 failed: KeyError: 'k'",
            "mend the recipe\n    so far",
        ),
        (
            CellExecutionError(
                "trace\n\x1b[31mRecursionError\x1b[39m: too deep", "NoneType", "None"
            ),
            {},
            "cell 2 of 3 failed: RecursionError: too deep",
            "mend the recipe\n    so far",
        ),
        (
            CellExecutionError("", "ModuleNotFoundError", "No module named 'a'"),
            {},
            "cell 2 of 3 failed: ModuleNotFoundError: No module named 'a'",
            "install what recipes need\n    so far",
        ),
        (
            CellExecutionError("", "SystemExit", "0"),
            {},
            "cell 2 of 3 ended with SystemExit(0)",
            "a recipe runs to its end: print why a part is left out instead\n    so far",
        ),
        (
            CellExecutionError("", "KeyboardInterrupt", ""),
            {},
            "cell 2 of 3 ended with KeyboardInterrupt()",
            "a recipe runs to its end: print why a part is left out instead\n    so far",
        ),
    ],
)
def test_a_cell_that_fails_says_why_and_what_to_do(
    error: Exception | None, changes: dict[str, Any], text: str, remedy: str
) -> None:
    told = end_in(error, **changes)
    assert (told.text, told.remedy) == (text, remedy)
    assert not isinstance(told, KernelDiedError)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "the kernel's process ended with exit status 0"),
        (3, "the kernel's process ended with exit status 3"),
        (-signal.SIGTERM, "the kernel's process ended by signal SIGTERM (Terminated)"),
        (-signal.SIGSEGV, "the kernel's process ended by signal SIGSEGV (Segmentation fault)"),
        (-35, "the kernel's process ended by signal 35"),
    ],
)
def test_a_kernel_that_ends_itself_says_how_and_is_not_tried_again(code: int, text: str) -> None:
    told = end_in(DeadKernelError("dead"), code=code)
    assert not isinstance(told, KernelDiedError)
    assert told.text == f"cell 2 of 3 ended early: {text}"
    assert told.remedy.startswith("run the recipe as a script to see why")


def test_a_killed_kernel_is_told_apart_for_a_second_try() -> None:
    told = end_in(DeadKernelError("dead"), code=-signal.SIGKILL)
    assert isinstance(told, KernelDiedError)
    assert told.text == "cell 2 of 3 ended early: the kernel was killed or ran out of memory"
    assert told.remedy == "try a smaller size or free memory\n    so far"


def test_a_kernel_that_was_ended_for_what_it_showed_gets_no_second_try() -> None:
    refused = GalleryError("published wrong rows", remedy="mend them")
    told = end_in(DeadKernelError("dead"), code=-signal.SIGKILL, refused=refused)
    assert not isinstance(told, KernelDiedError)
    assert (told.text, told.remedy) == (
        "cell 2 of 3 published wrong rows",
        "mend them\n    so far",
    )


def test_where_a_kernel_crashed_is_shown(tmp_path: Path) -> None:
    first = ["Fatal Python error: Segmentation fault", "", "Thread 1:", "  other", ""]
    lines = [*first, "Current thread 2:", *(f"  line {n}" for n in range(20))]
    (tmp_path / "crash").write_text("\n".join(lines))
    told = end_in(DeadKernelError("dead"), code=-signal.SIGSEGV, folder=tmp_path)
    shown = ["so far", "Fatal Python error: Segmentation fault", *(f"  line {n}" for n in range(5))]
    assert told.remedy.partition("\n    ")[2].split("\n    ") == shown


@pytest.mark.parametrize("counted_by_the_kernel", [True, False])
def test_a_kernel_that_ends_for_too_much_output_is_not_tried_again(
    tmp_path: Path, counted_by_the_kernel: bool
) -> None:
    if counted_by_the_kernel:
        (tmp_path / "output_limit").touch()
    left = 0 if counted_by_the_kernel else -1
    told = end_in(DeadKernelError("dead"), code=-signal.SIGKILL, left=left, folder=tmp_path)
    assert not isinstance(told, KernelDiedError)
    expected = "cell 2 of 3 printed and showed more than 2.5 MB (output_limit in recording.toml)"
    assert told.text == expected
    assert told.remedy == "print and show less or raise the limit\n    so far"


def test_what_no_notebook_can_hold_is_told() -> None:
    told = end_in(GalleryError("shows a number", remedy="show text"))
    assert (told.text, told.remedy) == ("cell 2 of 3 shows a number", "show text\n    so far")


def test_an_error_that_is_shown_after_the_cell_is_a_failure() -> None:
    told = end_in(None, outputs=[ERROR])
    assert told.text == "cell 2 of 3 showed an error: KeyError: 'k' ^"
    assert told.remedy == "mend the recipe\n    so far\n    TB"


def test_a_cell_has_to_end_in_the_exception_it_names() -> None:
    told = end_in(None, FAILING)
    assert told.text == "cell 2 of 3 should end in KeyError but ended in no exception"
    assert told.remedy == "correct the code or its line '# sphinx_gallery_raises'\n    so far"
    told = end_in(None, FAILING, outputs=[ERROR, ERROR])
    assert told.text.endswith("should end in KeyError but ended in ['KeyError', 'KeyError']")


def test_a_cell_that_ends_in_the_exception_it_names_is_right() -> None:
    _, node = execute(None, FAILING, outputs=[ERROR])
    assert "recording" in node.metadata


def test_the_seconds_of_a_cell_are_kept() -> None:
    collector, node = execute(cell_timeout=20.5)
    assert collector.timeout == collector.iopub_timeout == 21
    assert node.metadata["recording"] == {"seconds": 0.0}
    collector, _ = execute(deadline=3.0)
    assert collector.timeout == 3


def test_an_error_shows_the_end_of_what_was_printed() -> None:
    many = nbformat.v4.new_output("stream", text="".join(f"line {n}\n" for n in range(1000)))
    long = nbformat.v4.new_output("stream", name="stderr", text="x" * 10_000)
    shown = end_in(GalleryError(""), outputs=[many, long]).remedy.splitlines()
    assert shown[1] == "    ... (942 lines before)"
    assert shown[2:] == [*(f"    line {n}" for n in range(941, 1000)), "    " + "x" * 400]


def test_an_error_shows_its_traceback_line_by_line() -> None:
    output = nbformat.v4.new_output("error", ename="E", evalue="", traceback=["one\ntwo", "three"])
    shown = end_in(CellExecutionError("", "E", ""), outputs=[output]).remedy
    assert shown == "mend the recipe\n    so far\n    one\n    two\n    three"


def test_a_long_error_is_cut() -> None:
    told = end_in(CellExecutionError("", "KeyError", "x" * 1000))
    assert told.text == f"cell 2 of 3 failed: KeyError: {'x' * 390}..."
    told = end_in(CellExecutionError("", "KeyError", "x" * 390))
    assert told.text == f"cell 2 of 3 failed: KeyError: {'x' * 390}"


def test_few_lines_are_shown_as_they_are() -> None:
    assert indent(["a"] * 60) == "\n    a" * 60
    assert indent([]) == ""
