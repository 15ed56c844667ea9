import contextlib
import io
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.environment import pass_on
from recipe_gallery.record.machine.gpu import VISIBLE, Gpu
from recipe_gallery.record.run.remains import run_folder
from recipe_gallery.record.run.supervise import CellToRun, Run, run_recipe
from recipe_gallery.record.tasks import task as tasks


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., NotebookNode]:
    """Runs cells in a kernel and returns them with their outputs."""

    def run(
        *cells: str, is_wanted: Callable[[], bool] = lambda: True, **changes: object
    ) -> NotebookNode:
        recipe = tmp_path / "recipe.py"
        with run_folder() as folder:
            values = {
                "recipe": recipe,
                "file": recipe,
                "cells": tuple(
                    CellToRun(number=number, line=10 * number, code=code, raises=None)
                    for number, code in enumerate(cells, 1)
                ),
                "folder": folder,
                "environment": pass_on(os.environ, []),
                "drop": (),
                "secrets": (),
                "cell_timeout": 100.0,
                "deadline": 200.0,
                "output_limit": 5.0,
            }
            ran = Run(**values | changes)
            ran.work.mkdir()
            return run_recipe(ran, is_wanted=is_wanted)

    return run


@pytest.fixture
def _run_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run cells in this process: for tests of what comes before and after, a kernel is too slow.

    It keeps what is printed and what `display` is given, and tells errors as a kernel does.
    """

    def run(started: Run, on_cell: Callable[[int], None], *_others: object) -> NotebookNode:
        notebook = nbformat.v4.new_notebook(metadata={"clocks": {}})
        names: dict[str, Any] = {"__file__": started.recipe.name}
        with monkeypatch.context() as patch:
            patch.chdir(started.work)
            patch.setattr(os, "environ", dict(started.environment))
            for cell in started.cells:
                on_cell(cell.number)
                node = nbformat.v4.new_code_cell(cell.code)
                notebook.cells.append(node)
                shown = node.outputs
                patch.setattr("IPython.display.display", lambda data, raw, to=shown: show(data, to))
                printed = io.StringIO()
                try:
                    with contextlib.redirect_stdout(printed):
                        exec(cell.code, names)
                except Exception as error:
                    place = f"cell {cell.number} of {len(started.cells)}"
                    text = f"{place} failed: {type(error).__name__}: {error}"
                    remedy = "mend the recipe"
                    raise GalleryError(
                        text, path=started.recipe, line=cell.line, remedy=remedy
                    ) from None
                if text := printed.getvalue():
                    shown.append(nbformat.v4.new_output("stream", name="stdout", text=text))
        return notebook

    def show(data: dict[str, Any], outputs: list[NotebookNode]) -> None:
        outputs.append(nbformat.v4.new_output("display_data", data))

    monkeypatch.setattr(tasks, "run_recipe", run)


@pytest.fixture
def _own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep no other test, of this run or another, from the GPU that a test pretends to have."""
    monkeypatch.setattr(Gpu, "lock", property(lambda gpu: tmp_path / f"{gpu.identity}.lock"))


PutTool = Callable[[str, str], Path]


@pytest.fixture
def put_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PutTool:
    """Puts shell scripts in the place of vendors' tools; returns where one keeps what it is asked.

    No tool of this machine is found, and no GPU is chosen.
    """
    folder = tmp_path / "tools"
    folder.mkdir()
    for name in ("sh", "sleep", "cat", "rm"):
        (folder / name).symlink_to(f"/bin/{name}")
    monkeypatch.setenv("PATH", str(folder))
    for name in VISIBLE:
        monkeypatch.delenv(name, raising=False)

    def put(name: str, script: str) -> Path:
        asked = folder / f"{name}.asked"
        program = folder / name
        program.write_text(f'#!/bin/sh\necho "$@" >> {asked}\n{script}\n')
        program.chmod(0o755)
        return asked

    return put
