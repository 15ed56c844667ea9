"""Record recipes: run each one and keep what it printed and drew, where, and when."""

import contextlib
import platform
import re
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TextIO

import nbformat
from filelock import FileLock, Timeout
from nbformat import NotebookNode

from ..errors import GalleryError, describe_error, suggest
from ..project import Project, load_check
from ..recipes.gallery import GalleryFile
from ..recipes.recipe import Recipe
from ..recipes.recording import SCHEMA
from . import storage
from .machine.conditions import Conditions, prepare
from .machine.gpus import require_gpu
from .machine.host import require_open_files
from .progress import Progress, State, Summary
from .recording_status import Check, Status, inspect, name_files
from .run.outputs.acceptance import accept
from .run.remains import remove_leftovers, run_folder
from .run.supervise import KernelDiedError, Run, run_recipe


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a person asked for; the defaults record on a GPU what is not current."""

    folder: Path | None = None  # for the recordings; by default that of conf.py
    device: str = "gpu"  # or "cpu"
    force: bool = False  # also recipes whose recording is current
    replace_gpu: bool = False  # let a CPU recording take the place of one made on a GPU


def record(
    project: Project, names: Sequence[str], options: Options, stream: TextIO | None = None
) -> bool:
    """Record the recipes called ``names``, or all, that need it; tell whether all succeeded.

    Each finished recording is written at once, so an interruption loses only the recipe in hand,
    and so does whatever goes wrong with one. Raises ``GalleryError`` if nothing can be recorded.
    """
    files = _choose(project, names)
    check = load_check(project)
    folder = options.folder or project.recordings
    progress = Progress(stream or sys.stderr)
    summary = Summary(names=[file.name for file in files], forced=options.force)
    with contextlib.ExitStack() as held:
        held.enter_context(_end_as_ctrl_c_does())
        storage.require_place(folder / "recording.ipynb")
        held.enter_context(_one_at_a_time(folder / ".lock"))
        storage.remove_unfinished(file.recording(folder) for file in files)
        storage.require_room()
        require_open_files()
        if left := remove_leftovers():
            progress.say(left)
        tasks = _select(files, folder, options, partial(_tell, progress, summary), check)
        gpu = require_gpu() if tasks and options.device == "gpu" else None
        if gpu:  # for all folders and clones: another recipe on it would distort the times
            held.enter_context(_one_at_a_time(gpu.lock, mode=0o666))  # for all users, too
        galleries = dict.fromkeys(file.gallery for file, _recipe in tasks)
        conditions = {each: prepare(each, gpu, progress.say) for each in galleries}
        # said also after Ctrl-C: what is recorded, and what is not
        held.callback(lambda: progress.say_lines(summary.lines()))
        for number, (file, recipe) in enumerate(tasks, 1):
            title = f"{file.name} ({number} of {len(tasks)})"
            try:
                storage.require_place(file.recording(folder))
                notebook = _record_one(recipe, conditions[file.gallery], title, progress)
                if check:
                    check(notebook, recipe.path)
                storage.write_whole(notebook, file.recording(folder))
            except KeyboardInterrupt:
                raise
            except BaseException as error:  # of any kind: the other recipes go on
                text = _describe(error, file, conditions[file.gallery])
                _tell(progress, summary, file.name, State.FAILED, text)
            else:
                seconds = notebook.metadata.recording.seconds
                _tell(progress, summary, file.name, State.RECORDED, f"{seconds:.0f} s")
    return not summary.failed


def _tell(progress: Progress, summary: Summary, name: str, state: State, text: str) -> None:
    """Say what became of a recipe, now and in the summary."""
    summary.note(name, state, text)
    said = {
        State.RECORDED: f"{name}: recorded in {text}",
        State.CURRENT: f"{name}: current ({text})",
        State.FAILED: f"error: {text}",
    }
    progress.say(said[state])


def _describe(error: BaseException, file: GalleryFile, conditions: Conditions) -> str:
    """Return what went wrong with one recipe: a line, and what its cell printed."""
    if not isinstance(error, GalleryError):
        return f"{file.name}: {describe_error(error)}"
    asked = re.search(r"failed: KeyError: '(\w+)'$", error.text)
    if asked and conditions.withholds(asked[1]):
        error.text += " (it is set here, but recipes get only listed variables)"
        remedy = "add it to inherit under [environment] in recording.toml"
        error.remedy = remedy + "".join(error.remedy.partition("\n")[1:])
    return describe_error(error)


def _choose(project: Project, names: Sequence[str]) -> list[GalleryFile]:
    """Return the recipes called ``names``, or all; raise ``GalleryError`` for an unknown name.

    A recipe of a sub-gallery may be called by its last part where only one has it.
    """
    files = name_files(project)
    chosen = []
    for name in [name.removesuffix(".py") for name in names] or files:
        found = [each for each in files if name in (each, each.rpartition("/")[2])]
        if name not in files and len(found) != 1:
            raise GalleryError(
                f"{'several recipes are' if found else 'no recipe'} named {name}",
                remedy=f"there are: {', '.join(found or files)}",
            )
        chosen.append(files[name if name in files else found[0]])
    return chosen


def _select(
    files: Sequence[GalleryFile],
    folder: Path,
    options: Options,
    tell: Callable[[str, State, str], None],
    check: Check | None,
) -> list[tuple[GalleryFile, Recipe]]:
    """Return what is to be recorded; tell of recipes that are current or cannot be."""
    tasks = []
    for file in files:
        report = inspect(file, folder, check)
        may_be_gpu = report.on_gpu or (report.status is Status.UNUSABLE and not report.origin)
        if report.recipe is None:
            tell(file.name, State.FAILED, report.detail)
        elif report.status is Status.CURRENT and not options.force:
            tell(file.name, State.CURRENT, report.origin)
        elif options.device == "cpu" and not options.replace_gpu and may_be_gpu:
            remedy = suggest("record", file.name, "--device cpu", "--replace-gpu")
            text = (
                f"{file.name}: its recording was made on a GPU, or cannot be read to tell "
                f"({report.origin or report.detail}); to replace it by one from this CPU: {remedy}"
            )
            tell(file.name, State.FAILED, text)
        else:
            tasks.append((file, report.recipe))
    return tasks


def _record_one(
    recipe: Recipe, conditions: Conditions, title: str, progress: Progress
) -> NotebookNode:
    """Run a recipe and return its recording; a kernel that dies gets a second try."""
    facts = {
        "schema": SCHEMA,
        "recipe": recipe.name,
        "cells": [cell.fingerprint for cell in recipe.cells],
        "inputs": recipe.inputs,
        **conditions.facts,
    }
    started = time.monotonic()
    try:
        notebook, seconds = _run_in_scratch(recipe, conditions, title, progress, started)
    except KernelDiedError as error:
        progress.say(f"{error.describe(Path.cwd())}\ntrying once more")
        notebook, seconds = _run_in_scratch(recipe, conditions, title, progress, started)
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
            **facts,
            "clocks": notebook.metadata.pop("clocks"),
            "recorded": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "seconds": round(seconds, 1),
        },
    )
    return nbformat.from_dict(notebook)


def _run_in_scratch(
    recipe: Recipe,
    conditions: Conditions,
    title: str,
    progress: Progress,
    started: float,
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
        progress.start()
        began = time.monotonic()
        notebook = run_recipe(
            run, lambda number: progress.show_cell(title, number, len(recipe.cells))
        )
        seconds = time.monotonic() - began
    for line in accept(recipe.path, recipe.cells, notebook, run.output_limit):
        progress.say(line)
    return notebook, seconds


@contextlib.contextmanager
def _end_as_ctrl_c_does() -> Iterator[None]:
    """Let SIGTERM and SIGHUP interrupt, so that nothing stays behind; nohup's choice is kept."""
    with contextlib.ExitStack() as held:
        for name in ("SIGTERM", "SIGHUP"):
            ending = getattr(signal, name, None)  # Windows has no SIGHUP
            if ending is not None and signal.getsignal(ending) is not signal.SIG_IGN:
                before = signal.signal(ending, signal.default_int_handler)
                held.callback(signal.signal, ending, before)
        yield


@contextlib.contextmanager
def _one_at_a_time(lock: Path, mode: int = 0o644) -> Iterator[None]:
    try:
        with FileLock(lock, timeout=0, mode=mode):
            yield
    except Timeout:
        text = f"another recording is under way (it holds {lock})"
        raise GalleryError(text, remedy="wait for it to end and try again") from None
