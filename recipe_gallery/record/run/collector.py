"""Collect what a kernel prints and shows: all of it, within a bound, as a notebook can hold it."""

import json
import subprocess
from typing import Any

import nbformat
from jupyter_client.asynchronous.client import AsyncKernelClient
from nbclient import NotebookClient
from nbformat import NotebookNode

from ...errors import GalleryError
from ...recipes.rows import MIME, REMEDY, parse

_SHOWN = ("display_data", "execute_result", "update_display_data")


class Client(AsyncKernelClient):
    """Talks to a kernel, and knows whether its process lives."""

    process: "subprocess.Popen[bytes]"

    async def is_alive(self) -> bool:
        """Tell whether the process lives."""
        return self.process.poll() is None

    _async_is_alive = is_alive


class Collector(NotebookClient):
    """Runs the cells of a notebook in a kernel and puts what they print and show into them."""

    def __init__(self, notebook: NotebookNode, kernel: Client, limit: float) -> None:
        """Collect from ``kernel`` up to ``limit`` MB; then end its process."""
        # A lost end of a cell is an error, where nbclient would go on.
        super().__init__(notebook, record_timing=False, raise_on_iopub_timeout=True)
        self.kc = self.kernel = kernel
        self.left = limit * 1e6  # bytes; less than 0 when there was too much
        self.refused: GalleryError | None = None  # why the process was ended

    async def async_execute_cell(self, cell: NotebookNode, *args: Any, **options: Any) -> Any:
        """Execute a cell; see NotebookClient. What streams printed is one text after it."""
        try:
            return await super().async_execute_cell(cell, *args, **options)
        finally:
            _join(cell)

    async def _check_raise_for_error(self, cell: NotebookNode, *args: Any) -> None:
        """Raise the error of a cell, which quotes what it printed."""
        _join(cell)
        await super()._check_raise_for_error(cell, *args)

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        """Put what was printed or shown into the cell; what may not stand there ends the run."""
        try:
            return self._put(msg, cell, cell_index)
        except GalleryError as error:
            self.refused = error
            self.kernel.process.kill()  # the cell may have much to do yet
            raise

    def _put(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        kind, content = msg["msg_type"], msg["content"]
        if kind in ("stream", "error"):
            content = msg["content"] = _escape(content)
        size = len(content["text"]) if kind == "stream" else 0
        if kind in _SHOWN:
            size = _measure(content)
            _check_published(content["data"])
        self.left -= size
        if self.left < 0:  # the kernel itself does not count what forked children print
            self.kernel.process.kill()
        if kind == "stream" and self._append(msg, cell.outputs):
            return None
        try:
            return super().process_message(msg, cell, cell_index)
        except nbformat.ValidationError as error:
            place = " of ".join(str(each) for each in reversed(error.absolute_path))
            text = f"shows what no notebook can hold: {place}: {error.message[:200]}"
            raise GalleryError(text, remedy="show text, or a picture in base64") from None

    def handle_comm_msg(self, outs: Any, msg: Any, cell_index: int) -> None:
        """Leave widgets alone: no page shows them, and what they would catch stays in its cell."""

    def _append(self, msg: dict[str, Any], outputs: list[NotebookNode]) -> bool:
        """Add to the last output if it is of the same stream: quicker than one for each line."""
        name, text = msg["content"]["name"], msg["content"]["text"]
        is_hooked = self.output_hook_stack.get(msg["parent_header"].get("msg_id"))
        if is_hooked or self.clear_before_next_output or not outputs:
            return False
        last = outputs[-1]
        if last.get("name") != name:
            return False
        if isinstance(last.text, str):
            last.text = [last.text]
        last.text.append(text)
        return True


def _join(cell: NotebookNode) -> None:
    """Make one text of what each stream of a cell printed."""
    for output in cell.outputs:
        if output.output_type == "stream":
            output.text = "".join(output.text)


def _check_published(data: dict[str, Any]) -> None:
    """Raise ``GalleryError`` for rows that are wrong now, not when the recipe has ended."""
    try:
        parse(data.get(MIME, {}))
    except ValueError as error:
        raise GalleryError(f"published wrong rows: {error}", remedy=REMEDY) from None


def _escape(content: Any) -> Any:
    """Return text without what is no Unicode, as Python shows it on a terminal."""
    if isinstance(content, str):
        return content.encode("utf-8", "backslashreplace").decode()
    if isinstance(content, dict):
        return {name: _escape(value) for name, value in content.items()}
    return [_escape(each) for each in content] if isinstance(content, list) else content


def _measure(content: dict[str, Any]) -> int:
    """Return the bytes of what is shown; raise ``GalleryError`` where text is no Unicode."""
    shown = json.dumps([content["data"], content["metadata"]], ensure_ascii=False)
    try:
        return len(shown.encode())
    except UnicodeEncodeError as error:
        text = f"shows text that is no Unicode: {error.object[error.start]!a}"
        raise GalleryError(text, remedy="encode it with errors='backslashreplace'") from None
