"""The numbers of measurements and their ranges: with no more digits than are known."""

import math

from babel import Locale
from sphinx.locale import get_translation

from ..dates_and_numbers import format_number, format_percent
from .ranges import Measurement

_ = get_translation("sphinx_recorded_gallery")

MOST_DIGITS = 3
# Also of a wide interval, for 27.8 as 30 would be further off than most intervals reach, and of a
# figure that one process measured: how far others differ is not known
LEAST_DIGITS = 2
SPACE = "\u00a0"
_LEAST_DECIMAL = 1e-4  # plain numbers below it are written with a power of ten
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_COUNTS = ("", "calls", "tokens")  # what is counted is said by the sentence
# Units that have others for large and small values: exponents of ten, the largest first
_SCALES = {
    "s": {0: "s", -3: "ms", -6: "µs", -9: "ns"},
    "B": {12: "TB", 9: "GB", 6: "MB", 3: "kB", 0: "B"},
    "B/s": {12: "TB/s", 9: "GB/s", 6: "MB/s", 3: "kB/s", 0: "B/s"},
}


def find_last_digit(figure: Measurement) -> int:
    """Return the place of the last digit to show, as an exponent of ten: -1 for 2.7.

    It is the place of the first digit of half the interval's width, so long as that leaves at least
    ``LEAST_DIGITS`` and at most ``MOST_DIGITS``. What was counted has none behind the point.
    """
    value, first = figure.value, first_digit(figure.value)
    counted = figure.unit in _COUNTS and math.isclose(value, round(value))
    if figure.processes < 2:
        if counted and not figure.unit:  # calls to break even are computed from times
            return 0
        return _with_carry(value, first - LEAST_DIGITS + 1, LEAST_DIGITS)
    half = (figure.high - figure.low) / 2
    least = first - MOST_DIGITS + 1
    wanted = first_digit(half) if half else least
    if counted:
        return max(0, min(first - LEAST_DIGITS + 1, wanted)) if half else 0
    if not value:
        return wanted
    place = min(first - LEAST_DIGITS + 1, max(wanted, least))
    return _with_carry(value, place, LEAST_DIGITS if place < wanted else MOST_DIGITS)


def first_digit(value: float) -> int:
    """Return the exponent of the first digit; 0.0999999999, which was meant as 0.1, is 0.1."""
    return int(f"{value:.6e}".partition("e")[2])


def _with_carry(value: float, place: int, most: int) -> int:
    """Return a place for which 9.996 does not become 10.00."""
    return place + (first_digit(round(value, -place)) - place >= most)


def describe_spread(figure: Measurement, locale: Locale) -> str:
    """Return where further machines fall or what machines have shown, and how many these are."""
    if figure.processes < 2:
        return str(_("measured in one process"))
    low, high = _format_ends(figure, locale)
    if not low and figure.hosts > 1:
        text = _("the same in %(processes)s processes on %(machines)s machines")
    elif not low:
        text = _("the same in %(processes)s processes on one machine")
    elif figure.is_predicted:
        text = _(
            "%(low)s to %(high)s expected of a further machine, "
            "after %(processes)s processes on %(machines)s"
        )
    elif figure.hosts > 1:
        text = _("%(low)s to %(high)s on %(machines)s machines, in %(processes)s processes")
    else:
        text = _("%(low)s to %(high)s in %(processes)s processes on one machine")
    facts = {"low": low, "high": high, "processes": figure.processes, "machines": figure.hosts}
    return str(text % facts)


def format_range(figure: Measurement, locale: Locale) -> str:
    """Return both ends of a range, and on how many machines it was seen if none is expected.

    Nothing is returned if both ends look the same.
    """
    low, high = _format_ends(figure, locale)
    if not low or figure.is_predicted:
        return join_ends(low, high) if low else ""
    facts = {"low": low, "high": high, "machines": figure.hosts}
    if figure.hosts > 1:
        return str(_("%(low)s to %(high)s on %(machines)s machines") % facts)
    return str(_("%(low)s to %(high)s on one machine") % facts)


def join_ends(low: str, high: str) -> str:
    """Return a range, as the reader's language writes it."""
    return str(_("%(low)s to %(high)s") % {"low": low, "high": high})


def _format_ends(figure: Measurement, locale: Locale) -> tuple[str, str]:
    """Return both ends, the upper one with its unit; nothing if they look the same."""
    low = format_measurement(figure, locale, figure.low, bare=True)
    if low == format_measurement(figure, locale, figure.high, bare=True):
        return "", ""
    return low, format_measurement(figure, locale, figure.high)


def format_measurement(
    figure: Measurement, locale: Locale, end: float | None = None, *, bare: bool = False
) -> str:
    """Return a figure, or an ``end`` of its range, with the digits and the unit that suit it."""
    value = figure.value if end is None else end
    like = figure.value or figure.high  # so that both ends of an interval are in one unit
    return format_value(value, figure.unit, locale, find_last_digit(figure), like=like, bare=bare)


def format_value(
    value: float, unit: str, locale: Locale, last: int, *, like: float, bare: bool = False
) -> str:
    """Return a value with its unit, or ``bare`` without, rounded at the place ``last``.

    The unit suits ``like``: 14 ms, not 0.014 s.
    """
    value = round(value, -last)
    if unit == "share":
        digits = max(0, -2 - last)
        if bare:
            return format_number(100 * value, locale, digits)
        return format_percent(value, locale, digits)
    if unit == "" and 0 < abs(value) < _LEAST_DECIMAL:
        return _format_power_of_ten(value, locale, last)
    scales = _SCALES.get(unit, {0: unit})
    exponent = next((each for each in scales if round(like, -last) >= 10**each), min(scales))
    number = format_number(value / 10**exponent, locale, max(0, exponent - last))
    if unit == "x":
        return number if bare else f"{number}×"
    return number if bare or unit in _COUNTS else f"{number}{SPACE}{scales[exponent]}"


def _format_power_of_ten(value: float, locale: Locale, last: int) -> str:
    """Return 0.000000080 as 8.0 × 10⁻⁸, rounded at the place ``last``."""
    exponent = math.floor(math.log10(abs(value)))
    number = format_number(value / 10**exponent, locale, max(0, exponent - last))
    return f"{number} × 10{str(exponent).translate(_SUPERSCRIPTS)}"
