"""Parts that the front page and the results share: the two bars of a case, ratios, startup."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import (
    Kind,
    Measurement,
    RecipeResults,
    current_language,
    find_message,
    format_measurement,
    typeset,
)

from ..charts.bars import GPU, WALL, draw_busy_bars, draw_plain_bars
from ..charts.chart_data import ChartData, ChartRow, Role
from ..charts.query import make_value
from ..charts.scales import format_value
from ..make_nodes import html_element
from ..quantities import name_quantities
from .gains import Gain, Side, State

_ = get_translation("second_call")

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def name_variant(env: BuildEnvironment, recipe: str, measurement: Measurement) -> str:
    """Return what readers call the variant of a measurement."""
    return find_message(env, recipe, measurement.variant, Kind.NAME)


def draw_bars(env: BuildEnvironment, recipe: str, gain: Gain) -> nodes.Element:
    """Return two bars, before and after; the accent is a gain, a lighter neutral is none."""
    locale = current_language(env.config).locale
    after_role = Role.BEST if gain.ratio.value > 1 else Role.OTHER
    quantity = gain.after.measurement.quantity
    has_gpu = quantity == WALL and gain.state in (State.WAITS, State.BUSY)
    names = name_quantities()
    words = [quantity, GPU] if has_gpu else [quantity]
    data = ChartData(
        locale=locale,
        quantities={word: names.get(word, word) for word in words},
        rows=[
            _make_row(env, recipe, gain.before, Role.BEFORE, has_gpu=has_gpu),
            _make_row(env, recipe, gain.after, after_role, has_gpu=has_gpu),
        ],
    )
    draw = draw_busy_bars if has_gpu else draw_plain_bars
    drawing = draw(data, compact=True)
    html = drawing.html if drawing else ""
    return html_element("", nodes.raw("", html, format="html"), tag="div", classes=["chart"])


def _make_row(
    env: BuildEnvironment, recipe: str, side: Side, role: Role, *, has_gpu: bool
) -> ChartRow:
    locale = current_language(env.config).locale
    measurement = side.measurement
    values = {measurement.quantity: make_value(measurement, locale)}
    if has_gpu and side.gpu:
        values[GPU] = make_value(side.gpu, locale)
    return ChartRow(
        variant=measurement.variant,
        name=name_variant(env, recipe, measurement),
        role=role,
        values=values,
    )


def describe_runs(measurement: Measurement) -> str:
    """Return that a measurement is of one process or of one machine; else nothing."""
    if measurement.processes == 1:
        return str(_("1 run"))
    if measurement.hosts == 1:
        return str(_("1 machine"))
    return ""


def make_ratio(gain: Gain, locale: Locale) -> list[nodes.Node]:
    """Return how many times as fast the work is, behind a mark if one run says so."""
    ratio = nodes.strong("", format_measurement(gain.ratio, locale))
    if runs := describe_runs(gain.ratio):
        return [nodes.inline("", runs, classes=["headline-mark"]), nodes.Text(" "), ratio]
    return [ratio]


def format_startup(gain: Gain, locale: Locale) -> str:
    """Return what a process takes once; empty if it was not measured or is no question."""
    if gain.state in (State.MEMORY, State.STARTUP):
        return ""
    if gain.startup is not None:
        return format_value(gain.startup, "s", locale, 2)
    return str(_("none")) if gain.compiles_nothing else ""


def name_release(env: BuildEnvironment, results: RecipeResults) -> str:
    """Return the release of what a recipe measures: PyTorch 2.15; empty if none are told apart."""
    names = env.config.recorded_gallery_package_names
    if not results.release:
        return ""
    return f"{names.get(results.package, results.package)} {results.release}".strip()


def sort_versions(releases: Sequence[str]) -> list[str]:
    """Return releases without duplicates, the newest last."""
    return sorted(set(releases), key=_version_numbers)


def _version_numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


def link_words(env: BuildEnvironment, recipe: str, words: Sequence[nodes.Node]) -> nodes.reference:
    """Return a link to a recipe around words, whose markup a link of Sphinx would leave out."""
    folder = posixpath.dirname(env.docname) or "."
    address = posixpath.relpath(f"{recipe}.html", folder)
    return nodes.reference("", "", *words, internal=True, refuri=address)


def fill_in(text: str, parts: Mapping[str, nodes.Node], locale: Locale) -> list[nodes.Node]:
    """Return a label as nodes, with one in the place of each ``%(name)s``."""
    filled: list[nodes.Node] = []
    for number, piece in enumerate(_PLACEHOLDER.split(text)):
        if number % 2:
            filled.append(parts[piece].deepcopy())
        elif piece:
            filled.append(nodes.Text(typeset(piece, locale)))
    return filled
