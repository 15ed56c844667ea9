"""Do one task: run a recipe, or one of its replicates, in a fresh process and say what it gave."""

import platform
import re
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from ...errors import GalleryError, describe_error
from ...recipes.gallery import GalleryFile
from ...recipes.recipe import Recipe
from ...recipes.recording import SCHEMA
from ...recipes.replicates import Replicate
from ...recipes.rows import read_published
from ..machine.conditions import Conditions
from ..run.outputs.acceptance import accept
from ..run.remains import run_folder
from ..run.supervise import KernelDiedError, Run, run_recipe

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
    def kind(self) -> tuple[str, bool]:
        """Which tasks take as long: of the same recipe, page runs or replicates."""
        return self.file.name, self.number > 0

    @property
    def cells(self) -> int:
        """How many cells will run."""
        return len(_recipe_to_run(self).cells)


@dataclass(frozen=True, kw_only=True)
class Failure:
    """Why a task gave nothing: a line, and what its cell printed."""

    text: str


Result = NotebookNode | Replicate | Failure  # of a page run, of a replicate, of either


@dataclass(frozen=True, kw_only=True)
class Ear:
    """Who hears how a task goes."""

    on_start: Callable[[], None]  # the process is about to start, or to start once more
    on_cell: Callable[[int], None]  # this cell starts
    say: Callable[[str], None]  # a line for a person
    is_wanted: Callable[[], bool] = lambda: True  # asked every second; if not, the run is ended


def attempt(task: Task, conditions: Conditions, ear: Ear) -> Result:
    """Do a task; whatever goes wrong with it is told in what this returns."""
    try:
        return do_task(task, conditions, ear)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of any kind: other tasks go on
        return Failure(text=describe_failure(error, task, conditions))


def describe_failure(error: BaseException, task: Task, conditions: Conditions | None = None) -> str:
    """Return what went wrong with a task: a line, and what its cell printed."""
    if not isinstance(error, GalleryError):
        return f"{task.title}: {describe_error(error)}"
    asked = re.search(r"failed: KeyError: '(\w+)'$", error.text)
    if asked and conditions and conditions.withholds(asked[1]):
        error.text += " (it is set here, but recipes get only listed variables)"
        remedy = "add it to inherit under [environment] in recording.toml"
        error.remedy = remedy + "".join(error.remedy.partition("\n")[1:])
    return describe_error(error)


def do_task(task: Task, conditions: Conditions, ear: Ear) -> NotebookNode | Replicate:
    """Run a task's process and return its recording, or what a replicate measured.

    A kernel that dies gets a second try. Raises ``GalleryError`` if it does not run to its end.
    """
    recipe = _recipe_to_run(task)
    code = _describe_code(task)  # before it runs: it may change its own files
    own = conditions.environment | {NUMBER: str(task.number)}
    conditions = replace(conditions, environment=own)
    started = time.monotonic()
    try:
        notebook, seconds = _run_in_scratch(recipe, conditions, ear, started)
    except KernelDiedError as error:
        ear.say(f"{error.describe(Path.cwd())}\ntrying once more")
        notebook, seconds = _run_in_scratch(recipe, conditions, ear, started)
    except GalleryError as error:
        if "failed: NameError" in error.text and len(recipe.cells) < len(task.recipe.cells):
            why = "a replicate leaves out cells with '# sphinx_gallery_once'"
            error.remedy = f"{why}: if one defines the name, unmark it, or {error.remedy}"
        raise
    if task.number:
        return _make_replicate(task, code["fingerprint"], notebook, conditions, seconds)
    for line in accept(recipe.path, recipe.cells, notebook, conditions.settings.output_limit):
        ear.say(line)
    return _make_recording(code, notebook, conditions, seconds)


def _recipe_to_run(task: Task) -> Recipe:
    return task.recipe.for_replicate() if task.number else task.recipe


def _describe_code(task: Task) -> dict[str, Any]:
    """Return what a page run or a replicate is recognised by: the code and the files it uses."""
    if task.number:
        return {"fingerprint": task.recipe.replicate_fingerprint}
    return {
        "schema": SCHEMA,
        "recipe": task.recipe.name,
        "cells": [cell.fingerprint for cell in task.recipe.cells],
        "inputs": task.recipe.inputs,
    }


def _make_recording(
    code: dict[str, Any], notebook: NotebookNode, conditions: Conditions, seconds: float
) -> NotebookNode:
    notebook.metadata.update(
        kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"},
        language_info={
            "name": "python",
            "version": platform.python_version(),
            "mimetype": "text/x-python",
            "file_extension": ".py",
            "pygments_lexer": "ipython3",
        },
        recording={
            **code,
            **conditions.facts,
            "clocks": notebook.metadata.pop("clocks"),
            "recorded": _now(),
            "seconds": round(seconds, 1),
        },
    )
    return nbformat.from_dict(notebook)


def _make_replicate(
    task: Task, fingerprint: str, notebook: NotebookNode, conditions: Conditions, seconds: float
) -> Replicate:
    published = read_published(notebook, task.recipe.path)
    if not published:
        text = f"replicate {task.number} published no rows, though the page's run did"
        remedy = "publish them in a cell that is not '# sphinx_gallery_once'"
        raise GalleryError(text, path=task.recipe.path, remedy=remedy)
    facts = conditions.facts
    return Replicate(
        fingerprint=fingerprint,
        replicate=task.number,
        host=facts["host"],
        device=facts["device"],
        clocks=notebook.metadata["clocks"],
        versions=facts["versions"],
        commit=facts["commit"],
        modified=facts["modified"],
        recorded=_now(),
        seconds=round(seconds, 1),
        published=published,
    )


def _run_in_scratch(
    recipe: Recipe, conditions: Conditions, ear: Ear, started: float
) -> tuple[NotebookNode, float]:
    """Run a recipe in an empty folder; return its notebook and the seconds it took.

    The deadline counts from ``started``, so that it holds for both tries.
    """
    with run_folder() as folder:
        run = Run.of(recipe, conditions, folder, started)
        run.work.mkdir()
        for name in recipe.inputs:
            target = run.work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(recipe.path.parent / name, target)
        ear.on_start()
        began = time.monotonic()
        notebook = run_recipe(run, ear.on_cell, ear.is_wanted)
        return notebook, time.monotonic() - began


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
