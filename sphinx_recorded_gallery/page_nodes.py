"""Which line and which cell of a recipe the nodes of its page are made from.

The parser is told the lines. Cells are marked by attributes right after a page was parsed, and all
later transforms go by these marks. HTML shows none of them:

``recipe_block``
    On the comment that Sphinx-Gallery writes before a block: index of it in ``Recipe.blocks``.
``recipe_cell``
    On the block of code of a cell: its number.
``recipe_fold``
    On such a block: what is shown in its place, empty if it is not folded.
``recipe_fold_output``
    On such a block: whether what the cell printed is folded with it.
``recipe_module``
    On the block of code of a cell that has the source of a module: path and line of that.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Parser as RSTParser
from docutils.statemachine import StringList, string2lines
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .recipes.find_recipes import find_file
from .recipes.recipe import Cell, Recipe
from .recipes.recorded_recipe import RecipePage, load_page

# Wraps all a cell put out; the notebook writer takes these from the recording instead of the page.
OUTPUT_CLASS = "recorded-output"
# A table that is drawn of rows, in the place of what the run itself has shown
MEASURED_TABLE_CLASS = "measured-table"
# What recipes print and publish: data in the language of their code, whatever the site's.
DATA_CLASS = "recorded-data"
DOWNLOADS_ONLY = "downloads_only"  # attribute of nodes that downloads have and pages do not
NOT_IN_HTML = "not_in_html"  # attribute of nodes that stand in the place of HTML in other formats
# What Sphinx-Gallery writes before each block but the first, with lines of the recipe
BOUNDARY = re.compile(r"GENERATED FROM PYTHON SOURCE LINES (\d+)-\d+")


class folded_cell(nodes.compound):  # noqa: N801 (docutils names nodes so)
    """The code of a folded cell, and what it printed if that is folded, too.

    Where nothing can be folded, its children are shown as they are.

    ``summary`` is what is shown in its place, in the language of the page; ``summary_classes`` tell
    the language where it is another.
    """


def read_lines_of_recipes(app: Sphinx) -> None:
    """Let messages about a recipe's page name the file and the lines of the recipe.

    The project's parser stays, whichever it is; it is given other lines for these pages.
    """
    parser = app.registry.get_source_parser("restructuredtext")
    if not issubclass(parser, RSTParser):
        return  # of which nobody knows whether it takes lines

    class RecipeLines(parser):  # type: ignore[misc, valid-type]
        def parse(self, inputstring: str | StringList, document: nodes.document) -> None:
            if isinstance(inputstring, str):
                inputstring = _name_lines(inputstring, document)
            super().parse(inputstring, document)

    app.add_source_parser(RecipeLines, override=True)


def _name_lines(text: str, document: nodes.document) -> str | StringList:
    """Return the lines of a page, each with file and line, from 0 on, of what it was made from.

    Pages that are not made from recipes are returned as they are.
    """
    env: BuildEnvironment = document.settings.env
    file = find_file(env.config, Path(env.srcdir), env.docname)
    if file is None:
        return text
    lines = string2lines(text, convert_whitespace=True)
    source = document["source"].replace(str(env.doc2path(env.docname)), str(file.path))
    # Sphinx reads each translation as a document, too: x.rst:7:<translated>
    page = None if source.endswith(":<translated>") else load_page(env, env.docname)
    numbers = _find_lines(page.recipe, lines) if page else range(len(lines))
    return StringList(lines, items=[(source, number) for number in numbers])


def _find_lines(recipe: Recipe, lines: Sequence[str]) -> Iterator[int]:
    """Yield the line of the recipe that each line of its page was made from, from 0 on.

    Of code that is where its block begins.
    """
    source = recipe.path.read_text(encoding="utf-8").splitlines()
    start = _find_line(recipe.title, source)  # of the block in the recipe
    first = _find_line(recipe.title, lines)  # of its text on the page
    is_code = False
    parts = {block.lineno: (block, cell) for block, cell in recipe.parts[1:]}
    for number, line in enumerate(lines):
        match = BOUNDARY.fullmatch(line.removeprefix(".. "))
        if match and int(match[1]) in parts:
            block, cell = parts[int(match[1])]
            is_code = cell is not None
            start = (cell.line if cell else block.lineno) - 1
            first = number + 2  # an empty line is between
        if is_code:
            yield start
        else:
            yield start + max(number - first, 0)


def _find_line(text: str, lines: Sequence[str]) -> int:
    """Return the number of the first line with a text, from 0 on; 0 without one."""
    for number, line in enumerate(lines):
        if text in line:
            return number
    return 0


def mark_cells(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Mark the nodes of a recipe's page, and remove what it does not show.

    What does not fit the recipe is left unmarked: a comment in a text may look like a boundary.
    """
    recipe = page.recipe
    number = 1  # of the next block: there is no comment before the title
    cell: Cell | None = None  # whose code is to come
    for node in list(document.findall(nodes.Element)):
        if isinstance(node, nodes.comment):
            match = BOUNDARY.fullmatch(node.astext())
            line = int(match[1]) if match else 0
            if line in recipe.hidden:
                _remove_hidden(node)
                cell = None
            elif number < len(recipe.parts) and line == recipe.parts[number][0].lineno:
                node["recipe_block"] = number
                _block, cell = recipe.parts[number]
                number += 1
        # Subclasses of literal_block stand for something else.
        elif cell and type(node) is nodes.literal_block:
            _mark_code(node, cell)
            cell = None


def _remove_hidden(boundary: nodes.comment) -> None:
    """Remove a block of settings or plumbing alone, which Sphinx-Gallery shows."""
    code = boundary.next_node(descend=False, siblings=True)
    if type(code) is nodes.literal_block:
        code.parent.remove(code)
    boundary.parent.remove(boundary)


def _mark_code(node: nodes.literal_block, cell: Cell) -> None:
    node["recipe_cell"] = cell.number
    node["recipe_fold"] = cell.fold
    node["recipe_fold_output"] = cell.fold_output
    if cell.inlined:
        node["recipe_module"] = str(cell.inlined.path), cell.inlined.line
    # reStructuredText trims lines, and where they are numbered it puts a space before each. A
    # module that is inlined stands in the place of its import.
    if cell.inlined or node.astext().split() == cell.source.split():
        set_code(node, cell.source)


def code_of_cells(document: nodes.document) -> list[nodes.literal_block]:
    """Return the blocks of code of all cells, in order."""
    return [node for node in document.findall(nodes.literal_block) if "recipe_cell" in node]


def find_cell_behind(node: nodes.Element) -> tuple[nodes.Element, nodes.container] | None:
    """Return the code of the cell right behind a node, and the box around what it put out.

    None if something else stands there, or if the cell put nothing out.
    """
    behind = node.parent.children[node.parent.index(node) + 1 :]
    shown = [sibling for sibling in behind if not isinstance(sibling, nodes.comment | nodes.target)]
    if len(shown) < 2:
        return None
    code, output = shown[:2]
    if not isinstance(output, nodes.container) or OUTPUT_CLASS not in output["classes"]:
        return None
    for block in code.findall(nodes.literal_block):
        if "recipe_cell" in block:
            return code, output
    return None


def code_in_text(document: nodes.document) -> list[nodes.literal_block]:
    """Return the blocks of Python that stand in the text of a page, in order."""
    return [
        node
        for node in document.findall(lambda node: type(node) is nodes.literal_block)
        if node.get("language") == "python" and "recipe_cell" not in node and _is_python(node)
    ]


def _is_python(node: nodes.Node) -> bool:
    with suppress(SyntaxError, ValueError):
        ast.parse(node.astext())
        return True
    return False


def set_code(block: nodes.literal_block, code: str) -> None:
    """Let a block show other code."""
    block.rawsource = code  # what highlighting and linking compare the text with
    block.children = []
    block += nodes.Text(code)
