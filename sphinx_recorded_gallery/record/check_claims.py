"""Which claims and keys in texts do not hold: `recorded-gallery check` tells them without a build.

They are what the roles ``measured`` and ``claim`` name, in recipes, in the ``.rst`` files beside
these and on pages. A build tells them, too, and mistakes in the roles themselves.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

from sphinx.util.matching import get_matching_files

from ..errors import GalleryError
from ..measurements.keys import Reference, find_references
from ..measurements.lookup import (
    Outcome,
    RecipeResults,
    choose_page,
    find_in_results,
    list_references,
    read_results,
)
from ..measurements.quantities import Quantity, list_quantities
from ..project import CORE, Project
from ..recipes.find_recipes import GalleryFile, list_files
from ..recipes.recipe import load_recipe

_MOST_OWNERS = 2  # examples that measure a key; of more, none may be meant
Place = tuple[Path, int, str]  # file, line and page; the page is empty if it is no recipe's


def check_claims(project: Project, folder: Path) -> Iterator[GalleryError]:
    """Yield the claims and keys that the recordings in ``folder`` do not confirm.

    Recipes without a current recording are left out: what they claim is not known. So are those
    that cannot be read, which the reports on recordings tell.
    """
    if f"{CORE}.measurements" not in project.config.extensions:
        return
    files = {file.docname: file for file in list_files(project.config, project.root)}
    quantities = list_quantities(project.config)

    @cache
    def read(page: str) -> RecipeResults | None:
        try:
            return read_results(files[page], folder, project.root, project.config)
        except GalleryError:
            return None

    for (path, line, page), reference in _find_all(project):
        try:
            results = read(choose_page(files, reference, page))
        except ValueError as error:
            yield GalleryError(str(error), path=path, line=line)
            continue
        if results is None or results.is_unreadable:
            continue
        lookup = find_in_results(
            results,
            reference.key,
            reference.release,
            quantities,
            may_lack=project.config.recorded_gallery_gpu_figures,
        )
        if lookup.problem:
            owners = []
            if not reference.recipe and lookup.outcome is Outcome.WRONG_KEY:
                owners = _find_owners(reference, files, read, quantities)
            text = lookup.problem
            if owners:
                text += f"; or of another example: {' or '.join(owners)}"
            yield GalleryError(text, path=path, line=line)
        elif lookup.claim and lookup.claim.refuted:
            text = f"the claim <{reference.name}> {lookup.claim.failure}"
            yield GalleryError(text, path=path, line=line)


def _find_owners(
    reference: Reference,
    files: Mapping[str, GalleryFile],
    read: Callable[[str], RecipeResults | None],
    quantities: dict[str, Quantity],
) -> list[str]:
    """Return a reference with the names of the examples that measure what it names, at most two."""
    owners = []
    for page, file in files.items():
        results = read(page)
        if results is None or not results.is_measured:
            continue
        key, release = reference.key, reference.release
        if not find_in_results(results, key, release, quantities, may_lack=False).problem:
            owners.append(f"{file.name}:{reference.name}")
    return owners if len(owners) <= _MOST_OWNERS else []


def _find_all(project: Project) -> Iterator[tuple[Place, Reference]]:
    """Yield what the roles in all texts name, with their places."""
    for file in list_files(project.config, project.root):
        try:
            recipe = load_recipe(file.path, file.name)
        except GalleryError:
            continue
        for line, reference in list_references(recipe):
            yield (file.path, line, file.docname), reference
    for path in _find_pages(project):
        text = path.read_text(encoding="utf-8-sig", errors="replace")
        for line, reference in find_references(text):
            yield (path, line + 1, ""), reference


def _find_pages(project: Project) -> list[Path]:
    """Return the pages that somebody wrote, and the headers of galleries."""
    made_pages = [pages for pages, _recipes in project.galleries]
    left_out = [*project.config.exclude_patterns, *project.config.templates_path, *made_pages]
    names = get_matching_files(project.root, exclude_patterns=left_out)
    pages = [project.root / name for name in names if name.endswith(".rst")]
    headers = []
    for _pages, recipes in project.galleries:
        headers += sorted(recipes.rglob("*.rst"))
    return list(dict.fromkeys(pages + headers))
