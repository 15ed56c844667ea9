"""A plot of lines in per cent of the room there is, with its axes and the names of the lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..nodes import render

_APART = 4  # px from the range of a line to that of the next, so that none hides another


@dataclass(frozen=True, kw_only=True)
class Line:
    """A line; its places are per cent from the left and from the top."""

    name: str
    kind: str  # classes
    points: Sequence[tuple[float, float]]
    # Ranges: place from the left, lower and upper end, and whether it goes on beyond each
    ends: Sequence[tuple[float, float, float, bool, bool]] = ()
    said: Sequence[str] = ()  # to a pointer, by each point
    has_dots: bool = True


Axis = tuple[str, Sequence[tuple[float, str]]]  # its name, and the places and words of its ticks


def draw_plot(
    lines: Sequence[Line], *, label: str, across: Axis, up: Axis, note: str = "", mark: float = -1
) -> str:
    """Return a plot as HTML; ``mark`` is the place of an upright line."""
    shifts = [(number - (len(lines) - 1) / 2) * _APART for number in range(len(lines))]
    return render(
        "plot.html",
        lines=[*zip(lines, shifts, strict=True)],
        names=[
            (line.name, line.kind) for line in sorted(lines, key=lambda line: line.points[-1][1])
        ],
        label=label,
        across=across,
        up=up,
        note=note,
        mark=mark,
    ).astext()
