"""Run a recipe in a process of its own, which is bounded, and ended with all that it started."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from ...errors import GalleryError
from .remains import MARK, end_processes, undisturbed

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ...recipes.recipe import Cell, Recipe
    from ..machine.conditions import Conditions

# Seconds past the deadline in which the worker should have told what ran out, and ended all.
GRACE = 5

for _name in ("nbclient", "ipykernel"):  # of the worker and the kernel: known before they start
    if not find_spec(_name):
        raise ModuleNotFoundError(f"No module named {_name!r}", name=_name)


class KernelDiedError(GalleryError):
    """The kernel was killed from outside, as for want of memory: a second try may succeed."""


@dataclass(frozen=True, kw_only=True)
class CellToRun:
    """One cell of a recipe."""

    number: int  # counted from 1
    line: int  # of the recipe, or of the module
    code: str
    raises: str | None  # the exception it is meant to end in
    module: Path | None = None  # the file beside the recipe that the code is from
    above: int = 0  # rows of the code that are from elsewhere, before those of the module

    @classmethod
    def of(cls, cell: Cell) -> CellToRun:
        """Return a cell of a recipe as it runs."""
        run = cls(number=cell.number, line=cell.line, code=cell.code, raises=cell.raises)
        if cell.inlined is None:
            return run
        above = cell.code.count("\n", 0, cell.code.rindex(cell.inlined.source))
        return replace(run, line=cell.inlined.line, module=cell.inlined.path, above=above)


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a recipe; its time starts when it is made."""

    recipe: Path  # as messages name it
    file: Path  # the same, complete
    cells: tuple[CellToRun, ...]
    folder: Path  # of this run alone, see remains.py; the recipe starts in its folder "work"
    environment: dict[str, str]  # the kernel's whole environment
    drop: tuple[str, ...]  # regular expressions of lines that are left out of outputs
    secrets: tuple[str, ...]  # what no output may show
    cell_timeout: float  # seconds
    deadline: float  # seconds
    output_limit: float  # MB that all cells may print and show
    sampling: tuple[str, ...] = ()  # the command that samples the GPU's clock, if there is one
    started: float = field(default_factory=time.monotonic)

    @classmethod
    def of(cls, recipe: Recipe, conditions: Conditions, folder: Path, started: float) -> Run:
        """Return a run of a recipe; its own time limits stand above those of the settings."""
        settings = conditions.settings
        return cls(
            recipe=recipe.path,
            file=recipe.path.resolve(),
            cells=tuple(CellToRun.of(each) for each in recipe.cells),
            folder=folder,
            environment=conditions.kernel_environment(folder / "caches"),
            drop=tuple(each.pattern for each in settings.drop),
            secrets=conditions.secrets,
            cell_timeout=recipe.settings.get("cell_timeout", settings.cell_timeout),
            deadline=recipe.settings.get("deadline", settings.deadline),
            output_limit=settings.output_limit,
            sampling=conditions.sampling,
            started=started,
        )

    @property
    def work(self) -> Path:
        """The folder in which the recipe starts."""
        return self.folder / "work"

    @property
    def temporary(self) -> Path:
        """The recipe's own folder for temporary files; it may not be there."""
        return self.folder / "tmp"

    @property
    def result(self) -> Path:
        """The file in which the executed notebook is handed back."""
        return self.folder / "notebook.json"

    def time_left(self) -> float:
        """Return the seconds until the deadline; 0 or less if it has passed."""
        return self.started + self.deadline - time.monotonic()


def run_recipe(
    run: Run,
    on_cell: Callable[[int], None] = lambda number: None,
    is_wanted: Callable[[], bool] = lambda: True,
) -> NotebookNode:
    """Run a recipe and return it as a notebook with cleaned outputs.

    Its metadata hold ``clocks``: what the GPU did meanwhile, see clocks.py.

    ``on_cell`` is called with each cell's number as it starts; when ``is_wanted``, which is asked
    every second, says no, the run is ended. The deadline bounds all of it, from
    the start of the kernel to the cleaning of outputs; ``GRACE`` seconds later the worker is
    killed, whatever it does. No process is left. The run's folder is the caller's to remove.

    Raises ``KernelDiedError`` if the kernel was killed from outside, ``GalleryError`` for anything
    else that keeps the recipe from running to its end.
    """
    with _worker(run) as (worker, events):
        phase = "starting the kernel"
        path, line = run.recipe, None
        for event in _read(events, run, is_wanted):
            if event is None:
                text = f"{phase} ran out of time (sphinx_gallery_deadline = {run.deadline:g} s)"
                remedy = "make it do less or raise the limit in the recipe"
                raise GalleryError(text, path=path, line=line, remedy=remedy)
            if event["event"] == "done":
                from nbformat import from_dict  # slow, and the worker imports this module first

                return from_dict(json.loads(run.result.read_text(encoding="utf-8")))
            if event["event"] == "failed":
                kind = KernelDiedError if event["died"] else GalleryError
                place = {"path": Path(event["path"]), "line": event["line"]}
                raise kind(event["text"], **place, remedy=event["remedy"])
            number = event["cell"]
            cell = run.cells[number - 1]
            path, line = cell.module or run.recipe, cell.line
            phase = f"cell {number} of {len(run.cells)}"
            if event["event"] == "cell":
                on_cell(number)
            else:
                phase = f"cleaning the outputs of {phase}"
        raise _explain_end(worker, run, phase)


@contextlib.contextmanager
def _worker(run: Run) -> Iterator[tuple[subprocess.Popen[bytes], IO[bytes]]]:
    """Start the worker of a run; at the end it is gone, with all that it started."""
    # It imports what this process can import, wherever that was found.
    path = os.pathsep.join(os.path.abspath(each) for each in sys.path)
    with (run.folder / "worker.log").open("wb") as log:
        worker = subprocess.Popen(
            [sys.executable, "-P", "-m", f"{__package__}.worker"],
            env=os.environ | {"PYTHONPATH": path, MARK: str(run.folder)},
            cwd=run.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
    assert worker.stdin
    assert worker.stdout
    try:
        with contextlib.suppress(BrokenPipeError):  # it has ended: told when its events are read
            worker.stdin.write(pickle.dumps(run))
            worker.stdin.flush()
        yield worker, worker.stdout
    finally:
        with undisturbed():
            # It lives on, to be found as their parent, while its descendants are killed.
            end_processes(run.folder, worker.pid if worker.poll() is None else None)
            worker.kill()
            worker.communicate()


def _read(
    events: IO[bytes], run: Run, is_wanted: Callable[[], bool]
) -> Iterator[dict[str, Any] | None]:
    """Yield what the worker tells, until it ends; None when its time has run out."""
    unfinished = b""
    while True:
        left = max(run.time_left() + GRACE, 0)
        if not select.select([events], [], [], min(left, 1))[0]:
            if not is_wanted():
                raise GalleryError("nobody waits for its result any more", path=run.recipe)
            if left <= 0:
                yield None
            continue
        data = os.read(events.fileno(), 2**16)
        if not data:
            return
        *lines, unfinished = (unfinished + data).split(b"\n")
        yield from map(json.loads, lines)


def _explain_end(worker: subprocess.Popen[bytes], run: Run, phase: str) -> GalleryError:
    """Return the error of a worker that ended without a result."""
    code = worker.wait()
    if code == -signal.SIGKILL:
        text = f"{phase}: the process that runs the recipe was killed or ran out of memory"
        return KernelDiedError(text, path=run.recipe, remedy="try a smaller size or free memory")
    log = ""
    with contextlib.suppress(FileNotFoundError):  # on a signal the worker removes the folder, too
        log = (run.folder / "worker.log").read_text(errors="replace")[-2000:]
    text = f"{phase}: the process that runs the recipe ended {describe_end(code)}"
    return GalleryError(text, path=run.recipe, remedy=f"record again\n{log}".rstrip())


def describe_end(code: int) -> str:
    """Say how a process ended that left ``code`` as its ``returncode``."""
    if code >= 0:
        return f"with exit status {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:  # real-time signals have no names
        return f"by signal {-code}"
    return f"by signal {name} ({signal.strsignal(-code)})"
