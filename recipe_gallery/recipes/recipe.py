"""Recipes: the Python files in Sphinx-Gallery's form that the site is made of.

A recipe is split into text and code blocks by Sphinx-Gallery's own parser, so that what is
recorded, rendered and downloaded is cut at the same places.

Code between ``# sphinx_gallery_start_ignore`` and ``# sphinx_gallery_end_ignore`` runs with its cell
and counts in its fingerprint, but is not shown on the page nor in what readers download.
"""

import ast
import hashlib
import re
import tokenize
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.errors import ExtensionError
from sphinx_gallery import gen_rst, py_source_parser
from sphinx_gallery.py_source_parser import Block

from ..project import GalleryError
from .fingerprint import combine, fingerprint_code
from .settings import cell_settings, check_settings

_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1*")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A code block: what a reader sees of it, Sphinx-Gallery's settings removed, and what runs."""

    number: int  # counted from 1 among the code cells of the recipe
    line: int  # of the recipe, where the visible code starts
    source: str
    code: str  # source with the code that is not shown, as it runs
    alt: tuple[str, ...] = ()
    raises: str | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code that runs alone, and of the exception it is meant to end in."""
        code = fingerprint_code(self.code)
        return combine([code, self.raises]) if self.raises else code


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

    @property
    def inputs(self) -> dict[str, str]:
        """SHA-256 (hex) of each declared input file, by its path relative to the recipe."""
        hashes = {}
        folder = self.path.parent.resolve()
        for name in self.settings.get("inputs", []):
            relative = PurePosixPath(name)
            file = (folder / name).resolve()
            inside = not relative.is_absolute() and ".." not in relative.parts
            if not (inside and file.is_relative_to(folder) and file.is_file()):
                raise GalleryError(
                    f"input {name!r} is not a file below {self.path.parent}",
                    path=self.path,
                    remedy="correct the line '# sphinx_gallery_inputs'",
                )
            if relative.suffix in (".py", ".ipynb", ".html"):
                raise GalleryError(
                    f"input {name!r} would take the place of a page or a download",
                    path=self.path,
                    remedy="give it another ending",
                )
            hashes[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        return hashes


def is_blank(block: Block) -> bool:
    """Tell whether a code block has nothing to show: settings alone, or code that is not shown."""
    return block.type == "code" and not _visible(block.content).strip()


def load_recipe(path: Path, name: str = "") -> Recipe:
    """Parse one recipe; raise ``GalleryError`` naming the file and line if it cannot be used.

    ``name`` is that of its recording; if it is empty, the file's name without its ending.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None
    return _load_recipe(path, name or path.stem, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=128)  # galleries may be large, and most askers ask for the page at hand
def _load_recipe(path: Path, name: str, mtime_ns: int, size: int) -> Recipe:
    """Parse a recipe once in a build, which asks for it when reading and when writing its page."""
    settings, blocks = _split(path)
    docstring = blocks[0].content
    try:
        _, title = gen_rst.extract_intro_and_title(path.name, docstring)
    except ExtensionError:
        title = ""
    if not title or not _is_underlined(docstring):
        raise GalleryError(
            "no title", path=path, line=1, remedy="start the docstring with one, underlined: ===="
        )
    check_settings(path, settings)
    for block in blocks:
        misplaced = re.search(r"^\s*sphinx_gallery_\w+ *=", block.content, re.MULTILINE)
        if block.type == "text" and misplaced:
            raise GalleryError(
                "a sphinx_gallery_ setting in a block of text",
                path=path,
                line=block.lineno + block.content.count("\n", 0, misplaced.start()),
                remedy="leave an empty line between '# %%' and it",
            )
        try:
            is_blank(block)
        except ExtensionError as error:  # an ignored part without end
            raise GalleryError(str(error), path=path, line=block.lineno) from None
    return Recipe(
        path=path,
        name=name,
        title=title,
        summary=_find_summary(docstring, title),
        blocks=tuple(block for block in blocks if not is_blank(block)),
        cells=tuple(_make_cells(path, blocks)),
        settings=settings,
    )


def _split(path: Path) -> tuple[dict[str, Any], list[Block]]:
    """Return the settings and blocks of a recipe as Sphinx-Gallery finds them."""
    try:
        settings, blocks, tree = py_source_parser.split_code_and_text_blocks(path, return_node=True)
    except OSError as error:
        raise GalleryError(f"cannot be read: {error.strerror}", path=path) from None
    except UnicodeDecodeError as error:
        raise GalleryError(
            f"cannot be read: {error}", path=path, remedy="save the file in UTF-8"
        ) from None
    except SyntaxError as error:  # an unknown encoding, for one
        text = f"cannot be parsed: {error.msg}"
        raise GalleryError(text, path=path, line=1, remedy="mend the file") from None
    except (ExtensionError, AssertionError):  # a number in the docstring's place is asserted
        remedy = "start the recipe with one that holds its title"
        raise GalleryError("no docstring", path=path, line=1, remedy=remedy) from None
    if tree is None:
        raise _syntax_error(path, path.read_text(encoding="utf-8"), 1)
    return settings, blocks


def _is_underlined(docstring: str) -> bool:
    """Tell whether the first paragraph holds a title as docutils understands it."""
    paragraphs = (p for p in docstring.lstrip().split("\n\n") if p and not p.startswith(".. "))
    lines = [line.rstrip() for line in next(paragraphs, "").splitlines()]
    return any(
        title and _UNDERLINE.fullmatch(below) and len(below) >= min(4, len(title))
        for title, below in pairwise(lines)
        if not _UNDERLINE.fullmatch(title)
    )


def _find_summary(docstring: str, title: str) -> str:
    _before, _title, rest = docstring.partition(title)
    for paragraph in re.split(r"\n\s*\n", rest.lstrip().lstrip("=-~^*+#\"'").strip()):
        if paragraph and not paragraph.startswith(".."):
            return " ".join(line.strip() for line in paragraph.splitlines())
    return ""


def _visible(content: str) -> str:
    content = py_source_parser.remove_ignore_blocks(content)
    return py_source_parser.remove_config_comments(content)


def _make_cells(path: Path, blocks: Iterable[Block]) -> Iterable[Cell]:
    """Yield the cells; a block that is not shown at all runs with the next one."""
    number, hidden = 0, ""
    for block in blocks:
        if is_blank(block):
            hidden += block.content
        elif block.type == "code":
            number += 1
            yield _make_cell(path, number, block, hidden)
            hidden = ""


def _make_cell(path: Path, number: int, block: Block, hidden: str) -> Cell:
    content = block.content
    source = _visible(content).strip("\n")
    if "\t" in source:
        raise GalleryError("a tab in the code below", path=path, line=block.lineno, remedy="use spaces")
    shown = content
    for pattern in (py_source_parser.IGNORE_BLOCK_PATTERN, py_source_parser.INFILE_CONFIG_PATTERN):
        shown = pattern.sub(lambda match: "\n" * match[0].count("\n"), shown)
    cell = Cell(
        number=number,
        line=block.lineno + shown[: len(shown) - len(shown.lstrip())].count("\n"),
        source=source,
        code=py_source_parser.remove_config_comments(hidden + content).strip("\n"),
        alt=tuple(cell_settings(path, block, "alt")),
        raises=next(iter(cell_settings(path, block, "raises")), None),
    )
    try:
        for code in {cell.source, cell.code}:
            ast.parse(code)
            fingerprint_code(code)
    except (SyntaxError, tokenize.TokenError):
        raise _syntax_error(path, content, block.lineno) from None
    return cell


def _syntax_error(path: Path, source: str, first_line: int) -> GalleryError:
    if source.startswith("\ufeff"):
        text, remedy = "a byte order mark at the start of the file", "save it in UTF-8 without one"
        return GalleryError(text, path=path, line=1, remedy=remedy)
    try:
        ast.parse(source)
    except SyntaxError as error:
        line = first_line - 1 + (error.lineno or 1)
        return GalleryError(
            f"syntax error: {error.msg}", path=path, line=line, remedy="mend the code"
        )
    return GalleryError("this code cannot be parsed", path=path, line=first_line, remedy="mend it")
