"""Imports of modules beside the recipes that leave downloads without their code.

A cell with nothing but ``from _module import ...`` shows and runs the source of that module, on the
page and in downloads (CONTRIBUTING.md). Any other import of it works beside the file alone.
``recorded-gallery check`` tells the author. ``make record`` runs
``python -m second_call.module_imports FOLDER`` first: mending it changes code that is recorded.
"""

import ast
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from sphinx_gallery.py_source_parser import Block

from sphinx_recorded_gallery.api import GalleryError, load_recipes


def find_lost_imports(path: Path, blocks: Sequence[Block]) -> Iterator[GalleryError]:
    """Yield the first import in each cell of a recipe whose module its downloads would lack.

    ``blocks`` are those of the recipe; what Python cannot read of them is told with the recipe.
    """
    for block in blocks:
        if block.type != "code":
            continue
        statements = ast.parse(block.content).body
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


def _is_shown(statement: ast.stmt) -> bool:
    """Return whether a cell of such statements shows and runs the code of their module."""
    return isinstance(statement, ast.ImportFrom) and (statement.module or "").startswith("_")


def _find_module(node: ast.Import | ast.ImportFrom, folder: Path) -> str:
    """Return the module in a folder that an import is of; empty if it is none of those."""
    if isinstance(node, ast.ImportFrom):
        names = [node.module or ""]
    else:
        names = [alias.name for alias in node.names]
    for name in names:
        if name.startswith("_") and (folder / f"{name}.py").is_file():
            return name
    return ""


def find_all(folder: Path) -> Iterator[GalleryError]:
    """Yield such imports of all recipes in a folder, up to one that cannot be read."""
    for recipe in load_recipes(folder):
        yield from find_lost_imports(recipe.path, recipe.blocks)


if __name__ == "__main__":
    problems = []
    try:
        for problem in find_all(Path(sys.argv[1])):
            problems.append(problem)
    except GalleryError:
        pass  # recording tells of a recipe that cannot be read
    for problem in problems:
        print(f"error: {problem}", file=sys.stderr)
    sys.exit(bool(problems))
