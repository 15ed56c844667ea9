"""Record recipes: run each one, and its replicates, and keep what they gave, where and when."""

import contextlib
import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from nbformat import NotebookNode

from ..errors import GalleryError, describe_error, suggest
from ..project import Project, load_check
from ..recipes.gallery import GalleryFile
from ..recipes.recording import name_device, read_recording
from ..recipes.replicates import Replicate, append, read_replicates, replicates_path
from ..recipes.rows import read_published
from . import storage
from .interruption import Interruption
from .places import Places, alone_on, find_places, one_at_a_time
from .progress import Progress, State, Summary
from .remains import remove_leftovers
from .status import Check, Status, choose_files, inspect
from .task import Failure, Result, Task, describe_failure

if TYPE_CHECKING:
    from .machines import Machines


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a person asked for; the defaults record on a GPU what is not current."""

    folder: Path | None = None  # for the recordings; by default that of conf.py
    device: str = "gpu"  # or "cpu"
    force: bool = False  # also recipes whose recording is current
    replace_gpu: bool = False  # let a CPU recording take the place of one made on a GPU
    replicates: int = 0  # fresh processes of each recipe beside its page run
    workers: int | None = None  # how many at the same time; by default one a GPU, or one
    scheduler: str | None = None  # address of one of Dask's that exists


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
    session = Session(
        folder=options.folder or project.recordings,
        options=options,
        check=load_check(project),
        progress=progress,
        summary=Summary(names=[file.name for file in files], forced=options.force),
        replaces_gpu=options.replace_gpu or project.config.recipe_gallery_device == "cpu",
    )
    folder = session.folder
    lock = folder / ".lock"
    with contextlib.ExitStack() as held:
        interruption = held.enter_context(Interruption())
        storage.require_place(folder / "recording.ipynb")
        held.enter_context(one_at_a_time(lock))
        held.callback(lock.unlink, missing_ok=True)  # it would be added to git
        storage.remove_unfinished(file.recording(folder) for file in files)
        storage.require_room()
        storage.require_open_files()
        if left := remove_leftovers():
            progress.say(left)
        pages, current = session.select(files)
        runner = None
        if pages or current:
            runner = _start_runner(options, [*pages, *current], progress, held)
            session.hosts = runner.hosts
        # said also after Ctrl-C: what is recorded, and what is not
        held.callback(lambda: progress.say_lines(session.summary.lines()))
        waiting = deque(pages)
        for page in current:
            waiting += session.plan_current(page)
        if runner:
            interruption.held = True
            results = held.enter_context(contextlib.closing(runner.run(waiting, interruption)))
            for task, result in results:
                waiting += session.keep(task, result)
    return not session.summary.failed


def _start_runner(
    options: Options, pages: Sequence[Task], progress: Progress, held: contextlib.ExitStack
) -> "Places | Machines":
    """Return what does tasks: places of this machine, or workers of a scheduler."""
    if options.scheduler:
        from .machines import Machines  # of several machines, which is rare: it needs Dask

        machines = Machines(options.scheduler, options.device, progress)
        held.callback(machines.close)
        return machines
    places = find_places(options.device, options.workers)
    if len(pages) == 1 and not options.replicates:
        places = places[:1]
    for place in places:
        if place.gpu:
            held.enter_context(alone_on(place.gpu))
    return Places(places, pages, progress)


@dataclass(kw_only=True)
class Session:
    """What is to be done and what was; writes recordings and replicates, as no other process."""

    folder: Path  # of the recordings
    options: Options
    check: Check | None  # of the project
    progress: Progress
    summary: Summary
    replaces_gpu: bool  # whether a CPU recording may take the place of one made on a GPU
    hosts: set[tuple[str, str]] = field(default_factory=set)  # and devices that do tasks
    _devices: dict[str, str] = field(default_factory=dict)  # of each recipe's page run

    def select(self, files: Sequence[GalleryFile]) -> tuple[list[Task], list[Task]]:
        """Return page runs to do, and those that are current and get replicates; tell the rest."""
        to_do, current = [], []
        for file in files:
            report = inspect(file, self.folder, self.check)
            if report.recipe is None:
                self.tell(file.name, State.FAILED, report.detail)
            elif report.status is Status.CURRENT and not self.options.force:
                self.tell(file.name, State.CURRENT, report.origin)
                if self.options.replicates:
                    current.append(Task(file=file, recipe=report.recipe))
            elif self.options.device == "cpu" and report.on_gpu and not self.replaces_gpu:
                remedy = suggest("record", file.name, "--device cpu", "--replace-gpu")
                text = f"{file.name}: its recording was made on a GPU ({report.origin}); "
                text += f"to replace it by one from this CPU: {remedy}"
                self.tell(file.name, State.FAILED, text)
            else:
                try:
                    storage.require_place(file.recording(self.folder))  # before minutes of work
                    to_do.append(Task(file=file, recipe=report.recipe))
                except GalleryError as error:
                    self.tell(file.name, State.FAILED, describe_error(error))
        return to_do, current

    def plan_current(self, page: Task) -> list[Task]:
        """Return the replicates to make of a recipe whose recording is current."""
        try:
            path = page.file.recording(self.folder)
            recording = read_recording(path, page.recipe.name)
            return self._plan(page, recording.notebook)
        except Exception as error:
            self.tell(page.title, State.FAILED, describe_failure(error, page))
            return []

    def keep(self, task: Task, result: Result) -> list[Task]:
        """Write what came of a task and tell of it; return the tasks that follow from it."""
        try:
            if isinstance(result, Replicate):
                self._keep_replicate(task, result)
                return []
            if not isinstance(result, Failure):
                path = task.file.recording(self.folder)
                if self.check:
                    self.check(result, task.recipe.path)
                # no page could show rows that are wrong
                read_published(result, task.recipe.path, task.recipe)
                storage.write_whole(result, path)
                seconds = result.metadata.recording.seconds
                self.tell(task.title, State.RECORDED, f"{seconds:.0f} s")
                return self._plan(task, result)
        except Exception as error:  # of this one; other tasks go on
            result = Failure(text=describe_failure(error, task))
        self.tell(task.title, State.FAILED, result.text)
        return []

    def tell(self, name: str, state: State, text: str) -> None:
        """Say what became of a recipe, now and in the summary."""
        self.summary.note(name, state, text)
        said = {
            State.RECORDED: f"{name}: recorded in {text}",
            State.CURRENT: f"{name}: current ({text})",
            State.FAILED: f"error: {text}",
        }
        self.progress.say(said[state])

    def _plan(self, page: Task, notebook: NotebookNode) -> list[Task]:
        """Return the replicates of a recipe that are to be made.

        Those that one of the hosts has made of this code on this device are not repeated, unless
        that is forced: then new ones get further numbers.
        """
        count, name = self.options.replicates, page.file.name
        if not count:
            return []
        if not read_published(notebook, page.recipe.path):
            self.progress.say(f"{name}: publishes no rows, so it has no replicates")
            return []
        self._devices[name] = name_device(notebook.metadata.recording.device)
        path = replicates_path(page.file.recording(self.folder))
        known = read_replicates(path, page.recipe.replicate_fingerprint).current
        if self.options.force:
            first = max((each.replicate for each in known), default=0) + 1
            numbers = set(range(first, first + count))
        else:
            own = [each for each in known if (each.host, each.device_name) in self.hosts]
            numbers = set(range(1, count + 1)) - {each.replicate for each in own}
        self.summary.plan(name, len(numbers))
        if not numbers:
            self.progress.say(f"{name}: its {count} replicates are there already")
        return [Task(file=page.file, recipe=page.recipe, number=each) for each in sorted(numbers)]

    def _keep_replicate(self, task: Task, replicate: Replicate) -> None:
        name = task.file.name
        append(replicates_path(task.file.recording(self.folder)), replicate)
        self.summary.note_replicate(name)
        self.progress.say(f"{task.title}: recorded in {replicate.seconds:.0f} s")
        if replicate.device_name != self._devices[name]:
            self.progress.say(
                f"note: {task.title} ran on {replicate.device_name}, the page's run on "
                f"{self._devices[name]}: measurements come from devices of one name"
            )
