"""The explorer of the break-even: which variant is fastest for as many calls as a reader makes.

A line is the time of all calls of a variant, its start included. Without a script a page has a
sentence for ``CALLS`` calls; ``_static/explorer.js`` says the same for others.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, log10

from babel import Locale
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import marks_of, typeset

from ..make_nodes import render
from .bars_and_lines import Line, draw_plot
from .chart_data import Chart, Source
from .scales import Scale, format_seconds, format_value, time_words

_ = get_translation("second_call")

CALLS = 10_000
START_UP = ("process", "compiler", "start_up")  # the row of the harness: case, variant, quantity
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
    kind: str  # class of its colour
    shown: str = ""  # a later call as the whole page writes it

    def total(self, calls: float) -> float:
        """Return the seconds of so many calls."""
        return self.start + calls * self.call


def explore(source: Source) -> Chart | None:
    """Draw what the variants of a case cost, with a slider for the number of calls."""
    variants = _find_costs(source)
    if len(variants) < 2:
        return None
    locale, name = source.locale, source.name_case()
    words = _words(locale)
    said = describe(name, variants, CALLS, locale, words)
    costs = [[each.name, each.start, each.call] for each in variants]
    drawing = render(
        "explorer.html",
        sentence=said,
        words=words | {"nearly": NEARLY, "marks": json.dumps([*marks_of(locale).items()])},
        ends=(LEAST, MOST),
        powers=[log10(each) for each in (LEAST, MOST, CALLS)],
        calls=format_value(CALLS, "", locale),
        gap=typeset("。 ", locale)[1:],  # between two sentences
        name=name,
        variants=json.dumps(costs, ensure_ascii=False),
        drawn=_draw(variants, said, words, locale),
    ).astext()
    totals = [1000, CALLS, 100_000]
    head = ["", str(_("at the start")), str(_("each call"))]
    head += [str(_("%s calls")) % format_value(calls, "", locale) for calls in totals]
    rows = []
    for variant in variants:
        seconds = [variant.start, *map(variant.total, totals)]
        shown = [format_seconds(each, locale, words, 3) if each else "0" for each in seconds]
        rows.append([f"{name} · {variant.name}", shown[0], variant.shown, *shown[1:]])
    return Chart(drawing=drawing, head=head, rows=rows)


def _find_costs(source: Source) -> list[Variant]:
    """Return what the variants of the case cost.

    What compiles pays for its first call, as far as it is longer, and for the compiler's own start.
    """
    walls = source.require("wall")
    firsts = {each.variant: each.value for each in source.find("first_call")}
    compiler = replace(source, case=START_UP[0], used=[]).find(START_UP[2]) if firsts else []
    if firsts and not compiler:
        source.note(".".join(START_UP))
    found = []
    for wall in walls:
        start = 0.0
        if first := firsts.get(wall.variant):
            if not compiler:
                continue
            start = compiler[0].value + max(first - wall.value, 0)
        found.append(
            Variant(
                name=source.name(wall.variant),
                start=start,
                call=wall.value,
                kind=source.colour(wall.variant),
                shown=source.show(wall),
            )
        )
    return found


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
    variants = sorted(costs, key=lambda each: each.total(calls))
    least = variants[0].total(calls)
    best = [each.name for each in variants if each.total(calls) < NEARLY * least]
    first, last = words["separator"].join(best[:-1]), best[-1]
    times = [f"{e.name} {format_seconds(e.total(calls), locale, words)}" for e in variants]
    facts = {
        "case": case,
        "calls": format_value(calls, "", locale),
        "variant": words["two"] % {"first": first, "last": last} if first else last,
        "times": words["separator"].join(times),
    }
    return typeset(words["one" if len(best) == 1 else "several"] % facts, locale)


def _draw(variants: Sequence[Variant], label: str, words: Mapping[str, str], locale: Locale) -> str:
    """Return the lines of the variants, with a mark at ``CALLS``."""
    low = min(variant.total(LEAST) for variant in variants)
    high = max(variant.total(MOST) for variant in variants)
    across = Scale(low=LEAST, high=MOST, start=0, end=100, is_log=True)
    up = Scale(low=low, high=high, start=100, end=0, is_log=True)
    steps = 12 * round(log10(MOST / LEAST))  # lines are bent on logarithmic axes
    calls = [LEAST * (MOST / LEAST) ** (step / steps) for step in range(steps + 1)]
    lines = [
        Line(
            name=variant.name,
            kind=variant.kind,
            points=[(across(each), up(variant.total(each))) for each in calls],
            has_dots=False,
        )
        for variant in variants
    ]
    times = [tick for tick in _TICKS if low <= tick <= high]
    return draw_plot(
        lines,
        label=label,
        across=(
            str(_("Calls in your run")),
            [(across(each), format_value(each, "", locale)) for each in across.ticks(_MOST_COUNTS)],
        ),
        up=(
            "",
            [
                (up(each), format_seconds(each, locale, words))
                for each in times[:: ceil(len(times) / _MOST_TICKS) or 1]
            ],
        ),
        mark=across(CALLS),
    )
