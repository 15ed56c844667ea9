"""A scatter: time against memory, a dot for each variant, and the frontier.

Dots on the frontier have no other dot that is both faster and smaller. A curve joins the dots of
one idea in several strengths, such as a budget of memory from 0.1 to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import slug

from .chart_data import ChartData, ChartRow, Drawing, Role, Table
from .plot import Axis, Dot, Line, Place, draw_plot, letters_of, text_width
from .scales import Scale, label_ticks

_ = get_translation("second_call")

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
        return cls(left=x - _DOT_WIDTH, right=x + _DOT_WIDTH, top=y - height, bottom=y + height)

    @classmethod
    def of_name(cls, dot: Dot) -> _Box:
        """Return the room of the name of a dot."""
        length = text_width(dot.name) * _LETTER_WIDTH
        left = dot.place[0] + _DOT_WIDTH
        if dot.is_left:
            left = dot.place[0] - _DOT_WIDTH - length
        height = _LETTER_HEIGHT / 2
        top, bottom = dot.label_y - height, dot.label_y + height
        return cls(left=left, right=left + length, top=top, bottom=bottom)

    def meets(self, other: _Box) -> bool:
        """Tell whether a part of the room is the same."""
        is_beside = self.right <= other.left or other.right <= self.left
        is_above = self.bottom <= other.top or other.bottom <= self.top
        return not (is_beside or is_above)


def draw_scatter(data: ChartData, curve: str = "") -> Drawing | None:
    """Draw the first quantity upwards against the second; ``curve`` begins names to be joined.

    Variants that were measured at several sizes are a curve, too. Returns None if nothing is
    measured in both quantities.
    """
    y_word, x_word = list(data.quantities)[:2]
    rows = [row for row in data.rows if y_word in row.values and x_word in row.values]
    if not rows:
        return None
    across = _make_scale([row.values[x_word].number for row in rows], start=0, end=100)
    up = _make_scale([row.values[y_word].number for row in rows], start=100, end=0)
    places = [(across(row.values[x_word].number), up(row.values[y_word].number)) for row in rows]
    names = [_name_row(row, data) for row in rows]
    letters = letters_of(names)
    descriptions = []
    for row, name in zip(rows, names, strict=True):
        words = f"{row.values[y_word].words}, {row.values[x_word].words}"
        descriptions.append(data.typography.typeset(f"{name}: {words}"))
    frontier = find_frontier(places)
    dots = [
        Dot(
            name=name,
            role=row.role,
            place=place,
            description=description,
            letter=letters[name],
        )
        for row, name, place, description in zip(rows, names, places, descriptions, strict=True)
    ]
    lines = [Line(name="", role="frontier", points=frontier, has_dots=False)]
    lines += [
        Line(name="", role="curve-through", points=points, has_dots=False)
        for points in _find_curves(rows, places, curve)
    ]
    unit_x, unit_y = rows[0].values[x_word].unit, rows[0].values[y_word].unit
    html = draw_plot(
        label=data.typography.typeset("; ".join(descriptions)),
        lines=lines,
        dots=_place_names(dots),
        across=Axis(
            name=data.quantities[x_word],
            ticks=label_ticks(across, unit_x, data.typography, _MOST_TICKS),
        ),
        up=Axis(
            name=data.quantities[y_word],
            ticks=label_ticks(up, unit_y, data.typography, _MOST_TICKS),
        ),
    )
    return Drawing(
        html=html, table=_make_table(rows, names, places, frontier, data), has_ranges=True
    )


def _make_scale(numbers: Sequence[float], *, start: float, end: float) -> Scale:
    """Return a linear axis with some room on either side."""
    low, high = min(numbers), max(numbers)
    margin = (high - low) * _MARGIN or high * _MARGIN or 1.0
    return Scale(low=max(0.0, low - margin), high=high + margin, start=start, end=end)


def find_frontier(places: Sequence[Place]) -> list[Place]:
    """Return the places than which no other is further left and further down, from the left.

    Places are per cent from the left and from the top, so further down is more.
    """
    frontier: list[Place] = []
    for x, y in sorted(places, key=lambda place: (place[0], -place[1])):
        if not frontier or y > frontier[-1][1]:
            frontier.append((x, y))
    return frontier


def _find_curves(
    rows: Sequence[ChartRow], places: Sequence[Place], curve: str
) -> list[list[Place]]:
    """Return the places to join: of a variant in several sizes, and of names that begin alike."""
    groups: dict[str, list[Place]] = {}
    for row, place in zip(rows, places, strict=True):
        is_named = bool(curve) and slug(row.variant).startswith(slug(curve))
        groups.setdefault(curve if is_named else row.variant, []).append(place)
    return [points for points in groups.values() if len(points) > 1]


def _name_row(row: ChartRow, data: ChartData) -> str:
    """Return what a dot is called: its variant, and the size if there are several."""
    if data.is_of_one_size or row.size is None:
        return row.name
    return data.typography.typeset(f"{row.name}: {row.size}")


def _place_names(dots: Sequence[Dot]) -> list[Dot]:
    """Return dots with places for their names, where these hide as little as can be."""
    taken = [_Box.around(dot.place) for dot in dots]
    placed = []
    for dot in dots:
        choices = [_put_name(dot, is_left, rise) for rise in _RISES for is_left in (False, True)]
        best = min(choices, key=lambda choice: _count_hidden(choice, dot, taken))
        taken.append(_Box.of_name(best))
        placed.append(best)
    return placed


def _put_name(dot: Dot, is_left: bool, rise: float) -> Dot:
    return replace(dot, is_left=is_left, label_y=dot.place[1] + rise)


def _count_hidden(choice: Dot, dot: Dot, taken: Sequence[_Box]) -> int:
    """Return how many names and dots a name would hide; outside of the plot counts as ten."""
    box = _Box.of_name(choice)
    own = _Box.around(dot.place)
    hidden = sum(box.meets(other) for other in taken if other != own)
    leaves_plot = box.left < 0 or box.right > 100 or box.top < 0 or box.bottom > 100
    return hidden + 10 * leaves_plot


def _make_table(
    rows: Sequence[ChartRow],
    names: Sequence[str],
    places: Sequence[Place],
    frontier: Sequence[Place],
    data: ChartData,
) -> Table:
    words = list(data.quantities)[:2]
    head = ["", *(data.quantities[word] for word in words), str(_("on the frontier"))]
    lines = []
    for row, name, place in zip(rows, names, places, strict=True):
        shown_name = name
        if row.role == Role.BEST:
            shown_name = str(_("%s (recommended)")) % name
        is_best = str(_("yes")) if place in frontier else ""
        lines.append([shown_name, *(row.values[word].full_words for word in words), is_best])
    return Table(head=head, rows=lines)
