"""The forms of charts: which rows each takes, and how they become a drawing and a table.

Drawings are HTML with SVG in per cent of the room there is, so that words wrap by themselves;
``_static/site.css`` has their colours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import LARGEST, SMALLEST, Measurement, typeset

from ..make_nodes import render
from .chart_data import Chart, Source, name_parts
from .scales import Scale, format_value

_ = get_translation("second_call")

_REACH = 1.35  # of the longest bar: a range that is longer ends in an arrow
_MARGIN = 1.15  # an axis of lines reaches so far beyond the values
TIMES = ("gpu", "wall")  # quantities that may have a limit
_TICKS, _SIZES = 7, 6  # at most, on the axes of lines
_APART = 4  # px from the range of a line to that of the next, so that none hides another


class Bar(NamedTuple):
    """A bar of one part or more, in per cent of the room."""

    # where each begins, how long it is, its classes, what it says to a pointer
    parts: Sequence[tuple[float, float, str, str]]
    words: str  # behind it
    ends: tuple[float, float, bool] | None = None  # of its range, and whether this goes on


class Line(NamedTuple):
    """A line; its places are per cent from the left and from the top."""

    name: str
    kind: str  # classes
    points: Sequence[tuple[float, float]]
    # Ranges: place from the left, lower and upper end, and whether it goes on beyond each
    ends: Sequence[tuple[float, float, float, bool, bool]] = ()
    said: Sequence[str] = ()  # to a pointer, by each point
    has_dots: bool = True


Axis = tuple[str, Sequence[tuple[float, str]]]  # its name, and the places and words of its ticks


def draw_plot(lines: Sequence[Line], *, across: Axis, up: Axis, **shown: Any) -> str:
    """Return a plot as HTML; ``shown`` is what else plot.html takes."""
    shifts = [(number - (len(lines) - 1) / 2) * _APART for number in range(len(lines))]
    names = [(line.name, line.kind) for line in sorted(lines, key=lambda line: line.points[-1][1])]
    lines_shown = [*zip(lines, shifts, strict=True)]
    return render(
        "plot.html", lines=lines_shown, names=names, across=across, up=up, **shown
    ).astext()


def draw(source: Source, quantities: Sequence[str], whole: str) -> Chart | None:
    """Draw quantities of all variants of a case: bars, or lines over the sizes of a single one.

    With a ``whole``, quantities are its parts.
    """
    found = [each for quantity in quantities for each in source.require(quantity)]
    if whole:
        return _draw_stacks(source, found, source.require(whole))
    if not found:
        return None
    if len({each.size for each in found}) == 1:
        return _draw_bars(source, quantities, found)
    if len(quantities) > 1:
        raise ValueError("lines are of one quantity; choose a size by :case:")
    return _draw_lines(source, found)


def _draw_bars(source: Source, quantities: Sequence[str], measured: Sequence[Measurement]) -> Chart:
    """Draw a bar for each quantity of each variant, and a limit if rows tell a share of it."""
    by_name = {(each.variant, each.quantity): each for each in measured}
    reach = min(max(each.high for each in measured), max(e.value for e in measured) * _REACH)
    has_limit = len(quantities) == 1 and quantities[0] in TIMES
    limit = source.find_limits().get(measured[0].size) if has_limit else None
    scale = Scale(low=0, high=max(reach, limit or 0), start=0, end=100)
    groups, rows = [], []
    for variant in dict.fromkeys(each.variant for each in measured):
        bars, cells = [], []
        for number, quantity in enumerate(quantities, 1):
            measurement = by_name.get((variant, quantity))
            cells.append(source.show_range(measurement) if measurement else "")
            if measurement is None:
                continue
            words = source.show(measurement)
            if len(quantities) > 1:
                words = f"{source.name(quantity)} {words}"
            kind = f"{source.colour(variant)} shade-{number}"
            is_cut = measurement.high > scale.high
            ends = scale(measurement.low), scale(measurement.high), is_cut
            known = ends if measurement.high > measurement.low else None
            said = _tell(source, [(source.name(quantity), [source.show_range(measurement)])])
            bars.append(Bar([(0, scale(measurement.value), kind, said)], words, known))
        groups.append((source.name(variant), bars))
        rows.append([source.name(variant), *cells])
    if limit is not None:
        shown = format_value(limit, "s", source.locale)
        groups.append((source.name("limit"), [Bar([], shown)]))
        rows.append([source.name("limit"), shown])
    drawing = render(
        "bars.html",
        label=_tell(source, [(name, [bar.words for bar in bars]) for name, bars in groups]),
        groups=groups,
        limit=None if limit is None else scale(limit),
        is_cut=any(each.high > scale.high for each in measured),
    )
    head = ["", *(source.name(each) for each in quantities)]
    return Chart(drawing=drawing.astext(), head=head, rows=rows, has_ranges=True)


def _tell(source: Source, lines: Iterable[tuple[str, Iterable[str]]]) -> str:
    """Return names and what is shown of each, for a pointer and for those who see no drawing."""
    told = (f"{name}: {', '.join(filter(None, shown))}" for name, shown in lines)
    return typeset("; ".join(told), source.locale)


def _draw_lines(source: Source, found: Sequence[Measurement]) -> Chart | None:
    """Draw a line for each variant over the sizes, both axes logarithmic, and the limit."""
    quantity, counted = found[0].quantity, found[0].sizes
    by_name = {(each.variant, each.size): each for each in found}
    sizes = list(dict.fromkeys(each.size for each in found))
    measured = [each for each in found if each.value > 0]
    if not measured:
        return None
    places = [_number(size) for size in sizes]
    known_limits = source.find_limits() if quantity in TIMES else {}
    limits = [known_limits.get(size) for size in sizes]
    values = [*(each.value for each in measured), *filter(None, limits)]
    low, high, unit = min(values) / _MARGIN, max(values) * _MARGIN, measured[0].unit
    across = Scale(low=min(places), high=max(places), start=2, end=98, is_log=True)
    up = Scale(low=low, high=high, start=100, end=0, is_log=True)
    lines, rows = [], []
    for variant in dict.fromkeys(each.variant for each in found):
        measurements = [by_name.get((variant, size)) for size in sizes]
        known = [each for each in measurements if each and each.value > 0]
        if not known:
            continue
        points = [(across(_number(each.size)), up(each.value)) for each in known]
        name = source.name(variant)
        said = [_tell(source, [(name, [source.show_range(each)])]) for each in known]
        ends = [
            (x, up(each.low), up(each.high), each.low < low, each.high > high)
            for (x, _y), each in zip(points, known, strict=True)
            if each.high > each.low
        ]
        kind = source.colour(variant)
        lines.append(Line(name=name, kind=kind, points=points, ends=ends, said=said))
        cells = (source.show_range(each) if each else "" for each in measurements)
        rows.append([name, *cells])
    if any(limits):
        points = [(across(x), up(y)) for x, y in zip(places, limits, strict=True) if y]
        lines.append(Line(name=source.name("limit"), kind="limit", points=points))
        shown = [format_value(each, unit, source.locale) if each else "" for each in limits]
        rows.append([source.name("limit"), *shown])
    ticks = sorted(places) if len(places) <= _SIZES else across.ticks(_SIZES)
    drawing = draw_plot(
        lines,
        label=_tell(source, [(name, cells) for name, *cells in rows]),
        across=(
            source.name(counted),
            [(across(e), format_value(e, "", source.locale)) for e in ticks],
        ),
        up=(
            source.name(quantity),
            [(up(each), format_value(each, unit, source.locale)) for each in up.ticks(_TICKS)],
        ),
        is_cut=any(cut for line in lines for end in line.ends for cut in end[3:]),
    )
    head = [source.name(counted), *(format_value(each, "", source.locale) for each in places)]
    return Chart(drawing=drawing, head=head, rows=rows, has_ranges=True)


def _number(size: object) -> float:
    """Return the number that a size is."""
    with suppress(ValueError):
        if SMALLEST <= float(str(size)) <= LARGEST:
            return float(str(size))
    raise ValueError(f"the size {str(size)!r} is no number above 0; lines need such numbers")


def _draw_stacks(
    source: Source, parts_found: Sequence[Measurement], wholes: Sequence[Measurement]
) -> Chart | None:
    """Draw for each variant a bar of its parts, which are shares of a whole."""
    total = {each.variant: each.value for each in wholes}
    found: dict[str, dict[str, float]] = {}
    for each in parts_found:
        if each.variant in total:
            times = total[each.variant] if each.unit == "share" else 1
            found.setdefault(each.variant, {})[each.quantity] = each.value * times
    if not found:
        return None
    names = list(dict.fromkeys(name for parts in found.values() for name in parts))
    called = {name: name_parts().get(name, source.name(name)) for name in names}
    kinds = {name: f"part-{number % 8 + 1}" for number, name in enumerate(names)}
    longest = max(sum(parts.values()) for parts in found.values())
    scale = Scale(low=0, high=longest, start=0, end=100)
    head = ["", *(called[name] for name in names), str(_("together"))]
    groups, rows, told = [], [], []

    def show(value: float) -> str:
        return format_value(value, "s", source.locale)

    for variant, values in found.items():
        parts, end, name = [], 0.0, source.name(variant)
        for part, value in values.items():
            said = _tell(source, [(called[part], [show(value)])])
            parts.append((scale(end), scale(value), kinds[part], said))
            end += value
        shown = {called[part]: show(value) for part, value in values.items()}
        shown[head[-1]] = show(end)
        groups.append((name, [Bar(parts, show(end))]))
        rows.append([name, *(shown.get(each, "") for each in head[1:])])
        told.append((name, map(" ".join, shown.items())))
    drawing = render(
        "bars.html",
        label=_tell(source, told),
        groups=groups,
        key=[(called[name], kind) for name, kind in kinds.items()],
    )
    return Chart(drawing=drawing.astext(), head=head, rows=rows)
