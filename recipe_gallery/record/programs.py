"""Ask a program: run it with a deadline, and leave neither it nor its children behind."""

import contextlib
import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any


def ask(
    command: Sequence[str], *, seconds: float, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return what it printed.

    Raises ``TimeoutError`` if that takes longer, ``OSError`` if it cannot be started.
    """
    # Into files: whoever inherits a pipe keeps its reader waiting when the program has ended.
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment,
            start_new_session=True,
        )
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"no answer in {seconds:g} s") from None
        finally:
            _end(process)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return subprocess.CompletedProcess(command, status, *texts)


def read_json(done: subprocess.CompletedProcess[str]) -> dict[str, Any] | None:
    """Return the JSON object that a program printed; None if it failed or said something else."""
    with contextlib.suppress(ValueError, RecursionError):
        result = json.loads(done.stdout)
        if done.returncode == 0 and isinstance(result, dict):
            return result
    return None


def last_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return what a program that failed said last, at most 300 characters of it."""
    return (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1][:300]


def _end(process: subprocess.Popen[bytes]) -> None:
    left: list[Any] = []
    if process.returncode is None:
        import psutil  # may be missing where nothing is recorded, and git is asked

        with contextlib.suppress(psutil.Error):
            asked = psutil.Process(process.pid)
            left = [asked, *asked.children(recursive=True)]
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # its session, also when it has ended
    for each in left:
        with contextlib.suppress(psutil.Error):
            each.kill()
    if left:  # what hangs in a driver cannot be killed, so this does not wait for ever
        psutil.wait_procs(left, timeout=5)
