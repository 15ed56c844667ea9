"""Folded cells of a page: a summary that opens the code, and a button that opens all of them."""

from html import escape
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.writers.html5 import HTML5Translator

from ..page_nodes import NOT_IN_HTML, OUTPUT_CLASS, PRINT_CLASS, code_of_cells, folded_cell

_ = get_translation("sphinx_recorded_gallery")

SCRIPT = "folded_cells.js"


def fold_cells(_env: BuildEnvironment, document: nodes.document) -> None:
    """Wrap the code of each cell that is marked for it into a node that folds it.

    What a cell put out stays where it is, below the code, unless it is to be folded, too.
    """
    for block in code_of_cells(document):
        summary = block["recipe_fold"]
        if not summary:
            continue
        folded = folded_cell(summary=summary, summary_classes=[])
        block.replace_self(folded)
        folded += block
        if block["recipe_fold_output"]:
            _fold_prints(folded, block["recipe_cell"])
        # Make the cell an implicit target (`Summary`_) unless a section already has this name.
        name = nodes.fully_normalize_name(summary)
        if name not in document.nameids:
            folded["names"].append(name)
            document.note_implicit_target(folded)
        else:
            document.set_id(folded)


def _fold_prints(folded: folded_cell, number: int) -> None:
    """Move what a cell printed into its folded code; tables and figures stay on the page."""
    for box in folded.parent.findall(nodes.container):
        if box.get("recipe_outputs") != number:
            continue
        printed = [node for node in box.children if _is_printed(node)]
        for node in printed:
            box.remove(node)
        if printed:
            folded += nodes.container("", *printed, classes=[OUTPUT_CLASS], recipe_outputs=number)
        if not box.children:
            box.parent.remove(box)
        return


def _is_printed(node: nodes.Element) -> bool:
    """Return whether a node is text that a page shows, and not the text form of a table."""
    return PRINT_CLASS in node["classes"] and NOT_IN_HTML not in node


def visit_cell(self: HTML5Translator, node: folded_cell) -> None:
    """Write the summary and begin the code, which has the address of the cell.

    The address is inside of what is folded, so that a browser opens it for a link by itself. Above
    the first cell stands a button that opens all of them; books run no scripts.
    """
    if node is next(self.document.findall(folded_cell)) and self.builder.name != "epub":
        self.body.append(_make_button())
    opening = self.starttag({"classes": node["summary_classes"]}, "summary", "")
    summary = self.encode(node["summary"])
    self.body.append(f'<details class="folded-cell">{opening}{summary}</summary>\n')
    self.body.append(self.starttag(node, "div"))


def _make_button() -> str:
    """Return the button that opens all folded cells of a page, which waits for its script."""
    unfold, fold = escape(_("Unfold all")), escape(_("Fold all"))
    button = f'<button type="button" class="unfold-all" data-fold="{fold}">{unfold}</button>'
    return f'<p class="unfold-line">{button}</p>\n'


def depart_cell(self: HTML5Translator, _node: folded_cell) -> None:
    """End the code."""
    self.body.append("</div></details>\n")


def load_script(
    app: Sphinx, _page: str, _template: str, _context: Any, doctree: nodes.document | None
) -> None:
    """Load the script on pages that have a folded cell, and on no other; books run none."""
    if doctree and any(doctree.findall(folded_cell)) and app.builder.name != "epub":
        app.add_js_file(SCRIPT, loading_method="defer")
