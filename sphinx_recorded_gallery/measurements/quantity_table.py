"""The directive ``quantities``: the table of all that recipes of a project measure."""

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from .quantities import Quantity, list_quantities
from .table_nodes import make_table

_ = get_translation("sphinx_recorded_gallery")


class QuantityTable(SphinxDirective):
    """Lists names and units of quantities, and what they are, in the reader's language."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        head = [[nodes.Text(text)] for text in (_("Name"), _("Unit"), _("What it is"))]
        lines = []
        for quantity in list_quantities(self.config).values():
            name = nodes.literal("", quantity.name)
            unit = [nodes.literal("", quantity.unit)] if quantity.unit else []
            lines.append([[name], unit, [nodes.Text(_describe(quantity))]])
        return [make_table(head, lines)]


def _describe(quantity: Quantity) -> str:
    meaning = quantity.meaning or quantity.label
    return str(_("%s; on a GPU only") % meaning) if quantity.gpu_only else str(meaning)
