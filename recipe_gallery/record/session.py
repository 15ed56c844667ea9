"""Record recipes: run each one, and its replicates, and keep what they gave, where and when."""

from __future__ import annotations

import contextlib
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from filelock import FileLock, Timeout

from ..errors import GalleryError
from ..project import Project, load_check
from . import storage
from .cluster.places import find_places
from .machine.gpu import Gpu
from .machine.host import require_open_files
from .progress import Progress, Summary
from .recording_status import choose_files
from .run.interruption import end_as_ctrl_c_does
from .run.remains import remove_leftovers
from .selection import Options, select_pages
from .tasks.in_turn import InTurn
from .tasks.keeper import Keeper
from .tasks.task import Task

if TYPE_CHECKING:
    from .cluster.on_cluster import OnCluster


def record(
    project: Project, names: Sequence[str], options: Options, stream: TextIO | None = None
) -> bool:
    """Record the recipes called ``names``, or all, that need it; tell whether all succeeded.

    Each finished recording and replicate is written at once, so an interruption loses only what is
    in hand, and so does whatever goes wrong with one. Raises ``GalleryError`` if nothing can be
    recorded.
    """
    files = choose_files(project, names)
    progress = Progress(stream or sys.stderr)
    summary = Summary(names=[file.name for file in files], forced=options.force)
    keeper = Keeper(
        folder=options.folder or project.recordings,
        options=options,
        check=load_check(project),
        progress=progress,
        summary=summary,
    )
    folder = keeper.folder
    with contextlib.ExitStack() as held:
        held.enter_context(end_as_ctrl_c_does())
        storage.require_place(folder / "recording.ipynb")
        held.enter_context(_one_at_a_time(folder / ".lock"))
        storage.remove_unfinished(file.recording(folder) for file in files)
        storage.require_room()
        require_open_files()
        if left := remove_leftovers():
            progress.say(left)
        pages, current = select_pages(files, folder, options, keeper.tell, keeper.check)
        current = current if options.replicates else []
        runner = None
        if pages or current:
            runner = _start_runner(project, options, [*pages, *current], progress, held)
            keeper.places = runner.places
        # said also after Ctrl-C: what is recorded, and what is not
        held.callback(lambda: progress.say_lines(summary.lines()))
        waiting = deque(pages)
        for page in current:
            waiting += keeper.plan_current(page)
        for task, result in runner.run(waiting) if runner else ():
            waiting += keeper.keep(task, result)
    return not summary.failed


def _start_runner(
    project: Project,
    options: Options,
    pages: Sequence[Task],
    progress: Progress,
    held: contextlib.ExitStack,
) -> InTurn | OnCluster:
    """Return what does tasks: on the workers of a scheduler, at places of this machine, or here."""
    if options.scheduler:
        from .cluster.local import remote_cluster  # slow, and rarely needed
        from .cluster.on_cluster import OnCluster

        client = held.enter_context(remote_cluster(options.scheduler))
    else:
        places = find_places(options.device, options.workers)
        if len(pages) == 1 and not options.replicates:
            places = places[:1]
        for place in places:
            if place.gpu:
                held.enter_context(alone_on(place.gpu))
        if len(places) == 1:
            return InTurn(places[0].gpu, pages, progress)
        from .cluster.local import local_cluster
        from .cluster.on_cluster import OnCluster

        client = held.enter_context(local_cluster(places, project.root, progress))
    return held.enter_context(
        contextlib.closing(OnCluster(client=client, device=options.device, progress=progress))
    )


def alone_on(gpu: Gpu) -> contextlib.AbstractContextManager[None]:
    """Keep others from a GPU, for all folders, clones and users: they would distort the times."""
    return _one_at_a_time(gpu.lock, mode=0o666)


@contextlib.contextmanager
def _one_at_a_time(lock: Path, mode: int = 0o644) -> Iterator[None]:
    try:
        with FileLock(lock, timeout=0, mode=mode):
            yield
    except Timeout:
        text = f"another recording is under way (it holds {lock})"
        raise GalleryError(text, remedy="wait for it to end and try again") from None
