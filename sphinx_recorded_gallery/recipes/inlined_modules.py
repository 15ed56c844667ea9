"""Inlining: the source of a module beside a recipe replaces the cell that imports it.

A cell with nothing but ``from _module import ...`` shows and runs that module's source. So page,
notebook and script each stand alone, while the source is written once. Run as a script, the recipe
imports the module. Such a cell is folded under the module's first sentence, unless a mark says
otherwise.
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
    """A module as a cell shows it: from its first line of code or comments on."""

    path: Path
    line: int  # of the module, where ``source`` starts
    source: str
    summary: str  # the first paragraph of its docstring, on one line; it may be empty

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that its top-level code reads or binds."""
        return frozenset(symtable.symtable(self.source, self.path.name, "exec").get_identifiers())


def inline(path: Path, block: Block) -> Inlined | None:
    """Return the module that replaces a block of code in the recipe ``path``; None if none does.

    Raises ``GalleryError`` if the imports or the module cannot become a cell.
    """
    try:
        statements = ast.parse(block.content).body
    except (SyntaxError, ValueError):
        return None  # reported when the cell is made
    imports = [statement for statement in statements if _is_private_import(statement)]
    if not imports or len(imports) < len(statements):
        return None

    modules = {path.with_name(f"{node.module}.py") for node in imports}
    if not all(module.is_file() for module in modules):
        return None

    def error(text: str, remedy: str) -> GalleryError:
        line = block.lineno + imports[-1].lineno - 1
        return GalleryError(text, path=path, line=line, remedy=remedy)

    if len(modules) > 1:
        raise error("a cell inlines one module", "give each a cell of its own")
    module = modules.pop()
    inlined = _read_module(module, file_state(module))
    for node in imports:
        for name in node.names:
            if name.asname not in (None, name.name):
                text = f"{name.name} would not be called {name.asname} in the inlined code"
                raise error(text, "import it by its own name")
    if not inlined.source:
        raise error(f"{inlined.path.name} has no code", "remove the cell")
    return inlined


def find_rebound(inlined: Inlined, code: str) -> list[str]:
    """Return the names of an inlined module to which other code of the recipe assigns.

    On the page both are one program, so the module's functions would find the new value.
    """
    rebound = []
    for symbol in symtable.symtable(code, "cell", "exec").get_symbols():
        if symbol.is_assigned() and symbol.get_name() in inlined.names:
            rebound.append(symbol.get_name())
    return rebound


def _is_private_import(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    """Return whether a statement is ``from _module import ...``."""
    if not isinstance(node, ast.ImportFrom) or node.level:
        return False
    return bool(re.fullmatch(r"_\w+", node.module or ""))


@lru_cache(maxsize=64)  # recipes share a module; reading it takes 30 ms
def _read_module(path: Path, _state: object) -> Inlined:
    """Return a module as a cell shows it."""
    text, tree = parse_module(path)
    for node in ast.walk(tree):
        if _is_private_import(node) and path.with_name(f"{node.module}.py").is_file():
            problem = f"it imports from {node.module}.py, which a cell would not find"
            remedy = "move the needed code into it"
            raise GalleryError(problem, path=path, line=node.lineno, remedy=remedy)
    for node in tree.body:
        code = ast.unparse(node.test if isinstance(node, ast.If) else node)
        if re.match(r"from __future__|.*__name__ ==", code):  # has another effect in a cell
            problem = "a module that an example inlines may hold only functions and constants"
            remedy = "move this code to the example or to another module"
            raise GalleryError(problem, path=path, line=node.lineno, remedy=remedy)
    refuse_unseen(path, text, 1)
    rows = text.split("\n")
    start = 0
    if ast.get_docstring(tree, clean=False) is not None:
        start = tree.body[0].end_lineno or 0
    while start < len(rows) and not rows[start].strip():
        start += 1
    source = "\n".join(rows[start:]).rstrip()
    docstring = ast.get_docstring(tree) or ""
    first_paragraph, _blank, _rest = docstring.partition("\n\n")
    summary = " ".join(first_paragraph.split()).removesuffix(".")
    return Inlined(path=path, line=start + 1, source=source, summary=summary)
