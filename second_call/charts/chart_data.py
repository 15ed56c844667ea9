"""What a chart is drawn from, and what a drawing hands over: data without Sphinx.

``query.query`` makes a ``ChartData`` of what a recipe measured; a page that compares recipes may
make one itself. All forms of charts are pure functions of it that return a ``Drawing``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from sphinx_recorded_gallery.api import Typography

from ..labels import _

_LEAST_DIGITS = 2  # to which a quotient is compared with a gain

Size = int | float | str | None  # of a measurement, as its recipe published it


class Role(StrEnum):
    """What a variant is to the reader; the value is its class in drawings."""

    BEFORE = "before"  # grey
    BEST = "best"  # the accent: what the page recommends; in lists, what is after a change
    OTHER = "other"  # a lighter neutral


@dataclass(frozen=True, kw_only=True)
class FormattedValue:
    """A measured number, its range over machines, and both in the reader's words."""

    number: float
    shown: float  # the number with the digits of ``words``
    low: float
    high: float
    unit: str
    words: str  # 0.71 ms
    range_words: str = ""  # 0.70 to 0.72 ms; empty if both ends look the same
    full_words: str = ""  # 0.71 ms (0.70 to 0.72 ms)


@dataclass(frozen=True, kw_only=True)
class ChartRow:
    """What was measured of one variant, at one size."""

    variant: str  # as the recipe calls it
    name: str  # as readers do
    role: Role = Role.OTHER
    size: Size = None
    values: Mapping[str, FormattedValue] = field(default_factory=dict)  # by quantity
    gain: FormattedValue | None = (
        None  # how many times less than before; None of the row that is before
    )
    # What was measured before in the processes of this row, if those are only some of the others'
    paired_before: FormattedValue | None = None
    runs: str = ""  # that this row is of one process or machine, if others are of more

    def words(self, quantity: str) -> str:
        """Return the value of a quantity as readers see it; empty if it was not measured."""
        value = self.values.get(quantity)
        return value.words if value else ""

    def full_words(self, quantity: str) -> str:
        """Return the value of a quantity with its range; empty if it was not measured."""
        value = self.values.get(quantity)
        return value.full_words if value else ""

    @property
    def gain_words(self) -> str:
        """The gain as readers see it; empty if there is none."""
        return self.gain.words if self.gain else ""

    @property
    def gain_full_words(self) -> str:
        """The same with the range."""
        return self.gain.full_words if self.gain else ""

    def share_of(self, part: str, whole: str) -> float | None:
        """Return which share a quantity is of another one, 1 at most; None if either is unknown."""
        part_value = self.values.get(part)
        whole_value = self.values.get(whole)
        if part_value is None or whole_value is None or not whole_value.number:
            return None
        return min(1.0, part_value.number / whole_value.number)


@dataclass(frozen=True, kw_only=True)
class ChartData:
    """What a chart shows: rows in the order of the drawing, names, limits and scope."""

    typography: Typography
    rows: Sequence[ChartRow] = ()
    quantities: Mapping[str, str] = field(default_factory=dict)  # names by word, the first is main
    size_name: str = ""  # what sizes count, as readers say it
    limits: Mapping[Size, FormattedValue] = field(
        default_factory=dict
    )  # the least time there can be
    scope: str = ""  # the case, the device, how many processes and machines
    range_note: str = ""  # what is in brackets, if any value has a range
    problems: Sequence[str] = ()  # what an author asked for and nobody measured

    @property
    def main(self) -> str:
        """The quantity that the chart is about."""
        return next(iter(self.quantities), "")

    @property
    def limit(self) -> FormattedValue | None:
        """The limit of bars, which are of one size; None if none is known.

        Lines show the limit of each size.
        """
        return next(iter(self.limits.values()), None)

    @property
    def measured_rows(self) -> list[ChartRow]:
        """The rows in which the main quantity was measured."""
        return [row for row in self.rows if self.main in row.values]

    @property
    def is_of_one_size(self) -> bool:
        """Whether all rows are of one size, or of none."""
        return len({row.size for row in self.rows}) < 2

    def join_sentences(self, sentences: Iterable[str]) -> str:
        """Return what a drawing says to those who do not see it."""
        return self.typography.typeset("; ".join(sentences))


def contradicts_quotient(
    before: FormattedValue, after: FormattedValue, gain: FormattedValue
) -> bool:
    """Tell whether readers who divide the two values that they see get another gain than is shown.

    Medians of ratios are no ratios of medians, and values are rounded. Both are compared in the
    digits of the gain.
    """
    if not (after.shown and gain.shown):
        return False
    quotient = before.shown / after.shown
    gain_digits = Decimal(repr(gain.shown)).normalize().as_tuple().digits
    digits = max(len(gain_digits), _LEAST_DIGITS)
    return float(f"{quotient:.{digits}g}") != gain.shown


def explain_gains() -> str:
    """Return what stands beside speed-ups that are not the quotients of the times beside them."""
    return _("Speed-ups are computed run by run and may not match these times.")


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of text; the first cell of a row names it."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """A finished chart."""

    html: str
    table: Table  # the figures, which a page folds below the drawing
    has_ranges: bool = False  # in brackets
    remarks: Sequence[str] = ()  # sentences below the drawing
    notes: Sequence[str] = ()  # sentences behind the figures, folded with them
    notebook: Table | None = None  # for notebooks and scripts; else they have ``table``
    legend: str = ""  # what the signs in the table for notebooks mean
