"""Lines: one quantity of each variant over the sizes of a case, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from ..labels import _
from .chart_data import ChartData, ChartRow, Drawing, FormattedValue, Size, Table
from .plot import Axis, Line, Range, draw_plot
from .scales import Scale, format_rounded, label_ticks

_MARGIN = 1.15  # an axis reaches so far beyond the values
_MOST_TICKS = 7
_MOST_SIZES = 6  # with more sizes, round numbers have the ticks
_LEAST_SIZE, _GREATEST_SIZE = 1e-15, 1e15  # that an axis can show


@dataclass(frozen=True, kw_only=True)
class _Field:
    """Where a plot has its points: each size as a number, and both axes."""

    numbers: Mapping[Size, float]
    across: Scale
    up: Scale


def draw_lines(data: ChartData) -> Drawing | None:
    """Draw a line for each variant over the sizes, and one for the limit if there is one.

    Returns None if nothing above 0 was measured. Raises ``ValueError`` if a size is not a number
    above 0.
    """
    rows = data.measured_rows
    variants: dict[str, list[ChartRow]] = {}  # what can be drawn of each
    for row in rows:
        if row.values[data.main].number > 0:
            variants.setdefault(row.variant, []).append(row)
    if not variants:
        return None

    numbers = {row.size: read_size(row.size) for row in rows}
    limits = {size: limit for size, limit in data.limits.items() if size in numbers}
    field = _make_field(data, variants, numbers, limits)
    lines = []
    table_rows = []
    for variant_rows in variants.values():
        lines.append(_make_line(variant_rows, data, field))
        words_by_size = {row.size: row.values[data.main].full_words for row in variant_rows}
        table_rows.append(_make_table_row(variant_rows[0].name, words_by_size, field))
    if limits:
        lines.append(_limit_line(limits, field))
        words_by_size = {size: limit.words for size, limit in limits.items()}
        table_rows.append(_make_table_row(_("limit"), words_by_size, field))

    html = draw_plot(
        label=_describe_table(table_rows, data),
        lines=lines,
        across=Axis(name=data.size_name, ticks=_size_ticks(field, data)),
        up=Axis(name=data.quantities[data.main], ticks=_value_ticks(field, data, variants)),
    )
    head = [data.size_name]
    for number in numbers.values():
        head.append(format_rounded(number, "", data.typography))
    return Drawing(html=html, table=Table(head=head, rows=table_rows), has_ranges=True)


def read_size(size: Size) -> float:
    """Return a size as a number; raise ``ValueError`` if it is not a number above 0."""
    with suppress(ValueError):
        number = float(str(size))
        if _LEAST_SIZE <= number <= _GREATEST_SIZE:
            return number
    raise ValueError(f"the size {str(size)!r} is not a number above 0; lines need one")


def _make_field(
    data: ChartData,
    variants: Mapping[str, Sequence[ChartRow]],
    numbers: Mapping[Size, float],
    limits: Mapping[Size, FormattedValue],
) -> _Field:
    """Return axes for all sizes, measurements above 0 and limits."""
    heights = [limit.number for limit in limits.values()]
    for rows in variants.values():
        for row in rows:
            heights.append(row.values[data.main].number)
    across = Scale(
        low=min(numbers.values()),
        high=max(numbers.values()),
        start=2,
        end=98,
        is_log=True,
    )
    up = Scale(
        low=min(heights) / _MARGIN,
        high=max(heights) * _MARGIN,
        start=100,
        end=0,
        is_log=True,
    )
    return _Field(numbers=numbers, across=across, up=up)


def _make_line(rows: Sequence[ChartRow], data: ChartData, field: _Field) -> Line:
    """Return the line of a variant from its rows, with a range where one was measured."""
    points = []
    descriptions = []
    ranges = []
    for row in rows:
        value = row.values[data.main]
        x = field.across(field.numbers[row.size])
        points.append((x, field.up(value.number)))
        descriptions.append(data.typography.typeset(f"{row.name}: {value.full_words}"))
        if value.high > value.low:
            ranges.append(_make_range(x, value, field))
    return Line(
        name=rows[0].name,
        role=rows[0].role,
        points=points,
        descriptions=descriptions,
        ranges=ranges,
    )


def _make_range(x: float, value: FormattedValue, field: _Field) -> Range:
    """Return the range of a value as a line, cut where it leaves the field."""
    up = field.up
    return Range(
        x=x,
        low=up(value.low),
        high=up(value.high),
        is_cut_below=value.low < up.low,
        is_cut_above=value.high > up.high,
    )


def _limit_line(limits: Mapping[Size, FormattedValue], field: _Field) -> Line:
    """Return the line of the limits, from the smallest size to the largest."""
    points = []
    for size, limit in limits.items():
        x = field.across(field.numbers[size])
        y = field.up(limit.number)
        points.append((x, y))
    points.sort()
    return Line(name=_("limit"), role="limit", points=points, has_dots=False)


def _size_ticks(field: _Field, data: ChartData) -> list[tuple[float, str]]:
    """Return place and label of each tick: for each size if there are few, else round numbers."""
    numbers = sorted(field.numbers.values())
    if len(numbers) > _MOST_SIZES:
        numbers = field.across.ticks(_MOST_SIZES)
    ticks = []
    for number in numbers:
        label = format_rounded(number, "", data.typography)
        ticks.append((field.across(number), label))
    return ticks


def _value_ticks(
    field: _Field, data: ChartData, variants: Mapping[str, Sequence[ChartRow]]
) -> list[tuple[float, str]]:
    """Return place and label of each tick of the upright axis; all values are in one unit."""
    first_row = next(iter(variants.values()))[0]
    unit = first_row.values[data.main].unit
    return label_ticks(field.up, unit, data.typography, _MOST_TICKS)


def _make_table_row(name: str, words_by_size: Mapping[Size, str], field: _Field) -> list[str]:
    """Return a row of the table: a name, and a cell for each size, empty without a value."""
    row = [name]
    for size in field.numbers:
        row.append(words_by_size.get(size, ""))
    return row


def _describe_table(rows: Sequence[Sequence[str]], data: ChartData) -> str:
    """Return the values of each line as text, for readers who do not see the chart."""
    sentences = []
    for name, *cells in rows:
        values = ", ".join(cell for cell in cells if cell)
        sentences.append(f"{name}: {values}")
    return data.join_sentences(sentences)
