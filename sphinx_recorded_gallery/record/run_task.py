"""One task: run a recipe, or one of its replicates, in a fresh process and say what it gave."""

import asyncio
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

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
from .explain_failure import KernelDiedError
from .kernel import Run
from .run_environment import Conditions
from .write_recordings import accept

NUMBER = "RECIPE_REPLICATE"  # the variable that tells a recipe which replicate it is; 0: its page


@dataclass(frozen=True, kw_only=True)
class Task:
    """One fresh process of a recipe."""

    file: GalleryFile
    recipe: Recipe
    number: int = 0  # of the replicate; 0 is the run that the page shows

    @property
    def title(self) -> str:
        """How a person is told of it."""
        return f"{self.file.name} replicate {self.number}" if self.number else self.file.name

    @property
    def to_run(self) -> Recipe:
        """What runs: replicates leave out some cells."""
        return self.recipe.for_replicate() if self.number else self.recipe


_UNKNOWN = "unknown"  # in the place of a fingerprint

Result = NotebookNode | Replicate | str  # of a page run, of a replicate; why there is neither


def attempt(task: Task, conditions: Conditions, say: Callable[[str], None]) -> Result:
    """Do a task; whatever goes wrong with it is told in what this returns.

    ``say`` tells a line to a person, also of each cell that starts; it may raise to end the task.
    """
    try:
        return run_task(task, conditions, say)
    except BaseException as error:  # of any kind: other tasks go on
        return describe_error(error, task.title)


def run_task(
    task: Task, conditions: Conditions, say: Callable[[str], None]
) -> NotebookNode | Replicate:
    """Run a task's process and return its recording, or what a replicate measured.

    A kernel that dies gets a second try. Raises ``GalleryError`` if it does not run to its end.
    """
    recipe = task.recipe
    # before it runs: it may change its own files
    fingerprint, inputs = recipe.replicate_fingerprint, recipe.inputs
    states = _module_states(recipe)
    own = conditions.environment | {NUMBER: str(task.number)}
    conditions = replace(conditions, environment=own)
    started = time.monotonic()  # the deadline holds for both tries
    try:
        notebook, seconds = _run_in_scratch(task, conditions, started, say)
    except KernelDiedError as error:
        say(f"{error.describe(Path.cwd())}\ntrying once more")
        notebook, seconds = _run_in_scratch(task, conditions, started, say)
    except GalleryError as error:
        if "failed: NameError" in error.text and len(task.to_run.cells) < len(recipe.cells):
            why = "a replicate leaves out cells with '# sphinx_gallery_once'"
            error.remedy = f"{why}: if one defines the name, unmark it, or {error.remedy}"
        raise
    changed = _changed_modules(recipe, states)
    if changed:
        modules = ", ".join(changed)
        again = f"what it recorded is stale; record it again: {suggest('record', recipe.name)}"
        say(f"{task.title}: {visible_line(modules)} changed while it ran; {again}")
        # nobody knows which code ran: a hash of neither
        fingerprint, inputs = _UNKNOWN, inputs | dict.fromkeys(changed, _UNKNOWN)
    recorded = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    made = {"recorded": recorded, "seconds": round(seconds, 1)}
    if task.number:
        rows = read_rows(notebook, recipe.path)
        if not rows:
            text = f"replicate {task.number} published no rows, though the page's run did"
            remedy = "publish them in a cell that is not '# sphinx_gallery_once'"
            raise GalleryError(text, path=recipe.path, remedy=remedy)
        names = "host", "device", "versions", "commit", "modified"
        facts = {name: conditions.facts[name] for name in names} | made
        return Replicate(fingerprint=fingerprint, replicate=task.number, rows=rows, **facts)
    names = notebook.metadata.pop("names", {})
    for line in accept(recipe, notebook, trusted=task.file.trusted):
        say(line)
    language = {"name": "python", "version": platform.python_version()}
    language |= {"mimetype": "text/x-python", "file_extension": ".py", "pygments_lexer": "ipython3"}
    notebook.metadata.update(
        kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"},
        language_info=language,
        recording={
            "schema": SCHEMA,
            "recipe": recipe.name,
            "cells": [cell.fingerprint for cell in recipe.cells],
            "inputs": inputs,
            **({"names": names} if names else {}),
            **conditions.facts,
            **made,
        },
    )
    return nbformat.from_dict(notebook)


def _module_states(recipe: Recipe) -> dict[str, tuple[int, int] | None]:
    """Return time and size of each module that a recipe imports from its folder."""
    modules = [name for name in recipe.inputs if name.endswith(".py")]
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
    """Run a task in an empty folder; return its notebook and the seconds."""
    recipe = task.to_run
    with run_folder() as folder:
        (folder / "work").mkdir()
        for name in recipe.inputs:
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
            ran = time.monotonic() - began
            say(f"{task.title}: cell {number} of {len(recipe.cells)}, {ran:.0f} s")

        notebook = asyncio.run(run.execute(on_cell))
        return notebook, time.monotonic() - began
