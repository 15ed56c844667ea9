"""Run the cells of a recipe in a fresh kernel and return them as a notebook of cleaned outputs."""

import contextlib
import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from queue import Empty
from typing import Any

import nbformat
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import (
    CellExecutionComplete,
    CellExecutionError,
    CellTimeoutError,
    DeadKernelError,
)
from nbformat import NotebookNode
from traitlets import Type

from ..errors import GalleryError
from ..measurements.rows import MIME, REMEDY, parse
from ..measurements.spans import SPANS_MIME, parse_spans
from ..recipes.recipe import Cell, Recipe
from .cleanup import kernel_runs
from .environment_variables import find_secrets
from .normalize_outputs import Cleaner, drop_lines
from .run_environment import Conditions

_LINES = 60  # of what a cell printed, that an error shows
_CHARACTERS = 400  # of each line
_LIMITS = {"cell_timeout", "deadline"}  # that a recipe may set itself
_INSTALL = "install what recipes need"
_FRAME = re.compile(r"^Cell In\[(\d+)\], line (\d+)", re.MULTILINE)  # of a traceback
# Sockets have paths of 107 characters at most, also those that recipes put into TMPDIR.
_LONGEST_PATH = 55


class KernelDiedError(GalleryError):
    """The kernel was killed from outside, as for want of memory: a second try may succeed."""


class _Outputs(AsyncZMQSocketChannel):
    """What a kernel prints and shows, as of the cell that runs.

    nbclient drops what names an earlier cell, such as what a thread printed between the two.
    """

    request = ""  # that runs the cell

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]
        """Return the next message."""
        msg = await super().get_msg(timeout)
        if msg["msg_type"] not in ("status", "clear_output"):
            msg["parent_header"]["msg_id"] = self.request
        return msg


class _KernelClient(AsyncKernelClient):
    """Talks to the kernel."""

    iopub_channel_class = Type(_Outputs)

    def execute(self, *code: Any, **options: Any) -> str:
        """Send code to be executed, and return the request's id."""
        request = self.iopub_channel.request = super().execute(*code, **options)
        return request


class _Client(NotebookClient):
    """Puts what a kernel prints and shows into cells; ends it when there is too much or wrong."""

    guard: Any  # the process above the kernel, see kernel_process.py
    limit: float  # MB that all cells may print and show
    left: float  # bytes of it
    refused: GalleryError | None = None  # why the kernel was ended

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Put what was printed or shown into the cell."""
        kind, content = msg["msg_type"], msg["content"]
        try:
            self._measure(content)
            last = cell.outputs[-1] if cell.outputs and kind == "stream" else {}
            if last.get("name") == content.get("name", "") and not self.clear_before_next_output:
                last["text"] += content["text"]  # quicker than an output for each line
                return None
            return super().process_message(msg, cell, cell_index)
        except nbformat.ValidationError as error:
            place = " of ".join(str(each) for each in reversed(error.absolute_path))
            text = f"shows what no notebook can hold: {place}: {error.message[:200]}"
            self.refused = GalleryError(text, remedy="show text, or a picture in base64")
        except GalleryError as error:
            self.refused = error
        self.guard.terminate()  # the cell may have much to do yet
        raise CellExecutionComplete  # nbclient does not ask in all cases what else was raised here

    def handle_comm_msg(self, *args: Any) -> None:
        """Leave widgets alone: no page shows them, and what they would catch stays in its cell."""

    def _measure(self, content: dict[str, Any]) -> None:
        """Raise ``GalleryError`` for too much, for what is no Unicode and wrong rows."""
        data = content.get("data")
        try:
            errors = "surrogatepass" if data is None else "strict"
            self.left -= len(json.dumps(content, ensure_ascii=False).encode(errors=errors))
        except UnicodeEncodeError as error:
            text = f"shows text that is no Unicode: {error.object[error.start]!a}"
            remedy = "encode it with errors='backslashreplace'"
            raise GalleryError(text, remedy=remedy) from None
        if self.left < 0:
            remedy = "print and show less or raise output_limit in recording.toml"
            raise GalleryError(f"printed and showed more than {self.limit:g} MB", remedy=remedy)
        if isinstance(data, dict):
            _require_right_data(data)


def _require_right_data(data: dict[str, Any]) -> None:
    """Raise ``GalleryError`` for wrong rows or spans: now, not when the recipe has ended."""
    kinds = {MIME: ("rows", parse), SPANS_MIME: ("spans", parse_spans)}
    for mime, (name, parse_data) in kinds.items():
        if mime in data:
            try:
                parse_data(data[mime])
            except ValueError as error:
                raise GalleryError(f"published wrong {name}: {error}", remedy=REMEDY) from None


class Run:
    """One run of a recipe, in a folder of its own."""

    def __init__(
        self,
        recipe: Recipe,
        conditions: Conditions,
        folder: Path,
        started: float,
        *,
        is_to_fail: bool = False,
    ) -> None:
        """Prepare a run whose time began at ``started``, in seconds of the monotonic clock."""
        self.recipe, self.folder, self.is_to_fail = recipe, folder, is_to_fail
        own = {name: recipe.settings[name] for name in _LIMITS & recipe.settings.keys()}
        self.settings = replace(conditions.settings, **own)
        self._ends = started + self.settings.deadline
        self.environment = conditions.kernel_environment(folder / "caches") | {
            "IPYTHONDIR": str(folder / "ipython"),
            "JUPYTER_RUNTIME_DIR": str(folder / "jupyter"),
        }
        # ZMQ takes what is Unicode
        name = str(folder)
        self._may_hold_sockets = name.isprintable() and len(os.fsencode(name)) <= _LONGEST_PATH
        temporary = folder / "tmp" if self._may_hold_sockets else None
        if temporary:
            temporary.mkdir()
            self.environment["TMPDIR"] = str(temporary)
        hidden = (folder, recipe.path.resolve().parent, Path(__file__).parents[2])
        secrets = find_secrets(conditions.environment)
        self._cleaner = Cleaner(hidden=hidden, secrets=secrets, temporary=temporary)

    def time_left(self) -> float:
        """Return the seconds until the deadline; 0 or less if it has passed."""
        return self._ends - time.monotonic()

    async def execute(self, on_cell: Callable[[int], None]) -> NotebookNode:
        """Execute all cells; return them as a notebook with cleaned outputs.

        ``on_cell`` is called with each cell's number as it starts. No process is left. Raises
        ``KernelDiedError`` if the kernel was killed from outside, ``GalleryError`` for anything
        else that keeps the recipe from running to its end.
        """
        cells = self.recipe.cells
        new_cells = [
            nbformat.v4.new_code_cell(each.code, id=f"cell-{each.number}") for each in cells
        ]
        notebook = nbformat.v4.new_notebook(cells=new_cells)
        context = zmq.asyncio.Context()
        context.rcvhwm = 0  # what is not read yet is kept, not dropped
        context.reconnect_ivl = 10  # milliseconds; by default the kernel is looked for every 100
        launcher = Path(__file__).with_name("kernel_process.py")
        command = [sys.executable, str(launcher), str(self.recipe.path.resolve())]
        spec = self.folder / "kernels/recipe/kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": command, "language": "python", "display_name": ""}))
        manager = AsyncKernelManager(
            kernel_name="recipe",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(self.folder / "kernels")]),
            context=context,
            client_factory=_KernelClient,
            connection_file=str(self.folder / "kernel.json"),
            # in the file system nobody else on the machine can talk to the kernel
            transport="ipc" if self._may_hold_sockets else "tcp",
        )
        # A lost end of a cell is an error, where nbclient would go on.
        client = _Client(notebook, km=manager, record_timing=False, raise_on_iopub_timeout=True)
        client.limit = self.settings.output_limit
        client.left = client.limit * 1e6
        try:
            with (self.folder / "kernel.log").open("wb") as log:
                await client.async_start_new_kernel(
                    cwd=str(self.folder), env=self.environment, stdout=log, stderr=log
                )
            provisioner: Any = manager.provisioner
            process = client.guard = provisioner.process
            with kernel_runs(process.pid):
                await self._wait_for_kernel(client, process)
                for cell, node in zip(cells, notebook.cells, strict=True):
                    on_cell(cell.number)
                    if await self._execute_cell(client, process, cell, node):
                        break
                else:
                    if self.is_to_fail:
                        text = "runs to its end, but expected_failing_examples in conf.py names it"
                        remedy = "take it out there"
                        raise GalleryError(text, path=self.recipe.path, remedy=remedy)
        finally:
            if client.kc:
                client.kc.stop_channels()
            context.destroy(linger=0)
        # Not while cells run: nbclient remembers places in the outputs for updates of a display.
        for node in notebook.cells:
            node.outputs = drop_lines(self._cleaner.clean_outputs(node.outputs), self.settings.drop)
        return notebook

    async def _wait_for_kernel(self, client: _Client, process: Any) -> None:
        """Wait until the kernel answers and its outputs arrive; nbclient waits 0.2 s more."""
        manager: Any = client.km
        kernel = client.kc = manager.client()
        kernel.start_channels(stdin=False, hb=False)
        kernel.allow_stdin = False
        while process.poll() is None and self.time_left() > 0:
            kernel.kernel_info()
            with contextlib.suppress(Empty):
                await kernel.shell_channel.get_msg(timeout=1)
                await kernel.iopub_channel.get_msg(timeout=1)
                return
        why, remedy = f" in time ({self._limit('deadline')})", "raise the limit in the recipe"
        if (code := process.poll()) is not None:
            why = f": the kernel's process ended {describe_end(code)}"
            log = (self.folder / "kernel.log").read_text(errors="replace")
            remedy = _INSTALL + indent(self._cleaner.clean_text(log).splitlines())
        text = f"the kernel did not start{why}"
        raise GalleryError(text, path=self.recipe.path, remedy=remedy)

    def _limit(self, name: str) -> str:
        return f"sphinx_gallery_{name} = {getattr(self.settings, name):g} s"

    async def _execute_cell(
        self, client: _Client, process: Any, cell: Cell, node: NotebookNode
    ) -> bool:
        """Execute one cell, and tell whether it ended in an error that is expected.

        Raises ``GalleryError`` if it ends in another way than it should.
        """
        began, left = time.monotonic(), self.time_left()
        limit: Any = max(min(self.settings.cell_timeout, left), 0)
        client.timeout_func = lambda _cell: limit
        client.iopub_timeout = int(limit) + 1  # for what is printed, but not yet read
        kind: type[GalleryError] = GalleryError
        place = (cell.inlined.path, cell.inlined.line) if cell.inlined else None
        try:
            if left <= 0:
                raise CellTimeoutError("no time is left to begin")
            try:
                await client.async_execute_cell(node, cell.number - 1)
            finally:
                if client.refused:
                    raise client.refused
            errors = [each for each in node.outputs if each.output_type == "error"]
            node.metadata["recording"] = {"seconds": round(time.monotonic() - began, 2)}
            if self.is_to_fail or not errors:
                return bool(errors)
            # drawing a figure fails when the cell has ended
            text = f"showed an error: {self._one_line(errors[0].ename, errors[0].evalue)}"
            remedy = "mend the recipe"
        except CellTimeoutError:
            name = "deadline" if left < self.settings.cell_timeout else "cell_timeout"
            text = f"ran out of time ({self._limit(name)})"
            remedy = "make it do less or raise the limit in the recipe"
            place = None  # the recipe has the limit, not a module whose source the cell is
        except GalleryError as error:
            text, remedy = error.text, error.remedy
        except DeadKernelError:
            code = process.wait()
            text = f"ended early: the kernel's process ended {describe_end(code)}"
            remedy = "run the recipe as a script to see why; a recipe never ends its own process"
            if code == -signal.SIGKILL:
                kind, remedy = KernelDiedError, "try a smaller size or free memory"
                text = "ended early: the kernel was killed or ran out of memory"
        except CellExecutionError as error:
            if self.is_to_fail:
                return True
            text = f"failed: {self._one_line(error.ename, error.evalue)}"
            if error.ename == "NoneType":  # IPython could show no more: its last line names it
                last = self._cleaner.clean_text(error.traceback).strip().splitlines()[-1]
                text = f"failed: {last[:_CHARACTERS]}"
            remedy = self._find_remedy(error.ename, error.evalue)
            with contextlib.suppress(OSError):  # it may have removed its own file
                place = self._find_place(error.traceback) or place
            if error.ename in ("SystemExit", "KeyboardInterrupt"):
                text = f"ended with {error.ename}({error.evalue})"
                remedy = "a recipe runs to its end: print why a part is left out instead"
        path, line = place or (self.recipe.path, cell.line)
        text = f"cell {cell.number} of {len(self.recipe.cells)} {text}"
        raise kind(text, path=path, line=line, remedy=remedy + self._output_so_far(node))

    def _find_remedy(self, name: str, value: str) -> str:
        """Return what to do about an exception, which may not be the recipe's fault."""
        if name == "ModuleNotFoundError":
            return _INSTALL
        if name == "MemoryError" or "[Errno 12]" in value:
            return "try a smaller size or free memory"
        if "[Errno 28]" in value:
            return "make room, in TMPDIR as well"
        if name == "KeyError" and value.strip("'") in os.environ:
            return "recipes get listed variables: add it to inherit in recording.toml"
        if name != "FileNotFoundError":
            return "mend the recipe"
        words = re.findall(r"[^\s'\"]+", value)
        files = [each for each in words if (self.recipe.path.parent / each).is_file()]
        if files and not Path(files[-1]).is_absolute():
            return f"add a line to the recipe: # sphinx_gallery_inputs = {json.dumps(files[-1:])}"
        return (
            "a recipe runs in an empty folder, with the files beside it that its line "
            "'# sphinx_gallery_inputs' names"
        )

    def _find_place(self, traceback: str) -> tuple[Path, int] | None:
        """Return file and line of the last row of a cell that a traceback names, or None."""
        found = _FRAME.findall(self._cleaner.clean_text(traceback))
        number, row = map(int, found[-1]) if found else (0, 0)
        if not 0 < number <= len(self.recipe.cells):
            return None
        *before, cell = self.recipe.cells[:number]
        if cell.inlined:
            row -= cell.code.count("\n", 0, cell.code.rindex(cell.inlined.source))
            return (cell.inlined.path, cell.inlined.line + row - 1) if row > 0 else None
        # The rows of a cell stand in the recipe in this order, with settings between them.
        start = cell.line if cell.code.startswith(cell.source or "\n") else 1
        start = max(start, before[-1].line + 1 if before else 1)
        lines = self.recipe.path.read_text(encoding="utf-8").split("\n")
        left, line = enumerate(lines[start - 1 :], start), None
        for wanted in cell.code.split("\n")[:row]:
            line = next((each for each, text in left if text == wanted), None)
        return (self.recipe.path, line) if line else None

    def _one_line(self, name: str, value: str) -> str:
        """Return an exception in one line."""
        line = " ".join(self._cleaner.clean_text(f"{name}: {value}").split())
        return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}..."

    def _output_so_far(self, node: NotebookNode) -> str:
        """Return the end of what a cell printed, its traceback, and where it crashed, indented."""
        lines: list[str] = []
        last = node.outputs[-_LINES:]
        for output in last:
            if output.output_type == "stream":  # the whole may be large, and cleaned slowly
                output.text = output.text[-_LINES * _CHARACTERS :]
        for output in self._cleaner.clean_outputs(last):
            lines += "\n".join(output.get("traceback", [output.get("text", "")])).splitlines()
        with contextlib.suppress(FileNotFoundError):  # why Python crashed, and in which frames
            text = (self.folder / "crash").read_text(errors="replace")
            reason, _, threads = self._cleaner.clean_text(text).partition("\n")
            _, _, current = threads.partition("Current thread ")
            lines += [reason, *current.splitlines()[1:6]] if reason else []
        return indent(lines)


def indent(lines: list[str]) -> str:
    """Return lines to stand below a message: the last ones, none of them too long."""
    if len(lines) > _LINES:
        lines = [f"... ({len(lines) - _LINES} lines before)", *lines[-_LINES:]]
    return "".join(f"\n    {line[:_CHARACTERS]}" for line in lines)


def describe_end(code: int) -> str:
    """Say how a process ended that left ``code`` as its ``returncode``."""
    if code < 0:
        return f"by signal {-code} ({signal.strsignal(-code)})"
    return f"with exit status {code}"
