"""The blocks of a recipe on its page: where each starts, and which nodes are its code."""

import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes

from ..project import GalleryError
from .recipe import Cell, load_recipe

# Wraps all a cell put out; the notebook writer takes these from the recording instead of the page.
OUTPUT_CLASS = "recorded-output"
# What recipes print and publish: data in the language of their code, whatever the site's.
DATA_CLASS = "recorded-data"
_BOUNDARY = re.compile(r"GENERATED FROM PYTHON SOURCE LINES (\d+)-(\d+)")


def is_boundary(node: nodes.Node) -> bool:
    """Tell the comment that Sphinx-Gallery writes before each block, but not before the title."""
    return isinstance(node, nodes.comment) and _BOUNDARY.fullmatch(node.astext()) is not None


def first_line(node: nodes.comment) -> int:
    """Return the line of the recipe where the block behind this boundary starts."""
    match = _BOUNDARY.fullmatch(node.astext())
    assert match
    return int(match[1])


def code_blocks(
    document: nodes.document, source: Path
) -> Iterator[tuple[Cell, nodes.literal_block]]:
    """Yield each code cell of a recipe with the node that shows its code."""
    try:
        recipe = load_recipe(source)
    except GalleryError:
        return  # replaying has said what is wrong
    cells = iter(recipe.cells)
    kinds = iter([block.type for block in recipe.blocks[1:]])
    waiting: Cell | None = None
    pairs = []
    for node in document.findall(lambda n: is_boundary(n) or isinstance(n, nodes.literal_block)):
        if isinstance(node, nodes.comment):
            waiting = next(cells, None) if next(kinds, None) == "code" else None
        elif waiting and type(node) is nodes.literal_block and not _is_output(node):
            pairs.append((waiting, node))
            waiting = None
    yield from pairs


def _is_output(node: nodes.Node) -> bool:
    parent = node.parent
    return isinstance(parent, nodes.container) and OUTPUT_CLASS in parent["classes"]
