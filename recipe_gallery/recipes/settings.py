"""Settings of a recipe: comment lines of the form ``# sphinx_gallery_<name> = <value>``.

Sphinx-Gallery removes them from the page; its own are allowed, too. Those of this package:

``cell_timeout``
    Seconds one cell may take while it is recorded.
``deadline``
    Seconds the whole recipe may take.
``inputs``
    A list of local files, relative to the recipe, that its code reads.
``alt``
    In a code cell: what its figure shows, for those who cannot see it. One line per figure.
``raises``
    In a code cell: the name of the exception the cell is meant to end in. Jupyter goes on after it,
    a script ends there, so such a cell comes last or its code catches the exception instead.
"""

import ast
import math
import re
from pathlib import Path
from typing import Any

from sphinx_gallery.py_source_parser import Block

from ..project import GalleryError

_OWN_SETTINGS = {"cell_timeout", "deadline", "inputs", "alt", "raises"}
# Those of Sphinx-Gallery. What is about running or drawing says nothing about a recording.
_GALLERY_SETTINGS = {
    "capture_repr",
    "defer_figures",
    "dummy_images",
    "failing_thumbnail",
    "ignore_repr_types",
    "line_numbers",
    "multi_image",
    "multi_image_block",
    "parallel",
    "tags",
    "thumbnail_number",
    "thumbnail_path",
}


def cell_settings(path: Path, block: Block, name: str) -> list[str]:
    """Return the values of a setting in one block of code, in order; each is a string."""
    values = []
    setting = rf"^[ \t]*#\s*sphinx_gallery_{name}\s*=(.*)$"
    for match in re.finditer(setting, block.content, re.MULTILINE):
        try:
            value = ast.literal_eval(match.group(1).strip())
        except (SyntaxError, ValueError):
            value = None
        if not isinstance(value, str) or "\n" in value:
            raise GalleryError(
                f"sphinx_gallery_{name} needs a string in quotes, on one line",
                path=path,
                line=block.lineno + block.content.count("\n", 0, match.start()),
            )
        values.append(value)
    return values


def check_settings(path: Path, settings: dict[str, Any]) -> None:
    """Raise ``GalleryError`` for a setting of a whole recipe that is unknown or no use."""
    unknown = sorted(settings.keys() - _OWN_SETTINGS - _GALLERY_SETTINGS)
    if unknown:
        known = f"there are: {', '.join(sorted(_OWN_SETTINGS))}, and Sphinx-Gallery's own"
        raise GalleryError(f"unknown setting sphinx_gallery_{unknown[0]}", path=path, remedy=known)
    for name in ("cell_timeout", "deadline"):
        value = settings.get(name, 1)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and 0 < value < math.inf):
            text = f"sphinx_gallery_{name} needs a number of seconds above 0"
            raise GalleryError(text, path=path)
    inputs = settings.get("inputs", [])
    if not isinstance(inputs, list) or not all(isinstance(name, str) for name in inputs):
        raise GalleryError('sphinx_gallery_inputs needs a list such as ["data.csv"]', path=path)
