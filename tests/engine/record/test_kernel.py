"""How a run tells what is wrong, without running anything."""

import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recipe import Cell, Recipe
from recipe_gallery.record.run.kernel import KernelDiedError, Run
from recipe_gallery.record.run.outputs import Cleaner

CELL = Cell(number=2, line=7, source="x", code="x")


def make_run(**changes: Any) -> Run:
    recipe = Recipe(
        path=Path("a.py"),
        name="a",
        title="A",
        summary="",
        blocks=(),
        cells=(CELL,) * 3,
        settings={},
    )
    values = {
        "recipe": recipe,
        "scratch": Path("/scratch"),
        "environment": {},
        "cleaner": Cleaner(hidden=[]),
        "cell_timeout": 20.0,
        "deadline": 100.0,
        "on_cell": lambda number: None,
    }
    return Run(**values | changes)


def end_in(error: Exception | None, cell: Cell = CELL, **changes: Any) -> GalleryError:
    """Return the error of a cell whose execution ends in ``error`` after it printed a line."""
    node = nbformat.v4.new_code_cell()
    node.outputs = [nbformat.v4.new_output("stream", text="so far\n")]

    def execute_cell(node: object, index: int) -> None:
        assert index == 1
        if error:
            raise error

    run = make_run(**changes)
    with pytest.raises(GalleryError) as caught:
        run._execute_cell(SimpleNamespace(execute_cell=execute_cell), cell, node)
    assert (caught.value.path, caught.value.line) == (Path("a.py"), 7)
    return caught.value


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
            "make it do less or raise the limit in the recipe\n    so far",
        ),
        (
            CellExecutionError("", "KeyError", "'k'"),
            {},
            "cell 2 of 3 failed: KeyError: 'k'",
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


def test_a_dead_kernel_is_told_apart_for_a_second_try() -> None:
    told = end_in(DeadKernelError("dead"))
    assert isinstance(told, KernelDiedError)
    assert told.text == "cell 2 of 3 ended early: the kernel was killed or ran out of memory"
    assert told.remedy == "try a smaller size or free memory\n    so far"


def test_a_cell_has_to_end_in_the_exception_it_names() -> None:
    failing = Cell(number=2, line=7, source="x", code="x", raises="KeyError")
    told = end_in(None, failing)
    assert told.text == "cell 2 of 3 should end in KeyError but ended in no exception"
    assert told.remedy == "correct the code or its line '# sphinx_gallery_raises'\n    so far"


def test_a_cell_that_ends_in_the_exception_it_names_is_right() -> None:
    node = nbformat.v4.new_code_cell()
    node.outputs = [nbformat.v4.new_output("error", ename="KeyError", evalue="", traceback=[])]
    client = SimpleNamespace(execute_cell=lambda node, index: None)
    failing = Cell(number=2, line=7, source="x", code="x", raises="KeyError")
    make_run()._execute_cell(client, failing, node)
    assert "recording" in node.metadata


def test_the_seconds_of_a_cell_are_kept() -> None:
    node = nbformat.v4.new_code_cell()
    client = SimpleNamespace(execute_cell=lambda node, index: None)
    make_run(cell_timeout=20.5)._execute_cell(client, CELL, node)
    assert client.timeout == 21
    assert node.metadata["recording"] == {"seconds": 0.0}
    make_run(deadline=3.0)._execute_cell(client, CELL, node)
    assert client.timeout == 3
