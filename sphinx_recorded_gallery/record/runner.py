"""What `recorded-gallery record` asks of whatever runs its tasks, here or on other machines."""

from collections import deque
from collections.abc import Generator, Sequence
from typing import Protocol

from .run_task import Result, Task


class Runner(Protocol):
    """Runs tasks, several of them at the same time where it can."""

    @property
    def hosts(self) -> set[tuple[str, str, str]]:
        """Host, name of the device and release of what is measured, wherever tasks may run."""
        ...

    def run(self, waiting: deque[Task], signals: Sequence[int]) -> Generator[tuple[Task, Result]]:
        """Yield each task with its result as it ends, until ``waiting`` is empty.

        The caller may append tasks to ``waiting`` meanwhile. Raises ``KeyboardInterrupt`` as soon
        as ``signals`` has a number in it, and ``GalleryError`` if the tasks cannot be run.
        """
        ...
