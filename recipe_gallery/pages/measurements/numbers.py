"""How measurements are told: with no more digits than are known, and by the names of readers.

Readers have names for the words of a recipe's rows: cases, variants, sizes, quantities. The engine
knows none of them. An extension may answer the event ``recipe-gallery-name`` with a name in the
reader's language, or with None: then a page shows the recipe's own word, marked as such.
"""

import math
from collections.abc import Sequence
from html import escape

from babel import Locale
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ...cell_numbers import DATA_CLASS
from ...languages import current_language, format_number, format_percent, source_language, typeset
from ...recipes.claims_and_keys import Term
from ...recipes.measurement_rows import Size
from ...recipes.ranges_over_hosts import Measurement

_ = get_translation("recipe_gallery")

Pieces = list[tuple[str, bool]]  # words, and whether they are the recipe's

EVENT = "recipe-gallery-name"  # page of the recipe, kind, word
NAME, QUANTITY = "name", "quantity"  # kinds

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
    scales = _SCALES.get(unit, {0: unit})
    exponent = next((each for each in scales if round(like, -last) >= 10**each), min(scales))
    number = format_number(value / 10**exponent, locale, max(0, exponent - last))
    if unit == "x":
        return number if bare else f"{number}×"
    return number if bare or unit in _COUNTS else f"{number}{SPACE}{scales[exponent]}"


def name_word(env: BuildEnvironment, recipe: str, word: str, kind: str = NAME) -> Pieces:
    """Return what readers call a word of the recipe with the page ``recipe``, or the word."""
    known = env.events.emit_firstresult(EVENT, recipe, kind, word)
    return [(word, True)] if known is None else [(str(known), False)]


def name_case(env: BuildEnvironment, recipe: str, case: str, size: Size, sizes: str = "") -> Pieces:
    """Return a case and its size, if it has one; ``sizes`` is what it counts."""
    pieces = name_word(env, recipe, case)
    if size is not None:
        colon = typeset(": ", current_language(env.config).locale)
        counted = [*name_word(env, recipe, sizes), (colon, False)] if sizes else []
        # A case that is called as what its sizes count is told once: "detours: 3"
        before = [] if sizes == case else [*pieces, (" · ", False)]
        return [*before, *counted, *name_word(env, recipe, str(size))]
    return pieces


def name_measurement(env: BuildEnvironment, recipe: str, figure: Measurement) -> Pieces:
    """Return case, size, variant and quantity of a figure."""
    variant = name_word(env, recipe, figure.variant)
    quantity = name_word(env, recipe, figure.quantity, QUANTITY)
    case = name_case(env, recipe, figure.case, figure.size, figure.sizes)
    return [*case, (" · ", False), *variant, (" · ", False), *quantity]


def tell_comparison(
    env: BuildEnvironment, recipe: str, compared: Sequence[tuple[Term, Measurement]]
) -> Pieces:
    """Return what a comparison found: "fused 81 µs < foreach 231 µs", by what differs in names."""
    locale = current_language(env.config).locale
    measured = [each for _term, each in compared]
    pieces: Pieces = []
    for term, each in compared:
        pieces += [(" < ", False)] if pieces else []
        pieces += [(f"{term.factor:g} × ", False)] if term.factor != 1 else []
        if len({other.case for other in measured}) > 1:
            pieces += [*name_case(env, recipe, each.case, each.size), (" ", False)]
        elif len({other.size for other in measured}) > 1:
            pieces += [*name_word(env, recipe, str(each.size)), (": ", False)]
        if len({other.variant for other in measured}) > 1:
            pieces += [*name_word(env, recipe, each.variant), (" ", False)]
        if len({other.quantity for other in measured}) > 1:
            pieces += [*name_word(env, recipe, each.quantity, QUANTITY), (" ", False)]
        pieces.append((format_measurement(each, locale), False))
    return pieces


def mark(config: Config, pieces: Pieces) -> str:
    """Return pieces as HTML; words that are the recipe's are marked as of its language."""
    tag, locale = source_language(config).tag, current_language(config).locale
    return "".join(
        f'<span class="{DATA_CLASS}" lang="{tag}">{escape(words)}</span>'
        if is_data
        else escape(typeset(words, locale))
        for words, is_data in pieces
    )
