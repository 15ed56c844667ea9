"""Work that several processes share (``-j``), which Sphinx forks for each part of it."""

import gc
import os
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any

from sphinx import builders
from sphinx.application import Sphinx
from sphinx.util.parallel import ParallelTasks, make_chunks, parallel_available

from ..errors import GalleryError, describe_error

MANY = 40  # pages; handing the environment from process to process takes longer than reading fewer
_WAIT = 0.02  # seconds
_IMPORTED = ("PIL.Image", "jupytext", "nbformat")  # else by each process for itself
_cut = partial(make_chunks, maxbatch=2)  # Sphinx's parts are so large that one is waited for


class Tasks(ParallelTasks):
    """Sphinx's, but not all parts are prepared at once, and what fails early is told, too."""

    _failed: Exception | None = None

    def add_task(
        self,
        task_func: Callable[..., Any],
        arg: Any = None,
        result_func: Callable[..., Any] | None = None,
    ) -> None:
        """Add a part; come back when at most one waits. They hold whole pages in memory."""
        try:
            super().add_task(partial(_tell, task_func), arg, result_func)
            while len(self._precvs_waiting) > 1 and not self._failed:
                if not self._join_one():
                    time.sleep(_WAIT)
            if self._failed:  # Sphinx's goes on without what failed
                raise self._failed
        except BaseException:
            self.terminate()  # others would wait for ever for somebody who takes what they found
            raise

    def _join_one(self) -> bool:
        try:
            return super()._join_one()
        except Exception as error:
            self._failed = error
            raise


def _tell(task: Callable[..., Any], *part: Any) -> Any:
    """Do a part; what goes wrong is told as it would be without other processes."""
    try:
        return task(*part)
    except Exception as error:
        raise GalleryError(describe_error(error)) from error


def can_share(app: Sphinx, work: Sequence[object]) -> bool:
    """Tell whether there is enough to do for several processes, and some may be had."""
    return len(work) >= MANY and app.parallel > 1 and parallel_available


def share(
    app: Sphinx,
    work: Sequence[str],
    do: Callable[[Sequence[str]], Any],
    take: Callable[[Any], object],
) -> None:
    """Let processes ``do`` parts of the work; ``take`` gets what they return, in any order."""
    prepare_forks()
    tasks = Tasks(app.parallel)
    for part in _cut(work, app.parallel):
        tasks.add_task(do, part, lambda _part, found: take(found))
    tasks.join()


@cache
def prepare_forks() -> None:
    """Do once what each process would do again, and let them share the memory."""
    for name in _IMPORTED:
        import_module(name)
    # Looking for waste among the objects of the parent would copy them.
    os.register_at_fork(after_in_child=gc.freeze)
    builders.ParallelTasks, builders.make_chunks = Tasks, _cut  # type: ignore[attr-defined]
