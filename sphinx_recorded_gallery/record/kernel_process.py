"""The kernel's process: an IPython kernel for one recipe, without any settings of the user.

It is run by its path and imports nothing of this package, so that a recipe finds only its own
modules. It loses no output, and text that cannot be printed fails in the line that prints it, as in
a script.

Examples of a gallery are written as scripts. So libraries should not behave otherwise here, as many
do in Jupyter, for example by drawing progress bars as widgets.
"""

import ast
import asyncio
import codecs
import contextlib
import ctypes
import faulthandler
import functools
import io
import json
import os
import re
import select
import signal
import sys
import threading
import time
from binascii import b2a_base64
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import psutil
from ipykernel.displayhook import ZMQShellDisplayHook
from ipykernel.iostream import OutStream
from ipykernel.ipkernel import IPythonKernel
from ipykernel.kernelapp import IPKernelApp
from ipykernel.zmqshell import ZMQInteractiveShell
from IPython import get_ipython
from IPython.core import pylabtools
from jupyter_client.jsonutil import json_clean, json_default
from traitlets import Type
from traitlets.config import Config

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # of Linux' <sys/prctl.h>
_TO_TIDY_UP = 3  # seconds
# To call functions of C: prctl, and fflush, as libraries in C buffer what they print until it is
# flushed, where it does not go to a terminal.
_C = ctypes.CDLL(None)
_C_STDOUT = ctypes.c_void_p.in_dll(_C, "__stdoutp" if sys.platform == "darwin" else "stdout")


_activate_matplotlib = pylabtools.activate_matplotlib
_DEFERS_FIGURES = re.compile(r"^[ \t]*#[ \t]*sphinx_gallery_defer_figures\b", re.MULTILINE)


class ByteStream(io.BufferedIOBase):
    """Receives the bytes that a recipe prints; invalid ones are shown as U+FFFD."""

    def __init__(self, stream: "Stream") -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """Return True: it accepts bytes."""
        return True

    def write(self, content: Any) -> int:
        """Print bytes, which may end within a character."""
        data = bytes(content)
        self._stream.write(self._decoder.decode(data))
        return len(data)

    def fileno(self) -> int:
        """Return a descriptor for the output of child processes."""
        return self._stream.fileno()

    def flush(self) -> None:
        """Send the output so far."""
        self._stream.flush()

    def close(self) -> None:
        """Stay open: a wrapper around it may be deleted long before the last line is printed."""


class Stream(OutStream):
    """Output of a recipe, in order with that of child processes and of libraries in C."""

    last_written: ClassVar["Stream | None"] = None

    def __init__(self, *args: Any, **options: Any) -> None:
        self._pipe_lock = threading.RLock()  # a recipe's signal handler may print, too
        self._pipe_decoder = codecs.getincrementaldecoder("utf-8")("replace")
        super().__init__(*args, **options)
        self.buffer = ByteStream(self)

    def write(self, string: str) -> int:
        """Write as in a script: ``stdout`` refuses invalid Unicode, ``stderr`` escapes it."""
        errors = "strict" if self.name == "stdout" else "backslashreplace"
        text = string.encode("utf-8", errors).decode()
        self._keep_order()
        self._read_pipe()
        return super().write(text) or 0

    def _keep_order(self) -> None:
        """Send what the other stream still holds: each stream is sent separately, and later."""
        last = Stream.last_written
        Stream.last_written = self
        if last is not None and last is not self and self._is_master_process():
            OutStream.flush(last)

    def reconfigure(self, **_options: Any) -> None:
        """Accept the settings of a text stream: what is printed is recorded as Unicode anyway."""

    def fileno(self) -> int:
        """Return a descriptor for the output of child processes, which is recorded, too."""
        return int(self._original_stdstream_fd)

    def flush(self) -> None:
        """Send the output so far, first that of child processes."""
        self._read_pipe()
        super().flush()

    def _watch_pipe_fd(self) -> None:
        """Read the output of child processes; unlike IPython, do not show it on the terminal."""
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
                super().write(self._pipe_decoder.decode(os.read(self._fid, 2**16)))


class UnflushedStream:
    """Wraps a recipe's replacement of a stream that the kernel cannot flush.

    The replacement may be None, closed, or an object that only has ``write``.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write to the replacement; None prints nothing, as in a script."""
        if self._stream is None:
            return len(text)
        return self._stream.write(text)

    def flush(self) -> None:
        """Do nothing."""


def mend_streams() -> None:
    """Make both streams flushable: the kernel flushes them after each cell, or never answers."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            stream.flush()
        except Exception:  # a recipe's stream may do anything
            setattr(sys, name, UnflushedStream(stream))


def pack(content: object) -> bytes:
    """Return JSON in ASCII, in which invalid Unicode arrives, so that its reader can report it."""
    with contextlib.suppress(TypeError, ValueError):
        return json.dumps(content, default=json_default, allow_nan=False).encode()
    return json.dumps(json_clean(content)).encode()


class RecipeDisplayHook(ZMQShellDisplayHook):
    """Shows the value of a cell's last expression, with its type, ``str()`` and ``repr()``.

    Settings of Sphinx-Gallery select by these what a page shows.
    """

    def quiet(self) -> bool:
        """Show a value with a semicolon behind it, too, as Sphinx-Gallery does."""
        return False

    def compute_format_data(self, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the forms of a value, and its metadata."""
        forms, metadata = super().compute_format_data(result)
        if _is_open_figure(result):  # shown at the end of the cell
            forms = {"text/plain": forms["text/plain"]}
            metadata = {}
        facts = {"type": str(type(result))}
        str_method: Any = type(result).__str__
        with contextlib.suppress(Exception):  # a recipe's method may do anything
            if str_method is not object.__str__:  # else str() equals repr()
                facts["str"] = str(result)
            text = repr(result)
            if text != forms.get("text/plain"):  # IPython prints some values in its own way
                facts["repr"] = text
        return forms, {**metadata, "recorded_gallery": facts}


class RecipeShell(ZMQInteractiveShell):
    """Runs cells as in a script.

    Its name matters: libraries that find IPython's class name draw widgets, as in a notebook.
    """

    displayhook_class = Type(RecipeDisplayHook)
    defers_figures = False  # whether the figures of the current cell are left to the next one

    def transform_cell(self, raw_cell: str) -> str:
        """Return a cell as it is: IPython would take ``>>>`` out of a text of several lines."""
        self.defers_figures = _DEFERS_FIGURES.search(raw_cell) is not None
        return raw_cell if raw_cell.endswith("\n") else f"{raw_cell}\n"

    def run_cell(self, *args: Any, **options: Any) -> Any:
        """Run a cell without ``await`` as in a script: ``asyncio.run()`` finds no running loop."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        # As a nested loop does, see "Extending" in the documentation of asyncio.
        if task is not None:
            asyncio.tasks._leave_task(loop, task)
        asyncio._set_running_loop(None)
        try:
            return super().run_cell(*args, **options)
        finally:
            asyncio._set_running_loop(loop)
            if task is not None:
                asyncio.tasks._enter_task(loop, task)

    def describe_names(self, code: str) -> str:
        """Return as JSON what names in code refer to: the facts that Sphinx-Gallery links by."""
        from sphinx_gallery.backreferences import NameFinder  # slow to import, not always needed

        finder = NameFinder(dict(self.user_ns))
        finder.visit(ast.parse(code))
        names: dict[str, list[tuple[str, bool, bool]]] = {}
        for name, full_name, is_attribute, is_class, _is_explicit in finder.get_mapping():
            targets = names.setdefault(name, [])
            if not full_name.startswith("__main__.") and "." in full_name:
                targets.append((full_name, is_attribute, is_class))
        with_targets = {name: targets for name, targets in sorted(names.items()) if targets}
        return json.dumps(with_targets)


class RecipePythonKernel(IPythonKernel):
    """IPython's kernel with our shell."""

    shell_class = Type(RecipeShell)


class RecipeKernel(IPKernelApp):
    """IPython's kernel without settings of the user, and without loss of output."""

    kernel_class = Type(RecipePythonKernel)
    outstream_class = f"{__name__}.{Stream.__name__}"

    def load_config_file(self, *args: object, **options: object) -> None:
        """Read no settings, neither the user's nor the system's."""

    def init_iopub(self, context: Any) -> None:
        """Open the socket for outputs, which keeps all messages until they are read."""
        context.sndhwm = 0  # by default, messages are dropped when more than 1,000 wait
        super().init_iopub(context)


def print_figure(figure: Any, fmt: str = "png", *, base64: bool = False, **options: Any) -> Any:
    """Return a picture of a figure as Sphinx-Gallery saves it, and its titles.

    It replaces IPython's function, which draws no figure without axes and overrides Matplotlib's
    settings ``savefig.*``. Pictures keep the size that their author chose.
    """
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    if to_rgba(figure.get_facecolor()) != to_rgba(rcParams["figure.facecolor"]):
        options.setdefault("facecolor", figure.get_facecolor())
    if to_rgba(figure.get_edgecolor()) != to_rgba(rcParams["figure.edgecolor"]):
        options.setdefault("edgecolor", figure.get_edgecolor())
    # IPython's default cuts off margins. Changing that by a setting makes traitlets warn, which is
    # an error in a recipe that treats warnings as errors.
    options.pop("bbox_inches", None)
    is_retina = fmt == "retina"
    if is_retina:
        options["dpi"] = 2 * figure.dpi
    file = io.BytesIO()
    figure.savefig(file, format="png" if is_retina else fmt, **options)
    picture = file.getvalue()
    if is_retina:  # IPython's caller reads the size from the bytes
        return picture
    data: str | bytes = picture
    if fmt == "svg":
        data = picture.decode()
    elif base64:
        data = b2a_base64(picture, newline=False).decode()
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    return data, {"alt": ", ".join(title for title in titles if title)}


def activate_matplotlib(backend: str) -> None:
    """Set IPython's backend up; a figure that is shown without waiting stays open, as in a script.

    The backend would close it, so that what a recipe draws after ``plt.pause()`` would be lost.
    """
    from matplotlib_inline import backend_inline

    show = backend_inline.show

    @functools.wraps(show)
    def show_and_wait(close: bool | None = None, block: bool | None = None) -> None:
        if block is not False:  # else the figures are shown at the end of the cell
            show(close, block)

    backend_inline.show = show_and_wait
    _activate_matplotlib(backend)


def _is_open_figure(value: object) -> bool:
    """Return whether a value is a figure that ``show_open_figures`` will show."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not isinstance(value, pyplot.Figure):
        return False
    return hasattr(value, "number") and value.number in pyplot.get_fignums()


def show_open_figures() -> None:
    """Show the open figures of Matplotlib at the end of a cell, and close them.

    IPython's backend only shows those that were made in its interactive mode, in the order in which
    they were used; here all are shown, in the order of their numbers.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return
    # slow to import
    from matplotlib_inline.backend_inline import show
    from matplotlib_inline.config import InlineBackend

    if "inline" not in pyplot.get_backend():
        pylabtools.select_figure_formats(get_ipython(), {"png"})
    elif not InlineBackend.instance().close_figures:  # the recipe shows them again after changes
        return
    if get_ipython().defers_figures:
        # Else the backend shows them after this. These are attributes of a function.
        show._to_draw = []  # type: ignore[attr-defined]
        show._draw_called = False  # type: ignore[attr-defined]
        return
    try:
        for number in pyplot.get_fignums():
            pyplot.figure(number)  # makes it the last one used
        show(close=True)
    except Exception:  # a figure that cannot be drawn is an error of the cell
        get_ipython().showtraceback()


def stand_guard() -> None:
    """Fork: the child becomes the kernel, and the parent stays as its guard.

    The guard adopts orphaned descendants of the kernel. It kills them when the kernel exits, when
    it is terminated or when the recorder is gone, and exits with the kernel's status. Only Linux
    offers this.
    """
    if sys.platform != "linux":
        return
    _C.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    recorder = int(os.environ["JPY_PARENT_PID"])
    kernel_pid = os.fork()
    if kernel_pid == 0:  # in the child
        os.setsid()
        os.environ["JPY_PARENT_PID"] = str(os.getppid())
        return

    def end(*_: object) -> NoReturn:
        _end_children()
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    _C.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != recorder:  # it was killed already
        end()
    ended_pid, status = 0, 0
    while ended_pid != kernel_pid:
        ended_pid, status = os.wait()
    _end_children()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):  # SIGKILL has no handler
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _end_children() -> None:
    """Kill all descendants of this process."""
    began = time.monotonic()
    while True:
        children = psutil.Process().children()  # when they end, their children become its own
        if not children:
            return
        for child in children:
            with contextlib.suppress(psutil.Error):
                # Python's tracker of shared memory ends after all processes that use it.
                words = child.cmdline()
                is_tracker = any("multiprocessing.resource_tracker" in word for word in words)
                if not is_tracker or time.monotonic() > began + _TO_TIDY_UP:
                    child.kill()
        psutil.wait_procs(children, timeout=0.1)


def main(recipe: Path) -> None:
    """Run a kernel in which a recipe finds its file and the modules beside it, as a script does."""
    stand_guard()
    sys.argv[:] = [str(recipe)]
    config = Config({"HistoryManager": {"enabled": False}})
    config.InteractiveShell.display_page = True  # show text that IPython would open in a pager
    config.Session.packer = f"{__name__}.{pack.__name__}"
    config.RecipeKernel.connection_file = str(Path("kernel.json").resolve())
    # Loading the debugger, which nobody uses, would take a third of the start.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    app = RecipeKernel.instance(config=config)
    app.initialize([])
    del sys.modules["debugpy"]
    # A recipe that replaces the streams and restores them afterwards can go on printing.
    sys.__stdout__ = sys.stdout  # type: ignore[assignment, misc]
    sys.__stderr__ = sys.stderr  # type: ignore[assignment, misc]
    # Sending opens a socket at first use: a recipe may leave no free file descriptor for it.
    send = app.session.send
    iopub = app.iopub_thread
    iopub.schedule(lambda: send(iopub, "status", {"execution_state": "starting"}))
    shell: Any = app.shell
    # By these, tqdm would recognize a notebook with widgets.
    shell.config.pop("IPKernelApp", None)
    sys.modules.pop("ipykernel.zmqshell", None)
    for name in ("ps1", "ps2", "ps3"):  # prompts, by which code recognizes an interactive session
        delattr(sys, name)
    for name in ("exit", "quit"):  # as in a script; those of IPython do not end the cell
        shell.user_ns.pop(name, None)
        shell.builtin_trap.auto_builtins.pop(name, None)
    # Used by IPython's own backend
    pylabtools.print_figure = print_figure  # type: ignore[assignment]
    pylabtools.activate_matplotlib = activate_matplotlib
    shell.events.register("post_execute", mend_streams)
    shell.events.register("post_execute", show_open_figures)
    shell.user_ns["__file__"] = str(recipe)
    shell.user_ns["__doc__"] = ""  # as in Sphinx-Gallery: the page shows the text
    sys.path.insert(0, str(recipe.parent))
    faulthandler.enable(Path("crash").open("w"))  # noqa: SIM115 (open as long as the process)
    os.chdir("work")
    # Bokeh saves a page beside the file of the outermost frame, which is this one.
    globals()["__file__"] = str(Path(recipe.name).resolve())
    app.start()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of this file, or of the one that it is a link to
    main(Path(sys.argv[1]))
