"""Recipes: the Python files in Sphinx-Gallery's form that the site is made of.

A recipe is split into text and code blocks by Sphinx-Gallery's own parser, so that what is
recorded, rendered and downloaded is cut at the same places. Code between
``# sphinx_gallery_start_ignore`` and ``# sphinx_gallery_end_ignore`` runs with its cell and counts
in its fingerprint, but pages and downloads do not have it. A block with nothing else runs with the
cell behind it; behind the last one it is a cell of its own. So is each block marked with
``# sphinx_gallery_plumbing = True``.
"""

import ast
import hashlib
import re
import tokenize
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from docutils.utils import column_width
from sphinx.errors import ExtensionError
from sphinx_gallery import py_source_parser
from sphinx_gallery.py_source_parser import Block

from ..atomic_files import ensure_regular_file
from ..errors import GalleryError
from ..project import file_state
from .comment_settings import NO_SETTINGS, CellSettings, RecipeSettings, read_settings
from .fingerprint import (
    find_imports,
    fingerprint_code,
    fingerprint_modules,
    refuse_unseen,
    strip_comments,
    syntax_error,
)
from .inlined_modules import Inlined, find_rebound, inline

_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1*")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A code block: what a reader sees of it, Sphinx-Gallery's settings removed, and what runs."""

    number: int  # counted from 1 among the code cells of the recipe
    line: int  # of the recipe, where the visible code starts
    source: str  # empty if it is not shown at all
    code: str  # source with the code that is not shown, as it runs
    alt: tuple[str, ...] = ()
    once: bool = False  # replicates leave it out
    inlined: Inlined | None = None  # the module whose source this is; line is that of the import
    capture: tuple[str, ...] | None = None  # its own capture_repr
    fold: str = ""  # what a page shows in the place of its code, until a reader unfolds it
    fold_output: bool = False  # what it prints is folded with its code

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code that runs alone."""
        return fingerprint_code(self.code)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One recipe, parsed."""

    path: Path
    name: str  # of its recording: its path in the gallery without ending, such as advanced/deep
    title: str
    summary: str  # the first paragraph below the title, on one line; it may be empty
    blocks: tuple[Block, ...]  # those that a page shows
    hidden: frozenset[int]  # where blocks of code begin that it does not show
    cells: tuple[Cell, ...]
    settings: dict[str, Any]
    lines: dict[str, int]  # of the recipe, where each setting stands

    @property
    def parts(self) -> list[tuple[Block, Cell | None]]:
        """Each block and the cell that it is, if it is one of code."""
        cells = (cell for cell in self.cells if cell.source)
        return [(block, next(cells) if block.type == "code" else None) for block in self.blocks]

    @property
    def files(self) -> list[Path]:
        """All that it is made of, itself first."""
        shown = (cell.inlined.path for cell in self.cells if cell.inlined)
        return [self.path, *shown, *(self.path.parent / name for name in self.inputs)]

    @property
    def inputs(self) -> dict[str, str]:
        """SHA-256 (hex) of each declared file and imported module, by its path from the recipe."""
        declared = {name: self._hash_input(name) for name in self.settings.get("inputs", [])}
        code = "\n".join(cell.code for cell in self.cells)
        return declared | fingerprint_modules(find_imports(code), self.path.parent)

    @property
    def replicate_fingerprint(self) -> str:
        """Hash of all that a replicate runs: a change of it makes replicates stale."""
        replicate = self.for_replicate()
        parts = [
            *(cell.fingerprint for cell in replicate.cells),
            repr(sorted(replicate.inputs.items())),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def for_replicate(self) -> "Recipe":
        """Return what a replicate runs: the recipe without cells that run once, numbered anew.

        It has no page: ``blocks`` are those of the whole recipe.
        """
        cells = [cell for cell in self.cells if not cell.once]
        numbered = (replace(cell, number=number) for number, cell in enumerate(cells, 1))
        return replace(self, cells=tuple(numbered))

    def _hash_input(self, name: str) -> str:
        folder, relative = self.path.parent.resolve(), PurePosixPath(name)
        text = f"input {name[:100]!r} is not a file below {self.path.parent}"
        try:
            file = (folder / name).resolve()
            inside = ".." not in relative.parts and file.is_relative_to(folder)
            if relative.suffix in (".py", ".ipynb", ".html"):
                text = f"input {name!r} would take the place of a page or a download"
            elif inside and not relative.is_absolute() and file.is_file():
                return hashlib.sha256(file.read_bytes()).hexdigest()
        except (OSError, ValueError) as error:  # ValueError: a name that holds a null byte
            text = f"input {name[:100]!r} cannot be read: {getattr(error, 'strerror', error)}"
        remedy = "correct the line '# sphinx_gallery_inputs'"
        raise GalleryError(text, path=self.path, line=self.lines.get("inputs"), remedy=remedy)


def load_recipe(path: Path, name: str = "") -> Recipe:
    """Parse one recipe; raise ``GalleryError`` naming the file and line if it cannot be used.

    ``name`` is that of its recording; if it is empty, the file's name without its ending. It is
    parsed again when the file, or a module that it may show as a cell, has another time or size.
    """
    files = [path, *sorted(path.parent.glob("_*.py"))]
    return _load(path, name or path.stem, tuple((file, file_state(file)) for file in files))


@lru_cache(maxsize=256)  # a build asks when it makes, reads and writes a page; parsing takes 40 ms
def _load(path: Path, name: str, _files: object) -> Recipe:
    blocks = _split(path)
    if path.stem == "index":
        text, remedy = "its page would be that of the gallery", "call the recipe something else"
        raise GalleryError(text, path=path, remedy=remedy)
    title, summary = _find_title(blocks[0].content)
    if not title:
        remedy = "start the docstring with one, underlined: ===="
        raise GalleryError("no title", path=path, line=1, remedy=remedy)
    settings = read_settings(path, blocks)
    parts = [_classify(path, block, settings) for block in blocks]
    cells = _make_cells(path, parts)
    _refuse_rebound_names(path, cells)
    return Recipe(
        path=path,
        name=name,
        title=title,
        summary=summary,
        cells=tuple(cells),
        blocks=tuple(part.block for part in parts if part.is_shown),
        hidden=frozenset(part.block.lineno for part in parts if not part.is_shown),
        settings=settings.values,
        lines=settings.lines,
    )


def _split(path: Path) -> list[Block]:
    """Return the blocks of a recipe as Sphinx-Gallery finds them."""
    line: int | None = None
    try:
        ensure_regular_file(path)
        _settings, blocks, tree = py_source_parser.split_code_and_text_blocks(
            path, return_node=True
        )
        if tree is None:
            raise syntax_error(path, path.read_text(encoding="utf-8"), 1)
        return blocks
    except OSError as error:
        text, remedy = f"cannot be read: {error.strerror}", "mend or remove it"
    except UnicodeDecodeError as error:
        text, remedy = f"cannot be read: {error}", "save the file in UTF-8"
    except (SyntaxError, ValueError) as error:  # an unknown encoding or a null byte, for two
        text, line, remedy = f"cannot be parsed: {getattr(error, 'msg', error)}", 1, "mend the file"
    except (RecursionError, MemoryError):
        text, remedy = "cannot be parsed: nested too deeply", "write it in shorter steps"
    except (ExtensionError, AssertionError):  # a number in the docstring's place is asserted
        text, line, remedy = "no docstring", 1, "start the recipe with one that holds its title"
    raise GalleryError(text, path=path, line=line, remedy=remedy)


def _find_title(docstring: str) -> tuple[str, str]:
    """Return the title, if docutils would find one, and the first paragraph below it.

    Anything may stand above the title: a line of links, a badge, ``:orphan:`` or a comment.
    """
    paragraphs = re.split(r"\n\s*\n", docstring.strip())
    for place, paragraph in enumerate(paragraphs):
        title, below = _read_title(paragraph)
        if title:
            texts = [below, *paragraphs[place + 1 :]]
            is_text = (text for text in texts if text and not text.startswith(".."))
            summary = next(is_text, "")
            return title, " ".join(line.strip() for line in summary.splitlines())
    return "", ""


def _read_title(paragraph: str) -> tuple[str, str]:
    """Return the title that a paragraph is, and what stands directly below; empty if it is none."""
    lines = [line.rstrip() for line in paragraph.splitlines()]
    while lines and lines[0].startswith(".."):  # a target of links, say
        del lines[0]
    is_overlined = len(lines) > 2 and _UNDERLINE.fullmatch(lines[0])
    if is_overlined:
        del lines[0]
    if len(lines) < 2 or not _UNDERLINE.fullmatch(lines[1]):
        return "", ""
    title, underline, *below = lines
    is_indented = title[:1].isspace() and not is_overlined
    if is_indented or len(underline) < min(4, column_width(title)):
        return "", ""
    return title.strip(), "\n".join(below)


def _visible(content: str) -> str:
    """Return code without what Sphinx-Gallery leaves out of a page.

    Raises ``ExtensionError`` for an ignored part without an end.
    """
    content = py_source_parser.remove_ignore_blocks(content)
    return py_source_parser.remove_config_comments(content)


class _Kind(Enum):
    """What becomes of a block."""

    TEXT = auto()
    CODE = auto()  # a cell; where it imports a module to show, its source
    PLUMBING = auto()  # a cell that is not shown
    HIDDEN = auto()  # runs with the next cell: settings, or code that is not shown


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A block, and what it is."""

    block: Block
    kind: _Kind
    settings: CellSettings = NO_SETTINGS
    inlined: Inlined | None = None
    source: str = ""  # what a reader sees of its code

    @property
    def is_shown(self) -> bool:
        return self.kind in (_Kind.TEXT, _Kind.CODE)


def _classify(path: Path, block: Block, settings: RecipeSettings) -> _Part:
    """Return what a block is; raise ``GalleryError`` for code that nobody could see or run."""
    if block.type == "text":
        return _Part(block=block, kind=_Kind.TEXT)
    own = settings.cells[block.lineno]
    if own.plumbing:
        inlined = inline(path, block)
        return _Part(block=block, kind=_Kind.PLUMBING, settings=own, inlined=inlined)
    try:
        source = _visible(block.content)
    except ExtensionError as error:  # an ignored part without end
        remedy = "add the line that is missing in this cell"
        raise GalleryError(str(error), path=path, line=block.lineno, remedy=remedy) from None
    if not source.strip():
        if own.once or own.fold:
            raise GalleryError(
                "this code is not shown and runs with the cell behind it",
                path=path,
                line=block.lineno,
                remedy="mark that cell, or add a line: # sphinx_gallery_plumbing = True",
            )
        return _Part(block=block, kind=_Kind.HIDDEN)
    inlined = inline(path, block)
    if inlined:
        own = replace(own, fold=own.fold or inlined.summary)
        source = _visible(inlined.source)
    if own.fold_output and not own.fold:
        raise GalleryError(
            "fold_output in a cell that is not folded",
            path=path,
            line=block.lineno,
            remedy='add a line: # sphinx_gallery_fold = "What its code is for"',
        )
    source = source.strip("\n")
    return _Part(block=block, kind=_Kind.CODE, settings=own, inlined=inlined, source=source)


def _make_cells(path: Path, parts: Sequence[_Part]) -> list[Cell]:
    """Return the cells of a recipe; raise ``GalleryError`` for one that is of no use."""
    cells: list[Cell] = []
    hidden: list[Block] = []  # what runs unseen with the next cell
    for part in parts:
        if part.kind is _Kind.HIDDEN:
            hidden.append(part.block)
        elif part.kind is not _Kind.TEXT:
            cells.append(_make_cell(path, len(cells) + 1, part, _join(hidden)))
            hidden = []
    if hidden:
        block = Block("code", _join(hidden), hidden[0].lineno)
        last = _make_cell(path, len(cells) + 1, _Part(block=block, kind=_Kind.HIDDEN), "")
        if strip_comments(last.code):
            cells.append(last)
    return cells


def _join(blocks: Sequence[Block]) -> str:
    return "".join(block.content for block in blocks)


def _make_cell(path: Path, number: int, part: _Part, hidden: str) -> Cell:
    """Return a block of code as a cell, with the code in front of it that runs unseen."""
    block, own = part.block, part.settings
    content = part.inlined.source if part.inlined else block.content
    code = py_source_parser.remove_config_comments(hidden + content).strip("\n")
    try:
        fingerprint_code(code)
        ast.parse(code)
    except (SyntaxError, tokenize.TokenError):
        raise syntax_error(path, content, block.lineno) from None
    try:
        ast.parse(part.source)
    except SyntaxError:
        text = "what is shown of this code cannot be parsed without what is hidden"
        remedy = "hide whole statements only"
        raise GalleryError(text, path=path, line=block.lineno, remedy=remedy) from None
    refuse_unseen(path, part.source, block.lineno)
    return Cell(
        number=number,
        line=_first_shown_line(block),
        source=part.source,
        code=code,
        alt=own.alt,
        once=own.once,
        fold=own.fold,
        fold_output=own.fold_output,
        capture=own.capture,
        inlined=part.inlined,
    )


def _first_shown_line(block: Block) -> int:
    """Return the line of a recipe in which the code of a block starts that a reader sees."""
    shown = block.content
    for pattern in (py_source_parser.IGNORE_BLOCK_PATTERN, py_source_parser.INFILE_CONFIG_PATTERN):
        shown = pattern.sub(lambda match: "\n" * match[0].count("\n"), shown)
    blank = len(shown) - len(shown.lstrip())
    return block.lineno + (shown[:blank].count("\n") if shown.strip() else 0)


def _refuse_rebound_names(path: Path, cells: Sequence[Cell]) -> None:
    """Raise ``GalleryError`` for a cell that binds a name of an inlined module anew."""
    for inlining in cells:
        module = inlining.inlined
        for cell in cells:
            if module is None or cell.number == inlining.number:
                continue
            if names := find_rebound(module, cell.code):
                text = f"{names[0]} is a name of {module.path.name}, whose code would find this one"
                remedy = f"call it something else, or import it in cell {inlining.number}"
                raise GalleryError(text, path=path, line=cell.line, remedy=remedy)
