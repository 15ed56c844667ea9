"""The directive ``results``: every case in a table, in groups by what the work waits for.

``recordings/<recipe>.ipynb`` is the recording a page shows. Recordings of the same recipe on
other machines lie in folders beside it, ``recordings/<machine>/<recipe>.ipynb``, and add rows.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

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
    """A row of the page: the author's words, and what a machine says; neither if unmeasured."""

    words: headline
    results: RecipeResults | None
    gain: Gain | None


class Results(SphinxDirective):
    """Name the headlines of the results page."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the headlines, which are drawn when they have been translated."""
        return read_headlines(self, draw_results)


def draw_results(env: BuildEnvironment, headlines: headline_list) -> list[nodes.Node]:
    """Return the legend, a table for each group, and links to the data."""
    locale = current_language(env.config).locale
    cases = [
        Case(words=node, results=results, gain=gain)
        for node in headlines
        if isinstance(node, headline)
        for results, gain in find_gains(env, node)
    ]
    drawn = html_element("", render("legend.html", has_ranges=True), tag="div", classes=["results"])
    for state, members in group_cases(cases):
        drawn += _make_group(env, state, members, cases)
    rows = [
        row
        for docname in watch(env, list_recipes)
        for results in measured_of(env, docname)
        for row in list_rows(docname.partition("/")[2], results)
    ]
    return [drawn, *([link_to_data(env.docname, rows, locale)] if rows else [])]


def group_cases(cases: Sequence[Case]) -> list[tuple[State | None, list[Case]]]:
    """Return groups with members by what the work waits for, the greatest gain first.

    What was not measured stands in a group without a state, at the end.
    """
    groups: list[tuple[State | None, list[Case]]] = []
    for state in State:
        members = [case for case in cases if case.gain and case.gain.state is state]
        members.sort(key=lambda case: -case.gain.ratio.value if case.gain else 0.0)
        if members:
            groups.append((state, members))
    if unmeasured := [case for case in cases if not case.gain]:
        groups.append((None, unmeasured))
    return groups


def _make_group(
    env: BuildEnvironment, state: State | None, members: Sequence[Case], cases: Sequence[Case]
) -> nodes.Element:
    title, explanation = _describe_state(state)
    heading = html_element("", nodes.Text(title), tag="h2", classes=[])
    name = state.value if state else "not-measured"
    group = html_element("", heading, tag="section", classes=["headline-group"], ids=[name])
    if names := _name_baselines(env, members):
        compared = str(_("Compared with: %s.") % ", ".join(names))
        locale = current_language(env.config).locale
        explanation = typeset(f"{explanation} {compared}", locale)
    if explanation:
        group += nodes.paragraph("", explanation)
    columns = _column_names()
    heads = [html_element(tag="td", classes=[])]
    for column in columns:
        attributes = {"scope": "col"}
        heads.append(
            html_element("", nodes.Text(column), tag="th", classes=[], attributes=attributes)
        )
    head_row = html_element("", *heads, tag="tr", classes=[])
    head = html_element("", head_row, tag="thead", classes=[])
    body = html_element(tag="tbody", classes=["headlines"])
    newest = (sort_versions([case.results.release for case in cases if case.results]) or [""])[-1]
    devices = {case.results.device for case in cases if case.results}
    for case in members:
        body += _make_row(env, case, newest=newest, names_device=len(devices) > 1)
    group += html_element("", head, body, tag="table", classes=["results-table"])
    if state:
        table = _make_figures(env, members)
        group += render("chart_data.html", table=table, summary=_("Ranges and all numbers"))
    return group


def _describe_state(state: State | None) -> tuple[str, str]:
    """Return title of a group and what its members have in common."""
    if state is State.WAITS:
        title = _("The GPU waits")
        text = _("Before the change, the GPU works less than 80% of the time.")
    elif state is State.BUSY:
        title = _("The GPU is busy")
        text = _("Before the change, the GPU works at least 80% of the time.")
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
    """Return what the members of a group are compared with, the most frequent first."""
    names = Counter(
        name_variant(env, case.words["recipe"], case.gain.before.measurement)
        for case in members
        if case.gain
    )
    return [name for name, _count in names.most_common()]


def _column_names() -> list[str]:
    names = _("Before and after"), _("Speed-up"), _("Startup"), _("Breaks even after")
    return [str(name) for name in names]


def _make_row(
    env: BuildEnvironment, case: Case, *, newest: str, names_device: bool
) -> nodes.Element:
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
        span = {"colspan": str(len(_column_names()))}
        row += html_element("", text, tag="td", classes=["unmeasured"], attributes=span)
        return row
    if case.results.release != newest:
        release = nodes.inline("", name_release(env, case.results), classes=["headline-mark"])
        name += [nodes.Text(" "), release]
    bars, ratio, startup, pays = _column_names()
    row += html_element(
        "",
        draw_bars(env, case.words["recipe"], gain),
        tag="td",
        classes=["headline-bars"],
        attributes={"data-label": bars},
    )
    cells = [
        (ratio, make_ratio(gain, locale), "headline-ratio"),
        (startup, [nodes.Text(format_startup(gain, locale) or NOTHING)], "headline-startup"),
        (pays, [nodes.Text(_format_calls(env, gain.pays_after))], "headline-pays"),
    ]
    for label, parts, kind in cells:
        cell = html_element("", *parts, tag="td", classes=[kind], attributes={"data-label": label})
        row += cell
    return row


def _format_calls(env: BuildEnvironment, pays_after: Measurement | None) -> str:
    if pays_after is None:
        return NOTHING
    calls = format_measurement(pays_after, current_language(env.config).locale)
    return str(_("%s calls") % calls)


def _make_figures(env: BuildEnvironment, members: Sequence[Case]) -> Table:
    """Return all figures of a group with their ranges, which a page folds."""
    locale = current_language(env.config).locale
    head = ["", _("Speed-up"), _("Before"), _("After"), _("GPU busy"), _("Of the limit")]
    head += [_("First call"), _("Breaks even after")]
    rows = []
    for case in members:
        gain = case.gain
        if gain is None:
            continue
        optional = [gain.share, gain.first_call, gain.pays_after]
        rows.append(
            [
                case.words.astext(),
                make_value(gain.ratio, locale).full_words,
                _describe_side(env, case, gain.before),
                _describe_side(env, case, gain.after),
                _describe_busy(env, gain),
                *(make_value(each, locale).full_words if each else "" for each in optional),
            ]
        )
    return Table(head=[str(title) for title in head], rows=rows)


def _describe_side(env: BuildEnvironment, case: Case, side: Side) -> str:
    """Return the name of a variant and its measurement with the range."""
    locale = current_language(env.config).locale
    name = name_variant(env, case.words["recipe"], side.measurement)
    return f"{name}: {make_value(side.measurement, locale).full_words}"


def _describe_busy(env: BuildEnvironment, gain: Gain) -> str:
    locale = current_language(env.config).locale
    before, after = gain.before.busy_share, gain.after.busy_share
    if before is None or after is None or gain.state in (State.STARTUP, State.OTHER):
        return ""
    return f"{format_percent(before, locale)} → {format_percent(after, locale)}"
