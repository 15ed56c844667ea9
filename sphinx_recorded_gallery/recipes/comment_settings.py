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
``fold_output``
    In a folded cell: True if its output comes from one run, and is folded with its code.
"""

import ast
import difflib
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError
from .captured_values import METHODS, is_capture_repr, is_pattern


@dataclass(frozen=True, kw_only=True)
class CellSettings:
    """The settings of one code cell."""

    alt: tuple[str, ...] = ()  # one for each figure
    once: bool = False  # replicates leave it out
    plumbing: bool = False
    fold: str = ""  # what a page shows in the place of its code, until a reader unfolds it
    fold_output: bool = False  # what it prints is folded with its code
    capture: tuple[str, ...] | None = None  # Sphinx-Gallery's capture_repr of this cell alone


NO_SETTINGS = CellSettings()


@dataclass(frozen=True, kw_only=True)
class RecipeSettings:
    """The settings of a recipe and of its cells."""

    values: dict[str, Any]
    lines: dict[str, int]  # of the recipe, by setting
    cells: dict[int, CellSettings]  # by the first line of a block of code


@dataclass(frozen=True, kw_only=True)
class _Kind:
    """The allowed values of a setting."""

    needs: str
    is_right: Callable[[Any], bool]


def _is_seconds(value: object) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 < value <= 1e6  # type: ignore[operator]


def _is_line(value: object) -> bool:
    return isinstance(value, str) and len(value.splitlines()) <= 1


def _is_description(value: object) -> bool:
    # "..." is the place for words in remedies and documents: pasted, it would describe nothing
    return _is_line(value) and str(value).strip() not in ("...", "…")


def _is_words(value: object) -> bool:
    return _is_line(value) and bool(str(value).strip())


def _is_list_of_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


# A limit that clocks can add: a million seconds are eleven days.
_SECONDS = _Kind(needs="a number of seconds above 0, at most 1,000,000", is_right=_is_seconds)
_NUMBER = _Kind(
    needs="a whole number",
    is_right=lambda value: isinstance(value, int) and not isinstance(value, bool),
)
_FLAG = _Kind(needs="True or False", is_right=lambda value: isinstance(value, bool))
_STRING = _Kind(needs="a string in quotes, on one line", is_right=_is_line)
_DESCRIPTION = _Kind(
    needs='what the figure shows, in quotes, on one line, in place of "..."',
    is_right=_is_description,
)
_WORDS = _Kind(needs="a string in quotes, on one line, not empty", is_right=_is_words)
_STRINGS = _Kind(needs='a list such as ["data.csv"]', is_right=_is_list_of_strings)
_METHODS = _Kind(
    needs=f"a tuple of {', '.join(METHODS)}, which may be empty: ()", is_right=is_capture_repr
)
_PATTERN = _Kind(needs="a pattern of Python's re, in quotes", is_right=is_pattern)
_ANY = _Kind(needs="a value as Python writes it", is_right=lambda _value: True)

_OF_CELLS = {
    "alt": _DESCRIPTION,
    "fold": _WORDS,
    "fold_output": _FLAG,
    "once": _FLAG,
    "plumbing": _FLAG,
}
_OF_RECIPES = {"cell_timeout": _SECONDS, "deadline": _SECONDS, "inputs": _STRINGS}
_OWN = {**_OF_CELLS, **_OF_RECIPES}
# Settings of Sphinx-Gallery; those about running or drawing do not affect a recording.
_OF_SPHINX_GALLERY = {
    "capture_repr": _METHODS,
    "capture_repr_block": _METHODS,
    "defer_figures": _ANY,
    "dummy_images": _NUMBER,
    "failing_thumbnail": _ANY,
    "ignore_repr_types": _PATTERN,
    "line_numbers": _FLAG,
    "multi_image": _ANY,
    "multi_image_block": _ANY,
    "parallel": _ANY,
    "tags": _STRINGS,
    "thumbnail_number": _NUMBER,
    "thumbnail_path": _STRING,
}
_ALL = {**_OWN, **_OF_SPHINX_GALLERY}
_LEAST_LIKENESS = 0.75  # of a misspelled name of a setting
_SETTING = re.compile(r"^[ \t]*#[ \t]*sphinx_gallery_(\w+)[ \t]*(.*)$", re.MULTILINE)
DEFERS_FIGURES = re.compile(r"^[ \t]*#[ \t]*sphinx_gallery_defer_figures\b", re.MULTILINE)
# In a text under '# %%', a setting has no marker and stands at the start of a line.
_SETTING_IN_TEXT = re.compile(r"^sphinx_gallery_(?:\w+ *=|(?:start|end)_ignore\b)", re.MULTILINE)


# Warnings of Sphinx-Gallery on values name neither file nor line; the errors here do.
logging.getLogger("sphinx.sphinx-gallery").addFilter(
    lambda record: getattr(record, "subtype", None) != "file_conf"
)


def read_settings(path: Path, blocks: Sequence[Block]) -> RecipeSettings:
    """Return the settings of a recipe.

    Raises ``GalleryError`` for one that is unknown, invalid, part of a text, or set twice.
    """
    values: dict[str, Any] = {}
    lines: dict[str, int] = {}
    cells: dict[int, CellSettings] = {}
    for block in blocks[1:]:  # without the docstring, which may show a setting
        if block.type == "text":
            _refuse_in_text(path, block)
            continue
        of_cell: dict[str, Any] = {}
        lines_in_cell: dict[str, int] = {}
        for name, value, line in _read_block(path, block):
            match name:
                case "alt":
                    of_cell["alt"] = (*of_cell.get("alt", ()), value)
                case "inputs":
                    values["inputs"] = [*values.get("inputs", ()), *value]
                    lines["inputs"] = line
                case "capture_repr_block":
                    of_cell["capture"] = tuple(value)
                case _ if name in _OF_CELLS:
                    _refuse_second(path, name, line, lines_in_cell)
                    of_cell[name] = value.strip() if isinstance(value, str) else value
                    lines_in_cell[name] = line
                case _:
                    if name in _OWN:
                        _refuse_second(path, name, line, lines)
                    values[name] = value
                    lines[name] = line
        cells[block.lineno] = CellSettings(**of_cell)
    return RecipeSettings(values=values, lines=lines, cells=cells)


def _refuse_in_text(path: Path, block: Block) -> None:
    """Raise ``GalleryError`` for a setting that is part of a text."""
    misplaced = _SETTING_IN_TEXT.search(block.content)
    if misplaced:
        raise GalleryError(
            "a sphinx_gallery_ setting in a block of text",
            path=path,
            line=_line_of(block, misplaced),
            remedy="leave an empty line between '# %%' and the setting",
        )


def _refuse_second(path: Path, name: str, line: int, lines: dict[str, int]) -> None:
    """Raise ``GalleryError`` for a setting that ``lines`` holds already."""
    if name in lines:
        text = f"sphinx_gallery_{name} is set a second time, first in line {lines[name]}"
        raise GalleryError(text, path=path, line=line, remedy="remove one of them")


def _read_block(path: Path, block: Block) -> Iterator[tuple[str, Any, int]]:
    """Yield name, value and line of each setting of a block of code."""
    for match in _SETTING.finditer(block.content):
        name, rest = match[1], match[2]
        # Without a value it is a mark of Sphinx-Gallery, such as start_ignore, or plain words.
        if not rest.startswith("=") and name not in _OWN:
            continue
        line = _line_of(block, match)
        if name not in _ALL:
            _refuse_misspelled(path, name, line)
            continue
        kind = _ALL[name]
        text = f"sphinx_gallery_{name} needs {kind.needs}"
        try:
            value = _parse_value(rest)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            remedy = "write the whole value on this line, after a '='"
            raise GalleryError(text, path=path, line=line, remedy=remedy) from None
        if not kind.is_right(value):
            raise GalleryError(text, path=path, line=line, remedy="correct the value")
        yield name, value, line


def _refuse_misspelled(path: Path, name: str, line: int) -> None:
    """Raise ``GalleryError`` for a name that is almost that of a setting.

    Others are for tools of the project, such as ``sphinx_gallery_pygfx_docs`` of pygfx's galleries.
    """
    similar = difflib.get_close_matches(name, _ALL, n=1, cutoff=_LEAST_LIKENESS)
    if similar:
        text = f"unknown setting sphinx_gallery_{name}"
        remedy = f"did you mean sphinx_gallery_{similar[0]}?"
        raise GalleryError(text, path=path, line=line, remedy=remedy)


def _parse_value(rest: str) -> Any:
    """Return the value behind the name of a setting.

    Raises ``ValueError`` and what else Python raises for a text that is no value.
    """
    if not rest.startswith("="):
        raise ValueError("no value")
    return ast.literal_eval(rest.removeprefix("=").strip())


def _line_of(block: Block, match: re.Match[str]) -> int:
    return block.lineno + block.content.count("\n", 0, match.start())
