"""Draw the tables of measurements on a page, with the medians over all machines.

A recipe publishes rows together with the case and the quantities of a table. Right afterwards it
displays a table with the numbers of its own run. Notebooks keep that table; on the page, the table
drawn here replaces it. Tables without published rows stay as they were recorded.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ..dates_and_numbers import SEPARATOR
from ..languages import Language
from ..page_nodes import MEASURED_TABLE_CLASS, code_of_cells
from ..pages.outputs import insert_outputs
from ..recipes.recorded_recipe import RecipePage, RecordedPage
from ..store import watch
from .docutils_tables import make_untranslated_table
from .lookup import RecipeResults, load_results
from .names_for_readers import QUANTITY, name_case, name_word, pieces_as_nodes
from .numbers import describe_spread, format_measurement
from .ranges import Measurement
from .roles import measured
from .rows import Size, Table, find_table

_ = get_translation("sphinx_recorded_gallery")

# The first columns, in this order: what decides is on a phone before it scrolls.
FIRST_QUANTITIES = ("speedup", "wall", "first_call", "break_even")


class measured_table(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A placeholder for the table of ``table``; its children are the run's own table."""


def mark_tables(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Mark the places for tables of published rows.

    A ``measured_table`` wraps the HTML that the run displayed for the rows. Without such HTML it is
    added to the outputs of the cell.
    """
    if not isinstance(page, RecordedPage):
        return
    boxes: dict[int, nodes.container] = {}
    for box in document.findall(nodes.container):
        if "recipe_outputs" in box:
            boxes[box["recipe_outputs"]] = box
    for code in code_of_cells(document):
        recorded_cell = page.comparison.recorded.get(code["recipe_cell"])
        if not recorded_cell:
            continue
        cell_box = boxes.get(code["recipe_cell"])
        additional_tables = _wrap_tables(recorded_cell.outputs, cell_box)
        if not additional_tables:
            continue
        if cell_box:
            cell_box += additional_tables
        else:
            insert_outputs(page, code, additional_tables)


def _wrap_tables(outputs: Sequence[Any], box: nodes.Element | None) -> list[nodes.Node]:
    """Wrap the HTML that follows published rows into a ``measured_table``.

    Returns the tables of rows that no HTML follows.
    """
    html_nodes: list[nodes.Node] = []  # in the order of the outputs that they show
    if box:
        html_nodes = [node for node in box.children if isinstance(node, nodes.raw)]
    additional_tables: list[nodes.Node] = []
    pending: Table | None = None  # rows whose HTML has not been found yet
    for output in outputs:
        data = output.get("data", {})
        published = find_table(data)
        if published:
            if pending:
                additional_tables.append(measured_table(table=pending))
            pending = published
        elif "text/html" in data:
            html_node = html_nodes.pop(0)
            if pending:
                wrapper = measured_table(table=pending)
                html_node.replace_self(wrapper)
                wrapper += html_node
                pending = None
    if pending:
        additional_tables.append(measured_table(table=pending))
    return additional_tables


def fill_tables(env: BuildEnvironment, document: nodes.document) -> None:
    """Put medians over all machines into the tables of a page, in the reader's language."""
    for node in list(document.findall(measured_table)):
        results = watch(env, load_results, env.docname)
        by_key = results.measurements.by_key if results else {}
        measurements: dict[str, Measurement] = {}
        for row in node["table"].rows:
            if row.key in by_key:
                measurements[row.key] = by_key[row.key]
        if results and measurements:
            node.replace_self(_draw(env, node["table"], measurements, results))
        else:  # no current measurement has these keys: the recording may be stale
            node.replace_self(node.children)


def _draw(
    env: BuildEnvironment,
    table: Table,
    measurements: Mapping[str, Measurement],
    results: RecipeResults,
) -> nodes.table:
    """Return a table with a line for each variant, or for each size and variant."""
    locale = Language.current(env.config).locale
    quantities = _order(table.quantities)
    has_sizes = len({row.size for row in table.rows}) > 1
    size_name = next((row.size_name for row in table.rows if row.size_name), "")
    head: list[list[nodes.Node]] = []
    if has_sizes:
        head.append(pieces_as_nodes(name_word(env, env.docname, size_name)))
    head.append([])  # above the variants
    stubs = len(head)
    for quantity in quantities:
        head.append(pieces_as_nodes(name_word(env, env.docname, quantity, QUANTITY)))
    lines = []
    sizes_and_variants = dict.fromkeys((row.size, row.variant) for row in table.rows)
    for size, variant in sizes_and_variants:
        line: list[list[nodes.Node]] = []
        if has_sizes:
            line.append([nodes.Text(str(size))])
        line.append(pieces_as_nodes(name_word(env, env.docname, variant)))
        for quantity in quantities:
            measurement = _find(table, measurements, size, variant, quantity)
            cell: list[nodes.Node] = []
            if measurement:
                cell.append(_show(measurement, locale))
            line.append(cell)
        lines.append(line)
    size_of_case = None if has_sizes else table.rows[0].size
    case = name_case(env, env.docname, table.case, size_of_case, size_name)
    scope = _describe_scope(list(measurements.values()), results.device)
    caption = [*pieces_as_nodes(case), nodes.Text(SEPARATOR + scope)]
    return make_untranslated_table(
        head, lines, stubs=stubs, caption=caption, classes=[MEASURED_TABLE_CLASS]
    )


def _show(measurement: Measurement, locale: Locale) -> nodes.Node:
    """Return a number whose range is shown on demand."""
    spread = describe_spread(measurement, locale)
    return measured("", format_measurement(measurement, locale), spread=spread)


def _order(quantities: Sequence[str]) -> list[str]:
    """Return the quantities with those first that decide, next to the variants."""
    first = [quantity for quantity in FIRST_QUANTITIES if quantity in quantities]
    others = [quantity for quantity in quantities if quantity not in FIRST_QUANTITIES]
    return first + others


def _find(
    table: Table, measurements: Mapping[str, Measurement], size: Size, variant: str, quantity: str
) -> Measurement | None:
    """Return the measurement of one cell of the table, or None."""
    for row in table.rows:
        if (row.size, row.variant, row.quantity) == (size, variant, quantity):
            return measurements.get(row.key)
    return None


def _describe_scope(measurements: Sequence[Measurement], device: str) -> str:
    """Return the part of a caption that names device, processes and machines."""
    processes = max(measurement.processes for measurement in measurements)
    machines = max(measurement.hosts for measurement in measurements)
    facts = {"device": device, "processes": processes, "machines": machines}
    if processes == 1:
        text = _("one process on %(device)s")
    elif machines == 1:
        text = _("medians of %(processes)s processes on one machine, %(device)s")
    else:
        text = _("medians over %(machines)s machines (processes: %(processes)s), %(device)s")
    return str(text % facts)
