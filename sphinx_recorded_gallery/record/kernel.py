"""Run the cells of a recipe in a fresh kernel; return a notebook with normalized outputs."""

import ast
import contextlib
import json
import os
import subprocess
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
from .cleanup import guard_kernel
from .environment_variables import find_secrets
from .explain_failure import Failure, explain, explain_shown_error, explain_start
from .normalize_outputs import WIDGET_VIEW, OutputNormalizer, drop_lines, join_streams
from .run_environment import Conditions, kernel_environment

_LIMITS = {"cell_timeout", "deadline"}  # settings that a recipe may override
# Paths of sockets have at most 107 characters, also of those that recipes put into TMPDIR.
_LONGEST_PATH = 55
_WIDGET = "jupyter.widget"  # target name of the channels of widgets
_OWNER = "widget"  # key of an output, while cells run, for the widget that caught it


class _Outputs(AsyncZMQSocketChannel):
    """IOPub channel that attributes all output to the running cell.

    nbclient drops output whose parent is an earlier cell, such as output of a background thread.
    """

    request = ""  # id of the request that runs the cell

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]
        """Return the next message."""
        msg = await super().get_msg(timeout)
        if msg["msg_type"] not in ("status", "clear_output"):
            msg["parent_header"]["msg_id"] = self.request
        return msg


class _KernelClient(AsyncKernelClient):
    """A client whose channel knows the current request."""

    iopub_channel_class = Type(_Outputs)

    def execute(self, *code: Any, **options: Any) -> str:
        """Send code to be executed, and return the request's id."""
        request = super().execute(*code, **options)
        self.iopub_channel.request = request
        return request


class _Client(NotebookClient):
    """Puts the outputs of a kernel into cells; ends the kernel if they are too large or invalid.

    Pages show no widgets, so output that an output widget of Jupyter would catch stays in its cell.
    Clearing such a widget removes only the output that it caught.
    """

    def __init__(self, notebook: NotebookNode, manager: AsyncKernelManager, limit: float) -> None:
        """Prepare to run ``notebook``; the outputs of its cells may have ``limit`` MB together."""
        # If the end of a cell is lost, nbclient would go on by default.
        super().__init__(notebook, km=manager, record_timing=False, raise_on_iopub_timeout=True)
        self.refused: GalleryError | None = None  # the reason why the kernel was ended
        self._megabytes = limit
        self._bytes_left = limit * 1e6
        self._output_widgets: set[str] = set()
        self._catching: list[str] = []  # output widgets that catch, the innermost last
        self._to_clear: set[str] = set()  # output widgets to clear before their next output

    @property
    def process(self) -> "subprocess.Popen[bytes]":
        """The process that guards the kernel, see kernel_process.py."""
        manager: Any = self.km
        process: subprocess.Popen[bytes] = manager.provisioner.process
        return process

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Put an output into its cell."""
        try:
            self._measure(msg["content"])
            if msg["msg_type"] == "stream" and self._continues(cell, msg["content"]):
                # faster than an output for each line
                cell.outputs[-1]["text"] += msg["content"]["text"]
                return None
            return super().process_message(msg, cell, cell_index)
        except nbformat.ValidationError as error:
            place = " of ".join(str(part) for part in reversed(error.absolute_path))
            text = f"shows an output that is invalid in a notebook: {place}: {error.message[:200]}"
            self.refused = GalleryError(text, remedy="show text, or a picture in base64")
        except GalleryError as error:
            self.refused = error
        self.process.terminate()  # the cell may run for long yet
        raise CellExecutionComplete  # nbclient does not pass on all other exceptions

    def output(
        self, outs: list[NotebookNode], msg: dict[str, Any], display_id: str | None, cell_index: int
    ) -> NotebookNode | None:
        """Add an output to those of a cell, unless it is the view of an output widget."""
        view = msg["content"].get("data", {}).get(WIDGET_VIEW, {})
        if view.get("model_id") in self._output_widgets:
            return None
        owner = self._owner
        if owner in self._to_clear:
            self._clear_widget(outs, owner)
        output = super().output(outs, msg, display_id, cell_index)
        if output is not None and owner:
            output[_OWNER] = owner
        return output

    def clear_output(self, outs: list[NotebookNode], msg: dict[str, Any], cell_index: int) -> None:
        """Remove the outputs of a cell, or those of the widget that is to be cleared."""
        owner = self._owner
        if not owner:
            super().clear_output(outs, msg, cell_index)
        elif msg["content"].get("wait"):
            self._to_clear.add(owner)
        else:
            self._clear_widget(outs, owner)

    def handle_comm_msg(
        self, outs: list[NotebookNode], msg: dict[str, Any], cell_index: int
    ) -> None:
        """Follow the output widgets: which exist, when they catch, and what code puts into them."""
        content = msg["content"]
        widget = content.get("comm_id", "")
        state = (content.get("data") or {}).get("state") or {}
        is_new = msg["msg_type"] == "comm_open" and content.get("target_name") == _WIDGET
        if is_new and state.get("_model_name") == "OutputModel":
            self._output_widgets.add(widget)
        if widget not in self._output_widgets:
            return
        if state.get("msg_id"):
            self._catching.append(widget)
        elif "msg_id" in state and widget in self._catching:
            self._catching.remove(widget)
        if state.get("outputs"):  # set by code, such as append_stdout()
            self._clear_widget(outs, widget)
            for widget_output in state["outputs"]:
                output = nbformat.from_dict(widget_output)
                nbformat.validate(output, ref="output", version=4)
                outs.append(nbformat.from_dict({**output, _OWNER: widget}))

    @property
    def _owner(self) -> str:
        """The widget that catches output now; empty if none does."""
        return self._catching[-1] if self._catching else ""

    def _continues(self, cell: NotebookNode, content: dict[str, Any]) -> bool:
        """Return whether printed text continues the last output of the cell."""
        if self.clear_before_next_output or self._owner in self._to_clear or not cell.outputs:
            return False
        last = cell.outputs[-1]
        is_same_owner = last.get(_OWNER, "") == self._owner
        return is_same_owner and last.get("name") == content.get("name", "")

    def _clear_widget(self, outputs: list[NotebookNode], widget: str) -> None:
        """Empty the outputs that a widget caught in a cell.

        They stay as empty texts, since nbclient remembers positions for updates of a display.
        """
        self._to_clear.discard(widget)
        for place, output in enumerate(outputs):
            if output.get(_OWNER) == widget:
                outputs[place] = nbformat.v4.new_output("stream", name="stdout", text="")

    def _measure(self, content: dict[str, Any]) -> None:
        """Raise ``GalleryError`` for too much output, text that is not Unicode, or invalid rows."""
        data = content.get("data")
        try:
            errors = "surrogatepass" if data is None else "strict"
            text = json.dumps(content, ensure_ascii=False)
            self._bytes_left -= len(text.encode(errors=errors))
        except UnicodeEncodeError as error:
            raise GalleryError(
                f"shows text that is not Unicode: {error.object[error.start]!a}",
                remedy="encode it with errors='backslashreplace'",
            ) from None
        if self._bytes_left < 0:
            raise GalleryError(
                f"printed and showed more than {self._megabytes:g} MB",
                remedy="print and show less or raise output_limit in recording.toml",
            )
        if isinstance(data, dict):
            _require_right_data(data)


def _require_right_data(data: dict[str, Any]) -> None:
    """Raise ``GalleryError`` for invalid rows or spans, without waiting for the recipe's end."""
    kinds = {MIME: ("rows", parse), SPANS_MIME: ("spans", parse_spans)}
    for mime, (name, parse_data) in kinds.items():
        if mime in data:
            try:
                parse_data(data[mime])
            except ValueError as error:
                raise GalleryError(f"published invalid {name}: {error}", remedy=REMEDY) from None


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
        describes_names: bool = False,
    ) -> None:
        """Prepare a run whose time began at ``started``, in seconds of the monotonic clock.

        With ``describes_names``, the notebook's metadata say what names in its code refer to.
        """
        self.recipe = recipe
        self.folder = folder
        self.is_to_fail = is_to_fail
        self.describes_names = describes_names
        own_limits = {name: recipe.settings[name] for name in _LIMITS & recipe.settings.keys()}
        self.settings = replace(conditions.settings, **own_limits)
        self._ends = started + self.settings.deadline
        self.environment = kernel_environment(
            conditions.settings, conditions.gallery, conditions.environment, folder / "caches"
        )
        self.environment["IPYTHONDIR"] = str(folder / "ipython")
        self.environment["JUPYTER_RUNTIME_DIR"] = str(folder / "jupyter")
        # ZMQ needs paths in Unicode.
        name = str(folder)
        self._may_hold_sockets = name.isprintable() and len(os.fsencode(name)) <= _LONGEST_PATH
        temporary = folder / "tmp" if self._may_hold_sockets else None
        if temporary:
            temporary.mkdir()
            self.environment["TMPDIR"] = str(temporary)
        self._cleaner = OutputNormalizer(
            hidden=(folder, recipe.path.resolve().parent, Path(__file__).parents[2]),
            secrets=find_secrets(conditions.environment),
            temporary=temporary,
            python_path=self.environment.get("PYTHONPATH", ""),
        )

    def time_left(self) -> float:
        """Return the seconds until the deadline; 0 or less if it has passed."""
        return self._ends - time.monotonic()

    async def execute(self, on_cell: Callable[[int], None]) -> NotebookNode:
        """Execute all cells; return a notebook with normalized outputs.

        ``on_cell`` is called with the number of each cell as it starts. No process is left behind.
        Raises ``KernelDiedError`` if the kernel was killed from outside, ``GalleryError`` for
        anything else that keeps the recipe from running to its end.
        """
        new_cells = []
        for cell in self.recipe.cells:
            new_cells.append(nbformat.v4.new_code_cell(cell.code, id=f"cell-{cell.number}"))
        notebook = nbformat.v4.new_notebook(cells=new_cells)
        context = zmq.asyncio.Context()
        context.rcvhwm = 0  # keep unread messages instead of dropping them
        context.reconnect_ivl = 10  # milliseconds between attempts to connect, by default 100
        client = _Client(notebook, self._kernel_manager(context), self.settings.output_limit)
        try:
            with (self.folder / "kernel.log").open("wb") as log:
                await client.async_start_new_kernel(
                    cwd=str(self.folder), env=self.environment, stdout=log, stderr=log
                )
            with guard_kernel(client.process.pid):
                await self._wait_for_kernel(client)
                await self._execute_cells(client, notebook, on_cell)
                if self.describes_names:
                    notebook.metadata["names"] = await self._describe_names(client)
        finally:
            if client.kc:
                client.kc.stop_channels()
            context.destroy(linger=0)
        # Only now: while cells run, nbclient remembers positions for updates of a display.
        for node in notebook.cells:
            for output in node.outputs:
                output.pop(_OWNER, None)
            cleaned = self._cleaner.clean_outputs(join_streams(node.outputs))
            node.outputs = drop_lines(cleaned, self.settings.drop)
        return notebook

    def _kernel_manager(self, context: zmq.asyncio.Context) -> AsyncKernelManager:
        """Return the manager that starts the kernel's process, which nobody else can talk to."""
        launcher = Path(__file__).with_name("kernel_process.py")
        command = [sys.executable, str(launcher), str(self.recipe.path.resolve())]
        spec = self.folder / "kernels/recipe/kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps({"argv": command, "language": "python", "display_name": ""}))
        return AsyncKernelManager(
            kernel_name="recipe",
            kernel_spec_manager=KernelSpecManager(kernel_dirs=[str(self.folder / "kernels")]),
            context=context,
            client_factory=_KernelClient,
            connection_file=str(self.folder / "kernel.json"),
            # Other users of the machine cannot reach sockets in the file system.
            transport="ipc" if self._may_hold_sockets else "tcp",
        )

    async def _wait_for_kernel(self, client: _Client) -> None:
        """Wait until the kernel answers and its outputs arrive, 0.2 s faster than nbclient."""
        manager: Any = client.km
        kernel = client.kc = manager.client()
        kernel.start_channels(stdin=False, hb=False)
        kernel.allow_stdin = False
        while client.process.poll() is None and self.time_left() > 0:
            kernel.kernel_info()
            with contextlib.suppress(Empty):
                await kernel.shell_channel.get_msg(timeout=1)
                await kernel.iopub_channel.get_msg(timeout=1)
                return
        exit_code = client.process.poll()
        limit = self._describe_limit("deadline")
        raise explain_start(self.recipe, self.folder, limit, exit_code, self._cleaner)

    async def _execute_cells(
        self, client: _Client, notebook: NotebookNode, on_cell: Callable[[int], None]
    ) -> None:
        """Execute the cells in order; raise ``GalleryError`` if they do not end as expected."""
        for cell, node in zip(self.recipe.cells, notebook.cells, strict=True):
            on_cell(cell.number)
            began = time.monotonic()
            has_failed = await self._execute_cell(client, cell, node)
            if has_failed:
                return
            node.metadata["recording"] = {"seconds": round(time.monotonic() - began, 2)}
        if self.is_to_fail:
            text = "runs to its end, but expected_failing_examples in conf.py names it"
            raise GalleryError(text, path=self.recipe.path, remedy="remove it there")

    async def _describe_names(self, client: _Client) -> dict[str, Any]:
        """Return what names in the code refer to; nothing if the kernel does not answer in time."""
        code = "\n".join(cell.code for cell in self.recipe.cells)
        question = f"__import__('IPython').get_ipython().describe_names({code!r})"
        kernel: Any = client.kc
        request = kernel.execute("", silent=True, user_expressions={"names": question})
        with contextlib.suppress(Empty, KeyError, ValueError, SyntaxError):
            reply: dict[str, Any] = {"parent_header": {}}
            while reply["parent_header"].get("msg_id") != request:
                reply = await kernel.get_shell_msg(timeout=max(min(self.time_left(), 30), 0))
            answer = reply["content"]["user_expressions"]["names"]["data"]["text/plain"]
            names: dict[str, Any] = json.loads(ast.literal_eval(answer))
            return names
        return {}

    async def _execute_cell(self, client: _Client, cell: Cell, node: NotebookNode) -> bool:
        """Execute one cell; return whether it ended in an expected error.

        Raises ``GalleryError`` if it does not end as expected.
        """
        time_left = self.time_left()
        ends_at_deadline = time_left < self.settings.cell_timeout
        seconds: Any = max(min(self.settings.cell_timeout, time_left), 0)
        client.timeout_func = lambda _cell: seconds
        client.iopub_timeout = int(seconds) + 1  # for output that is not read yet

        def failure(exit_code: int | None = None) -> Failure:
            return Failure(
                recipe=self.recipe,
                cell=cell,
                node=node,
                limit=self._describe_limit("deadline" if ends_at_deadline else "cell_timeout"),
                exit_code=exit_code,
                folder=self.folder,
                cleaner=self._cleaner,
            )

        try:
            if time_left <= 0:
                raise CellTimeoutError("no time is left to begin")
            try:
                await client.async_execute_cell(node, cell.number - 1)
            finally:
                if client.refused:
                    raise client.refused
        except DeadKernelError as error:
            raise explain(error, failure(client.process.wait())) from None
        except CellExecutionError as error:
            if self.is_to_fail:
                return True
            raise explain(error, failure()) from None
        except (CellTimeoutError, GalleryError) as error:
            raise explain(error, failure()) from None
        errors = [output for output in node.outputs if output.output_type == "error"]
        if errors and not self.is_to_fail:
            raise explain_shown_error(errors[0], failure())
        return bool(errors)

    def _describe_limit(self, name: str) -> str:
        """Return a limit in the form of a recipe's setting: ``sphinx_gallery_deadline = 5 s``."""
        return f"sphinx_gallery_{name} = {getattr(self.settings, name):g} s"
