"""The directive ``recorded-results``: headline figures of all recordings, as tables and bars.

``recordings/<recipe>.ipynb`` is the recording a page shows. Recordings of the same recipe on
other machines lie in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add columns.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from babel import Locale
from docutils import nodes
from sphinx.locale import get_translation
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.languages import (
    current_language,
    format_date,
    format_number,
    format_percent,
    format_times,
)
from recipe_gallery.outdated import watch
from recipe_gallery.recipes.cell_marks import DATA_CLASS

from ..nodes import link_to_page, make_table, translated_nodes
from .bars import make_bars
from .cards import make_links
from .data import link_to_data, list_rows
from .headline import Figure
from .summary import Measured, Summary, list_machines, list_recipes, summarize

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

MOST_RECIPES = 60
FIGURES = ("speedup", "share_of_limit", "break_even_calls")


class RecordedResults(SphinxDirective):
    """Write a section for each recipe that publishes headline figures.

    A page with thousands of figures would be slow to make and to read: after ``MOST_RECIPES`` comes
    a list of links.
    """

    def run(self) -> list[nodes.Node]:
        """Return the sections, in the order of the gallery."""
        sections: list[nodes.Node] = []
        rows: list[dict[str, Any]] = []
        machines = watch(self.env, list_machines)
        recipes = watch(self.env, list_recipes)
        for docname in recipes[:MOST_RECIPES]:
            own = watch(self.env, summarize, docname)
            measured = self._measured(docname, own, machines.get(docname, ())) if own else []
            if own and any(each.rows for each in measured):
                sections.append(self._section(docname, own.title, measured))
            for each in measured:
                rows += list_rows(docname.partition("/")[2], each)
        data = [link_to_data(self.env.docname, rows)] if rows else []
        return [*data, *sections, *make_links(self.env, recipes[MOST_RECIPES:])]

    def _measured(self, docname: str, own: Summary, machines: Sequence[str]) -> list[Measured]:
        """Return a recipe's current recordings: the one its page shows, then other machines'."""
        found = [] if own.problem else [own.measured]  # its page has warned of it
        for machine in machines:
            summary = watch(self.env, summarize, docname, machine)
            if summary and summary.problem:
                logger.warning("%s", summary.problem, type="recipe_gallery", subtype="recording")
            elif summary:
                found.append(summary.measured)
        for each in found:
            if each and each.problem:
                logger.warning("%s", each.problem, type="recipe_gallery", subtype="figures")
        return [each for each in found if each]

    def _section(self, docname: str, title: str, measured: Sequence[Measured]) -> nodes.section:
        name = PurePosixPath(docname).name
        section = nodes.section(ids=[nodes.make_id(name)], names=[name])
        texts = translated_nodes(self.env, docname, title)
        section += nodes.title("", "", *texts, translatable=False)  # a message of the recipe
        link = link_to_page(self.env, docname, nodes.Text(_("Read the recipe")))
        section += nodes.paragraph("", "", link)
        locale = current_language(self.config).locale
        for each in measured:
            origin = _("%(device)s; %(versions)s; %(date)s") % {
                "device": each.device,
                "versions": each.versions,
                "date": format_date(each.recorded, locale),
            }
            section += nodes.paragraph("", origin, classes=["results-origin"])
        section += _make_results_table(measured, locale)
        for each in measured:
            if each.rows:
                section += make_bars(each.rows, locale)
        return section


def _make_results_table(measured: Sequence[Measured], locale: Locale) -> nodes.table:
    """Return a table with a row for each case and three columns for each machine."""
    cases = dict.fromkeys((row.case, row.baseline) for each in measured for row in each.rows)
    header = [_("Case"), _("Compared with")]
    for each in measured:
        where = f" ({each.device})" if len(measured) > 1 else ""
        header += [
            _("Speed-up") + where,
            _("Share of the limit") + where,
            _("Break-even (calls)") + where,
        ]
    rows = []
    for case in cases:
        # What a recipe publishes is data, in the language of its code.
        cells: list[nodes.Node] = [nodes.inline("", text, classes=[DATA_CLASS]) for text in case]
        for each in measured:
            found = next((row for row in each.rows if (row.case, row.baseline) == case), None)
            cells += [
                nodes.Text(_format_figure(name, getattr(found, name, None), locale))
                for name in FIGURES
            ]
        rows.append(cells)
    return make_table(header, rows, classes=["results-table"])


def _format_figure(name: str, figure: Figure | None, locale: Locale) -> str:
    """Return a figure with its spread."""
    if figure is None:
        return "–"
    value, low, high = figure.value, figure.low, figure.high
    if name == "speedup":
        spread = f"{format_times(low, locale, unit='')}–{format_times(high, locale, unit='')}"
        return f"{format_times(value, locale)} ({spread})"
    if name == "share_of_limit":
        spread = f"{format_number(100 * low, locale, 1)}–{format_number(100 * high, locale, 1)}"
        return f"{format_percent(value, locale, 1)} ({spread})"
    spread = f"{format_number(low, locale)}–{format_number(high, locale)}"
    return f"{format_number(value, locale)} ({spread})"
