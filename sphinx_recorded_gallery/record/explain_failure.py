"""Why a recipe did not run to its end: place, fault and remedy, and what it had printed so far."""

import contextlib
import json
import os
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ..errors import GalleryError
from ..recipes.recipe import Cell, Recipe
from .normalize_outputs import OutputNormalizer

INSTALL = "install what recipes need"
_LINES = 60  # of what a cell printed, that an error shows
_CHARACTERS = 400  # of each line
_FRAME = re.compile(r"^Cell In\[(\d+)\], line (\d+)", re.MULTILINE)  # of a traceback
_RAISES = re.compile(r"\s*(?:raise|assert)\b")
_NETWORK_ERRORS = {
    "ClientConnectorError",
    "ConnectError",
    "ConnectTimeout",
    "ConnectionError",
    "ConnectionRefusedError",
    "LocalEntryNotFoundError",
    "URLError",
    "gaierror",
}
# In the log of a kernel; the last one is an ImportError, though nothing is to be installed.
_WANT_OF_MEMORY = ("MemoryError", "Cannot allocate memory", "failed to map segment")
_MAKE_SMALLER = "try a smaller size or free memory"

Place = tuple[Path, int]


class KernelDiedError(GalleryError):
    """The kernel was killed from outside, as for want of memory: a second try may succeed."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A cell that did not end as it should, and what is known of its run."""

    recipe: Recipe
    cell: Cell
    node: NotebookNode  # with its outputs so far
    limit: str  # the setting that ends the cell first, such as "sphinx_gallery_deadline = 5 s"
    exit_code: int | None  # of the kernel's process; None while it lives
    folder: Path  # of the run
    cleaner: OutputNormalizer

    def error(
        self,
        text: str,
        remedy: str,
        *,
        place: Place | None = None,
        kind: type[GalleryError] = GalleryError,
    ) -> GalleryError:
        """Return the error to raise; without a place it points to the cell in the recipe."""
        path, line = place or (self.recipe.path, self.cell.line)
        text = f"cell {self.cell.number} of {len(self.recipe.cells)} {text}"
        return kind(text, path=path, line=line, remedy=remedy + _output_so_far(self))


def explain(exception: Exception, failure: Failure) -> GalleryError:
    """Return what a person is told of the exception that ended a cell.

    It is ``KernelDiedError`` where a second try may succeed. What is none of the exceptions that
    end a cell is raised again.
    """
    match exception:
        case GalleryError(text=text, remedy=remedy):
            return failure.error(text, remedy)
        case CellTimeoutError():
            remedy = "make it do less or raise the limit in the recipe"
            return failure.error(f"ran out of time ({failure.limit})", remedy)
        case DeadKernelError():
            return _explain_end(failure)
        case CellExecutionError():
            return _explain_exception(exception, failure)
    raise exception


def explain_shown_error(output: NotebookNode, failure: Failure) -> GalleryError:
    """Return what is told of an error that a cell showed, though it ran to its end.

    So it is where a figure cannot be drawn.
    """
    shown = _one_line(output.ename, output.evalue, failure.cleaner)
    place = (failure.cell.inlined.path, failure.cell.inlined.line) if failure.cell.inlined else None
    return failure.error(f"showed an error: {shown}", "mend the recipe", place=place)


def explain_start(
    recipe: Recipe, folder: Path, limit: str, exit_code: int | None, cleaner: OutputNormalizer
) -> GalleryError:
    """Return why a kernel did not start: its process ended, or took too long.

    It is ``KernelDiedError`` where a second try may succeed.
    """
    log = cleaner.clean_text(_read(folder / "kernel.log"))
    below = _indent(log.splitlines())
    if exit_code == -signal.SIGKILL:
        text = "the kernel did not start: it was killed or ran out of memory"
        return KernelDiedError(text, path=recipe.path, remedy="free memory" + below)
    if exit_code is None:
        text = f"the kernel did not start in time ({limit})"
        remedy = "raise the limit in the recipe"
    else:
        text = f"the kernel did not start: the kernel's process ended {_describe_end(exit_code)}"
        remedy = "mend what it says below" if log.strip() else "try again"
    if "Too many open files" in log:
        remedy = "allow more open files, as with: ulimit -n 1024"
    elif any(words in log for words in _WANT_OF_MEMORY):
        remedy = "free memory"
    elif re.search(r"^(ModuleNotFound|Import)Error\b", log, re.MULTILINE):
        remedy = INSTALL
    return GalleryError(text, path=recipe.path, remedy=remedy + below)


def _explain_end(failure: Failure) -> GalleryError:
    """Explain that the kernel's process ended while the cell ran."""
    code = failure.exit_code
    assert code is not None
    if code == -signal.SIGKILL:
        text = "ended early: the kernel was killed or ran out of memory"
        return failure.error(text, _MAKE_SMALLER, kind=KernelDiedError)
    text = f"ended early: the kernel's process ended {_describe_end(code)}"
    remedy = "run the recipe as a script to see why; a recipe never ends its own process"
    if code == -signal.SIGABRT and not _read(failure.folder / "crash"):
        # Python would have said where it was, had that file been open.
        remedy = "a recipe closes only what it has opened: the kernel's sockets are files, too"
    return failure.error(text, remedy)


def _explain_exception(exception: CellExecutionError, failure: Failure) -> GalleryError:
    """Explain an exception of the cell's code."""
    name, value = exception.ename, exception.evalue
    if name in ("SystemExit", "KeyboardInterrupt"):
        remedy = "a recipe runs to its end: print why a part is left out instead"
        return failure.error(f"ended with {name}({value})", remedy)
    text = _one_line(name, value, failure.cleaner)
    if name == "NoneType":  # IPython could show no more: its last line names it
        last = failure.cleaner.clean_text(exception.traceback).strip().splitlines()[-1]
        text = last[:_CHARACTERS]
    place = None
    with contextlib.suppress(OSError):  # it may have removed its own file
        place = _find_place(exception.traceback, failure)
    remedy = _find_remedy(name, value, failure.recipe)
    return failure.error(f"failed: {text}", remedy, place=place)


def _find_remedy(name: str, value: str, recipe: Recipe) -> str:
    """Return what to do about an exception, which may not be the recipe's fault."""
    if name == "ModuleNotFoundError":
        return (
            f"{INSTALL}, or name the folder of the module in recording.toml, as conf.py does for "
            'sys.path: PYTHONPATH = "{recipes}/../src" under [environment]'
        )
    if name == "MemoryError" or "[Errno 12]" in value:
        return _MAKE_SMALLER
    if "[Errno 28]" in value:
        return "make room, in TMPDIR as well"
    if name in _NETWORK_ERRORS or "[Errno -2]" in value or "[Errno -3]" in value:
        return (
            "a recipe has to run without a network: put the file beside it and add a line "
            '# sphinx_gallery_inputs = ["file"]'
        )
    if name == "AttributeError" and value == "'NoneType' object has no attribute 'flush'":
        return (
            "what shows values and figures flushes sys.stdout and sys.stderr: to print nothing, "
            "use contextlib.redirect_stdout(io.StringIO())"
        )
    if name == "KeyError" and value.strip("'") in os.environ:
        return "recipes get listed variables: add it to inherit in recording.toml"
    if name != "FileNotFoundError":
        return "mend the recipe"
    words = re.findall(r"[^\s'\"]+", value)
    files = [word for word in words if (recipe.path.parent / word).is_file()]
    if files and not Path(files[-1]).is_absolute():
        return f"add a line to the recipe: # sphinx_gallery_inputs = {json.dumps(files[-1:])}"
    return (
        "a recipe runs in an empty folder, with the files beside it that its line "
        "'# sphinx_gallery_inputs' names"
    )


def _find_place(traceback: str, failure: Failure) -> Place | None:
    """Return where the fault is, by the rows of cells that a traceback names, or None.

    That is the last row, unless a module raises there on purpose, such as an assertion about what
    it was given: then it is the last row of the recipe itself.
    """
    frames = _FRAME.findall(failure.cleaner.clean_text(traceback))
    places: list[tuple[Cell, Place, bool]] = []
    for number, row in ((int(number), int(row)) for number, row in frames):
        if not 0 < number <= len(failure.recipe.cells):
            continue
        cell = failure.recipe.cells[number - 1]
        place = _place_of_row(failure.recipe, cell, row)
        if place:
            code = cell.code.split("\n")[row - 1 : row]
            places.append((cell, place, bool(code and _RAISES.match(code[0]))))
    if not places:
        return None
    last_cell, last_place, is_raised = places[-1]
    if last_cell.inlined and is_raised:
        own_places = [place for cell, place, _is_raised in places if not cell.inlined]
        return own_places[-1] if own_places else (failure.recipe.path, failure.cell.line)
    return last_place


def _place_of_row(recipe: Recipe, cell: Cell, row: int) -> Place | None:
    """Return file and line of a row of a cell's code, counted from 1, or None."""
    if cell.inlined:
        row -= cell.code.count("\n", 0, cell.code.rindex(cell.inlined.source))
        return (cell.inlined.path, cell.inlined.line + row - 1) if row > 0 else None
    # The rows of a cell stand in the recipe in this order, with settings between them.
    start = cell.line if cell.code.startswith(cell.source or "\n") else 1
    if cell.number > 1:
        start = max(start, recipe.cells[cell.number - 2].line + 1)
    lines = recipe.path.read_text(encoding="utf-8").split("\n")
    remaining = enumerate(lines[start - 1 :], start)
    line = None
    for wanted in cell.code.split("\n")[:row]:
        line = next((number for number, text in remaining if text == wanted), None)
    return (recipe.path, line) if line else None


def _one_line(name: str, value: str, cleaner: OutputNormalizer) -> str:
    """Return an exception in one line."""
    line = " ".join(cleaner.clean_text(f"{name}: {value}").split())
    return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}..."


def _output_so_far(failure: Failure) -> str:
    """Return the end of what a cell printed, its traceback, and where it crashed, indented."""
    lines: list[str] = []
    last_outputs = failure.node.outputs[-_LINES:]
    for output in last_outputs:
        if output.output_type == "stream":  # the whole may be large, and cleaned slowly
            output.text = output.text[-_LINES * _CHARACTERS :]
    for output in failure.cleaner.clean_outputs(last_outputs):
        lines += "\n".join(output.get("traceback", [output.get("text", "")])).splitlines()
    crash = _read(failure.folder / "crash")  # why Python crashed, and in which frames
    reason, _, threads = failure.cleaner.clean_text(crash).partition("\n")
    _, _, current = threads.partition("Current thread ")
    if reason:
        lines += [reason, *current.splitlines()[1:6]]
    return _indent(lines)


def _read(path: Path) -> str:
    """Return what the kernel's process left in a file, "" if there is none."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(errors="replace")
    return ""


def _indent(lines: Sequence[str]) -> str:
    """Return lines to stand below a message: the last ones, none of them too long."""
    if len(lines) > _LINES:
        lines = [f"... ({len(lines) - _LINES} lines before)", *lines[-_LINES:]]
    return "".join(f"\n    {line[:_CHARACTERS]}" for line in lines)


def _describe_end(code: int) -> str:
    """Say how a process ended that left ``code`` as its ``returncode``."""
    if code < 0:
        return f"by signal {-code} ({signal.strsignal(-code)})"
    return f"with exit status {code}"
