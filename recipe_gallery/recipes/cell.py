"""Cells: the code blocks of a recipe, as they run and as they are shown.

Code between ``# sphinx_gallery_start_ignore`` and ``# sphinx_gallery_end_ignore`` runs with its
cell and counts in its fingerprint, but pages and downloads do not have it. A block with nothing
else runs with the cell behind it; behind the last one it is a cell of its own. So is each block
marked with ``# sphinx_gallery_plumbing = True``.
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

from ..errors import GalleryError
from .fingerprint import fingerprint_code, strip_comments
from .inline import Inlined, inline
from .settings import cell_flag, cell_setting, cell_settings
from .syntax import refuse_unseen, syntax_error

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
    inlined: Inlined | None = None  # the module whose source this is; line is that of the import
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
    inlined: dict[Path, int] = {}  # the number of the cell that has it
    for block in (each for each in blocks if each.type == "code"):
        try:
            blank = is_blank(block)
        except ExtensionError as error:  # an ignored part without end
            remedy = "add the line that is missing in this cell"
            raise GalleryError(str(error), path=path, line=block.lineno, remedy=remedy) from None
        if blank and cell_setting(path, block, "fold"):
            text = "nothing of this code is shown, so there is nothing to fold"
            remedy = "remove the line '# sphinx_gallery_fold'"
            raise GalleryError(text, path=path, line=block.lineno, remedy=remedy)
        if cell_flag(path, block, "plumbing") or not blank:
            number += 1
            cell = _make_cell(path, number, block, hidden)
            if cell.inlined and inlined.setdefault(cell.inlined.path, number) != number:
                before = inlined[cell.inlined.path]
                text = f"cell {before} holds the source of {cell.inlined.path.name} already"
                remedy = "import all that the recipe needs there"
                raise GalleryError(text, path=path, line=cell.line, remedy=remedy)
            if blank and not strip_comments(cell.code):
                text, remedy = "this cell has no code that could run unseen", "remove its mark"
                raise GalleryError(text, path=path, line=block.lineno, remedy=remedy)
            yield cell
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
    is_plumbing = _is_plumbing(block)
    inlined = inline(path, block) if is_plumbing or not is_blank(block) else None
    content = inlined.source if inlined else block.content
    source = "" if is_plumbing else _visible(content).strip("\n")
    refuse_unseen(path, source, block.lineno)
    shown = block.content
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
        inlined=inlined,
        fold=cell_setting(path, block, "fold"),
    )
    try:
        ast.parse(cell.code)
        _ = cell.fingerprint
    except (SyntaxError, tokenize.TokenError):
        raise syntax_error(path, content, block.lineno) from None
    try:
        if cell.source != cell.code:
            ast.parse(cell.source)
            fingerprint_code(cell.source)
    except (SyntaxError, tokenize.TokenError):
        text = "what is shown of this code cannot be parsed without what is hidden"
        remedy = "hide whole statements only"
        raise GalleryError(text, path=path, line=block.lineno, remedy=remedy) from None
    return cell
