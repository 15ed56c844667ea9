"""A recipe's page with its recording: loaded once, asked by all that show something of it."""

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path

from sphinx.environment import BuildEnvironment

from ..project import GalleryError
from .gallery import find_file
from .recipe import Recipe, load_recipe
from .recording import Comparison, Recording, compare, read_recording


class Reason(Enum):
    """Why a page shows no recording."""

    MISSING = "there is no recording"
    DAMAGED = "the recording cannot be read"
    BROKEN = "the recipe cannot be read"


@dataclass(frozen=True, kw_only=True)
class RecordedPage:
    """A page whose recording was read; it may be stale, which ``comparison`` tells."""

    source: Path
    recipe: Recipe
    recording: Recording
    comparison: Comparison


@dataclass(frozen=True, kw_only=True)
class Unrecorded:
    """A recipe's page without a recording."""

    source: Path
    reason: Reason
    error: GalleryError  # for a person; only replaying warns of it
    recipe: Recipe | None  # None if it is BROKEN


def load_page(env: BuildEnvironment, docname: str) -> RecordedPage | Unrecorded | None:
    """Return what the page ``docname`` is made from, or None if it is no recipe's."""
    file = find_file(env.config, Path(env.srcdir), docname)
    if file is None:
        return None
    folder = Path(env.srcdir, env.config.recipe_gallery_recordings)
    return load_recorded(file.path, file.recording(folder), file.name)


def load_recorded(source: Path, path: Path, name: str = "") -> RecordedPage | Unrecorded:
    """Read a recipe and the recording at ``path``; what was read lately is not parsed again.

    ``name`` is the recipe's, if it is another than that of its file.
    """
    try:
        recipe = load_recipe(source, name)
        _ = recipe.inputs  # a wrong list of them is the recipe's mistake, not the recording's
    except GalleryError as error:
        return Unrecorded(source=source, reason=Reason.BROKEN, error=error, recipe=None)
    reason = Reason.DAMAGED if path.exists() else Reason.MISSING
    try:
        recording = _read(path, recipe.name)
        comparison = compare(recipe, recording)
    except GalleryError as error:
        return Unrecorded(source=source, reason=reason, error=error, recipe=recipe)
    return RecordedPage(source=source, recipe=recipe, recording=recording, comparison=comparison)


def _read(path: Path, name: str) -> Recording:
    try:
        state = path.stat()
    except OSError:
        return read_recording(path, name)  # which raises the error for a person
    return _read_once(path, name, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=16)  # one page asks again and again; a thousand recordings fill the memory
def _read_once(path: Path, name: str, mtime_ns: int, size: int) -> Recording:
    return read_recording(path, name)
