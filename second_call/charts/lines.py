"""Lines: a quantity of each arm over sizes, both axes logarithmic, with the names at their ends."""

from collections.abc import Sequence
from dataclasses import dataclass

from babel import Locale
from babel.numbers import format_compact_decimal

from recipe_gallery.languages import typeset

from .scales import Scale, format_value
from .svg import NARROW, SIZE, Drawing, spread_out, text_width, wrap, write_key, write_note

_HEIGHT = 300  # of the plot
_MARGIN = 1.15  # the axis y reaches so far beyond the values
_TITLE = 26  # room for the name of the axis y
BELOW = 46  # and for that of x, with its values
_LINE = 16  # height of a line of words
_SAMPLE = 20  # a piece of the line before its name, with the space behind it
_APART = 4  # from the range of an arm to that of the next
_COMPACT = 10_000  # numbers from here on are written short


@dataclass(frozen=True, kw_only=True)
class Point:
    """A figure at a size; ``low`` and ``high`` are equal where no spread is known."""

    x: float
    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class Series:
    """An arm."""

    name: str
    points: Sequence[Point]
    kind: str  # classes


@dataclass(frozen=True, kw_only=True)
class Axes:
    """What the axes of a plot are called, and how their values are written."""

    x: str
    y: str
    unit: str  # of y
    locale: Locale
    note: str = ""  # what an arrow is, where a range has one


def draw_lines(series: Sequence[Series], axes: Axes, width: float) -> Drawing:
    """Return the plot of all series; each has a point at least."""
    points = [point for each in series for point in each.points]
    low, high = min(p.value for p in points) / _MARGIN, max(p.value for p in points) * _MARGIN
    drawing, right, top = begin_plot(series, width)
    top += _TITLE
    y = Scale(low=low, high=high, start=top + _HEIGHT, end=top, is_log=True)
    marks = [(tick, format_value(tick, axes.unit, axes.locale)) for tick in y.ticks(7)]
    left = max(text_width(words) for _tick, words in marks) + 10
    sizes = sorted({point.x for point in points})
    half = text_width(write_number(sizes[-1], axes.locale)) / 2  # of the last number, has room
    end = min(right, width - half - 2) - 8
    x = Scale(low=sizes[0], high=sizes[-1], start=left + 8, end=end, is_log=True)
    for tick, words in marks:
        drawing.line((left, y(tick)), (right, y(tick)), "grid")
        drawing.text(left - 8, y(tick) + 5, words, "muted", "end")
    _draw_x(drawing, sizes, x, axes, y.start)
    drawing.text(0, top - _TITLE + SIZE, axes.y, "muted")
    for number, each in enumerate(series):
        _draw_series(drawing, each, x, y, (number - (len(series) - 1) / 2) * _APART)
    if right < width:
        write_names(drawing, series, right + 8, y)
    is_cut = any(point.low < low or point.high > high for point in points)
    drawing.height = write_note(drawing, y.start + BELOW, axes.note if is_cut else "")
    return drawing


def begin_plot(series: Sequence[Series], width: float) -> tuple[Drawing, float, float]:
    """Return a drawing, where the plot ends on its right, and where it may begin at the top.

    Where there is no room for names at the right, they stand on top.
    """
    drawing = Drawing(width)
    if width > NARROW:
        names = max(text_width(each.name) for each in series) + _SAMPLE + 9
        return drawing, width - min(names, width * 0.32), 0
    series = sorted(series, key=lambda each: -each.points[-1].value)
    return drawing, width, write_key(drawing, {s.name: s.kind for s in series}, "curve")


def _draw_x(drawing: Drawing, sizes: Sequence[float], x: Scale, axes: Axes, base: float) -> None:
    most = 4 if drawing.width <= NARROW else 8
    ticks, end = sizes if len(sizes) <= most else x.ticks(most), 0.0
    drawing.line((x.start - 8, base), (x.end + 8, base), "axis")
    for tick in ticks:
        words = write_number(tick, axes.locale)
        half = text_width(words) / 2
        if x(tick) - half < end:  # there is no room for it
            continue
        drawing.line((x(tick), base), (x(tick), base + 4), "axis")
        drawing.text(x(tick), base + 20, words, "muted", "middle")
        end = x(tick) + half + 6
    drawing.text((x.start + x.end) / 2, base + 40, axes.x, "muted", "middle")


def write_number(number: float, locale: Locale) -> str:
    """Return a count, short where it is large: 1,000, 10K, 1만."""
    if number < _COMPACT:
        return format_value(number, "", locale)
    return typeset(format_compact_decimal(number, locale=locale), locale)


def _draw_series(drawing: Drawing, series: Series, x: Scale, y: Scale, aside: float) -> None:
    """Draw the line of an arm, and its ranges so far ``aside`` that they hide no others."""
    places = [(x(point.x), y(point.value)) for point in series.points]
    drawing.path(places, f"curve {series.kind}")
    if series.kind == "limit":
        if len(places) == 1:  # of one size only
            across, up = places[0]
            drawing.line((across - 9, up), (across + 9, up), "curve limit")
        return
    for point, (across, up) in zip(series.points, places, strict=True):
        if point.high > point.low:
            _draw_range(drawing, point, across + aside, y, f"range {series.kind}")
        drawing.dot(across, up, 3.5, f"dot {series.kind}")


def _draw_range(drawing: Drawing, point: Point, x: float, y: Scale, kind: str) -> None:
    """Draw a range, with an arrow where it goes on beyond the axis."""
    drawing.line((x, y(point.low)), (x, y(point.high)), kind)
    if point.low < y.low:
        drawing.path([(x - 3, y.start - 5), (x, y.start), (x + 3, y.start - 5)], kind)
    if point.high > y.high:
        drawing.path([(x - 3, y.end + 5), (x, y.end), (x + 3, y.end + 5)], kind)


def write_names(drawing: Drawing, series: Sequence[Series], left: float, y: Scale) -> None:
    """Write the names at the ends of their lines, moved apart where these are near each other."""
    lines = [wrap(each.name, drawing.width - left - _SAMPLE) for each in series]
    most = max(map(len, lines))
    ends = [y(each.points[-1].value) for each in series]
    places = spread_out(ends, most * _LINE + 1, y.end, y.start)
    for each, words, place in zip(series, lines, places, strict=True):
        drawing.line((left, place), (left + _SAMPLE - 5, place), f"curve {each.kind}")
        first = place + 5 - (len(words) - 1) * _LINE / 2
        for number, line in enumerate(words):
            drawing.text(left + _SAMPLE, first + number * _LINE, line)
