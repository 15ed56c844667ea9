"""Run the cells of one recipe in a fresh Jupyter kernel that leaves nothing running behind."""

import contextlib
import copy
import math
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import psutil
import zmq.asyncio
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ...errors import GalleryError
from ...recipes.recipe import Cell, Recipe
from .outputs import Cleaner

# Marks what a recipe starts; processes keep it when they leave their parent and its session.
_MARK = "RECIPE_GALLERY_RUN"
_INSTALL = "install what recipes need"


class KernelDiedError(GalleryError):
    """The kernel ended on its own: killed from outside, out of memory, or crashed."""


class _OnlyOurKernel(KernelSpecManager):
    """Knows the kernel of this very Python, whatever kernels the user has installed."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        launcher = str(Path(__file__).with_name("launcher.py"))
        argv = [sys.executable, launcher, "-f", "{connection_file}"]
        return KernelSpec(argv=argv, display_name="Python 3", language="python")


@dataclass(frozen=True, kw_only=True)
class Run:
    """One run of a recipe; its time starts when it is made."""

    recipe: Recipe
    scratch: Path  # the empty working folder; files of the kernel itself lie beside it
    environment: dict[str, str]  # the kernel's whole environment
    cleaner: Cleaner
    cell_timeout: float  # seconds
    deadline: float  # seconds
    on_cell: Callable[[int], None]  # called with each cell's number as it starts
    started: float = field(default_factory=time.monotonic)

    def time_left(self) -> float:
        """Return the seconds until the deadline; 0 or less if it has passed."""
        return self.started + self.deadline - time.monotonic()

    def execute(self) -> NotebookNode:
        """Execute all cells and return them as a notebook with cleaned outputs.

        Raises ``KernelDiedError`` if the kernel ends on its own, ``GalleryError`` for anything else
        that keeps the recipe from running to its end.
        """
        notebook = nbformat.v4.new_notebook(cells=[_new_cell(cell) for cell in self.recipe.cells])
        mark = uuid.uuid4().hex
        context = zmq.asyncio.Context()
        context.rcvhwm = 0  # what is not read yet is kept, not dropped
        client = NotebookClient(
            notebook,
            km=AsyncKernelManager(
                context=context,
                kernel_name="python3",
                kernel_spec_manager=_OnlyOurKernel(),
                # sockets in the file system: nobody else on the machine can talk to the kernel
                transport="ipc",
                ip=str(self.scratch.parent / "kernel"),
            ),
            extra_arguments=[f"--IPKernelApp.exec_lines={_first_line(self.recipe.path.resolve())}"],
            resources={"metadata": {"path": str(self.scratch)}},
            record_timing=False,
            raise_on_iopub_timeout=True,
            shutdown_kernel="immediate",
        )
        environment = self.environment | {_MARK: mark}
        try:
            with _no_processes_left(mark) as note_children, client.setup_kernel(env=environment):
                try:
                    for cell, node in zip(self.recipe.cells, notebook.cells, strict=True):
                        self.on_cell(cell.number)
                        self._execute_cell(client, cell, node)
                finally:
                    note_children()
        except RuntimeError as error:  # jupyter_client's for a kernel that dies before it answers
            text = f"the kernel did not start: {error}"
            raise KernelDiedError(text, path=self.recipe.path, remedy=_INSTALL) from None
        # Not while cells run: nbclient remembers places in the outputs for updates of a display.
        for node in notebook.cells:
            node.outputs = self.cleaner.clean_outputs(node.outputs)
        return notebook

    def _execute_cell(self, client: NotebookClient, cell: Cell, node: NotebookNode) -> None:
        started, left = time.monotonic(), self.time_left()
        kind = GalleryError
        try:
            if left <= 0:
                raise CellTimeoutError("no time is left to begin")
            client.timeout = math.ceil(min(self.cell_timeout, left))
            client.iopub_timeout = client.timeout  # for what is printed, but not yet read
            client.execute_cell(node, cell.number - 1)
            raised = [output.ename for output in node.outputs if output.output_type == "error"]
            if not cell.raises or raised == [cell.raises]:
                node.metadata["recording"] = {"seconds": round(time.monotonic() - started, 2)}
                return
            text = f"should end in {cell.raises} but ended in {raised or 'no exception'}"
            remedy = "correct the code or its line '# sphinx_gallery_raises'"
        except CellTimeoutError:
            name = "deadline" if left < self.cell_timeout else "cell_timeout"
            text = f"ran out of time (sphinx_gallery_{name} = {getattr(self, name):g} s)"
            remedy = "make it do less or raise the limit in the recipe"
        except DeadKernelError:
            kind, text = KernelDiedError, "ended early: the kernel was killed or ran out of memory"
            remedy = "try a smaller size or free memory"
        except CellExecutionError as error:
            text = f"failed: {self.cleaner.clean_text(f'{error.ename}: {error.evalue}')}"
            remedy = _INSTALL if error.ename == "ModuleNotFoundError" else "mend the recipe"
            if error.ename in ("SystemExit", "KeyboardInterrupt"):
                text = f"ended with {error.ename}({error.evalue})"
                remedy = "a recipe runs to its end: print why a part is left out instead"
        raise kind(
            f"cell {cell.number} of {len(self.recipe.cells)} {text}",
            path=self.recipe.path,
            line=cell.line,
            remedy=remedy + self._output_so_far(node),
        )

    def _output_so_far(self, node: NotebookNode) -> str:
        """Return what a cell printed and its traceback, indented under the message."""
        lines: list[str] = []
        for output in self.cleaner.clean_outputs(copy.deepcopy(node.outputs)):
            if output.output_type == "stream":
                lines += output.text.splitlines()
            elif output.output_type == "error":
                lines += "\n".join(output.traceback).splitlines()
        return "".join(f"\n    {line}" for line in lines)


def _new_cell(cell: Cell) -> NotebookNode:
    node = nbformat.v4.new_code_cell(cell.code, id=f"cell-{cell.number}")
    if cell.raises:
        node.metadata["tags"] = ["raises-exception"]  # Jupyter's own word for it
    return node


def _first_line(recipe: Path) -> str:
    """Return code that gives a kernel what a script finds.

    That is: its own path in ``__file__``, the modules beside it, and no arguments.
    """
    return (
        f"import sys; sys.path.insert(0, {str(recipe.parent)!r}); sys.argv[:] = ['']; del sys; "
        f"__file__ = {str(recipe)!r}"
    )


@contextlib.contextmanager
def _no_processes_left(mark: str) -> Iterator[Callable[[], None]]:
    """End what a recipe started: marked processes, and their children noted while it ran.

    Yields a function that notes the children there are; call it before the kernel ends. What
    clears its environment and leaves its parents before that is called is not found.
    """
    children: list[psutil.Process] = []

    def note_children() -> None:
        for process in _marked(mark):
            with contextlib.suppress(psutil.NoSuchProcess):
                children.extend(process.children(recursive=True))

    try:
        yield note_children
    finally:
        # More than once: a process may have started another while the first ones were ended.
        for _ in range(5):
            left = [each for each in {*children, *_marked(mark)} if each.is_running()]
            if not left:
                break
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(left, timeout=10)


def _marked(mark: str) -> list[psutil.Process]:
    """Return the processes that carry the mark in their environment, the kernel first of all."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.pid != os.getpid() and process.environ().get(_MARK) == mark:
                found.append(process)
    return found
