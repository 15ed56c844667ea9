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
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError


def is_seconds(value: object) -> bool:
    """Tell whether a value is a finite number above 0."""
    return type(value) in (int, float) and 0 < value < math.inf  # type: ignore[operator]


def is_strings(value: object) -> bool:
    """Tell whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# What a setting of a whole recipe needs, and how that is said.
_NEEDED: dict[str, tuple[Callable[[object], bool], str]] = {
    "cell_timeout": (is_seconds, "a number of seconds above 0"),
    "deadline": (is_seconds, "a number of seconds above 0"),
    "inputs": (is_strings, 'a list such as ["data.csv"]'),
}
_OWN_SETTINGS = {*_NEEDED, "alt", "raises"}
# Those of Sphinx-Gallery. What is about running or drawing says nothing about a recording.
_GALLERY_SETTINGS = set(
    "capture_repr defer_figures dummy_images failing_thumbnail ignore_repr_types line_numbers "
    "multi_image multi_image_block parallel tags thumbnail_number thumbnail_path".split()
)


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
            text = f"sphinx_gallery_{name} needs a string in quotes, on one line"
            raise GalleryError(text, path=path, line=_line_of(block, match))
        values.append(value)
    return values


def check_settings(path: Path, settings: dict[str, Any], blocks: Sequence[Block]) -> None:
    """Raise ``GalleryError`` for a setting of a whole recipe that is unknown, no use or lost."""
    unknown = sorted(settings.keys() - _OWN_SETTINGS - _GALLERY_SETTINGS)
    if unknown:
        known = f"there are: {', '.join(sorted(_OWN_SETTINGS))}, and Sphinx-Gallery's own"
        raise GalleryError(f"unknown setting sphinx_gallery_{unknown[0]}", path=path, remedy=known)
    for name, (is_right, needed) in _NEEDED.items():
        if name in settings and not is_right(settings[name]):
            raise GalleryError(f"sphinx_gallery_{name} needs {needed}", path=path)
    for block in blocks:
        misplaced = re.search(r"^\s*sphinx_gallery_\w+ *=", block.content, re.MULTILINE)
        if block.type == "text" and misplaced:
            raise GalleryError(
                "a sphinx_gallery_ setting in a block of text",
                path=path,
                line=_line_of(block, misplaced),
                remedy="leave an empty line between '# %%' and it",
            )


def _line_of(block: Block, match: re.Match[str]) -> int:
    return block.lineno + block.content.count("\n", 0, match.start())
