"""The directives ``chart`` and ``spans``, which draw what the recipe that they stand in measured.

Where it stands right before the cell of a figure, the page shows the chart in place of that cell;
notebook and script have the cell, and of each chart a table. CONTRIBUTING.md tells how to write
one.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import (
    DOWNLOADS_ONLY,
    Gallery,
    GalleryError,
    MarkdownPage,
    Typography,
    find_cell_behind,
    note_problem,
    write_block,
)

from ..make_nodes import make_table, render_html
from ..quantities import name_parts
from ..renamed_variants import list_plain_names
from .bars import (
    BAR_CHARACTERS,
    GPU,
    WALL,
    draw_busy_bars,
    draw_overlaid_bars,
    draw_plain_bars,
)
from .chart_data import ChartData, Drawing, Role
from .lines import draw_lines
from .parts import draw_parts
from .query import BUSY, query
from .scatter import draw_scatter
from .spans import LANE_CHARACTERS, SpansData, draw_spans, query_spans

_CLEAR_LOSS = 0.9  # times as fast as before; one run of two equal variants may tell 0.95
_BUSY_QUANTITIES = {WALL, GPU}  # which make a busy bar when both are named
_LIMITED_QUANTITIES = {WALL, GPU}  # which may have a limit
# A cell of a table that is a drawing
_BLOCK_BAR = re.compile(f"[{re.escape(BAR_CHARACTERS + LANE_CHARACTERS)}]+")


class chart(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A chart; the caption is its children.

    ``drawing`` and ``figures``, the folded table, are HTML. ``table`` is what notebook and script
    have, ``scope`` what it is of, ``legend`` what its signs mean, and ``remarks`` are sentences.
    ``hero`` tells that it belongs into the head of the page. ``problems`` are what an author asked
    for and nobody measured.
    """


class cell_behind_chart(nodes.Invisible, nodes.Element):  # noqa: N801
    """Code and figure of a cell in whose place a page shows a chart; other formats have them."""


def split_words(argument: str) -> list[str]:
    """Return the words of an option that names several, apart by commas."""
    return [word.strip() for word in argument.split(",") if word.strip()]


class ChartDirective(SphinxDirective):
    """Draws what was measured; its content is the caption."""

    optional_arguments = 1  # it is needed: without it, an error of its own says so
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {
        "case": directives.unchanged_required,
        "best": directives.unchanged_required,
        "only": directives.unchanged_required,
        "whole": directives.unchanged_required,
        "curve": directives.unchanged_required,
        "hero": directives.flag,
        "recipe": directives.unchanged_required,  # of another page
    }

    def run(self) -> list[nodes.Node]:
        """Return the chart; an empty one where nothing is measured."""
        require_right_lines(self)
        caption = self.parse_content_to_nodes()
        if not caption:
            raise self.error("chart: it needs a caption, a sentence below its options")
        if not self.arguments:
            raise self.error("chart: it needs a quantity, for example: .. chart:: wall")
        quantities = re.split(r"[,\s]+", self.arguments[0].strip())
        try:
            data, drawing = self._draw(quantities)
        except ValueError as error:
            raise self.error(f"chart: {error}") from None
        node = make_node(drawing, data.scope, data.range_note)
        node["problems"] = [*data.problems, *self._find_bad_advice(data)]
        node["hero"] = "hero" in self.options
        node += caption
        self.set_source_info(node)
        return [node]

    def _draw(self, quantities: list[str]) -> tuple[ChartData, Drawing | None]:
        """Return what is measured and its drawing, in the form that quantities and sizes ask for.

        Raises ``ValueError`` for a form that there is not.
        """
        whole = self.options.get("whole", "")
        curve = self.options.get("curve", "")
        asks_for_busy_time = quantities == [BUSY] or set(quantities) == _BUSY_QUANTITIES
        if asks_for_busy_time:
            if whole:
                raise ValueError(f"a chart of {BUSY} time has no parts; remove :whole:")
            refuse_curve(curve)
            data = self._query([WALL], optional=[GPU])
            require_one_size(data)
            return data, draw_busy_bars(data)
        if whole:
            refuse_curve(curve)
            data = self._query([*quantities, whole])
            require_one_size(data)
            return data, draw_parts(data, whole, name_parts())
        if len(quantities) > 1:
            return self._draw_two(quantities, curve)
        refuse_curve(curve)
        has_limits = quantities[0] in _LIMITED_QUANTITIES and "hero" not in self.options
        data = self._query(quantities, with_limits=has_limits)
        if not data.is_of_one_size:
            return data, draw_lines(data)
        return data, draw_plain_bars(data)

    def _query(self, quantities: Sequence[str], **more: Any) -> ChartData:
        """Ask the recipe of the page for what the options name.

        On another page, variants have the names that their recipe's readers need not know.
        """
        data = query(
            self.env,
            self._find_recipe(),
            case=self.options.get("case", ""),
            quantities=quantities,
            only=split_words(self.options.get("only", "")),
            best=self.options.get("best", ""),
            **more,
        )
        if "recipe" not in self.options:
            return data
        names = list_plain_names(self.options["recipe"])
        rows = [replace(row, name=names.get(row.variant, row.name)) for row in data.rows]
        return replace(data, rows=rows)

    def _find_recipe(self) -> str:
        """Return the page of the recipe that is drawn; raises ``ValueError`` if there is none."""
        name = self.options.get("recipe", "")
        if name:
            return Gallery(self.env).find_page(name)
        return self.env.docname

    def _find_bad_advice(self, data: ChartData) -> list[str]:
        """Return what an author is told of an answer whose advice takes more than the baseline.

        As a claim, advice has to hold on a CPU, too.
        """
        if "hero" not in self.options or not data.is_of_one_size:
            return []
        problems = []
        for row in data.rows:
            if row.role != Role.BEST or row.gain is None:
                continue
            if row.gain.number < _CLEAR_LOSS and row.gain.high < 1:
                text = f"chart: :best: {row.name} is worse than the first variant"
                problems.append(f"{text} ({row.gain.words}); recommend another one")
        return problems

    def _draw_two(self, quantities: Sequence[str], curve: str) -> tuple[ChartData, Drawing | None]:
        """Draw two quantities: one as a part of the other, or of other units against each other."""
        require_two(quantities)
        data = self._query(quantities)
        units = find_units(data)
        if len(units) < 2:
            return data, None  # a CPU does not measure both
        if len(set(units.values())) > 1:
            return data, draw_scatter(data, curve)
        refuse_curve(curve)
        require_one_size(data)
        data, part = put_whole_first(data)
        return data, draw_overlaid_bars(data, part=part)


def require_right_lines(directive: SphinxDirective) -> None:
    """Raise an error if what stands below the first line of a directive was read as something else.

    docutils reads it as a part of that line where an empty line is missing, or a colon of the first
    option, and an option below an empty line as the caption.
    """
    _first, line_break, rest = "".join(directive.arguments).partition("\n")
    if line_break:
        text = f"{directive.name}: {rest.splitlines()[0]!r} is neither an option nor the caption; "
        remedy = "write options as :name: value, and leave an empty line above the caption"
        raise directive.error(text + remedy)
    for line in directive.content[:1]:
        option = re.match(r":([\w-]+):(?:\s|$)", line)
        if option and option[1] in directive.option_spec:
            raise directive.error(
                f"{directive.name}: {line!r} stands below an empty line, where the caption begins; "
                f"write options right below .. {directive.name}::"
            )


def require_one_size(data: ChartData) -> None:
    """Raise ``ValueError`` if a form that has no sizes is asked to draw several."""
    if not data.is_of_one_size:
        raise ValueError("its case has several sizes; choose one by :case:, such as adam.10")


def refuse_curve(curve: str) -> None:
    """Raise ``ValueError`` if a form that joins no points is asked for a curve."""
    if curve:
        raise ValueError(
            "only two quantities of different units, such as wall memory, have a curve; "
            "remove :curve:"
        )


def require_two(quantities: Sequence[str]) -> None:
    """Raise ``ValueError`` if more than two quantities are no parts of a whole."""
    if len(quantities) > 2:
        raise ValueError(
            f"{', '.join(quantities)} are more than two quantities; name what they are parts of "
            "by :whole:"
        )


def find_units(data: ChartData) -> dict[str, str]:
    """Return the units of the quantities that were measured."""
    units = {}
    for row in data.rows:
        for word, value in row.values.items():
            units[word] = value.unit
    return units


def put_whole_first(data: ChartData) -> tuple[ChartData, str]:
    """Return the data of two quantities with the larger one first, and the other's word."""
    totals = dict.fromkeys(data.quantities, 0.0)
    for row in data.rows:
        for word, value in row.values.items():
            totals[word] += value.number
    whole = max(totals, key=lambda word: totals[word])
    [part] = totals.keys() - {whole}
    quantities = {whole: data.quantities[whole], part: data.quantities[part]}
    return replace(data, quantities=quantities), part


class SpansDirective(SphinxDirective):
    """Draws a picture of time; its content is the caption."""

    optional_arguments = 1  # it is needed: without it, an error of its own says so
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {
        # A case: this axis is at least as long as its. Its picture names this one, too.
        "beside": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the picture; an empty one where nothing is recorded."""
        require_right_lines(self)
        caption = self.parse_content_to_nodes()
        if not caption:
            raise self.error("spans: it needs a caption, an indented sentence below it")
        if not self.arguments:
            raise self.error("spans: it needs a case, for example: .. spans:: one token")
        try:
            data = self._query()
        except ValueError as error:
            raise self.error(f"spans: {error}") from None
        node = make_node(draw_spans(data), data.case, "")
        node["problems"] = list(data.problems)
        node += caption
        self.set_source_info(node)
        return [node]

    def _query(self) -> SpansData:
        data = query_spans(self.env, self.env.docname, self.arguments[0])
        if "beside" not in self.options:
            return data
        other = query_spans(self.env, self.env.docname, self.options["beside"])
        problems = [*data.problems, *other.problems]
        return replace(data, least_end=other.end, problems=problems)


def make_node(drawing: Drawing | None, scope: str, range_note: str) -> chart:
    """Return the node of a drawing; an empty one if there is none."""
    node = chart(problems=[], hero=False)
    if drawing is None:
        return node
    caption = scope
    if drawing.has_ranges and range_note:
        caption = scope + Typography.SEPARATOR + range_note
    node["drawing"] = drawing.html
    node["figures"] = render_html(
        "chart_data.html", table=drawing.table, notes=drawing.notes, scope=caption
    )
    table = drawing.notebook or drawing.table
    node["table"] = [table.head, *table.rows]
    node["scope"] = scope
    node["legend"] = drawing.legend
    node["remarks"] = list(drawing.remarks)
    return node


def finish_charts(env: BuildEnvironment, document: nodes.document) -> None:
    """Note what is wrong with charts, and hide the cells in whose place they stand.

    A remark that several charts need stands below the first of them.
    """
    remarks_above: set[str] = set()
    for node in list(document.findall(chart)):
        remarks = node.get("remarks", [])
        node["remarks"] = [remark for remark in remarks if remark not in remarks_above]
        remarks_above.update(remarks)
        path = Path(node.source) if node.source else None
        for text in node["problems"]:
            note_problem(env, GalleryError(text, path=path, line=node.line))
        cell = find_cell_behind(node)
        if "drawing" not in node or cell is None:
            continue
        code, output = cell
        if _is_figure(output):
            for part in (code, output):
                wrapper = cell_behind_chart(**{DOWNLOADS_ONLY: True})
                part.replace_self(wrapper)
                wrapper += part


def _is_figure(output: nodes.container) -> bool:
    """Tell whether a cell put out pictures and nothing else."""
    return all(isinstance(part, nodes.image) for part in output.children)


def write_chart(node: chart, page: MarkdownPage) -> str:
    """Return a chart as a table, its scope and its caption, for notebooks and scripts."""
    if "table" not in node:
        return ""
    head, *rows = node["table"]
    cells = []
    for row in rows:
        cells.append([_make_cell(text) for text in row])
    blocks: list[nodes.Node] = [make_table(head, cells, classes=[])]
    for text in (node["legend"], node["scope"], " ".join(node["remarks"])):
        if text:
            blocks.append(nodes.paragraph("", text))
    blocks += node.children
    return "\n\n".join(write_block(block, page) for block in blocks)


def _make_cell(text: str) -> nodes.Node:
    """Return the text of a cell; a drawing in characters is code, which are all of one width."""
    if _BLOCK_BAR.fullmatch(text):
        return nodes.literal("", text)
    return nodes.Text(text)


def visit_chart(self: HTML5Translator, node: chart) -> None:
    """Write the chart, above its caption."""
    if "drawing" not in node:
        raise nodes.SkipNode
    classes = "chart hero" if node["hero"] else "chart"
    self.body.append(f'<figure class="{classes}">\n{node["drawing"]}<figcaption>\n')


def depart_chart(self: HTML5Translator, node: chart) -> None:
    """Write remarks, and the figures, folded."""
    if node["remarks"]:
        remarks = self.encode(" ".join(node["remarks"]))
        self.body.append(f'<p class="remarks">{remarks}</p>\n')
    self.body.append(f"</figcaption>\n{node['figures']}</figure>\n")
