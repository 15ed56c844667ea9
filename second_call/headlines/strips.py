"""A gain as a strip of a dot plot: SVG as wide as there is room, in the colours of the page.

Places along the axis are per cent, so that labels and marks keep their size on every screen.
"""

from collections.abc import Iterable, Sequence

from babel import Locale
from docutils import nodes

from recipe_gallery.recipes.ranges import Measurement

from ..charts.scales import Scale, format_value
from ..nodes import render
from .gains import Gain

# In per cent of the width, with room for marks and labels on either side
START, END = 4.0, 96.0
_MOST_TICKS = 7


def make_axis(values: Iterable[float], *, least: float, most: float) -> Scale:
    """Return an axis that has 1 and all values on it which lie between ``least`` and ``most``."""
    inside = [min(max(value, least), most) for value in values]
    low, high = min([0.8, *inside]) / 1.1, max([2.5, *inside]) * 1.1
    return Scale(low=low, high=high, start=START, end=END, is_log=True)


def gain_axis(gains: Sequence[Gain]) -> Scale:
    """Return the axis of a plot; a gain above 20 leaves no room for the others."""
    measurements = [each for gain in gains for each in (gain.ratio, gain.wall) if each]
    ends = [
        end
        for measurement in measurements
        for end in (measurement.low, measurement.value, measurement.high)
    ]
    return make_axis(ends, least=0.4, most=20)


def draw_axis(axis: Scale, locale: Locale) -> nodes.raw:
    """Return the labels of an axis."""
    ticks = [(axis(tick), format_value(tick, "x", locale)) for tick in axis.ticks(_MOST_TICKS)]
    return render("axis.html", ticks=ticks)


def draw_strip(gain: Gain, axis: Scale) -> nodes.raw:
    """Return the strip of a gain; text beside it says all that it shows."""
    grid = [(axis(tick), tick == 1) for tick in axis.ticks(_MOST_TICKS)]
    marks = [("wall", gain.wall)] if gain.wall else []
    drawn = [
        (kind, *_mark(measurement, axis)) for kind, measurement in [*marks, ("dot", gain.ratio)]
    ]
    return render("strip.html", grid=grid, one=axis(1), marks=drawn)


def _mark(measurement: Measurement, axis: Scale) -> tuple[float, float, float, str]:
    """Return place and spread of a mark, and its form: slower, beyond, open or nothing."""
    form = "slower" if measurement.high < 1 else "open" if measurement.low <= 1 else ""
    if measurement.value > axis.high:
        form = "beyond"
    return axis(measurement.value), axis(measurement.low), axis(measurement.high), form
