"""The directive ``quantities``: a table of all quantities that recipes of a project measure."""

from docutils import nodes
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from .docutils_tables import make_untranslated_table
from .quantities import Quantity, list_quantities

_ = get_translation("sphinx_recorded_gallery")


class QuantityTable(SphinxDirective):
    """Lists names, units and meanings of quantities in the reader's language."""

    def run(self) -> list[nodes.Node]:
        """Return the table."""
        head = [
            [nodes.Text(_("Name"))],
            [nodes.Text(_("Unit"))],
            [nodes.Text(_("What it is"))],
        ]
        lines = [_make_line(quantity) for quantity in list_quantities(self.config).values()]
        return [make_untranslated_table(head, lines)]


def _make_line(quantity: Quantity) -> list[list[nodes.Node]]:
    """Return the cells of a quantity: its name, its unit if it has one, and its meaning."""
    name: list[nodes.Node] = [nodes.literal("", quantity.name)]
    unit: list[nodes.Node] = []
    if quantity.unit:
        unit.append(nodes.literal("", quantity.unit))
    return [name, unit, [nodes.Text(_describe(quantity))]]


def _describe(quantity: Quantity) -> str:
    meaning = quantity.meaning or quantity.label
    if quantity.gpu_only:
        return str(_("%s; GPU only") % meaning)
    return str(meaning)
