"""The recipes of a build, as the pages of a site ask for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from sphinx.environment import BuildEnvironment

from .measurements import lookup, names_for_readers
from .measurements.keys import Reference
from .measurements.lookup import Lookup, RecipeResults, all_files
from .measurements.release_changes import ReleaseChanges
from .measurements.release_page import load_changes
from .measurements.rows import Size
from .measurements.spans import Spans, load_spans
from .recipes.find_recipes import GalleryFile, find_recipes, find_recordings
from .recipes.recipe import Recipe, load_recipe
from .recipes.recorded_recipe import RecipePage, load_page
from .store import once, watch


def load_recipes(folder: Path) -> Iterator[Recipe]:
    """Yield the recipes in a folder, in order, for what checks them outside of a build.

    Raises ``GalleryError`` at the first that cannot be read.
    """
    for path in find_recipes(folder):
        yield load_recipe(path)


class Gallery:
    """The recipes of a build: their files, what was measured, and what readers call it.

    A recipe is called by its page, such as ``recipes/memory``. What a page shows of another recipe
    is asked for while Sphinx reads that page: it is then read again when the answer changes.
    """

    def __init__(self, env: BuildEnvironment) -> None:
        self.env = env

    @property
    def files(self) -> Mapping[str, GalleryFile]:
        """All recipes of the project by their pages, each with its ``path`` and its ``name``."""
        return once(self.env, all_files)

    def find_page(self, name: str) -> str:
        """Return the page of a recipe by its name, for the page at hand.

        Raises ``ValueError`` with the names that are near it if there is no such recipe.
        """
        return lookup.find_page(self.env, Reference(recipe=name, key=""), self.env.docname)

    def load_page(self, docname: str) -> RecipePage | None:
        """Return the recipe of a page with its recording.

        Returns None for other pages, and for a recipe that cannot be read, which the build reports.
        """
        return load_page(self.env, docname)

    def load_results(self, docname: str, machine: str = "") -> RecipeResults | None:
        """Return what a recipe measured; None if it is gone or cannot be read.

        ``machine`` is one of ``list_machines``; without it, it is the recording that the recipe's
        page shows. The page at hand follows the results.
        """
        if machine:
            return watch(self.env, lookup.load_results, docname, machine)
        return watch(self.env, lookup.load_results, docname)

    def list_machines(self, docname: str) -> list[str]:
        """Return the other machines on which a recipe was recorded, which the page at hand follows.

        They are folders of the recordings.
        """
        return watch(self.env, _list_machines, docname)

    def look_up(self, docname: str, key: str) -> Lookup:
        """Return the measurement that a key names in a recipe, or the result of a comparison.

        A key is such as ``adam.10.fused.wall``, and may leave out parts if it stays clear; a
        comparison is such as ``fused.wall < foreach.wall``. No error is raised: the outcome and the
        problem say what is wrong. The page at hand follows.
        """
        return lookup.look_up(self.env, docname, key)

    def load_spans(self, docname: str) -> dict[str, Spans]:
        """Return by case when the lanes of a run were busy.

        The ``lanes`` of a case are by name, each with the start and the end of spans, in seconds
        from the beginning. The run is that of the recipe's page. There are none of a recording that
        is missing or stale. Raises ``GalleryError`` for spans that are wrong.
        """
        return load_spans(self.env, docname)

    def load_changes(self, docname: str, now: str, before: str) -> ReleaseChanges:
        """Return what moved in a recipe between two releases, such as 2.15 and 2.11.

        Its ``moved`` are :class:`Change` objects. Without a host that measured both releases there
        are none. The page at hand follows the results.
        """
        self.load_results(docname)  # only to let the page follow them
        return once(self.env, load_changes, docname, now, before)

    def name_word(self, docname: str, word: str) -> str:
        """Return what readers call a case, a variant or a size of a recipe, in their language.

        Without a name it is the word itself.
        """
        return names_for_readers.pieces_as_text(
            names_for_readers.name_word(self.env, docname, word)
        )

    def name_case(self, docname: str, case: str, size: Size = None, size_name: str = "") -> str:
        """Return what readers call a case at a size: "matmul · rows: 128".

        ``size_name`` is the recipe's word for what the size counts.
        """
        return names_for_readers.pieces_as_text(
            names_for_readers.name_case(self.env, docname, case, size, size_name)
        )

    def name_quantity(self, docname: str, word: str) -> str:
        """Return what readers call a quantity of a recipe: "wall time" for ``wall``."""
        return names_for_readers.pieces_as_text(
            names_for_readers.name_word(self.env, docname, word, names_for_readers.QUANTITY)
        )


def _list_machines(env: BuildEnvironment, docname: str) -> list[str]:
    """Return the machines of one recipe, for a page to watch."""
    return once(env, _find_machines).get(docname, [])


def _find_machines(env: BuildEnvironment) -> dict[str, list[str]]:
    """Return the machines of each recipe, by its page."""
    files = once(env, all_files)
    pages = {file.name: docname for docname, file in files.items()}
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings)
    machines: defaultdict[str, list[str]] = defaultdict(list)
    for _path, machine, name in find_recordings(folder, files.values()):
        if machine and name:
            machines[pages[name]].append(machine)
    return machines
