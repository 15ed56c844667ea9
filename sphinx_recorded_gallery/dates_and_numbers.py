"""Dates, numbers and marks between words, in the forms of a language."""

import re
import tomllib
from datetime import date
from decimal import localcontext
from functools import cache
from pathlib import Path

from babel import Locale, dates, numbers

_TYPOGRAPHY = Path(__file__).with_name("typography.toml")


def format_date(moment: date, locale: Locale) -> str:
    """Return the day, which no line breaks: November 21, 2026."""
    day = typeset(str(dates.format_date(moment, "long", locale=locale)), locale)
    return day.replace(" ", "\N{NO-BREAK SPACE}")


def typeset(text: str, locale: Locale) -> str:
    """Return a text made of parts, with the marks and spaces of its language."""
    for pattern, mark in marks_of(locale).items():
        text = re.sub(pattern, mark, text)
    return text


def marks_of(locale: Locale) -> dict[str, str]:
    """Return what ``typeset`` replaces, in this order: patterns, and marks or spaces."""
    return _load_marks().get(locale.language, {})


@cache
def _load_marks() -> dict[str, dict[str, str]]:
    languages = tomllib.loads(_TYPOGRAPHY.read_text(encoding="utf-8"))
    return {
        language: {mark["pattern"]: mark["mark"] for mark in marks}
        for language, marks in languages.items()
    }


def format_number(value: float, locale: Locale, digits: int = 0, around: str = "{}") -> str:
    """Return a number with a fixed count of digits behind the point."""
    pattern = around.format("#,##0" + ("." + "0" * digits if digits else ""))
    with localcontext(prec=99):  # an interval may end far above the last digit of its figure
        return str(numbers.format_decimal(value, format=pattern, locale=locale))


def format_percent(share: float, locale: Locale, digits: int = 0) -> str:
    """Return a share of one as percents, in the language's own way: 6%, 6 %."""
    around = re.sub("[#,0]+", "{}", locale.percent_formats[None].pattern, count=1)
    return format_number(share, locale, digits, around)  # Babel takes % for times 100
