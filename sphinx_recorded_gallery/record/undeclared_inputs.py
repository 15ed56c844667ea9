"""Find files beside an example that its code names, and that it runs without.

An example runs in an empty folder with the files that its line ``# sphinx_gallery_inputs`` names.
Code that opens a missing file may fail, or take it for an empty one without a word.
"""

import ast
import json
from collections.abc import Sequence
from pathlib import PurePosixPath

from ..recipes.recipe import Recipe

_LONGEST_NAME = 255  # characters
_NO_INPUTS = (".py", ".ipynb", ".html")  # such a file would replace a page or a download


def find_undeclared(recipe: Recipe) -> list[str]:
    """Return the files beside an example that a string in its code names, in order, each once."""
    declared = recipe.settings.get("inputs", [])
    names: dict[str, None] = {}
    for cell in recipe.cells:
        nodes = ast.walk(ast.parse(cell.code))
        constants = [node for node in nodes if isinstance(node, ast.Constant)]
        for constant in sorted(constants, key=lambda node: (node.lineno, node.col_offset)):
            name = constant.value
            if isinstance(name, str) and name not in declared and _is_beside(recipe, name):
                names[name] = None
    return list(names)


def _is_beside(recipe: Recipe, name: str) -> bool:
    """Return whether a name is that of a file which may be declared as an input."""
    if not name.isprintable() or not 0 < len(name) <= _LONGEST_NAME:
        return False
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or path.suffix in _NO_INPUTS:
        return False
    return (recipe.path.parent / name).is_file()


def suggest_inputs(names: Sequence[str]) -> str:
    """Return the remedy for files that an example needs: a line for it to add."""
    return f"add a line to the example: # sphinx_gallery_inputs = {json.dumps(names)}"
