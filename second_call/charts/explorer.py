"""The explorer of the break-even: which variant is fastest for as many calls as a reader makes.

A line is the time of all calls of a variant, its start included. Without a script a page has a
sentence for ``CALLS`` calls; ``_static/explorer.js`` says the same for others.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log10

from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import Typography

from ..labels import _
from ..make_nodes import render_html
from .chart_data import ChartData, ChartRow, Drawing, Role, Table
from .plot import Axis, Line, draw_plot
from .query import query
from .scales import Scale, format_seconds, format_value, label_ticks, time_words

CALLS = 10_000
# the row of the harness that tells what starting the compiler takes
START_UP_CASE, START_UP = "process", "start_up"
LEAST, MOST = 10, 1_000_000  # calls
NEARLY = 1.15  # times that differ by less are about the same
_STEPS_OF_DECADE = 12  # of a line, which is bent on logarithmic axes
_MOST_TICKS = 7
_MOST_COUNTS = 4  # a phone has no room for more numbers of seven digits
_TABLE_COUNTS = (1000, CALLS, 100_000)  # columns of the table: calls
_TABLE_DIGITS = 3
# Seconds that have a tick, if they are on the axis
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 36_000, 360_000)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What a variant costs."""

    name: str
    start: float  # seconds that it takes once
    call: float  # seconds of a later call
    role: str = Role.OTHER
    words: str = ""  # a later call as the whole page writes it

    def total(self, calls: float) -> float:
        """Return the seconds of so many calls."""
        return self.start + calls * self.call


def query_costs(
    env: BuildEnvironment, docname: str, *, case: str, best: str = ""
) -> tuple[ChartData, ChartData]:
    """Return wall times and first calls of a case, and the compiler's own start-up.

    Problems of both are those of the first. Raises ``ValueError`` as ``query`` does.
    """
    data = query(env, docname, case=case, quantities=["wall"], optional=["first_call"], best=best)
    if any("first_call" in row.values for row in data.rows):
        start_up = query(env, docname, case=START_UP_CASE, quantities=[START_UP])
    else:
        start_up = ChartData(typography=data.typography)  # nothing is compiled
    return data, start_up


def draw_explorer(data: ChartData, start_up: ChartData) -> Drawing | None:
    """Draw what the variants of a case cost, with a slider for the number of calls.

    Returns None if there are fewer than two to choose from.
    """
    variants = _find_costs(data, start_up)
    if len(variants) < 2:
        return None
    typography = data.typography
    words = _words(typography)
    sentence = describe(data.case, variants, CALLS, typography, words)
    marks = json.dumps(list(typography.marks.items()))
    html = render_html(
        "explorer.html",
        sentence=sentence,
        words={**words, "nearly": NEARLY, "marks": marks},
        ends=(LEAST, MOST),
        powers=[log10(LEAST), log10(MOST), log10(CALLS)],
        calls=format_value(CALLS, "", typography),
        gap=typography.typeset("。 ")[1:],  # between two sentences
        name=data.case,
        variants=_list_costs(variants),
        drawn=_draw(variants, sentence, words, typography),
    )
    return Drawing(html=html, table=_make_table(variants, data, words))


def _list_costs(variants: Sequence[Variant]) -> str:
    """Return the names and the costs of variants as JSON, for explorer.js."""
    costs = [[variant.name, variant.start, variant.call] for variant in variants]
    return json.dumps(costs, ensure_ascii=False)


def _make_table(variants: Sequence[Variant], data: ChartData, words: Mapping[str, str]) -> Table:
    """Return what each variant takes at the start, for a call, and for some numbers of calls."""
    typography = data.typography
    head = ["", _("at the start"), _("each call")]
    for count in _TABLE_COUNTS:
        head.append(_("%s calls") % format_value(count, "", typography))
    rows = []
    for variant in variants:
        start = "0"
        if variant.start:
            start = format_seconds(variant.start, typography, words, _TABLE_DIGITS)
        row = [f"{data.case} · {variant.name}", start, variant.words]
        for count in _TABLE_COUNTS:
            total = variant.total(count)
            row.append(format_seconds(total, typography, words, _TABLE_DIGITS))
        rows.append(row)
    return Table(head=head, rows=rows)


def _find_costs(data: ChartData, start_up: ChartData) -> list[Variant]:
    """Return what the variants of the case cost.

    What compiles pays for its first call, as far as it is longer, and for the compiler's own start.
    """
    variants = []
    for row in data.rows:
        wall = row.values.get("wall")
        if wall is None:
            continue
        start = _find_start(row, start_up)
        if start is None:
            continue
        variant = Variant(
            name=row.name,
            start=start,
            call=wall.number,
            role=row.role,
            words=wall.words,
        )
        variants.append(variant)
    return variants


def _find_start(row: ChartRow, start_up: ChartData) -> float | None:
    """Return the seconds that a variant takes once; None if the compiler's start is unknown."""
    first_call = row.values.get("first_call")
    if first_call is None:
        return 0.0
    if not start_up.rows:
        return None
    compiler = start_up.rows[0].values[START_UP].number
    return compiler + max(first_call.number - row.values["wall"].number, 0)


def _words(typography: Typography) -> dict[str, str]:
    """Return what the explorer says, and explorer.js as well."""
    return {
        # between the entries of a list but the last two: a comma and a space
        "separator": str(typography.locale.list_patterns["standard"]["middle"]).format("", ""),
        "one": _("%(case)s, %(calls)s calls. Fastest: %(variant)s (%(times)s)."),
        "several": _("%(case)s, %(calls)s calls: %(variant)s take about the same (%(times)s)."),
        "two": _("%(first)s and %(last)s"),
        **time_words(),
    }


def describe(
    case: str,
    costs: Sequence[Variant],
    calls: int,
    typography: Typography,
    words: Mapping[str, str],
) -> str:
    """Return the sentence that answers which variant is fastest."""
    variants = sorted(costs, key=lambda variant: variant.total(calls))
    least = variants[0].total(calls)
    best = []
    times = []
    for variant in variants:
        total = variant.total(calls)
        times.append(f"{variant.name} {format_seconds(total, typography, words)}")
        if total < NEARLY * least:
            best.append(variant.name)
    if len(best) == 1:
        sentence = words["one"]
        names = best[0]
    else:
        sentence = words["several"]
        first = words["separator"].join(best[:-1])
        names = words["two"] % {"first": first, "last": best[-1]}
    facts = {
        "case": case,
        "calls": format_value(calls, "", typography),
        "variant": names,
        "times": words["separator"].join(times),
    }
    return typography.typeset(sentence % facts)


def _draw(
    variants: Sequence[Variant], label: str, words: Mapping[str, str], typography: Typography
) -> str:
    """Return the lines of the variants, with a mark at ``CALLS``."""
    low = min(variant.total(LEAST) for variant in variants)
    high = max(variant.total(MOST) for variant in variants)
    across = Scale(low=LEAST, high=MOST, start=0, end=100, is_log=True)
    up = Scale(low=low, high=high, start=100, end=0, is_log=True)
    decades = round(log10(MOST / LEAST))
    steps = _STEPS_OF_DECADE * decades
    counts = [LEAST * (MOST / LEAST) ** (step / steps) for step in range(steps + 1)]
    lines = []
    for variant in variants:
        points = []
        for count in counts:
            total = variant.total(count)
            points.append((across(count), up(total)))
        line = Line(name=variant.name, role=variant.role, points=points, has_dots=False)
        lines.append(line)
    return draw_plot(
        label=label,
        lines=lines,
        across=Axis(
            name=_("Calls in your run"),
            ticks=label_ticks(across, "", typography, _MOST_COUNTS),
        ),
        up=Axis(name="", ticks=_time_ticks(up, words, typography)),
        mark=across(CALLS),
    )


def _time_ticks(
    up: Scale, words: Mapping[str, str], typography: Typography
) -> list[tuple[float, str]]:
    """Return place and label of ticks; of many, every second, third or later one has one."""
    seconds_of_ticks = [seconds for seconds in _TICKS if up.low <= seconds <= up.high]
    interval = max(1, ceil(len(seconds_of_ticks) / _MOST_TICKS))
    ticks = []
    for seconds in seconds_of_ticks[::interval]:
        ticks.append((up(seconds), format_seconds(seconds, typography, words)))
    return ticks
