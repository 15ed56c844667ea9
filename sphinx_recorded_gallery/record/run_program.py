"""Run a program with a deadline, and leave neither it nor its children behind."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence


def ask(
    command: Sequence[str], *, seconds: float = 60, environment: Mapping[str, str] | None = None
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
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # its session, also when it has ended
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)  # what hangs in a driver cannot be killed
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return subprocess.CompletedProcess(command, status, *texts)
