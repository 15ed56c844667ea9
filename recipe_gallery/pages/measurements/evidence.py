"""The evidence of a claim as readers expect it: units, digits and names of the page around it.

A recipe puts out "4.454e-05 s against 9.336e-05 s", "2 graphs" or a dictionary of such counts. What
is written otherwise is shown as it is.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Any

from babel import Locale
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ...languages import current_language, format_number, format_percent
from ...recipes.measurements import Measurement
from ...recipes.references import Term
from ...recipes.rows import LARGEST
from .format import LEAST_DIGITS, SPACE, find_scale, first_digit, format_measurement, list_separator
from .naming import NAME, QUANTITY, Namer, Pieces, ask_name, call, name_case

_ = get_translation("recipe_gallery")

_NUMBER = r"\d+(?:\.\d+)?(?:e[+-]\d+)?"
_NUMBERS = rf"(?:{_NUMBER}(?:, | and ))*{_NUMBER}"
_QUANTITIES = re.compile(rf"(?<![\w.])({_NUMBERS}) (B/s|B|s)(?![\w/])")
_SHARE = re.compile(r"(?<![\w.])0\.\d+(?= of )")
_COUNT = re.compile(rf"{_NUMBERS}(?: (?:B/s|B|m?s)\b)?(?P<words>(?: [^\d\s:,;]+)*)")
_DATA = re.compile(r"(?:(?P<words>[^{\[]+): )?(?P<data>[{\[].*[}\]])")


def tell_evidence(evidence: str, locale: Locale, name: Namer) -> Pieces:
    """Return what a recipe put out for a claim, in the reader's language as far as it is known."""
    if (data := _DATA.fullmatch(evidence)) and (found := _read(data["data"])) is not None:
        if data["words"]:
            return [*call(data["words"], name), *_tell_value(found, locale, name)]
        return _tell_data(found, locale, name)
    told = format_quantities(evidence, locale)
    parts = [_COUNT.fullmatch(each) for each in evidence.split(" against ")]
    words = {part["words"] for part in parts if part}
    if not all(parts) or len(words) != 1 or len(parts) > 2:
        return [(told, True)]
    said = words.pop()
    shown = [_write_count(each.removesuffix(said), locale) for each in told.split(" against ")]
    if len(shown) > 1:
        text = _("%(one)s against %(other)s")
        shown = [str(text % {"one": shown[0], "other": shown[1]})]
    head = [*call(said.strip(), name), (": ", False)] if said else []
    return [*head, (shown[0], False)]


def tell_comparison(
    env: BuildEnvironment, recipe: str, compared: Sequence[tuple[Term, Measurement]]
) -> Pieces:
    """Return what a comparison found: "fused 81 µs < foreach 231 µs", by what differs in names."""
    locale = current_language(env.config).locale
    measured = [each for _term, each in compared]
    name, quantity = (partial(ask_name, env, recipe, kind) for kind in (NAME, QUANTITY))
    pieces: Pieces = []
    for term, each in compared:
        pieces += [(" < ", False)] if pieces else []
        pieces += [(f"{term.factor:g} × ", False)] if term.factor != 1 else []
        if len({other.case for other in measured}) > 1:
            pieces += [*name_case(env, recipe, each.case, each.size), (" ", False)]
        elif len({other.size for other in measured}) > 1:
            pieces += [*call(str(each.size), name), (": ", False)]
        if len({other.variant for other in measured}) > 1:
            pieces += [*call(each.variant, name), (" ", False)]
        if len({other.quantity for other in measured}) > 1:
            pieces += [*call(each.quantity, quantity), (" ", False)]
        pieces.append((format_measurement(each, locale), False))
    return pieces


def _read(text: str) -> Any:
    """Return what a literal of Python stands for, or None."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return None


def _tell_data(data: Any, locale: Locale, name: Namer) -> Pieces:
    """Return a number, a list, or a dictionary of these: "one step: 4, clone: 4"."""
    if isinstance(data, dict):
        entries = [
            [*call(str(key), name), *_tell_value(value, locale, name)]
            for key, value in data.items()
        ]
        return list(_join(entries, ", "))
    if isinstance(data, list):
        return list(_join([_tell_data(each, locale, name) for each in data], "; "))
    shown = _write_count(str(data), locale)
    return [(shown, False)] if isinstance(data, int | float) else call(shown, name)


def _tell_value(value: Any, locale: Locale, name: Namer) -> Pieces:
    """Return what stands behind a name: its number, or several in brackets."""
    told = _tell_data(value, locale, name)
    if isinstance(value, dict | list):
        return [(" (", False), *told, (")", False)]
    return [(": ", False), *told]


def _join(entries: list[Pieces], mark: str) -> Iterator[tuple[str, bool]]:
    between = [[(mark, False)] if number else [] for number in range(len(entries))]
    return chain.from_iterable(chain.from_iterable(zip(between, entries, strict=True)))


def _write_count(number: str, locale: Locale) -> str:
    """Return what was counted in the reader's form; a number with its unit is in it already."""
    try:
        value = float(number)
    except ValueError:
        return number
    if abs(value) > LARGEST:  # anybody can propose a recording, and no page has such figures
        return number
    return format_number(value, locale, 0 if value.is_integer() else 2)


def format_quantities(evidence: str, locale: Locale) -> str:
    """Return what a recipe put out for a claim, its quantities with units and digits of a page.

    "4.454e-05 s against 9.336e-05 s" is "45 µs against 93 µs"; of one process two digits tell
    enough, and more are shown only of those that would look the same.
    """
    found = [each for match in _QUANTITIES.finditer(evidence) for each in _numbers(match[1])]
    found += [float(match[0]) for match in _SHARE.finditer(evidence)]
    if max(found, default=0) > LARGEST:
        return evidence

    def tell_apart(digits: int) -> bool:
        return len({_shorten(each, digits) for each in found}) == len(set(found))

    digits = next(filter(tell_apart, range(LEAST_DIGITS, 6)), 6)
    told = _QUANTITIES.sub(lambda match: _format_all(match[1], match[2], digits, locale), evidence)
    return _SHARE.sub(lambda match: _format_share(float(match[0]), digits, locale), told)


def _numbers(text: str) -> list[float]:
    return [float(each) for each in re.findall(_NUMBER, text)]


def _shorten(value: float, digits: int) -> float:
    return float(f"{value:.{digits - 1}e}")


def _places(value: float, digits: int) -> int:
    """Return how many digits behind the point a value has that is shown with ``digits``."""
    return max(0, digits - 1 - first_digit(value)) if value else 0


def _format_all(numbers: str, unit: str, digits: int, locale: Locale) -> str:
    """Return numbers that share a unit, in the one that suits the largest."""
    values = [_shorten(each, digits) for each in _numbers(numbers)]
    exponent, name = find_scale(max(values), unit)
    scaled = [value / 10.0**exponent for value in values]
    *others, last = (format_number(each, locale, _places(each, digits)) for each in scaled)
    if others:
        first = list_separator(locale).join(others)
        last = str(_("%(others)s and %(last)s") % {"others": first, "last": last})
    return f"{last}{SPACE}{name}"


def _format_share(value: float, digits: int, locale: Locale) -> str:
    value = _shorten(value, digits)
    return format_percent(value, locale, _places(100 * value, digits))
