"""The directive ``results``: tables of all cases, in groups by what the work waits for.

The page of a recipe shows the recording ``recordings/<recipe>.ipynb``. Recordings of the recipe on
other machines are in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add rows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from babel import Locale
from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    DATA_CLASS,
    Measurement,
    RecipeResults,
    current_language,
    format_measurement,
    format_percent,
    typeset,
    watch,
)

from ..charts.chart_data import Table
from ..charts.query import make_value
from ..make_nodes import html_element, render
from ..navigation import list_recipes
from ..results_as_data import link_to_data, list_rows
from .gains import Gain, Side, State, find_gains, measured_of
from .headline_directive_lines import headline, headline_list, read_headlines
from .headline_parts import (
    draw_bars,
    format_startup,
    link_words,
    make_ratio,
    name_release,
    name_variant,
    sort_versions,
)

_ = get_translation("second_call")

NOTHING = "–"


@dataclass(frozen=True, kw_only=True)
class Case:
    """A row of the page: the author's words, and the results of one machine.

    ``results`` is None if there is no recording, ``gain`` if the recording lacks a measurement.
    """

    words: headline
    results: RecipeResults | None
    gain: Gain | None


class Results(SphinxDirective):
    """Contains the headlines of the results page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the headlines, which ``draw_results`` draws after translation."""
        return read_headlines(self, draw_results)


def draw_results(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the legend, a table for each group, and links to the data."""
    locale = current_language(env.config).locale
    cases = _list_cases(env, headlines)
    legend = render("legend.html", has_ranges=True)
    tables = html_element("", legend, tag="div", classes=["results"])
    for state, members in group_cases(cases):
        tables += _make_group(env, state, members, cases)
    rows: list[dict[str, Any]] = []
    for docname in watch(env, list_recipes):
        recipe = docname.partition("/")[2]
        for results in measured_of(env, docname):
            rows += list_rows(recipe, results)
    if not rows:
        return [tables]
    return [tables, link_to_data(env.docname, rows, locale)]


def _list_cases(env: BuildEnvironment, headlines: headline_list) -> list[Case]:
    """Return a case for each headline and machine, in the order of the headlines."""
    cases = []
    for node in headlines:
        if isinstance(node, headline):
            for results, gain in find_gains(env, node):
                cases.append(Case(words=node, results=results, gain=gain))
    return cases


def group_cases(cases: Sequence[Case]) -> list[tuple[State | None, list[Case]]]:
    """Return the groups that have members, each sorted by gain, the greatest first.

    Cases that were not measured are in the last group, which has no state.
    """
    groups: list[tuple[State | None, list[Case]]] = []
    for state in State:
        members = [case for case in cases if case.gain and case.gain.state is state]
        members.sort(key=_ratio, reverse=True)
        if members:
            groups.append((state, members))
    unmeasured = [case for case in cases if not case.gain]
    if unmeasured:
        groups.append((None, unmeasured))
    return groups


def _ratio(case: Case) -> float:
    """Return by which factor a measured case gains."""
    assert case.gain is not None
    return case.gain.ratio.value


def _make_group(
    env: BuildEnvironment, state: State | None, members: Sequence[Case], cases: Sequence[Case]
) -> nodes.Element:
    """Return the section of a group: title, explanation, table and, if measured, all figures.

    ``cases`` are those of the page: they decide which rows name their release or device.
    """
    title, explanation = _describe_state(state)
    heading = html_element("", nodes.Text(title), tag="h2", classes=[])
    anchor = state.value if state else "not-measured"
    group = html_element("", heading, tag="section", classes=["headline-group"], ids=[anchor])
    if baselines := _name_baselines(env, members):
        compared = str(_("Compared with: %s.") % ", ".join(baselines))
        locale = current_language(env.config).locale
        explanation = typeset(f"{explanation} {compared}", locale)
    if explanation:
        group += nodes.paragraph("", explanation)
    recorded = [case.results for case in cases if case.results]
    releases = sort_versions([results.release for results in recorded])
    newest = releases[-1] if releases else ""
    devices = {results.device for results in recorded}
    body = html_element(tag="tbody", classes=["headlines"])
    for case in members:
        body += _make_row(env, case, newest=newest, names_device=len(devices) > 1)
    group += html_element("", _make_head(state), body, tag="table", classes=["results-table"])
    if state:
        table = _make_figures(env, state, members)
        group += render("chart_data.html", table=table, summary=_("Ranges and all numbers"))
    return group


def _make_head(state: State | None) -> nodes.Element:
    """Return the head of a table, with an empty cell above the names of the cases."""
    row = html_element("", html_element(tag="td", classes=[]), tag="tr", classes=[])
    for column in _column_names(state):
        text = nodes.Text(column)
        row += html_element("", text, tag="th", classes=[], attributes={"scope": "col"})
    return html_element("", row, tag="thead", classes=[])


def _describe_state(state: State | None) -> tuple[str, str]:
    """Return the title of a group, and a sentence about what its members have in common."""
    if state is State.WAITS:
        title = _("The GPU waits")
        text = _("Before the change, the GPU works less than 80% of the time.")
    elif state is State.BUSY:
        title = _("The GPU is busy")
        text = _("Before the change, the GPU works at least 80% of the time.")
    elif state is State.MEMORY:
        title = _("Memory")
        text = _("The peak of GPU memory in a step, beside weights and batch.")
    elif state is State.STARTUP:
        title = _("Startup")
        text = _("How long the first result takes.")
    elif state is State.OTHER:
        title = _("Data loading and work of the CPU")
        text = _("How busy the GPU is was not measured, or it has no part in the work.")
    else:
        return str(_("[not measured yet]")), ""
    return str(title), str(text)


def _name_baselines(env: BuildEnvironment, members: Sequence[Case]) -> list[str]:
    """Return the variants with which a group is compared, the most frequent first."""
    counts: Counter[str] = Counter()
    for case in members:
        if case.gain:
            name = name_variant(env, case.words["recipe"], case.gain.before.measurement)
            counts[name] += 1
    return [name for name, _count in counts.most_common()]


def _column_names(state: State | None) -> list[str]:
    """Return the headings of the four columns with figures."""
    names = [_("Before and after"), _name_ratio(state), _("Startup"), _("Breaks even after")]
    return [str(name) for name in names]


def _name_ratio(state: State | None) -> str:
    """Return the heading of the column with ratios."""
    return str(_("Times less memory") if state is State.MEMORY else _("Speed-up"))


def _make_row(
    env: BuildEnvironment, case: Case, *, newest: str, names_device: bool
) -> nodes.Element:
    """Return the row of a case, which names its release if that is older than ``newest``."""
    locale = current_language(env.config).locale
    link = link_words(env, case.words["recipe"], case.words.deepcopy().children)
    name = nodes.paragraph("", "", link, classes=["headline-case", *case.words["classes"]])
    title = html_element("", name, tag="th", classes=[], attributes={"scope": "row"})
    row = html_element("", title, tag="tr", classes=["headline"], attributes={})
    if case.results and names_device:
        device = nodes.inline("", case.results.device, classes=["headline-mark", DATA_CLASS])
        name += [nodes.Text(" "), device]
    gain = case.gain
    if gain is None or case.results is None:
        text = nodes.paragraph("", NOTHING if case.results else _("[not measured yet]"))
        span = {"colspan": str(len(_column_names(None)))}
        row += html_element("", text, tag="td", classes=["unmeasured"], attributes=span)
        return row
    if case.results.release != newest:
        release = nodes.inline("", name_release(env, case.results), classes=["headline-mark"])
        name += [nodes.Text(" "), release]
    bars = draw_bars(env, case.words["recipe"], gain)
    startup = nodes.Text(format_startup(gain, locale) or NOTHING)
    calls = nodes.Text(_format_calls(env, gain.pays_after))
    bars_label, ratio_label, startup_label, calls_label = _column_names(gain.state)
    row += _make_cell("headline-bars", bars_label, bars)
    row += _make_cell("headline-ratio", ratio_label, *make_ratio(gain, locale))
    row += _make_cell("headline-startup", startup_label, startup)
    row += _make_cell("headline-pays", calls_label, calls)
    return row


def _make_cell(css_class: str, label: str, *children: nodes.Node) -> nodes.Element:
    """Return a cell, labelled with the heading of its column for phones."""
    attributes = {"data-label": label}
    return html_element("", *children, tag="td", classes=[css_class], attributes=attributes)


def _format_calls(env: BuildEnvironment, pays_after: Measurement | None) -> str:
    """Return after how many calls a change breaks even, a dash if it was not measured."""
    if pays_after is None:
        return NOTHING
    calls = format_measurement(pays_after, current_language(env.config).locale)
    return str(_("%s calls") % calls)


def _make_figures(env: BuildEnvironment, state: State, members: Sequence[Case]) -> Table:
    """Return a table of all figures of a group with their ranges."""
    locale = current_language(env.config).locale
    head = [
        "",
        _name_ratio(state),
        _("Before"),
        _("After"),
        _("GPU busy"),
        _("Of the limit"),
        _("First call"),
        _("Breaks even after"),
    ]
    rows = []
    for case in members:
        gain = case.gain
        if gain is None:
            continue
        rows.append(
            [
                case.words.astext(),
                make_value(gain.ratio, locale).full_words,
                _describe_side(env, case, gain.before),
                _describe_side(env, case, gain.after),
                _describe_busy(env, gain),
                _describe_optional(gain.share, locale),
                _describe_optional(gain.first_call, locale),
                _describe_optional(gain.pays_after, locale),
            ]
        )
    return Table(head=[str(title) for title in head], rows=rows)


def _describe_optional(measurement: Measurement | None, locale: Locale) -> str:
    """Return a measurement with its range, nothing if there is none."""
    return make_value(measurement, locale).full_words if measurement else ""


def _describe_side(env: BuildEnvironment, case: Case, side: Side) -> str:
    """Return the name of a variant, and its measurement with the range."""
    locale = current_language(env.config).locale
    name = name_variant(env, case.words["recipe"], side.measurement)
    return f"{name}: {make_value(side.measurement, locale).full_words}"


def _describe_busy(env: BuildEnvironment, gain: Gain) -> str:
    """Return how busy the GPU is before and after; nothing where that is not known or no matter."""
    locale = current_language(env.config).locale
    before, after = gain.before.busy_share, gain.after.busy_share
    if before is None or after is None or gain.state not in (State.WAITS, State.BUSY):
        return ""
    return f"{format_percent(before, locale)} → {format_percent(after, locale)}"
