"""Refuse recipes whose mending would make a recording stale: ``make record`` runs this first.

    python -m second_call.before_recording recipes_source

Each of these faults would show only after a recording, or in words of Python that name another
place.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError, load_recipes

from .compare_calls import find_wrong_sizes, find_wrong_variants
from .module_imports import find_in_helper, find_lost_imports
from .recipe_files import find_wrong_names
from .refuse_encodings import find_wrong_bytes


def find_problems(folder: Path) -> Iterator[GalleryError]:
    """Yield what is wrong with the files of recipes in a folder, and with code in them.

    Code is looked at up to a recipe that cannot be read: recording tells of that one.
    """
    unreadable = list(find_wrong_bytes(folder))
    yield from unreadable
    yield from find_wrong_names(folder)
    if unreadable:
        return
    for helper in sorted(folder.glob("_*.py")):
        yield from find_in_helper(helper)
    try:
        for recipe in load_recipes(folder):
            yield from find_lost_imports(recipe.path, recipe.blocks)
            yield from find_wrong_sizes(recipe.path, recipe.blocks)
            yield from find_wrong_variants(recipe.path, recipe.blocks)
    except GalleryError:
        return


if __name__ == "__main__":
    problems = list(find_problems(Path(sys.argv[1])))
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(bool(problems))
