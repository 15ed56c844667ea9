"""The process of one run: it starts the kernel, collects and cleans outputs, and ends all after it.

The recorder hands it a run through its input, which then stays open: when it closes, the recorder
has ended, and so does this process. How the run goes is told in lines of JSON, which
``supervise.py`` reads.
"""

import contextlib
import json
import os
import pickle
import secrets
import signal
import subprocess
import sys
import threading
import traceback
from pathlib import Path
from typing import Any, NoReturn

from ...errors import GalleryError
from ..machine.clocks import watch_clocks
from .remains import MARK, adopt_orphans, end_processes, remove
from .supervise import KernelDiedError, Run

# The longest path at which a recipe's own sockets in its folder for temporary files still work.
_LONGEST_TMPDIR = 60


def main() -> None:
    """Do one run and tell its result; nothing that it started is left."""
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library might print is no message

    def tell(**message: object) -> None:
        print(json.dumps(message), file=told, flush=True)

    run: Run = pickle.load(sys.stdin.buffer)
    adopt_orphans()
    recorder_ended = _end_with_recorder(run)
    try:
        with watch_clocks(run.sampling, Path("clocks.csv")) as read_clocks:
            process = start_kernel(run)
            from .kernel import execute  # takes as long as the kernel needs to start

            notebook = execute(run, process, lambda event, cell: tell(event=event, cell=cell))
            notebook["metadata"]["clocks"] = read_clocks()
        run.result.write_text(json.dumps(notebook), encoding="utf-8")
        result: dict[str, Any] = {"event": "done"}
    except GalleryError as error:
        result = {"event": "failed", "died": isinstance(error, KernelDiedError)}
        result |= {"text": error.text, "line": error.line, "remedy": error.remedy}
        result["path"] = str(error.path or run.recipe)
    except Exception as error:
        text = f"the recorder failed: {type(error).__name__}: {error}"
        remedy = "please report it with the lines below\n" + traceback.format_exc()
        if isinstance(error, OSError) and error.strerror:
            text = f"{error.filename or run.folder}: {error.strerror}"
            remedy = "mend it and record again"
        result = {"event": "failed", "died": False, "text": text, "line": None, "remedy": remedy}
        result["path"] = str(run.recipe)
    end_processes(run.folder, os.getpid())
    with contextlib.suppress(BrokenPipeError):
        tell(**result)
    recorder_ended.join()  # or this process is killed: the result has been read


def start_kernel(run: Run) -> "subprocess.Popen[bytes]":
    """Start the process of a fresh kernel in the run's folder, where its sockets and files lie."""
    connection = {
        # Sockets in the file system: nobody else on the machine can talk to the kernel. Relative
        # to the folder in which both processes are, since their whole path may be too long.
        "transport": "ipc",
        "ip": "kernel",
        "key": secrets.token_hex(),
        "signature_scheme": "hmac-sha256",
        **{
            f"{name}_port": n
            for n, name in enumerate(("shell", "iopub", "stdin", "control", "hb"), 1)
        },
    }
    Path("kernel.json").write_text(json.dumps(connection))
    own = {
        MARK: str(run.folder),
        "JPY_PARENT_PID": str(os.getpid()),  # it ends when this process has
        "IPYTHONDIR": str(run.folder / "ipython"),
        "JUPYTER_RUNTIME_DIR": str(run.folder / "jupyter"),
    }
    if len(str(run.temporary)) <= _LONGEST_TMPDIR:
        run.temporary.mkdir()
        own["TMPDIR"] = str(run.temporary)
    launcher = str(Path(__file__).with_name("launcher.py"))
    with Path("kernel.log").open("wb") as log:
        return subprocess.Popen(
            [sys.executable, launcher, str(run.file), str(run.output_limit)],
            env=run.environment | own,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )


def _end_with_recorder(run: Run) -> threading.Thread:
    """End this process and all that it started when the recorder has ended, or on a signal.

    Returns the thread that waits for it.
    """

    def end(*_: object) -> NoReturn:
        end_processes(run.folder, os.getpid())
        remove(run.folder)
        os._exit(1)  # at once: nothing that a library wants to do at its end may hang

    def wait() -> None:
        sys.stdin.buffer.read()
        end()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    # Also if no Python code gets its turn any more, in a regular expression for one.
    signal.setitimer(signal.ITIMER_REAL, max(run.time_left(), 0) + 60)
    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


if __name__ == "__main__":
    main()
