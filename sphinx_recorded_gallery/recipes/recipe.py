"""Recipes: the examples of a gallery, Python files in Sphinx-Gallery's form.

Sphinx-Gallery's own parser splits a recipe into blocks of text and code. So recordings, pages and
downloads are cut at the same places. Code between ``# sphinx_gallery_start_ignore`` and
``# sphinx_gallery_end_ignore`` runs with its cell and counts in its fingerprint, but pages and
downloads leave it out. A block of nothing but such code runs with the next cell; after the last
cell it is a cell of its own. So is each block marked with ``# sphinx_gallery_plumbing = True``.
"""

import ast
import hashlib
import re
import string
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
from ..errors import GalleryError, not_utf8
from ..project import file_state
from .comment_settings import (
    DEFERS_FIGURES,
    NO_SETTINGS,
    CellSettings,
    RecipeSettings,
    read_settings,
)
from .fingerprint import (
    find_imports,
    fingerprint_code,
    fingerprint_modules,
    refuse_unseen,
    strip_comments,
    syntax_error,
)
from .inlined_modules import Inlined, find_rebound, inline

# One character of punctuation, repeated
_UNDERLINE = re.compile(rf"([{re.escape(string.punctuation)}])\1*")
_REMEDY_OF_MODULE = "if it is a module that examples import, begin its name with _"
_TAB_INDENT = re.compile(r"#? *\t")  # of a line of a text, in a comment or a docstring


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A block of code: what a reader sees, without Sphinx-Gallery's settings, and what runs."""

    number: int  # counted from 1 among the code cells of the recipe
    line: int  # of the recipe, where the visible code starts
    source: str  # what a reader sees; empty for a cell that is not shown
    code: str  # what runs: ``source``, and code that is not shown
    settings: CellSettings = NO_SETTINGS
    inlined: Inlined | None = None  # the module whose source this is; line is that of the import

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code that runs, without its comments."""
        return fingerprint_code(self.code)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One recipe, parsed."""

    path: Path
    name: str  # of its recording: its path in the gallery without suffix, such as advanced/deep
    title: str
    summary: str  # the first paragraph below the title, on one line; it may be empty
    blocks: tuple[Block, ...]  # that a page shows
    unshown_lines: frozenset[int]  # first lines of blocks of code that a page does not show
    cells: tuple[Cell, ...]
    settings: dict[str, Any]
    lines: dict[str, int]  # of the recipe, by setting

    @property
    def parts(self) -> list[tuple[Block, Cell | None]]:
        """The blocks of the page; a block of code comes with its cell."""
        visible_cells = [cell for cell in self.cells if cell.source]  # one for each block of code
        parts: list[tuple[Block, Cell | None]] = []
        for block in self.blocks:
            if block.type == "code":
                parts.append((block, visible_cells.pop(0)))
            else:
                parts.append((block, None))
        return parts

    @property
    def files(self) -> list[Path]:
        """The files that it is made of, the recipe itself first."""
        files = [self.path]
        files += [cell.inlined.path for cell in self.cells if cell.inlined]
        files += [self.path.parent / name for name in self.hash_inputs()]
        return files

    def hash_inputs(self) -> dict[str, str]:
        """Return the SHA-256 (hex) of each declared file and imported module, by path.

        Reads these files. Raises ``GalleryError`` for one that may not be used.
        """
        declared = {name: self._hash_input(name) for name in self.settings.get("inputs", [])}
        code = "\n".join(cell.code for cell in self.cells)
        return declared | fingerprint_modules(find_imports(code), self.path.parent)

    @property
    def replicate_fingerprint(self) -> str:
        """Hash of everything that a replicate runs; if it changes, replicates are stale."""
        replicate = self.for_replicate()
        parts = [cell.fingerprint for cell in replicate.cells]
        parts.append(repr(sorted(replicate.hash_inputs().items())))
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def for_replicate(self) -> "Recipe":
        """Return what a replicate runs: the recipe without cells that run once, renumbered.

        It has no page: ``blocks`` are still those of the whole recipe.
        """
        cells: list[Cell] = []
        for cell in self.cells:
            if not cell.settings.once:
                cells.append(replace(cell, number=len(cells) + 1))
        return replace(self, cells=tuple(cells))

    def _hash_input(self, name: str) -> str:
        """Return the hash of a declared file; raise ``GalleryError`` if it may not be used."""

        def error(text: str) -> GalleryError:
            line = self.lines.get("inputs")
            remedy = "correct the line '# sphinx_gallery_inputs'"
            return GalleryError(text, path=self.path, line=line, remedy=remedy)

        def unreadable(reason: object) -> GalleryError:
            return error(f"input {name[:100]!r} cannot be read: {reason}")

        folder = self.path.parent.resolve()
        relative = PurePosixPath(name)
        try:
            file = (folder / name).resolve()
            is_file = file.is_file()
        except OSError as fault:  # such as a name that is too long
            raise unreadable(fault.strerror) from None
        except ValueError as fault:  # a name that holds a null byte
            raise unreadable(fault) from None
        if relative.suffix in (".py", ".ipynb", ".html"):
            raise error(f"input {name!r} would replace a page or a download")
        is_inside = ".." not in relative.parts and file.is_relative_to(folder)
        if not is_inside or relative.is_absolute() or not is_file:
            raise error(f"input {name[:100]!r} is not a file below {self.path.parent}")
        try:
            content = file.read_bytes()
        except OSError as fault:
            raise unreadable(fault.strerror) from None
        return hashlib.sha256(content).hexdigest()


def load_recipe(path: Path, name: str = "") -> Recipe:
    """Parse one recipe; raise ``GalleryError`` naming the file and line if it cannot be used.

    ``name`` is that of its recording; by default the file's name without its suffix. The recipe is
    parsed again when the time or size of the file, or of a module that it may inline, changes.
    """
    files = [path, *sorted(path.parent.glob("_*.py"))]
    return _load(path, name or path.stem, tuple((file, file_state(file)) for file in files))


@lru_cache(maxsize=256)  # needed when a page is made, read and written; parsing takes 40 ms
def _load(path: Path, name: str, _files: object) -> Recipe:
    """Read and check a recipe; ``_files`` only tells the cache when it has to be read again."""
    blocks = _split(path)
    if path.stem == "index":
        text = "its page would replace that of the gallery"
        raise GalleryError(text, path=path, remedy="rename the example")
    title, summary = _find_title(blocks[0].content)
    if not title:
        raise _no_title(path, blocks[0].content)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    # The docstring is looked at in the file: in the block, Python has replaced its tabs by spaces.
    docstring_end = blocks[1].lineno - 1 if len(blocks) > 1 else len(lines)
    _refuse_mixed_indents(path, lines, 1, lines[:docstring_end])
    for block in blocks[1:]:
        if block.type == "text":
            _refuse_mixed_indents(path, lines, block.lineno, block.content.splitlines())
    for block in blocks:
        if block.type == "text":
            _refuse_open_literal(path, block)
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
        unshown_lines=frozenset(part.block.lineno for part in parts if not part.is_shown),
        settings=settings.values,
        lines=settings.lines,
    )


def _refuse_open_literal(path: Path, block: Block) -> None:
    """Raise ``GalleryError`` for a text whose last line ends in two colons.

    docutils takes what Sphinx-Gallery writes below it, such as the next cell, for quoted code.
    """
    text = block.content.rstrip()
    last_line = text.rpartition("\n")[2]
    if last_line.endswith("::") and not last_line.startswith((" ", ".. ")):
        line = block.lineno + text.count("\n")
        remedy = "write one colon, or what it announces below it, indented"
        raise GalleryError("a text ends in ::", path=path, line=line, remedy=remedy)


def _refuse_mixed_indents(
    path: Path, lines: Sequence[str], start: int, text_lines: Sequence[str]
) -> None:
    """Raise ``GalleryError`` for a tab that indents a line of a text whose others have spaces.

    No width of a tab fits the other lines: lists and tables fall apart, in many warnings.
    """
    indents = {line[:1] for line in text_lines if line.strip()}
    if not {" ", "\t"} <= indents:
        return
    for number, line in enumerate(lines[start - 1 :], start):
        if _TAB_INDENT.match(line):
            text = "a tab indents this line of a text, and spaces the others"
            raise GalleryError(text, path=path, line=number, remedy="write spaces for the tab")


def _split(path: Path) -> list[Block]:
    """Return the blocks of a recipe as Sphinx-Gallery finds them.

    Raises ``GalleryError`` for a file that cannot be parsed.
    """
    try:
        ensure_regular_file(path)
        _settings, blocks, tree = py_source_parser.split_code_and_text_blocks(
            path, return_node=True
        )
        if tree is None:
            raise syntax_error(path, path.read_text(encoding="utf-8"), 1)
        return blocks
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
        raise GalleryError(text, path=path, remedy="mend or remove it") from error
    except UnicodeDecodeError as error:
        wrong_byte = not_utf8(path, path.read_bytes())
        if wrong_byte:
            raise wrong_byte from error
        text = f"cannot be read: {error}"  # the file names another encoding, and has not got it
        raise GalleryError(text, path=path, remedy="save the file in UTF-8") from error
    except (SyntaxError, ValueError) as error:  # such as an unknown encoding or a null byte
        text = f"cannot be parsed: {getattr(error, 'msg', error)}"
        raise GalleryError(text, path=path, line=1, remedy="mend the file") from error
    except (RecursionError, MemoryError) as error:
        text = "cannot be parsed: nested too deeply"
        raise GalleryError(text, path=path, remedy="write it in shorter steps") from error
    except (ExtensionError, AssertionError) as error:  # a number instead of the docstring
        remedy = f"start the file with a docstring that holds the title; {_REMEDY_OF_MODULE}"
        raise GalleryError("no docstring", path=path, line=1, remedy=remedy) from error


def _find_title(docstring: str) -> tuple[str, str]:
    """Return the title, if docutils would find one, and the first paragraph below it.

    Other things may precede the title: a line of links, a badge, ``:orphan:`` or a comment.
    """
    paragraphs = re.split(r"\n\s*\n", docstring.strip())
    for place, paragraph in enumerate(paragraphs):
        title, below = _read_title(paragraph)
        if title:
            return title, _find_summary([below, *paragraphs[place + 1 :]])
    return "", ""


def _no_title(path: Path, docstring: str) -> GalleryError:
    """Return the error of a docstring without a title, such as of one that is too long for a line.

    docutils takes several lines above an underline for a paragraph.
    """
    lines = docstring.splitlines()
    for number, line in enumerate(lines):
        is_below_two_lines = number > 1 and all(each.strip() for each in lines[number - 2 : number])
        if is_below_two_lines and _UNDERLINE.fullmatch(line.rstrip()) and len(line.rstrip()) > 3:
            text = f"the title has a second line, {lines[number - 1].strip()[:60]!r}"
            remedy = "leave one line above the underline, and write the rest below it"
            return GalleryError(text, path=path, line=1, remedy=remedy)
    remedy = f"start the docstring with one, underlined: ====; {_REMEDY_OF_MODULE}"
    return GalleryError("no title", path=path, line=1, remedy=remedy)


def _find_summary(paragraphs: Sequence[str]) -> str:
    """Return the first paragraph of text on one line; empty if there is none."""
    for paragraph in paragraphs:
        if paragraph and not paragraph.startswith(".."):
            return " ".join(line.strip() for line in paragraph.splitlines())
    return ""


def _read_title(paragraph: str) -> tuple[str, str]:
    """Return the title of a paragraph and the text directly below it; two empty texts if none."""
    lines = [line.rstrip() for line in paragraph.splitlines()]
    while lines and lines[0].startswith(".."):  # such as a target of links
        del lines[0]
    is_overlined = len(lines) > 2 and bool(_UNDERLINE.fullmatch(lines[0]))
    if is_overlined:
        del lines[0]
    if len(lines) < 2 or not _UNDERLINE.fullmatch(lines[1]):
        return "", ""
    title, underline, *below = lines
    is_indented = title[:1].isspace() and not is_overlined
    if is_indented or len(underline) < min(4, column_width(title)):
        return "", ""
    return title.strip(), "\n".join(below)


def _show(content: str, path: Path, line: int, remedy: str) -> str:
    """Return code without the parts that Sphinx-Gallery leaves out of a page.

    Raises ``GalleryError`` with the place and the remedy for an ignored part without an end.
    """
    try:
        content = py_source_parser.remove_ignore_blocks(content)
    except ExtensionError as error:
        raise GalleryError(str(error), path=path, line=line, remedy=remedy) from None
    return py_source_parser.remove_config_comments(content)


def _show_module(inlined: Inlined) -> str:
    """Return what a reader sees of an inlined module; raise ``GalleryError`` if it is nothing."""
    remedy = "add the missing line to this module"
    source = _show(inlined.source, inlined.path, inlined.line, remedy)
    if not source.strip():
        raise GalleryError(
            "all code of this module is ignored, so no cell can show it",
            path=inlined.path,
            line=inlined.line,
            remedy="remove sphinx_gallery_start_ignore and sphinx_gallery_end_ignore from it",
        )
    return source


class _Kind(Enum):
    """The role of a block in a recipe."""

    TEXT = auto()
    CODE = auto()  # a cell; if it imports an inlined module, the cell shows the module's source
    PLUMBING = auto()  # a cell that is not shown
    NEXT = auto()  # no cell of its own, it runs with the next one: settings, or ignored code


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A block with its role."""

    block: Block
    kind: _Kind
    settings: CellSettings = NO_SETTINGS
    inlined: Inlined | None = None
    source: str = ""  # the code that a reader sees

    @property
    def is_shown(self) -> bool:
        return self.kind in (_Kind.TEXT, _Kind.CODE)


def _classify(path: Path, block: Block, settings: RecipeSettings) -> _Part:
    """Return a block with its role; raise ``GalleryError`` for code that cannot be a cell."""
    if block.type == "text":
        return _Part(block=block, kind=_Kind.TEXT)
    own = settings.cells[block.lineno]
    if own.plumbing:
        inlined = inline(path, block)
        return _Part(block=block, kind=_Kind.PLUMBING, settings=own, inlined=inlined)
    source = _show(block.content, path, block.lineno, "add the missing line to this cell")
    if not source.strip():
        if own != NO_SETTINGS:
            raise GalleryError(
                "this code is not shown and runs with the next cell",
                path=path,
                line=block.lineno,
                remedy="mark that cell, or add a line: # sphinx_gallery_plumbing = True",
            )
        return _Part(block=block, kind=_Kind.NEXT)
    inlined = inline(path, block)
    if inlined:
        own = replace(own, fold=own.fold or inlined.summary)
        source = _show_module(inlined)
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
    """Return the cells of a recipe; raise ``GalleryError`` for one that cannot run or be shown."""
    cells: list[Cell] = []
    waiting: list[Block] = []  # blocks that run with the next cell
    for part in parts:
        if part.kind is _Kind.NEXT:
            waiting.append(part.block)
        elif part.kind is not _Kind.TEXT:
            cells.append(_make_cell(path, len(cells) + 1, part, _join(waiting)))
            waiting = []
    if waiting:
        block = Block("code", _join(waiting), waiting[0].lineno)
        last = _make_cell(path, len(cells) + 1, _Part(block=block, kind=_Kind.NEXT), "")
        if strip_comments(last.code):
            cells.append(last)
    return cells


def _join(blocks: Sequence[Block]) -> str:
    return "".join(block.content for block in blocks)


def _make_cell(path: Path, number: int, part: _Part, code_before: str) -> Cell:
    """Return a block of code as a cell, which runs the code before it that has no cell, too."""
    block = part.block
    content = part.inlined.source if part.inlined else block.content
    code = py_source_parser.remove_config_comments(code_before + content).strip("\n")
    if DEFERS_FIGURES.search(content):
        code += "\n# sphinx_gallery_defer_figures"  # the kernel obeys it
    try:
        fingerprint_code(code)
        ast.parse(code)
    except (SyntaxError, tokenize.TokenError):
        raise syntax_error(path, content, block.lineno) from None
    try:
        ast.parse(part.source)
    except SyntaxError:
        text = "the visible part of this code cannot be parsed without the hidden part"
        remedy = "hide whole statements only"
        raise GalleryError(text, path=path, line=block.lineno, remedy=remedy) from None
    refuse_unseen(path, part.source, block.lineno)
    return Cell(
        number=number,
        line=_first_shown_line(block),
        source=part.source,
        code=code,
        settings=part.settings,
        inlined=part.inlined,
    )


def _first_shown_line(block: Block) -> int:
    """Return the line of a recipe in which the visible code of a block starts."""
    shown = block.content
    for pattern in (py_source_parser.IGNORE_BLOCK_PATTERN, py_source_parser.INFILE_CONFIG_PATTERN):
        shown = pattern.sub(lambda match: "\n" * match[0].count("\n"), shown)
    if not shown.strip():
        return block.lineno
    blank_length = len(shown) - len(shown.lstrip())
    return block.lineno + shown[:blank_length].count("\n")


def _refuse_rebound_names(path: Path, cells: Sequence[Cell]) -> None:
    """Raise ``GalleryError`` for a cell that assigns to a name of an inlined module."""
    for inlining in cells:
        module = inlining.inlined
        for cell in cells:
            if module is None or cell.number == inlining.number:
                continue
            names = find_rebound(module, cell.code)
            if names:
                text = f"{names[0]} is also a name in {module.path.name}, whose code would use it"
                remedy = f"rename it, or import it in cell {inlining.number}"
                raise GalleryError(text, path=path, line=cell.line, remedy=remedy)
