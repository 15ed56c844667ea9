"""A recipe together with its recording, for everything that shows it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from nbformat import NotebookNode
from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..project import file_state
from .captured_values import JUPYTER
from .find_recipes import GalleryFile, find_file
from .recipe import Recipe, load_recipe
from .recording import Comparison, Recording, compare, read_recording


@dataclass(frozen=True, kw_only=True)
class RecordedPage:
    """A page with its recording; ``comparison`` says whether the recording is current."""

    recipe: Recipe
    recording: Recording
    comparison: Comparison


@dataclass(frozen=True, kw_only=True)
class Unrecorded:
    """A recipe's page without a recording."""

    recipe: Recipe
    path: Path  # of the recording; an existing file is damaged
    error: GalleryError  # only the page itself warns of it
    recording: None = None


RecipePage = RecordedPage | Unrecorded


def load_page(env: BuildEnvironment, docname: str) -> RecipePage | None:
    """Return the recipe of the page ``docname`` with its recording; None for other pages.

    Also returns None if the recipe cannot be read: it has no page then.
    """
    file = find_file(env.config, Path(env.srcdir), docname)
    if file is None:
        return None
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings)
    with suppress(GalleryError):
        return load_recorded(file, folder)
    return None


def load_recorded(file: GalleryFile, folder: Path) -> RecordedPage | Unrecorded:
    """Return a recipe with its recording in ``folder``; unchanged files are not parsed again.

    Raises ``GalleryError`` if the recipe cannot be read.
    """
    recipe = load_recipe(file.path, file.name)
    _ = recipe.hash_inputs()  # raises an error for mistakes in the recipe's list of inputs
    path = file.recording_path(folder)
    try:
        recording = _read(path, file, file_state(path))
    except GalleryError as error:
        return Unrecorded(recipe=recipe, path=path, error=error)
    comparison = _choose_values(file, recipe, compare(recipe, recording))
    return RecordedPage(recipe=recipe, recording=recording, comparison=comparison)


def _choose_values(file: GalleryFile, recipe: Recipe, comparison: Comparison) -> Comparison:
    """Return a comparison whose recorded cells have the values that settings select."""
    capture_of_recipe = file.capture
    if "capture_repr" in recipe.settings:
        methods = tuple(recipe.settings["capture_repr"])
        capture_of_recipe = replace(capture_of_recipe, methods=methods)
    if "ignore_repr_types" in recipe.settings:
        ignored_types = recipe.settings["ignore_repr_types"]
        capture_of_recipe = replace(capture_of_recipe, ignored_types=ignored_types)
    recorded = {}
    for cell in recipe.cells:
        if cell.number not in comparison.recorded:
            continue
        node = comparison.recorded[cell.number]
        capture = capture_of_recipe
        if cell.settings.capture is not None:
            capture = replace(capture_of_recipe, methods=cell.settings.capture)
        if capture != JUPYTER:
            node = NotebookNode({**node, "outputs": capture.choose(node.outputs)})
        recorded[cell.number] = node
    return replace(comparison, recorded=recorded)


@lru_cache(maxsize=128)  # needed some fifteen times for each page; 40 ms, about 1 MB
def _read(path: Path, file: GalleryFile, _state: object) -> Recording:
    return read_recording(path, file.name, trusted=file.trusted)
