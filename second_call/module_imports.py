"""Imports of what lies beside the recipes that fail, run a recipe, or lack code in downloads.

A cell with nothing but ``from _module import ...`` shows and runs the source of that module, on the
page and in downloads (CONTRIBUTING.md). Any other import of it works beside the file alone.
``recorded-gallery check`` tells the author, and ``make record`` before it records: mending it
changes code.
"""

import ast
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from sphinx_gallery.py_source_parser import Block

from sphinx_recorded_gallery.api import GalleryError

from .near_names import find_near


def find_lost_imports(path: Path, blocks: Sequence[Block]) -> Iterator[GalleryError]:
    """Yield imports of recipes and of modules that there are not, and the first one that is lost.

    Downloads would lack the module of the latter, which is looked for in each cell. ``blocks`` are
    those of the recipe; what Python cannot read of them is told with the recipe.
    """
    for block in blocks:
        if block.type != "code":
            continue
        statements = ast.parse(block.content).body
        yield from _find_recipes(path, block.lineno, statements)
        yield from _find_missing(path, block.lineno, statements)
        if all(_is_shown(statement) for statement in statements):
            continue
        for node in ast.walk(ast.Module(statements, [])):
            if not isinstance(node, ast.Import | ast.ImportFrom):
                continue
            module = _find_module(node, path.parent)
            if not module:
                continue
            yield GalleryError(
                f"downloads would lack {module}.py, which this cell imports beside other code",
                path=path,
                line=block.lineno + node.lineno - 1,
                remedy=f"write from {module} import ... in a cell of its own, which shows its code",
            )
            break


def find_in_helper(path: Path) -> Iterator[GalleryError]:
    """Yield the imports in a module beside the recipes of another one there, or of none.

    A cell shows the module alone, so that downloads would lack the other.
    """
    try:
        tree = ast.parse(path.read_text(encoding="utf-8"))
    except (OSError, SyntaxError, ValueError):
        return  # told with the recipe that shows it
    yield from _find_recipes(path, 1, tree.body)
    yield from _find_missing(path, 1, tree.body)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import):
            continue  # ``from _module import`` is refused where a recipe is read
        module = _find_module(node, path.parent)
        if module:
            yield GalleryError(
                f"downloads would lack {module}.py, which this module imports",
                path=path,
                line=node.lineno,
                remedy="move the needed code into it",
            )


def _find_recipes(path: Path, line: int, statements: list[ast.stmt]) -> Iterator[GalleryError]:
    """Yield the imports, below ``line`` of a file, of other recipes, which would run whole."""
    for node in ast.walk(ast.Module(statements, [])):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in _list_names(node):
            if name.startswith("_") or not (path.parent / f"{name}.py").is_file():
                continue
            yield GalleryError(
                f"{name} is a recipe, and importing it runs it whole",
                path=path,
                line=line + node.lineno - 1,
                remedy="move the code that both need to a module beside them, such as _shared.py",
            )


def _find_missing(path: Path, line: int, statements: list[ast.stmt]) -> Iterator[GalleryError]:
    """Yield the imports, below ``line`` of a file, of private modules that are nowhere.

    So is a misspelt module beside the recipes; Python and packages have private modules, too.
    """
    for node in ast.walk(ast.Module(statements, [])):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        for name in _list_names(node):
            if not name.startswith("_") or name.startswith("__"):
                continue
            is_beside = any((path.parent / file).exists() for file in (name, f"{name}.py"))
            if is_beside or find_spec(name):
                continue
            modules = [module.stem for module in sorted(path.parent.glob("_*.py"))]
            near_module = find_near(name, modules)
            remedy = f"did you mean {near_module}?" if near_module else f"write {name}.py"
            text = f"no module {name} is beside the recipes"
            yield GalleryError(text, path=path, line=line + node.lineno - 1, remedy=remedy)


def _list_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the modules or packages that an import is of, without those inside of packages."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    else:
        names = [node.module or ""]
    return [name.partition(".")[0] for name in names]


def _is_shown(statement: ast.stmt) -> bool:
    """Return whether a cell of such statements shows and runs the code of their module."""
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("_")


def _find_module(node: ast.Import | ast.ImportFrom, folder: Path) -> str:
    """Return the module in a folder that an import is of; empty if it is none of those."""
    for name in _list_names(node):
        if name.startswith("_") and (folder / f"{name}.py").is_file():
            return name
    return ""
