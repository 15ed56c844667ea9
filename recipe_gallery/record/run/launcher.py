"""The kernel's process: IPython's kernel as if the user had never used IPython, for one recipe.

It is run by its path and imports nothing of this package: a recipe finds only its own modules. It
reads no profile, no startup file and no history. What a recipe prints is neither lost nor without
bound, and what cannot be printed fails where it is printed, as in a script.
"""

import codecs
import ctypes
import faulthandler
import io
import json
import os
import select
import sys
import threading
from pathlib import Path
from typing import Any

import zmq
from ipykernel.iostream import OutStream
from ipykernel.kernelapp import IPKernelApp
from jupyter_client.jsonutil import json_clean, json_default
from traitlets.config import Config

# What a message costs beside what it says: it limits how many small ones wait in memory.
_MESSAGE = 100  # bytes
# What libraries in C print waits in this process until it is flushed: no terminal is behind it.
_C = ctypes.CDLL(None)
_C_STDOUT = ctypes.c_void_p.in_dll(_C, "__stdoutp" if sys.platform == "darwin" else "stdout")


class _Limit:
    """Ends this process when a recipe has printed and shown more than it may.

    It ends at once, since a recipe may catch every exception.
    """

    def __init__(self) -> None:
        self.left = float("inf")  # bytes
        self._told = Path.cwd() / "output_limit"  # this file tells why the process ended
        self._process = os.getpid()  # what forked children print is counted by the reader

    def spend(self, size: int) -> None:
        self.left -= size
        if self.left < 0 and os.getpid() == self._process:
            self._told.touch()
            os._exit(1)


_limit = _Limit()


class _Bytes(io.BufferedIOBase):
    """``sys.stdout.buffer``: bytes as text of the stream."""

    def __init__(self, stream: "Stream") -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._stream.write(self._decoder.decode(bytes(data)))
        return len(data)

    def flush(self) -> None:
        self._stream.flush()


class Stream(OutStream):
    """What a recipe prints on ``stdout`` or ``stderr``.

    What its child processes and libraries in C print comes through a pipe, and keeps its place.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        self._pipe_lock = threading.RLock()  # a recipe's signal handler may print, too
        self._pipe_decoder = codecs.getincrementaldecoder("utf-8")("replace")
        super().__init__(*args, **options)
        self.buffer = _Bytes(self)

    def write(self, string: str) -> int:
        """Write as a script does: ``stdout`` refuses what is no Unicode, ``stderr`` escapes it."""
        if isinstance(string, str):
            if len(string) > _limit.left:  # do not encode a gigabyte to know
                _limit.spend(len(string))
            data = string.encode("utf-8", "strict" if self.name == "stdout" else "backslashreplace")
            _limit.spend(len(data))
            string = data.decode()
        self._read_pipe()
        return super().write(string) or 0

    def fileno(self) -> int:
        """Return what child processes may be given as their output: it is recorded, too."""
        return int(self._original_stdstream_fd)

    def flush(self) -> None:
        """Send what was printed, and first what others have printed so far."""
        self._read_pipe()
        super().flush()

    def _watch_pipe_fd(self) -> None:
        """Read what child processes print; unlike IPython's, do not show it on the terminal."""
        while self._fid and self._should_watch:
            select.select([self._fid], [], [])
            self._read_pipe()

    def _read_pipe(self) -> None:
        if not self._is_master_process():
            return
        if self.name == "stdout":
            _C.fflush(_C_STDOUT)
        with self._pipe_lock:
            while self._fid and select.select([self._fid], [], [], 0)[0]:
                data = os.read(self._fid, 2**16)
                _limit.spend(len(data))
                super().write(self._pipe_decoder.decode(data))


def _pack(content: object) -> bytes:
    """Return JSON in ASCII: text that is no Unicode arrives, for its reader to say what it is."""
    try:
        return json.dumps(content, default=json_default, allow_nan=False).encode()
    except (TypeError, ValueError):
        clean = json_clean(content)
        return json.dumps(clean, default=json_default, allow_nan=False).encode()


class RecipeKernelApp(IPKernelApp):
    """IPython's kernel without whatever a user has set, and without loss."""

    outstream_class = f"{__name__}.{Stream.__name__}"

    def load_config_file(self, *args: object, **options: object) -> None:
        """Read no settings, neither the user's nor the system's."""

    def _run_startup_files(self) -> None:
        """Run no startup file, neither the user's nor the system's."""

    def init_connection_file(self) -> None:
        """Read the file as it is named: IPython would look for ``$HOME`` in the folder's path."""
        self.load_connection_file()

    def write_connection_file(self, **_unused: object) -> None:
        """Write none: whoever starts this process has."""

    def init_heartbeat(self) -> None:
        """Open no socket for heartbeats: whoever started this process can see it."""

    def init_iopub(self, context: "zmq.Context[zmq.Socket[bytes]]") -> None:
        """Open the socket for outputs: it keeps what a busy reader has not read yet."""
        context.sndhwm = 0  # by default messages are dropped when more than 1,000 wait
        super().init_iopub(context)
        self.session.pack = _pack
        send = self.iopub_thread.send_multipart

        def send_counted(message: list[bytes], *args: Any, **options: Any) -> None:
            is_stream = message[0].startswith(b"stream.")  # counted when it was written
            _limit.spend(_MESSAGE + (0 if is_stream else sum(map(len, message[1:]))))
            send(message, *args, **options)

        self.iopub_thread.send_multipart = send_counted


def main(recipe: Path, output_limit: float) -> None:
    """Run a kernel in which a recipe finds what a script finds: its file, the modules beside it."""
    sys.argv[:] = [""]
    config = Config({"HistoryManager": {"enabled": False}})
    config.InteractiveShell.display_page = True  # what a person would read page by page
    app = RecipeKernelApp.instance(config=config)
    # A debugger that nobody attaches: its import would take a fifth of this process's start.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    try:
        app.initialize(["-f", "./kernel.json"])  # one without a folder is looked for elsewhere
    finally:
        del sys.modules["debugpy"]
    # A script's: IPython's own do not end the cell.
    shell: Any = app.shell
    for name in ("exit", "quit"):
        shell.user_ns.pop(name, None)
        shell.builtin_trap.auto_builtins.pop(name, None)
    shell.user_ns["__file__"] = str(recipe)
    sys.path.insert(0, str(recipe.parent))
    faulthandler.enable(Path("crash").open("w"))  # noqa: SIM115 (open as long as the process)
    # The sockets are open by now. Their paths are relative, for absolute ones may be too long.
    os.chdir("work")
    _limit.left = output_limit * 1e6
    app.start()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of this file, or of the one that it is a link to
    main(Path(sys.argv[1]), float(sys.argv[2]))
