"""Run the cells of a recipe in a kernel that was started, and collect what they print and show."""

import asyncio
import copy
import math
import re
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from queue import Empty

import nbformat
import zmq.asyncio
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ...errors import GalleryError
from .collector import Client, Collector
from .outputs.cleaner import Cleaner, Machine
from .supervise import CellToRun, KernelDiedError, Run, describe_end

_INSTALL = "install what recipes need"
_LONGER = "make it do less or raise the limit in the recipe"
_LINES = 60  # of what a cell printed, that an error shows
_CHARACTERS = 400  # of each line
_FRAME = re.compile(r"^Cell In\[(\d+)\], line (\d+)", re.MULTILINE)  # of a traceback

# Lives as long as the process: at its own end it would wait for sockets.
_CONTEXT = zmq.asyncio.Context()
_CONTEXT.rcvhwm = 0  # what is not read yet is kept, not dropped
_CONTEXT.reconnect_ivl = 10  # milliseconds; by default the kernel is looked for every 100

Tell = Callable[[str, int], None]  # what begins, "cell" or "cleaning", and of which cell


@dataclass(kw_only=True)
class Execution:
    """The cells of one recipe in one kernel."""

    run: Run
    collector: Collector
    cleaner: Cleaner

    async def execute(self, tell: Tell) -> NotebookNode:
        """Execute all cells and return them as a notebook with cleaned outputs.

        Raises ``KernelDiedError`` if the kernel was killed from outside, ``GalleryError`` for
        anything else that keeps the recipe from running to its end.
        """
        notebook = self.collector.nb
        await self._wait_for_kernel()
        for cell, node in zip(self.run.cells, notebook.cells, strict=True):
            tell("cell", cell.number)
            await self._execute_cell(cell, node)
        # Not while cells run: nbclient remembers places in the outputs for updates of a display.
        for cell, node in zip(self.run.cells, notebook.cells, strict=True):
            tell("cleaning", cell.number)
            node.outputs = self.cleaner.clean_outputs(node.outputs)
        return notebook

    async def _wait_for_kernel(self) -> None:
        """Wait until the kernel answers and its outputs arrive."""
        kernel = self.collector.kernel
        while await kernel.is_alive():
            if self.run.time_left() <= 0:
                limit = f"sphinx_gallery_deadline = {self.run.deadline:g} s"
                text = f"the kernel did not start in time ({limit})"
                remedy = "raise the limit in the recipe"
                raise GalleryError(text, path=self.run.recipe, remedy=remedy)
            kernel.kernel_info()
            try:
                await kernel.shell_channel.get_msg(timeout=1)
                await kernel.iopub_channel.get_msg(timeout=1)
            except Empty:
                continue
            return
        end = describe_end(kernel.process.wait())
        text = f"the kernel did not start: the kernel's process ended {end}"
        log = (self.run.folder / "kernel.log").read_text(errors="replace")
        shown = indent(self.cleaner.clean_text(log).splitlines())
        raise GalleryError(text, path=self.run.recipe, remedy=_INSTALL + shown)

    async def _execute_cell(self, cell: CellToRun, node: NotebookNode) -> None:
        started, left = time.monotonic(), self.run.time_left()
        kind, place = GalleryError, (cell.module or self.run.recipe, cell.line)
        try:
            if left <= 0:
                raise CellTimeoutError("no time is left to begin")
            limit = math.ceil(min(self.run.cell_timeout, left))
            # the latter for what is printed, but not yet read
            self.collector.timeout = self.collector.iopub_timeout = limit
            await self.collector.async_execute_cell(node, cell.number - 1)
            errors = [each for each in node.outputs if each.output_type == "error"]
            raised = [each.ename for each in errors]
            if raised == [cell.raises] * bool(cell.raises):
                node.metadata["recording"] = {"seconds": round(time.monotonic() - started, 2)}
                return
            text = f"should end in {cell.raises} but ended in {raised or 'no exception'}"
            remedy = "correct the code or its line '# sphinx_gallery_raises'"
            if not cell.raises:  # drawing a figure fails when the cell has ended
                text = f"showed an error: {self._describe_error(errors[0].ename, errors[0].evalue)}"
                remedy = "mend the recipe"
        except CellTimeoutError:
            name = "deadline" if left < self.run.cell_timeout else "cell_timeout"
            text = f"ran out of time (sphinx_gallery_{name} = {getattr(self.run, name):g} s)"
            remedy = _LONGER
        except DeadKernelError:
            kind, text, remedy = self._explain_death()
        except GalleryError as error:  # what no notebook can hold
            text, remedy = error.text, error.remedy
        except CellExecutionError as error:
            text = f"failed: {self._describe_error(error.ename, error.evalue)}"
            if error.ename == "NoneType":  # IPython could show no more: its last line names it
                last = self.cleaner.clean_text(error.traceback).strip().splitlines()[-1]
                text = f"failed: {last[:_CHARACTERS]}"
            remedy = _INSTALL if error.ename == "ModuleNotFoundError" else "mend the recipe"
            place = self._find_place(error.traceback) or place
            if error.ename in ("SystemExit", "KeyboardInterrupt"):
                text = f"ended with {error.ename}({error.evalue})"
                remedy = "a recipe runs to its end: print why a part is left out instead"
        raise kind(
            f"cell {cell.number} of {len(self.run.cells)} {text}",
            path=place[0],
            line=place[1],
            remedy=remedy + self._output_so_far(node),
        )

    def _find_place(self, traceback: str) -> tuple[Path, int] | None:
        """Return file and line of an error that was raised in the source of a module, or None."""
        found = _FRAME.findall(self.cleaner.clean_text(traceback))
        number, row = map(int, found[-1]) if found else (0, 0)
        cell = next((each for each in self.run.cells if each.number == number), None)
        if cell is None or cell.module is None or row <= cell.above:
            return None
        return cell.module, cell.line + row - cell.above - 1

    def _explain_death(self) -> tuple[type[GalleryError], str, str]:
        """Return the kind of error, the text and the remedy for a kernel that ended in a cell."""
        limit = self.run.output_limit
        if refused := self.collector.refused:
            return GalleryError, refused.text, refused.remedy
        if self.collector.left < 0 or (self.run.folder / "output_limit").exists():
            text = f"printed and showed more than {limit:g} MB (output_limit in recording.toml)"
            return GalleryError, text, "print and show less or raise the limit"
        code = self.collector.kernel.process.wait()
        if code == -signal.SIGKILL:
            text = "ended early: the kernel was killed or ran out of memory"
            return KernelDiedError, text, "try a smaller size or free memory"
        remedy = "run the recipe as a script to see why; a recipe never ends its own process"
        return GalleryError, f"ended early: the kernel's process ended {describe_end(code)}", remedy

    def _describe_error(self, name: str, value: str) -> str:
        """Return an exception in one line."""
        line = " ".join(self.cleaner.clean_text(f"{name}: {value}").split())
        return line if len(line) <= _CHARACTERS else f"{line[:_CHARACTERS]}..."

    def _output_so_far(self, node: NotebookNode) -> str:
        """Return the end of what a cell printed, its traceback, and where it crashed, indented."""
        lines: list[str] = []
        last = copy.deepcopy(node.outputs[-_LINES:])
        for output in last:
            if output.output_type == "stream":  # the whole may be large, and cleaned slowly
                output.text = output.text[-_LINES * _CHARACTERS :]
        for output in self.cleaner.clean_outputs(last):
            if output.output_type == "stream":
                lines += output.text.splitlines()
            elif output.output_type == "error":
                lines += "\n".join(output.traceback).splitlines()
        return indent(lines + self._read_crash())

    def _read_crash(self) -> list[str]:
        """Return what Python wrote as the kernel crashed: why, and where the recipe was."""
        try:
            text = (self.run.folder / "crash").read_text(errors="replace")
        except FileNotFoundError:
            return []
        reason, _, threads = self.cleaner.clean_text(text).partition("\n")
        _, _, current = threads.partition("Current thread ")
        return [reason, *current.splitlines()[1:6]] if reason else []


def indent(lines: list[str]) -> str:
    """Return lines to stand below a message: the last ones, none of them too long."""
    if len(lines) > _LINES:
        lines = [f"... ({len(lines) - _LINES} lines before)", *lines[-_LINES:]]
    return "".join(f"\n    {line[:_CHARACTERS]}" for line in lines)


def execute(run: Run, process: "subprocess.Popen[bytes]", tell: Tell) -> NotebookNode:
    """Execute a run in the kernel that ``process`` is; see ``Execution.execute``."""
    kernel = Client(context=_CONTEXT)
    kernel.process = process
    kernel.load_connection_file("kernel.json")
    kernel.start_channels(stdin=False, hb=False, control=False)
    notebook = nbformat.v4.new_notebook(cells=[_new_cell(cell) for cell in run.cells])
    collector = Collector(notebook, kernel, run.output_limit)
    # of the run's folder, and of the recipe: what lies there is named without its place
    machine = Machine.find()
    if run.temporary.exists():
        machine = replace(machine, temporary=str(run.temporary))
    cleaner = Cleaner(
        hidden=(run.folder, run.file.parent, Path(__file__).parents[3]),
        drop=map(re.compile, run.drop),
        secrets=run.secrets,
        machine=machine,
    )
    return asyncio.run(Execution(run=run, collector=collector, cleaner=cleaner).execute(tell))


def _new_cell(cell: CellToRun) -> NotebookNode:
    node = nbformat.v4.new_code_cell(cell.code, id=f"cell-{cell.number}")
    if cell.raises:
        node.metadata["tags"] = ["raises-exception"]  # Jupyter's own word for it
    return node
