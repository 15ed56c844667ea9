"""Lines: one quantity of each variant over the sizes of a case, both axes logarithmic."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress

from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import LARGEST, SMALLEST, Size, typeset

from .chart_data import ChartData, ChartRow, Drawing, Table, Value
from .plot import Axis, Line, Range, draw_plot
from .scales import Scale, format_value, label_ticks

_ = get_translation("second_call")

_MARGIN = 1.15  # an axis reaches so far beyond the values
_MOST_TICKS = 7
_MOST_SIZES = 6  # with more sizes, round numbers have the ticks


def draw_lines(data: ChartData) -> Drawing | None:
    """Draw a line for each variant over the sizes, and one for the limit if there is one.

    Returns None if nothing above 0 was measured. Raises ``ValueError`` if a size is not a number
    above 0.
    """
    rows = [row for row in data.rows if data.main in row.values]
    measured = [row for row in rows if row.values[data.main].number > 0]
    if not measured:
        return None
    sizes = list(dict.fromkeys(row.size for row in rows))
    numbers = {size: read_size(size) for size in sizes}
    limits = {size: limit for size, limit in data.limits.items() if size in numbers}
    heights = [row.values[data.main].number for row in measured]
    heights += [limit.number for limit in limits.values()]
    across = Scale(
        low=min(numbers.values()), high=max(numbers.values()), start=2, end=98, is_log=True
    )
    up = Scale(
        low=min(heights) / _MARGIN, high=max(heights) * _MARGIN, start=100, end=0, is_log=True
    )
    unit = measured[0].values[data.main].unit
    lines = []
    table_rows = []
    for variant in dict.fromkeys(row.variant for row in measured):
        variant_rows = [row for row in measured if row.variant == variant]
        lines.append(_make_line(variant_rows, data, numbers, across, up))
        cells = {row.size: row.values[data.main].full_words for row in variant_rows}
        table_rows.append([variant_rows[0].name, *(cells.get(size, "") for size in sizes)])
    if limits:
        lines.append(_limit_line(limits, numbers, across, up))
        words = {size: limit.words for size, limit in limits.items()}
        table_rows.append([str(_("limit")), *(words.get(size, "") for size in sizes)])
    html = draw_plot(
        label=_describe_table(table_rows, data),
        lines=lines,
        across=Axis(name=data.sizes, ticks=_size_ticks(numbers.values(), across, data)),
        up=Axis(
            name=data.quantities[data.main],
            ticks=label_ticks(up, unit, data.locale, _MOST_TICKS),
        ),
    )
    size_words = [format_value(number, "", data.locale) for number in numbers.values()]
    table = Table(head=[data.sizes, *size_words], rows=table_rows)
    return Drawing(html=html, table=table, has_ranges=True)


def read_size(size: Size) -> float:
    """Return a size as a number; raise ``ValueError`` if it is not a number above 0."""
    with suppress(ValueError):
        number = float(str(size))
        if SMALLEST <= number <= LARGEST:
            return number
    raise ValueError(f"the size {str(size)!r} is no number above 0; lines need such numbers")


def _make_line(
    rows: Sequence[ChartRow],
    data: ChartData,
    numbers: dict[Size, float],
    across: Scale,
    up: Scale,
) -> Line:
    """Return the line of a variant from its rows, with a range where one was measured."""
    points = []
    descriptions = []
    ranges = []
    for row in rows:
        value = row.values[data.main]
        x = across(numbers[row.size])
        points.append((x, up(value.number)))
        descriptions.append(typeset(f"{row.name}: {value.full_words}", data.locale))
        if value.high > value.low:
            ranges.append(
                Range(
                    x=x,
                    low=up(value.low),
                    high=up(value.high),
                    is_cut_below=value.low < up.low,
                    is_cut_above=value.high > up.high,
                )
            )
    return Line(
        name=rows[0].name,
        role=rows[0].role,
        points=points,
        descriptions=descriptions,
        ranges=ranges,
    )


def _limit_line(
    limits: dict[Size, Value], numbers: dict[Size, float], across: Scale, up: Scale
) -> Line:
    """Return the line of the limits, from the smallest size to the largest."""
    points = [(across(numbers[size]), up(limit.number)) for size, limit in limits.items()]
    return Line(name=str(_("limit")), role="limit", points=sorted(points), has_dots=False)


def _size_ticks(
    numbers: Iterable[float], across: Scale, data: ChartData
) -> list[tuple[float, str]]:
    """Return place and label of each tick: for each size if there are few, else round numbers."""
    ticks = sorted(numbers)
    if len(ticks) > _MOST_SIZES:
        ticks = across.ticks(_MOST_SIZES)
    return [(across(tick), format_value(tick, "", data.locale)) for tick in ticks]


def _describe_table(rows: Sequence[Sequence[str]], data: ChartData) -> str:
    """Return the values of each line as text, for readers who do not see the chart."""
    sentences = []
    for name, *cells in rows:
        values = ", ".join(cell for cell in cells if cell)
        sentences.append(f"{name}: {values}")
    return typeset("; ".join(sentences), data.locale)
