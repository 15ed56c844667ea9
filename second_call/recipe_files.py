"""Files of recipes that no page is made of, or whose page would have a name that none may have.

``recorded-gallery check`` tells both to the author.
"""

from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError

from .new_recipe import NAME


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
        elif not NAME.fullmatch(path.stem):
            text = "the name of a recipe has small letters, digits and _ between them"
            yield GalleryError(text, path=path, remedy="rename the file and its recording")
