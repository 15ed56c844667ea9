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
from .comment_settings import read_settings
from .fingerprint import (
    find_imports,
    fingerprint_code,
    fingerprint_modules,
    refuse_unseen,
    strip_comments,
    syntax_error,
)
from .inlined_modules import Inlined, find_rebound, inline

_PLUMBING = re.compile(r"^[ \t]*#\s*sphinx_gallery_plumbing\s*=\s*True\b", re.MULTILINE)
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
    fold: str = ""  # what a page shows in the place of its code, until a reader unfolds it

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
    settings, lines, of_cells = read_settings(path, blocks)
    return Recipe(
        path=path,
        name=name,
        title=title,
        summary=summary,
        cells=tuple(_make_cells(path, blocks, of_cells)),
        blocks=tuple(block for block in blocks if not _is_blank(block)),
        hidden=frozenset(block.lineno for block in blocks if _is_blank(block)),
        settings=settings,
        lines=lines,
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
    """Return the title, if docutils would find one, and the first paragraph below it."""
    paragraphs = re.split(r"\n\s*\n", docstring.strip())
    text = "\n\n".join(each for each in paragraphs if not each.startswith(".."))
    lines = [line.rstrip() for line in text.splitlines()]
    if lines and _UNDERLINE.fullmatch(lines[0]):  # there may be a line above it, too
        del lines[0]
    title, underline, *rest = [*lines, "", ""]
    if not _UNDERLINE.fullmatch(underline) or len(underline) < min(4, column_width(title)):
        return "", ""
    below = "\n".join(rest).strip().partition("\n\n")[0]
    return title.strip(), " ".join(line.strip() for line in below.splitlines())


def _is_blank(block: Block) -> bool:
    """Tell whether a code block has nothing to show: settings, or code that is not shown."""
    return block.type == "code" and not _visible(block.content).strip()


def _visible(content: str) -> str:
    if _PLUMBING.search(content):
        return ""
    content = py_source_parser.remove_ignore_blocks(content)
    return py_source_parser.remove_config_comments(content)


def _make_cells(
    path: Path, blocks: Sequence[Block], of_cells: dict[int, dict[str, Any]]
) -> list[Cell]:
    """Return the cells of a recipe; raise ``GalleryError`` for one that is no use."""
    cells: list[Cell] = []
    hidden, line = "", 1  # what runs unseen with the next cell, and where it starts

    def refuse(text: str, remedy: str, line: int) -> None:
        raise GalleryError(text, path=path, line=line, remedy=remedy)

    for block in (each for each in blocks if each.type == "code"):
        settings = of_cells[block.lineno]
        try:
            blank = _is_blank(block)
        except ExtensionError as error:  # an ignored part without end
            refuse(str(error), "add the line that is missing in this cell", block.lineno)
        if blank and not settings["plumbing"]:
            if settings["once"] or settings["fold"]:
                text = "this code is not shown and runs with the cell behind it"
                remedy = "mark that cell, or add a line: # sphinx_gallery_plumbing = True"
                refuse(text, remedy, block.lineno)
            line = line if hidden else block.lineno
            hidden += block.content
            continue
        cells.append(_make_cell(path, len(cells) + 1, block, hidden, **settings))
        hidden = ""
    if hidden:
        last = _make_cell(path, len(cells) + 1, Block("code", hidden, line), "")
        cells += [last] if strip_comments(last.code) else []
    for number, module in [(each.number, each.inlined) for each in cells if each.inlined]:
        for cell in cells:
            if cell.number != number and (names := find_rebound(module, cell.code)):
                text = f"{names[0]} is a name of {module.path.name}, whose code would find this one"
                remedy = f"call it something else, or import it in cell {number}"
                refuse(text, remedy, cell.line)
    return cells


def _make_cell(
    path: Path, number: int, block: Block, hidden: str, *, plumbing: bool = False, **settings: Any
) -> Cell:
    """Return a block of code as a cell, with the code in front of it that runs unseen."""
    inlined = inline(path, block) if plumbing or not _is_blank(block) else None
    if inlined and not plumbing:
        settings["fold"] = settings.get("fold") or inlined.summary
    content = inlined.source if inlined else block.content
    source = "" if plumbing else _visible(content).strip("\n")
    refuse_unseen(path, source, block.lineno)
    shown = block.content
    for pattern in (py_source_parser.IGNORE_BLOCK_PATTERN, py_source_parser.INFILE_CONFIG_PATTERN):
        shown = pattern.sub(lambda match: "\n" * match[0].count("\n"), shown)
    above = shown[: len(shown) - len(shown.lstrip())].count("\n") if shown.strip() else 0
    code = py_source_parser.remove_config_comments(hidden + content).strip("\n")
    try:
        fingerprint_code(code)
        ast.parse(code)
    except (SyntaxError, tokenize.TokenError):
        raise syntax_error(path, content, block.lineno) from None
    try:
        ast.parse(source)
    except SyntaxError:
        text = "what is shown of this code cannot be parsed without what is hidden"
        remedy = "hide whole statements only"
        raise GalleryError(text, path=path, line=block.lineno, remedy=remedy) from None
    return Cell(
        number=number,
        line=block.lineno + above,
        source=source,
        code=code,
        inlined=inlined,
        **settings,
    )
