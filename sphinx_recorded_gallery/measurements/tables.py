"""Tables of what was measured: a page has the medians of all processes in those of its run.

A recorded table is one of rows if its lines are variants of the rows published right before,
also below their sizes, and its columns their quantities. Notebooks keep the tables of their run;
other tables stay as recorded.
"""

import re
from collections.abc import Mapping, Sequence
from html import unescape

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ..languages import current_language
from ..page_nodes import DATA_CLASS
from ..recipes.recorded_recipe import RecipePage, RecordedPage
from ..store import watch
from .lookup import know
from .names import QUANTITY, Pieces, name_case, name_word
from .numbers import describe_spread, format_measurement
from .ranges import Measurement
from .roles import measured
from .rows import Row, find_rows

_ = get_translation("sphinx_recorded_gallery")

_HEAD = re.compile(r"<th\b[^>]*>([^<]*)</th>")


class measured_table(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A table of rows; its one child is what was recorded, ``rows`` those of each of its lines.

    A line has a size, which is None in a table without sizes, and a variant.
    """


def mark_tables(_env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put a ``measured_table`` around each recorded table that shows the rows before it."""
    if not isinstance(page, RecordedPage):
        return
    boxes = [box for box in document.findall(nodes.container) if "recipe_outputs" in box]
    for box in boxes:
        shown = (node for node in list(box.children) if isinstance(node, nodes.raw))
        rows: list[Row] = []  # published since the last table
        for output in page.comparison.recorded[box["recipe_outputs"]].outputs:
            data = output.get("data", {})
            rows += find_rows(data)
            if "text/html" in data:
                recorded = next(shown)
                place = box.index(recorded)
                box[place] = _wrap(data["text/html"], recorded, rows)
                rows = []


def _wrap(html: str, shown: nodes.Node, rows: Sequence[Row]) -> nodes.Node:
    """Return what stands on a page for recorded HTML: ``shown``, or a table of rows around it."""
    if not rows:
        return shown
    head, _tag, body = html.partition("</thead>")
    columns = [unescape(each).partition(" (")[0] for each in _HEAD.findall(head)]
    case = [row for row in rows if row.case == rows[-1].case]
    variants, sizes = {row.variant for row in case}, {str(row.size): row.size for row in case}
    size, lines = rows[-1].size, []
    for name in map(unescape, _HEAD.findall(body)):
        if name in sizes and name not in variants:
            size = sizes[name]  # of the lines that follow
        else:
            lines.append((size, name))
    case = [row for row in case if row.size in {size for size, _variant in lines}]
    quantities = [each for each in columns if each in {row.quantity for row in case}]
    if not (quantities and lines and {*lines} <= {(row.size, row.variant) for row in case}):
        return shown
    by_name = {(row.size, row.variant, row.quantity): row for row in case}
    grid = [[by_name.get((*line, quantity)) for quantity in quantities] for line in lines]
    return measured_table("", shown, lines=lines, quantities=quantities, rows=grid)


def fill_tables(env: BuildEnvironment, document: nodes.document) -> None:
    """Put medians of all processes into the tables of a page, in the reader's language."""
    for node in list(document.findall(measured_table)):
        known = watch(env, know, env.docname)
        by_key = known.measurements.by_key if known else {}
        keys = [row.key for line in node["rows"] for row in line if row]
        found = {key: by_key[key] for key in keys if key in by_key}
        # what is measured no more, such as by a stale recording, stays as it was
        node.replace_self(_draw(env, node, found, known.device) if known and found else node[0])


def _draw(
    env: BuildEnvironment, node: measured_table, found: Mapping[str, Measurement], device: str
) -> nodes.table:
    locale = current_language(env.config).locale
    quantities = [name_word(env, env.docname, each, QUANTITY) for each in node["quantities"]]
    heads = [nodes.entry(), *(_cell(*_words(each)) for each in quantities)]
    first = next(row for rows in node["rows"] for row in rows if row)
    has_sizes = len({size for size, _variant in node["lines"]}) > 1
    if has_sizes:
        heads.insert(0, _cell(*_words(name_word(env, env.docname, first.sizes))))
    body = nodes.tbody()
    for (size, name), rows in zip(node["lines"], node["rows"], strict=True):
        cells = [_cell(nodes.Text(str(size)))] if has_sizes else []
        cells.append(_cell(*_words(name_word(env, env.docname, name))))
        for row in rows:
            figure = found.get(row.key) if row else None
            if figure:
                shown = format_measurement(figure, locale)
                cells.append(_cell(measured("", shown, spread=describe_spread(figure, locale))))
            else:
                cells.append(nodes.entry())
        body += nodes.row("", *cells)
    stubs = 2 if has_sizes else 1  # size and variant head a line
    specs = [nodes.colspec(colwidth=1, stub=at < stubs) for at in range(len(heads))]
    head = nodes.thead("", nodes.row("", *heads))
    group = nodes.tgroup("", *specs, head, body, cols=len(heads))
    size = None if has_sizes else first.size
    case = name_case(env, env.docname, first.case, size, first.sizes)
    caption = nodes.title("", "", *_describe(case, found, device), translatable=False)
    return nodes.table("", caption, group, classes=["measured-table"])


def _cell(*words: nodes.Node) -> nodes.entry:
    return nodes.entry("", nodes.paragraph("", "", *words, translatable=False))


def _words(pieces: Pieces) -> list[nodes.Node]:
    """Return pieces as nodes; words that are the recipe's are marked as data."""
    return [
        nodes.inline("", words, classes=[DATA_CLASS]) if is_data else nodes.Text(words)
        for words, is_data in pieces
    ]


def _describe(case: Pieces, found: Mapping[str, Measurement], device: str) -> list[nodes.Node]:
    """Return the caption of a table: its case, and of how many processes its numbers are."""
    processes = max(each.processes for each in found.values())
    machines = max(each.hosts for each in found.values())
    facts = {"device": device, "processes": processes, "machines": machines}
    if processes == 1:
        text = _("one process on %(device)s")
    elif machines == 1:
        text = _("medians of %(processes)s processes on one machine, %(device)s")
    else:
        text = _("medians of %(processes)s processes on %(machines)s machines, %(device)s")
    return [*_words(case), nodes.Text(f" · {text % facts}")]
