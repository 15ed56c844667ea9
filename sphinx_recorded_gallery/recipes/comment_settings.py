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
from typing import Any

from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError

_SECONDS = "a number of seconds above 0, at most 1,000,000"  # which clocks can add: eleven days
_NUMBER, _FLAG = "a whole number", "True or False"
_STRING, _WORDS = "a string in quotes, on one line", "a string in quotes, on one line, not empty"
_STRINGS, _ANY = 'a list such as ["data.csv"]', "a value as Python writes it"
_IS_RIGHT: dict[str, Callable[[Any], bool]] = {
    _SECONDS: lambda value: type(value) in (int, float) and 0 < value <= 1e6,
    _NUMBER: lambda value: type(value) is int,
    _FLAG: lambda value: isinstance(value, bool),
    _STRING: lambda value: isinstance(value, str) and len(value.splitlines()) <= 1,
    _WORDS: lambda value: _IS_RIGHT[_STRING](value) and bool(value.strip()),
    _STRINGS: lambda value: (
        isinstance(value, list) and all(isinstance(item, str) for item in value)
    ),
    _ANY: lambda value: True,
}
_OF_CELLS = {"alt": _STRING, "fold": _WORDS, "once": _FLAG, "plumbing": _FLAG}
_OF_RECIPES = {"cell_timeout": _SECONDS, "deadline": _SECONDS, "inputs": _STRINGS}
# Those of Sphinx-Gallery. What is about running or drawing says nothing about a recording.
_FREE = "capture_repr defer_figures failing_thumbnail ignore_repr_types multi_image parallel"
_OF_SPHINX_GALLERY = dict.fromkeys([*_FREE.split(), "multi_image_block"], _ANY)
_OF_SPHINX_GALLERY |= {"dummy_images": _NUMBER, "line_numbers": _FLAG, "tags": _STRINGS}
_OF_SPHINX_GALLERY |= {"thumbnail_number": _NUMBER, "thumbnail_path": _STRING}
_OWN = {**_OF_CELLS, **_OF_RECIPES}
_KNOWN = {**_OWN, **_OF_SPHINX_GALLERY}
_SETTING = re.compile(r"^[ \t]*#[ \t]*sphinx_gallery_(\w+)[ \t]*(.*)$", re.MULTILINE)
# Under '# %%' a comment is text, without its marker and at the start of the line.
_SETTING_IN_TEXT = re.compile(r"^sphinx_gallery_(?:\w+ *=|(?:start|end)_ignore\b)", re.MULTILINE)


# What Sphinx-Gallery says of a value names neither file nor line, as reading it here does.
logging.getLogger("sphinx.sphinx-gallery").addFilter(
    lambda record: getattr(record, "subtype", None) != "file_conf"
)


def read_settings(
    path: Path, blocks: Sequence[Block]
) -> tuple[dict[str, Any], dict[str, int], dict[int, dict[str, Any]]]:
    """Return the settings of a recipe, the line of each, and those of cells by a block's line.

    ``alt`` of a cell is a tuple, one for each figure. Raises ``GalleryError`` for a setting that is
    unknown, no use, lost in a text or there twice.
    """
    settings: dict[str, Any] = {}
    lines: dict[str, int] = {}
    of_cells: dict[int, dict[str, Any]] = {}
    for block in blocks[1:]:  # behind the docstring, which may show one
        if block.type == "text":
            if misplaced := _SETTING_IN_TEXT.search(block.content):
                line = _line_of(block, misplaced)
                text = "a sphinx_gallery_ setting in a block of text"
                remedy = "leave an empty line between '# %%' and it"
                raise GalleryError(text, path=path, line=line, remedy=remedy)
            continue
        cell = of_cells[block.lineno] = {"alt": (), "fold": "", "once": False, "plumbing": False}
        lines_here: dict[str, int] = {}
        for name, value, line in _read_block(path, block):
            known, found = (lines_here, cell) if name in _OF_CELLS else (lines, settings)
            if name in ("inputs", "alt"):
                value = [*found.get(name, ()), *([value] if name == "alt" else value)]
            elif name in known and name in _OWN:
                text = f"sphinx_gallery_{name} is set a second time, first in line {known[name]}"
                raise GalleryError(text, path=path, line=line, remedy="remove one of them")
            found[name], known[name] = value, line
        cell |= {"alt": tuple(cell["alt"]), "fold": cell["fold"].strip()}
    return settings, lines, of_cells


def _read_block(path: Path, block: Block) -> Iterator[tuple[str, Any, int]]:
    """Yield name, value and line of each setting of a block of code."""
    for match in _SETTING.finditer(block.content):
        name, rest = match[1], match[2]
        # Without a value it is a mark of Sphinx-Gallery, such as start_ignore, or words.
        if not rest.startswith("=") and name not in _OWN:
            continue
        line, needed = _line_of(block, match), _KNOWN.get(name)
        if needed is None:
            text = f"unknown setting sphinx_gallery_{name}"
            remedy = f"there are: {', '.join(sorted(_OWN))}, and Sphinx-Gallery's own"
            raise GalleryError(text, path=path, line=line, remedy=remedy)
        remedy = "write the whole value on this line, behind a '='"
        try:
            value = ast.literal_eval(rest.removeprefix("=").strip() if rest[:1] == "=" else "")
            if _IS_RIGHT[needed](value):
                yield name, value, line
                continue
            remedy = "correct the value"
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        text = f"sphinx_gallery_{name} needs {needed}"
        raise GalleryError(text, path=path, line=line, remedy=remedy)


def _line_of(block: Block, match: re.Match[str]) -> int:
    return block.lineno + block.content.count("\n", 0, match.start())
