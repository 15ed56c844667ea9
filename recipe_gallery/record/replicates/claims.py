"""Which claims of a recipe pages make that are not its own: others' texts rest on them, too."""

from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress

from ...errors import GalleryError
from ...project import Project, find_pages
from ...recipes.gallery import GalleryFile
from ...recipes.recipe import load_recipe
from ...recipes.references import find_claims


def find_borrowed_claims(project: Project, files: Iterable[GalleryFile]) -> dict[str, set[str]]:
    """Return the keys of such claims by the name of the recipe that has to confirm them."""
    named: dict[str, set[str]] = defaultdict(set)
    texts = [_read(project, page) for page in find_pages(project.root, project.config).values()]
    for file in files:
        with suppress(GalleryError):  # its own report tells it
            blocks = load_recipe(file.path, file.name).blocks
            texts.append("\n".join(each.content for each in blocks if each.type == "text"))
    for claim in set().union(*map(find_claims, texts)):
        recipe, _colon, key = claim.rpartition(":")
        named[recipe].add(key)
    return {
        file.name: named.get(file.name_in_gallery, set()) | named.get(file.docname, set())
        for file in files
    }


def _read(project: Project, page: str) -> str:
    """Return the text of a page; the build tells what is wrong with its file."""
    try:
        return (project.root / page).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
