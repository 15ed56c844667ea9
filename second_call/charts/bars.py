"""Bars: the busy bar, plain bars of one quantity, and the parts of a whole.

*The busy bar.* Its length is wall time, its solid part the GPU working, its hatched part the GPU
waiting for the CPU. Grey is before, the accent is what is recommended, and there is no third
colour: other variants are a lighter neutral. Plain bars have the same look without a hatched part.

Drawings are SVG in per cent of the room there is, within HTML, so that words wrap by themselves.
``_static/site.css`` has their colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sphinx.locale import get_translation

from ..make_nodes import render_html
from .chart_data import ChartData, ChartRow, Drawing, Role, Table, Value
from .scales import Scale, format_value

_ = get_translation("second_call")

WALL, GPU = "wall", "gpu"
_REACH = 1.35  # of the longest bar: a range that is longer ends in an arrow
_BLOCKS = 24  # characters of the longest bar in a notebook
_WORKING, _WAITING = "█", "░"
_SHADES = 4  # of the parts of a whole


@dataclass(frozen=True, kw_only=True)
class Whisker:
    """A range, in per cent of the room; it is cut off where it goes on beyond the drawing."""

    low: float
    high: float
    is_cut: bool


@dataclass(frozen=True, kw_only=True)
class Segment:
    """A part of a stacked bar, in per cent of the room."""

    start: float
    length: float
    shade: str  # its class
    description: str  # for a pointer


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A bar with its name and values, in per cent of the room."""

    name: str
    role: str  # its class
    length: float
    solid: float | None = None  # of the part in which the GPU works; None: there is no other part
    whisker: Whisker | None = None
    words: str  # beside it
    description: str  # for a pointer
    segments: Sequence[Segment] = ()


def draw_busy_bars(data: ChartData, *, compact: bool = False) -> Drawing | None:
    """Draw wall times with the share of them in which the GPU works.

    A variant whose GPU time is not known gets a plain bar. ``compact`` leaves out names and key,
    for rows of a list that has them. Returns None if nothing is measured.
    """
    return _draw(data, working=GPU, compact=compact)


def draw_plain_bars(data: ChartData, *, compact: bool = False) -> Drawing | None:
    """Draw a bar for each variant, of the first quantity, and the limit if there is one.

    Returns None if nothing is measured.
    """
    return _draw(data, working="", compact=compact)


def draw_overlaid_bars(data: ChartData, *, part: str) -> Drawing | None:
    """Draw the first quantity with the part of it that the quantity ``part`` is, such as padding.

    Returns None if nothing is measured.
    """
    rows = [row for row in data.rows if data.main in row.values]
    if not rows:
        return None
    scale = _make_scale([row.values[data.main] for row in rows], None)
    part_name = data.quantities[part]
    bars = []
    table_rows = []
    notebook_rows = []
    for row in rows:
        whole = row.values[data.main]
        part_value = row.values.get(part)
        share = share_of(row, part, data.main)
        facts = [f"{data.quantities[data.main]} {whole.full_words}"]
        if part_value:
            facts.append(f"{part_name} {part_value.full_words}")
        length = scale(whole.number)
        bars.append(
            Bar(
                name=row.name,
                role=row.role,
                length=length,
                solid=None if share is None else length * share,
                whisker=_make_whisker(whole, scale),
                words=whole.words,
                description=data.typography.typeset(f"{row.name}: {', '.join(facts)}"),
            )
        )
        part_cells = (part_value.words, part_value.full_words) if part_value else ("", "")
        table_rows.append([row.name, whole.full_words, part_cells[1]])
        block_bar = _block_bar(length / 100, share)
        notebook_rows.append([row.name, block_bar, whole.words, part_cells[0]])
    names = [data.quantities[data.main], part_name]
    html = render_html(
        "bars.html",
        label=data.typography.typeset("; ".join(bar.description for bar in bars)),
        bars=bars,
        overlaid=names,
    )
    return Drawing(
        html=html,
        table=Table(head=["", *names], rows=table_rows),
        has_ranges=True,
        notebook=Table(head=["", "", *names], rows=notebook_rows),
    )


def share_of(row: ChartRow, part: str, whole: str) -> float | None:
    """Return what share a quantity is of another one, 1 at most; None if either is unknown."""
    part_value, whole_value = row.values.get(part), row.values.get(whole)
    if part_value is None or whole_value is None or not whole_value.number:
        return None
    return min(1.0, part_value.number / whole_value.number)


def busy_share(row: ChartRow) -> float | None:
    """Return the share of the wall time in which the GPU works, 1 at most; None if unknown."""
    return share_of(row, GPU, WALL)


def format_busy_share(row: ChartRow, data: ChartData) -> str:
    """Return the busy share in per cent, without more digits than it has; empty if unknown."""
    share = busy_share(row)
    return "" if share is None else data.typography.format_percent(share)


def _draw(data: ChartData, *, working: str, compact: bool) -> Drawing | None:
    rows = [row for row in data.rows if data.main in row.values]
    if not rows:
        return None
    limit = next(iter(data.limits.values()), None)
    scale = _make_scale([row.values[data.main] for row in rows], limit)
    is_busy = bool(working) and any(busy_share(row) is not None for row in rows)
    bars = [_make_bar(row, data, scale, is_busy=is_busy) for row in rows]
    html = render_html(
        "bars.html",
        label=_describe_all(bars, limit, data),
        bars=bars,
        has_key=is_busy and not compact,
        is_compact=compact,
        limit=limit,
        limit_place=scale(limit.number) if limit else 0.0,
    )
    table = _busy_table(rows, data) if is_busy else _plain_table(rows, data, limit)
    is_explained = is_busy and any(map(_has_more_gpu_time, rows))
    return Drawing(
        html=html,
        table=table,
        has_ranges=True,
        notes=[_explain_more_gpu_time()] if is_explained else [],
        notebook=_notebook_table(rows, data, scale, is_busy=is_busy),
        key=_notebook_key() if is_busy else "",
    )


def _has_more_gpu_time(row: ChartRow) -> bool:
    """Tell whether more GPU time than wall time was measured."""
    gpu = row.values.get(GPU)
    return gpu is not None and gpu.number > row.values[WALL].number


def _explain_more_gpu_time() -> str:
    return str(
        _(
            "GPU time is measured in other calls than wall time, under a profiler. Where it comes "
            "out longer than wall time, the bar shows a GPU that is busy throughout."
        )
    )


def _make_scale(values: Sequence[Value], limit: Value | None) -> Scale:
    """Return the scale of bars, from 0 to the longest bar or range, as far as that is drawn."""
    longest = max((value.number for value in values), default=0.0)
    farthest = max((value.high for value in values), default=0.0)
    reach = min(farthest, longest * _REACH)
    return Scale(low=0, high=max(reach, limit.number if limit else 0), start=0, end=100)


def _make_bar(row: ChartRow, data: ChartData, scale: Scale, *, is_busy: bool) -> Bar:
    value = row.values[data.main]
    length = scale(value.number)
    share = busy_share(row) if is_busy else None
    words = value.words
    if row.gain:
        words = f"{words} · {row.gain.words}"
    return Bar(
        name=row.name,
        role=row.role,
        length=length,
        solid=None if share is None else length * share,
        whisker=_make_whisker(value, scale),
        words=words,
        description=_describe(row, data, value.full_words, is_busy=is_busy),
    )


def _make_whisker(value: Value, scale: Scale) -> Whisker | None:
    if value.high <= value.low:
        return None
    is_cut = value.high > scale.high
    return Whisker(low=scale(value.low), high=scale(value.high), is_cut=is_cut)


def _describe(row: ChartRow, data: ChartData, value_words: str, *, is_busy: bool) -> str:
    """Return what a bar says: name, value, gain and busy share."""
    facts = [value_words]
    if row.gain:
        facts.append(row.gain.words)
    if is_busy and (share := format_busy_share(row, data)):
        facts.append(str(_("GPU busy %s")) % share)
    name = row.name
    if row.role == Role.BEST:
        name = str(_("%s (recommended)")) % name
    return data.typography.typeset(f"{name}: {', '.join(facts)}")


def _describe_all(bars: Sequence[Bar], limit: Value | None, data: ChartData) -> str:
    """Return what a drawing says to those who do not see it."""
    sentences = [bar.description for bar in bars]
    if limit:
        sentences.append(f"{_('limit')}: {limit.words}")
    name = data.quantities.get(data.main, "")
    return data.typography.typeset(f"{name}: {'; '.join(sentences)}")


def _busy_table(rows: Sequence[ChartRow], data: ChartData) -> Table:
    """Return wall time, speed-up, GPU time and busy share of each variant, with their ranges."""
    head = [
        "",
        data.quantities[data.main],
        str(_("speed-up")),
        data.quantities.get(GPU, ""),
        str(_("GPU busy")),
    ]
    lines = []
    for row in rows:
        gpu = row.values.get(GPU)
        lines.append(
            [
                row.name,
                row.values[data.main].full_words,
                row.gain.full_words if row.gain else "",
                gpu.full_words if gpu else "",
                format_busy_share(row, data),
            ]
        )
    return Table(head=head, rows=lines)


def _plain_table(rows: Sequence[ChartRow], data: ChartData, limit: Value | None) -> Table:
    has_gains = any(row.gain for row in rows)
    head = ["", data.quantities.get(data.main, "")]
    if has_gains:
        head.append(str(_("speed-up")) if _is_time(rows, data) else str(_("times less")))
    lines = []
    for row in rows:
        line = [row.name, row.values[data.main].full_words]
        if has_gains:
            line.append(row.gain.full_words if row.gain else "")
        lines.append(line)
    if limit:
        lines.append([str(_("limit")), limit.words, *([""] if has_gains else [])])
    return Table(head=head, rows=lines)


def _is_time(rows: Sequence[ChartRow], data: ChartData) -> bool:
    return all(row.values[data.main].unit == "s" for row in rows)


def _notebook_table(
    rows: Sequence[ChartRow], data: ChartData, scale: Scale, *, is_busy: bool
) -> Table:
    """Return names, bars of block characters, values and gains; the bars stand second."""
    head = ["", "", data.quantities.get(data.main, "")]
    has_gains = any(row.gain for row in rows)
    if has_gains:
        head.append(str(_("speed-up")) if _is_time(rows, data) else str(_("times less")))
    if is_busy:
        head.append(str(_("GPU busy")))
    lines = []
    for row in rows:
        value = row.values[data.main]
        share = busy_share(row) if is_busy else None
        line = [row.name, _block_bar(scale(value.number) / 100, share), value.words]
        if has_gains:
            line.append(row.gain.words if row.gain else "")
        if is_busy:
            line.append(format_busy_share(row, data))
        lines.append(line)
    return Table(head=head, rows=lines)


def _block_bar(length: float, share: float | None) -> str:
    """Return a bar of characters; ``length`` is its share of the room, ``share`` its solid part."""
    blocks = max(1, round(_BLOCKS * length))
    if share is None:
        return _WORKING * blocks
    solid = round(blocks * share)
    return _WORKING * solid + _WAITING * (blocks - solid)


def _notebook_key() -> str:
    text = _("%(working)s GPU working, %(waiting)s GPU waiting")
    return str(text) % {"working": _WORKING, "waiting": _WAITING}


def draw_parts(data: ChartData, whole: str, names: Mapping[str, str]) -> Drawing | None:
    """Draw for each variant a bar of its parts, which are shares of the quantity ``whole``.

    ``names`` are those of parts, by quantity. Returns None where nothing can be drawn.
    """
    lengths = _lengths_of_parts(data, whole)
    if not lengths:
        return None
    parts = list(dict.fromkeys(part for by_part in lengths.values() for part in by_part))
    part_names = {part: names.get(part, data.quantities.get(part, part)) for part in parts}
    shades = {part: f"shade-{number % _SHADES + 1}" for number, part in enumerate(parts)}
    longest = max(sum(by_part.values()) for by_part in lengths.values())
    scale = Scale(low=0, high=longest, start=0, end=100)
    bars = []
    table_rows = []
    for row in data.rows:
        by_part = lengths.get(row.variant)
        if by_part is None:
            continue
        words = {
            part: format_value(length, "s", data.typography) for part, length in by_part.items()
        }
        total = sum(by_part.values())
        total_words = format_value(total, "s", data.typography)
        facts = [f"{part_names[part]} {words[part]}" for part in by_part]
        facts.append(f"{_('together')} {total_words}")
        segments = []
        start = 0.0
        for part, length in by_part.items():
            segments.append(
                Segment(
                    start=scale(start),
                    length=scale(length),
                    shade=shades[part],
                    description=data.typography.typeset(f"{part_names[part]}: {words[part]}"),
                )
            )
            start += length
        bars.append(
            Bar(
                name=row.name,
                role=Role.BEST if row.role == Role.BEST else Role.OTHER,
                length=scale(total),
                words=total_words,
                description=data.typography.typeset(f"{row.name}: {', '.join(facts)}"),
                segments=segments,
            )
        )
        table_rows.append([row.name, *(words.get(part, "") for part in parts), total_words])
    head = ["", *part_names.values(), str(_("together"))]
    html = render_html(
        "bars.html",
        label=data.typography.typeset("; ".join(bar.description for bar in bars)),
        bars=bars,
        parts=[(part_names[part], shades[part]) for part in parts],
    )
    return Drawing(html=html, table=Table(head=head, rows=table_rows))


def _lengths_of_parts(data: ChartData, whole: str) -> dict[str, dict[str, float]]:
    """Return the seconds of each part, by variant; a share is one of the whole."""
    lengths: dict[str, dict[str, float]] = {}
    for row in data.rows:
        total = row.values.get(whole)
        if total is None:
            continue
        by_part = {}
        for part in data.quantities:
            value = row.values.get(part)
            if value and part != whole:
                by_part[part] = value.number * (total.number if value.unit == "share" else 1)
        if by_part:
            lengths[row.variant] = by_part
    return lengths
