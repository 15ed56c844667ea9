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


class KernelDiedError(GalleryError):
    """The kernel ended on its own: killed from outside, out of memory, or crashed."""


def run_recipe(
    recipe: Recipe,
    *,
    scratch: Path,
    environment: dict[str, str],
    cleaner: Cleaner,
    cell_timeout: float,
    deadline: float,
    on_cell: Callable[[int], None],
) -> NotebookNode:
    """Execute all cells of ``recipe`` and return them as a notebook with cleaned outputs.

    ``scratch`` is the empty working folder; ``environment`` the kernel's whole environment;
    ``cell_timeout`` and ``deadline`` are seconds. ``on_cell`` is called with each cell's number as
    it starts. Raises ``KernelDiedError`` if the kernel ends on its own, ``GalleryError`` for
    anything else that keeps the recipe from running to its end.
    """
    notebook = nbformat.v4.new_notebook(cells=[_notebook_cell(cell) for cell in recipe.cells])
    mark = uuid.uuid4().hex
    client = NotebookClient(
        notebook,
        km=_kernel_manager(scratch.parent / "kernels"),
        resources={"metadata": {"path": str(scratch)}},
        record_timing=False,
        shutdown_kernel="immediate",
    )
    ends = time.monotonic() + deadline
    try:
        with (
            _no_processes_left(mark) as note_children,
            client.setup_kernel(env=environment | {_MARK: mark}),
        ):
            try:
                for cell, node in zip(recipe.cells, notebook.cells, strict=True):
                    on_cell(cell.number)
                    _run_cell(client, recipe, cell, node, cleaner, cell_timeout, deadline, ends)
            finally:
                note_children()
    except RuntimeError as error:  # jupyter_client's for a kernel that dies before it answers
        raise KernelDiedError(
            f"{recipe.path}: the kernel did not start: {error}; "
            "install what recipes need: pip install -r requirements-record.txt"
        ) from None
    # Not while cells run: nbclient remembers places in the outputs for later updates of a display.
    for node in notebook.cells:
        node.outputs = cleaner.clean_outputs(node.outputs)
    return notebook


def _run_cell(
    client: NotebookClient,
    recipe: Recipe,
    cell: Cell,
    node: NotebookNode,
    cleaner: Cleaner,
    cell_timeout: float,
    deadline: float,
    ends: float,
) -> None:
    place = f"{recipe.path}:{cell.line}: cell {cell.number} of {len(recipe.cells)}"
    started = time.monotonic()
    out_of_time = GalleryError(
        f"{place} ran out of time (sphinx_gallery_deadline = {deadline:g} s); make the recipe do "
        "less or raise the limit in it"
    )
    if started >= ends:
        raise out_of_time
    client.timeout = math.ceil(min(cell_timeout, ends - started))
    try:
        client.execute_cell(node, cell.number - 1)
    except CellTimeoutError:
        if ends - started < cell_timeout:
            raise GalleryError(f"{out_of_time}{_output_so_far(node, cleaner)}") from None
        raise GalleryError(
            f"{place} ran out of time (sphinx_gallery_cell_timeout = {cell_timeout:g} s); make it "
            f"do less or raise the limit in the recipe{_output_so_far(node, cleaner)}"
        ) from None
    except DeadKernelError:
        raise KernelDiedError(
            f"{place}: the kernel was killed or ran out of memory; "
            f"try a smaller size or free memory{_output_so_far(node, cleaner)}"
        ) from None
    except CellExecutionError as error:
        raise GalleryError(_describe_exception(place, error, node, cleaner)) from None
    node.metadata["recording"] = {"seconds": round(time.monotonic() - started, 2)}
    if cell.raises:
        raised = [output.ename for output in node.outputs if output.output_type == "error"]
        if raised != [cell.raises]:
            raise GalleryError(
                f"{place} should end in {cell.raises} but ended in {raised or 'no exception'}; "
                "correct the code or its line '# sphinx_gallery_raises'"
            )


def _describe_exception(
    place: str, error: CellExecutionError, node: NotebookNode, cleaner: Cleaner
) -> str:
    if error.ename in ("SystemExit", "KeyboardInterrupt"):
        return (
            f"{place} ended with {error.ename}({error.evalue}); a recipe runs to its end: "
            f"print why a part is left out instead{_output_so_far(node, cleaner)}"
        )
    remedy = "mend the recipe"
    if error.ename == "ModuleNotFoundError":
        remedy = "install what recipes need: pip install -r requirements-record.txt"
    message = cleaner.clean_text(f"{error.ename}: {error.evalue}")
    return f"{place} failed: {message}; {remedy}{_output_so_far(node, cleaner)}"


def _output_so_far(node: NotebookNode, cleaner: Cleaner) -> str:
    """Return what the cell printed and its traceback, indented under the message."""
    lines: list[str] = []
    for output in cleaner.clean_outputs(copy.deepcopy(node.outputs)):
        if output.output_type == "stream":
            lines += output.text.splitlines()
        elif output.output_type == "error":
            lines += "\n".join(output.traceback).splitlines()
    return "".join(f"\n    {line}" for line in lines)


def _notebook_cell(cell: Cell) -> NotebookNode:
    node = nbformat.v4.new_code_cell(cell.source, id=f"cell-{cell.number}")
    if cell.raises:
        node.metadata["tags"] = ["raises-exception"]  # Jupyter's own word for it
    return node


def _kernel_manager(folder: Path) -> AsyncKernelManager:
    """Return a manager for kernels of this very Python, whatever kernels the user has installed."""
    spec = folder / "recipe"
    spec.mkdir(parents=True, exist_ok=True)
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
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
    """End what a recipe started: marked processes, and those noted as children while it ran.

    Yields a function that notes the children there are; call it before the kernel ends. What
    clears its environment and leaves its parents before that is called is not found.
    """
    children: list[psutil.Process] = []
    try:
        yield lambda: children.extend(psutil.Process().children(recursive=True))
    finally:
        # More than once: a process may have started another while the first ones were ended.
        for _ in range(5):
            marked = [process for process in psutil.process_iter() if _carries(process, mark)]
            left = [process for process in {*children, *marked} if process.is_running()]
            if not left:
                break
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(left, timeout=10)


def _carries(process: psutil.Process, mark: str) -> bool:
    try:
        return process.pid != os.getpid() and process.environ().get(_MARK) == mark
    except (psutil.Error, OSError):
        return False
