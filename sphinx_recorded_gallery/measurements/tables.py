"""Tables of what was measured: a page draws them of rows, with the medians of all processes.

A recipe publishes with its rows which case and quantities a table has. The table takes the place of
the one that the run itself shows behind them, which notebooks keep. Tables without rows stay as
they were recorded.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ..languages import current_language
from ..page_nodes import MEASURED_TABLE_CLASS, code_of_cells
from ..pages.outputs import insert_outputs
from ..recipes.recorded_recipe import RecipePage, RecordedPage
from ..store import watch
from .lookup import RecipeResults, load_results
from .names import QUANTITY, name_case, name_nodes, name_word
from .numbers import describe_spread, format_measurement
from .ranges import Measurement
from .roles import measured
from .rows import Size, Table, find_table
from .table_nodes import make_table

_ = get_translation("sphinx_recorded_gallery")

FIRST_QUANTITY = "speedup"  # which says most, also where a phone shows two columns


class measured_table(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A table of rows, ``table``; its children are what the run itself showed in its place."""


def mark_tables(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put a ``measured_table`` where a page has a table of rows, around what the run has shown."""
    if not isinstance(page, RecordedPage):
        return
    boxes = {
        box["recipe_outputs"]: box
        for box in document.findall(nodes.container)
        if "recipe_outputs" in box
    }
    for code in code_of_cells(document):
        recorded = page.comparison.recorded.get(code["recipe_cell"])
        if recorded:
            box = boxes.get(code["recipe_cell"])
            unshown = _wrap_tables(recorded.outputs, box)
            if unshown and box:
                box += unshown
            elif unshown:
                insert_outputs(page, code, unshown)


def _wrap_tables(outputs: Sequence[Any], box: nodes.Element | None) -> list[nodes.Node]:
    """Put tables of rows around the HTML that comes next; return those without any."""
    shown = [node for node in box.children if isinstance(node, nodes.raw)] if box else []
    remaining = iter(shown)
    unshown: list[nodes.Node] = []
    table: Table | None = None  # that was published and not yet shown
    for output in outputs:
        data = output.get("data", {})
        if published := find_table(data):
            unshown += [measured_table(table=table)] if table else []
            table = published
        elif "text/html" in data:
            recorded = next(remaining)
            if table:
                wrapper = measured_table(table=table)
                recorded.replace_self(wrapper)
                wrapper += recorded
                table = None
    return [*unshown, measured_table(table=table)] if table else unshown


def fill_tables(env: BuildEnvironment, document: nodes.document) -> None:
    """Put medians of all processes into the tables of a page, in the reader's language."""
    for node in list(document.findall(measured_table)):
        results = watch(env, load_results, env.docname)
        by_key = results.measurements.by_key if results else {}
        measurements = {row.key: by_key[row.key] for row in node["table"].rows if row.key in by_key}
        if results and measurements:
            node.replace_self(_draw(env, node["table"], measurements, results))
        else:  # what is measured no more, such as by a stale recording, stays as it was
            node.replace_self(node.children)


def _draw(
    env: BuildEnvironment,
    table: Table,
    measurements: Mapping[str, Measurement],
    results: RecipeResults,
) -> nodes.table:
    """Return a table with a line for each variant, or for each size and variant."""
    locale = current_language(env.config).locale
    quantities = _order(table.quantities)
    sizes = {row.size for row in table.rows}
    counted = next((row.sizes for row in table.rows if row.sizes), "")
    has_sizes = len(sizes) > 1
    head: list[list[nodes.Node]] = [[]]
    if has_sizes:
        head.insert(0, name_nodes(name_word(env, env.docname, counted)))
    stubs = len(head)
    head += [name_nodes(name_word(env, env.docname, name, QUANTITY)) for name in quantities]
    lines = []
    for size, variant in dict.fromkeys((row.size, row.variant) for row in table.rows):
        line = [name_nodes(name_word(env, env.docname, variant))]
        if has_sizes:
            line.insert(0, [nodes.Text(str(size))])
        for quantity in quantities:
            measurement = _find(table, measurements, size, variant, quantity)
            line.append([_show(measurement, locale)] if measurement else [])
        lines.append(line)
    size = None if has_sizes else table.rows[0].size
    case = name_case(env, env.docname, table.case, size, counted)
    scope = _describe_scope(list(measurements.values()), results.device)
    caption = [*name_nodes(case), nodes.Text(f" · {scope}")]
    return make_table(head, lines, stubs=stubs, caption=caption, classes=[MEASURED_TABLE_CLASS])


def _show(measurement: Measurement, locale: Locale) -> nodes.Node:
    spread = describe_spread(measurement, locale)
    return measured("", format_measurement(measurement, locale), spread=spread)


def _order(quantities: Sequence[str]) -> list[str]:
    """Return the columns with the speed-up in front: it is next to what heads a line."""
    return sorted(quantities, key=lambda quantity: quantity != FIRST_QUANTITY)


def _find(
    table: Table, measurements: Mapping[str, Measurement], size: Size, variant: str, quantity: str
) -> Measurement | None:
    for row in table.rows:
        if (row.size, row.variant, row.quantity) == (size, variant, quantity):
            return measurements.get(row.key)
    return None


def _describe_scope(measurements: Sequence[Measurement], device: str) -> str:
    """Return of how many processes and machines numbers are."""
    processes = max(measurement.processes for measurement in measurements)
    machines = max(measurement.hosts for measurement in measurements)
    facts = {"device": device, "processes": processes, "machines": machines}
    if processes == 1:
        text = _("one process on %(device)s")
    elif machines == 1:
        text = _("medians of %(processes)s processes on one machine, %(device)s")
    else:
        text = _("medians of %(processes)s processes on %(machines)s machines, %(device)s")
    return str(text % facts)
