"""A scatter: time against memory, a dot for each variant, and the frontier.

A dot is on the frontier if none is as good in both and better in one. A curve joins the dots of one
idea in several strengths, such as a budget of memory from 0.1 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from docutils.utils import column_width

from sphinx_recorded_gallery.api import slug

from ..labels import _
from .chart_data import ChartData, ChartRow, Drawing, Role, Table
from .plot import Axis, Dot, Line, Place, draw_plot, letters_of
from .scales import Scale, label_ticks

_MARGIN = 0.08  # of what values span, on either side of an axis
_MOST_TICKS = 5
# In per cent of a plot of 50rem by 22rem
_LETTER_WIDTH = 1.05
_LETTER_HEIGHT = 5.0
_DOT_WIDTH = 1.6
_RISES = (0.0, 4.0, -4.0, 8.0, -8.0)  # of a name against its dot


@dataclass(frozen=True, kw_only=True)
class _Box:
    """The room of a name or a dot, in per cent from the left and from the top."""

    left: float
    right: float
    top: float
    bottom: float

    @classmethod
    def around(cls, place: Place) -> _Box:
        """Return the room of a dot."""
        x, y = place
        height = _LETTER_HEIGHT / 2
        return cls(
            left=x - _DOT_WIDTH,
            right=x + _DOT_WIDTH,
            top=y - height,
            bottom=y + height,
        )

    @classmethod
    def of_name(cls, dot: Dot) -> _Box:
        """Return the room of the name of a dot."""
        x, _y = dot.place
        length = column_width(dot.name) * _LETTER_WIDTH
        left = x + _DOT_WIDTH
        if dot.is_left:
            left = x - _DOT_WIDTH - length
        height = _LETTER_HEIGHT / 2
        return cls(
            left=left,
            right=left + length,
            top=dot.label_y - height,
            bottom=dot.label_y + height,
        )

    def meets(self, other: _Box) -> bool:
        """Tell whether a part of the room is the same."""
        is_beside = self.right <= other.left or other.right <= self.left
        is_above = self.bottom <= other.top or other.bottom <= self.top
        return not (is_beside or is_above)


@dataclass(frozen=True, kw_only=True)
class _Point:
    """A row with its place in the plot, and what it is called."""

    row: ChartRow
    name: str
    place: Place


def draw_scatter(data: ChartData, curve: str = "") -> Drawing | None:
    """Draw the first quantity upwards against the second; ``curve`` begins names to be joined.

    Variants that were measured at several sizes are a curve, too. Returns None if nothing is
    measured in both quantities.
    """
    quantity_up, quantity_across = list(data.quantities)[:2]
    rows = []
    for row in data.rows:
        if quantity_up in row.values and quantity_across in row.values:
            rows.append(row)
    if not rows:
        return None
    across = _make_scale(rows, quantity_across, start=0, end=100)
    up = _make_scale(rows, quantity_up, start=100, end=0)
    points = []
    for row in rows:
        x = across(row.values[quantity_across].number)
        y = up(row.values[quantity_up].number)
        name = _name_row(row, data)
        points.append(_Point(row=row, name=name, place=(x, y)))

    frontier = find_frontier([point.place for point in points])
    lines = [Line(name="", role="frontier", points=frontier, has_dots=False)]
    for places in _find_curves(points, curve):
        lines.append(Line(name="", role="curve-through", points=places, has_dots=False))
    dots = _make_dots(points, data)
    html = draw_plot(
        label=data.join_sentences(dot.description for dot in dots),
        lines=lines,
        dots=_place_names(dots),
        across=_make_axis(quantity_across, across, rows, data),
        up=_make_axis(quantity_up, up, rows, data),
    )
    return Drawing(html=html, table=_make_table(points, frontier, data), has_ranges=True)


def _make_dots(points: Sequence[_Point], data: ChartData) -> list[Dot]:
    """Return a dot for each point; its name has no place yet."""
    quantity_up, quantity_across = list(data.quantities)[:2]
    letters = letters_of([point.name for point in points])
    dots = []
    for point in points:
        values = f"{point.row.words(quantity_up)}, {point.row.words(quantity_across)}"
        dot = Dot(
            name=point.name,
            role=point.row.role,
            place=point.place,
            description=data.typography.typeset(f"{point.name}: {values}"),
            letter=letters[point.name],
        )
        dots.append(dot)
    return dots


def _make_axis(quantity: str, scale: Scale, rows: Sequence[ChartRow], data: ChartData) -> Axis:
    """Return the axis of a quantity, whose values are all in one unit."""
    unit = rows[0].values[quantity].unit
    ticks = label_ticks(scale, unit, data.typography, _MOST_TICKS)
    return Axis(name=data.quantities[quantity], ticks=ticks)


def _make_scale(rows: Sequence[ChartRow], quantity: str, *, start: float, end: float) -> Scale:
    """Return a linear axis for the values of a quantity, with some room on either side."""
    numbers = [row.values[quantity].number for row in rows]
    low = min(numbers)
    high = max(numbers)
    margin = (high - low) * _MARGIN
    if low == high == 0:
        margin = 1.0
    elif low == high:
        margin = high * _MARGIN
    return Scale(
        low=max(0.0, low - margin),
        high=high + margin,
        start=start,
        end=end,
    )


def find_frontier(places: Sequence[Place]) -> list[Place]:
    """Return the places than which none is as far left and as far down, and further in one.

    They are in order from the left. Places are per cent from the left and from the top, so further
    down is more.
    """
    frontier: list[Place] = []
    lowest = -math.inf
    from_the_left = sorted(places, key=lambda place: (place[0], -place[1]))
    for x, y in from_the_left:
        if y > lowest:
            frontier.append((x, y))
            lowest = y
    return frontier


def _find_curves(points: Sequence[_Point], curve: str) -> list[list[Place]]:
    """Return the places to join: of a variant in several sizes, and of names that begin alike."""
    curves: dict[str, list[Place]] = {}
    for point in points:
        name = point.row.variant
        if curve and slug(name).startswith(slug(curve)):
            name = curve
        curves.setdefault(name, []).append(point.place)
    return [places for places in curves.values() if len(places) > 1]


def _name_row(row: ChartRow, data: ChartData) -> str:
    """Return what a dot is called: its variant, and the size if there are several."""
    if data.is_of_one_size or row.size is None:
        return row.name
    return data.typography.typeset(f"{row.name}: {row.size}")


def _place_names(dots: Sequence[Dot]) -> list[Dot]:
    """Return dots with places for their names, where these hide as little as can be."""
    boxes = [_Box.around(dot.place) for dot in dots]
    names: list[_Box] = []
    placed = []
    for number, dot in enumerate(dots):
        other_dots = boxes[:number] + boxes[number + 1 :]
        taken = [*other_dots, *names]
        best = min(_list_choices(dot), key=partial(_count_hidden, taken=taken))
        names.append(_Box.of_name(best))
        placed.append(best)
    return placed


def _list_choices(dot: Dot) -> list[Dot]:
    """Return a dot with its name in all places where that may stand, the preferred first."""
    choices = []
    for rise in _RISES:
        right = replace(dot, label_y=dot.place[1] + rise)
        choices += [right, replace(right, is_left=True)]
    return choices


def _count_hidden(choice: Dot, taken: Sequence[_Box]) -> int:
    """Return how many names and dots a name would hide; outside of the plot counts as ten."""
    name = _Box.of_name(choice)
    hidden = sum(name.meets(box) for box in taken)
    if name.left < 0 or name.right > 100 or name.top < 0 or name.bottom > 100:
        hidden += 10
    return hidden


def _make_table(points: Sequence[_Point], frontier: Sequence[Place], data: ChartData) -> Table:
    """Return both values of each variant with their ranges, and whether it is on the frontier."""
    quantity_up, quantity_across = list(data.quantities)[:2]
    head = [
        "",
        data.quantities[quantity_up],
        data.quantities[quantity_across],
        _("Pareto-optimal"),
    ]
    lines = []
    for point in points:
        name = point.name
        if point.row.role == Role.BEST:
            name = _("%s (recommended)") % name
        is_best = ""
        if point.place in frontier:
            is_best = _("yes")
        line = [
            name,
            point.row.full_words(quantity_up),
            point.row.full_words(quantity_across),
            is_best,
        ]
        lines.append(line)
    return Table(head=head, rows=lines)
