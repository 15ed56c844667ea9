"""Files of recipes that no page is made of, whose page has a wrong name, or is nowhere listed.

``recorded-gallery check`` tells all to the author. ``make record`` refuses names before it records:
a recipe that gets another one has to be recorded again. ``make page`` first runs
``python -m second_call.recipe_files FOLDER NAME ...``: the recipes named have to be in the folder.
"""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError

from .near_names import find_near
from .new_recipe import NAME, PAGES, was_published
from .short_titles import list_short_titles


def find_misplaced(folder: Path) -> Iterator[GalleryError]:
    """Yield an error for each file below the folder of the recipes that should not be there so.

    Modules of recipes, whose names begin with ``_``, may lie and be called as they like.
    """
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).parts
        if any(part.startswith(("_", ".")) for part in parts):
            continue
        if len(parts) > 1:
            remedy = f"move it to {folder.name}/{path.name}"
            yield GalleryError("is not read", path=path, remedy=remedy)
    yield from find_wrong_names(folder)


def find_wrong_names(folder: Path) -> Iterator[GalleryError]:
    """Yield an error for each recipe in a folder whose page would have a name that none may have.

    Each comes with a name that is near it.
    """
    for path in _list_recipes(folder):
        if NAME.fullmatch(path.stem):
            continue
        text = "the name of a recipe has small letters, digits and _ between them"
        words = re.sub("[^a-z0-9]+", "_", path.stem.lower())
        near_name = words.strip("_").lstrip("_0123456789")
        remedy = f"rename it, for example to {near_name or 'my_recipe'}.py, and record it again"
        yield GalleryError(text, path=path, remedy=remedy)


def find_unknown(folder: Path, names: Sequence[str]) -> Iterator[GalleryError]:
    """Yield an error for each of ``names`` that is no recipe in a folder.

    A name may be a path, or several with commas, as other programs take them.
    """
    recipes = [path.stem for path in _list_recipes(folder)]
    for name in names:
        if name in recipes:
            continue
        stem = Path(name).stem
        near_name = stem if stem in recipes else find_near(stem, recipes)
        remedy = f"choose among: {', '.join(recipes)}"
        if "," in name:
            remedy = f'write spaces between names: RECIPES="{" ".join(name.split(","))}"'
        elif near_name:
            remedy = f"did you mean {near_name}?"
        yield GalleryError(f"no recipe named {name}", remedy=remedy)


def find_unlisted(root: Path, recipes: Path) -> Iterator[GalleryError]:
    """Yield an error for each recipe below ``recipes`` that the list of published pages lacks.

    A site without that list keeps no addresses.
    """
    pages = root / PAGES
    if not pages.is_file():
        return
    listed = pages.read_text(encoding="utf-8").splitlines()
    for path in _list_recipes(recipes):
        page = f"recipes/{path.stem}"
        if NAME.fullmatch(path.stem) and page not in listed:
            remedy = f"add this line, and {path.stem!r} to second_call_recipes in conf.py"
            yield GalleryError(f"{page} is missing", path=pages, remedy=remedy)


def find_given_up(root: Path, recipes: Path) -> Iterator[GalleryError]:
    """Yield an error for each page of a recipe in the list that no recipe has, and none leads from.

    What was never published needs no address.
    """
    pages = root / PAGES
    if not pages.is_file():
        return
    names = [path.stem for path in _list_recipes(recipes)]
    settings = (root / "conf.py").read_text(encoding="utf-8")
    for number, page in enumerate(pages.read_text(encoding="utf-8").splitlines(), 1):
        name = page.removeprefix("recipes/")
        if name == page or name in names or f'"{page}"' in settings:
            continue
        remedy = "remove the line, and that of second_call_recipes in conf.py"
        if was_published(root, page):
            remedy = f"let its address lead elsewhere: add {page!r} to redirects in conf.py"
        yield GalleryError(f"{page} has no recipe", path=pages, line=number, remedy=remedy)


def find_unknown_titles(root: Path, recipes: Path) -> Iterator[GalleryError]:
    """Yield an error for each short title of a recipe that there is not, on the site that has them.

    A recipe without one has its whole title in menus.
    """
    titles = root / "second_call/short_titles.py"
    if not titles.is_file():
        return
    names = [path.stem for path in _list_recipes(recipes)]
    for name in list_short_titles():
        if name in names:
            continue
        near_name = find_near(name, names)
        remedy = f"did you mean {near_name!r}?" if near_name else "remove its line"
        yield GalleryError(f"{name!r} is no recipe", path=titles, remedy=remedy)


def _list_recipes(folder: Path) -> list[Path]:
    """Return the files of recipes in a folder, whatever their names."""
    return sorted(folder.glob("[!_.]*.py"))


if __name__ == "__main__":
    recipes_folder = Path(sys.argv[1])
    problems = [*find_unknown(recipes_folder, sys.argv[2:]), *find_wrong_names(recipes_folder)]
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(bool(problems))
