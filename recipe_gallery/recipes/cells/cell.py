"""Cells: the code blocks of a recipe, as they run and as they are shown.

A block with nothing to show, because all of it stands between ``# sphinx_gallery_start_ignore`` and
``# sphinx_gallery_end_ignore``, runs with the cell behind it; behind the last one it is a cell of
its own. So is each block marked with ``# sphinx_gallery_plumbing = True``.
"""

import ast
import hashlib
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from sphinx.errors import ExtensionError
from sphinx_gallery import py_source_parser
from sphinx_gallery.py_source_parser import Block

from ...errors import GalleryError
from ..config_comments import cell_flag, cell_setting, cell_settings
from ..fingerprint import fingerprint_code, strip_comments

_NOT_SHOWN = re.compile("[\t\v\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN_BREAK = "a line break that is not seen", r"write it as an escape, such as \u2028"
_PLUMBING = re.compile(r"^[ \t]*#\s*sphinx_gallery_plumbing\s*=\s*True[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A code block: what a reader sees of it, Sphinx-Gallery's settings removed, and what runs."""

    number: int  # counted from 1 among the code cells of the recipe
    line: int  # of the recipe, where the visible code starts
    source: str  # empty if it is not shown at all
    code: str  # source with the code that is not shown, as it runs
    alt: tuple[str, ...] = ()
    raises: str | None = None
    once: bool = False  # replicates leave it out
    fold: str = ""  # what a page shows in the place of its code, until a reader unfolds it

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code that runs alone, and of the exception it is meant to end in."""
        code = fingerprint_code(self.code)
        if self.raises is None:
            return code
        return hashlib.sha256(f"{code}\n{self.raises}".encode()).hexdigest()


def is_blank(block: Block) -> bool:
    """Tell whether a code block has nothing to show: settings, or code that is not shown."""
    return block.type == "code" and (_is_plumbing(block) or not _visible(block.content).strip())


def _visible(content: str) -> str:
    content = py_source_parser.remove_ignore_blocks(content)
    return py_source_parser.remove_config_comments(content)


def _is_plumbing(block: Block) -> bool:
    return bool(_PLUMBING.search(block.content))


def make_cells(path: Path, blocks: Sequence[Block]) -> Iterator[Cell]:
    """Yield the cells of a recipe; raise ``GalleryError`` for one that is no use."""
    number, hidden, line = 0, "", 1
    for block in (each for each in blocks if each.type == "code"):
        try:
            blank = is_blank(block)
        except ExtensionError as error:  # an ignored part without end
            remedy = "add the line that is missing in this cell"
            raise GalleryError(str(error), path=path, line=block.lineno, remedy=remedy) from None
        if cell_flag(path, block, "plumbing") or not blank:
            number += 1
            yield _make_cell(path, number, block, hidden)
            hidden = ""
            continue
        if cell_flag(path, block, "once"):
            text = "this code runs with the cell behind it, in replicates as well"
            remedy = "mark that cell, or add a line: # sphinx_gallery_plumbing = True"
            raise GalleryError(text, path=path, line=block.lineno, remedy=remedy)
        line = line if hidden else block.lineno
        hidden += block.content
    if hidden:
        last = _make_cell(path, number + 1, Block("code", hidden, line), "")
        if strip_comments(last.code):
            yield last


def _make_cell(path: Path, number: int, block: Block, hidden: str) -> Cell:
    content = block.content
    source = "" if _is_plumbing(block) else _visible(content).strip("\n")
    if found := _NOT_SHOWN.search(source):  # a page or a script would have others in their place
        text, remedy = ("a tab", "use spaces") if found[0] == "\t" else _HIDDEN_BREAK
        raise GalleryError(f"{text} in the code below", path=path, line=block.lineno, remedy=remedy)
    shown = content
    for pattern in (py_source_parser.IGNORE_BLOCK_PATTERN, py_source_parser.INFILE_CONFIG_PATTERN):
        shown = pattern.sub(lambda match: "\n" * match[0].count("\n"), shown)
    above = shown[: len(shown) - len(shown.lstrip())].count("\n") if shown.strip() else 0
    cell = Cell(
        number=number,
        line=block.lineno + above,
        source=source,
        code=py_source_parser.remove_config_comments(hidden + content).strip("\n"),
        alt=tuple(cell_settings(path, block, "alt")),
        raises=cell_setting(path, block, "raises") or None,
        once=cell_flag(path, block, "once"),
        fold=cell_setting(path, block, "fold"),
    )
    try:
        ast.parse(cell.code)
        fingerprint_code(cell.code)
    except (SyntaxError, tokenize.TokenError):
        raise syntax_error(path, content, block.lineno) from None
    try:
        ast.parse(cell.source)
        fingerprint_code(cell.source)
    except (SyntaxError, tokenize.TokenError):
        text = "what is shown of this code cannot be parsed without what is hidden"
        remedy = "hide whole statements only"
        raise GalleryError(text, path=path, line=block.lineno, remedy=remedy) from None
    return cell


def syntax_error(path: Path, source: str, first_line: int) -> GalleryError:
    """Return what is wrong with code that cannot be parsed, and where."""
    text, line, remedy = "this code cannot be parsed", first_line, "mend the code"
    try:
        ast.parse(source)
    except SyntaxError as error:
        text, line = f"syntax error: {error.msg}", first_line - 1 + (error.lineno or 1)
    if source.startswith("\ufeff"):
        text, remedy = "a byte order mark at the start of the file", "save it in UTF-8 without one"
    return GalleryError(text, path=path, line=line, remedy=remedy)
