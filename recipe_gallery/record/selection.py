"""What is to be done: which recipes are recorded, and which of their replicates are missing."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import GalleryError, describe_error, suggest
from ..recipes.gallery import GalleryFile
from ..recipes.recipe import Recipe
from ..recipes.replicates import read_replicates, replicates_path
from . import storage
from .progress import State
from .recording_status import Check, Status, inspect
from .tasks.task import Task


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


Tell = Callable[[str, State, str], None]


def select_pages(
    files: Sequence[GalleryFile], folder: Path, options: Options, tell: Tell, check: Check | None
) -> tuple[list[Task], list[Task]]:
    """Return the page runs to do, and those that are current; tell of what can be neither."""
    to_do, current = [], []
    for file in files:
        report = inspect(file, folder, check)
        may_be_gpu = report.on_gpu or (report.status is Status.UNUSABLE and not report.origin)
        if report.recipe is None:
            tell(file.name, State.FAILED, report.detail)
        elif report.status is Status.CURRENT and not options.force:
            tell(file.name, State.CURRENT, report.origin)
            current.append(Task(file=file, recipe=report.recipe))
        elif options.device == "cpu" and not options.replace_gpu and may_be_gpu:
            remedy = suggest("record", file.name, "--device cpu", "--replace-gpu")
            text = (
                f"{file.name}: its recording was made on a GPU, or cannot be read to tell "
                f"({report.origin or report.detail}); to replace it by one from this CPU: {remedy}"
            )
            tell(file.name, State.FAILED, text)
        else:
            try:
                storage.require_place(file.recording(folder))  # before minutes of work
                to_do.append(Task(file=file, recipe=report.recipe))
            except GalleryError as error:
                tell(file.name, State.FAILED, describe_error(error))
    return to_do, current


def plan_replicates(
    page: Task, folder: Path, options: Options, places: Iterable[tuple[str, str]]
) -> list[Task]:
    """Return the replicates of a recipe that are to be made.

    Those that one of the ``places`` (host, name of the device) has made of this code are not
    repeated, unless that is forced: then new ones get further numbers.
    """
    recipe: Recipe = page.recipe
    path = replicates_path(page.file.recording(folder))
    known = read_replicates(path, recipe.replicate_fingerprint).current
    if options.force:
        first = max((each.replicate for each in known), default=0) + 1
        numbers = set(range(first, first + options.replicates))
    else:
        here = set(places)
        done = {each.replicate for each in known if (each.host, each.device_name) in here}
        numbers = set(range(1, options.replicates + 1)) - done
    return [Task(file=page.file, recipe=recipe, number=number) for number in sorted(numbers)]
