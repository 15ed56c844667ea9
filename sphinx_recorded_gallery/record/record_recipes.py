"""Record recipes: run each of them and its replicates, and write their recordings."""

import shlex
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from typing import TextIO

from nbformat import NotebookNode

from ..errors import GalleryError, describe_error, suggest
from ..measurements.quantities import list_quantities, name_own_list
from ..measurements.replicates import Replicate, read_replicates, replicates_path
from ..measurements.rows import find_hints, read_rows
from ..measurements.spans import read_spans
from ..planted_links import refuse_links
from ..project import Project
from ..recipes.find_recipes import GalleryFile
from ..recipes.recording import name_device
from ..recipes.recording_toml import load_settings
from . import write_recordings
from .check_recordings import check_settings, choose_files, inspect
from .cleanup import remove_leftovers
from .earlier_runs import read_earlier_run
from .gpu_facts import NoGpuError
from .local_runner import LocalRunner, find_slots, one_at_a_time
from .normalize_outputs import find_absolute_paths
from .run_task import Result, Task
from .runner import Runner
from .undeclared_inputs import find_undeclared, suggest_inputs


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a recording; by default, recipes that are not current run on a GPU."""

    folder: Path | None = None  # for the recordings; by default that of conf.py
    device: str = "gpu"  # or "cpu"
    force: bool = False  # also recipes whose recording is current
    replace_gpu: bool = False  # let a CPU recording replace one made on a GPU
    replicates: int = 0  # fresh processes of each recipe beside its page run
    workers: int | None = None  # tasks at the same time; by default one for each GPU, or one
    scheduler: str | None = None  # address of a running scheduler of Dask

    def suggest(self, names: Sequence[str], *further: str) -> str:
        """Return the command with the same options for the CPU, and ``further`` options."""
        words = [*map(shlex.quote, names), "--device cpu"]
        if self.force:
            words.append("--force")
        if self.replace_gpu:
            words.append("--replace-gpu")
        if self.replicates:
            words.append(f"--replicates {self.replicates}")
        if self.workers:
            words.append(f"--workers {self.workers}")
        if self.scheduler:
            words.append(f"--scheduler {shlex.quote(self.scheduler)}")
        if self.folder:
            words.append(f"--recordings-folder {shlex.quote(str(self.folder))}")
        return suggest("record", "", *words, *further)


def record(
    project: Project, names: Sequence[str], options: Options, stream: TextIO | None = None
) -> bool:
    """Record the recipes called ``names``, or all that need it; return whether all succeeded.

    Each recording and replicate is written as soon as it is finished, so an interruption or a
    failure loses only the tasks that are running. Messages go to ``stream``, by default stderr.
    Raises ``GalleryError`` if nothing can be recorded.
    """
    check_settings(project)  # also where all recordings are current
    files = choose_files(project, names)
    session = Session(project, files, options, stream or sys.stderr)
    refuse_links(project.root, session.folder)
    lock = session.folder / ".lock"
    with ExitStack() as stack:
        signals = _handle_signals(stack)
        write_recordings.ensure_writable(session.folder / "recording.ipynb")
        stack.enter_context(one_at_a_time(lock))
        stack.callback(lock.unlink, missing_ok=True)  # so that nobody adds it to git
        note = remove_leftovers()
        if note:
            session.say(note)
        pages, current_pages = session.select(files)
        tasks = [*pages, *(page for page, _notebook in current_pages)]
        runner = None
        if tasks:
            try:
                runner = _start_runner(options, tasks, session.say, stack)
            except NoGpuError as error:
                to_do = [task.file.name for task in tasks]
                if len(to_do) < len(files):
                    names = to_do
                error.offer(options.suggest(names, *session.place_of_others(to_do)))
                raise
            session.recording_groups = runner.find_recording_groups()
        # Also after Ctrl-C, the summary says what is recorded and what is not.
        stack.callback(session.summarize)
        waiting = deque(pages)
        for page, notebook in current_pages:
            waiting += session.plan(page, notebook)
        if runner:
            for task, result in stack.enter_context(closing(runner.run(waiting, signals))):
                waiting += session.take(task, result)
    return not session.failed


def _handle_signals(stack: ExitStack) -> Sequence[int]:
    """Turn the first SIGINT, SIGTERM or SIGHUP into ``KeyboardInterrupt``.

    Returns a list that gets the numbers of the signals. Python swallows exceptions raised during
    garbage collection, so loops also poll the list. Later signals are ignored, so that cleanup can
    finish. Signals that nohup ignores stay ignored. ``stack`` restores the former handlers.
    """
    signals: list[int] = []

    def interrupt(number: int, _frame: object) -> None:
        signals.append(number)
        if len(signals) == 1:
            raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            previous = signal.signal(number, interrupt)
            stack.callback(signal.signal, number, previous)
    return signals


def _start_runner(
    options: Options, tasks: Sequence[Task], say: Callable[[str], None], stack: ExitStack
) -> Runner:
    """Return a runner for this machine, or for the workers of a scheduler if one is named.

    Its locks and connections are released with ``stack``. Raises ``GalleryError`` if there is no
    device or no scheduler.
    """
    if options.scheduler:
        from .dask_runner import DaskRunner  # needs Dask, which is optional

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
    """Selects tasks, writes recordings and replicates, and counts what succeeded and failed.

    It alone writes to the folder of recordings: `record` holds that folder's lock.
    """

    def __init__(
        self, project: Project, files: Sequence[GalleryFile], options: Options, stream: TextIO
    ) -> None:
        self.folder = options.folder or project.recordings
        self.options = options
        self._stream = stream
        self._quantities = list_quantities(project.config)
        self._own_list = name_own_list(project.config)
        self.names = [file.name for file in files]
        self.recorded: set[str] = set()
        self.current: set[str] = set()
        self.made_on_gpu: set[str] = set()  # recipes that had a GPU recording at the start
        self.failed: dict[str, str] = {}  # reasons, by the title of a recipe or replicate
        self.planned_replicates = 0
        self.made_replicates = 0
        # of the runner, each with its device and the release that it measures
        self.recording_groups: set[tuple[str, str, str]] = set()
        # recordings made on a GPU must not be replaced by those of this CPU
        is_only_cpu = options.device == "cpu" and project.config.recorded_gallery_device == "gpu"
        self.keeps_gpu = is_only_cpu and not options.replace_gpu

    def select(
        self, files: Sequence[GalleryFile]
    ) -> tuple[list[Task], list[tuple[Task, NotebookNode]]]:
        """Return the page runs to do, and the current pages that get replicates.

        Current pages come with their recordings. All other recipes are only reported.
        """
        to_do: list[Task] = []
        current_pages: list[tuple[Task, NotebookNode]] = []
        for file in files:
            report = inspect(file, self.folder)
            is_made_on_gpu = report.recording is not None and report.recording.on_gpu
            if is_made_on_gpu:
                self.made_on_gpu.add(file.name)
            if report.recipe is None:
                self.fail(file.name, report.detail)
                continue
            page = Task(file=file, recipe=report.recipe)
            if report.recording and report.status == "current" and not self.options.force:
                self.current.add(file.name)
                self.say(f"{file.name}: current ({report.origin})")
                if self.options.replicates:
                    current_pages.append((page, report.recording.notebook))
            elif is_made_on_gpu and self.keeps_gpu:
                command = self.options.suggest([file.name], "--replace-gpu")
                self.fail(
                    file.name,
                    f"{file.name}: its recording was made on a GPU ({report.origin}); "
                    f"to replace it by one from this CPU: {command}",
                )
            elif self._is_writable(file):
                to_do.append(page)
        return to_do, current_pages

    def _is_writable(self, file: GalleryFile) -> bool:
        """Return whether a recipe's recording can be written, before it runs for minutes."""
        try:
            write_recordings.ensure_writable(file.recording_path(self.folder))
        except GalleryError as error:
            self.fail(file.name, describe_error(error))
            return False
        return True

    @property
    def beside(self) -> str:
        """The option that keeps recordings of this machine beside those that exist."""
        return f"--recordings-folder {shlex.quote(str(self.folder / 'mine'))}"

    def place_of_others(self, names: Sequence[str]) -> list[str]:
        """Return the option for recordings of a CPU, if any of ``names`` has one of a GPU."""
        replaces_gpu = self.made_on_gpu.intersection(names)
        if self.options.folder or self.options.replace_gpu or not replaces_gpu:
            return []
        return [self.beside]

    def take(self, task: Task, result: Result) -> list[Task]:
        """Write the result of a task and report it; return the tasks that follow from it."""
        path = task.file.recording_path(self.folder)
        try:
            if isinstance(result, str):
                self.fail(task.title, result)
                return []
            if isinstance(result, Replicate):
                write_recordings.append_replicate(result, replicates_path(path))
                self.made_replicates += 1
                self.say(f"{task.title}: recorded in {result.seconds:.0f} s")
                return []
            # Invalid rows or spans are an error: no page could show them.
            read_rows(result, task.recipe.path, task.recipe)
            read_spans(result, task.recipe.path, task.recipe)
            package = load_settings(task.file.gallery).release
            earlier = read_earlier_run(path, task.recipe, result, package)
            write_recordings.write_recording(result, path)
            if earlier:
                write_recordings.append_replicate(earlier, replicates_path(path))
            self.recorded.add(task.title)
            seconds = result.metadata.recording.seconds
            self.say(f"{task.title}: recorded in {seconds:.0f} s")
            for error in find_hints(result, task.recipe, self._quantities, self._own_list):
                self.say(f"note: {error.describe(Path.cwd())}")
            for number, shown in find_absolute_paths(result).items():
                text = f"cell {number} prints an absolute path, which readers do not have: {shown}"
                cell = task.recipe.cells[number - 1]
                note = GalleryError(text, path=task.recipe.path, line=cell.line)
                self.say(f"note: {note.describe(Path.cwd())}")
            undeclared = find_undeclared(task.recipe)
            if undeclared:
                text = f"its code names {', '.join(undeclared)}, and ran without it"
                remedy = f"if it reads that, {suggest_inputs(undeclared)}"
                note = GalleryError(text, path=task.recipe.path, remedy=remedy)
                self.say(f"note: {note.describe(Path.cwd())}")
            return self.plan(task, result)
        except Exception as error:  # a fault of one task must not end the others
            self.fail(task.title, describe_error(error, task.title))
            return []

    def say(self, text: str) -> None:
        """Print a line for the person who records."""
        with suppress(OSError):  # a closed terminal must not cost a recording
            print(text, file=self._stream, flush=True)

    def summarize(self) -> None:
        """Print the outcome of all recipes, errors last; nothing after a single page run."""
        if len(self.names) < 2 and not self.planned_replicates:
            return
        recorded = self._in_order(self.recorded)
        self.say(f"{len(recorded)} of {len(self.names)} recorded: {', '.join(recorded) or 'none'}")
        current = self._in_order(self.current)
        if current:
            self.say(f"{len(current)} current already: {', '.join(current)}")
        left_over = set(self.names) - self.recorded - self.current - self.failed.keys()
        unrecorded = self._in_order(left_over)
        if unrecorded:
            self.say(f"{len(unrecorded)} not recorded yet: {', '.join(unrecorded)}")
        if self.planned_replicates:
            self.say(f"{self.made_replicates} of {self.planned_replicates} replicates made")
        if self.failed:
            self.say(f"{len(self.failed)} failed: {', '.join(self.failed)}")
        for text in self.failed.values():
            self.say(f"error: {text.splitlines()[0]}")

    def _in_order(self, names: set[str]) -> list[str]:
        """Return names in the order of the recipes; tasks end in another order."""
        return [name for name in self.names if name in names]

    def fail(self, name: str, text: str) -> None:
        """Report why a recipe or replicate could not be recorded, now and in the summary."""
        self.failed[name] = text
        self.say(f"error: {text}")

    def plan(self, page: Task, notebook: NotebookNode) -> list[Task]:
        """Return the replicates to make of a recipe.

        Replicates of the same code, host, device and release are not repeated. If they are forced,
        new ones get the next numbers.
        """
        wanted = self.options.replicates
        name = page.file.name
        if not wanted:
            return []
        recorded_on = name_device(notebook.metadata.recording["device"])
        devices = sorted({device for _host, device, _release in self.recording_groups})
        if recorded_on not in devices:
            option = f"--device {self.options.device}"
            command = suggest("record", name, option, f"--replicates {wanted}", self.beside)
            self.fail(
                name,
                f"{name}: recorded on {recorded_on}, and replicates on another device "
                f"({', '.join(devices)}) do not count; to record this device separately: {command}",
            )
            return []
        path = replicates_path(page.file.recording_path(self.folder))
        try:
            rows = read_rows(notebook, page.recipe.path)
            replicates, _stale = read_replicates(path, page.recipe.replicate_fingerprint)
        except GalleryError as error:
            self.fail(name, describe_error(error))
            return []
        if not rows:
            self.say(f"{name}: publishes no rows, so it has no replicates")
            return []
        numbers = self._choose_numbers(replicates, load_settings(page.file.gallery).release)
        self.planned_replicates += len(numbers)
        if not numbers:
            self.say(f"{name}: its {wanted} replicates exist already")
        return [Task(file=page.file, recipe=page.recipe, number=number) for number in numbers]

    def _choose_numbers(self, replicates: Sequence[Replicate], package: str) -> list[int]:
        """Return the numbers of the replicates to make, given the existing ones.

        ``package`` is the one whose releases are told apart, or "".
        """
        if self.options.force:
            first = 1 + max((replicate.replicate for replicate in replicates), default=0)
            return list(range(first, first + self.options.replicates))
        made = set()
        made_of_other_releases = set()
        other_hosts = set()
        hosts_here = {host for host, _device, _release in self.recording_groups}
        for replicate in replicates:
            if replicate.host not in hosts_here:
                other_hosts.add(replicate.host)
            elif replicate.find_place(package) in self.recording_groups:
                made.add(replicate.replicate)
            else:
                made_of_other_releases.add(replicate.replicate)
        # Each host begins with another number, since a measurement may depend on the order that
        # the number gives; two releases on one host begin with the same, so that they can be
        # compared. 0 is the page's run.
        made.discard(0)
        made_of_other_releases.discard(0)
        first = min(made_of_other_releases, default=1 + len(other_hosts))
        unused = (number for number in count(first) if number not in made)
        return list(islice(unused, max(0, self.options.replicates - len(made))))
