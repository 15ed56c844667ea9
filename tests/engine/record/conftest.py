import os
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode

from recipe_gallery.record.environment import pass_on
from recipe_gallery.record.run.remains import run_folder
from recipe_gallery.record.run.supervise import CellToRun, Run, run_recipe


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., NotebookNode]:
    """Runs cells in a kernel and returns them with their outputs."""

    def run(*cells: str, **changes: object) -> NotebookNode:
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
            return run_recipe(ran)

    return run
