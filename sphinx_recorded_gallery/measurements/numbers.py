"""Write measurements and their ranges with no more digits than are known."""

import math

from babel import Locale
from sphinx.locale import get_translation

from ..dates_and_numbers import format_number, format_percent
from .ranges import Measurement

_ = get_translation("sphinx_recorded_gallery")

MOST_DIGITS = 3
# Also for wide ranges (27.8 shown as 30 would leave most of them) and for measurements of a single
# process, whose spread is unknown
LEAST_DIGITS = 2
SPACE = "\u00a0"
_LEAST_DECIMAL = 1e-4  # smaller plain numbers are written with a power of ten
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_COUNTS = ("", "calls", "tokens")  # units that the sentence names, so numbers go without
# Multiples of units by exponent of ten, the largest first
_MULTIPLES = {
    "s": {0: "s", -3: "ms", -6: "µs", -9: "ns"},
    "B": {12: "TB", 9: "GB", 6: "MB", 3: "kB", 0: "B"},
    "B/s": {12: "TB/s", 9: "GB/s", 6: "MB/s", 3: "kB/s", 0: "B/s"},
}


def find_last_digit(measurement: Measurement) -> int:
    """Return the place of the last digit to show, as an exponent of ten: -1 for 2.7.

    It is the place of the first digit of half the range's width, as long as that leaves between
    ``LEAST_DIGITS`` and ``MOST_DIGITS`` digits. Counts have no decimals.
    """
    value = measurement.value
    # The places that leave the fewest and the most digits
    highest_place = first_digit(value) - LEAST_DIGITS + 1
    lowest_place = first_digit(value) - MOST_DIGITS + 1
    is_whole = is_count(measurement) and math.isclose(value, round(value))
    if measurement.processes < 2:
        if is_whole and not measurement.unit:  # calls to break even, in contrast, come from times
            return 0
        return _with_carry(value, highest_place, LEAST_DIGITS)
    half_width = (measurement.high - measurement.low) / 2
    if not half_width:
        if is_whole:
            return 0
        if not value:
            return lowest_place
        return _with_carry(value, lowest_place, MOST_DIGITS)
    uncertain_place = first_digit(half_width)
    if is_whole:
        return max(0, min(highest_place, uncertain_place))
    if not value:
        return uncertain_place
    if uncertain_place > highest_place:  # the range is wide: more digits than are certain
        return _with_carry(value, highest_place, LEAST_DIGITS)
    return _with_carry(value, max(uncertain_place, lowest_place), MOST_DIGITS)


def is_count(measurement: Measurement) -> bool:
    """Return whether a measurement is shown without a unit, so that words must say what it is."""
    return measurement.unit in _COUNTS


def first_digit(value: float) -> int:
    """Return the exponent of the first digit; 0.0999999999 counts as 0.1."""
    return int(f"{value:.6e}".partition("e")[2])


def _with_carry(value: float, place: int, most: int) -> int:
    """Return the place of the last digit, one higher if rounding adds a digit: 9.996 as 10.0."""
    digits = first_digit(round(value, -place)) - place + 1
    if digits > most:
        return place + 1
    return place


def describe_spread(measurement: Measurement, locale: Locale) -> str:
    """Return the range that is expected or was seen, and on how many machines and processes."""
    if measurement.processes < 2:
        return str(_("measured in one process"))
    low, high = _format_ends(measurement, locale)
    if not low and measurement.hosts > 1:
        text = _("the same in %(processes)s processes on %(machines)s machines")
    elif not low:
        text = _("the same in %(processes)s processes on one machine")
    elif measurement.is_predicted:
        text = _(
            "%(low)s to %(high)s expected on another machine, "
            "from %(processes)s processes on %(machines)s"
        )
    elif measurement.hosts > 1:
        text = _("%(low)s to %(high)s on %(machines)s machines, in %(processes)s processes")
    else:
        text = _("%(low)s to %(high)s in %(processes)s processes on one machine")
    facts = {
        "low": low,
        "high": high,
        "processes": measurement.processes,
        "machines": measurement.hosts,
    }
    return str(text % facts)


def format_range(measurement: Measurement, locale: Locale) -> str:
    """Return both ends of a range, with the number of machines unless it is a prediction.

    Returns "" if both ends look the same.
    """
    low, high = _format_ends(measurement, locale)
    if not low:
        return ""
    if measurement.is_predicted:
        return join_ends(low, high)
    facts = {"low": low, "high": high, "machines": measurement.hosts}
    if measurement.hosts > 1:
        return str(_("%(low)s to %(high)s on %(machines)s machines") % facts)
    return str(_("%(low)s to %(high)s on one machine") % facts)


def join_ends(low: str, high: str) -> str:
    """Return a range, as the reader's language writes it."""
    return str(_("%(low)s to %(high)s") % {"low": low, "high": high})


def _format_ends(measurement: Measurement, locale: Locale) -> tuple[str, str]:
    """Return both ends, the upper one with its unit; two empty texts if they look the same."""
    low = format_measurement(measurement, locale, measurement.low, bare=True)
    if low == format_measurement(measurement, locale, measurement.high, bare=True):
        return "", ""
    return low, format_measurement(measurement, locale, measurement.high)


def round_measurement(measurement: Measurement) -> float:
    """Return the value of a measurement as it is shown: 0.015 for 14.6 ms shown as 15 ms."""
    return round(measurement.value, -find_last_digit(measurement))


def format_measurement(
    measurement: Measurement, locale: Locale, end: float | None = None, *, bare: bool = False
) -> str:
    """Return a measurement, or an ``end`` of its range, with suitable digits and unit."""
    value = measurement.value if end is None else end
    like = measurement.value or measurement.high  # so that both ends of a range have the same unit
    last_digit = find_last_digit(measurement)
    return format_value(value, measurement.unit, locale, last_digit, like=like, bare=bare)


def format_value(
    value: float, unit: str, locale: Locale, last: int, *, like: float, bare: bool = False
) -> str:
    """Return a value rounded at the place ``last``, with its unit, or ``bare`` without.

    The multiple of the unit suits the value ``like``: 14 ms, not 0.014 s. Nothing is 0 in any unit,
    and stands without one.
    """
    value = round(value, -last)
    if not value and unit in _MULTIPLES:
        return format_number(0, locale, 0)
    if unit == "share":
        digits = max(0, -2 - last)
        if bare:
            return format_number(100 * value, locale, digits)
        return format_percent(value, locale, digits)
    if unit == "" and 0 < abs(value) < _LEAST_DECIMAL:
        return _format_power_of_ten(value, locale, last)
    multiples = _MULTIPLES.get(unit, {0: unit})
    exponent = min(multiples)
    for candidate in multiples:
        if round(like, -last) >= 10**candidate:
            exponent = candidate
            break
    number = format_number(value / 10**exponent, locale, max(0, exponent - last))
    if bare or unit in _COUNTS:
        return number
    if unit == "x":
        return f"{number}×"
    return f"{number}{SPACE}{multiples[exponent]}"


def _format_power_of_ten(value: float, locale: Locale, last: int) -> str:
    """Return 0.000000080 as 8.0 × 10⁻⁸, rounded at the place ``last``."""
    exponent = math.floor(math.log10(abs(value)))
    number = format_number(value / 10**exponent, locale, max(0, exponent - last))
    return f"{number} × 10{str(exponent).translate(_SUPERSCRIPTS)}"
