"""The explorer of the break-even: which variant is fastest for as many calls as a reader makes.

A line is the time of all calls of a variant, its start included. Without a script a page has a
sentence for ``CALLS`` calls; ``_static/explorer.js`` says the same for others.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log10

from babel import Locale
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import marks_of, typeset

from ..make_nodes import render_html
from .chart_data import ChartData, ChartRow, Drawing, Role, Table
from .plot import Axis, Line, draw_plot
from .query import query
from .scales import Scale, format_seconds, format_value, time_words

_ = get_translation("second_call")

CALLS = 10_000
# the row of the harness that tells what starting the compiler takes
START_UP_CASE, START_UP = "process", "start_up"
LEAST, MOST = 10, 1_000_000  # calls
NEARLY = 1.15  # times that differ by less are about the same
_MOST_TICKS = 7
_MOST_COUNTS = 4  # a phone has no room for more numbers of seven digits
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
        start_up = ChartData(locale=data.locale)  # nothing is compiled
    return data, start_up


def draw_explorer(data: ChartData, start_up: ChartData) -> Drawing | None:
    """Draw what the variants of a case cost, with a slider for the number of calls.

    Returns None if there are fewer than two to choose from.
    """
    variants = _find_costs(data, start_up)
    if len(variants) < 2:
        return None
    locale = data.locale
    words = _words(locale)
    sentence = describe(data.case, variants, CALLS, locale, words)
    costs = [[variant.name, variant.start, variant.call] for variant in variants]
    html = render_html(
        "explorer.html",
        sentence=sentence,
        words=words | {"nearly": NEARLY, "marks": json.dumps([*marks_of(locale).items()])},
        ends=(LEAST, MOST),
        powers=[log10(LEAST), log10(MOST), log10(CALLS)],
        calls=format_value(CALLS, "", locale),
        gap=typeset("。 ", locale)[1:],  # between two sentences
        name=data.case,
        variants=json.dumps(costs, ensure_ascii=False),
        drawn=_draw(variants, sentence, words, locale),
    )
    return Drawing(html=html, table=_make_table(variants, data, words))


def _make_table(variants: Sequence[Variant], data: ChartData, words: Mapping[str, str]) -> Table:
    """Return what each variant takes at the start, for a call, and for some numbers of calls."""
    locale = data.locale
    counts = [1000, CALLS, 100_000]
    head = ["", str(_("at the start")), str(_("each call"))]
    head += [str(_("%s calls")) % format_value(count, "", locale) for count in counts]
    rows = []
    for variant in variants:
        start = format_seconds(variant.start, locale, words, 3) if variant.start else "0"
        totals = [format_seconds(variant.total(count), locale, words, 3) for count in counts]
        rows.append([f"{data.case} · {variant.name}", start, variant.words, *totals])
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
        variants.append(
            Variant(name=row.name, start=start, call=wall.number, role=row.role, words=wall.words)
        )
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


def _words(locale: Locale) -> dict[str, str]:
    """Return what the explorer says, and explorer.js as well."""
    return {
        # between the entries of a list but the last two: a comma and a space
        "separator": str(locale.list_patterns["standard"]["middle"]).format("", ""),
        "one": str(_("%(case)s, %(calls)s calls. Fastest: %(variant)s (%(times)s).")),
        "several": str(
            _("%(case)s, %(calls)s calls: %(variant)s take about the same (%(times)s).")
        ),
        "two": str(_("%(first)s and %(last)s")),
        **time_words(),
    }


def describe(
    case: str, costs: Sequence[Variant], calls: int, locale: Locale, words: Mapping[str, str]
) -> str:
    """Return the sentence that answers which variant is fastest."""
    variants = sorted(costs, key=lambda variant: variant.total(calls))
    least = variants[0].total(calls)
    best = [variant.name for variant in variants if variant.total(calls) < NEARLY * least]
    names = best[-1]
    if len(best) > 1:
        first = words["separator"].join(best[:-1])
        names = words["two"] % {"first": first, "last": best[-1]}
    times = []
    for variant in variants:
        total = format_seconds(variant.total(calls), locale, words)
        times.append(f"{variant.name} {total}")
    facts = {
        "case": case,
        "calls": format_value(calls, "", locale),
        "variant": names,
        "times": words["separator"].join(times),
    }
    sentence = words["one"] if len(best) == 1 else words["several"]
    return typeset(sentence % facts, locale)


def _draw(variants: Sequence[Variant], label: str, words: Mapping[str, str], locale: Locale) -> str:
    """Return the lines of the variants, with a mark at ``CALLS``."""
    low = min(variant.total(LEAST) for variant in variants)
    high = max(variant.total(MOST) for variant in variants)
    across = Scale(low=LEAST, high=MOST, start=0, end=100, is_log=True)
    up = Scale(low=low, high=high, start=100, end=0, is_log=True)
    steps = 12 * round(log10(MOST / LEAST))  # lines are bent on logarithmic axes
    counts = [LEAST * (MOST / LEAST) ** (step / steps) for step in range(steps + 1)]
    lines = []
    for variant in variants:
        points = [(across(count), up(variant.total(count))) for count in counts]
        lines.append(Line(name=variant.name, role=variant.role, points=points, has_dots=False))
    times = [tick for tick in _TICKS if low <= tick <= high]
    shown_times = times[:: ceil(len(times) / _MOST_TICKS) or 1]
    return draw_plot(
        label=label,
        lines=lines,
        across=Axis(
            name=str(_("Calls in your run")),
            ticks=[
                (across(count), format_value(count, "", locale))
                for count in across.ticks(_MOST_COUNTS)
            ],
        ),
        up=Axis(
            name="", ticks=[(up(time), format_seconds(time, locale, words)) for time in shown_times]
        ),
        mark=across(CALLS),
    )
