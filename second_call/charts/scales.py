"""Scales: where a value is drawn on an axis, which round values have ticks, and their labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sphinx_recorded_gallery.api import Typography

_STEPS = (1, 2, 5, 10)  # times a power of ten
_TOLERANCE = 1e-9  # relative; larger than errors of rounding


@dataclass(frozen=True, kw_only=True)
class Scale:
    """An axis for values from ``low`` to ``high``, drawn from ``start`` to ``end``.

    ``start`` and ``end`` are places on the page; either may be the larger. A logarithmic axis needs
    a ``low`` above 0.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    @classmethod
    def from_zero(cls, high: float, end: float = 100) -> Scale:
        """Return an axis from 0, drawn from the left, in per cent unless ``end`` is in others."""
        return cls(low=0, high=high, start=0, end=end)

    def __call__(self, value: float) -> float:
        """Return where a value is drawn; one outside of the axis is drawn at its nearest end."""
        low = self._transform(self.low)
        high = self._transform(self.high)
        if not high > low:
            return self.start
        clamped = min(max(value, self.low), self.high)
        share = (self._transform(clamped) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def _transform(self, value: float) -> float:
        """Return a value, or its logarithm if the axis is logarithmic."""
        return math.log10(value) if self.is_log else value

    def ticks(self, most: int = 6) -> list[float]:
        """Return at most ``most`` round values on the axis, in ascending order.

        On a logarithmic axis, they are 1, 2, 5, 10 and so on if there is room; else 1, 5, 10; else
        powers of ten, and on a very long axis every second, third or later one. A very short
        logarithmic axis has equal steps, as an axis that is not logarithmic.
        """
        if not self.high > self.low:
            return [self.low]
        if not self.is_log:
            return _linear_ticks(self.low, self.high, most)
        for steps in (_STEPS[:-1], (1, 5), (1,)):
            ticks = self._log_ticks(steps)
            if 2 <= len(ticks) <= most:
                return ticks
        powers = self._log_ticks([1])
        if len(powers) < 2:
            return _linear_ticks(self.low, self.high, most)
        interval = math.ceil(len(powers) / most)
        return powers[::interval]

    def _log_ticks(self, steps: Sequence[int]) -> list[float]:
        """Return the values on the axis that are one of the steps times a power of ten."""
        lowest = self.low * (1 - _TOLERANCE)
        highest = self.high * (1 + _TOLERANCE)
        first_power = math.floor(math.log10(self.low))
        last_power = math.ceil(math.log10(self.high))
        ticks = []
        for power in range(first_power, last_power + 1):
            for step in steps:
                value = step * 10.0**power
                if lowest <= value <= highest:
                    ticks.append(value)
        return ticks


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    """Return multiples of the smallest round step of which at most ``most`` are on the axis."""
    smallest_step = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(smallest_step))
    for factor in (*_STEPS, 20):
        step = factor * power
        first = math.ceil(low / step - _TOLERANCE)
        last = math.floor(high / step + _TOLERANCE)
        if last - first < most:
            return [round(number * step, 12) for number in range(first, last + 1)]
    return [low, high]


def format_rounded(value: float, unit: str, typography: Typography, digits: int = 3) -> str:
    """Return a value with its unit, as readers write it: 14.2 ms, 16.8 GB, 2.7×, 63%.

    ``unit`` is that of a row; 0 is written without it. ``digits`` is the number of significant
    digits, without zeros at the end: 10 ms, not 10.0 ms. A whole number without a unit, which was
    counted, keeps all its digits.
    """
    if not value:
        return typography.format_number(0)
    last_place = 0  # as a power of ten
    if unit or value != round(value):
        rounded = Decimal(f"{value:.{digits - 1}e}").normalize()
        last_place = int(rounded.as_tuple().exponent)
    return typography.format_value(value, unit, last_place)


def label_ticks(
    scale: Scale, unit: str, typography: Typography, most: int
) -> list[tuple[float, str]]:
    """Return place and label of each of at most ``most`` round values on an axis."""
    ticks = []
    for value in scale.ticks(most):
        label = format_rounded(value, unit, typography)
        ticks.append((scale(value), label))
    return ticks
