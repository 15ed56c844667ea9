"""One task: run a recipe, or one of its replicates, in a fresh process."""

import asyncio
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ..errors import GalleryError, describe_error, suggest, visible_line
from ..measurements.replicates import Replicate
from ..measurements.rows import read_rows
from ..project import file_state
from ..recipes.find_recipes import GalleryFile
from ..recipes.recipe import Recipe
from ..recipes.recording import SCHEMA
from .cleanup import run_folder
from .explain_failure import KernelDiedError, UndefinedNameError
from .kernel import Run
from .run_environment import Conditions
from .write_recordings import report_left_out

NUMBER = "RECIPE_REPLICATE"  # variable with the number of the replicate; 0 for the page's run


@dataclass(frozen=True, kw_only=True)
class Task:
    """One fresh process of a recipe."""

    file: GalleryFile
    recipe: Recipe
    number: int = 0  # of the replicate; 0 is the run that the page shows

    @property
    def title(self) -> str:
        """Its name in messages."""
        if self.number:
            return f"{self.file.name} replicate {self.number}"
        return self.file.name

    @property
    def to_run(self) -> Recipe:
        """The recipe to run; replicates leave out some cells."""
        if self.number:
            return self.recipe.for_replicate()
        return self.recipe


_UNKNOWN = "unknown"  # in the place of a fingerprint

Result = NotebookNode | Replicate | str  # of a page run; of a replicate; or an error


def attempt(task: Task, conditions: Conditions, say: Callable[[str], None]) -> Result:
    """Run a task; return its result, or any error as text.

    ``say`` prints a line for a person, such as for each cell that starts; it may raise an error to
    end the task.
    """
    try:
        return run_task(task, conditions, say)
    except BaseException as error:  # whatever it is, other tasks go on
        return describe_error(error, task.title)


def run_task(
    task: Task, conditions: Conditions, say: Callable[[str], None]
) -> NotebookNode | Replicate:
    """Run a task and return its recording, or the measurements of a replicate.

    A kernel that dies gets a second try. Raises ``GalleryError`` if the recipe does not run to its
    end.
    """
    recipe = task.recipe
    # Before the run, since a recipe may change its own files:
    fingerprint = recipe.replicate_fingerprint
    inputs = recipe.hash_inputs()
    states = _module_states(recipe)
    environment = conditions.environment | {NUMBER: str(task.number)}
    conditions = replace(conditions, environment=environment)
    started = time.monotonic()  # the deadline applies to both tries together
    try:
        notebook, seconds = _run_in_scratch(task, conditions, started, say)
    except KernelDiedError as error:
        say(f"{error.describe(Path.cwd())}\ntrying once more")
        notebook, seconds = _run_in_scratch(task, conditions, started, say)
    except UndefinedNameError as error:
        if len(task.to_run.cells) == len(recipe.cells):
            raise
        reason = "a replicate leaves out cells with '# sphinx_gallery_once'"
        remedy = f"{reason}: if one defines the name, unmark it, or {error.remedy}"
        raise GalleryError(error.text, path=error.path, line=error.line, remedy=remedy) from None
    changed = _changed_modules(recipe, states)
    if changed:
        modules = ", ".join(changed)
        again = f"what it recorded is stale; record it again: {suggest('record', recipe.name)}"
        say(f"{task.title}: {visible_line(modules)} changed while it ran; {again}")
        # Nobody knows which code ran: the hash is that of neither.
        fingerprint = _UNKNOWN
        inputs = inputs | dict.fromkeys(changed, _UNKNOWN)
    recorded = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    facts = {**conditions.facts, "recorded": recorded, "seconds": round(seconds, 1)}
    if task.number:
        rows = read_rows(notebook, recipe.path)
        if not rows:
            text = f"replicate {task.number} published no rows, though the page's run did"
            remedy = "publish them in a cell that is not '# sphinx_gallery_once'"
            raise GalleryError(text, path=recipe.path, remedy=remedy)
        return Replicate(
            fingerprint=fingerprint,
            replicate=task.number,
            rows=rows,
            host=facts["host"],
            device=facts["device"],
            versions=facts["versions"],
            commit=facts["commit"],
            modified=facts["modified"],
            recorded=facts["recorded"],
            seconds=facts["seconds"],
        )
    names = notebook.metadata.pop("names", {})
    for line in report_left_out(recipe, notebook, trusted=task.file.trusted):
        say(line)
    language = {"name": "python", "version": platform.python_version()}
    language |= {"mimetype": "text/x-python", "file_extension": ".py", "pygments_lexer": "ipython3"}
    recording: dict[str, Any] = {
        "schema": SCHEMA,
        "recipe": recipe.name,
        "cells": [cell.fingerprint for cell in recipe.cells],
        "inputs": inputs,
    }
    if names:
        recording["names"] = names
    notebook.metadata.update(
        kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"},
        language_info=language,
        recording=recording | facts,
    )
    return nbformat.from_dict(notebook)


def _module_states(recipe: Recipe) -> dict[str, tuple[int, int] | None]:
    """Return time and size of each module that a recipe imports from its folder."""
    modules = [name for name in recipe.hash_inputs() if name.endswith(".py")]
    return {name: file_state(recipe.path.parent / name) for name in modules}


def _changed_modules(recipe: Recipe, states: dict[str, tuple[int, int] | None]) -> list[str]:
    """Return which modules are no longer as they were, and which there are now beside them."""
    try:
        now = _module_states(recipe)
    except GalleryError:  # one that is being edited cannot be read
        now = {name: file_state(recipe.path.parent / name) for name in states}
    return [name for name in sorted({*states, *now}) if states.get(name) != now.get(name)]


def _run_in_scratch(
    task: Task, conditions: Conditions, started: float, say: Callable[[str], None]
) -> tuple[NotebookNode, float]:
    """Run a task in an empty folder; return its notebook and the seconds that it took."""
    recipe = task.to_run
    with run_folder() as folder:
        (folder / "work").mkdir()
        for name in recipe.hash_inputs():
            target = folder / "work" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(task.recipe.path.parent / name, target)
        is_to_fail = task.file.expected_to_fail
        run = Run(
            recipe,
            conditions,
            folder,
            started,
            is_to_fail=is_to_fail,
            describes_names=task.file.links_code and not task.number,
        )
        began = time.monotonic()

        def on_cell(number: int) -> None:
            elapsed = time.monotonic() - began
            say(f"{task.title}: cell {number} of {len(recipe.cells)}, {elapsed:.0f} s")

        notebook = asyncio.run(run.execute(on_cell))
        return notebook, time.monotonic() - began
