"""Begin a recipe: a skeleton that records as it stands, and its lines in the lists of pages.

``make new-recipe NAME=gradient_accumulation`` runs it.
"""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError

TEMPLATE = Path(__file__).with_name("templates") / "new_recipe.py.txt"
PAGES = Path("tests/site/published_pages.txt")
LONGEST_NAME = 60  # letters
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
ORDER = re.compile(r"^second_call_recipes = \[\n(?:    .*\n)*", re.MULTILINE)  # of conf.py


def begin_recipe(root: Path, name: str) -> list[Path]:
    """Write the skeleton of a recipe and name it where pages are listed; return these files.

    Raises ``GalleryError``, before anything is written, for a name that no new page can have.
    """
    if not NAME.fullmatch(name) or name == "index":
        text = f"{name!r} is not a name for a recipe" if name else "which recipe?"
        remedy = "take small letters, digits and _, for example: NAME=gradient_accumulation"
        raise GalleryError(text, remedy=remedy)
    if len(name) > LONGEST_NAME:
        text = f"a name of {len(name)} letters would make too long a title and address"
        raise GalleryError(text, remedy=f"take one of at most {LONGEST_NAME}")
    recipe = root / f"recipes_source/{name}.py"
    pages = root / PAGES
    settings = root / "conf.py"
    if recipe.exists():
        raise GalleryError("it is there already", path=recipe, remedy="take another name")
    page = f"recipes/{name}"
    published = pages.read_text("utf-8")
    if page in published.splitlines() and was_published(root, page):
        text = f"there was a page {page} once, whose address leads elsewhere"
        raise GalleryError(text, path=pages, remedy="take another name")
    if name in sys.stdlib_module_names or importlib.util.find_spec(name):
        text = f"{name} is a Python module, and programs beside the recipe would import this one"
        raise GalleryError(text, remedy="take another name")
    conf = settings.read_text("utf-8")
    order = ORDER.search(conf)
    if not order:
        remedy = "write there: second_call_recipes = [ ... ], a name a line"
        raise GalleryError("no list of recipes", path=settings, remedy=remedy)

    title = name.replace("_", " ").capitalize()
    underline = "=" * len(f"{title}: compile it?")
    template = TEMPLATE.read_text("utf-8")
    recipe.write_text(template.format(title=title, underline=underline), "utf-8")
    if f'"{name}"' not in order[0]:
        conf = f'{conf[: order.end()]}    "{name}",\n{conf[order.end() :]}'
        settings.write_text(conf, "utf-8")
    description, *names = published.splitlines()  # the first line says what the file is
    lines = [description, *sorted({*names, page})]
    pages.write_text("\n".join(lines) + "\n", "utf-8")
    return [recipe, settings, pages]


def was_published(root: Path, page: str) -> bool:
    """Return whether the list of pages had a page in the last commit; true without git."""
    command = ["git", "show", f"HEAD:./{PAGES.as_posix()}"]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8")
    except OSError:
        return True
    return done.returncode != 0 or page in done.stdout.splitlines()


if __name__ == "__main__":
    try:
        written = begin_recipe(Path(), sys.argv[1])
    except GalleryError as error:
        sys.exit(f"error: {error}")
    for path in written:
        print(path)
    chosen = f"RECIPES={written[0].stem}"
    print(f"Next: make record {chosen} DEVICE=cpu && make page {chosen}")
