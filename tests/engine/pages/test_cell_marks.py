"""Which node of a page shows which cell of its recipe: marked once, asked by all."""

from pathlib import Path

import pytest
from docutils import nodes

from recipe_gallery.cell_marks import OUTPUT_CLASS, code_of_cells, mark_cells
from recipe_gallery.recipes.recipe import Recipe, load_recipe

TEXT = '''"""
Title
=====

Text.
"""

# sphinx_gallery_cell_timeout = 60
a = 1

# %%
# More.

b = 2

# %%

c = 3
'''


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    path = tmp_path / "some.py"
    path.write_text(TEXT)
    return load_recipe(path)


def boundary(line: int) -> nodes.comment:
    text = f"GENERATED FROM PYTHON SOURCE LINES {line}-{line + 2}"
    return nodes.comment("", text)


def code(text: str) -> nodes.literal_block:
    return nodes.literal_block(text, text)


def output(text: str) -> nodes.container:
    return nodes.container("", code(text), classes=[OUTPUT_CLASS])


def page(*parts: nodes.Node) -> nodes.document:
    document = nodes.document(None, None)  # type: ignore[arg-type]
    document += parts
    return document


def test_each_cell_is_marked_with_its_number_and_line(recipe: Recipe) -> None:
    first, text, second, third = (block.lineno for block in recipe.blocks[1:])
    document = page(
        code("in the docstring"),
        *(boundary(first), code("a = 1"), code("no cell's")),
        *(boundary(text), code("an example"), boundary(second), code("b = 2")),
        *(boundary(third), code("c = 3")),
    )
    mark_cells(document, recipe)
    marks = [
        tuple(node.get(f"recipe_{name}") for name in ("block", "cell", "line"))
        for node in document.children
    ]
    assert marks == [
        (None, None, None),
        (1, None, first),
        (None, 1, 9),  # the setting above is no line of code
        (None, None, None),
        (2, None, text),
        (None, None, None),
        (3, None, second),
        (None, 2, 14),
        (4, None, third),
        (None, 3, 18),
    ]
    assert [block.astext() for block in code_of_cells(document)] == ["a = 1", "b = 2", "c = 3"]


def test_a_comment_that_looks_like_a_boundary_is_none(recipe: Recipe) -> None:
    first, text = (block.lineno for block in recipe.blocks[1:3])
    own = boundary(3)
    document = page(own, boundary(first), boundary(first), code("a = 1"), boundary(text))
    mark_cells(document, recipe)
    assert "recipe_block" not in own
    assert [node.get("recipe_block") for node in document.findall(nodes.comment)] == [
        *(None, 1, None, 2)
    ]
    assert [block["recipe_cell"] for block in code_of_cells(document)] == [1]


def test_subclasses_of_a_block_of_code_are_not_the_code(recipe: Recipe) -> None:
    class helper(nodes.literal_block):  # noqa: N801
        pass

    document = page(boundary(recipe.blocks[1].lineno), helper("", "a comment"), code("a = 1"))
    mark_cells(document, recipe)
    assert [block.astext() for block in code_of_cells(document)] == ["a = 1"]


def test_spaces_that_the_way_over_restructuredtext_takes_or_adds_are_put_right(
    recipe: Recipe,
) -> None:
    document = page(boundary(recipe.blocks[1].lineno), code(" a  =\n   1"))
    mark_cells(document, recipe)
    [block] = code_of_cells(document)
    assert (block.astext(), block.rawsource) == ("a = 1", "a = 1")


def test_code_that_is_another_stays(recipe: Recipe) -> None:
    document = page(boundary(recipe.blocks[1].lineno), code("a = 2"))
    mark_cells(document, recipe)
    [block] = code_of_cells(document)
    assert (block.astext(), block.rawsource) == ("a = 2", "a = 2")
