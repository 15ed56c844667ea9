"""Pictures of time: what CPU and GPU did when, one row for each lane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from babel import Locale
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import (
    GalleryError,
    Kind,
    Outcome,
    all_files,
    current_language,
    find_message,
    format_percent,
    load_results,
    load_spans,
    once,
    slug,
    typeset,
    watch,
)

from ..make_nodes import render_html
from .chart_data import Drawing, Table
from .scales import Scale, format_value, label_ticks

_ = get_translation("second_call")

_MOST_TICKS = 6
_WIDTH = 1000  # units of a drawing
_LEAST_GAP = 0.2  # in these units: a shorter gap cannot be seen
_SLOTS = 48  # characters of a lane in a notebook
_BLOCKS = "·▁▂▃▄▅▆▇█"  # by how much of its slot a character is busy
_LEAST_SHARE = 0.001  # of a slot that is not shown as empty


Span = tuple[float, float]  # start and end, in seconds from the beginning of the picture


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A lane with its name as readers have it."""

    name: str
    is_cpu: bool  # else it is the GPU's, which has the darker tone
    spans: Sequence[Span]


@dataclass(frozen=True, kw_only=True)
class SpansData:
    """What a picture of time is drawn from."""

    locale: Locale
    lanes: Sequence[Lane] = ()
    case: str = ""
    problems: Sequence[str] = ()

    @property
    def end(self) -> float:
        """When the last span ends, in seconds."""
        return max((end for lane in self.lanes for _start, end in lane.spans), default=0.0)


def query_spans(env: BuildEnvironment, docname: str, case: str) -> SpansData:
    """Return the lanes that the page's run published of a case.

    There are none where nothing is recorded and, with a problem, where the recording has no such
    case or its spans are wrong. Raises ``ValueError`` if the page is no recipe's.
    """
    locale = current_language(env.config).locale
    if docname not in once(env, all_files):
        raise ValueError("it draws what a recipe has measured, and this page is none's")
    results = watch(env, load_results, docname)
    if results is None or results.outcome is not Outcome.MEASURED:
        return SpansData(locale=locale)
    try:
        by_case = load_spans(env, docname)
    except GalleryError as error:
        return SpansData(locale=locale, problems=[str(error)])
    for published in by_case.values():
        if slug(published.case) == slug(case):
            lanes = []
            for name, spans in published.lanes.items():
                shown_name = find_message(env, docname, name, Kind.NAME)
                is_cpu = name.upper().startswith("CPU")
                lanes.append(Lane(name=shown_name, is_cpu=is_cpu, spans=sorted(spans)))
            case_name = find_message(env, docname, published.case, Kind.NAME)
            return SpansData(locale=locale, lanes=sort_lanes(lanes), case=case_name)
    names = ", ".join(map(repr, by_case)) or "none"
    problem = f"no spans are published of a case {case!r}; published are: {names}"
    return SpansData(locale=locale, problems=[problem])


def sort_lanes(lanes: Sequence[Lane]) -> list[Lane]:
    """Return lanes in the order in which they begin to work; one that never works comes last.

    A recording has them in the order of their names, whatever the recipe's order was.
    """

    def first_start(lane: Lane) -> float:
        return lane.spans[0][0] if lane.spans else float("inf")

    return sorted(lanes, key=first_start)


def merge(spans: Sequence[Span], least_gap: float = 0.0) -> list[Span]:
    """Return rising spans without those that overlap or lie closer together than a gap."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start - merged[-1][1] <= least_gap:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged


def busy_share(spans: Sequence[Span], end: float) -> float:
    """Return the share of the time up to ``end`` that spans cover; overlaps count once."""
    busy = sum(last - first for first, last in merge(spans))
    return busy / end if end else 0.0


def draw_spans(data: SpansData) -> Drawing | None:
    """Draw a row for each lane, above an axis of time; None if there are no spans."""
    if not data.end:
        return None
    scale = Scale(low=0, high=data.end, start=0, end=_WIDTH)
    axis = Scale(low=0, high=data.end, start=0, end=100)
    sentences = []
    table_rows = []
    notebook_rows = []
    for lane in data.lanes:
        count = format_value(len(lane.spans), "", data.locale)
        share = format_percent(busy_share(lane.spans, data.end), data.locale)
        facts = {"lane": lane.name, "count": count, "share": share}
        sentences.append(str(_("%(lane)s: %(count)s spans, busy %(share)s of the time") % facts))
        table_rows.append([lane.name, count, share])
        notebook_rows.append([lane.name, _draw_characters(lane.spans, data.end), share])
    length = format_value(data.end, "s", data.locale)
    html = render_html(
        "spans.html",
        label=typeset("; ".join(sentences), data.locale),
        lanes=[(lane, _make_path(lane.spans, scale)) for lane in data.lanes],
        width=_WIDTH,
        ticks=label_ticks(axis, "s", data.locale, _MOST_TICKS),
    )
    busy = str(_("busy"))
    return Drawing(
        html=html,
        table=Table(head=["", str(_("spans")), busy], rows=table_rows),
        notebook=Table(head=["", str(_("from 0 to %s")) % length, busy], rows=notebook_rows),
    )


def _make_path(spans: Sequence[Span], scale: Scale) -> str:
    """Return an SVG path with a piece for each span; it is as thick as the lane is high."""
    least_gap = _LEAST_GAP * scale.high / _WIDTH
    pieces = []
    for start, end in merge(spans, least_gap):
        left, right = scale(start), scale(end)
        width = max(right - left, _LEAST_GAP)  # the shortest kernel is seen, too
        pieces.append(f"M{left:.1f} .5h{width:.1f}")
    return "".join(pieces)


def _draw_characters(spans: Sequence[Span], end: float) -> str:
    """Return a row of characters, each as high as its slot of time is busy."""
    merged = merge(spans)
    characters = []
    for slot in range(_SLOTS):
        first, last = end * slot / _SLOTS, end * (slot + 1) / _SLOTS
        busy = sum(max(0.0, min(stop, last) - max(start, first)) for start, stop in merged)
        share = busy / (last - first)
        level = min(len(_BLOCKS) - 1, round(share * (len(_BLOCKS) - 1)))
        if share > _LEAST_SHARE:
            level = max(1, level)
        characters.append(_BLOCKS[level])
    return "".join(characters)
