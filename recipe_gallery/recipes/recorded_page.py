"""A recipe's page with its recording: loaded once, asked by all that show something of it."""

from dataclasses import dataclass
from enum import Enum, auto
from functools import lru_cache
from pathlib import Path

from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..project import file_state
from ..store import store_of
from .gallery import GalleryFile, find_file
from .recipe import Recipe, load_recipe
from .recording import Comparison, Recording, advise, compare, read_recording

# Which picture of a recording cannot be opened, if any. Opening all takes longer than reading it.
BROKEN_PICTURES: dict[tuple[object, ...], str] = {}


class Reason(Enum):
    """Why a page shows no recording."""

    MISSING = auto()
    DAMAGED = auto()
    BROKEN = auto()  # the recipe, not the recording


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
    """Return what the page ``docname`` is made from, or None if it is no recipe's.

    It is kept until another page is asked for: most of what asks is about the page at hand.
    """
    once, key = store_of(env).once, (load_page,)
    if key not in once or once[key][0] != docname:
        file = find_file(env.config, Path(env.srcdir), docname)
        folder = Path(env.srcdir, env.config.recipe_gallery_recordings)
        once[key] = docname, load_recorded(file, folder) if file else None
    page: RecordedPage | Unrecorded | None = once[key][1]
    return page


def load_recorded(file: GalleryFile, folder: Path) -> RecordedPage | Unrecorded:
    """Read a recipe and its recording in ``folder``; what was read lately is not parsed again."""
    try:
        recipe = load_recipe(file.path, file.name)
        _ = recipe.inputs  # a wrong list of them is the recipe's mistake, not the recording's
    except GalleryError as error:
        return Unrecorded(source=file.path, reason=Reason.BROKEN, error=error, recipe=None)
    path = file.recording(folder)
    try:
        known = path, recipe.name, file.name_in_gallery, file_state(path)
        recording = _read_once(*known)
        if known not in BROKEN_PICTURES:
            if len(BROKEN_PICTURES) >= 10_000:  # in a process that stays, as `live`
                BROKEN_PICTURES.clear()
            BROKEN_PICTURES[known] = recording.find_broken_picture()
        if broken := BROKEN_PICTURES[known]:
            raise GalleryError(broken, path=path, remedy=advise(recipe.name))
    except GalleryError as error:
        reason = Reason.DAMAGED if path.exists() else Reason.MISSING
        return Unrecorded(source=file.path, reason=reason, error=error, recipe=recipe)
    comparison = compare(recipe, recording)
    return RecordedPage(source=file.path, recipe=recipe, recording=recording, comparison=comparison)


@lru_cache(maxsize=16)  # one page asks again and again; a thousand recordings fill the memory
def _read_once(path: Path, name: str, former: str, state: object) -> Recording:
    return read_recording(path, name, former)
