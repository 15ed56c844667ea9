"""Inlining: the source of a module beside a recipe takes the place of the cell that imports it.

A cell with nothing but ``from _module import ...`` shows and runs that module's source, so that
page, notebook and script each stand alone and the source stands once. As a script the recipe
imports it.
"""

import ast
import re
import symtable
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TypeGuard

from sphinx_gallery.py_source_parser import INFILE_CONFIG_PATTERN, Block

from ..errors import GalleryError
from .syntax import refuse_unseen, syntax_error

_IMPORT = re.compile(r"^[ \t]*from\s+(_\w+)\s+import\b", re.MULTILINE)
_NEW_CELL = re.compile(r"^# ?%%", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Inlined:
    """A module as a cell has it: without what stands above its first line of code or comments."""

    path: Path
    line: int  # of the module, where source starts
    source: str


@lru_cache(maxsize=10_000)  # a few paths each
def find_candidates(path: Path, _state: object) -> list[Path]:
    """Return the modules that a recipe may inline, by a look at its text; they need not exist.

    What was found is kept while the file has the same state.
    """
    try:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
    except (OSError, ValueError):
        return []  # reading the recipe tells it
    return [path.with_name(f"{name}.py") for name in sorted(set(_IMPORT.findall(text)))]


def inline(path: Path, block: Block) -> Inlined | None:
    """Return what takes the place of a block of code in the recipe ``path``, or None.

    Raises ``GalleryError`` for imports or a module of which no cell can be made.
    """
    if not _IMPORT.search(block.content):
        return None  # most have none, and candidates are found so, too
    try:
        statements = ast.parse(block.content).body
    except (SyntaxError, ValueError):
        return None  # making the cell tells it
    imports = [each for each in statements if _is_private_import(each)]
    if not imports or len(imports) < len(statements):
        return None
    modules = {str(each.module): path.with_name(f"{each.module}.py") for each in imports}
    for node in imports:
        module = modules[str(node.module)]
        if not (module.is_file() or module.with_suffix("").is_dir() or _is_installed(module.stem)):
            _refuse(path, block, node, f"no module {module.name} beside it", "correct the name")
    beside = [module for module in modules.values() if module.is_file()]
    if len(beside) < len(modules) or not beside:
        return None
    if len(beside) > 1:
        remedy = "give each a cell of its own"
        _refuse(path, block, imports[-1], "a cell inlines one module", remedy)
    inlined = _read_module(beside[0])
    _check_names(path, block, imports, inlined)
    if not inlined.source:
        _refuse(path, block, imports[0], f"{inlined.path.name} has no code", "remove the cell")
    return inlined


def _is_private_import(node: ast.AST) -> TypeGuard[ast.ImportFrom]:
    name = node.module or "" if isinstance(node, ast.ImportFrom) and not node.level else ""
    return bool(re.fullmatch(r"_\w+", name))


def _is_installed(name: str) -> bool:
    try:
        return name in sys.stdlib_module_names or find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _refuse(path: Path, block: Block, node: ast.stmt, text: str, remedy: str) -> None:
    raise GalleryError(text, path=path, line=block.lineno + node.lineno - 1, remedy=remedy)


def _check_names(path: Path, block: Block, imports: list[ast.ImportFrom], inlined: Inlined) -> None:
    """Raise an error for names that the inlined code would not have."""
    try:
        symbols = symtable.symtable(inlined.source, inlined.path.name, "exec").get_symbols()
    except SyntaxError as error:  # of names, which parsing does not look at
        line = inlined.line - 1 + (error.lineno or 1)
        text, remedy = f"syntax error: {error.msg}", "mend the code"
        raise GalleryError(text, path=inlined.path, line=line, remedy=remedy) from None
    known = {each.get_name() for each in symbols if each.is_assigned() or each.is_imported()}
    for node in imports:
        for alias in node.names:
            if alias.asname not in (None, alias.name):
                text = f"{alias.name} would not be called {alias.asname} in the inlined code"
                _refuse(path, block, node, text, "import it by its own name")
            if alias.name not in {*known, "*"}:
                text = f"{inlined.path.name} has no {alias.name}"
                _refuse(path, block, node, text, "correct the name")


def _read_module(path: Path) -> Inlined:
    try:
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
    except (OSError, UnicodeDecodeError) as error:
        raise GalleryError(f"cannot be read: {error}", path=path, remedy="mend it") from None
    except SyntaxError:
        raise syntax_error(path, text, 1) from None
    except (ValueError, RecursionError, MemoryError) as error:
        text = f"cannot be parsed: {error or 'nested too deeply'}"
        raise GalleryError(text, path=path, remedy="mend the code") from None
    for line, problem, remedy in _find_problems(path, text, tree):
        raise GalleryError(
            f"{problem}, and a recipe inlines it", path=path, line=line, remedy=remedy
        )
    rows = text.split("\n")
    for number, row in enumerate(rows, 1):
        refuse_unseen(path, row, number)
    start = 0
    if ast.get_docstring(tree, clean=False) is not None:
        start = tree.body[0].end_lineno or 0
    while start < len(rows) and not rows[start].strip():
        start += 1
    return Inlined(path=path, line=start + 1, source="\n".join(rows[start:]).rstrip())


def _find_problems(path: Path, text: str, tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Yield why a module cannot be a cell: line, reason and what to do."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "__future__":
            yield node.lineno, "'from __future__' works on top of a file only", "remove the line"
        elif _is_private_import(node) and path.with_name(f"{node.module}.py").is_file():
            remedy = "move what it needs into it, or import the module as a whole"
            yield node.lineno, f"it imports from {node.module}.py, which would be missing", remedy
        elif isinstance(node, ast.Name) and node.id == "__name__" and _asks_for_main(tree, node):
            yield node.lineno, "in a notebook it is '__main__'", "move this part to another file"
    for node in tree.body:
        if isinstance(node, ast.Assign) and "__all__" in map(ast.unparse, node.targets):
            yield node.lineno, "__all__ means nothing in a cell", "remove it"
    for pattern, problem, remedy in (
        (
            INFILE_CONFIG_PATTERN,
            "it has a sphinx_gallery_ setting",
            "set it in the cell that imports",
        ),
        (_NEW_CELL, "this line would begin another cell", "write the comment without %%"),
    ):
        if match := pattern.search(text):
            yield text.count("\n", 0, match.start()) + 1, problem, remedy


def _asks_for_main(tree: ast.Module, name: ast.Name) -> bool:
    return any(isinstance(each, ast.If) and name in ast.walk(each.test) for each in tree.body)
