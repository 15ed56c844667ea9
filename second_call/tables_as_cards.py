"""Tables of recipes: each cell knows the heading of its column, so that a phone shows cards."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import load_page

LEAST_COLUMNS = 3  # what is narrower fits a phone


def label_cells(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Name the column of each cell of a recipe's tables that have one line of headings.

    Other pages have such tables where they are of the class ``cards``.
    """
    is_recipe = load_page(app.env, docname) is not None
    for table in doctree.findall(nodes.table):
        is_measured = "measured-table" in table["classes"]  # of short cells, which scroll
        if is_measured or not (is_recipe or "cards" in table["classes"]):
            continue
        heads = [row for head in table.findall(nodes.thead) for row in head]
        merged = any(
            "morecols" in each or "morerows" in each for each in table.findall(nodes.entry)
        )
        if len(heads) != 1 or len(heads[0]) < LEAST_COLUMNS or merged:
            continue
        labels = [" ".join(each.astext().split()) for each in heads[0]]
        table["classes"] = [*dict.fromkeys([*table["classes"], "cards"])]
        for row in (row for body in table.findall(nodes.tbody) for row in body):
            for label, cell in zip(labels, row, strict=True):
                cell["label"] = label


def visit_entry(self: HTML5Translator, node: nodes.entry) -> None:
    """Write the first tag of a cell, with the heading of its column."""
    type(self).visit_entry(self, node)
    if not len(node) and isinstance(node.parent.parent, nodes.thead):  # it heads nothing
        self.body[-1] = self.body[-1].replace("<th", "<td", 1)
        self.context[-1] = "</td>\n"
    if label := node.get("label"):
        tag, _space, rest = self.body[-1].partition("<td")
        self.body[-1] = f'{tag}<td data-label="{escape(label)}"{rest}'
