"""Record recipes: run each one, and its replicates, and keep what they gave, where and when."""

import shlex
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from nbformat import NotebookNode

from ..errors import GalleryError, describe_error, suggest
from ..measurements.replicates import Replicate, read_replicates, replicates_path
from ..measurements.rows import read_rows
from ..measurements.spans import read_spans
from ..planted_links import refuse_links
from ..project import Project
from ..recipes.find_recipes import GalleryFile
from ..recipes.recording import name_device
from ..recipes.recording_toml import load_settings
from . import write_recordings
from .check_recordings import choose_files, inspect
from .cleanup import remove_leftovers
from .gpu_facts import NoGpuError
from .local_runner import LocalRunner, find_slots, one_at_a_time
from .run_task import Result, Task
from .runner import Runner


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

    def suggest(self, names: Sequence[str], *further: str) -> str:
        """Return the command that asks for the same, on the CPU."""
        asked = [*map(shlex.quote, names), "--device cpu"]
        if self.force:
            asked.append("--force")
        if self.replace_gpu:
            asked.append("--replace-gpu")
        if self.replicates:
            asked.append(f"--replicates {self.replicates}")
        if self.workers:
            asked.append(f"--workers {self.workers}")
        if self.scheduler:
            asked.append(f"--scheduler {shlex.quote(self.scheduler)}")
        if self.folder:
            asked.append(f"--recordings-folder {shlex.quote(str(self.folder))}")
        return suggest("record", "", *asked, *further)


def record(
    project: Project, names: Sequence[str], options: Options, stream: TextIO | None = None
) -> bool:
    """Record the recipes called ``names``, or all, that need it; tell whether all succeeded.

    Each finished recording and replicate is written at once, so an interruption loses only what is
    in hand, and so does whatever goes wrong with one. Raises ``GalleryError`` if nothing can be
    recorded.
    """
    files = choose_files(project, names)
    session = Session(project, files, options, stream or sys.stderr)
    refuse_links(project.root, session.folder)
    lock = session.folder / ".lock"
    with ExitStack() as held:
        signals = _hear_signals(held)
        write_recordings.ensure_writable(session.folder / "recording.ipynb")
        held.enter_context(one_at_a_time(lock))
        held.callback(lock.unlink, missing_ok=True)  # it would be added to git
        if note := remove_leftovers():
            session.say(note)
        pages, current = session.select(files)
        runner = None
        if pages or current:
            tasks = [*pages, *(task for task, _notebook in current)]
            try:
                runner = _start_runner(options, tasks, session.say, held)
            except NoGpuError as error:
                error.offer(options.suggest(names, *session.place_of_others()))
                raise
            session.hosts = runner.hosts
        # said also after Ctrl-C: what is recorded, and what is not
        held.callback(session.summarize)
        waiting = deque(pages)
        for page, notebook in current:
            waiting += session.plan(page, notebook)
        if runner:
            for task, result in held.enter_context(closing(runner.run(waiting, signals))):
                waiting += session.keep(task, result)
    return not session.failed


def _hear_signals(held: ExitStack) -> Sequence[int]:
    """Let the first of the signals that end a recording raise ``KeyboardInterrupt``; return them.

    Others are ignored: what the first has begun is brought to its end. So is what is raised in a
    callback of the garbage collector, so loops look at the list. nohup's choice is kept.
    """
    signals: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        signals.append(number)
        if len(signals) == 1:
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            held.callback(signal.signal, number, signal.signal(number, interrupt))
    return signals


def _start_runner(
    options: Options, tasks: Sequence[Task], say: Callable[[str], None], stack: ExitStack
) -> Runner:
    """Return a runner of this machine, or of a scheduler's workers if there is an address.

    Its locks and connections are released with ``stack``. Raises ``GalleryError`` if there is no
    device or no scheduler.
    """
    if options.scheduler:
        from .dask_runner import DaskRunner  # needs Dask, which only some who record have installed

        runner = DaskRunner(options.scheduler, options.device, say)
        stack.callback(runner.close)
        return runner
    slots = find_slots(options.device, options.workers)
    if len(tasks) == 1 and not options.replicates:
        slots = slots[:1]
    for slot in slots:
        if slot.gpu:
            stack.enter_context(one_at_a_time(slot.gpu.lock))
    return LocalRunner(slots, tasks, say)


class Session:
    """What is to be done and what was; writes recordings and replicates, as no other process."""

    def __init__(
        self, project: Project, files: Sequence[GalleryFile], options: Options, stream: TextIO
    ) -> None:
        self.folder = options.folder or project.recordings
        self.options, self._stream = options, stream
        self.names = [file.name for file in files]
        self.recorded: set[str] = set()
        self.current: set[str] = set()
        self.made_on_gpu: set[str] = set()  # recipes with such a recording, before this began
        self.failed: dict[str, str] = {}  # recipes and replicates, and why
        self.planned = self.made = 0  # replicates
        # that do tasks, each with its device and the release of what is measured there
        self.hosts: set[tuple[str, str, str]] = set()
        # whether a GPU recording is kept from being replaced by one of this CPU
        is_cpu = options.device == "cpu" and project.config.recorded_gallery_device == "gpu"
        self.keeps_gpu = is_cpu and not options.replace_gpu

    def select(
        self, files: Sequence[GalleryFile]
    ) -> tuple[list[Task], list[tuple[Task, NotebookNode]]]:
        """Return page runs to do, and those that are current and get replicates; tell the rest."""
        to_do: list[Task] = []
        current: list[tuple[Task, NotebookNode]] = []
        for file in files:
            report = inspect(file, self.folder)
            if report.recording and report.recording.on_gpu:
                self.made_on_gpu.add(file.name)
            if report.recipe is None:
                self.fail(file.name, report.detail)
            elif report.recording and report.status == "current" and not self.options.force:
                self.current.add(file.name)
                self.say(f"{file.name}: current ({report.origin})")
                if self.options.replicates:
                    page = Task(file=file, recipe=report.recipe)
                    current.append((page, report.recording.notebook))
            elif report.recording and report.recording.on_gpu and self.keeps_gpu:
                remedy = self.options.suggest([file.name], "--replace-gpu")
                text = f"{file.name}: its recording was made on a GPU ({report.origin}); "
                self.fail(file.name, f"{text}to replace it by one from this CPU: {remedy}")
            else:
                try:
                    write_recordings.ensure_writable(file.recording(self.folder))  # before it runs
                    to_do.append(Task(file=file, recipe=report.recipe))
                except GalleryError as error:
                    self.fail(file.name, describe_error(error))
        return to_do, current

    @property
    def beside(self) -> str:
        """The option that keeps recordings of this machine beside those that there are."""
        return f"--recordings-folder {shlex.quote(str(self.folder / 'mine'))}"

    def place_of_others(self) -> list[str]:
        """Return the option for recordings of a CPU, where those of a GPU should stay."""
        is_free = self.options.folder or self.options.replace_gpu or not self.made_on_gpu
        return [] if is_free else [self.beside]

    def keep(self, task: Task, result: Result) -> list[Task]:
        """Write what came of a task and tell of it; return the tasks that follow from it."""
        path = task.file.recording(self.folder)
        try:
            if isinstance(result, str):
                self.fail(task.title, result)
            elif isinstance(result, Replicate):
                write_recordings.append_replicate(result, replicates_path(path))
                self.made += 1
                self.say(f"{task.title}: recorded in {result.seconds:.0f} s")
            else:
                # no page could show rows or spans that are wrong
                read_rows(result, task.recipe.path, task.recipe)
                read_spans(result, task.recipe.path, task.recipe)
                write_recordings.write_recording(result, path)
                self.recorded.add(task.title)
                seconds = result.metadata.recording.seconds
                self.say(f"{task.title}: recorded in {seconds:.0f} s")
                return self.plan(task, result)
        except Exception as error:
            self.fail(task.title, describe_error(error, task.title))
        return []

    def say(self, text: str) -> None:
        """Tell a line to the person who records."""
        with suppress(OSError):  # a terminal that was closed is no reason to lose a recording
            print(text, file=self._stream, flush=True)

    def summarize(self) -> None:
        """Tell what became of all, errors last; nothing if there was only one page run."""
        if len(self.names) < 2 and not self.planned:
            return
        left = {*self.names} - self.recorded - self.current - self.failed.keys()
        told = (self.recorded, f"of {len(self.names)} recorded"), (self.current, "current already")
        for found, what in (*told, (left, "not recorded yet")):
            names = [name for name in self.names if name in found]  # not as they ended
            if names or found is self.recorded:
                self.say(f"{len(names)} {what}: {', '.join(names) or 'none'}")
        if self.planned:
            self.say(f"{self.made} of {self.planned} replicates made")
        if self.failed:
            self.say(f"{len(self.failed)} failed: {', '.join(self.failed)}")
        for text in self.failed.values():
            self.say(f"error: {text.splitlines()[0]}")

    def fail(self, name: str, text: str) -> None:
        """Tell why a recipe or replicate could not be recorded, now and in the summary."""
        self.failed[name] = text
        self.say(f"error: {text}")

    def plan(self, page: Task, notebook: NotebookNode) -> list[Task]:
        """Return the replicates of a recipe that are to be made.

        Those that one of the hosts has made of this code on this device, with this release, are not
        repeated, unless that is forced: then new ones get further numbers.
        """
        count, name = self.options.replicates, page.file.name
        if not count:
            return []
        recorded_on = name_device(notebook.metadata.recording["device"])
        here = sorted({place[1] for place in self.hosts})
        if recorded_on not in here:
            device = f"--device {self.options.device}"
            command = suggest("record", name, device, f"--replicates {count}", self.beside)
            text = f"{name}: recorded on {recorded_on}, and replicates of another device "
            text += f"({', '.join(here)}) do not count; to measure this one beside it: {command}"
            self.fail(name, text)
            return []
        path = replicates_path(page.file.recording(self.folder))
        try:
            publishes = bool(read_rows(notebook, page.recipe.path))
            known, _stale = read_replicates(path, page.recipe.replicate_fingerprint)
        except GalleryError as error:
            self.fail(name, describe_error(error))
            return []
        if not publishes:
            self.say(f"{name}: publishes no rows, so it has no replicates")
            return []
        first = 1 + max((each.replicate for each in known), default=0) * self.options.force
        package = load_settings(page.file.gallery).release
        own = {each.replicate for each in known if each.find_place(package) in self.hosts}
        numbers = [each for each in range(first, first + count) if each not in own]
        self.planned += len(numbers)
        if not numbers:
            self.say(f"{name}: its {count} replicates are there already")
        return [Task(file=page.file, recipe=page.recipe, number=each) for each in numbers]
