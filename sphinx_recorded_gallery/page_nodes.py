"""The lines and cells of a recipe that the nodes of its page come from.

The parser gets the lines. Cells are marked by attributes right after a page was parsed, and all
later transforms use these marks. HTML shows none of them:

``recipe_block``
    On the comment that Sphinx-Gallery writes before a block: its index in ``Recipe.blocks``.
``recipe_cell``
    On the block of code of a cell: the number of the cell.
``recipe_fold``
    On such a block: what is shown in its place, empty if it is not folded.
``recipe_fold_output``
    On such a block: whether what the cell printed is folded with it.
``recipe_module``
    On the block of code of a cell that shows a module: path and first line of the module.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
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

# Class of the box around the outputs of a cell; notebooks take outputs from the recording instead
OUTPUT_CLASS = "recorded-output"
PRINT_CLASS = "sphx-glr-script-out"  # Sphinx-Gallery's, of each text that a cell put out
# Class of a table that is drawn from rows and replaces the one that the run displayed
MEASURED_TABLE_CLASS = "measured-table"
# Class of what recipes print and publish: data in the language of their code, not of the site
DATA_CLASS = "recorded-data"
# Attribute of code in a text that a notebook shows as a cell: lines that stand above it there
NOTEBOOK_HEAD = "notebook_head"
# Attribute of such code: a sentence that stands before the cell
NOTEBOOK_NOTE = "notebook_note"
DOWNLOADS_ONLY = "downloads_only"  # attribute of nodes that only downloads have
NOT_IN_HTML = "not_in_html"  # attribute of nodes that replace HTML in other formats
# Sphinx-Gallery writes this before each block but the first, with lines of the recipe
BOUNDARY = re.compile(r"GENERATED FROM PYTHON SOURCE LINES (\d+)-\d+")


class folded_cell(nodes.compound):  # noqa: N801 (docutils names nodes so)
    """The code of a folded cell, and what it printed if that is folded, too.

    Where nothing can be folded, its children are shown as they are.

    ``summary`` is shown instead, in the language of the page; ``summary_classes`` name the language
    if it is another.
    """


def read_lines_of_recipes(app: Sphinx) -> None:
    """Let messages about a recipe's page name the file and the lines of the recipe.

    The project's own parser stays; it only gets other lines for these pages.
    """
    parser = app.registry.get_source_parser("restructuredtext")
    if not issubclass(parser, RSTParser):
        return  # an unknown parser may not accept lines

    class RecipeLines(parser):  # type: ignore[misc, valid-type]
        def parse(self, inputstring: str | StringList, document: nodes.document) -> None:
            if isinstance(inputstring, str):
                inputstring = _name_lines(inputstring, document)
            super().parse(inputstring, document)

    app.add_source_parser(RecipeLines, override=True)


def _name_lines(text: str, document: nodes.document) -> str | StringList:
    """Return the lines of a recipe's page, each with its file and line (from 0) in the recipe.

    Other pages are returned unchanged.
    """
    env: BuildEnvironment = document.settings.env
    file = find_file(env.config, Path(env.srcdir), env.docname)
    if file is None:
        return text
    lines = string2lines(text, convert_whitespace=True)
    source = document["source"].replace(str(env.doc2path(env.docname)), str(file.path))
    # Sphinx reads each translation as a document, too: x.rst:7:<translated>
    page = None
    if not source.endswith(":<translated>"):
        page = load_page(env, env.docname)
    numbers: Iterable[int] = range(len(lines))
    if page:
        numbers = _find_lines(page.recipe, lines)
    return StringList(lines, items=[(source, number) for number in numbers])


def _find_lines(recipe: Recipe, lines: Sequence[str]) -> Iterator[int]:
    """Yield for each line of a page the line (from 0) of the recipe that it was made from.

    For code, this is the first line of its block.
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
    """Return the number (from 0) of the first line that contains a text; 0 without one."""
    for number, line in enumerate(lines):
        if text in line:
            return number
    return 0


def mark_cells(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Mark the nodes of a recipe's page, and remove hidden blocks.

    Nodes that do not fit the recipe stay unmarked: a comment in a text may look like a boundary.
    """
    recipe = page.recipe
    number = 1  # of the next block: there is no comment before the title
    cell: Cell | None = None  # whose code comes next
    for node in list(document.findall(nodes.Element)):
        if isinstance(node, nodes.comment):
            match = BOUNDARY.fullmatch(node.astext())
            line = int(match[1]) if match else 0
            if line in recipe.unshown_lines:
                _remove_hidden(node)
                cell = None
            elif number < len(recipe.parts) and line == recipe.parts[number][0].lineno:
                node["recipe_block"] = number
                _block, cell = recipe.parts[number]
                number += 1
        # Subclasses of literal_block mean something else.
        elif cell and type(node) is nodes.literal_block:
            _mark_code(node, cell)
            cell = None


def _remove_hidden(boundary: nodes.comment) -> None:
    """Remove a block of nothing but settings or plumbing, which Sphinx-Gallery shows."""
    code = boundary.next_node(descend=False, siblings=True)
    if type(code) is nodes.literal_block:
        code.parent.remove(code)
    boundary.parent.remove(boundary)


def _mark_code(node: nodes.literal_block, cell: Cell) -> None:
    """Note at a block of code which cell it is, how it folds, and its source as it was written."""
    node["recipe_cell"] = cell.number
    node["recipe_fold"] = cell.settings.fold
    node["recipe_fold_output"] = cell.settings.fold_output
    if cell.inlined:
        node["recipe_module"] = str(cell.inlined.path), cell.inlined.line
    # reStructuredText trims lines, and puts a space before numbered ones. An inlined module
    # replaces its import.
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
    """Return the blocks of Python in the text of a page, in order."""
    blocks = []
    for node in document.findall(nodes.literal_block):
        if type(node) is not nodes.literal_block or "recipe_cell" in node:
            continue
        if node.get("language") == "python" and _is_python(node.astext()):
            blocks.append(node)
    return blocks


def diffs_in_text(document: nodes.document) -> list[nodes.literal_block]:
    """Return the blocks in the text of a page that show how to change Python, in order."""
    blocks = []
    for node in document.findall(nodes.literal_block):
        if node.get("language") == "diff" and _is_python(read_changed_code(node.astext())):
            blocks.append(node)
    return blocks


def read_changed_code(diff: str) -> str:
    """Return the code after the change, with an empty line for each line that is taken out."""
    width = width_of_signs(diff)
    lines = []
    for line in diff.splitlines():
        is_taken_out = line.startswith("-")
        lines.append("" if is_taken_out else line[width:])
    return "\n".join(lines)


def width_of_signs(diff: str) -> int:
    """Return how many characters stand before code: a sign, and a blank if each line has one."""
    has_blanks = all(line[1:2] in ("", " ") for line in diff.splitlines())
    return 2 if has_blanks else 1


def _is_python(code: str) -> bool:
    with suppress(SyntaxError, ValueError):
        ast.parse(code)
        return True
    return False


def set_code(block: nodes.literal_block, code: str) -> None:
    """Replace the code of a block."""
    block.rawsource = code  # highlighting and linking compare the text with it
    block.children = []
    block += nodes.Text(code)
