"""The kernel's process: IPython's kernel as if the user had never used IPython, for one recipe.

It is run by its path and imports nothing of this package: a recipe finds only its own modules. It
reads no settings of the user, loses nothing that is printed, and what cannot be printed fails where
it is printed, as in a script.

An example of a gallery was written as a script, so what libraries do otherwise in Jupyter, such as
drawing bars as widgets, they do not do here.
"""

import ast
import asyncio
import codecs
import contextlib
import ctypes
import faulthandler
import io
import json
import os
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
# What libraries in C print waits in this process until it is flushed: no terminal is behind it.
_C = ctypes.CDLL(None)
_C_STDOUT = ctypes.c_void_p.in_dll(_C, "__stdoutp" if sys.platform == "darwin" else "stdout")


class ByteStream(io.BufferedIOBase):
    """Takes what a recipe prints as bytes; those that are no text show as U+FFFD."""

    def __init__(self, stream: "Stream") -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        """Return that it takes bytes."""
        return True

    def write(self, content: Any) -> int:
        """Print bytes, which may end within a character."""
        shown = bytes(content)
        self._stream.write(self._decoder.decode(shown))
        return len(shown)

    def fileno(self) -> int:
        """Return what child processes may be given as their output."""
        return self._stream.fileno()

    def flush(self) -> None:
        """Send what was printed."""
        self._stream.flush()

    def close(self) -> None:
        """Stay open: what wrapped it may be gone long before the last line is printed."""


class Stream(OutStream):
    """What a recipe prints; what child processes and libraries in C print keeps its place."""

    last_written: ClassVar["Stream | None"] = None

    def __init__(self, *args: Any, **options: Any) -> None:
        self._pipe_lock = threading.RLock()  # a recipe's signal handler may print, too
        self._pipe_decoder = codecs.getincrementaldecoder("utf-8")("replace")
        super().__init__(*args, **options)
        self.buffer = ByteStream(self)

    def write(self, string: str) -> int:
        """Write as a script does: ``stdout`` refuses what is no Unicode, ``stderr`` escapes it."""
        errors = "strict" if self.name == "stdout" else "backslashreplace"
        shown = string.encode("utf-8", errors).decode()
        self._keep_order()
        self._read_pipe()
        return super().write(shown) or 0

    def _keep_order(self) -> None:
        """Send what the other stream still holds: each of them is sent by itself, and later."""
        last, Stream.last_written = Stream.last_written, self
        if last is not None and last is not self and self._is_master_process():
            OutStream.flush(last)

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
                super().write(self._pipe_decoder.decode(os.read(self._fid, 2**16)))


class UnflushedStream:
    """Stands for what a recipe has put in the place of a stream, and the kernel cannot flush.

    It may be None, closed, or an object of the recipe that only writes.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write as the recipe's own stream does; None prints nothing, as in a script."""
        return len(text) if self._stream is None else self._stream.write(text)

    def flush(self) -> None:
        """Do nothing."""


def mend_streams() -> None:
    """Let the kernel flush what it will flush after each cell: it would not answer otherwise."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        try:
            stream.flush()
        except Exception:  # a recipe's stream may do anything
            setattr(sys, name, UnflushedStream(stream))


def pack(content: object) -> bytes:
    """Return JSON in ASCII: text that is no Unicode arrives, for its reader to say what it is."""
    with contextlib.suppress(TypeError, ValueError):
        return json.dumps(content, default=json_default, allow_nan=False).encode()
    return json.dumps(json_clean(content)).encode()


class RecipeDisplayHook(ZMQShellDisplayHook):
    """Shows the value of a cell's last expression, and says what it was besides its looks.

    Sphinx-Gallery chooses by type, or by ``str()``, what of it a page shows.
    """

    def compute_format_data(self, result: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the forms of a value and what is known of it."""
        forms, metadata = super().compute_format_data(result)
        if _is_open_figure(result):  # it is shown at the end of the cell
            forms = {"text/plain": forms["text/plain"]}
            metadata = {}
        facts = {"type": str(type(result))}
        own_words: Any = type(result).__str__
        if own_words is not object.__str__:  # which is its repr()
            with contextlib.suppress(Exception):  # it may do anything
                facts["str"] = str(result)
        return forms, {**metadata, "recorded_gallery": facts}


class RecipeShell(ZMQInteractiveShell):
    """Runs cells. Its name is not IPython's: libraries take that for a notebook with widgets."""

    displayhook_class = Type(RecipeDisplayHook)

    def run_cell(self, *args: Any, **options: Any) -> Any:
        """Run a cell without ``await`` as a script: its ``asyncio.run()`` finds no running loop."""
        loop = asyncio.get_running_loop()
        task = asyncio.current_task()
        # as a loop does that is entered and left, see "Extending" in the documentation of asyncio
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
        """Return as JSON what names in code lead to, for links: lists of Sphinx-Gallery's facts."""
        from sphinx_gallery.backreferences import NameFinder  # slow to import, and not always asked

        finder = NameFinder(dict(self.user_ns))
        finder.visit(ast.parse(code))
        names: dict[str, list[tuple[str, bool, bool]]] = {}
        for name, full_name, is_attribute, is_class, _is_explicit in finder.get_mapping():
            targets = names.setdefault(name, [])
            if not full_name.startswith("__main__.") and "." in full_name:
                targets.append((full_name, is_attribute, is_class))
        return json.dumps({name: targets for name, targets in sorted(names.items()) if targets})


class RecipePythonKernel(IPythonKernel):
    """IPython's kernel with a shell of its own."""

    shell_class = Type(RecipeShell)


class RecipeKernel(IPKernelApp):
    """IPython's kernel without whatever a user has set, and without loss."""

    kernel_class = Type(RecipePythonKernel)
    outstream_class = f"{__name__}.{Stream.__name__}"

    def load_config_file(self, *args: object, **options: object) -> None:
        """Read no settings, neither the user's nor the system's."""

    def init_iopub(self, context: Any) -> None:
        """Open the socket for outputs: it keeps what a busy reader has not read yet."""
        context.sndhwm = 0  # by default messages are dropped when more than 1,000 wait
        super().init_iopub(context)


def print_figure(figure: Any, fmt: str = "png", *, base64: bool = False, **options: Any) -> Any:
    """Return a picture of a figure as Sphinx-Gallery saves it, and its titles.

    IPython's function, whose place this takes, draws no figure without axes and overrides the
    settings ``savefig.*`` of Matplotlib. Pictures are as large as their author made them.
    """
    from matplotlib import rcParams
    from matplotlib.colors import to_rgba

    if to_rgba(figure.get_facecolor()) != to_rgba(rcParams["figure.facecolor"]):
        options.setdefault("facecolor", figure.get_facecolor())
    if to_rgba(figure.get_edgecolor()) != to_rgba(rcParams["figure.edgecolor"]):
        options.setdefault("edgecolor", figure.get_edgecolor())
    # IPython's default cuts margins off. A setting of its own for that makes traitlets warn, which
    # is an error in a recipe that takes warnings for errors.
    options.pop("bbox_inches", None)
    is_retina = fmt == "retina"
    if is_retina:
        options["dpi"] = 2 * figure.dpi
    file = io.BytesIO()
    figure.savefig(file, format="png" if is_retina else fmt, **options)
    picture = file.getvalue()
    if is_retina:  # IPython's caller looks at the bytes for their size
        return picture
    shown: str | bytes = picture
    if fmt == "svg":
        shown = picture.decode()
    elif base64:
        shown = b2a_base64(picture, newline=False).decode()
    titles = [figure.get_suptitle(), *(axes.get_title() for axes in figure.axes)]
    return shown, {"alt": ", ".join(title for title in titles if title)}


def _is_open_figure(value: object) -> bool:
    """Whether a value is a figure that ``show_open_figures`` will show."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not isinstance(value, pyplot.Figure):
        return False
    return value.number in pyplot.get_fignums() if hasattr(value, "number") else False


def show_open_figures() -> None:
    """Show the figures of Matplotlib that are open at the end of a cell, and close them.

    IPython's backend does so itself with those that were made in its interactive mode, and in the
    order in which they were used; here all are shown, in the order of their numbers.
    """
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None or not pyplot.get_fignums():
        return
    # only here: they are slow to import
    from matplotlib_inline.backend_inline import show
    from matplotlib_inline.config import InlineBackend

    if "inline" not in pyplot.get_backend():
        pylabtools.select_figure_formats(get_ipython(), {"png"})
    elif not InlineBackend.instance().close_figures:  # the recipe shows them again as they change
        return
    try:
        for number in pyplot.get_fignums():
            pyplot.figure(number)  # which becomes the last one
        show(close=True)
    except Exception:  # what cannot be drawn is an error of the cell
        get_ipython().showtraceback()


def stand_guard() -> None:
    """Go on as a child of this process, which ends what the kernel leaves, and then as it did.

    It also ends all when it is asked to, or the recorder is gone. What loses its parent below
    becomes its child, also with an empty environment and in a session of its own. Only Linux has
    this.
    """
    if sys.platform != "linux":
        return
    _C.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    recorder, kernel = int(os.environ["JPY_PARENT_PID"]), os.fork()
    if not kernel:
        os.setsid()
        os.environ["JPY_PARENT_PID"] = str(os.getppid())
        return

    def end(*_: object) -> NoReturn:
        _end_children()
        os._exit(1)

    signal.signal(signal.SIGTERM, end)
    _C.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != recorder:  # it was killed before
        end()
    ended, status = 0, 0
    while ended != kernel:
        ended, status = os.wait()
    _end_children()
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        with contextlib.suppress(OSError):  # nobody can handle SIGKILL
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _end_children() -> None:
    """Kill what descends from this process, until nothing is left."""
    began = time.monotonic()
    while children := psutil.Process().children():  # theirs are its own when they have ended
        for each in children:
            with contextlib.suppress(psutil.Error):
                # Python's keeper of shared memory ends after all that use it
                tidies = any("multiprocessing.resource_tracker" in word for word in each.cmdline())
                if not tidies or time.monotonic() > began + _TO_TIDY_UP:
                    each.kill()
        psutil.wait_procs(children, timeout=0.1)


def main(recipe: Path) -> None:
    """Run a kernel in which a recipe finds what a script finds: its file, the modules beside it."""
    stand_guard()
    sys.argv[:] = [str(recipe)]
    config = Config({"HistoryManager": {"enabled": False}})
    config.InteractiveShell.display_page = True  # what a person would read page by page
    config.Session.packer = f"{__name__}.{pack.__name__}"
    config.RecipeKernel.connection_file = str(Path("kernel.json").resolve())
    # Nobody debugs, and to load the debugger is a third of the start.
    sys.modules["debugpy"] = None  # type: ignore[assignment]
    app = RecipeKernel.instance(config=config)
    app.initialize([])
    del sys.modules["debugpy"]
    # A recipe that gives them back after it has put others in their place goes on printing.
    vars(sys).update(__stdout__=sys.stdout, __stderr__=sys.stderr)
    # What sends opens a socket for that when it first does: a recipe may have no file left for it.
    send, iopub = app.session.send, app.iopub_thread
    iopub.schedule(lambda: send(iopub, "status", {"execution_state": "starting"}))
    shell: Any = app.shell
    # By these tqdm takes a kernel for a notebook with widgets.
    shell.config.pop("IPKernelApp", None)
    sys.modules.pop("ipykernel.zmqshell", None)
    for name in ("exit", "quit"):  # a script's: IPython's own do not end the cell
        shell.user_ns.pop(name, None)
        shell.builtin_trap.auto_builtins.pop(name, None)
    vars(pylabtools)["print_figure"] = print_figure  # what draws figures for IPython's own backend
    shell.events.register("post_execute", mend_streams)
    shell.events.register("post_execute", show_open_figures)
    shell.user_ns["__file__"] = str(recipe)
    shell.user_ns["__doc__"] = ""  # as Sphinx-Gallery has it: the page has the text already
    sys.path.insert(0, str(recipe.parent))
    faulthandler.enable(Path("crash").open("w"))  # noqa: SIM115 (open as long as the process)
    os.chdir("work")
    app.start()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the folder of this file, or of the one that it is a link to
    main(Path(sys.argv[1]))
