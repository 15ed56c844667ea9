"""Explain why a recipe did not run to its end: place, fault, remedy and its output so far."""

import contextlib
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
from .missing_modules import IMPORT_ERRORS, suggest_for_import, suggest_installation
from .normalize_outputs import OutputNormalizer
from .undeclared_inputs import find_undeclared, suggest_inputs

_LINES = 60  # of a cell's output in an error
_CHARACTERS = 400  # of each of these lines
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
# Lines in the log of a kernel; the last one is an ImportError that no installation mends.
_OUT_OF_MEMORY = ("MemoryError", "Cannot allocate memory", "failed to map segment")
_NOT_JSON = "Can't clean for JSON: "  # how Jupyter refuses a value; `kernel_process.pack` asks it
_NO_GPU = ("Found no NVIDIA driver", "Torch not compiled with CUDA", "No CUDA GPUs are available")
_MAKE_SMALLER = "try a smaller size or free memory"

Place = tuple[Path, int]


class KernelDiedError(GalleryError):
    """The kernel was killed from outside, perhaps for lack of memory: a second try may succeed."""


class UndefinedNameError(GalleryError):
    """The code of a cell uses a name that is not defined."""


@dataclass(frozen=True, kw_only=True)
class Failure:
    """A cell that failed, and what is known of its run."""

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
        """Return the error to raise; its default place is the cell in the recipe."""
        path, line = place or (self.recipe.path, self.cell.line)
        text = f"cell {self.cell.number} of {len(self.recipe.cells)} {text}"
        return kind(text, path=path, line=line, remedy=remedy + _output_so_far(self))


def explain(exception: Exception, failure: Failure) -> GalleryError:
    """Return the error to report for the exception that ended a cell.

    It is a ``KernelDiedError`` if a second try may succeed. Unforeseen exceptions are raised again.
    """
    match exception:
        case GalleryError(text=text, remedy=remedy):
            return failure.error(text, remedy)
        case CellTimeoutError():
            remedy = "make it do less or raise the limit in the example"
            return failure.error(f"ran out of time ({failure.limit})", remedy)
        case DeadKernelError():
            return _explain_end(failure)
        case CellExecutionError():
            return _explain_exception(exception, failure)
    raise exception


def explain_shown_error(output: NotebookNode, failure: Failure) -> GalleryError:
    """Return the error to report for an exception that a cell showed, but did not end with.

    An example is a figure that cannot be drawn.
    """
    line = _one_line(output.ename, output.evalue, failure.cleaner)
    place = None
    module = failure.cell.inlined
    if module:
        place = (module.path, module.line)
    return failure.error(f"showed an error: {line}", "mend the example", place=place)


def explain_start(
    recipe: Recipe, folder: Path, limit: str, exit_code: int | None, cleaner: OutputNormalizer
) -> GalleryError:
    """Return the error to report for a kernel that did not start, or not in time.

    It is a ``KernelDiedError`` if a second try may succeed.
    """
    log = cleaner.clean_text(_read(folder / "kernel.log"))
    log_lines = _indent(log.splitlines())
    if exit_code == -signal.SIGKILL:
        text = "the kernel did not start: it was killed or ran out of memory"
        return KernelDiedError(text, path=recipe.path, remedy=f"free memory{log_lines}")
    if exit_code is None:
        text = f"the kernel did not start in time ({limit})"
        remedy = "raise the limit in the example"
    else:
        text = f"the kernel did not start: the kernel's process ended {_describe_end(exit_code)}"
        remedy = "mend the error below" if log.strip() else "try again"
    if "Too many open files" in log:
        remedy = "allow more open files, for example: ulimit -n 1024"
    elif any(words in log for words in _OUT_OF_MEMORY):
        remedy = "free memory"
    elif re.search(r"^(ModuleNotFound|Import)Error\b", log, re.MULTILINE):
        remedy = suggest_installation()
    return GalleryError(text, path=recipe.path, remedy=remedy + log_lines)


def _explain_end(failure: Failure) -> GalleryError:
    """Return the error to report if the kernel's process ended while the cell ran."""
    code = failure.exit_code
    assert code is not None
    if code == -signal.SIGKILL:
        text = "ended early: the kernel was killed or ran out of memory"
        return failure.error(text, _MAKE_SMALLER, kind=KernelDiedError)
    text = f"ended early: the kernel's process ended {_describe_end(code)}"
    remedy = "run the example as a script to see why; an example must not end its own process"
    if code == -signal.SIGABRT and not _read(failure.folder / "crash"):
        # Python would have written the frames into that file, had it been open.
        remedy = "close only files that the example opened: the kernel's sockets are files, too"
    return failure.error(text, remedy)


def _explain_exception(exception: CellExecutionError, failure: Failure) -> GalleryError:
    """Return the error to report for an exception of the cell's code."""
    name, value = exception.ename, exception.evalue
    if name in ("SystemExit", "KeyboardInterrupt"):
        remedy = "an example has to run to its end: instead, print why a part is left out"
        return failure.error(f"ended with {name}({value})", remedy)
    text = _one_line(name, value, failure.cleaner)
    if name == "NoneType":  # IPython could only show a last line, which names it
        last = failure.cleaner.clean_text(exception.traceback).strip().splitlines()[-1]
        text = last[:_CHARACTERS]
    place = None
    with contextlib.suppress(OSError):  # the recipe may have removed its own file
        place, module_place = _find_place(exception.traceback, failure)
        if module_place:
            path, line = module_place
            text += f" (raised in {path.name}:{line}, which it calls)"
    remedy = _find_remedy(name, value, failure.recipe)
    kind = UndefinedNameError if name == "NameError" else GalleryError
    return failure.error(f"failed: {text}", remedy, place=place, kind=kind)


def _find_remedy(name: str, value: str, recipe: Recipe) -> str:
    """Return the remedy for an exception, which may not be the recipe's fault."""
    if name in IMPORT_ERRORS:
        return suggest_for_import(value)
    if name == "MemoryError" or "[Errno 12]" in value:
        return _MAKE_SMALLER
    if "[Errno 28]" in value:
        return "free disk space, also in TMPDIR"
    if name in _NETWORK_ERRORS or "[Errno -2]" in value or "[Errno -3]" in value:
        return (
            "an example has to run without a network: put the file beside it and add the line "
            '# sphinx_gallery_inputs = ["file"]'
        )
    if name == "AttributeError" and value == "'NoneType' object has no attribute 'flush'":
        return (
            "sys.stdout and sys.stderr are needed to show values and figures: to print nothing, "
            "use contextlib.redirect_stdout(io.StringIO())"
        )
    if name == "TypeError" and value.endswith("object is not callable"):
        return "a function is meant, not what it returns: lambda: step(x) in place of step(x)"
    if name == "StdinNotImplementedError":
        return "nobody answers while an example runs: write the value into its code"
    if name == "ValueError" and value.startswith(_NOT_JSON):
        return "publish numbers and texts of Python: .item() makes a number of a tensor"
    if any(words in value for words in _NO_GPU):
        return (
            "this machine has no GPU: record it on one, or let the example take what there is: "
            'device = "cuda" if torch.cuda.is_available() else "cpu"'
        )
    if name == "KeyError" and value.strip("'") in os.environ:
        return "examples only get listed variables: add it to inherit in recording.toml"
    if name != "FileNotFoundError":
        return "mend the example"
    words = re.findall(r"[^\s'\"]+", value)
    files = [word for word in words if (recipe.path.parent / word).is_file()]
    missing = find_undeclared(recipe)  # also those that it would miss next
    if files and not Path(files[-1]).is_absolute():
        missing = list(dict.fromkeys([files[-1], *missing]))
    if missing:
        return suggest_inputs(missing)
    return (
        "an example runs in an empty folder, with the files beside it that its line "
        "'# sphinx_gallery_inputs' names"
    )


def _find_place(traceback: str, failure: Failure) -> tuple[Place | None, Place | None]:
    """Return the places of the fault in the recipe and in a module, or None for each.

    They are the last rows of both in the traceback. A module that raises on purpose, such as by an
    assertion on its arguments, has no part in the fault, and a recipe that calls no module has none
    in that of the module.
    """
    place: Place | None = None
    module_place: Place | None = None
    for cell_number, row_number in _FRAME.findall(failure.cleaner.clean_text(traceback)):
        number, row = int(cell_number), int(row_number)
        if not 0 < number <= len(failure.recipe.cells):
            continue
        cell = failure.recipe.cells[number - 1]
        place_of_row = _place_of_row(failure.recipe, cell, row)
        if place_of_row is None:
            continue
        if cell.inlined is None:
            place = place_of_row
            module_place = None
            continue
        module_place = place_of_row
        code = cell.code.split("\n")[row - 1 : row]
        if code and _RAISES.match(code[0]):
            module_place = None
            place = place or (failure.recipe.path, failure.cell.line)
    if place is None:
        return module_place, None
    return place, module_place


def _place_of_row(recipe: Recipe, cell: Cell, row: int) -> Place | None:
    """Return file and line of a row of a cell's code, counted from 1, or None."""
    if cell.inlined:
        rows_before = cell.code.count("\n", 0, cell.code.rindex(cell.inlined.source))
        row_in_module = row - rows_before
        if row_in_module <= 0:
            return None
        return cell.inlined.path, cell.inlined.line + row_in_module - 1
    # The recipe has the rows of a cell in this order, with settings between them.
    start = cell.line if cell.code.startswith(cell.source or "\n") else 1
    if cell.number > 1:
        start = max(start, recipe.cells[cell.number - 2].line + 1)
    lines = recipe.path.read_text(encoding="utf-8").split("\n")
    next_line = start - 1  # where to go on looking, as an index of ``lines``
    for code in cell.code.split("\n")[:row]:
        if code not in lines[next_line:]:
            return None
        next_line = lines.index(code, next_line) + 1
    return recipe.path, next_line  # an index counts from 0, so the line found is one before it


def _one_line(name: str, value: str, cleaner: OutputNormalizer) -> str:
    """Return an exception in one line."""
    line = " ".join(cleaner.clean_text(f"{name}: {value}").split())
    if len(line) > _CHARACTERS:
        line = f"{line[:_CHARACTERS]}..."
    return line


def _output_so_far(failure: Failure) -> str:
    """Return the end of a cell's output, its traceback, and the frames of a crash, indented."""
    lines: list[str] = []
    last_outputs = failure.node.outputs[-_LINES:]
    for output in last_outputs:
        if output.output_type == "stream":  # cleaning a large output would take long
            output.text = output.text[-_LINES * _CHARACTERS :]
    for output in failure.cleaner.clean_outputs(last_outputs):
        lines += "\n".join(output.get("traceback", [output.get("text", "")])).splitlines()
    crash = _read(failure.folder / "crash")  # the reason of a crash of Python, and its frames
    reason, _, threads = failure.cleaner.clean_text(crash).partition("\n")
    _, _, current = threads.partition("Current thread ")
    if reason:
        lines += [reason, *current.splitlines()[1:6]]
    return _indent(lines)


def _read(path: Path) -> str:
    """Return the text that the kernel's process left in a file; "" if there is none."""
    with contextlib.suppress(FileNotFoundError):
        return path.read_text(errors="replace")
    return ""


def _indent(lines: Sequence[str]) -> str:
    """Return the last of some lines, shortened and indented, to follow a message."""
    if len(lines) > _LINES:
        lines = [f"... ({len(lines) - _LINES} lines before)", *lines[-_LINES:]]
    return "".join(f"\n    {line[:_CHARACTERS]}" for line in lines)


def _describe_end(code: int) -> str:
    """Return how a process with the ``returncode`` ``code`` ended."""
    if code < 0:
        return f"by signal {-code} ({signal.strsignal(-code)})"
    return f"with exit status {code}"
