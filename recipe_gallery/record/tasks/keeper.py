"""Keep what tasks gave: write it at once, tell a person, and plan the replicates that follow."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from ...recipes.recording import name_device, read_recording
from ...recipes.replicates import Replicate, append, replicates_path
from ...recipes.rows import read_published
from .. import storage
from ..progress import Progress, State, Summary
from ..recording_status import Check
from ..selection import Options, plan_replicates
from .task import Failure, Result, Task, describe_failure


@dataclass(kw_only=True)
class Keeper:
    """Writes recordings and replicates; no other process does."""

    folder: Path  # of the recordings
    options: Options
    check: Check | None  # of the project
    progress: Progress
    summary: Summary
    places: Iterable[tuple[str, str]] = ()  # host and name of the device, of all that do tasks
    _devices: dict[str, str] = field(default_factory=dict)  # of each recipe's page run

    def keep(self, task: Task, result: Result) -> list[Task]:
        """Write what came of a task and tell of it; return the tasks that follow from it."""
        try:
            if isinstance(result, Replicate):
                self._keep_replicate(task, result)
                return []
            if not isinstance(result, Failure):
                return self._keep_page(task, result)
        except Exception as error:  # of this one; other tasks go on
            result = Failure(text=describe_failure(error, task))
        self.tell(task.title, State.FAILED, result.text)
        return []

    def plan_current(self, page: Task) -> list[Task]:
        """Return the replicates to make of a recipe whose recording is current."""
        try:
            path = page.file.recording(self.folder)
            recording = read_recording(path, page.recipe.name, page.file.name_in_gallery)
            return self._plan(page, recording.notebook)
        except Exception as error:
            self.tell(page.title, State.FAILED, describe_failure(error, page))
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

    def _keep_page(self, task: Task, notebook: NotebookNode) -> list[Task]:
        path = task.file.recording(self.folder)
        if self.check:
            self.check(notebook, task.recipe.path)
        # no page could show rows that are wrong
        read_published(notebook, task.recipe.path, task.recipe)
        storage.write_whole(notebook, path)
        seconds = notebook.metadata.recording.seconds
        self.tell(task.title, State.RECORDED, f"{seconds:.0f} s")
        return self._plan(task, notebook)

    def _plan(self, page: Task, notebook: NotebookNode) -> list[Task]:
        if not self.options.replicates:
            return []
        name, device = page.file.name, notebook.metadata.recording.device
        if not read_published(notebook, page.recipe.path):
            self.progress.say(f"{name}: publishes no rows, so it has no replicates")
            return []
        self._devices[name] = name_device(device)
        tasks = plan_replicates(page, self.folder, self.options, self.places)
        self.summary.plan(name, len(tasks))
        if not tasks:
            self.progress.say(f"{name}: its {self.options.replicates} replicates are there already")
        return tasks

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
