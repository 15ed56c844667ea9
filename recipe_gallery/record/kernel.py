"""Run the cells of one recipe in a fresh Jupyter kernel that leaves nothing running behind."""

import contextlib
import copy
import json
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
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

from ..project import GalleryError
from ..recipes.recipe import Cell, Recipe
from .outputs import Cleaner

# Marks what a recipe starts; processes keep it when they leave their parent and its session.
_MARK = "RECIPE_GALLERY_RUN"
_INSTALL = "install what recipes need"


class KernelDiedError(GalleryError):
    """The kernel ended on its own: killed from outside, out of memory, or crashed."""


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

    def error(
        self, cell: Cell, text: str, remedy: str, node: NotebookNode | None = None
    ) -> GalleryError:
        """Return the error of a cell; what ``node`` put out so far is shown below it."""
        return GalleryError(
            f"cell {cell.number} of {len(self.recipe.cells)} {text}",
            path=self.recipe.path,
            line=cell.line,
            remedy=remedy + (self._output_so_far(node) if node else ""),
        )

    def execute(self) -> NotebookNode:
        """Execute all cells and return them as a notebook with cleaned outputs.

        Raises ``KernelDiedError`` if the kernel ends on its own, ``GalleryError`` for anything else
        that keeps the recipe from running to its end.
        """
        notebook = nbformat.v4.new_notebook(cells=[_new_cell(cell) for cell in self.recipe.cells])
        mark = uuid.uuid4().hex
        client = NotebookClient(
            notebook,
            km=_kernel_manager(self.scratch.parent / "kernels", self.recipe.path.resolve()),
            resources={"metadata": {"path": str(self.scratch)}},
            record_timing=False,
            shutdown_kernel="immediate",
        )
        try:
            with (
                _no_processes_left(mark) as note_children,
                client.setup_kernel(env=self.environment | {_MARK: mark}),
            ):
                try:
                    for cell, node in zip(self.recipe.cells, notebook.cells, strict=True):
                        self.on_cell(cell.number)
                        self._execute_cell(client, cell, node)
                finally:
                    note_children()
        except RuntimeError as error:  # jupyter_client's for a kernel that dies before it answers
            raise KernelDiedError(
                f"the kernel did not start: {error}", path=self.recipe.path, remedy=_INSTALL
            ) from None
        # Not while cells run: nbclient remembers places in the outputs for updates of a display.
        for node in notebook.cells:
            node.outputs = self.cleaner.clean_outputs(node.outputs)
        return notebook

    def _execute_cell(self, client: NotebookClient, cell: Cell, node: NotebookNode) -> None:
        left = self.time_left()
        too_late = (
            f"ran out of time (sphinx_gallery_deadline = {self.deadline:g} s)",
            "make the recipe do less or raise the limit in it",
        )
        if left <= 0:
            raise self.error(cell, *too_late)
        started = time.monotonic()
        client.timeout = math.ceil(min(self.cell_timeout, left))
        try:
            client.execute_cell(node, cell.number - 1)
        except CellTimeoutError:
            if left < self.cell_timeout:
                raise self.error(cell, *too_late, node) from None
            raise self.error(
                cell,
                f"ran out of time (sphinx_gallery_cell_timeout = {self.cell_timeout:g} s)",
                "make it do less or raise the limit in the recipe",
                node,
            ) from None
        except DeadKernelError:
            text = "ended early: the kernel was killed or ran out of memory"
            error = self.error(cell, text, "try a smaller size or free memory", node)
            raise KernelDiedError(
                error.text, path=error.path, line=error.line, remedy=error.remedy
            ) from None
        except CellExecutionError as error:
            raise self.error(cell, *self._explain(error), node) from None
        node.metadata["recording"] = {"seconds": round(time.monotonic() - started, 2)}
        if cell.raises:
            raised = [output.ename for output in node.outputs if output.output_type == "error"]
            if raised != [cell.raises]:
                raise self.error(
                    cell,
                    f"should end in {cell.raises} but ended in {raised or 'no exception'}",
                    "correct the code or its line '# sphinx_gallery_raises'",
                )

    def _explain(self, error: CellExecutionError) -> tuple[str, str]:
        """Return what is wrong with a cell that ended in an exception, and what to do."""
        if error.ename in ("SystemExit", "KeyboardInterrupt"):
            remedy = "a recipe runs to its end: print why a part is left out instead"
            return f"ended with {error.ename}({error.evalue})", remedy
        remedy = _INSTALL if error.ename == "ModuleNotFoundError" else "mend the recipe"
        return f"failed: {self.cleaner.clean_text(f'{error.ename}: {error.evalue}')}", remedy

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


def _kernel_manager(folder: Path, recipe: Path) -> AsyncKernelManager:
    """Return a manager for kernels of this very Python, whatever kernels the user has installed.

    Before the first cell the kernel has what a script finds: its own path in ``__file__``, the
    modules beside it, and no arguments.
    """
    start = (
        f"import sys; sys.path.insert(0, {str(recipe.parent)!r}); sys.argv[:] = ['']; del sys; "
        f"__file__ = {str(recipe)!r}"
    )
    spec = folder / "recipe"
    spec.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    argv.append(f"--IPKernelApp.exec_lines={start}")
    spec.joinpath("kernel.json").write_text(
        json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"})
    )
    specs = KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)
    # Sockets in the file system: nobody else on the machine can talk to the kernel.
    return AsyncKernelManager(
        kernel_name="recipe", kernel_spec_manager=specs, transport="ipc", ip=str(folder / "kernel")
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
