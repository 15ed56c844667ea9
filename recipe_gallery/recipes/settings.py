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
import contextlib
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from sphinx_gallery.py_source_parser import INFILE_CONFIG_PATTERN, Block

from ..errors import GalleryError


def is_seconds(value: object) -> bool:
    """Tell whether a value is a number above 0 that clocks can add; a million are eleven days."""
    return type(value) in (int, float) and 0 < value <= 1e6  # type: ignore[operator]


def is_strings(value: object) -> bool:
    """Tell whether a value is a list of strings."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_SECONDS = is_seconds, "a number of seconds above 0, at most 1,000,000"
_NUMBER = (lambda value: type(value) is int), "a whole number"
# What a setting of a whole recipe needs, and how that is said.
_NEEDED: dict[str, tuple[Callable[[object], bool], str]] = {
    "cell_timeout": _SECONDS,
    "deadline": _SECONDS,
    "inputs": (is_strings, 'a list such as ["data.csv"]'),
    "dummy_images": _NUMBER,
    "line_numbers": (lambda value: isinstance(value, bool), "True or False"),
    "tags": (is_strings, 'a list such as ["a", "b"]'),
    "thumbnail_number": _NUMBER,
    "thumbnail_path": (lambda value: isinstance(value, str), "a string in quotes"),
}
_IN_CELLS = {"alt", "fold", "once", "plumbing", "raises"}  # which cell_settings reads
_OWN_SETTINGS = {"cell_timeout", "deadline", "inputs", *_IN_CELLS}
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
_UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError)


class _Notes(logging.Filter):
    """Holds back what Sphinx-Gallery says of a setting, which names neither file nor line."""

    held = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Tell whether to show a record."""
        return not (self.held and getattr(record, "subtype", None) == "file_conf")


_NOTES = _Notes()
logging.getLogger("sphinx.sphinx-gallery").addFilter(_NOTES)


@contextlib.contextmanager
def without_notes(held: bool = True) -> Iterator[None]:
    """Hold back Sphinx-Gallery's notes of settings: ``read_settings`` names file and line."""
    before, _NOTES.held = _NOTES.held, held
    try:
        yield
    finally:
        _NOTES.held = before


def cell_settings(path: Path, block: Block, name: str) -> list[str]:
    """Return the values of a setting in one block of code, in order; each is a string."""
    values = []
    for match in _find_lines(block, name):
        try:
            value = ast.literal_eval((match[1] or "").strip())
        except _UNREADABLE:
            value = None
        if not isinstance(value, str) or len(value.splitlines()) > 1:
            text = f"sphinx_gallery_{name} needs a string in quotes, on one line"
            raise GalleryError(text, path=path, line=_line_of(block, match))
        values.append(value)
    return values


def _find_lines(block: Block, name: str) -> Iterator[re.Match[str]]:
    setting = rf"^[ \t]*#\s*sphinx_gallery_{name}[ \t]*(?:=(.*))?$"
    return re.finditer(setting, block.content, re.MULTILINE)


def cell_setting(path: Path, block: Block, name: str) -> str:
    """Return the value of a setting that a block of code has once; without it, an empty string."""
    lines = [_line_of(block, match) for match in _find_lines(block, name)]
    values = cell_settings(path, block, name)
    if len(values) > 1:
        text = f"sphinx_gallery_{name} is set twice in this cell, first in line {lines[0]}"
        raise GalleryError(text, path=path, line=lines[1], remedy="remove one of them")
    if values and not values[0].strip():
        text, remedy = f"sphinx_gallery_{name} is empty", "write its value, or remove the line"
        raise GalleryError(text, path=path, line=lines[0], remedy=remedy)
    return values[0].strip() if values else ""


def cell_flag(path: Path, block: Block, name: str) -> bool:
    """Return whether a mark of a block of code is set to True; without it, it is not."""
    mark = re.compile(rf"^[ \t]*#\s*sphinx_gallery_{name}\b(.*)$", re.MULTILINE)
    found = list(mark.finditer(block.content))
    for match in found:
        line = _line_of(block, match)
        if not re.fullmatch(r"\s*=\s*(True|False)\s*", match[1]):
            text, remedy = f"sphinx_gallery_{name} needs True or False", "write '= True' behind it"
            raise GalleryError(text, path=path, line=line, remedy=remedy)
        if match is not found[0]:
            first = _line_of(block, found[0])
            text = f"sphinx_gallery_{name} is set twice in this cell, first in line {first}"
            raise GalleryError(text, path=path, line=line, remedy="remove one of them")
    return bool(found) and found[0][1].strip(" =\t") == "True"


def read_settings(path: Path, blocks: Sequence[Block]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the settings of a whole recipe, and the line of each.

    Raises ``GalleryError`` for one that is unknown, no use, lost in a text or there twice.
    """
    settings: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for block in blocks:
        if block.type == "text":
            _refuse_in_text(path, block)
            continue
        for match in INFILE_CONFIG_PATTERN.finditer(block.content):
            name, value = match[1], match[3]
            if value is None or name in _IN_CELLS:  # None: a flag, such as start_ignore
                continue
            line = _line_of(block, match)
            new = _read_value(path, line, name, match)
            if name == "inputs":
                new = settings.get(name, []) + new
            elif name in settings and name in _OWN_SETTINGS:
                text = f"sphinx_gallery_{name} is set a second time, first in line {lines[name]}"
                raise GalleryError(text, path=path, line=line, remedy="remove one of them")
            settings[name], lines[name] = new, line
    return settings, lines


def _read_value(path: Path, line: int, name: str, match: re.Match[str]) -> Any:
    """Return the value of one line; raise ``GalleryError`` if it is of no use."""
    if name not in _OWN_SETTINGS | _GALLERY_SETTINGS:
        known = f"there are: {', '.join(sorted(_OWN_SETTINGS))}, and Sphinx-Gallery's own"
        text = f"unknown setting sphinx_gallery_{name}"
        raise GalleryError(text, path=path, line=line, remedy=known)
    is_right, needed = _NEEDED.get(name, (lambda value: True, "a value as Python writes it"))
    text, remedy = f"sphinx_gallery_{name} needs {needed}", "correct the value"
    try:
        # Sphinx-Gallery would take the next line for the value, and remove it from the code.
        value = ast.literal_eval("" if "\n" in match[0].strip() else match[3])
        if is_right(value):
            return value
    except _UNREADABLE:
        remedy = "write the whole value on this line"
    raise GalleryError(text, path=path, line=line, remedy=remedy)


def _refuse_in_text(path: Path, block: Block) -> None:
    setting = r"^\s*sphinx_gallery_(?:\w+ *=|(?:start|end)_ignore\b)"
    if misplaced := re.search(setting, block.content, re.MULTILINE):
        raise GalleryError(
            "a sphinx_gallery_ setting in a block of text",
            path=path,
            line=_line_of(block, misplaced),
            remedy="leave an empty line between '# %%' and it",
        )


def _line_of(block: Block, match: re.Match[str]) -> int:
    return block.lineno + block.content.count("\n", 0, match.start())
