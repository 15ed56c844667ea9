"""Recipes: the Python files in Sphinx-Gallery's form that the site is made of.

A recipe is split into text and code blocks by Sphinx-Gallery's own parser, so that what is
recorded, rendered and downloaded is cut at the same places.

Code between ``# sphinx_gallery_start_ignore`` and ``# sphinx_gallery_end_ignore`` runs with its cell
and counts in its fingerprint, but is not shown on the page nor in what readers download. A block
with nothing else runs with the cell behind it; behind the last one it is a cell that is not shown.
"""

import ast
import hashlib
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from docutils.utils import column_width
from sphinx.errors import ExtensionError
from sphinx_gallery import py_source_parser
from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError
from ..project import file_state
from .fingerprint import find_imports, fingerprint_code, fingerprint_modules, strip_comments
from .config_comments import cell_setting, cell_settings, read_settings, without_notes

_NOT_SHOWN = re.compile("[\t\v\x1c-\x1e\x85\u2028\u2029]")
_HIDDEN_BREAK = "a line break that is not seen", r"write it as an escape, such as \u2028"
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1*")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A code block: what a reader sees of it, Sphinx-Gallery's settings removed, and what runs."""

    number: int  # counted from 1 among the code cells of the recipe
    line: int  # of the recipe, where the visible code starts
    source: str  # empty if it is not shown at all
    code: str  # source with the code that is not shown, as it runs
    alt: tuple[str, ...] = ()
    raises: str | None = None
    fold: str = ""  # what a page shows in the place of its code, until a reader unfolds it

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code that runs alone, and of the exception it is meant to end in."""
        code = fingerprint_code(self.code)
        if self.raises is None:
            return code
        return hashlib.sha256(f"{code}\n{self.raises}".encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One recipe, parsed."""

    path: Path
    name: str  # of its recording: its path in the gallery without ending, such as advanced/deep
    title: str
    summary: str  # the first paragraph below the title, on one line; it may be empty
    blocks: tuple[Block, ...]
    cells: tuple[Cell, ...]
    settings: dict[str, Any]
    lines: dict[str, int]  # of the recipe, where each setting stands

    @property
    def parts(self) -> list[tuple[Block, Cell | None]]:
        """Each block and the cell that it is, if it is one of code."""
        cells = iter(self.cells)
        return [(block, next(cells) if block.type == "code" else None) for block in self.blocks]

    @property
    def inputs(self) -> dict[str, str]:
        """SHA-256 (hex) of each declared file and imported module, by its path from the recipe."""
        declared = {name: self._hash_input(name) for name in self.settings.get("inputs", [])}
        code = "\n".join(cell.code for cell in self.cells)
        return declared | fingerprint_modules(find_imports(code), self.path.parent)

    def _hash_input(self, name: str) -> str:
        folder, relative = self.path.parent.resolve(), PurePosixPath(name)
        remedy = "correct the line '# sphinx_gallery_inputs'"
        text = f"input {name!r} is not a file below {self.path.parent}"
        try:
            file = (folder / name).resolve()
            inside = not relative.is_absolute() and ".." not in relative.parts
            if inside and file.is_relative_to(folder) and file.is_file():
                if relative.suffix not in (".py", ".ipynb", ".html"):
                    return hashlib.sha256(file.read_bytes()).hexdigest()
                text = f"input {name!r} would take the place of a page or a download"
                remedy = "give it another ending"
        except (OSError, ValueError) as error:  # ValueError: a name that holds a null byte
            text = f"input {name[:100]!r} cannot be read: {getattr(error, 'strerror', error)}"
        raise GalleryError(text, path=self.path, line=self.lines.get("inputs"), remedy=remedy)


def is_blank(block: Block) -> bool:
    """Tell whether a code block has nothing to show: settings alone, or code that is not shown."""
    return block.type == "code" and not _visible(block.content).strip()


def load_recipe(path: Path, name: str = "") -> Recipe:
    """Parse one recipe; raise ``GalleryError`` naming the file and line if it cannot be used.

    ``name`` is that of its recording; if it is empty, the file's name without its ending.
    """
    return _load_recipe(path, name or path.stem, file_state(path))


# A build asks when it makes, reads and writes a page, and for cards: all pages lie in between. One
# is about 150 kB, and is parsed in 40 ms.
@lru_cache(maxsize=2000)
def _load_recipe(path: Path, name: str, state: object) -> Recipe:
    """Parse a recipe once in a build, which asks for it when reading and when writing its page."""
    blocks = _split(path)
    if path.stem == "index":
        text, remedy = "its page would be that of the gallery", "call the recipe something else"
        raise GalleryError(text, path=path, remedy=remedy)
    title, summary = _find_title(blocks[0].content)
    if not title:
        remedy = "start the docstring with one, underlined: ===="
        raise GalleryError("no title", path=path, line=1, remedy=remedy)
    settings, lines = read_settings(path, blocks)
    return Recipe(
        path=path,
        name=name,
        title=title,
        summary=summary,
        cells=tuple(_make_cells(path, blocks)),
        blocks=tuple(block for block in blocks if not is_blank(block)),
        settings=settings,
        lines=lines,
    )


def _split(path: Path) -> list[Block]:
    """Return the blocks of a recipe as Sphinx-Gallery finds them."""
    line: int | None = 1
    try:
        if path.exists() and not path.is_file():
            raise OSError(0, "it is no file")  # a pipe would be waited for
        with without_notes():
            _settings, blocks, tree = py_source_parser.split_code_and_text_blocks(
                path, return_node=True
            )
        if tree is None:
            raise _syntax_error(path, path.read_text(encoding="utf-8"), 1)
        return blocks
    except OSError as error:
        text, line, remedy = f"cannot be read: {error.strerror}", None, "mend or remove it"
    except UnicodeDecodeError as error:
        text, line, remedy = f"cannot be read: {error}", None, "save the file in UTF-8"
    except (SyntaxError, ValueError) as error:  # an unknown encoding or a null byte, for two
        text, remedy = f"cannot be parsed: {getattr(error, 'msg', error)}", "mend the file"
    except (RecursionError, MemoryError):
        text, line, remedy = "cannot be parsed: nested too deeply", None, "write it in shorter steps"
    except (ExtensionError, AssertionError):  # a number in the docstring's place is asserted
        text, remedy = "no docstring", "start the recipe with one that holds its title"
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


def _visible(content: str) -> str:
    content = py_source_parser.remove_ignore_blocks(content)
    return py_source_parser.remove_config_comments(content)


def _make_cells(path: Path, blocks: Sequence[Block]) -> Iterator[Cell]:
    """Yield the cells; a block that is not shown at all runs with the next one, or as the last."""
    number, hidden, line = 0, "", 1
    for block in blocks:
        try:
            blank = is_blank(block)
        except ExtensionError as error:  # an ignored part without end
            remedy = "add the line that is missing in this cell"
            raise GalleryError(str(error), path=path, line=block.lineno, remedy=remedy) from None
        if blank:
            line = line if hidden else block.lineno
            hidden += block.content
        elif block.type == "code":
            number += 1
            yield _make_cell(path, number, block, hidden)
            hidden = ""
    if hidden:
        last = _make_cell(path, number + 1, Block("code", hidden, line), "")
        if strip_comments(last.code):
            yield last


def _make_cell(path: Path, number: int, block: Block, hidden: str) -> Cell:
    content = block.content
    source = _visible(content).strip("\n")
    if found := _NOT_SHOWN.search(source):  # a page or a script would have others in their place
        text, remedy = ("a tab", "use spaces") if found[0] == "\t" else _HIDDEN_BREAK
        raise GalleryError(f"{text} in the code below", path=path, line=block.lineno, remedy=remedy)
    shown = content
    for pattern in (py_source_parser.IGNORE_BLOCK_PATTERN, py_source_parser.INFILE_CONFIG_PATTERN):
        shown = pattern.sub(lambda match: "\n" * match[0].count("\n"), shown)
    above = shown[: len(shown) - len(shown.lstrip())].count("\n") if source else 0
    cell = Cell(
        number=number,
        line=block.lineno + above,
        source=source,
        code=py_source_parser.remove_config_comments(hidden + content).strip("\n"),
        alt=tuple(cell_settings(path, block, "alt")),
        raises=cell_setting(path, block, "raises") or None,
        fold=cell_setting(path, block, "fold"),
    )
    try:
        ast.parse(cell.code)
        fingerprint_code(cell.code)
    except (SyntaxError, tokenize.TokenError):
        raise _syntax_error(path, content, block.lineno) from None
    try:
        ast.parse(cell.source)
        fingerprint_code(cell.source)
    except (SyntaxError, tokenize.TokenError):
        text = "what is shown of this code cannot be parsed without what is hidden"
        remedy = "hide whole statements only"
        raise GalleryError(text, path=path, line=block.lineno, remedy=remedy) from None
    return cell


def _syntax_error(path: Path, source: str, first_line: int) -> GalleryError:
    text, line, remedy = "this code cannot be parsed", first_line, "mend the code"
    try:
        ast.parse(source)
    except SyntaxError as error:
        text, line = f"syntax error: {error.msg}", first_line - 1 + (error.lineno or 1)
    if source.startswith("\ufeff"):
        text, remedy = "a byte order mark at the start of the file", "save it in UTF-8 without one"
    return GalleryError(text, path=path, line=line, remedy=remedy)
