"""The directive ``chart``, which draws rows of the recipe that it stands in.

Where it stands right before the cell of a figure, the page shows the chart in place of that cell;
notebook and script have the cell, and of each chart a table. CONTRIBUTING.md tells how to write
one.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import (
    DOWNLOADS_ONLY,
    OUTPUT_CLASS,
    GalleryError,
    Page,
    join_ends,
    know,
    note_problem,
    watch,
    write_block,
)

from ..make_nodes import make_table, render
from .bars_and_lines import draw
from .chart_data import Chart, Source
from .explorer import explore

_ = get_translation("second_call")

EXPLORER = "break-even"  # in the place of quantities


class chart(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A chart: ``drawing`` and ``table`` as HTML, ``problems``, and the caption as its children.

    ``lines`` are those of the table that notebook and script have.
    """


class replaced(nodes.Invisible, nodes.Element):  # noqa: N801
    """Code and figure of a cell in whose place a page shows a chart; other formats have them."""


class ChartDirective(SphinxDirective):
    """Draws a chart; its content is the caption."""

    optional_arguments = 1  # it is needed: without it, an error of its own says so
    final_argument_whitespace = True
    has_content = True
    option_spec: ClassVar[dict[str, Callable[[str], Any]]] = {
        "case": directives.unchanged_required,
        "whole": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the chart; an empty one where nothing is measured."""
        caption = self.parse_content_to_nodes()
        if not caption:
            raise self.error("chart: it needs a caption, a sentence below its options")
        if not self.arguments:
            raise self.error("chart: it needs a quantity, for example: .. chart:: wall")
        source = Source(env=self.env, docname=self.env.docname, case=self.options.get("case", ""))
        quantities = [each.strip() for each in self.arguments[0].split(",")]
        try:
            if quantities == [EXPLORER]:
                drawn = explore(source)
            else:
                drawn = draw(source, quantities, self.options.get("whole", ""))
        except ValueError as error:
            raise self.error(f"chart: {error}") from None
        node = chart(problems=source.problems)
        if drawn:
            node["drawing"] = drawn.drawing
            scope = " · ".join(_describe_scope(drawn, source))
            data = render("chart_data.html", head=drawn.head, rows=drawn.rows, scope=scope)
            node["table"] = data.astext()
            node["lines"] = [drawn.head, *drawn.rows]
        node += caption
        self.set_source_info(node)
        return [node]


def _describe_scope(drawn: Chart, source: Source) -> Iterator[str]:
    """Yield of what a chart is: its case, the device, of how many processes, and what is a range.

    Nothing is told of what was not measured.
    """
    known = watch(source.env, know, source.docname)
    if not (source.used and known):
        return
    yield source.name_case()
    counts = sorted({each.processes for each in source.used})
    text = _("medians on %(device)s (processes: %(processes)s, machines: %(machines)s)")
    yield text % {
        "device": known.device,
        "processes": join_ends(str(counts[0]), str(counts[-1])) if counts[1:] else counts[0],
        "machines": max(each.hosts for each in source.used),
    }
    if drawn.has_ranges and counts[-1] > 1:
        yield str(
            _("in brackets: where a further machine is expected, or what machines have shown")
        )


def finish_charts(env: BuildEnvironment, document: nodes.document) -> None:
    """Note what is wrong with charts, and hide the cells in whose place they stand."""
    for node in list(document.findall(chart)):
        path = Path(node.source) if node.source else None
        for problem in node["problems"]:
            note_problem(env, str(GalleryError(problem, path=path, line=node.line)))
        if "drawing" in node:
            for each in _find_figure(node):
                wrapper = replaced(**{DOWNLOADS_ONLY: True})
                each.replace_self(wrapper)
                wrapper += each


def _find_figure(node: chart) -> list[nodes.Element]:
    """Return code and figure of the cell right behind a chart, nothing if it put out more."""
    following = node.parent.children[node.parent.index(node) + 1 :]
    cell = [each for each in following if not isinstance(each, nodes.comment | nodes.target)][:2]
    if len(cell) < 2 or not isinstance(cell[1], nodes.container):
        return []
    code, output = cell
    is_code = any("recipe_cell" in each for each in code.findall(nodes.literal_block))
    only_figures = all(isinstance(each, nodes.image) for each in output.children)
    return cell if is_code and OUTPUT_CLASS in output["classes"] and only_figures else []


def write_chart(node: chart, page: Page) -> str:
    """Return the figures of a chart as a table and its caption, for notebooks and scripts."""
    if "lines" not in node:
        return ""
    head, *rows = node["lines"]
    table = make_table(head, [list(map(nodes.Text, row)) for row in rows], classes=[])
    return "\n\n".join(write_block(each, page) for each in (table, *node.children))


def visit_chart(self: HTML5Translator, node: chart) -> None:
    """Write the chart, above its caption."""
    if "drawing" not in node:
        raise nodes.SkipNode
    self.body.append(f'<figure class="chart">\n{node["drawing"]}<figcaption>\n')


def depart_chart(self: HTML5Translator, node: chart) -> None:
    """Write the figures, folded."""
    self.body.append(f"</figcaption>\n{node['table']}</figure>\n")
