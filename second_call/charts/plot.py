"""Plots between two axes: lines, dots and labels in per cent of the room, and their template."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from docutils.utils import column_width

from ..make_nodes import render_html

_APART = 4  # px from the range of a line to that of the next, so that none hides another
_LABEL_HEIGHT = 6.5  # of a label beside a line, in per cent of the height of a plot
_LABEL_LETTERS = 26  # of a line of a name beside the plot; a letter of Chinese counts as two
_DASHES = 4  # kinds of dashes for lines that are neither before nor best

Place = tuple[float, float]  # per cent from the left and from the top


@dataclass(frozen=True, kw_only=True)
class Range:
    """An upright line at a point; it goes on beyond the drawing where it is cut."""

    x: float
    low: float  # from the top, as all places
    high: float
    is_cut_below: bool
    is_cut_above: bool


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line of a plot."""

    name: str
    role: str  # its class: before, best, other, limit, frontier or curve-through
    points: Sequence[Place]
    descriptions: Sequence[str] = ()  # of the points, for a pointer
    ranges: Sequence[Range] = ()
    has_dots: bool = True
    dashes: str = ""  # class of its dashes; ``draw_plot`` sets it
    label_y: float = 0.0  # of its name beside the plot; ``draw_plot`` sets it

    @property
    def end_y(self) -> float:
        """Where its last point is, from the top."""
        _x, y = self.points[-1]
        return y

    @property
    def name_lines(self) -> list[str]:
        """The name as it stands beside the plot, on a line or more."""
        return wrap(self.name, _LABEL_LETTERS)


@dataclass(frozen=True, kw_only=True)
class Dot:
    """A dot with a name."""

    name: str
    role: str
    place: Place
    description: str
    letter: str = ""  # in place of the name where there is no room
    label_y: float = 0.0
    is_left: bool = False  # of the dot stands its name


@dataclass(frozen=True, kw_only=True)
class Axis:
    """The name of an axis, and the places and words of its ticks."""

    name: str
    ticks: Sequence[tuple[float, str]]


def draw_plot(
    *,
    label: str,
    across: Axis,
    up: Axis,
    lines: Sequence[Line] = (),
    dots: Sequence[Dot] = (),
) -> str:
    """Return a plot as HTML; ``label`` says all to those who do not see it."""
    dashed = _set_dashes(lines)
    middle = (len(lines) - 1) / 2
    lines_with_shifts = []
    for number, line in enumerate(dashed):
        shift = (number - middle) * _APART
        lines_with_shifts.append((line, shift))
    return render_html(
        "plot.html",
        label=label,
        across=across,
        up=up,
        lines=lines_with_shifts,
        labels=place_labels([line for line in dashed if line.name]),
        dots=dots,
    )


def _set_dashes(lines: Sequence[Line]) -> list[Line]:
    """Give lines that are neither before nor best a kind of dashes each."""
    dashed = []
    others = 0
    for line in lines:
        if line.role != "other":
            dashed.append(line)
            continue
        kind = others % _DASHES + 1
        dashed.append(replace(line, dashes=f"dashes-{kind}"))
        others += 1
    return dashed


def place_labels(lines: Sequence[Line]) -> list[Line]:
    """Return lines from the top, with places for their names so far apart that none hides another.

    Names stand where lines end, or further down; where that is below the plot, all move up.
    """
    ordered = sorted(lines, key=lambda line: line.end_y)
    most_lines = max((len(line.name_lines) for line in ordered), default=1)
    distance = _LABEL_HEIGHT * most_lines
    heights = spread([line.end_y for line in ordered], distance)
    placed = []
    for line, height in zip(ordered, heights, strict=True):
        placed.append(replace(line, label_y=height))
    return placed


def spread(places: Sequence[float], distance: float, end: float = 100.0) -> list[float]:
    """Return rising places, moved so that neighbours are a distance apart, the last before ``end``.

    >>> spread([10.0, 12.0, 50.0], 5.0)
    [10.0, 15.0, 50.0]
    >>> spread([98.0, 99.0], 5.0)
    [95.0, 100.0]
    """
    moved_up: list[float] = []
    least = -math.inf
    for place in places:
        moved_up.append(max(place, least))
        least = moved_up[-1] + distance

    moved_back: list[float] = []  # from the last to the first
    most = end
    for place in reversed(moved_up):
        moved_back.append(min(place, most))
        most -= distance
    return moved_back[::-1]


def wrap(name: str, most: int) -> list[str]:
    """Return a name in lines of at most so many letters, where words allow it.

    >>> wrap("padded to eight sizes", 12)
    ['padded to', 'eight sizes']
    """
    lines: list[str] = []
    line = ""
    for word in name.split():
        longer_line = f"{line} {word}".strip()
        if line and column_width(longer_line) > most:
            lines.append(line)
            line = word
        else:
            line = longer_line
    if line:
        lines.append(line)
    return lines


def letters_of(names: Mapping[str, object] | Sequence[str]) -> dict[str, str]:
    """Return a letter for each name: A, B, C."""
    letters = {}
    for number, name in enumerate(names):
        letters[name] = ascii_uppercase[number % len(ascii_uppercase)]
    return letters
