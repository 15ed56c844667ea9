"""For the first page: where all was measured, and the wait of a first call against the gain."""

import posixpath
from collections.abc import Sequence

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    RecipeResults,
    current_language,
    format_date,
    format_measurement,
    load_results,
    watch,
)

from ..charts.scales import Scale, format_value, make_axis
from ..make_nodes import html_element, render
from ..navigation import list_recipes
from .gains import Gain, find_gains
from .headline_directive_lines import headline, headline_list, read_headlines

_ = get_translation("second_call")

NO_WAIT = 6.0  # per cent of the width: where nothing is compiled
WIDTH, HEIGHT = 5.0, 5.5  # of a dot, in per cent of a chart on a phone


class WaitAndGain(SphinxDirective):
    """Name the cases of the chart."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the cases, which are drawn when they have been translated."""
        return read_headlines(self, draw_plot)


class MeasuredOn(SphinxDirective):
    """Say what all recipes were measured on."""

    def run(self) -> list[nodes.Node]:
        """Return the line; nothing where nothing is recorded."""
        locale = current_language(self.config).locale
        found = [watch(self.env, load_results, name) for name in watch(self.env, list_recipes)]
        measured = [each for each in found if each and each.recorded]
        if not measured:
            return []
        devices = dict.fromkeys(each.device for each in measured)
        versions = dict.fromkeys(filter(None, map(self._version, measured)))
        latest = max(each.recorded for each in measured if each.recorded)
        text = _("Measured on %(devices)s · %(versions)s · %(date)s") % {
            "devices": ", ".join(devices),
            "versions": ", ".join(versions),
            "date": format_date(latest, locale),
        }
        return [nodes.paragraph("", text, classes=["measured-on"], translatable=False)]

    def _version(self, measured: RecipeResults) -> str:
        """Return the version of the first of the packages that pages name."""
        names = self.config.recorded_gallery_package_names
        versions = dict(measured.versions)
        return next((f"{names[name]} {versions[name]}" for name in names if name in versions), "")


def draw_plot(env: BuildEnvironment, listed: headline_list) -> list[nodes.Node]:
    """Return the chart, a numbered dot a case, and the list of cases, which says the same."""
    locale = current_language(env.config).locale
    found = [(node, find_gains(env, node)[0]) for node in listed if isinstance(node, headline)]
    measured = [(node, gain) for node, (_device, gain) in found if gain]
    gains = [gain for _node, gain in measured]
    waits = [gain.first_call.value for gain in gains if gain.first_call]
    across = make_axis([*waits, 1.0, 10.0], least=0.05, most=1000)
    up = make_axis([gain.ratio.value for gain in gains], least=0.4, most=20)
    places = spread_out([_place(gain, across, up) for gain in gains])
    lines = [
        _describe(node, gain, locale, f"case-{number}", posixpath.dirname(env.docname))
        for number, (node, gain) in enumerate(measured, 1)
    ]
    dots = [
        (number, *place, gain.loses, line[0][-1].astext())
        for number, (place, gain, line) in enumerate(zip(places, gains, lines, strict=True), 1)
    ]
    waited = [(_behind(across(each)), format_value(each, "s", locale)) for each in across.ticks(5)]
    chart = render(
        "wait_and_gain.html",
        dots=dots,
        one=_height(up, 1),
        rows=[(_height(up, tick), format_value(tick, "x", locale)) for tick in up.ticks()],
        columns=[(NO_WAIT, str(_("no wait"))), *waited],
    )
    key = html_element("", *lines, tag="ol", classes=["trade-cases"])
    frame = html_element("", chart, key, tag="div", classes=["trade"])
    return [frame] if measured else []


def _describe(node: headline, gain: Gain, locale: Locale, name: str, folder: str) -> nodes.Element:
    """Return a case as a line: its words, which lead to the recipe, speed-up and wait."""
    words = node.deepcopy().children
    # a link of Sphinx would leave out their markup
    address = posixpath.relpath(f"{node['recipe']}.html", folder or ".")
    link = nodes.reference("", "", *words, internal=True, refuri=address)
    wait = gain.first_call
    facts = {
        "gain": format_measurement(gain.ratio, locale),
        "wait": format_measurement(wait, locale) if wait else "",
    }
    text = _("%(gain)s, first call %(wait)s") if wait else _("%(gain)s, no wait")
    said = nodes.inline("", str(text % facts), classes=["trade-facts"])
    line = nodes.paragraph("", "", link, nodes.Text(" "), said, classes=list(node["classes"]))
    return nodes.list_item("", line, ids=[name])


def _place(gain: Gain, across: Scale, up: Scale) -> tuple[float, float]:
    """Return the place of a dot from left and top, in per cent."""
    left = _behind(across(gain.first_call.value)) if gain.first_call else NO_WAIT
    return left, _height(up, gain.ratio.value)


def spread_out(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the places of dots so far to the right that none hides the number of another."""
    found: list[tuple[float, float]] = []
    for left, top in places:
        at = left
        while any(abs(at - x) < WIDTH and abs(top - y) < HEIGHT for x, y in found):
            at += 0.5
        found.append((at, top))
    return found


def _height(up: Scale, value: float) -> float:
    """Return a place from the top, in per cent; below are the labels of the other axis."""
    return 0.88 * (104 - up(value))


def _behind(place: float) -> float:
    """Return a place right of those that wait for nothing."""
    return 14 + 0.86 * place
