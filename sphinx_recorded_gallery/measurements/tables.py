"""Tables of what was measured: a page draws them of rows, with the medians of all processes.

A recipe publishes with its rows which case and quantities a table has. The table takes the place of
the one that the run itself shows behind them, which notebooks keep. Tables without rows stay as
they were recorded.
"""

from collections.abc import Mapping, Sequence

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ..languages import current_language
from ..page_nodes import DATA_CLASS
from ..store import watch
from .lookup import RecipeResults, load_results
from .names import QUANTITY, Pieces, name_case, name_word
from .numbers import describe_spread, format_measurement
from .ranges import Measurement
from .roles import measured
from .rows import Size, Table

_ = get_translation("sphinx_recorded_gallery")

TABLE_CLASS = "measured-table"
FIRST_QUANTITY = "speedup"  # which says most, also where a phone shows two columns


class measured_table(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A table of rows, ``table``; its children are what the run itself showed in its place."""


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
    heads = [nodes.entry()]
    if len(sizes) > 1:
        heads.insert(0, _cell(*_words(name_word(env, env.docname, counted))))
    stubs = len(heads)  # what heads a line
    for quantity in quantities:
        heads.append(_cell(*_words(name_word(env, env.docname, quantity, QUANTITY))))
    body = nodes.tbody()
    for size, variant in dict.fromkeys((row.size, row.variant) for row in table.rows):
        cells = [_cell(*_words(name_word(env, env.docname, variant)))]
        if len(sizes) > 1:
            cells.insert(0, _cell(nodes.Text(str(size))))
        for quantity in quantities:
            measurement = _find(table, measurements, size, variant, quantity)
            if measurement is None:
                cells.append(nodes.entry())
            else:
                text = format_measurement(measurement, locale)
                spread = describe_spread(measurement, locale)
                cells.append(_cell(measured("", text, spread=spread)))
        body += nodes.row("", *cells)
    specs = [nodes.colspec(colwidth=1, stub=column < stubs) for column in range(len(heads))]
    head = nodes.thead("", nodes.row("", *heads))
    group = nodes.tgroup("", *specs, head, body, cols=len(heads))
    size = None if len(sizes) > 1 else table.rows[0].size
    case = name_case(env, env.docname, table.case, size, counted)
    scope = _describe_scope(list(measurements.values()), results.device)
    caption = nodes.title("", "", *_words(case), nodes.Text(f" · {scope}"), translatable=False)
    return nodes.table("", caption, group, classes=[TABLE_CLASS])


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


def _cell(*words: nodes.Node) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", *words, translatable=False))


def _words(pieces: Pieces) -> list[nodes.Node]:
    """Return pieces as nodes; words that are the recipe's are marked as data."""
    return [
        nodes.inline("", words, classes=[DATA_CLASS]) if is_data else nodes.Text(words)
        for words, is_data in pieces
    ]


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
