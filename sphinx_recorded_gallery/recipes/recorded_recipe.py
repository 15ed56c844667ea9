"""A recipe's page with its recording: asked by all that show or tell something of it."""

from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..project import file_state
from .find_recipes import GalleryFile, find_file
from .recipe import Recipe, load_recipe
from .recording import Comparison, Recording, compare, read_recording


@dataclass(frozen=True, kw_only=True)
class RecordedPage:
    """A page whose recording was read; it may be stale, which ``comparison`` tells."""

    recipe: Recipe
    recording: Recording
    comparison: Comparison


@dataclass(frozen=True, kw_only=True)
class Unrecorded:
    """A recipe's page without a recording."""

    recipe: Recipe
    path: Path  # where it would lie; a file there is damaged
    error: GalleryError  # for a person; only replaying warns of it


RecipePage = RecordedPage | Unrecorded


def load_page(env: BuildEnvironment, docname: str) -> RecipePage | None:
    """Return what the page ``docname`` is made from, or None if it is no recipe's.

    There is no page of a recipe that cannot be read.
    """
    file = find_file(env.config, Path(env.srcdir), docname)
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings)
    with suppress(GalleryError):
        return load_recorded(file, folder) if file else None
    return None


def load_recorded(file: GalleryFile, folder: Path) -> RecordedPage | Unrecorded:
    """Read a recipe and its recording in ``folder``; an unchanged file is not parsed again.

    Raises ``GalleryError`` if the recipe cannot be read.
    """
    recipe = load_recipe(file.path, file.name)
    _ = recipe.inputs  # a wrong list of them is the recipe's mistake, not the recording's
    path = file.recording(folder)
    try:
        recording = _read(path, file, file_state(path))
    except GalleryError as error:
        return Unrecorded(recipe=recipe, path=path, error=error)
    comparison = compare(recipe, recording)
    return RecordedPage(recipe=recipe, recording=recording, comparison=comparison)


@lru_cache(maxsize=128)  # a build asks some fifteen times for each page; 40 ms, about 1 MB
def _read(path: Path, file: GalleryFile, _state: object) -> Recording:
    return read_recording(path, file.name, trusted=file.trusted)
