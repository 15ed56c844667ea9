"""Which recordings are missing, stale or current: `recipe-gallery check`."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import GalleryError, describe_error, suggest
from ..project import Project, load_check
from ..recipes.gallery import GalleryFile, find_recordings, list_files
from ..recipes.recipe import Recipe
from ..recipes.recorded_page import Reason, Unrecorded, load_recorded
from ..recipes.recording import Recording
from .replicates.claims import find_borrowed_claims
from .replicates.report import MeasuredReport, inspect_measurements
from .settings import load_settings

Check = Callable[[Any, Path], None]  # recipe_gallery_check_recording


class Status(Enum):
    """How a recipe's recording stands."""

    CURRENT = "current"
    STALE = "stale"
    MISSING = "missing"
    UNUSABLE = "unusable"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is told of one recording."""

    name: str
    status: Status
    detail: str = ""  # what is wrong and what to do
    origin: str = ""  # from where and when the recording is
    on_gpu: bool = False
    recipe: Recipe | None = None  # None if it cannot be read, or there is none
    measured: MeasuredReport = field(default_factory=MeasuredReport)

    @property
    def is_fine(self) -> bool:
        """Whether there is nothing to mend."""
        measured = self.measured
        return self.status is Status.CURRENT and not (measured.wrong or measured.refuted)


def inspect(
    file: GalleryFile, folder: Path, check: Check | None = None, borrowed: Collection[str] = ()
) -> Report:
    """Return how the recording of a recipe in ``folder`` stands, and what is wrong with it.

    ``borrowed`` are the claims that other pages make.
    """
    report = partial(Report, name=file.name)
    try:
        page = load_recorded(file, folder)
        report = partial(report, recipe=page.recipe)
        if isinstance(page, Unrecorded):
            if page.reason is Reason.MISSING:
                remedy = f"run: {suggest('record', file.name)}"
                return report(status=Status.MISSING, detail=remedy)
            raise page.error
        origin = _describe_origin(page.recording)
        report = partial(report, origin=origin, on_gpu=page.recording.on_gpu)
        report = partial(
            report,
            measured=inspect_measurements(
                page.recording.path, page.recipe, page.recording, borrowed
            ),
        )
        if check:
            check(page.recording.notebook, page.recording.path)
    except Exception as error:  # of one recipe; the others are told, too
        place = "" if isinstance(error, GalleryError) else f"{file.name}: "
        return report(status=Status.UNUSABLE, detail=place + describe_error(error))
    if page.comparison.is_current:
        return report(status=Status.CURRENT)
    detail = f"{page.comparison.describe()}; run: {suggest('record', file.name)}"
    return report(status=Status.STALE, detail=detail)


def check_recordings(project: Project, folder: Path | None = None) -> list[Report]:
    """Report on every recipe, and on recordings of other machines or of no recipe.

    ``folder`` holds the recordings; by default it is that of conf.py. What is raised holds for all.
    """
    for _pages, recipes in project.galleries:
        load_settings(recipes)
    folder = folder or project.recordings
    files = name_files(project)
    check = load_check(project)
    borrowed = find_borrowed_claims(project, files.values())
    reports = [inspect(file, folder, check, borrowed[name]) for name, file in files.items()]
    if project.config.recipe_gallery_gpu_figures:  # then a CPU may refute what the text says
        reports = [each if each.on_gpu else _as_trial(each) for each in reports]
    for path, machine, name in find_recordings(folder, files.values()):
        shown = path.relative_to(folder).as_posix().removesuffix(".ipynb")
        if not name:
            remedy = "remove the file or restore the recipe"
            moved = [file for file in files.values() if file.name_in_gallery == shown]
            if len(moved) == 1 and not moved[0].recording(folder).exists():
                remedy = f"move it to {moved[0].recording(folder)}"
            error = GalleryError("no recipe of this name", path=path, remedy=remedy)
            detail = error.describe(Path.cwd())
            reports.append(Report(name=shown, status=Status.UNUSABLE, detail=detail))
        elif machine:
            report = inspect(files[name], folder / machine, check, borrowed[name])
            reports.append(_as_trial(replace(report, name=shown)))  # no text rests on it alone
    known = {file.recording(folder) for file in files.values()}
    return [*reports, *_find_left_over(folder, known)]


def _as_trial(report: Report) -> Report:
    return replace(report, measured=report.measured.as_trial)


def _find_left_over(folder: Path, known: set[Path]) -> Iterator[Report]:
    """Yield a report for each file of replicates that belongs to no recording."""
    for path in sorted(folder.glob("**/*.jsonl")):
        recording = path.with_suffix(".ipynb")
        if not (recording.exists() or recording in known):
            remedy = "remove the file, or rename it as the recording was"
            error = GalleryError("no recording of this name", path=path, remedy=remedy)
            shown = path.relative_to(folder).as_posix()
            detail = error.describe(Path.cwd())
            yield Report(name=shown, status=Status.UNUSABLE, detail=detail)


def name_files(project: Project) -> dict[str, GalleryFile]:
    """Return the recipes of a project by name; raise ``GalleryError`` if there are none."""
    files = {file.name: file for file in list_files(project.config, project.root)}
    if not files:
        folders = ", ".join(str(folder) for _pages, folder in project.galleries)
        remedy = "compare sphinx_gallery_conf['examples_dirs'] in conf.py"
        raise GalleryError(f"no recipes in {folders}", remedy=remedy)
    return files


def choose_files(project: Project, names: Sequence[str]) -> list[GalleryFile]:
    """Return the recipes called ``names``, or all; raise ``GalleryError`` for an unknown name.

    A recipe of a sub-gallery may be called by its last part where only one has it.
    """
    files = name_files(project)
    chosen = []
    for name in [name.removesuffix(".py") for name in names] or files:
        found = [each for each in files if name in (each, each.rpartition("/")[2])]
        if name not in files and len(found) != 1:
            raise GalleryError(
                f"{'several recipes are' if found else 'no recipe'} named {name}",
                remedy=f"there are: {', '.join(found or files)}",
            )
        chosen.append(files[name if name in files else found[0]])
    return chosen


def format_reports(reports: Sequence[Report]) -> str:
    """Return the reports as lines of text, the count last."""
    width = max(len(report.name) for report in reports)
    lines = []
    for report in reports:
        line = f"{report.name:<{width}}  {report.status.value:<8}  {report.origin}".rstrip()
        below = [*filter(None, [report.detail]), *report.measured.lines]
        lines += [line, *(f"{'':<{width}}  {each}" for each in below)]
    current = sum(report.status is Status.CURRENT for report in reports)
    lines.append(f"{current} of {len(reports)} recordings current")
    return "\n".join(lines)


def _describe_origin(recording: Recording) -> str:
    """Return device, date, commit and duration of a recording in one line."""
    facts = recording.facts
    why = facts.get("commit_unknown")  # recordings of before do not tell
    commit = facts["commit"][:7] if facts["commit"] else f"unknown ({why})" if why else "unknown"
    commit += " + changes" if facts["modified"] else ""
    device = facts["device"].get("gpu") or f"CPU: {facts['device']['cpu']}"
    return f"{device}, {facts['recorded'][:10]}, commit {commit}, {facts['seconds']:.0f} s"
