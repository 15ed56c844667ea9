"""The directive ``results``: a dot plot of headlines, and the same as tables.

``recordings/<recipe>.ipynb`` is the recording a page shows. Recordings of the same recipe on
other machines lie in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add rows.
"""

from typing import Any

from babel import Locale
from docutils import nodes
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from recipe_gallery.pages.measurements.format import describe_spread, format_figure
from recipe_gallery.recipes.cell_marks import DATA_CLASS
from recipe_gallery.store import watch

from ..charts.source import label
from ..figures.data import link_to_data, list_rows
from ..figures.summary import list_recipes
from ..nodes import html_element, link_to_page, make_table, render
from .gains import Gain
from .lines import headline, headline_list, question, read_headlines
from .machines import Shown, find_gains, measured_of
from .strips import draw_axis, draw_strip, gain_axis

_ = get_translation("second_call")

KIND = "results"
NOTHING = "–"


class Results(SphinxDirective):
    """Name the headlines of the results page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the headlines, which are drawn when they have been translated."""
        found = read_headlines(self, KIND)
        if isinstance(found[0].next_node(), headline):
            raise self.error("a headline stands below no question; write one behind the recipe")
        return found


class Plot:
    """A dot plot of the headlines of a page."""

    def __init__(self, env: Any, listed: headline_list, locale: Locale) -> None:
        self.env, self.locale = env, locale
        self.questions: list[tuple[question, list[Shown]]] = []
        for node in listed:
            if isinstance(node, question):
                self.questions.append((node, []))
            elif isinstance(node, headline):
                self.questions[-1][1].extend(find_gains(env, node))
        shown = [each for _question, group in self.questions for each in group]
        self.axis = gain_axis([each.gain for each in shown if each.gain])
        devices = dict.fromkeys(each.device for each in shown if each.device)
        self.devices = list(devices) if len(devices) > 1 else []

    def draw(self) -> list[nodes.Node]:
        """Return controls, plot, tables, and links to the data."""
        rows = [
            row
            for docname in watch(self.env, list_recipes)
            for measured in measured_of(self.env, docname)
            for row in list_rows(docname.partition("/")[2], measured)
        ]
        listed = html_element(tag="ul", classes=["headlines"])
        for asked, group in self.questions:
            listed += self._ask(asked)
            listed += [self._row(shown) for shown in group]
        frame = html_element(tag="div", classes=["results"])
        frame += [self._controls(), self._head(), listed, render("legend.html", **_legend())]
        data = [link_to_data(self.env.docname, rows)] if rows else []
        return [frame, self._tables(), *data]

    def _controls(self) -> nodes.raw:
        names = {
            "sort": _("Order"),
            "orders": [
                ("", _("by question")),
                ("gain", _("by speed-up")),
                ("calls", _("by calls until it pays")),
            ],
            "losses": _("only below 1×"),
            "machine": _("Machine"),
            "all": _("all"),
        }
        return render("controls.html", devices=self.devices, **names)

    def _head(self) -> nodes.Element:
        head = html_element(
            tag="div", classes=["headlines-head"], attributes={"aria-hidden": "true"}
        )
        head += [html_element(tag="span", classes=[]), draw_axis(self.axis, self.locale)]
        head += [_span(each, "headline-fact") for each in _column_names()]
        return head

    def _ask(self, asked: question) -> nodes.Element:
        heading = html_element("", *_words(asked), tag="h2", classes=asked["classes"])
        link = link_to_page(self.env, asked["recipe"])  # by its title
        return html_element(
            "", heading, nodes.paragraph("", "", link), tag="li", classes=["headlines-question"]
        )

    def _row(self, shown: Shown) -> nodes.Element:
        row = html_element(tag="li", classes=["headline"], attributes={})
        case = nodes.paragraph(
            "", "", *_words(shown.words), classes=["headline-case", *shown.words["classes"]]
        )
        row += case
        gain = shown.gain
        if gain is None:
            text = NOTHING if shown.device else _("[not measured yet]")
            row += nodes.paragraph("", text, classes=["unmeasured"])
            return row
        row["attributes"] = {
            "data-gain": f"{gain.ratio.value:.4g}",
            "data-calls": _count_calls(gain),
            "data-machine": shown.device,
            **({"data-loses": ""} if gain.loses else {}),
        }
        if gain.baseline.variant != gain.figure.variant:  # else the words say what differs
            case += [nodes.Text(" "), self._against(shown.words["recipe"], gain)]
        if self.devices:
            case += [
                nodes.Text(" "),
                nodes.inline("", shown.device, classes=["headline-against", DATA_CLASS]),
            ]
        row += draw_strip(gain, self.axis)
        for name, text in zip(_column_names(), self._facts(gain), strict=True):
            fact = _span("", "headline-fact")
            if text == NOTHING:
                fact["classes"].append("headline-nothing")  # a phone leaves it out
            fact += [_span(f"{name} ", "headline-label"), nodes.Text(text)]
            row += fact
        return row

    def _against(self, recipe: str, gain: Gain) -> nodes.inline:
        before, after = str(_("instead of %s")).split("%s")
        arm = gain.baseline.variant
        called = label(self.env, recipe, arm)
        name = nodes.inline("", called, classes=[DATA_CLASS] if called == arm else [])
        return nodes.inline(
            "", "", nodes.Text(before), name, nodes.Text(after), classes=["headline-against"]
        )

    def _facts(self, gain: Gain) -> list[str]:
        """Return speed-ups, share of the limit, wait, and calls until it has paid."""
        wait = str(_("none")) if gain.compiles else NOTHING
        optional = [gain.wall, gain.share, gain.first_call, gain.pays_after]
        found = [self._format(each) if each else NOTHING for each in optional]
        if not gain.first_call:
            found[2] = wait
        return [self._format(gain.ratio), *found]

    def _format(self, figure: Any) -> str:
        return format_figure(figure, self.locale)

    def _tables(self) -> nodes.Element:
        """Return a table for each question, folded."""
        header = [
            _("Case"),
            _("It takes"),
            _("Instead of"),
            *_column_names(),
            _("The speed-up was measured"),
        ]
        folded = html_element(tag="details", classes=["results-tables"])
        folded += html_element("", nodes.Text(_("The same as tables")), tag="summary", classes=[])
        for asked, group in self.questions:
            rows = [self._cells(each, each.gain) for each in group if each.gain]
            table = make_table(header, rows, classes=["results-table"])
            table.insert(0, nodes.title("", "", *_words(asked)))
            folded += table
        return folded

    def _cells(self, shown: Shown, gain: Gain) -> list[nodes.Node]:
        case = nodes.inline("", "", *_words(shown.words), classes=list(shown.words["classes"]))
        if self.devices:
            case += [nodes.Text(" "), nodes.inline("", shown.device, classes=[DATA_CLASS])]
        times = [self._format(gain.figure), self._format(gain.baseline)]
        spread = describe_spread(gain.ratio, self.locale)
        return [case, *map(nodes.Text, [*times, *self._facts(gain), spread])]


def _count_calls(gain: Gain) -> str:
    """Return after how many calls a gain has paid; nothing if it never does."""
    if gain.pays_after:
        return f"{gain.pays_after.value:.0f}"
    return "0" if gain.compiles and not (gain.first_call or gain.loses) else ""


def _column_names() -> list[str]:
    names = _("Speed-up"), _("By wall time"), _("Of the limit"), _("First call"), _("Pays after")
    return [str(each) for each in names]


def _legend() -> dict[str, str]:
    return {
        "dot": str(_("GPU time, or the time that the case names")),
        "wall": str(_("wall time, where it is another")),
        "slower": str(_("slower than before")),
        "open": str(_("may come out the other way")),
        "spread": str(_("where a further machine is expected, or what machines have shown")),
        "dashed": str(_("the same of wall time")),
    }


def _words(node: nodes.Element) -> list[nodes.Node]:
    return [child.deepcopy() for child in node.children]


def _span(text: str, name: str) -> nodes.inline:
    return nodes.inline("", text, classes=[name]) if text else nodes.inline(classes=[name])
