"""Record recipes: run each one and keep what it printed and drew, where, and when."""

import contextlib
import os
import platform
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nbformat
from filelock import FileLock, Timeout
from nbformat import NotebookNode
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from ..project import GalleryError
from ..recipes.gallery import GalleryFile
from ..recipes.recipe import Recipe, load_recipe
from ..recipes.recording import SCHEMA
from ..recipes.state import Status, inspect_recipe
from . import machine
from .kernel import KernelDiedError, run_recipe
from .outputs import Cleaner
from .settings import Settings, load_settings


@dataclass(frozen=True, kw_only=True)
class Job:
    """What one call of `make record` was asked for."""

    recipes_folder: Path
    recordings_folder: Path
    device: str = "gpu"  # or "cpu"
    force: bool = False  # also recipes whose recording is current
    replace_gpu: bool = False  # let a CPU recording take the place of one made on a GPU
    check: Callable[[NotebookNode, Path], None] | None = None  # recipe_gallery_check_recording


def record(files: Sequence[GalleryFile], job: Job, console: Console) -> bool:
    """Record the recipes that need it, one after another; tell whether all of them succeeded.

    Each finished recording is written at once, so an interruption loses only the recipe in hand.
    Raises ``GalleryError`` if nothing can be recorded at all.
    """
    settings = load_settings(job.recipes_folder)
    job.recordings_folder.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        held.enter_context(_end_when_told())
        held.enter_context(_one_at_a_time(job.recordings_folder / ".lock"))
        todo, failures = _select(files, job, console)
        if todo:
            facts, environment = _prepare(job, settings, console)
            gpu = environment["CUDA_VISIBLE_DEVICES"]
            if gpu:  # for all folders and clones: another recipe on it would distort the times
                lock = Path(tempfile.gettempdir(), f"recipe-gallery-{gpu}.lock")
                held.enter_context(_one_at_a_time(lock))
        for number, recipe in enumerate(todo, 1):
            try:
                with _progress(console, recipe, f"{number} of {len(todo)}") as on_cell:
                    seconds = _record_one(
                        recipe, job, settings, facts, environment, on_cell, console
                    )
            except GalleryError as error:
                failures += 1
                console.print(f"error: {error}", style="red", markup=False, highlight=False)
            else:
                console.print(f"{recipe.name}: recorded in {seconds:.0f} s", highlight=False)
    return not failures


def _select(files: Sequence[GalleryFile], job: Job, console: Console) -> tuple[list[Recipe], int]:
    """Return the recipes to record and the number of those that cannot be."""
    todo, failures = [], 0
    for file in files:
        try:
            recipe = load_recipe(file.path, file.name)
            report = inspect_recipe(recipe, job.recordings_folder)
        except GalleryError as error:
            failures += 1
            console.print(f"error: {error}", style="red", markup=False, highlight=False)
            continue
        if report.status is Status.CURRENT and not job.force:
            console.print(f"{recipe.name}: current ({report.origin})", highlight=False)
        elif (
            job.device == "cpu"
            and not job.replace_gpu
            and (report.on_gpu or report.status is Status.UNUSABLE)
        ):
            failures += 1
            console.print(
                f"error: {recipe.name}: its recording was made on a GPU, or cannot be read to tell "
                f"({report.origin or report.detail}); "
                "to replace it by one from this CPU add REPLACE_GPU=1",
                style="red",
                markup=False,
                highlight=False,
            )
        else:
            todo.append(recipe)
    return todo, failures


def _prepare(
    job: Job, settings: Settings, console: Console
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the facts all recordings of this call share and the environment of their kernels."""
    gpu = machine.find_gpu() if job.device == "gpu" else None
    if job.device == "gpu" and gpu is None:
        raise GalleryError(
            "no GPU found (nvidia-smi shows none); "
            "to run on the CPU instead: make record DEVICE=cpu"
        )
    environment = dict(os.environ)
    environment["CUDA_VISIBLE_DEVICES"] = gpu.pop("uuid") if gpu else ""
    probed = machine.run_probe(settings.probe, environment)
    if gpu and probed.get("gpu") is False:
        raise GalleryError(
            f"{gpu['gpu']} is here but the installed libraries cannot use it; install their GPU "
            "builds (pip install -r requirements-record.txt) or use: make record DEVICE=cpu"
        )
    commit, modified = machine.describe_commit(job.recipes_folder)
    if modified:
        console.print(
            f"note: {job.recipes_folder} has uncommitted changes; the recordings will say so",
            highlight=False,
        )
    facts = {
        "device": (gpu or {}) | machine.describe_host(),
        "versions": machine.package_versions(settings.packages)
        | {name: version for name, version in probed.get("versions", {}).items() if version},
        "commit": commit,
        "modified": modified,
    }
    return facts, environment


def _record_one(
    recipe: Recipe,
    job: Job,
    settings: Settings,
    facts: dict[str, Any],
    environment: dict[str, str],
    on_cell: Callable[[int], None],
    console: Console,
) -> float:
    """Run a recipe, write its recording, and return the seconds it took."""
    recipe_facts = {
        "schema": SCHEMA,
        "recipe": recipe.name,
        "cells": [cell.fingerprint for cell in recipe.cells],
        "inputs": recipe.inputs,
        **facts,
    }
    try:
        notebook, seconds = _run_in_scratch(recipe, settings, environment, on_cell)
    except KernelDiedError as error:
        console.print(f"{error}\ntrying once more", style="yellow", markup=False, highlight=False)
        notebook, seconds = _run_in_scratch(recipe, settings, environment, on_cell)
    if job.check:
        job.check(notebook, recipe.path)
    notebook.metadata.update(
        kernelspec={"name": "python3", "display_name": "Python 3", "language": "python"},
        language_info={
            "name": "python",
            "version": platform.python_version(),
            "mimetype": "text/x-python",
            "file_extension": ".py",
            "pygments_lexer": "ipython3",
        },
        recording=recipe_facts
        | {
            "recorded": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seconds": round(seconds, 1),
        },
    )
    _write_whole(notebook, job.recordings_folder / f"{recipe.name}.ipynb")
    return seconds


def _run_in_scratch(
    recipe: Recipe,
    settings: Settings,
    environment: dict[str, str],
    on_cell: Callable[[int], None],
) -> tuple[NotebookNode, float]:
    with tempfile.TemporaryDirectory(prefix="recipe-", ignore_cleanup_errors=True) as folder:
        work = Path(folder, "work")
        work.mkdir()
        for name in recipe.inputs:
            target = work / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((recipe.path.parent / name).read_bytes())
        started = time.monotonic()
        notebook = run_recipe(
            recipe,
            scratch=work,
            environment=environment
            | settings.kernel_environment(
                scratch=Path(folder, "caches"), recipes=recipe.path.parent
            ),
            cleaner=Cleaner(scratch=Path(folder), drop=settings.drop),
            cell_timeout=recipe.settings.get("cell_timeout", settings.cell_timeout),
            deadline=recipe.settings.get("deadline", settings.deadline),
            on_cell=on_cell,
        )
        return notebook, time.monotonic() - started


def _write_whole(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook completely or not at all."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook)
    path.parent.mkdir(parents=True, exist_ok=True)  # of a sub-gallery
    unfinished = path.with_name(f".{path.name}.new")
    try:
        unfinished.write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


@contextlib.contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    try:
        with FileLock(lock, timeout=0):
            yield
    except Timeout:
        raise GalleryError(
            f"another `make record` is at work (it holds {lock}); wait for it to end and try again"
        ) from None


@contextlib.contextmanager
def _end_when_told() -> Iterator[None]:
    """Let SIGTERM and a lost terminal end the recipe as Ctrl-C does: nothing stays behind."""

    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = {
        number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _progress(console: Console, recipe: Recipe, which: str) -> Iterator[Callable[[int], None]]:
    """Show recipe, cell and time: a bar on a terminal, a line for each cell elsewhere."""
    total = len(recipe.cells)
    if not console.is_terminal:
        started = time.monotonic()

        def print_line(number: int) -> None:
            elapsed = time.monotonic() - started
            console.print(
                f"{recipe.name} ({which}): cell {number} of {total}, {elapsed:.0f} s",
                highlight=False,
            )

        yield print_line
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("cell"),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(f"{recipe.name} ({which})", total=total)
        yield lambda number: progress.update(task, completed=number)
