"""Run a program with a deadline, and leave neither the program nor its children behind."""

import contextlib
import os
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

# What git takes for another repository than that around a folder. Hooks and scripts set it.
_OF_A_REPOSITORY = (
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
)


def run_git(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git in the repository around ``path``; its messages are English.

    Raises ``OSError`` if git is not installed or gives no answer in time.
    """
    environment = {**os.environ, "LC_ALL": "C"}
    for name in _OF_A_REPOSITORY:
        environment.pop(name, None)
    return run_program(["git", "-C", str(path), *arguments], environment=environment)


def run_program(
    command: Sequence[str], *, seconds: float = 60, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end and return its status and output.

    Raises ``TimeoutError`` if it takes longer than ``seconds``, ``OSError`` if it cannot start.
    """
    # Output goes into files: a child that inherits a pipe would keep its reader waiting.
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
                os.killpg(process.pid, signal.SIGKILL)  # its session, even if it has ended itself
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)  # a process that hangs in a driver cannot be killed
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    return subprocess.CompletedProcess(command, status, *texts)
