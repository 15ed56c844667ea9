"""Tables of recipes as cards on a phone: each cell is labelled with the heading of its column."""

from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import MEASURED_TABLE_CLASS, Gallery

LEAST_COLUMNS = 3  # a table with fewer columns fits a phone


def label_cells(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Label each cell of a page's tables with the heading of its column.

    On the page of a recipe, all tables are labelled except those of measurements, whose cells are
    short: they scroll. On other pages, only tables with the class ``cards`` are. None is with few
    columns, merged cells, or other than one row of headings.
    """
    is_recipe = Gallery(app.env).load_page(docname) is not None
    for table in doctree.findall(nodes.table):
        if MEASURED_TABLE_CLASS in table["classes"]:
            continue
        if is_recipe or "cards" in table["classes"]:
            _label_table(table)


def _label_table(table: nodes.table) -> None:
    """Label the cells of a table with one row of headings and without merged cells."""
    heading_rows = _list_rows(table, nodes.thead)
    if len(heading_rows) != 1 or _has_merged_cells(table):
        return
    [headings] = heading_rows
    if len(headings) < LEAST_COLUMNS:
        return
    labels = [" ".join(heading.astext().split()) for heading in headings]
    if "cards" not in table["classes"]:
        table["classes"] = [*table["classes"], "cards"]
    for row in _list_rows(table, nodes.tbody):
        for label, cell in zip(labels, row, strict=True):
            cell["label"] = label


def _list_rows(table: nodes.table, part: type[nodes.Element]) -> list[nodes.row]:
    """Return the rows in all parts of a table that are of a type, such as ``nodes.tbody``."""
    rows: list[nodes.row] = []
    for element in table.findall(part):
        rows += element.children
    return rows


def _has_merged_cells(table: nodes.table) -> bool:
    cells = table.findall(nodes.entry)
    return any("morecols" in cell or "morerows" in cell for cell in cells)


def visit_entry(self: HTML5Translator, node: nodes.entry) -> None:
    """Write the start tag of a cell, with the heading of its column if the cell is labelled."""
    type(self).visit_entry(self, node)  # Sphinx's own: this one is of the instance
    is_heading = isinstance(node.parent.parent, nodes.thead)
    if is_heading and not node.children:  # an empty cell is no heading
        self.body[-1] = self.body[-1].replace("<th", "<td", 1)
        self.context[-1] = "</td>\n"
    label = node.get("label")
    if label:
        start_tag = self.body[-1]  # of <td> or <th>
        name_end = len("<td")
        self.body[-1] = f'{start_tag[:name_end]} data-label="{escape(label)}"{start_tag[name_end:]}'
