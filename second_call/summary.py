"""A recipe's title, first sentence, device, date, measurements and names, for lists and charts.

Pages watch it: they are read again when one of these lines changes, not with every edit.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

from sphinx.environment import BuildEnvironment

from recipe_gallery.errors import GalleryError
from recipe_gallery.pages.measurements.known import all_files, measure
from recipe_gallery.recipes.gallery import GalleryFile
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import replicates_path
from recipe_gallery.recipes.rows import slug
from recipe_gallery.recipes.sources import Measurements
from recipe_gallery.recorded_page import RecordedPage, Unrecorded, load_recorded
from recipe_gallery.store import keep

_DIRECTIVE = re.compile(r"^\.\. names::[ ]*\n(?P<fields>(?:[ ]+.*\n|[ ]*\n)*)", re.MULTILINE)
_FIELD = re.compile(r"^[ ]+:(?P<name>[^:\n]+):(?P<text>.*(?:\n[ ]+(?![ :]).+)*)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What one recording says."""

    device: str
    recorded: datetime
    package_versions: tuple[tuple[str, str], ...]
    measurements: Measurements  # of all its processes
    problem: str = ""  # why these cannot be read


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A recipe, and what was measured on one machine if it was recorded there."""

    title: str  # message of the recipe's page, as is the text
    text: str
    measured: Measured | None
    problem: str = ""  # why the recording shows nothing, or something old


def summarize(env: BuildEnvironment, docname: str, machine: str = "") -> Summary | None:
    """Return the summary of a recipe's page, or None if it has none.

    ``machine`` names a folder of ``recordings/``; without it, it is the recording the page shows.
    Files that have not changed are not read again, also not in later builds.
    """
    file = all_files(env).get(docname)
    if file is None:
        return None
    folder = Path(env.srcdir, env.config.recipe_gallery_recordings, machine)
    path = file.recording(folder)

    def read() -> tuple[list[Path] | None, Summary | None]:
        page = load_recorded(file, folder)
        files = page.recipe.files if page.recipe else None
        return files, _describe(page, Path(env.srcdir))

    files = [file.path, path, replicates_path(path)]
    found: Summary | None = keep(env, ("summary", docname, machine), files, read)
    return found


def declared_names(env: BuildEnvironment, docname: str) -> dict[str, str]:
    """Return the names that a recipe declares for charts by their slugs, untranslated."""
    file = all_files(env).get(docname)
    if file is None:
        return {}
    names: dict[str, str]
    names = keep(env, ("names", docname), [file.path], partial(_read_names, file))
    return names


def _read_names(file: GalleryFile) -> tuple[list[Path] | None, dict[str, str]]:
    try:
        recipe = load_recipe(file.path, file.name)
        files = recipe.files
    except GalleryError:  # replaying tells it
        return None, {}
    texts = [f"{block.content}\n" for block in recipe.blocks if block.type == "text"]
    declared = [each["fields"] for text in texts for each in _DIRECTIVE.finditer(text)]
    fields = [each for some in declared for each in _FIELD.finditer(some)]
    names = {slug(each["name"]): " ".join(each["text"].split()) or each["name"] for each in fields}
    return files, names


def list_recipes(env: BuildEnvironment) -> tuple[str, ...]:
    """Return the pages of all recipes, those first that ``second_call_recipes`` names."""
    first = {name: place for place, name in enumerate(env.config.second_call_recipes)}
    files = sorted(all_files(env).values(), key=lambda file: first.get(file.name, len(first)))
    return tuple(file.docname for file in files)


def _describe(page: RecordedPage | Unrecorded, root: Path) -> Summary | None:
    if page.recipe is None:
        return None
    measured, problem = None, ""
    if isinstance(page, Unrecorded):
        problem = page.error.describe(root)
    else:
        recording = page.recording
        if not page.comparison.is_current:
            stale = f"stale recording: {page.comparison.describe()}"
            problem = GalleryError(stale, path=recording.path).describe(root)
        measurements, wrong = _measure(page, root)
        measured = Measured(
            device=recording.device_name,
            recorded=recording.recorded,
            package_versions=tuple(recording.facts["versions"].items()),
            measurements=measurements,
            problem=wrong,
        )
    return Summary(
        title=page.recipe.title, text=page.recipe.summary, measured=measured, problem=problem
    )


def _measure(page: RecordedPage, root: Path) -> tuple[Measurements, str]:
    """Return what the processes of a recording say, and why they cannot be read."""
    try:
        return measure(page), ""
    except GalleryError as error:
        return Measurements(), error.describe(root)
