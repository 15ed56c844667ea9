"""Tell which recordings are missing, stale or current, without running anything."""

import contextlib
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from ..project import GalleryError
from .recipe import Recipe, load_recipe
from .gallery import find_recipes
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


def check_recordings(recipes_folder: Path, recordings_folder: Path) -> list[Report]:
    """Report on every recipe of a folder, and on recordings that belong to none."""
    paths = find_recipes(recipes_folder)
    if not paths:
        raise GalleryError(f"{recipes_folder}: no recipes here; is it the right folder?")
    reports = []
    for path in paths:
        try:
            reports.append(inspect_recipe(load_recipe(path), recordings_folder))
        except GalleryError as error:
            reports.append(Report(name=path.stem, status=Status.UNUSABLE, detail=str(error)))
    sources = {path.stem: path for path in paths}
    for path in sorted(recordings_folder.glob("**/*.ipynb")):
        name = path.relative_to(recordings_folder).with_suffix("").as_posix()
        if path.stem not in sources:
            problem = f"{path}: no recipe of this name; remove the file or restore the recipe"
            reports.append(Report(name=name, status=Status.UNUSABLE, detail=problem))
        elif name != path.stem:  # of another machine, in a folder of its own
            with contextlib.suppress(GalleryError):  # the recipe's own line says what is wrong
                report = inspect_recipe(load_recipe(sources[path.stem]), path.parent)
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
