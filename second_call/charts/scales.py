"""Scales: from a value to a place on an axis, and the round values that stand there."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from babel import Locale
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import SPACE, format_number
from sphinx_recorded_gallery.api import format_value as format_with_unit

_ = get_translation("second_call")

_MINUTE, _HOUR = 60, 3600
_STEPS = (1, 2, 5, 10)  # times a power of ten
_SHORT = 1e-9  # what rounding leaves of a number


@dataclass(frozen=True, kw_only=True)
class Scale:
    """An axis from ``low`` to ``high``, drawn from ``start`` to ``end``; either may be the larger.

    ``is_log`` needs a ``low`` above 0.
    """

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return where a value is drawn; what lies outside of the axis, at its end."""
        low, high = self._measure(self.low), self._measure(self.high)
        inside = min(max(value, self.low), self.high)
        share = (self._measure(inside) - low) / (high - low) if high > low else 0.0
        return self.start + share * (self.end - self.start)

    def _measure(self, value: float) -> float:
        return math.log10(value) if self.is_log else value

    def ticks(self, most: int = 6) -> list[float]:
        """Return at most ``most`` round values on the axis, rising.

        On a logarithmic one they are 1, 2, 5, 10 and so on if there is room, else 1, 5, 10 or
        powers of ten, of a very long axis some of them. On a very short one, and on one that is
        not logarithmic, they are equal steps.
        """
        low, high = self.low, self.high
        if not high > low:
            return [low]
        if not self.is_log:
            return _linear_ticks(low, high, most)
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for steps in (_STEPS[:-1], (1, 5), (1,)):
            values = [step * 10.0**each for each in decades for step in steps]
            shown = [each for each in values if low * (1 - _SHORT) <= each <= high * (1 + _SHORT)]
            if 2 <= len(shown) <= most:
                return shown
        if len(shown) < 2:
            return _linear_ticks(low, high, most)
        return shown[:: math.ceil(len(shown) / most)]


def _linear_ticks(low: float, high: float, most: int) -> list[float]:
    rough = (high - low) / max(most - 1, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    for step in (*(each * power for each in _STEPS), 20 * power):
        first, last = math.ceil(low / step - _SHORT), math.floor(high / step + _SHORT)
        if last - first < most:
            return [round(number * step, 12) for number in range(first, last + 1)]
    return [low, high]


def format_value(value: float, unit: str, locale: Locale, digits: int = 3) -> str:
    """Return a value as readers write it, with so many digits: 14.2 ms, 16.8 GB, 2.7×, 63%.

    ``unit`` is that of a row; 0 has none. Ends that say nothing are cut off: 10 ms, not 10.0 ms.
    """
    if not value:
        return format_number(0, locale)
    last = 0  # what was counted is shown as it is
    if unit or value != round(value):
        last = int(Decimal(f"{value:.{digits - 1}e}").normalize().as_tuple().exponent)
    return format_with_unit(value, unit, locale, last, like=value)


def label_ticks(scale: Scale, unit: str, locale: Locale, most: int) -> list[tuple[float, str]]:
    """Return the places of at most ``most`` round values on an axis, and their words."""
    return [(scale(tick), format_value(tick, unit, locale)) for tick in scale.ticks(most)]


def time_words() -> dict[str, str]:
    """Return what readers call long times; explorer.js has them, too."""
    return {
        "minutes": str(_("%(large)s min")),
        "hours": str(_("%(large)s h")),
        "short": str(_("%(large)s min %(small)s s")),
        "long": str(_("%(large)s h %(small)s min")),
    }


def format_seconds(
    seconds: float, locale: Locale, words: Mapping[str, str], digits: int = 2
) -> str:
    """Return a time as readers say it: 14 ms, 76 s, 2 min 6 s, 12 min, 1 h 30 min.

    ``words`` are those of ``time_words``; ``digits`` holds below 100 s. explorer.js does the same.
    """
    if seconds < 2 * _MINUTE - 0.5:
        return format_value(seconds, "s", locale, digits if seconds < 100 else 3)
    unit, name, both = _HOUR, "hours", "long"
    if seconds < _HOUR:
        unit, name, both = _MINUTE, "minutes", "short"
    step = unit / 60 if seconds < 10 * unit else unit
    total = math.floor(seconds / step + 0.5) * step
    large, small = (int(each) for each in divmod(total, unit))
    parts = {"large": format_value(large, "", locale), "small": int(small * 60 / unit)}
    return (words[both if small else name] % parts).replace(" ", SPACE)
