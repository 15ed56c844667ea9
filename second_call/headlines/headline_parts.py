"""Parts that the front page and the results share: the two bars of a case, ratios, startup."""

import posixpath
import re
from collections.abc import Mapping, Sequence

from docutils import nodes
from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import Gallery, Measurement, RecipeResults, Typography

from ..charts.bars import GPU, WALL, draw_busy_bars, draw_plain_bars, find_end_of_row
from ..charts.chart_data import ChartData, ChartRow, Role, contradicts_quotient
from ..charts.query import describe_runs, make_value
from ..charts.scales import format_rounded
from ..labels import _
from ..make_nodes import make_element, render
from ..renamed_variants import list_plain_names
from .gains import Gain, Side, State

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def name_variant(env: BuildEnvironment, recipe: str, measurement: Measurement) -> str:
    """Return what a variant is called by readers who have not read its recipe."""
    plain_names = list_plain_names(recipe.rpartition("/")[2])
    if measurement.variant in plain_names:
        return plain_names[measurement.variant]
    return Gallery(env).name_word(recipe, measurement.variant)


def draw_bars(env: BuildEnvironment, recipe: str, gain: Gain) -> nodes.Element:
    """Return two bars, before and after."""
    typography = Typography.of(env.config)
    gallery = Gallery(env)
    quantity = gain.after.measurement.quantity
    quantities = {quantity: gallery.name_quantity(recipe, quantity)}
    has_gpu = has_busy_bars(gain)
    if has_gpu:
        quantities[GPU] = gallery.name_quantity(recipe, GPU)
    data = ChartData(
        typography=typography,
        quantities=quantities,
        rows=[
            _make_row(env, recipe, gain.before, Role.BEFORE, has_gpu=has_gpu),
            _make_row(env, recipe, gain.after, Role.BEST, has_gpu=has_gpu),
        ],
    )
    if has_gpu:
        drawing = draw_busy_bars(data, compact=True)
    else:
        drawing = draw_plain_bars(data, compact=True)
    box = make_element("div", css_class="chart")
    if drawing:
        box += nodes.raw("", drawing.html, format="html")
    return box


def _make_row(
    env: BuildEnvironment, recipe: str, side: Side, role: Role, *, has_gpu: bool
) -> ChartRow:
    typography = Typography.of(env.config)
    measurement = side.measurement
    values = {measurement.quantity: make_value(measurement, typography)}
    if has_gpu and side.gpu:
        values[GPU] = make_value(side.gpu, typography)
    return ChartRow(
        variant=measurement.variant,
        name=name_variant(env, recipe, measurement),
        role=role,
        values=values,
    )


def are_single_runs(gains: Sequence[Gain]) -> bool:
    """Return whether each gain is of one run: then a page says so once, and marks none."""
    return bool(gains) and all(gain.ratio.processes == 1 for gain in gains)


def describe_single_runs() -> str:
    """Return what stands above gains that are of one run each."""
    return _("Each number comes from a single run; ranges will follow with more machines.")


def contradicts_times(gain: Gain, typography: Typography) -> bool:
    """Tell whether the speed-up of a case is not the quotient of the two times that it shows."""
    before = make_value(gain.before.measurement, typography)
    after = make_value(gain.after.measurement, typography)
    ratio = make_value(gain.ratio, typography)
    return after.unit == "s" and contradicts_quotient(before, after, ratio)


def make_legend(
    gains: Sequence[Gain],
    typography: Typography,
    notes: Sequence[str] = (),
    *,
    outlined: Sequence[Gain] | None = None,
) -> nodes.raw:
    """Return what the marks mean that the bars of cases have, and sentences about all of them.

    ``outlined`` are the cases whose outlines it explains; without it, all of them.
    """
    if outlined is None:
        outlined = gains
    sentences = [*notes]
    if are_single_runs(gains):
        sentences.append(describe_single_runs())
    return render(
        "legend.html",
        has_waiting=any(has_busy_bars(gain) for gain in gains),
        has_unknown=any(has_outlines(gain) for gain in outlined),
        has_ranges=not are_single_runs(gains),
        has_cut_ranges=any(has_cut_range(gain) for gain in gains),
        notes=[typography.typeset(sentence) for sentence in sentences],
    )


def has_cut_range(gain: Gain) -> bool:
    """Return whether the range of a bar of a case goes on beyond its drawing."""
    measurements = [gain.before.measurement, gain.after.measurement]
    end = find_end_of_row([measurement.value for measurement in measurements])
    return any(measurement.high > end for measurement in measurements)


def has_busy_bars(gain: Gain) -> bool:
    """Return whether bars tell how busy the GPU is: of wall time, if the GPU has a part in it."""
    is_wall_time = gain.after.measurement.quantity == WALL
    return is_wall_time and gain.state in (State.WAITS, State.BUSY)


def has_outlines(gain: Gain) -> bool:
    """Return whether a bar of a case is an outline, as it does not tell how busy the GPU is."""
    return not has_busy_bars(gain) or gain.before.gpu is None or gain.after.gpu is None


def make_ratio(gain: Gain, typography: Typography, *, is_marked: bool) -> list[nodes.Node]:
    """Return how many times as fast the work is, if ``is_marked`` with a mark for few runs."""
    ratio = nodes.strong("", typography.format_measurement(gain.ratio))
    if not gain.is_seen:
        ratio["classes"].append("no-gain")
    runs = describe_runs(gain.ratio)
    if not runs or not is_marked:
        return [ratio]
    mark = nodes.inline("", runs, classes=["headline-mark"])
    return [ratio, nodes.Text(" "), mark]


def make_gain_range(gains: Sequence[Gain], typography: Typography) -> nodes.strong:
    """Return the least and the greatest speed-up, as the results write them."""
    ratios = sorted((gain.ratio for gain in gains), key=lambda ratio: ratio.value)
    least = typography.format_measurement(ratios[0])
    greatest = typography.format_measurement(ratios[-1])
    if least == greatest:
        return nodes.strong("", greatest)
    return nodes.strong("", typography.join_ends(least.removesuffix("×"), greatest))


def name_ratio(state: State | None) -> str:
    """Return what the ratio of a gain is of."""
    if state is State.MEMORY:
        return _("Memory reduction")
    return _("Speed-up")


def format_startup(gain: Gain, typography: Typography) -> str:
    """Return what a process takes once; empty if it was not measured or is no question."""
    if gain.state in (State.MEMORY, State.STARTUP):
        return ""
    if gain.startup is not None:
        return format_rounded(gain.startup, "s", typography, 2)
    if gain.compiles_nothing and not gain.has_unknown_capture:
        return _("none")
    return ""


def name_release(env: BuildEnvironment, results: RecipeResults) -> str:
    """Return the release of what a recipe measures: PyTorch 2.15; empty if none are told apart."""
    if not results.release:
        return ""
    names = env.config.recorded_gallery_package_names
    package = names.get(results.package, results.package)
    return f"{package} {results.release}".strip()


def sort_versions(releases: Sequence[str]) -> list[str]:
    """Return releases without duplicates, the newest last."""
    return sorted(set(releases), key=_version_numbers)


def _version_numbers(release: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", release)]


def link_words(env: BuildEnvironment, recipe: str, words: Sequence[nodes.Node]) -> nodes.reference:
    """Return a link to a recipe around words, whose markup a link of Sphinx would leave out."""
    folder = posixpath.dirname(env.docname)
    address = posixpath.relpath(f"{recipe}.html", folder or ".")
    return nodes.reference("", "", *words, internal=True, refuri=address)


def fill_in(text: str, parts: Mapping[str, nodes.Node], typography: Typography) -> list[nodes.Node]:
    """Return a label as nodes, with one in the place of each ``%(name)s``."""
    filled: list[nodes.Node] = []
    end = 0
    for placeholder in _PLACEHOLDER.finditer(text):
        words = text[end : placeholder.start()]
        if words:
            filled.append(nodes.Text(typography.typeset(words)))
        filled.append(parts[placeholder[1]].deepcopy())
        end = placeholder.end()
    if text[end:]:
        filled.append(nodes.Text(typography.typeset(text[end:])))
    return filled
