"""Recipes: the Python files in Sphinx-Gallery's form that the site is made of.

A recipe is split into text and code blocks by Sphinx-Gallery's own parser, so that what is
recorded, rendered and downloaded is cut at the same places.
"""

import hashlib
import re
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from docutils.utils import column_width
from sphinx.errors import ExtensionError
from sphinx_gallery import py_source_parser
from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError
from ..project import file_state
from .cell import Cell, is_blank, make_cells
from .fingerprint import find_imports, fingerprint_modules
from .inline import find_candidates
from .settings import read_settings, without_notes
from .syntax import syntax_error

# A build asks when it makes, reads and writes a page, and for cards: all pages lie in between. One
# is about 150 kB, and is parsed in 40 ms. By path, name and states of its files.
PARSED: dict[tuple[Path, str, object], "Recipe"] = {}
MOST_PARSED = 2000
_UNDERLINE = re.compile(r"([!-/:-@\[-`{-~])\1*")


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
        cells = (cell for cell in self.cells if cell.source)
        return [(block, next(cells) if block.type == "code" else None) for block in self.blocks]

    @property
    def modules(self) -> list[Path]:
        """The modules beside it whose source it shows as a cell."""
        return [cell.inlined.path for cell in self.cells if cell.inlined]

    @property
    def files(self) -> list[Path]:
        """All that it is made of, itself first; packages, too, and where a module would be."""
        modules = self._imported
        packages = {each for name in modules for each in PurePosixPath(name).parents if each.name}
        names = [*self.settings.get("inputs", []), *modules, *sorted(packages)]
        return [self.path, *self.modules, *(self.path.parent / name for name in names)]

    @property
    def inputs(self) -> dict[str, str]:
        """SHA-256 (hex) of each declared file and imported module, by its path from the recipe."""
        declared = {name: self._hash_input(name) for name in self.settings.get("inputs", [])}
        return declared | {name: found for name, found in self._imported.items() if found}

    @property
    def _imported(self) -> dict[str, str]:
        code = "\n".join(cell.code for cell in self.cells)
        return fingerprint_modules(find_imports(code), self.path.parent)

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


def load_recipe(path: Path, name: str = "") -> Recipe:
    """Parse one recipe; raise ``GalleryError`` naming the file and line if it cannot be used.

    ``name`` is that of its recording; if it is empty, the file's name without its ending.
    """
    state = file_state(path)
    modules = tuple(map(file_state, find_candidates(path, state)))
    key = path, name or path.stem, (state, modules)
    if key not in PARSED:
        if len(PARSED) >= MOST_PARSED:
            PARSED.clear()
        PARSED[key] = _parse(path, name or path.stem)
    return PARSED[key]


def _parse(path: Path, name: str) -> Recipe:
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
        cells=tuple(make_cells(path, blocks)),
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
            raise syntax_error(path, path.read_text(encoding="utf-8"), 1)
        return blocks
    except OSError as error:
        text, line, remedy = f"cannot be read: {error.strerror}", None, "mend or remove it"
    except UnicodeDecodeError as error:
        text, line, remedy = f"cannot be read: {error}", None, "save the file in UTF-8"
    except (SyntaxError, ValueError) as error:  # an unknown encoding or a null byte, for two
        text, remedy = f"cannot be parsed: {getattr(error, 'msg', error)}", "mend the file"
    except (RecursionError, MemoryError):
        text, line = "cannot be parsed: nested too deeply", None
        remedy = "write it in shorter steps"
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
