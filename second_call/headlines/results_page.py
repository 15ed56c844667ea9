"""The directive ``results``: a table of headlines, each with a strip of a dot plot.

A strip is SVG as wide as there is room: places along its axis are per cent, so that labels and
marks keep their size on every screen.

``recordings/<recipe>.ipynb`` is the recording a page shows. Recordings of the same recipe on
other machines lie in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add rows.
"""

from collections.abc import Sequence

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    DATA_CLASS,
    Kind,
    Measurement,
    current_language,
    describe_spread,
    find_message,
    format_measurement,
    watch,
)

from ..charts.scales import Scale, format_value, make_axis
from ..make_nodes import html_element, link_to_page, render
from ..navigation import list_recipes
from ..results_as_data import link_to_data, list_rows
from .gains import Gain, find_gains, measured_of
from .headline_directive_lines import headline, headline_list, question, read_headlines

_ = get_translation("second_call")

NOTHING = "–"
_MOST_TICKS = 7


class Results(SphinxDirective):
    """Name the headlines of the results page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the headlines, which are drawn when they have been translated."""
        found = read_headlines(self, draw_results)
        if isinstance(found[0].next_node(), headline):
            raise self.error("a headline stands below no question; write one behind the recipe")
        return found


def draw_results(env: BuildEnvironment, listed: headline_list) -> list[nodes.Node]:
    """Return controls, table, legend, and links to the data."""
    locale = current_language(env.config).locale
    shown = {node: find_gains(env, node) for node in listed if isinstance(node, headline)}
    axis = _gain_axis([gain for group in shown.values() for _device, gain in group if gain])
    devices = dict.fromkeys(device for group in shown.values() for device, _gain in group)
    several = [each for each in devices if each] if len(devices) > 1 else []
    body = html_element(tag="tbody", classes=["headlines"])
    for node in listed:
        if isinstance(node, question):
            body += _make_question(env, node)
        elif isinstance(node, headline):
            body += [_make_row(env, node, *each, axis, bool(several)) for each in shown[node]]
    names = _column_names()
    heads = [html_element("", nodes.inline("", each), tag="th", classes=[]) for each in names]
    ticks = [(axis(tick), format_value(tick, "x", locale)) for tick in axis.ticks(_MOST_TICKS)]
    labels = render("axis.html", ticks=ticks)
    drawn = html_element("", labels, tag="td", classes=["headline-strip"])
    row = html_element("", html_element(tag="td", classes=[]), drawn, *heads, tag="tr", classes=[])
    head = html_element("", row, tag="thead", classes=["headlines-head"])
    table = html_element("", head, body, tag="table", classes=["results-table"])
    controls = render("controls.html", devices=several)
    legend = render("legend.html")
    frame = html_element("", controls, table, legend, tag="div", classes=["results"])
    rows = [
        row
        for docname in watch(env, list_recipes)
        for known in measured_of(env, docname)
        for row in list_rows(docname.partition("/")[2], known)
    ]
    return [frame, *([link_to_data(env.docname, rows, locale)] if rows else [])]


def _make_question(env: BuildEnvironment, asked: question) -> nodes.Element:
    heading = html_element("", *asked.deepcopy().children, tag="h2", classes=asked["classes"])
    link = nodes.paragraph("", "", link_to_page(env, asked["recipe"]))  # by its title
    span = {"colspan": str(2 + len(_column_names())), "scope": "colgroup"}
    cell = html_element("", heading, link, tag="th", classes=[], attributes=span)
    return html_element("", cell, tag="tr", classes=["headlines-question"])


def _make_row(
    env: BuildEnvironment,
    asked: headline,
    device: str,
    gain: Gain | None,
    axis: Scale,
    names_device: bool,
) -> nodes.Element:
    locale = current_language(env.config).locale
    words = asked.deepcopy().children
    case = nodes.paragraph("", "", *words, classes=["headline-case", *asked["classes"]])
    title = html_element("", case, tag="th", classes=[], attributes={"scope": "row"})
    row = html_element("", title, tag="tr", classes=["headline"], attributes={})
    if gain is None:
        text = nodes.paragraph("", NOTHING if device else _("[not measured yet]"))
        span = {"colspan": str(1 + len(_column_names()))}
        row += html_element("", text, tag="td", classes=["unmeasured"], attributes=span)
        return row
    row["attributes"] = {
        "data-gain": f"{gain.ratio.value:.4g}",
        "data-calls": _count_calls(gain),
        "data-machine": device,
        **({"data-loses": ""} if gain.loses else {}),
    }
    variant = gain.baseline.variant
    if variant != gain.measurement.variant:  # else the words say what differs
        before, after = str(_("compared with %s")).split("%s")
        called = find_message(env, asked["recipe"], variant, Kind.NAME)
        name = nodes.inline("", called, classes=[DATA_CLASS] if called == variant else [])
        parts = nodes.Text(before), name, nodes.Text(after)
        case += [nodes.Text(" "), nodes.inline("", "", *parts, classes=["headline-against"])]
    if names_device:
        classes = ["headline-against", DATA_CLASS]
        case += [nodes.Text(" "), nodes.inline("", device, classes=classes)]
    spread = nodes.paragraph("", describe_spread(gain.ratio, locale), classes=["headline-spread"])
    row += html_element("", _draw_strip(gain, axis), spread, tag="td", classes=["headline-strip"])
    for name, text in zip(_column_names(), _list_facts(gain, locale), strict=True):
        classes = ["headline-nothing"] if text == NOTHING else []  # a phone leaves it out
        words = nodes.inline("", text)
        row += html_element("", words, tag="td", classes=classes, attributes={"data-label": name})
    return row


def _gain_axis(gains: Sequence[Gain]) -> Scale:
    """Return the axis of a plot; a gain above 20 leaves no room for the others."""
    measurements = [each for gain in gains for each in (gain.ratio, gain.wall) if each]
    ends = [end for each in measurements for end in (each.low, each.value, each.high)]
    return make_axis(ends, least=0.4, most=20)


def _draw_strip(gain: Gain, axis: Scale) -> nodes.raw:
    """Return the strip of a gain; text beside it says all that it shows."""
    grid = [(axis(tick), tick == 1) for tick in axis.ticks(_MOST_TICKS)]
    marks = [("wall", gain.wall)] if gain.wall else []
    drawn = [
        (kind, *_mark(measurement, axis)) for kind, measurement in [*marks, ("dot", gain.ratio)]
    ]
    return render("strip.html", grid=grid, one=axis(1), marks=drawn)


def _mark(measurement: Measurement, axis: Scale) -> tuple[float, float, float, str]:
    """Return place and spread of a mark, and its form: slower, beyond, open or nothing."""
    form = "slower" if measurement.high < 1 else "open" if measurement.low <= 1 else ""
    if measurement.value > axis.high:
        form = "beyond"
    return axis(measurement.value), axis(measurement.low), axis(measurement.high), form


def _list_facts(gain: Gain, locale: Locale) -> list[str]:
    """Return what the columns say: ratios, the wait, calls until it has paid, and both times."""
    optional = [gain.ratio, gain.wall, gain.share, gain.first_call, gain.pays_after]
    measurements = [*optional, gain.measurement, gain.baseline]
    found = [format_measurement(each, locale) if each else NOTHING for each in measurements]
    if gain.compiles and not gain.first_call:
        found[3] = str(_("none"))
    return found


def _count_calls(gain: Gain) -> str:
    """Return after how many calls a gain has paid; nothing if it never does."""
    if gain.pays_after:
        return f"{gain.pays_after.value:.0f}"
    return "0" if gain.compiles and not (gain.first_call or gain.loses) else ""


def _column_names() -> list[str]:
    gains = _("Speed-up"), _("By wall time"), _("Of the limit"), _("First call"), _("Pays after")
    return [str(each) for each in (*gains, _("It takes"), _("Instead of"))]
