"""The interface of runners, which run the tasks of a recording here or on other machines."""

from collections import deque
from collections.abc import Generator, Sequence
from typing import Protocol

from .run_task import Result, Task


class Runner(Protocol):
    """Runs tasks, several at the same time if it can."""

    def find_recording_groups(self) -> set[tuple[str, str, str]]:
        """Return host, device and measured release of each place where tasks may run."""
        ...

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield each task with its result when it ends, until ``waiting`` is empty.

        The caller may append tasks to ``waiting`` meanwhile. Raises ``KeyboardInterrupt`` as soon
        as ``signals`` holds a number, and ``GalleryError`` if the tasks cannot be run.
        """
        ...
