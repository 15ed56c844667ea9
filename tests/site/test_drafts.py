"""Recipes that wait for a recording: nobody sees them yet, and they are recipes."""

import ast
import re
from pathlib import Path

import pytest

from gallery import ROOT
from recipe_gallery.recipes.recipe import load_recipe

FOLDER = ROOT / "drafts"
DRAFTS = [path for path in sorted(FOLDER.glob("*.py")) if not path.name.startswith("_")]
# Lines of code in sight, without empty ones: a reader is no compiler.
MOST = {"where_time_goes": 80, "compiling_optimizer": 110, "regional_compilation": 160}


@pytest.mark.parametrize("path", DRAFTS, ids=lambda path: path.stem)
def test_a_draft_is_a_recipe_with_little_code_in_sight(path: Path) -> None:
    seen = [cell for cell in load_recipe(path).cells if not cell.fold]
    lines = [line for cell in seen for line in cell.source.splitlines() if line.strip()]
    assert len(lines) <= MOST.get(path.stem, 150)


@pytest.mark.parametrize("path", DRAFTS, ids=lambda path: path.stem)
def test_each_claim_of_a_draft_is_computed_and_each_that_is_computed_is_made(path: Path) -> None:
    recipe = load_recipe(path)
    texts = [block.content for block in recipe.blocks if block.type == "text"]
    made = set(re.findall(r":claim:`[^`]*<([\w-]+)>`", "\n".join(texts)))
    calls = [
        node
        for cell in recipe.cells
        for node in ast.walk(ast.parse(cell.code))
        if isinstance(node, ast.Call) and node.args and "claim" in ast.unparse(node.func)
    ]
    keys = {call.args[0].value for call in calls if isinstance(call.args[0], ast.Constant)}
    assert made == keys
