"""The directive ``results``: tables of all cases, in groups by what the work waits for.

The page of a recipe shows the recording ``recordings/<recipe>.ipynb``. Recordings of the recipe on
other machines are in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add rows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    DATA_CLASS,
    Measurement,
    RecipeResults,
    Typography,
    watch,
)

from ..charts.chart_data import Table, explain_gains
from ..charts.query import make_value
from ..labels import _
from ..make_nodes import make_element, make_paragraph, render
from ..navigation import list_recipes
from ..results_as_data import link_to_data, list_rows
from ..short_titles import short_title
from .gains import BUSY_FROM, Gain, Side, State, find_gains, measured_of
from .headline_directive_lines import headline, headline_list, list_cases, read_headlines
from .headline_parts import (
    are_single_runs,
    contradicts_times,
    draw_bars,
    format_startup,
    link_words,
    make_gain_range,
    make_legend,
    make_ratio,
    name_ratio,
    name_release,
    name_variant,
    sort_versions,
)

NOTHING = "–"
MOST_SHOWN = 3  # cases of a recipe in a group; others are folded


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
    """Return links to the groups, the legend, a table for each group, and links to the data."""
    typography = Typography.of(env.config)
    cases = _list_cases(env, headlines)
    gains = [case.gain for case in cases if case.gain]
    are_single = are_single_runs(gains)
    # All bars of the other groups are outlines, which their explanations tell.
    with_share = [gain for gain in gains if gain.state in (State.WAITS, State.BUSY)]
    notes = []
    if any(contradicts_times(gain, typography) for gain in gains):
        notes.append(explain_gains())
    legend = make_legend(gains, typography, notes, outlined=with_share)
    groups = group_cases(cases)
    links = _link_groups(groups, typography)
    tables = make_element("div", *links, legend, css_class="results")
    for state, members in groups:
        tables += _make_group(env, state, members, cases, are_marked=not are_single)
    rows: list[dict[str, Any]] = []
    for docname in watch(env, list_recipes):
        recipe = docname.partition("/")[2]
        for results in measured_of(env, docname):
            rows += list_rows(recipe, results)
    if not rows:
        return [tables]
    return [tables, link_to_data(env.docname, rows, typography)]


def _list_cases(env: BuildEnvironment, headlines: headline_list) -> list[Case]:
    """Return a case for each headline and machine, in the order of the headlines."""
    cases = []
    for node in list_cases(headlines):
        for results, gain in find_gains(env, node):
            cases.append(Case(words=node, results=results, gain=gain))
    return cases


def group_cases(cases: Sequence[Case]) -> list[tuple[State | None, list[Case]]]:
    """Return the groups that have members, each sorted by gain, the greatest first.

    Cases that were not measured are in the last group, which has no state.
    """
    groups: dict[State | None, list[Case]] = {state: [] for state in State}
    groups[None] = []
    for case in sorted(cases, key=_ratio, reverse=True):
        state = case.gain.state if case.gain else None
        groups[state].append(case)
    return [(state, members) for state, members in groups.items() if members]


def _ratio(case: Case) -> float:
    """Return by which factor a case gains; 0 if that was not measured."""
    if case.gain is None:
        return 0.0
    return case.gain.ratio.value


def _link_groups(
    groups: Sequence[tuple[State | None, Sequence[Case]]], typography: Typography
) -> list[nodes.Element]:
    """Return a list of the groups: a link, what their readers see, and the range of gains.

    Returns nothing where there is one group.
    """
    if len(groups) < 2:
        return []
    links = make_element("ul", css_class="group-links")
    for state, members in groups:
        title, _explanation = _describe_state(state, typography)
        address = {"href": f"#{_name_group(state)}"}
        entry = make_element("li", make_element("a", nodes.Text(title), attributes=address))
        symptom = _describe_symptom(state, typography)
        if symptom:
            entry += make_element("span", nodes.Text(symptom), css_class="group-symptom")
        gains = [case.gain for case in members if case.gain]
        if gains:
            quantity = make_element("span", nodes.Text(name_ratio(state)))
            gain_range = make_gain_range(gains, typography)
            entry += make_element("span", gain_range, quantity, css_class="group-gain")
        links += entry
    return [links]


def _describe_symptom(state: State | None, typography: Typography) -> str:
    """Return what readers see whose cases are in a group; nothing of what was not measured."""
    busy_from = typography.format_percent(BUSY_FROM)
    symptoms = {
        State.WAITS: _("GPU busy below %s") % busy_from,
        State.BUSY: _("GPU busy %s or more") % busy_from,
        State.MEMORY: _("CUDA out of memory"),
        State.STARTUP: _("The first call is slow"),
        State.OTHER: _("Data or CPU work is slow"),
    }
    if state is None:
        return ""
    return typography.typeset(symptoms[state])


def _name_group(state: State | None) -> str:
    """Return the anchor of a group."""
    return state.value if state else "not-measured"


def _make_group(
    env: BuildEnvironment,
    state: State | None,
    members: Sequence[Case],
    cases: Sequence[Case],
    *,
    are_marked: bool,
) -> nodes.Element:
    """Return the section of a group: title, explanation, table and, if measured, all figures.

    ``cases`` are those of the page: they decide which rows name their release or device.
    """
    typography = Typography.of(env.config)
    title, explanation = _describe_state(state, typography)
    group = make_element("section", css_class="headline-group")
    group["ids"] = [_name_group(state)]
    group += make_element("h2", nodes.Text(title))
    if explanation:
        group += nodes.paragraph("", explanation)
    table = make_element("table", _make_head(state), css_class="results-table")
    for recipe, recipe_cases in split_by_recipe(members):
        table += _make_body(env, state, recipe, recipe_cases, cases, is_marked=are_marked)
    group += table
    if state:
        figures = _make_figures(env, state, members)
        group += render("chart_data.html", table=figures, summary=_("Ranges and all numbers"))
    return group


def split_by_recipe(members: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    """Return the cases of each recipe, the recipe of the first case first."""
    by_recipe: dict[str, list[Case]] = {}
    for case in members:
        by_recipe.setdefault(case.words["recipe"], []).append(case)
    return list(by_recipe.items())


def _make_body(
    env: BuildEnvironment,
    state: State | None,
    recipe: str,
    members: Sequence[Case],
    cases: Sequence[Case],
    *,
    is_marked: bool,
) -> nodes.Element:
    """Return the rows of a recipe, below its title and what they are compared with.

    Those with less gain are folded where there are many.
    """
    baselines = _name_baselines(env, members)
    usual = baselines[0] if baselines else ""
    title = short_title(recipe) or recipe.rpartition("/")[2]
    words = nodes.Text(_("Recipe: %s") % title)
    heading = make_paragraph(link_words(env, recipe, [words]))
    if usual:
        heading += nodes.Text(" ")
        compared = _("compared with %s") % usual
        heading += nodes.inline("", compared, classes=["headline-baseline"])
    span = {"colspan": str(len(_column_names(None)) + 1), "scope": "rowgroup"}
    first_row = make_element(
        "tr", make_element("th", heading, attributes=span), css_class="headline-recipe"
    )
    rows = [_make_row(env, case, cases, usual, is_marked=is_marked) for case in members]
    shown = rows
    if len(rows) > MOST_SHOWN + 1:  # a single row would be no shorter when it is folded
        label = _label_fold(members[MOST_SHOWN:], Typography.of(env.config))
        shown = [*rows[:MOST_SHOWN], _fold_rows(rows[MOST_SHOWN:], state, label)]
    return make_element("tbody", first_row, *shown, css_class="headlines")


def _label_fold(members: Sequence[Case], typography: Typography) -> str:
    """Return how many cases are folded, and their gains, so that no loss is out of sight."""
    gains = [case.gain for case in members if case.gain]
    if not gains:
        return _("%s more of this recipe") % len(members)
    facts = {"count": len(members), "gains": make_gain_range(gains, typography).astext()}
    return _("%(count)s more of this recipe: %(gains)s") % facts


def _fold_rows(rows: Sequence[nodes.Element], state: State | None, label: str) -> nodes.Element:
    """Return a row with other rows, in a table that opens below their label."""
    table = make_element(
        "table", _make_head(state), make_element("tbody", *rows), css_class="results-table"
    )
    fold = make_element(
        "details", make_element("summary", nodes.Text(label)), table, css_class="more-cases"
    )
    span = {"colspan": str(len(_column_names(state)) + 1)}
    return make_element("tr", make_element("td", fold, attributes=span), css_class="headline-more")


def _make_head(state: State | None) -> nodes.Element:
    """Return the head of a table, with an empty cell above the names of the cases."""
    row = make_element("tr", make_element("td"))
    for name in _column_names(state):
        row += make_element("th", nodes.Text(name), attributes={"scope": "col"})
    return make_element("thead", row)


def _describe_state(state: State | None, typography: Typography) -> tuple[str, str]:
    """Return the title of a group, and a sentence about what its members have in common."""
    busy_from = typography.format_percent(BUSY_FROM)
    if state is State.WAITS:
        title = _("The GPU is waiting on the CPU")
        text = _("Before the change, the GPU is busy less than %s of the time.") % busy_from
    elif state is State.BUSY:
        title = _("The GPU is busy")
        text = _("Before the change, the GPU is busy at least %s of the time.") % busy_from
    elif state is State.MEMORY:
        title = _("Memory")
        text = _(
            "Peak GPU memory of a step, not counting weights and batch. Bars are outlines: they "
            "show memory, not time."
        )
    elif state is State.STARTUP:
        title = _("First calls")
        text = _(
            "First calls after compiler startup, or the time from process start to the first "
            "result. Bars are outlines: GPU share not measured."
        )
    elif state is State.OTHER:
        title = _("Data loading and CPU work")
        text = _("GPU time was not measured, or the work does not use the GPU: bars are outlines.")
    else:
        return _("[not measured yet]"), ""
    return title, text


def _name_baselines(env: BuildEnvironment, members: Sequence[Case]) -> list[str]:
    """Return the variants with which cases are compared, the most frequent first."""
    counts = Counter(_name_baseline(env, case) for case in members if case.gain)
    return [name for name, _count in counts.most_common()]


def _name_baseline(env: BuildEnvironment, case: Case) -> str:
    """Return the variant with which a case is compared; empty if it was not measured."""
    if case.gain is None:
        return ""
    return name_variant(env, case.words["recipe"], case.gain.before.measurement)


def _column_names(state: State | None) -> list[str]:
    """Return the headings of the columns with figures.

    What is less memory or less startup has no startup of its own, and nothing to break even. Less
    memory may cost time.
    """
    names = [_("Before and after"), name_ratio(state)]
    if state is State.MEMORY:
        names.append(_("Time per call"))
    elif state is not State.STARTUP:
        names += [_("Up-front cost"), _("Breaks even after")]
    return names


def _make_row(
    env: BuildEnvironment, case: Case, cases: Sequence[Case], usual: str, *, is_marked: bool
) -> nodes.Element:
    """Return the row of a case, which names its baseline if that is not the recipe's ``usual``."""
    title = _make_title(env, case, cases)
    baseline = _name_baseline(env, case)
    if baseline not in ("", usual):
        words = nodes.Text(_("compared with %s") % baseline)
        title += make_paragraph(words, css_class="headline-baseline")
    row = make_element("tr", title, css_class="headline")
    gain = case.gain
    if gain is None:
        row += _make_empty_cell(case)
        return row
    typography = Typography.of(env.config)
    bars_label, ratio_label, *more_labels = _column_names(gain.state)
    bars = draw_bars(env, case.words["recipe"], gain)
    row += _make_cell("headline-bars", bars_label, bars)
    ratio = make_ratio(gain, typography, is_marked=is_marked)
    figure = make_element("div", *ratio, css_class="marked-ratio")
    row += _make_cell("headline-ratio", ratio_label, figure)
    if gain.state is State.MEMORY:
        time_label = more_labels[0]
        times = _format_times(gain, typography) or _not_measured()
        row += _make_cell("headline-times", time_label, nodes.Text(times))
    elif more_labels:
        startup_label, calls_label = more_labels
        startup = format_startup(gain, typography) or _not_measured()
        row += _make_cell("headline-startup", startup_label, nodes.Text(startup))
        calls = _format_break_even(gain, typography)
        row += _make_cell("headline-pays", calls_label, nodes.Text(calls))
    return row


def _make_title(env: BuildEnvironment, case: Case, cases: Sequence[Case]) -> nodes.Element:
    """Return the first cell of a row: the author's words, with what distinguishes the recording.

    It names its device if ``cases`` are of several, and its release if others have a newer one.
    """
    words = case.words
    link = link_words(env, words["recipe"], words.deepcopy().children)
    name = make_paragraph(link, css_class="headline-case")
    name["classes"] += words["classes"]  # such as that of what is not translated
    recorded = [other.results for other in cases if other.results]
    devices = {results.device for results in recorded}
    if case.results and len(devices) > 1:
        device = case.results.device
        name += nodes.Text(" ")
        name += nodes.inline("", device, classes=["headline-mark", DATA_CLASS])
    if case.results and case.gain:
        *_older, newest = sort_versions([results.release for results in recorded])
        if case.results.release != newest:
            release = name_release(env, case.results)
            name += nodes.Text(" ")
            name += nodes.inline("", release, classes=["headline-mark"])
    return make_element("th", name, attributes={"scope": "row"})


def _make_empty_cell(case: Case) -> nodes.Element:
    """Return the cell of a case that was not measured, below all headings."""
    text = _("[not measured yet]")
    if case.results:
        text = NOTHING
    span = {"colspan": str(len(_column_names(None)))}
    return make_element("td", nodes.paragraph("", text), css_class="unmeasured", attributes=span)


def _make_cell(css_class: str, label: str, *children: nodes.Node) -> nodes.Element:
    """Return a cell, labelled with the heading of its column for phones."""
    return make_element("td", *children, css_class=css_class, attributes={"data-label": label})


def _format_times(gain: Gain, typography: Typography) -> str:
    """Return the wall times of a call before and after; empty if they were not measured."""
    before = gain.before.wall
    after = gain.after.wall
    if before is None or after is None:
        return ""
    words = [typography.format_measurement(time) for time in (before, after)]
    return " → ".join(words)


def _format_break_even(gain: Gain, typography: Typography) -> str:
    """Return after how many calls a change breaks even, or why there is no such number."""
    if gain.pays_after:
        return _("%s calls") % typography.format_measurement(gain.pays_after)
    if gain.saving.high < 1:
        return _("never")
    if gain.saving.low <= 1:
        return _("not certain")
    if gain.capture_pays_after:
        return _("%s calls") % typography.format_number(gain.capture_pays_after)
    costs_nothing = gain.compiles_nothing and gain.startup is None
    if costs_nothing and not gain.has_unknown_capture:
        return _("at once")
    return _not_measured()


def _not_measured() -> str:
    return _("not measured")


def _make_figures(env: BuildEnvironment, state: State, members: Sequence[Case]) -> Table:
    """Return a table of all figures of a group with their ranges."""
    typography = Typography.of(env.config)
    head = [
        "",
        name_ratio(state),
        _("Before"),
        _("After"),
        _("GPU busy"),
        _("Share of the limit"),
        _("First call"),
        _("Breaks even after"),
    ]
    rows = []
    for case in members:
        gain = case.gain
        if gain is None:
            continue
        row = [
            case.words.astext(),
            _describe(gain.ratio, typography),
            _describe_side(env, case, gain.before),
            _describe_side(env, case, gain.after),
            _describe_busy(gain, typography),
            _describe(gain.share, typography),
            _describe(gain.first_call, typography),
            _describe_break_even(gain, typography),
        ]
        rows.append(row)
    return Table(head=head, rows=rows)


def _describe(measurement: Measurement | None, typography: Typography) -> str:
    """Return a measurement with its range, nothing if there is none."""
    if measurement is None:
        return ""
    return make_value(measurement, typography).full_words


def _describe_break_even(gain: Gain, typography: Typography) -> str:
    """Return the break-even with its range, or what the row has in its place."""
    if gain.state in (State.MEMORY, State.STARTUP):
        return ""
    return _describe(gain.pays_after, typography) or _format_break_even(gain, typography)


def _describe_side(env: BuildEnvironment, case: Case, side: Side) -> str:
    """Return the name of a variant, and its measurement with the range."""
    name = name_variant(env, case.words["recipe"], side.measurement)
    typography = Typography.of(env.config)
    return typography.typeset(f"{name}: {_describe(side.measurement, typography)}")


def _describe_busy(gain: Gain, typography: Typography) -> str:
    """Return how busy the GPU is before and after; nothing where that is not known or no matter."""
    if gain.state not in (State.WAITS, State.BUSY):
        return ""
    before = gain.before.busy_share
    after = gain.after.busy_share
    if before is None or after is None:
        return ""
    return f"{typography.format_percent(before)} → {typography.format_percent(after)}"
