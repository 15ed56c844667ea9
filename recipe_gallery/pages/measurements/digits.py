"""A measured figure as readers expect it: with no more digits than its interval allows."""

import math

from babel import Locale
from sphinx.locale import get_translation

from ...languages import format_number, format_percent
from ...recipes.ranges_over_hosts import Measurement

_ = get_translation("recipe_gallery")

MOST_DIGITS = 3
# Also of a wide interval, for 27.8 as 30 would be further off than most intervals reach, and of a
# figure that one process measured: how far others differ is not known
LEAST_DIGITS = 2
SPACE = "\u00a0"
_COUNTS = ("", "calls")  # what is counted is said by the sentence
# Units that have others for large and small values: exponents of ten, the largest first
_SCALES = {
    "s": {0: "s", -3: "ms", -6: "µs", -9: "ns"},
    "B": {12: "TB", 9: "GB", 6: "MB", 3: "kB", 0: "B"},
    "B/s": {12: "TB/s", 9: "GB/s", 6: "MB/s", 3: "kB/s", 0: "B/s"},
}


def find_scale(value: float, unit: str) -> tuple[int, str]:
    """Return the unit that suits a value, as an exponent of ten and its name: -3, "ms"."""
    scales = _SCALES.get(unit, {0: unit})
    exponent = next((each for each in scales if value >= 10**each), min(scales))
    return exponent, scales[exponent]


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


def format_measurement(figure: Measurement, locale: Locale) -> str:
    """Return the figure with its unit."""
    return _format(figure, figure.value, locale)


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


def list_separator(locale: Locale) -> str:
    """Return what stands between the entries of a list but the last two: a comma and a space."""
    return str(locale.list_patterns["standard"]["middle"]).format("", "")


def join_ends(low: str, high: str) -> str:
    """Return a range, as the reader's language writes it."""
    return str(_("%(low)s to %(high)s") % {"low": low, "high": high})


def _format_ends(figure: Measurement, locale: Locale) -> tuple[str, str]:
    """Return both ends, the upper one with its unit; nothing if they look the same."""
    low, high = (_format(figure, end, locale, bare=True) for end in (figure.low, figure.high))
    return (low, _format(figure, figure.high, locale)) if low != high else ("", "")


def _format(figure: Measurement, value: float, locale: Locale, *, bare: bool = False) -> str:
    """Return a value of a figure, in the unit and with the digits that suit the figure."""
    last = find_last_digit(figure)
    value = round(value, -last)
    if figure.unit == "share":
        digits = max(0, -2 - last)
        if bare:
            return format_number(100 * value, locale, digits)
        return format_percent(value, locale, digits)
    # so that both ends of an interval are in one unit
    exponent, unit = find_scale(round(figure.value or figure.high, -last), figure.unit)
    number = format_number(value / 10**exponent, locale, max(0, exponent - last))
    if figure.unit == "x":
        return number if bare else f"{number}×"
    return number if bare or figure.unit in _COUNTS else f"{number}{SPACE}{unit}"
