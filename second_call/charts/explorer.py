"""The explorer of the break-even: which variant is fastest for as many calls as a reader makes.

A line is the time of all calls of a variant, its start included. Without a script a page shows it
for the first case, and a sentence for ``CALLS`` calls. ``_static/explorer.js`` says the same for
others.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from math import ceil, log10
from typing import Any

from babel import Locale
from sphinx.locale import get_translation

from recipe_gallery.languages import typeset
from recipe_gallery.pages.measurements.format import list_separator

from ..nodes import render
from .plot import Line, draw_plot
from .scales import Scale, format_count, format_seconds, format_value, time_words
from .source import Chart, Source, Table

_ = get_translation("second_call")

CALLS = 10_000
START_UP = ("process", "compiler", "start_up")  # the row of the harness: case, variant, quantity
LEAST, MOST = 10, 1_000_000  # calls; more if a variant pays later
LAST = 100_000_000
NEARLY = 1.15  # times that differ by less are about the same
_MOST_TICKS = 7
_TICKS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 60, 600, 3600, 36_000, 360_000)


@dataclass(frozen=True, kw_only=True)
class Variant:
    """What a variant costs."""

    name: str
    start: float  # seconds that it takes once
    call: float  # seconds of a later call
    kind: str  # class of its colour

    def total(self, calls: float) -> float:
        """Return the seconds of so many calls."""
        return self.start + calls * self.call


@dataclass(frozen=True, kw_only=True)
class Case:
    """Variants to choose from."""

    name: str
    variants: Sequence[Variant]


def explore(source: Source, options: Mapping[str, Any]) -> Chart | None:
    """Draw each case, with what chooses one of them."""
    cases = _find_cases(source, options)
    if not cases:
        return None
    locale, most = source.locale, find_most(cases)
    words = _words(locale)
    said = [describe(case, CALLS, locale, words) for case in cases]
    drawn = [draw_case(case, most, label, locale) for case, label in zip(cases, said, strict=True)]
    drawn[1:] = [each.replace("<div", "<div hidden", 1) for each in drawn[1:]]
    drawing = render(
        "explorer.html",
        sentence=said[0],
        cases=[case.name for case in cases],
        words=words | {"nearly": NEARLY},
        labels=[_("Case"), _("Calls in your run")],
        ends=(LEAST, most),
        powers=[log10(each) for each in (LEAST, most, CALLS)],
        calls=format_value(CALLS, "", locale),
        note=_("Medians of what was measured; near a crossing your machine decides."),
        drawn="".join(drawn),
    ).astext()
    return Chart(drawing=drawing, table=_tabulate(cases, locale))


def _find_cases(source: Source, options: Mapping[str, Any]) -> list[Case]:
    """Return the cases that were measured, with two variants at least; what lacks is a problem."""
    asked = [replace(source, case=name) for name in options["cases"]]
    costs = [_find_costs(each, options["variants"]) for each in asked]
    for variant in options["variants"]:
        if not any(variant in found for found in costs):
            asked[0].note(variant, "wall")
    cases = []
    for each, found in zip(asked, costs, strict=True):
        if len(found) > 1:
            cases.append(Case(name=source.name(each.case), variants=list(found.values())))
        else:
            each.note(options["variants"][0], "wall")
    return cases


def _find_costs(source: Source, names: Sequence[str]) -> dict[str, Variant]:
    """Return what the variants cost that were measured.

    What compiles pays for its first call, as far as it is longer, and for the compiler's own start.
    """
    process = replace(source, case=START_UP[0])
    (compiler,) = process.ask(*START_UP[1:])
    found = {}
    for variant in names:
        answers = source.ask(variant, "wall", "first_call")
        wall, first = (answer.figure.value if answer.figure else 0 for answer in answers)
        if first and not compiler.figure:
            process.note(*START_UP[1:])
        elif wall:
            start = compiler.figure.value if first and compiler.figure else 0
            start += max(first - wall, 0)
            name, kind = source.name(variant), source.colour(variant, names)
            found[variant] = Variant(name=name, start=start, call=wall, kind=kind)
    return found if names[0] in found else {}


def _tabulate(cases: Sequence[Case], locale: Locale) -> Table:
    """Return what the variants of all cases cost."""
    words = _words(locale)
    totals = [1000, CALLS, 100_000]
    head = ["", str(_("at the start")), str(_("each call"))]
    head += [str(_("%s calls")) % format_value(calls, "", locale) for calls in totals]
    rows = []
    for case in cases:
        for variant in case.variants:
            costs = [variant.start, variant.call, *map(variant.total, totals)]
            shown = [format_seconds(each, locale, words, 3) if each else "0" for each in costs]
            rows.append([f"{case.name} · {variant.name}", *shown])
    return Table(head=head, rows=rows)


def _words(locale: Locale) -> dict[str, str]:
    """Return what the explorer says, and explorer.js as well."""
    return {
        "separator": list_separator(locale),
        "one": str(_("%(case)s, %(calls)s calls: %(variant)s is fastest (%(times)s).")),
        "several": str(
            _("%(case)s, %(calls)s calls: %(variant)s take about the same (%(times)s).")
        ),
        "two": str(_("%(first)s and %(last)s")),
        **time_words(),
    }


def describe(case: Case, calls: int, locale: Locale, words: Mapping[str, str]) -> str:
    """Return the sentence that answers which variant is fastest."""
    variants = sorted(case.variants, key=lambda each: each.total(calls))
    least = variants[0].total(calls)
    best = [each.name for each in variants if each.total(calls) < NEARLY * least]
    first, last = words["separator"].join(best[:-1]), best[-1]
    times = [f"{e.name} {format_seconds(e.total(calls), locale, words)}" for e in variants]
    facts = {
        "case": case.name,
        "calls": format_value(calls, "", locale),
        "variant": words["two"] % {"first": first, "last": last} if first else last,
        "times": words["separator"].join(times),
    }
    return typeset(words["one" if len(best) == 1 else "several"] % facts, locale)


def find_most(cases: Sequence[Case]) -> int:
    """Return up to how many calls there are, a power of ten."""
    pays = [MOST / 3]
    for case in cases:
        base = case.variants[0]
        pays += [e.start / (base.call - e.call) for e in case.variants if e.call < base.call]
    return int(10 ** ceil(log10(min(2 * max(pays), LAST))))


def draw_case(case: Case, most: int, label: str, locale: Locale) -> str:
    """Return the lines of a case, with a mark at ``CALLS``."""
    words = time_words()
    low = min(variant.total(LEAST) for variant in case.variants)
    high = max(variant.total(most) for variant in case.variants)
    across = Scale(low=LEAST, high=most, start=0, end=100, is_log=True)
    up = Scale(low=low, high=high, start=100, end=0, is_log=True)
    steps = 12 * round(log10(most / LEAST))  # lines are bent on logarithmic axes
    calls = [LEAST * (most / LEAST) ** (step / steps) for step in range(steps + 1)]
    lines = [
        Line(
            name=variant.name,
            kind=variant.kind,
            points=[(across(each), up(variant.total(each))) for each in calls],
            has_dots=False,
        )
        for variant in case.variants
    ]
    times = [tick for tick in _TICKS if low <= tick <= high]
    drawn = draw_plot(
        lines,
        label=label,
        across=(
            str(_("Calls in your run")),
            [(across(each), format_count(each, locale)) for each in across.ticks(_MOST_TICKS)],
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
    costs = [[each.name, each.start, each.call] for each in case.variants]
    variants = json.dumps(costs, ensure_ascii=False)
    data = f'data-name="{escape(case.name)}" data-variants="{escape(variants)}"'
    return f'<div class="explorer-case" {data}>{drawn}</div>\n'
