"""Tell which recordings are missing, stale or current, without running anything."""

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from ..project import GalleryError, Project, load_check, suggest
from ..recipes.gallery import GalleryFile, list_files, split_machine
from ..recipes.page import Reason, RecordedPage, Unrecorded, load_recorded
from ..recipes.recording import Recording

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


def inspect(page: RecordedPage | Unrecorded, name: str) -> Report:
    """Return how the recording of the recipe called ``name`` stands."""
    remedy = f"run: {suggest('record', name)}"
    if isinstance(page, Unrecorded):
        if page.reason is Reason.MISSING:
            return Report(name=name, status=Status.MISSING, detail=remedy)
        return _unusable(name, page.error)
    current = page.comparison.is_current
    return Report(
        name=name,
        status=Status.CURRENT if current else Status.STALE,
        detail="" if current else f"{page.comparison.describe()}; {remedy}",
        origin=_describe_origin(page.recording),
        on_gpu=page.recording.on_gpu,
    )


def check_recordings(project: Project, folder: Path | None = None) -> list[Report]:
    """Report on every recipe, and on recordings of other machines or of no recipe.

    ``folder`` holds the recordings; by default it is that of conf.py.
    """
    folder = folder or project.recordings
    files = {file.name: file for file in list_files(project.config, project.root)}
    if not files:
        raise no_recipes(project)
    check = load_check(project)
    reports = [_inspect_file(file, folder, check) for file in files.values()]
    for path in sorted(folder.glob("**/*.ipynb")):
        shown = path.relative_to(folder).as_posix().removesuffix(".ipynb")
        machine, name = split_machine(shown, files)
        if not name:
            remedy = "remove the file or restore the recipe"
            error = GalleryError("no recipe of this name", path=path, remedy=remedy)
            reports.append(_unusable(shown, error))
        elif machine:
            report = _inspect_file(files[name], folder / machine, check)
            reports.append(dataclasses.replace(report, name=shown))
    return reports


def _inspect_file(file: GalleryFile, folder: Path, check: Check | None) -> Report:
    page = load_recorded(file.path, file.recording(folder), file.name)
    if check and isinstance(page, RecordedPage):
        try:
            check(page.recording.notebook, page.recording.path)
        except GalleryError as error:
            return _unusable(file.name, error)
    return inspect(page, file.name)


def _unusable(name: str, error: GalleryError) -> Report:
    return Report(name=name, status=Status.UNUSABLE, detail=error.describe(Path.cwd()))


def no_recipes(project: Project) -> GalleryError:
    """Return the error of a project in whose galleries nothing is to be recorded."""
    folders = ", ".join(str(folder) for _pages, folder in project.galleries)
    return GalleryError(
        f"no recipes in {folders}", remedy="compare sphinx_gallery_conf['examples_dirs'] in conf.py"
    )


def format_reports(reports: Sequence[Report]) -> str:
    """Return the reports as lines of text, the count last."""
    width = max(len(report.name) for report in reports)
    lines = []
    for report in reports:
        line = f"{report.name:<{width}}  {report.status.value:<8}  {report.origin}".rstrip()
        lines.append(f"{line}\n{'':<{width}}  {report.detail}" if report.detail else line)
    current = sum(report.status is Status.CURRENT for report in reports)
    lines.append(f"{current} of {len(reports)} recordings current")
    return "\n".join(lines)


def _describe_origin(recording: Recording) -> str:
    """Return device, date, commit and duration of a recording in one line."""
    facts = recording.facts
    commit = (facts["commit"] or "unknown")[:7] + (" + changes" if facts["modified"] else "")
    device = facts["device"].get("gpu") or f"CPU: {facts['device']['cpu']}"
    return f"{device}, {facts['recorded'][:10]}, commit {commit}, {facts['seconds']:.0f} s"
