"""Numbers and dates in the form of a language."""

from datetime import date, datetime
from typing import Literal

from babel import Locale
from babel import dates as babel_dates
from babel import numbers as babel_numbers


def format_date(moment: date, locale: Locale, length: Literal["medium", "long"] = "long") -> str:
    """Return the day: November 21, 2026."""
    return str(babel_dates.format_date(moment, length, locale=locale))


def format_moment(moment: datetime, locale: Locale) -> str:
    """Return day and time of day, in UTC as it was recorded."""
    time = babel_dates.format_time(moment, "HH:mm", locale=locale)
    return f"{format_date(moment, locale)} {time} UTC"


def format_number(value: float, locale: Locale, digits: int = 0) -> str:
    """Return a number with a fixed count of digits behind the point."""
    pattern = "#,##0" + ("." + "0" * digits if digits else "")
    return str(babel_numbers.format_decimal(value, format=pattern, locale=locale))


def format_percent(share: float, locale: Locale, digits: int = 0) -> str:
    """Return a share of one as percents."""
    pattern = "#,##0" + ("." + "0" * digits if digits else "") + "%"
    return str(babel_numbers.format_percent(share, format=pattern, locale=locale))


def format_times(value: float, locale: Locale, unit: str = "×") -> str:
    """Return a ratio to three digits, such as a speed-up: 1.53×."""
    digits = 0 if value >= 99.95 else 1 if value >= 9.995 else 2 if value >= 0.9995 else 3
    return format_number(value, locale, digits) + unit
