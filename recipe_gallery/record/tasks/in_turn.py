"""Do tasks one after another, each in a process that this one looks after."""

import itertools
from collections import deque
from collections.abc import Iterator, Sequence

from ..machine.conditions import prepare
from ..machine.gpu import Gpu
from ..progress import Forecast, Progress
from .task import Ear, Result, Task, attempt


class InTurn:
    """The one place where tasks run: a GPU of this machine, or its processor."""

    def __init__(self, gpu: Gpu | None, tasks: Sequence[Task], progress: Progress) -> None:
        """Prepare for the galleries of ``tasks``; raise ``GalleryError`` if one cannot run."""
        self._progress = progress
        self._conditions = {
            each: prepare(each, gpu, progress.say)
            for each in dict.fromkeys(task.file.gallery for task in tasks)
        }

    @property
    def places(self) -> set[tuple[str, str]]:
        """The host and the name of the device."""
        return {each.place for each in self._conditions.values()}

    def run(self, waiting: deque[Task]) -> Iterator[tuple[Task, Result]]:
        """Yield what comes of each task, also of those that are added meanwhile."""
        forecast = Forecast()
        for number in itertools.count(1):
            if not waiting:
                return
            task = waiting.popleft()
            title = f"{task.title} ({number} of {number + len(waiting)})"

            def show(cell: int, task: Task = task, title: str = title) -> None:
                kinds = [each.kind for each in waiting]
                left = forecast.describe(kinds, [(task.kind, self._progress.seconds)])
                self._progress.show_cell(title, cell, task.cells, left)

            ear = Ear(on_start=self._progress.start, on_cell=show, say=self._progress.say)
            result = attempt(task, self._conditions[task.file.gallery], ear)
            forecast.learn(task.kind, self._progress.seconds)
            yield task, result
