"""Recipes: the Python files in Sphinx-Gallery's form that the site is made of.

A recipe is split into text and code blocks by Sphinx-Gallery's own parser, so that what is
recorded, rendered and downloaded is cut at the same places. Its settings are comment lines of the
form ``# sphinx_gallery_<name> = <value>``, which Sphinx-Gallery removes from the page:

``cell_timeout``
    Seconds one cell may take while it is recorded.
``deadline``
    Seconds the whole recipe may take.
``inputs``
    A list of local files, relative to the recipe, that its code reads.
``alt``
    In a code cell: what its figure shows, for those who cannot see it. One line per figure.
``raises``
    In a code cell: the name of the exception the cell is meant to end in. Jupyter goes on after it,
    a script ends there, so such a cell comes last or its code catches the exception instead.
"""

import ast
import hashlib
import math
import re
import tokenize
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path, PurePosixPath
from typing import Any

from sphinx.errors import ExtensionError
from sphinx_gallery import gen_rst, py_source_parser
from sphinx_gallery.py_source_parser import Block

from ..project import GalleryError
from .fingerprint import combine, fingerprint_code

_OWN_SETTINGS = {"cell_timeout", "deadline", "inputs", "alt", "raises"}
_GALLERY_SETTINGS = {
    "capture_repr",
    "failing_thumbnail",
    "ignore_repr_types",
    "line_numbers",
    "tags",
    "thumbnail_number",
    "thumbnail_path",
}


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A code block as a reader sees it: Sphinx-Gallery's settings removed."""

    number: int  # counted from 1 among the code cells of the recipe
    line: int  # of the recipe, where the visible code starts
    source: str
    alt: tuple[str, ...] = ()
    raises: str | None = None

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code alone, and of the exception it is meant to end in."""
        code = fingerprint_code(self.source)
        return combine([code, self.raises]) if self.raises else code


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """One file of recipes_source/, parsed."""

    path: Path
    name: str  # of its recording: the path below its gallery, without its ending
    title: str
    summary: str  # the first paragraph below the title, on one line; it may be empty
    blocks: tuple[Block, ...]
    cells: tuple[Cell, ...]
    settings: dict[str, Any]

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the code of all cells."""
        return combine(cell.fingerprint for cell in self.cells)

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
                    f"{self.path}: input {name!r} is not a file below {self.path.parent}; "
                    "correct the line '# sphinx_gallery_inputs'"
                )
            if relative.suffix in (".py", ".ipynb", ".html"):
                raise GalleryError(
                    f"{self.path}: input {name!r} would take the place of a page or a download; "
                    "give it another ending"
                )
            hashes[name] = hashlib.sha256(file.read_bytes()).hexdigest()
        return hashes


def is_blank(block: Block) -> bool:
    """Tell whether a code block holds nothing but settings, which leave no code to show or run."""
    return block.type == "code" and not _visible(block.content).strip()


def load_recipe(path: Path, name: str = "") -> Recipe:
    """Parse one recipe; raise ``GalleryError`` naming the file and line if it cannot be used.

    Without ``name`` it is called as its file.
    """
    try:
        state = path.stat()
    except OSError as error:
        raise GalleryError(f"{path}: cannot be read: {error}") from None
    recipe = _load_recipe(path, state.st_mtime_ns, state.st_size)
    return replace(recipe, name=name) if name else recipe


@lru_cache(maxsize=128)  # galleries may be large, and most askers ask for the page at hand
def _load_recipe(path: Path, mtime_ns: int, size: int) -> Recipe:
    """Parse a recipe once in a build, which asks for it when reading and when writing its page."""
    try:
        settings, all_blocks, tree = py_source_parser.split_code_and_text_blocks(
            path, return_node=True
        )
    except (OSError, UnicodeDecodeError) as error:
        raise GalleryError(f"{path}: cannot be read: {error}") from None
    except SyntaxError as error:  # an unknown encoding, for one
        raise GalleryError(f"{path}:1: cannot be parsed: {error.msg}; mend the file") from None
    except ExtensionError:
        raise GalleryError(
            f"{path}:1: no docstring; start the recipe with one that holds its title"
        ) from None
    if tree is None:
        raise _syntax_error(path, path.read_text(encoding="utf-8"), 1)
    try:
        _, title = gen_rst.extract_intro_and_title(path.name, all_blocks[0].content)
    except ExtensionError:
        raise GalleryError(
            f"{path}:1: no title; start the docstring with one, underlined with ===="
        ) from None
    _check_settings(path, settings)
    for block in all_blocks:
        misplaced = re.search(r"^\s*sphinx_gallery_\w+ *=", block.content, re.MULTILINE)
        if block.type == "text" and misplaced:
            line = block.lineno + block.content.count("\n", 0, misplaced.start())
            raise GalleryError(
                f"{path}:{line}: a sphinx_gallery_ setting in a block of text; "
                "leave an empty line between '# %%' and it"
            )
    try:
        blocks = tuple(block for block in all_blocks if not is_blank(block))
    except ExtensionError as error:
        raise GalleryError(f"{path}: {error}") from None
    code_blocks = [block for block in blocks if block.type == "code"]
    cells = tuple(_make_cell(path, number, block) for number, block in enumerate(code_blocks, 1))
    return Recipe(
        path=path,
        name=path.name.removesuffix(".py"),
        title=title,
        summary=_find_summary(all_blocks[0].content, title),
        blocks=blocks,
        cells=cells,
        settings=settings,
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


def _make_cell(path: Path, number: int, block: Block) -> Cell:
    source = _visible(block.content).strip("\n")
    if "\t" in source:
        raise GalleryError(f"{path}:{block.lineno}: a tab in the code below; use spaces")
    lines = block.content.splitlines()
    first = next(index for index, line in enumerate(lines) if _visible(line + "\n").strip())
    cell = Cell(
        number=number,
        line=block.lineno + first,
        source=source,
        alt=tuple(_cell_settings(path, block, "alt")),
        raises=next(iter(_cell_settings(path, block, "raises")), None),
    )
    try:
        ast.parse(source)
        _ = cell.fingerprint
    except (SyntaxError, tokenize.TokenError):
        raise _syntax_error(path, block.content, block.lineno) from None
    return cell


def _cell_settings(path: Path, block: Block, name: str) -> list[str]:
    values = []
    for match in re.finditer(
        rf"^[ \t]*#\s*sphinx_gallery_{name}\s*=(.*)$", block.content, re.MULTILINE
    ):
        try:
            value = ast.literal_eval(match.group(1).strip())
        except (SyntaxError, ValueError):
            value = None
        if not isinstance(value, str) or "\n" in value:
            line = block.lineno + block.content.count("\n", 0, match.start())
            raise GalleryError(
                f"{path}:{line}: sphinx_gallery_{name} needs a string in quotes, on one line"
            )
        values.append(value)
    return values


def _check_settings(path: Path, settings: dict[str, Any]) -> None:
    unknown = sorted(settings.keys() - _OWN_SETTINGS - _GALLERY_SETTINGS)
    if unknown:
        raise GalleryError(
            f"{path}: unknown setting sphinx_gallery_{unknown[0]}; "
            f"there are: {', '.join(sorted(_OWN_SETTINGS))}, and Sphinx-Gallery's own"
        )
    for name in ("cell_timeout", "deadline"):
        value = settings.get(name, 1)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and 0 < value < math.inf):
            raise GalleryError(f"{path}: sphinx_gallery_{name} needs a number of seconds above 0")
    inputs = settings.get("inputs", [])
    if not isinstance(inputs, list) or not all(isinstance(name, str) for name in inputs):
        raise GalleryError(f'{path}: sphinx_gallery_inputs needs a list such as ["data.csv"]')


def _syntax_error(path: Path, source: str, first_line: int) -> GalleryError:
    try:
        ast.parse(source)
    except SyntaxError as error:
        line = first_line - 1 + (error.lineno or 1)
        return GalleryError(f"{path}:{line}: syntax error: {error.msg}; mend the code")
    return GalleryError(f"{path}:{first_line}: this code cannot be parsed; mend it")
