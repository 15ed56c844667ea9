"""The directive ``quantities``: the table of all that recipes of a project measure."""

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from .quantities import Quantity, list_quantities

_ = get_translation("sphinx_recorded_gallery")


class QuantityTable(SphinxDirective):
    """Lists names and units of quantities, and what they are, in the reader's language."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        heads = [nodes.Text(text) for text in (_("Name"), _("Unit"), _("What it is"))]
        body = nodes.tbody()
        for quantity in list_quantities(self.config).values():
            unit = nodes.literal("", quantity.unit) if quantity.unit else nodes.Text("")
            name = nodes.literal("", quantity.name)
            body += _make_row(name, unit, nodes.Text(_describe(quantity)))
        head = nodes.thead("", _make_row(*heads))
        specs = [nodes.colspec(colwidth=1) for _head in heads]
        return [nodes.table("", nodes.tgroup("", *specs, head, body, cols=len(heads)))]


def _describe(quantity: Quantity) -> str:
    meaning = quantity.meaning or quantity.label
    return str(_("%s; on a GPU only") % meaning) if quantity.gpu_only else str(meaning)


def _make_row(*cells: nodes.Node) -> nodes.row:
    entries = [nodes.entry("", nodes.paragraph("", "", cell, translatable=False)) for cell in cells]
    return nodes.row("", *entries)
