"""Bars: the busy bar, plain bars of one quantity, and one quantity laid over another.

*The busy bar.* Its length is wall time, its solid part the GPU working, its hatched part the GPU
waiting for the CPU; an outline alone is time of which that is not known. Grey is before, the accent
is what is recommended, and there is no third colour: other variants are a lighter neutral. In lists
of changes, the accent is after the change. Plain bars have the same look without a hatched part. A
range is an error bar on its bar.

Drawings are SVG in per cent of the room there is, within HTML, so that words wrap by themselves.
``_static/site.css`` has their colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..labels import _
from ..make_nodes import render_html
from .chart_data import (
    ChartData,
    ChartRow,
    Drawing,
    FormattedValue,
    Role,
    Table,
    contradicts_quotient,
    explain_gains,
)
from .scales import Scale

WALL, GPU = "wall", "gpu"
_REACH = 1.6  # of the longest bar: a range that is longer ends in an arrow
_LEAST_RANGE = 1.5  # in per cent of the room: a shorter line would be a smudge
_BLOCKS = 24  # characters of the longest bar in a notebook
_WORKING, _WAITING = "█", "░"
BAR_CHARACTERS = _WORKING + _WAITING  # of which bars in notebooks consist


@dataclass(frozen=True, kw_only=True)
class Whisker:
    """A range, in per cent of the room; it is cut off where it goes on beyond the drawing."""

    low: float
    high: float
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class Key:
    """Which marks a drawing has, for the line above it that explains them."""

    has_waiting: bool  # whether a part of bars is hatched
    has_unknown: bool  # whether bars are only outlines
    roles: Sequence[tuple[Role, str]]  # with their names; none if all are alike
    has_ranges: bool
    has_cut_ranges: bool  # whether a range goes on beyond the drawing

    @property
    def is_needed(self) -> bool:
        """Whether anything is to explain."""
        return self.has_waiting or self.has_unknown or bool(self.roles) or self.has_ranges


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A part of a stacked bar, in per cent of the room."""

    start: float
    length: float
    shade: str  # its class
    description: str  # for a pointer, and in the label of the drawing


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar with its name and values, in per cent of the room."""

    name: str
    role: str  # its class
    length: float
    solid: float | None = None  # of the part in which the GPU works; None: there is no other part
    is_unknown: bool = False  # whether the bar is only an outline, as its parts are not known
    whisker: Whisker | None = None
    words: str  # beside it
    description: str  # for a pointer, and in the label of the drawing
    segments: Sequence[Segment] = ()


def draw_busy_bars(data: ChartData, *, compact: bool = False) -> Drawing | None:
    """Draw wall times with the share of them in which the GPU works.

    A variant whose GPU time is not known gets an outline. ``compact`` leaves out names and key, for
    rows of a list that has them. There, the accent is no advice, and the longer bar is as long in
    each row. Returns None if nothing is measured.
    """
    rows = _rows_without_groundless_advice(data)
    shares = [busy_share(row) for row in rows]
    if all(share is None for share in shares):
        return draw_plain_bars(data, compact=compact)
    scale = _make_scale(rows, data, is_row=compact)
    bars = []
    for row in rows:
        facts = _list_facts(row, data)
        busy_words = format_busy_share(row, data)
        if busy_words:
            facts.append(_("GPU busy %s") % busy_words)
        bar = _make_bar(
            row,
            data,
            scale,
            words=_join_value_and_gain(row, data),
            description=_describe_row(row, facts, is_advice=not compact),
            share=busy_share(row),
            is_unknown=busy_share(row) is None,
        )
        bars.append(bar)
    html = render_html(
        "bars.html",
        label=_describe_chart(data, [bar.description for bar in bars]),
        bars=bars,
        key=_make_key(bars, rows),
        is_compact=compact,
    )
    notes = []
    if any(_has_more_gpu_time(row) for row in rows):
        notes.append(_explain_more_gpu_time())
    return Drawing(
        html=html,
        table=_busy_table(rows, data),
        has_ranges=True,
        remarks=_explain_contradictions(rows, data),
        notes=notes,
        notebook=_busy_notebook_table(rows, data, scale),
        legend=_notebook_legend(),
    )


def draw_plain_bars(data: ChartData, *, compact: bool = False) -> Drawing | None:
    """Draw a bar for each variant, of the first quantity, and the limit if there is one.

    ``compact`` leaves out names and key, for rows of a list that shows elsewhere how busy the GPU
    is; so its bars are outlines. Their accent is no advice, and the longer bar is as long in each
    row. Returns None if nothing is measured.
    """
    rows = _rows_without_groundless_advice(data)
    if not rows:
        return None
    limit = data.limit
    scale = _make_scale(rows, data, limit, is_row=compact)
    bars = []
    for row in rows:
        bar = _make_bar(
            row,
            data,
            scale,
            words=_join_value_and_gain(row, data),
            description=_describe_row(row, _list_facts(row, data), is_advice=not compact),
            is_unknown=compact,
        )
        bars.append(bar)
    descriptions = [bar.description for bar in bars]
    limit_place = 0.0
    if limit:
        descriptions.append(f"{_('limit')}: {limit.words}")
        limit_place = scale(limit.number)
    html = render_html(
        "bars.html",
        label=_describe_chart(data, descriptions),
        bars=bars,
        key=_make_key(bars, rows),
        is_compact=compact,
        limit=limit,
        limit_place=limit_place,
    )
    return Drawing(
        html=html,
        table=_plain_table(rows, data, limit),
        has_ranges=True,
        remarks=_explain_contradictions(rows, data),
        notebook=_plain_notebook_table(rows, data, scale),
    )


def draw_overlaid_bars(data: ChartData, *, part: str) -> Drawing | None:
    """Draw the first quantity with the part of it that the quantity ``part`` is, such as padding.

    Returns None if nothing is measured.
    """
    rows = [replace(row, role=Role.OTHER) for row in data.measured_rows]  # tones would mean nothing
    if not rows:
        return None
    scale = _make_scale(rows, data)
    whole_name = data.quantities[data.main]
    part_name = data.quantities[part]
    bars = []
    table_rows = []
    notebook_rows = []
    for row in rows:
        whole = row.values[data.main]
        share = row.share_of(part, data.main)
        facts = [f"{whole_name} {whole.full_words}"]
        if part in row.values:
            facts.append(f"{part_name} {row.full_words(part)}")
        bar = _make_bar(
            row,
            data,
            scale,
            words=whole.words,
            description=f"{row.name}: {', '.join(facts)}",
            share=share,
        )
        bars.append(bar)
        table_rows.append([row.name, whole.full_words, row.full_words(part)])
        block_bar = _block_bar(bar.length, share)
        notebook_rows.append([row.name, block_bar, whole.words, row.words(part)])
    html = render_html(
        "bars.html",
        label=data.join_sentences(bar.description for bar in bars),
        bars=bars,
        key=replace(_make_key(bars, []), has_waiting=False),
        overlaid=[whole_name, part_name],
    )
    return Drawing(
        html=html,
        table=Table(head=["", whole_name, part_name], rows=table_rows),
        has_ranges=True,
        notebook=Table(head=["", "", whole_name, part_name], rows=notebook_rows),
    )


def busy_share(row: ChartRow) -> float | None:
    """Return the share of the wall time in which the GPU works, 1 at most; None if unknown."""
    return row.share_of(GPU, WALL)


def format_busy_share(row: ChartRow, data: ChartData) -> str:
    """Return the busy share in per cent, without more digits than it has; empty if unknown."""
    share = busy_share(row)
    if share is None:
        return ""
    return data.typography.format_percent(share)


def _has_more_gpu_time(row: ChartRow) -> bool:
    """Tell whether more GPU time than wall time was measured."""
    gpu = row.values.get(GPU)
    return gpu is not None and gpu.number > row.values[WALL].number


def _explain_more_gpu_time() -> str:
    return _(
        "GPU time is profiled in separate calls. Where it comes out longer than wall time, the "
        "bar shows the GPU as fully busy."
    )


def _make_key(bars: Sequence[Bar], rows: Sequence[ChartRow]) -> Key:
    """Return which marks bars have."""
    roles = _name_roles(rows)
    if len(roles) == 1:
        roles = []
    return Key(
        has_waiting=any(bar.solid is not None for bar in bars),
        has_unknown=any(bar.is_unknown for bar in bars),
        roles=roles,
        has_ranges=any(bar.whisker for bar in bars),
        has_cut_ranges=any(bar.whisker and bar.whisker.is_cut for bar in bars),
    )


def _name_roles(rows: Sequence[ChartRow]) -> list[tuple[Role, str]]:
    """Return the roles of rows with their names for the key, in the order of the key."""
    names = {Role.BEFORE: _("before"), Role.OTHER: _("other"), Role.BEST: _("recommended")}
    present = {row.role for row in rows}
    return [(role, name) for role, name in names.items() if role in present]


def _rows_without_groundless_advice(data: ChartData) -> list[ChartRow]:
    """Return the measured rows, without gains where none of them is before.

    There, the recommended variant comes first, and gains would be those of the others over it. It
    has no accent there if another bar is shorter: nothing in the drawing would say what it gains.
    """
    rows = data.measured_rows
    if not rows or any(row.role == Role.BEFORE for row in rows):
        return rows
    least = min(row.values[data.main].number for row in rows)
    grounded = []
    for row in rows:
        role = row.role
        if row.values[data.main].number > least:
            role = Role.OTHER
        grounded.append(replace(row, role=role, gain=None, paired_before=None))
    return grounded


def _explain_contradictions(rows: Sequence[ChartRow], data: ChartData) -> list[str]:
    """Return sentences on speed-ups that are not the quotients of the times shown.

    A row that fewer processes measured than the one before names what was before in these.
    """
    before = next((row for row in rows if row.role == Role.BEFORE), None)
    if before is None:
        return []
    has_unpaired = False
    names_by_pair: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        value = row.values[data.main]
        shown_before = before.values[data.main]
        if row.gain is None or value.unit != "s":
            continue
        if not contradicts_quotient(shown_before, value, row.gain):
            continue
        if row.paired_before and row.runs:
            pair = row.runs, row.paired_before.words
            names_by_pair.setdefault(pair, []).append(row.name)
            shown_before = row.paired_before
        if contradicts_quotient(shown_before, value, row.gain):
            has_unpaired = True
    remarks = [explain_gains()] if has_unpaired else []
    for (runs, words), names in names_by_pair.items():
        facts = {
            "names": data.typography.join_names(names),
            "runs": runs,
            "before": before.name,
            "time": words,
        }
        text = _("%(names)s: %(runs)s (%(before)s: %(time)s).") % facts
        remarks.append(text)
    return [data.typography.typeset(remark) for remark in remarks]


def _make_scale(
    rows: Sequence[ChartRow],
    data: ChartData,
    limit: FormattedValue | None = None,
    *,
    is_row: bool = False,
) -> Scale:
    """Return the scale of bars, from 0 to the longest bar or range, as far as that is drawn.

    In a row of a list, with ``is_row``, ranges decide nothing, so that longer bars are alike.
    """
    longest_bar = max(row.values[data.main].number for row in rows)
    if is_row:
        return Scale.from_zero(find_end_of_row([longest_bar]))
    longest_range = max(row.values[data.main].high for row in rows)
    end = min(longest_range, longest_bar * _REACH)
    if limit:
        end = max(end, limit.number)
    return Scale.from_zero(end)


def find_end_of_row(numbers: Sequence[float]) -> float:
    """Return where the scale of bars of these lengths ends in a row of a list."""
    return max(numbers) * _REACH


def _make_bar(
    row: ChartRow,
    data: ChartData,
    scale: Scale,
    *,
    words: str,
    description: str,
    share: float | None = None,
    is_unknown: bool = False,
) -> Bar:
    """Return the bar of a row, ``words`` beside it.

    ``share`` is that of its solid part; without one, the bar has no other part, or with
    ``is_unknown`` parts that nobody knows.
    """
    value = row.values[data.main]
    length = scale(value.number)
    solid = None
    if share is not None:
        solid = length * share
    return Bar(
        name=row.name,
        role=row.role,
        length=length,
        solid=solid,
        is_unknown=is_unknown,
        whisker=_make_whisker(value, scale),
        words=words,
        description=data.typography.typeset(description),
    )


def _make_whisker(value: FormattedValue, scale: Scale) -> Whisker | None:
    """Return the range of a value; None if it has none, or one too short to be drawn."""
    low = scale(value.low)
    high = scale(value.high)
    is_cut = value.high > scale.high
    if high - low < _LEAST_RANGE and not is_cut:
        return None
    return Whisker(low=low, high=high, is_cut=is_cut)


def _list_facts(row: ChartRow, data: ChartData) -> list[str]:
    """Return the value of a bar with its range, and its gain if it has one."""
    facts = [row.full_words(data.main)]
    if row.gain:
        facts.append(row.gain.words)
    return facts


def _join_value_and_gain(row: ChartRow, data: ChartData) -> str:
    """Return what stands beside a bar."""
    words = row.words(data.main)
    if not row.gain:
        return words
    return words + data.typography.SEPARATOR + row.gain.words


def _describe_row(row: ChartRow, facts: Sequence[str], *, is_advice: bool = True) -> str:
    """Return what a bar says to a pointer, and with ``is_advice`` that the best is recommended."""
    name = row.name
    if is_advice and row.role == Role.BEST:
        name = _("%s (recommended)") % name
    return f"{name}: {', '.join(facts)}"


def _describe_chart(data: ChartData, descriptions: Sequence[str]) -> str:
    """Return what a drawing says to those who do not see it."""
    name = data.quantities.get(data.main, "")
    return data.typography.typeset(f"{name}: {'; '.join(descriptions)}")


def _busy_table(rows: Sequence[ChartRow], data: ChartData) -> Table:
    """Return wall time, speed-up, GPU time and busy share of each variant, with their ranges."""
    head = [
        "",
        data.quantities[data.main],
        _("speed-up"),
        data.quantities.get(GPU, ""),
        _("GPU busy"),
    ]
    lines = []
    for row in rows:
        line = [
            row.name,
            row.full_words(data.main),
            row.gain_full_words,
            row.full_words(GPU),
            format_busy_share(row, data),
        ]
        lines.append(line)
    return Table(head=head, rows=lines)


def _plain_table(rows: Sequence[ChartRow], data: ChartData, limit: FormattedValue | None) -> Table:
    """Return values with their ranges, gains if there are any, and the limit."""
    head = ["", data.quantities.get(data.main, "")]
    has_gains = _have_gains(rows)
    if has_gains:
        head.append(_name_gain(rows, data))
    lines = []
    for row in rows:
        line = [row.name, row.full_words(data.main)]
        if has_gains:
            line.append(row.gain_full_words)
        lines.append(line)
    if limit:
        line = [_("limit"), limit.words]
        if has_gains:
            line.append("")
        lines.append(line)
    return Table(head=head, rows=lines)


def _plain_notebook_table(rows: Sequence[ChartRow], data: ChartData, scale: Scale) -> Table:
    """Return names, bars of block characters, values and gains; the bars stand second."""
    head = ["", "", data.quantities.get(data.main, "")]
    has_gains = _have_gains(rows)
    if has_gains:
        head.append(_name_gain(rows, data))
    lines = []
    for row in rows:
        length = scale(row.values[data.main].number)
        line = [row.name, _block_bar(length, None), row.words(data.main)]
        if has_gains:
            line.append(row.gain_words)
        lines.append(line)
    return Table(head=head, rows=lines)


def _busy_notebook_table(rows: Sequence[ChartRow], data: ChartData, scale: Scale) -> Table:
    """Return the columns of the plain table, bars with a part not solid, and busy shares."""
    head = ["", "", data.quantities.get(data.main, "")]
    has_gains = _have_gains(rows)
    if has_gains:
        head.append(_name_gain(rows, data))
    head.append(_("GPU busy"))
    lines = []
    for row in rows:
        length = scale(row.values[data.main].number)
        line = [row.name, _block_bar(length, busy_share(row)), row.words(data.main)]
        if has_gains:
            line.append(row.gain_words)
        line.append(format_busy_share(row, data))
        lines.append(line)
    return Table(head=head, rows=lines)


def _have_gains(rows: Sequence[ChartRow]) -> bool:
    return any(row.gain for row in rows)


def _name_gain(rows: Sequence[ChartRow], data: ChartData) -> str:
    """Return the heading of gains: times get faster, and other quantities less."""
    if all(row.values[data.main].unit == "s" for row in rows):
        return _("speed-up")
    return _("reduction")


def _block_bar(length: float, share: float | None) -> str:
    """Return a bar of characters.

    ``length`` is in per cent of the room, ``share`` that of its solid part: None if it has no
    other.
    """
    blocks = max(1, round(_BLOCKS * length / 100))
    if share is None:
        return _WORKING * blocks
    solid = round(blocks * share)
    return _WORKING * solid + _WAITING * (blocks - solid)


def _notebook_legend() -> str:
    text = _("%(working)s GPU working, %(waiting)s GPU waiting")
    return text % {"working": _WORKING, "waiting": _WAITING}
