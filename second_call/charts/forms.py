"""The forms of charts: which rows each takes, and how they become a drawing and a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from sphinx.locale import get_translation

from recipe_gallery.languages import typeset
from recipe_gallery.recipes.rows import LARGEST, SMALLEST

from .bars import Bar, Group, Part, Stack, draw_ladder, draw_stacks, draw_stages
from .explorer import explore
from .lines import Axes, Point, Series, draw_lines
from .names import Chart, Source, Table
from .scales import format_value
from .svg import draw_both

_ = get_translation("second_call")

REST = "rest"  # the part that is no row

Options = Mapping[str, Any]
Inline = Mapping[str, str]


def draw_ladder_of(source: Source, options: Options, _inline: Inline) -> Chart | None:
    """Draw a bar for each quantity of each arm."""
    groups, rows, arms = [], [], options["arms"]
    several = len(options["quantities"]) > 1
    found = source.find_all(arms, options["quantities"])
    for arm in arms:
        bars, cells = [], []
        for number, quantity in enumerate(options["quantities"], 1):
            figure = found[arm, quantity]
            cells.append(source.show_range(figure) if figure else "")
            if figure:
                words = source.show(figure)
                if several:
                    words = f"{source.name(quantity)} {words}"
                kind = f"{source.colour(arm, options['arms'])} shade-{number}"
                ends = {"low": figure.low, "high": figure.high}
                bars.append(Bar(value=figure.value, **ends, words=words, kind=kind))
        if bars:
            groups.append(Group(name=source.name(arm), bars=bars))
            rows.append([source.name(arm), *cells])
    if not groups:
        return None
    limit = source.find_limit(arms) if "limit" in options else None
    mark = None
    if limit is not None:
        shown = format_value(limit, "s", source.locale)
        mark = limit, typeset(f"{source.name('limit')}: {shown}", source.locale)
        rows.append([source.name("limit"), shown, *[""] * (len(options["quantities"]) - 1)])
    head = ["", *(source.name(each) for each in options["quantities"])]
    label = "; ".join(
        f"{group.name}: {', '.join(bar.words for bar in group.bars)}" for group in groups
    )
    label = typeset(f"{label}; {mark[1]}" if mark else label, source.locale)
    return Chart(
        svg=draw_both(partial(draw_ladder, groups, mark, _say_arrow()), label),
        table=Table(head=head, rows=rows, has_ranges=True),
    )


def _say_arrow() -> str:
    return str(_("A range that ends in an arrow goes on; the figures below say how far."))


def draw_lines_of(source: Source, options: Options, _inline: Inline) -> Chart | None:
    """Draw a line for each arm over the sizes."""
    quantity, sizes, arms = options["quantities"][0], options["sizes"], options["arms"]
    series, rows, unit = [], [], ""
    measured = source.find_all(arms, [quantity], sizes)
    for arm in arms:
        found = [measured[arm, size] for size in sizes]
        figures = [figure for figure in found if figure and figure.value > 0]  # the axis is log
        if figures:
            points = [
                Point(x=_number(f.size), value=f.value, low=f.low, high=f.high) for f in figures
            ]
            series.append(
                Series(name=source.name(arm), points=points, kind=source.colour(arm, arms))
            )
            rows.append([source.name(arm), *(source.show_range(f) if f else "" for f in found)])
            unit = figures[0].unit
    if not series:
        return None
    label = "; ".join(f"{row[0]}: {', '.join(filter(None, row[1:]))}" for row in rows)
    if "limit" in options:
        limits = [source.find_limit(arms, size) for size in sizes]
        pairs = [(_number(size), value) for size, value in zip(sizes, limits, strict=True) if value]
        if pairs:
            points = [Point(x=x, value=value, low=value, high=value) for x, value in pairs]
            series.append(Series(name=source.name("limit"), points=points, kind="limit"))
            shown = [format_value(each, unit, source.locale) if each else "" for each in limits]
            rows.append([source.name("limit"), *shown])
    axes = Axes(
        x=source.name(options["x"]),
        y=source.name(quantity),
        unit=unit,
        locale=source.locale,
        note=_say_arrow(),
    )
    shown = [s if "^" in s else format_value(_number(s), "", source.locale) for s in sizes]
    head = [axes.x, *shown]
    return Chart(
        svg=draw_both(partial(draw_lines, series, axes), typeset(label, source.locale)),
        table=Table(head=head, rows=rows, has_ranges=True),
    )


def _number(size: object) -> float:
    """Return the number that a size is, also one that is written as 2^20."""
    base, power, exponent = str(size).partition("^")
    with suppress(ValueError, TypeError, ArithmeticError):  # a root of -2 has no order
        number = float(base) ** float(exponent) if power else float(base)
        if SMALLEST <= number <= LARGEST:
            return number
    raise ValueError(f"the size {size!r} is no number above 0; lines need such numbers")


def draw_stacks_of(source: Source, options: Options, inline: Inline) -> Chart | None:
    """Draw for each arm a bar of its parts: quantities of rows, or what the directive says."""
    if not (inline or {"case", "arms", "quantities"} <= options.keys()):
        raise ValueError("stacked needs :case:, :arms: and :quantities:, or a field for each bar")
    found = _inline_parts(inline) if inline else _measured_parts(source, options)
    unit = options.get("unit", "s")
    found = {arm: parts for arm, parts in found.items() if parts}
    if not found:
        return None
    names = list(dict.fromkeys(name for parts in found.values() for name in parts))
    kinds = {name: f"part-{number % 8 + 1}" for number, name in enumerate(names)}
    stacks, rows = [], []
    for arm, parts in found.items():
        shown = format_value(sum(parts.values()), unit, source.locale)
        stacks.append(
            Stack(
                name=source.name(arm),
                parts=[
                    Part(name=source.name(name), value=value, kind=kinds[name])
                    for name, value in parts.items()
                ],
                words=shown,
            )
        )
        cells = [
            format_value(parts[name], unit, source.locale) if name in parts else ""
            for name in names
        ]
        rows.append([source.name(arm), *cells, shown])
    head = ["", *(source.name(name) for name in names), str(_("together"))]
    label = "; ".join(
        f"{row[0]}: "
        + ", ".join(f"{name} {cell}" for name, cell in zip(head[1:], row[1:], strict=True) if cell)
        for row in rows
    )
    return Chart(
        svg=draw_both(partial(draw_stacks, stacks), typeset(label, source.locale)),
        table=Table(head=head, rows=rows),
    )


def draw_stages_of(source: Source, _options: Options, inline: Inline) -> Chart | None:
    """Draw a box for each stage that the directive names, with what it makes."""
    if not inline:
        raise ValueError("stages need fields, such as   :Inductor: fused kernels")
    stages = [(source.name(name), source.name(made)) for name, made in inline.items()]
    label = "; ".join(f"{name}: {made}" for name, made in stages)
    svg = draw_both(partial(draw_stages, stages), typeset(label, source.locale))
    return Chart(svg=svg, table=None)


def _inline_parts(inline: Inline) -> dict[str, dict[str, float]]:
    """Return the parts of each bar: ``move m 12, scale v 8``."""
    found: dict[str, dict[str, float]] = {}
    for arm, text in inline.items():
        found[arm] = {}
        for part in text.split(","):
            name, _space, number = " ".join(part.split()).rpartition(" ")
            value = -1.0
            with suppress(ValueError):
                value = float(number)
            if not 0 <= value <= LARGEST:
                raise ValueError(f"{part.strip()!r} does not end in a number from 0 up")
            found[arm][name] = value
    return found


def _measured_parts(source: Source, options: Options) -> dict[str, dict[str, float]]:
    """Return the parts of each arm.

    ``whole`` names what they are parts of: shares are multiplied by it, and "rest" is what is left.
    """
    arms, quantities = options["arms"], options["quantities"]
    whole = [options["whole"]] if "whole" in options else []
    found = source.find_all(arms, [*(each for each in quantities if each != REST), *whole])
    parts: dict[str, dict[str, float]] = {}
    for arm in arms:
        total = found[arm, whole[0]] if whole else None
        values = {}
        for quantity in quantities:
            if figure := found.get((arm, quantity)):
                times = total.value if total and figure.unit == "share" else 1.0
                values[quantity] = times * figure.value
        if total and REST in quantities:
            values[REST] = max(total.value - sum(values.values()), 0)
        parts[arm] = {each: values[each] for each in quantities if each in values}
    return parts


# What draws each form, and the options that it needs
FORMS: dict[str, tuple[Callable[[Source, Options, Inline], Chart | None], tuple[str, ...]]] = {
    "ladder": (draw_ladder_of, ("case", "arms", "quantities")),
    "lines": (draw_lines_of, ("case", "arms", "quantities", "sizes", "x")),
    "stacked": (draw_stacks_of, ()),
    "stages": (draw_stages_of, ()),
    "break-even": (explore, ("cases", "arms")),
}
