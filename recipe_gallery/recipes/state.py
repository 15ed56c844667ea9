"""Tell which recordings are missing, stale or current, without running anything."""

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ..project import GalleryError
from .gallery import GalleryFile
from .recipe import Recipe, load_recipe
from .recording import Recording, compare, read_recording


class Status(Enum):
    """How a recipe's recording stands."""

    CURRENT = "current"
    STALE = "stale"
    MISSING = "missing"
    UNUSABLE = "unusable"


@dataclass(frozen=True, kw_only=True)
class Report:
    """One recipe's line in `make check`."""

    name: str
    status: Status
    detail: str = ""  # what is wrong and what to do
    origin: str = ""  # from where and when the recording is
    on_gpu: bool = False


def inspect_recipe(recipe: Recipe, recordings_folder: Path) -> Report:
    """Compare one recipe with its recording."""
    path = recordings_folder / f"{recipe.name}.ipynb"
    if not path.exists():
        return Report(
            name=recipe.name,
            status=Status.MISSING,
            detail=f"run: make record RECIPES={recipe.name}",
        )
    try:
        recording = read_recording(path)
    except GalleryError as error:
        return Report(name=recipe.name, status=Status.UNUSABLE, detail=str(error))
    comparison = compare(recipe, recording)
    detail = ""
    if not comparison.is_current:
        detail = f"{comparison.describe()}; run: make record RECIPES={recipe.name}"
    return Report(
        name=recipe.name,
        status=Status.CURRENT if comparison.is_current else Status.STALE,
        detail=detail,
        origin=describe_origin(recording),
        on_gpu=recording.on_gpu,
    )


def describe_origin(recording: Recording) -> str:
    """Return device, date, commit and duration of a recording in one line."""
    facts = recording.facts
    commit = (facts["commit"] or "unknown")[:7] + (" + changes" if facts.get("modified") else "")
    device = facts["device"].get("gpu") or f"CPU: {facts['device'].get('cpu', 'unknown')}"
    return f"{device}, {facts['recorded'][:10]}, commit {commit}, {facts['seconds']:.0f} s"


def check_recordings(files: Sequence[GalleryFile], recordings_folder: Path) -> list[Report]:
    """Report on every recipe of a project, and on recordings that belong to none."""
    reports = []
    for file in files:
        try:
            reports.append(inspect_recipe(load_recipe(file.path, file.name), recordings_folder))
        except GalleryError as error:
            reports.append(Report(name=file.name, status=Status.UNUSABLE, detail=str(error)))
    sources = {file.name: file.path for file in files}
    for path in sorted(recordings_folder.glob("**/*.ipynb")):
        name = path.relative_to(recordings_folder).as_posix().removesuffix(".ipynb")
        machine, _, below = name.partition("/")
        if name in sources:
            continue
        if below not in sources:
            problem = f"{path}: no recipe of this name; remove the file or restore the recipe"
            reports.append(Report(name=name, status=Status.UNUSABLE, detail=problem))
            continue
        # of another machine, in a folder of its own
        with contextlib.suppress(GalleryError):  # the recipe's own line says what is wrong
            report = inspect_recipe(load_recipe(sources[below], below), recordings_folder / machine)
            reports.append(dataclasses.replace(report, name=name))
    return reports


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
