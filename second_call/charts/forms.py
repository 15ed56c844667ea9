"""The forms of charts: which rows each takes, and how they become a drawing and a table.

Drawings are HTML with SVG in per cent of the room there is, so that words wrap by themselves;
``_static/site.css`` has their colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sphinx.locale import get_translation

from recipe_gallery.languages import typeset
from recipe_gallery.recipes.rows import LARGEST, SMALLEST

from ..nodes import render
from .explorer import explore
from .plot import Line, draw_plot
from .scales import Scale, format_count, format_value
from .source import Chart, Source, Table

_ = get_translation("second_call")

REST = "rest"  # the part that is no row
_REACH = 1.35  # of the longest bar: a range that is longer ends in an arrow
_MARGIN = 1.15  # an axis of lines reaches so far beyond the values
_TICKS, _SIZES = 7, 6  # at most, on the axes of lines

Options = Mapping[str, Any]


class Bar(NamedTuple):
    """A bar of one part or more, in per cent of the room."""

    parts: Sequence[tuple[float, float, str]]  # where each begins, how long it is, its classes
    words: str  # behind it
    ends: tuple[float, float, bool] | None = None  # of its range, and whether this goes on


def draw_ladder(source: Source, options: Options) -> Chart | None:
    """Draw a bar for each quantity of each variant, and a limit."""
    variants, quantities = options["variants"], options["quantities"]
    found = source.find_all(variants, quantities)
    measured = [each for each in found.values() if each]
    if not measured:
        return None
    reach = min(max(each.high for each in measured), max(e.value for e in measured) * _REACH)
    limit = source.find_limit(variants) if "limit" in options else None
    scale = Scale(low=0, high=max(reach, limit or 0), start=0, end=100)
    groups, rows = [], []
    for variant in variants:
        bars = []
        for number, quantity in enumerate(quantities, 1):
            if measurement := found[variant, quantity]:
                words = source.show(measurement)
                if len(quantities) > 1:
                    words = f"{source.name(quantity)} {words}"
                kind = f"{source.colour(variant, variants)} shade-{number}"
                ends = (
                    scale(measurement.low),
                    scale(measurement.high),
                    measurement.high > scale.high,
                )
                known = ends if measurement.high > measurement.low else None
                bars.append(Bar([(0, scale(measurement.value), kind)], words, known))
        if bars:
            cells = (found[variant, quantity] for quantity in quantities)
            groups.append((source.name(variant), bars))
            rows.append([source.name(variant), *(source.show_range(e) if e else "" for e in cells)])
    label = "; ".join(f"{name}: {', '.join(bar.words for bar in bars)}" for name, bars in groups)
    if limit is not None:
        shown = format_value(limit, "s", source.locale)
        label += f"; {source.name('limit')}: {shown}"
        groups.append((source.name("limit"), [Bar([], shown)]))
        rows.append([source.name("limit"), shown, *[""] * (len(quantities) - 1)])
    drawing = render(
        "bars.html",
        label=typeset(label, source.locale),
        groups=groups,
        limit=None if limit is None else scale(limit),
        note=_say_arrow() if any(each.high > scale.high for each in measured) else "",
    )
    head = ["", *(source.name(each) for each in quantities)]
    return Chart(drawing=drawing.astext(), table=Table(head=head, rows=rows, has_ranges=True))


def draw_quantity(source: Source, quantity: str) -> Chart | None:
    """Draw a quantity of all variants of a case: lines over its sizes, or bars of a single one.

    A limit is drawn where rows tell a share of it.
    """
    if not source.is_recipe:
        known = ", ".join(FORMS)
        raise ValueError(f"{quantity!r} is no form; there are {known}, and quantities of a recipe")
    rows = source.find_rows(quantity)
    if not rows:
        return None
    sizes = list(dict.fromkeys(str(row.size) for row in rows))
    variants = list(dict.fromkeys(row.variant for row in rows))
    has_limit = quantity in ("gpu", "wall")
    if sizes[1:]:
        return _draw_lines(source, quantity, variants, sizes, rows[0].sizes, has_limit=has_limit)
    limit = {"limit": None} if has_limit else {}
    return draw_ladder(source, {"variants": variants, "quantities": [quantity], **limit})


def _say_arrow() -> str:
    return str(_("A range that ends in an arrow goes on; the figures below say how far."))


def _draw_lines(
    source: Source,
    quantity: str,
    variants: Sequence[str],
    sizes: Sequence[str],
    counted: str,
    *,
    has_limit: bool,
) -> Chart | None:
    """Draw a line for each variant over the sizes, both axes logarithmic, and the limit.

    ``counted`` is what the sizes are a number of.
    """
    found = source.find_all(variants, [quantity], sizes)
    measured = [each for each in found.values() if each and each.value > 0]
    if not measured:
        return None
    places = [_number(size) for size in sizes]
    shown_sizes = [
        size if "^" in size else format_value(place, "", source.locale)
        for size, place in zip(sizes, places, strict=True)
    ]
    limits = [source.find_limit(variants, size) if has_limit else None for size in sizes]
    values = [*(each.value for each in measured), *filter(None, limits)]
    low, high, unit = min(values) / _MARGIN, max(values) * _MARGIN, measured[0].unit
    across = Scale(low=min(places), high=max(places), start=2, end=98, is_log=True)
    up = Scale(low=low, high=high, start=100, end=0, is_log=True)
    lines, rows = [], []
    for variant in variants:
        measurements = [found[variant, size] for size in sizes]
        known = [each for each in measurements if each and each.value > 0]
        if not known:
            continue
        points = [(across(_number(each.size)), up(each.value)) for each in known]
        ends = [
            (x, up(each.low), up(each.high), each.low < low, each.high > high)
            for (x, _y), each in zip(points, known, strict=True)
            if each.high > each.low
        ]
        kind = source.colour(variant, variants)
        lines.append(Line(name=source.name(variant), kind=kind, points=points, ends=ends))
        cells = (source.show_range(each) if each else "" for each in measurements)
        rows.append([source.name(variant), *cells])
    label = "; ".join(f"{row[0]}: {', '.join(filter(None, row[1:]))}" for row in rows)
    if any(limits):
        points = [(across(x), up(y)) for x, y in zip(places, limits, strict=True) if y]
        lines.append(Line(name=source.name("limit"), kind="limit", points=points))
        shown = [format_value(each, unit, source.locale) if each else "" for each in limits]
        rows.append([source.name("limit"), *shown])
    ticks = sorted(places) if len(places) <= _SIZES else across.ticks(_SIZES)
    drawing = draw_plot(
        lines,
        label=typeset(label, source.locale),
        across=(
            source.name(counted),
            [(across(e), format_count(e, source.locale)) for e in ticks],
        ),
        up=(
            source.name(quantity),
            [(up(each), format_value(each, unit, source.locale)) for each in up.ticks(_TICKS)],
        ),
        note=_say_arrow() if any(cut for line in lines for e in line.ends for cut in e[3:]) else "",
    )
    head = [source.name(counted), *shown_sizes]
    return Chart(drawing=drawing, table=Table(head=head, rows=rows, has_ranges=True))


def _number(size: object) -> float:
    """Return the number that a size is, also one that is written as 2^20."""
    base, power, exponent = str(size).partition("^")
    with suppress(ValueError, TypeError, ArithmeticError):  # a root of -2 has no order
        number = float(base) ** float(exponent) if power else float(base)
        if SMALLEST <= number <= LARGEST:
            return number
    raise ValueError(f"the size {size!r} is no number above 0; lines need such numbers")


def draw_stacks(source: Source, options: Options) -> Chart | None:
    """Draw for each variant a bar of its parts, which are quantities of rows."""
    found = _measured_parts(source, options)
    found = {variant: parts for variant, parts in found.items() if parts}
    if not found:
        return None
    names = list(dict.fromkeys(name for parts in found.values() for name in parts))
    kinds = {name: f"part-{number % 8 + 1}" for number, name in enumerate(names)}
    longest = max(sum(parts.values()) for parts in found.values())
    scale = Scale(low=0, high=longest, start=0, end=100)
    groups, rows = [], []

    def show(value: float) -> str:
        return format_value(value, "s", source.locale)

    for variant, values in found.items():
        parts, end = [], 0.0
        for name, value in values.items():
            parts.append((scale(end), scale(value), kinds[name]))
            end += value
        groups.append((source.name(variant), [Bar(parts, show(end))]))
        cells = [show(values[name]) if name in values else "" for name in names]
        rows.append([source.name(variant), *cells, show(end)])
    head = ["", *(source.name(name) for name in names), str(_("together"))]
    label = "; ".join(
        f"{row[0]}: "
        + ", ".join(f"{name} {cell}" for name, cell in zip(head[1:], row[1:], strict=True) if cell)
        for row in rows
    )
    drawing = render(
        "bars.html",
        label=typeset(label, source.locale),
        groups=groups,
        key=[(source.name(name), kind) for name, kind in kinds.items()],
    )
    return Chart(drawing=drawing.astext(), table=Table(head=head, rows=rows))


def _measured_parts(source: Source, options: Options) -> dict[str, dict[str, float]]:
    """Return the parts of each variant.

    ``whole`` names what they are parts of: shares are multiplied by it, and "rest" is what is left.
    """
    variants, quantities = options["variants"], options["quantities"]
    whole = [options["whole"]] if "whole" in options else []
    found = source.find_all(variants, [*(each for each in quantities if each != REST), *whole])
    parts: dict[str, dict[str, float]] = {}
    for variant in variants:
        total = found[variant, whole[0]] if whole else None
        values = {}
        for quantity in quantities:
            if measurement := found.get((variant, quantity)):
                times = total.value if total and measurement.unit == "share" else 1.0
                values[quantity] = times * measurement.value
        if total and REST in quantities:
            values[REST] = max(total.value - sum(values.values()), 0)
        parts[variant] = {each: values[each] for each in quantities if each in values}
    return parts


# What draws each form, and the options that it needs
FORMS: dict[str, tuple[Callable[[Source, Options], Chart | None], tuple[str, ...]]] = {
    "ladder": (draw_ladder, ("case", "variants", "quantities")),
    "stacked": (draw_stacks, ("case", "variants", "quantities")),
    "break-even": (explore, ("cases", "variants")),
}
