"""Inlining: the source of a module beside a recipe takes the place of the cell that imports it.

A cell with nothing but ``from _module import ...`` shows and runs that module's source, so that
page, notebook and script each stand alone and the source stands once. As a script the recipe
imports it. Such a cell is folded below the module's first sentence, unless a mark says otherwise.
"""

import ast
import re
import symtable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TypeGuard

from sphinx_gallery.py_source_parser import Block

from ..errors import GalleryError
from ..project import file_state
from .fingerprint import parse_module, refuse_unseen


@dataclass(frozen=True, kw_only=True)
class Inlined:
    """A module as a cell has it: without what stands above its first line of code or comments."""

    path: Path
    line: int  # of the module, where source starts
    source: str
    summary: str  # the first paragraph of its docstring, on one line; it may be empty

    @cached_property
    def names(self) -> frozenset[str]:
        """What its outermost code reads or binds."""
        return frozenset(symtable.symtable(self.source, self.path.name, "exec").get_identifiers())


def inline(path: Path, block: Block) -> Inlined | None:
    """Return what takes the place of a block of code in the recipe ``path``, or None.

    Raises ``GalleryError`` for imports or a module of which no cell can be made.
    """
    try:
        statements = ast.parse(block.content).body
    except (SyntaxError, ValueError):
        return None  # making the cell tells it
    imports = [each for each in statements if _is_private_import(each)]
    if not imports or len(imports) < len(statements):
        return None

    modules = {path.with_name(f"{node.module}.py") for node in imports}
    if not all(module.is_file() for module in modules):
        return None

    def wrong(text: str, remedy: str) -> GalleryError:
        line = block.lineno + imports[-1].lineno - 1
        return GalleryError(text, path=path, line=line, remedy=remedy)

    if len(modules) > 1:
        raise wrong("a cell inlines one module", "give each a cell of its own")
    module = modules.pop()
    inlined = _read_module(module, file_state(module))
    if renamed := [
        name for node in imports for name in node.names if name.asname not in (None, name.name)
    ]:
        text = f"{renamed[0].name} would not be called {renamed[0].asname} in the inlined code"
        raise wrong(text, "import it by its own name")
    if not inlined.source:
        raise wrong(f"{inlined.path.name} has no code", "remove the cell")
    return inlined


def find_rebound(inlined: Inlined, code: str) -> list[str]:
    """Return the names of an inlined module that other code of the recipe binds to something else.

    Both are one program on the page, so the module's functions would find the new value.
    """
    found = symtable.symtable(code, "cell", "exec").get_symbols()
    bound = (each.get_name() for each in found if each.is_assigned())
    return [name for name in bound if name in inlined.names]


def _is_private_import(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    name = node.module or "" if isinstance(node, ast.ImportFrom) and not node.level else ""
    return bool(re.fullmatch(r"_\w+", name))


@lru_cache(maxsize=64)  # recipes have one in common; reading it takes 30 ms
def _read_module(path: Path, _state: object) -> Inlined:
    """Return a module as a cell has it."""
    text, tree = parse_module(path)
    for node in ast.walk(tree):
        if _is_private_import(node) and path.with_name(f"{node.module}.py").is_file():
            problem = f"it imports from {node.module}.py, which would be missing in a cell"
            remedy = "move what it needs into it, or import the module as a whole"
            raise GalleryError(problem, path=path, line=node.lineno, remedy=remedy)
    for node in tree.body:
        code = ast.unparse(node.test if isinstance(node, ast.If) else node)
        if re.match(r"from __future__|.*__name__ ==", code):  # means something else in a cell
            problem = "a module that a recipe inlines holds functions and constants"
            remedy = "move what stands here to the recipe or to another module"
            raise GalleryError(problem, path=path, line=node.lineno, remedy=remedy)
    refuse_unseen(path, text, 1)
    rows = text.split("\n")
    start = 0
    if ast.get_docstring(tree, clean=False) is not None:
        start = tree.body[0].end_lineno or 0
    while start < len(rows) and not rows[start].strip():
        start += 1
    source = "\n".join(rows[start:]).rstrip()
    summary = " ".join((ast.get_docstring(tree) or "").partition("\n\n")[0].split())
    return Inlined(path=path, line=start + 1, source=source, summary=summary.removesuffix("."))
