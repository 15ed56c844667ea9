"""The parts of a whole: for each variant a bar of pieces behind each other, in shades."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sphinx_recorded_gallery.api import Typography

from ..labels import _
from ..make_nodes import render_html
from .bars import Bar, Segment
from .chart_data import ChartData, ChartRow, Drawing, FormattedValue, Role, Table
from .scales import Scale, format_rounded

_SHADES = 4
_MOST_MISSING = 0.05  # of the whole: parts that miss more are not all parts


@dataclass(frozen=True, kw_only=True)
class _Stack:
    """The parts of one variant, in seconds by quantity, and the whole as it was measured."""

    row: ChartRow
    lengths: Mapping[str, float]
    whole: FormattedValue

    @property
    def total(self) -> float:
        return sum(self.lengths.values())

    def format_total(self, typography: Typography) -> str:
        """Return the whole, or the sum of the parts if others are not drawn.

        Parts and whole are medians of their own, so that all parts may add up to another number.
        """
        if abs(self.total - self.whole.number) <= _MOST_MISSING * self.whole.number:
            return self.whole.words
        return format_rounded(self.total, "s", typography)


@dataclass(frozen=True, kw_only=True)
class _Part:
    """A part that some variants have: its name, and the class of its shade."""

    name: str
    shade: str


def draw_parts(data: ChartData, whole: str, names: Mapping[str, str]) -> Drawing | None:
    """Draw for each variant a bar of its parts, which are shares of the quantity ``whole``.

    ``names`` are those of parts, by quantity. Returns None where nothing can be drawn.
    """
    stacks = _find_stacks(data, whole)
    if not stacks:
        return None
    parts = _find_parts(stacks, data, names)
    longest = max(stack.total for stack in stacks)
    scale = Scale.from_zero(longest)
    bars = []
    table_rows = []
    for stack in stacks:
        words = {}
        for quantity, length in stack.lengths.items():
            words[quantity] = format_rounded(length, "s", data.typography)
        total_words = stack.format_total(data.typography)
        bars.append(_make_bar(stack, parts, words, total_words, data, scale))
        cells = [words.get(quantity, "") for quantity in parts]
        table_rows.append([stack.row.name, *cells, total_words])
    html = render_html(
        "bars.html",
        label=data.join_sentences(bar.description for bar in bars),
        bars=bars,
        parts=[(part.name, part.shade) for part in parts.values()],
    )
    part_names = [part.name for part in parts.values()]
    head = ["", *part_names, _("total")]
    return Drawing(html=html, table=Table(head=head, rows=table_rows))


def _find_stacks(data: ChartData, whole: str) -> list[_Stack]:
    """Return the parts of each variant that has any; a share is one of the whole."""
    stacks = []
    for row in data.rows:
        total = row.values.get(whole)
        if total is None:
            continue
        lengths = {}
        for quantity in data.quantities:
            value = row.values.get(quantity)
            if value is None or quantity == whole:
                continue
            length = value.number
            if value.unit == "share":
                length *= total.number
            lengths[quantity] = length
        if lengths:
            stacks.append(_Stack(row=row, lengths=lengths, whole=total))
    return stacks


def _find_parts(
    stacks: list[_Stack], data: ChartData, names: Mapping[str, str]
) -> dict[str, _Part]:
    """Return all parts by quantity, in the order in which variants have them."""
    parts: dict[str, _Part] = {}
    for stack in stacks:
        for quantity in stack.lengths:
            if quantity in parts:
                continue
            name = names.get(quantity) or data.quantities.get(quantity, quantity)
            number = len(parts) % _SHADES + 1
            parts[quantity] = _Part(name=name, shade=f"shade-{number}")
    return parts


def _make_bar(
    stack: _Stack,
    parts: Mapping[str, _Part],
    words: Mapping[str, str],
    total_words: str,
    data: ChartData,
    scale: Scale,
) -> Bar:
    """Return the bar of a variant; ``words`` are the lengths of its parts."""
    facts = []
    segments = []
    start = 0.0
    for quantity, length in stack.lengths.items():
        part = parts[quantity]
        facts.append(f"{part.name} {words[quantity]}")
        segment = Segment(
            start=scale(start),
            length=scale(length),
            shade=part.shade,
            description=data.typography.typeset(f"{part.name}: {words[quantity]}"),
        )
        segments.append(segment)
        start += length
    facts.append(f"{_('total')} {total_words}")
    role = Role.OTHER
    if stack.row.role == Role.BEST:
        role = Role.BEST
    return Bar(
        name=stack.row.name,
        role=role,
        length=scale(stack.total),
        words=total_words,
        description=data.typography.typeset(f"{stack.row.name}: {', '.join(facts)}"),
        segments=segments,
    )
