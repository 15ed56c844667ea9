"""Dates, numbers and punctuation in the form that a language gives them."""

import re
import tomllib
from collections.abc import Iterable
from datetime import date
from decimal import localcontext
from functools import cache, reduce
from pathlib import Path
from typing import Literal

from babel import Locale, dates, numbers

SEPARATOR = " · "  # between names or facts that stand in a row: "matmul · rows: 128"
_TYPOGRAPHY = Path(__file__).with_name("punctuation.toml")

DateLength = Literal["medium", "long"]


def format_date(moment: date, locale: Locale, length: DateLength = "long") -> str:
    """Return a date that no line break divides: November 21, 2026, or Nov 21, 2026 as medium."""
    day = typeset(str(dates.format_date(moment, length, locale=locale)), locale)
    return day.replace(" ", "\N{NO-BREAK SPACE}")


def typeset(text: str, locale: Locale) -> str:
    """Return a text that was put together from parts, with the punctuation of its language."""
    marks = _load_marks().get(locale.language, {})
    for pattern, mark in marks.items():
        text = re.sub(pattern, mark, text)
    return text


def join_names(names: Iterable[str], locale: Locale) -> str:
    """Return names in a row with the mark of the language between them: a, b or a、b."""
    between = locale.list_patterns["standard"]["middle"]
    return reduce(between.format, names)


@cache
def _load_marks() -> dict[str, dict[str, str]]:
    """Return by language the patterns that ``typeset`` replaces in this order, and their marks."""
    languages = tomllib.loads(_TYPOGRAPHY.read_text(encoding="utf-8"))
    marks_by_language = {}
    for language, marks in languages.items():
        marks_by_language[language] = {mark["pattern"]: mark["mark"] for mark in marks}
    return marks_by_language


def format_number(value: float, locale: Locale, digits: int = 0, around: str = "{}") -> str:
    """Return a number with ``digits`` decimals; ``around`` is a pattern such as ``{}%``."""
    number_pattern = "#,##0"
    if digits:
        number_pattern += "." + "0" * digits
    pattern = around.format(number_pattern)
    with localcontext(prec=99):  # the end of a range may have many more digits than its value
        return str(numbers.format_decimal(value, format=pattern, locale=locale))


def format_percent(share: float, locale: Locale, digits: int = 0) -> str:
    """Return a share of one as percents, as the language writes them: 6%, 6 %."""
    around = re.sub("[#,0]+", "{}", locale.percent_formats[None].pattern, count=1)
    return format_number(share, locale, digits, around)  # Babel takes % for times 100
