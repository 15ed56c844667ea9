"""How a language writes numbers, measurements and texts made of parts: what a site needs of it.

The forms are those of ``dates_and_numbers.py`` and ``measurements/numbers.py``, by Babel, in the
language of a build; what is not of a language has only its name here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import ClassVar

from babel import Locale
from sphinx.config import Config

from . import dates_and_numbers
from .languages import Language
from .measurements import numbers
from .measurements.ranges import Measurement


@dataclass(frozen=True)
class Typography:
    """The forms of numbers, dates, ranges and marks in one language.

    ``locale`` is Babel's. No method raises an error for a number: what it is given was measured.
    """

    SEPARATOR: ClassVar[str] = dates_and_numbers.SEPARATOR  #: between facts that stand in a row

    locale: Locale

    @classmethod
    def of(cls, config: Config) -> Typography:
        """Return the typography of a build's language."""
        return cls(Language.current(config).locale)

    def typeset(self, text: str) -> str:
        """Return a text made of parts, with the marks and spaces of the language."""
        return dates_and_numbers.typeset(text, self.locale)

    def join_names(self, names: Iterable[str]) -> str:
        """Return names, of which there is at least one, with the language's mark between them."""
        return dates_and_numbers.join_names(names, self.locale)

    def format_number(self, value: float, digits: int = 0) -> str:
        """Return a number with so many digits behind the point: 3,600."""
        return dates_and_numbers.format_number(value, self.locale, digits)

    def format_percent(self, share: float) -> str:
        """Return a share of one in whole per cent: 6% or 6 %."""
        return dates_and_numbers.format_percent(share, self.locale)

    def format_date(self, day: date) -> str:
        """Return a day, which no line breaks: November 21, 2026."""
        return dates_and_numbers.format_date(day, self.locale)

    def format_value(self, value: float, unit: str, last_place: int) -> str:
        """Return a value with the unit that suits it: 14 ms, not 0.014 s.

        ``value`` is in ``unit``, one of those of rows: ``s``, ``B``, ``B/s``, ``x``, ``share``, a
        word for what is counted, or nothing. It is rounded at the place ``last_place``, an exponent
        of ten: -3 for milliseconds of a time.
        """
        return numbers.format_value(value, unit, self.locale, last_place, like=value)

    def format_measurement(self, measurement: Measurement) -> str:
        """Return a measurement with the digits that are known of it, and its unit: 0.71 ms."""
        return numbers.format_measurement(measurement, self.locale)

    @staticmethod
    def round_measurement(measurement: Measurement) -> float:
        """Return the value of a measurement as readers see it: 0.015 for 14.6 ms shown as 15 ms."""
        return numbers.round_measurement(measurement)

    def format_range(self, measurement: Measurement) -> str:
        """Return both ends of a measurement's range: 0.70 to 0.72 ms; empty if they look the same.

        It says on how many machines the range was seen, if it is not the one to expect.
        """
        return numbers.format_range(measurement, self.locale)

    @staticmethod
    def join_ends(low: str, high: str) -> str:
        """Return a range of two numbers, or words, in the language of the build: 2 to 7."""
        return numbers.join_ends(low, high)
