"""Settings of a recipe: comment lines of the form ``# sphinx_gallery_<name> = <value>``.

Sphinx-Gallery removes them from the page; its own are allowed, too. Those of this package:

``cell_timeout``
    Seconds one cell may take while it is recorded.
``deadline``
    Seconds the whole recipe may take.
``inputs``
    A list of local files, relative to the recipe, that its code reads. Several lines add up.
``alt``
    In a code cell: what its figure shows, for those who cannot see it. One line per figure.
``raises``
    In a code cell: the name of the exception the cell is meant to end in. Jupyter goes on after it,
    a script ends there, so such a cell comes last or its code catches the exception instead.
``once``
    In a code cell: True if it runs for the page only, and replicates leave it out.
``plumbing``
    In a code cell: True if it runs, but is shown neither on the page nor in what readers download.
``fold``
    In a code cell: what its code is for. A page shows this line, and the code on demand.
"""

import ast
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError


def is_seconds(value: object) -> bool:
    """Tell whether a value is a number above 0 that clocks can add; a million are eleven days."""
    return type(value) in (int, float) and 0 < value <= 1e6  # type: ignore[operator]


def is_strings(value: object) -> bool:
    """Tell whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value.splitlines()) <= 1


class _Kind(NamedTuple):
    """What the value of a setting has to be, and how that is said."""

    is_right: Callable[[object], bool]
    needed: str


_SECONDS = _Kind(is_seconds, "a number of seconds above 0, at most 1,000,000")
_NUMBER = _Kind(lambda value: type(value) is int, "a whole number")
_FLAG = _Kind(lambda value: isinstance(value, bool), "True or False")
_LINE = _Kind(_is_line, "a string in quotes, on one line")
_WORDS = _Kind(
    lambda value: _is_line(value) and bool(str(value).strip()),
    "a string in quotes, on one line, that is not empty",
)
_ANY = _Kind(lambda value: True, "a value as Python writes it")

_OF_CELLS = {"alt": _LINE, "fold": _WORDS, "once": _FLAG, "plumbing": _FLAG, "raises": _LINE}
_OF_RECIPES = {
    "cell_timeout": _SECONDS,
    "deadline": _SECONDS,
    "inputs": _Kind(is_strings, 'a list such as ["data.csv"]'),
}
# Those of Sphinx-Gallery. What is about running or drawing says nothing about a recording.
_OF_SPHINX_GALLERY = {
    "capture_repr": _ANY,
    "defer_figures": _ANY,
    "dummy_images": _NUMBER,
    "failing_thumbnail": _ANY,
    "ignore_repr_types": _ANY,
    "line_numbers": _FLAG,
    "multi_image": _ANY,
    "multi_image_block": _ANY,
    "parallel": _ANY,
    "tags": _Kind(is_strings, 'a list such as ["a", "b"]'),
    "thumbnail_number": _NUMBER,
    "thumbnail_path": _Kind(lambda value: isinstance(value, str), "a string in quotes"),
}
_OWN = {**_OF_CELLS, **_OF_RECIPES}
_KNOWN = {**_OWN, **_OF_SPHINX_GALLERY}
_SETTING = re.compile(r"^[ \t]*#[ \t]*sphinx_gallery_(\w+)[ \t]*(.*)$", re.MULTILINE)
# Under '# %%' a comment is text, without its marker and at the start of the line.
_SETTING_IN_TEXT = re.compile(r"^sphinx_gallery_(?:\w+ *=|(?:start|end)_ignore\b)", re.MULTILINE)


# What Sphinx-Gallery says of a value names neither file nor line, as reading it here does.
logging.getLogger("sphinx.sphinx-gallery").addFilter(
    lambda record: getattr(record, "subtype", None) != "file_conf"
)


def read_settings(path: Path, blocks: Sequence[Block]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the settings of a whole recipe, and the line of each.

    Raises ``GalleryError`` for one that is unknown, no use, lost in a text or there twice.
    """
    settings: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for block in blocks[1:]:  # behind the docstring, which may show one
        if block.type == "text":
            if misplaced := _SETTING_IN_TEXT.search(block.content):
                line = _line_of(block, misplaced)
                text = "a sphinx_gallery_ setting in a block of text"
                remedy = "leave an empty line between '# %%' and it"
                raise GalleryError(text, path=path, line=line, remedy=remedy)
            continue
        for name, value, line in _read_block(path, block):
            if name == "inputs":
                value = settings.get(name, []) + value
            elif name in settings and name in _OF_RECIPES:
                text = f"sphinx_gallery_{name} is set a second time, first in line {lines[name]}"
                raise GalleryError(text, path=path, line=line, remedy="remove one of them")
            if name not in _OF_CELLS:
                settings[name], lines[name] = value, line
    return settings, lines


def read_cell_settings(path: Path, block: Block) -> dict[str, Any]:
    """Return the settings of one block of code; ``alt`` is a tuple, one for each figure.

    Raises ``GalleryError`` as ``read_settings`` does.
    """
    settings: dict[str, Any] = {"alt": (), "fold": "", "once": False, "plumbing": False}
    settings["raises"] = ""
    lines: dict[str, int] = {}
    for name, value, line in _read_block(path, block):
        if name == "alt":
            settings[name] += (value,)
        elif name in lines:
            text = f"sphinx_gallery_{name} is set twice in this cell, first in line {lines[name]}"
            raise GalleryError(text, path=path, line=line, remedy="remove one of them")
        elif name in _OF_CELLS:
            settings[name] = value.strip() if isinstance(value, str) else value
            lines[name] = line
    return settings


def _read_block(path: Path, block: Block) -> Iterator[tuple[str, Any, int]]:
    """Yield name, value and line of each setting of a block of code."""
    for match in _SETTING.finditer(block.content):
        name, rest = match[1], match[2]
        # Without a value it is a mark of Sphinx-Gallery, such as start_ignore, or words.
        if not rest.startswith("=") and name not in _OWN:
            continue
        line = _line_of(block, match)
        if name not in _KNOWN:
            text = f"unknown setting sphinx_gallery_{name}"
            remedy = f"there are: {', '.join(sorted(_OWN))}, and Sphinx-Gallery's own"
            raise GalleryError(text, path=path, line=line, remedy=remedy)
        kind = _KNOWN[name]
        remedy = "write the whole value on this line, behind a '='"
        try:
            value = ast.literal_eval(rest.removeprefix("=").strip() if rest[:1] == "=" else "")
            if kind.is_right(value):
                yield name, value, line
                continue
            remedy = "correct the value"
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        text = f"sphinx_gallery_{name} needs {kind.needed}"
        raise GalleryError(text, path=path, line=line, remedy=remedy)


def _line_of(block: Block, match: re.Match[str]) -> int:
    return block.lineno + block.content.count("\n", 0, match.start())
