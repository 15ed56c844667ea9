"""Compute and store the figures of recordings: `recipe-gallery figures`, and after each run."""

from collections.abc import Sequence
from pathlib import Path

from ...errors import GalleryError, suggest
from ...project import Project
from ...recipes.gallery import find_recordings
from ...recipes.measurements import Figures, figures_path, store_figures
from ...recipes.recipe import Recipe, load_recipe
from ...recipes.sources import METHOD, read_sources
from ..recording_status import choose_files, name_files
from .report import count, describe, describe_refuted, describe_wide


def update_figures(path: Path, recipe: Recipe) -> list[str]:
    """Compute and store the figures of the recording at ``path``; return lines to say.

    What was computed from the same stays as it is, to the byte. Raises ``GalleryError`` if
    something cannot be read or written.
    """
    sources = read_sources(path, recipe)
    processes = sources.processes
    stored = figures_path(path)
    if not any(each.published for each in processes):
        if stored.exists() and processes:
            stored.unlink()
            return [f"{recipe.name}: publishes no rows; {stored.name} is removed"]
        if not processes and (stored.exists() or sources.replicates.stale):
            remedy = f"run: {suggest('record', recipe.name)}"
            return [f"{recipe.name}: what was measured is of other code; {remedy}"]
        return []
    try:
        from .intervals import compute_figures, compute_ratios
    except ModuleNotFoundError as error:
        text = f"{recipe.name}: intervals of figures need the package {error.name}"
        remedy = "run: pip install 'recipe-gallery[record]'"
        raise GalleryError(text, remedy=remedy) from None
    measured = [(each.host, each.published.rows) for each in processes]
    found = Figures(
        figures=compute_figures(measured),
        ratios=compute_ratios(measured),
        claims=sources.count_claims(),
        sources=sources.digest,
        method=METHOD,
    )
    changed = store_figures(path, found)
    what = "computed" if changed else "unchanged"
    line = f"{recipe.name}: {count(len(found.figures), 'figure')} of {describe(sources)}, {what}"
    return [line, *describe_wide(found.figures.values()), *describe_refuted(found.claims.values())]


def update_all(project: Project, names: Sequence[str], folder: Path | None = None) -> list[str]:
    """Update the figures of recipes called ``names``, or of all, also from other machines.

    Return lines to say. Raises ``GalleryError`` for the first that cannot be updated, after the
    others.
    """
    folder = folder or project.recordings
    files = {file.name: file for file in choose_files(project, names)}
    paths = [(file.recording(folder), file) for file in files.values()]
    paths += [
        (path, files[name])
        for path, machine, name in find_recordings(folder, name_files(project).values())
        if machine and name in files
    ]
    lines: list[str] = []
    errors: list[GalleryError] = []
    for path, file in paths:
        try:
            lines += update_figures(path, load_recipe(file.path, file.name))
        except GalleryError as error:
            errors.append(error)
    if errors:
        raise errors[0]
    return lines or ["no recording publishes figures"]
