"""Pictures of time: what CPU and GPU did when, one row for each lane."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sphinx.environment import BuildEnvironment

from sphinx_recorded_gallery.api import Gallery, GalleryError, Typography, slug

from ..labels import _
from ..make_nodes import render_html
from .chart_data import Drawing, Table
from .scales import Scale, format_rounded, label_ticks

_MOST_TICKS = 6
_WIDTH = 2000  # units of a drawing, of which a pixel of the widest one has more than two
_LEAST_GAP = 1  # in these units: a shorter gap cannot be seen, so it is closed
_LEAST_WIDTH = 1  # in these units: a shorter span could not be seen, so it is drawn longer
_SLOTS = 48  # characters of a lane in a notebook
LANE_CHARACTERS = "·▁▂▃▄▅▆▇█"  # by how much of its slot a character is busy
_LEAST_SHARE = 0.001  # of a slot that is not shown as empty
_LANE_OF_VARIANT = re.compile(r"(?:CPU|GPU)\b[^,]*, (?P<variant>.+)")


Span = tuple[float, float]  # start and end, in seconds from the beginning of the picture


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A lane with its name as readers have it."""

    name: str
    is_cpu: bool  # else it is the GPU's, which has the darker tone
    spans: Sequence[Span]
    variant: str = ""  # whose lane it is, if there are several variants

    @property
    def start(self) -> float:
        """When its first span begins, in seconds; infinity without spans."""
        return min((start for start, _end in self.spans), default=math.inf)

    @property
    def end(self) -> float:
        """When its last span ends, in seconds; 0 if it has none."""
        return max((end for _start, end in self.spans), default=0.0)

    @property
    def busy_share(self) -> float:
        """The share of the time until its end that spans cover; overlaps count once.

        What happens in other lanes after its end is none of its time.
        """
        if not self.end:
            return 0.0
        busy = sum(last - first for first, last in merge(self.spans))
        return busy / self.end


@dataclass(frozen=True, kw_only=True)
class SpansData:
    """What a picture of time is drawn from."""

    typography: Typography
    lanes: Sequence[Lane] = ()
    case: str = ""
    # Seconds: the end of the picture beside which this one stands. It lengthens this axis only, so
    # that of two pictures on one axis each names the other.
    least_end: float = 0.0
    problems: Sequence[str] = ()

    @property
    def axis_end(self) -> float:
        """Where the axis ends, in seconds."""
        return max(self.end, self.least_end)

    @property
    def end(self) -> float:
        """When the last span ends, in seconds."""
        return max((lane.end for lane in self.lanes), default=0.0)

    @property
    def has_phases(self) -> bool:
        """Whether lanes are parts of one run, a span each, for which busy shares mean nothing."""
        return all(len(lane.spans) <= 1 for lane in self.lanes)


def query_spans(env: BuildEnvironment, docname: str, case: str) -> SpansData:
    """Return the lanes that the page's run published of a case.

    There are none where nothing is recorded and, with a problem, where the recording has no such
    case or its spans are wrong. Raises ``ValueError`` if the page is no recipe's.
    """
    gallery = Gallery(env)
    typography = Typography.of(env.config)
    if docname not in gallery.files:
        raise ValueError("this page is not a recipe; name one by :recipe:")
    results = gallery.load_results(docname)
    if results is None or not results.is_measured:
        return SpansData(typography=typography)
    try:
        spans_of_cases = gallery.load_spans(docname)
    except GalleryError as error:
        return SpansData(typography=typography, problems=[str(error)])
    for published in spans_of_cases.values():
        if slug(published.case) != slug(case):
            continue
        lanes = []
        for name, spans in published.lanes.items():
            named_variant = _LANE_OF_VARIANT.fullmatch(name)
            lane = Lane(
                name=gallery.name_word(docname, name),
                is_cpu=name.upper().startswith("CPU"),
                spans=sorted(spans),
                variant=named_variant["variant"] if named_variant else "",
            )
            lanes.append(lane)
        case_name = gallery.name_word(docname, published.case)
        return SpansData(typography=typography, lanes=sort_lanes(lanes), case=case_name)
    names = ", ".join(map(repr, spans_of_cases)) or "none"
    problem = f"no spans are published of a case {case!r}; published are: {names}"
    return SpansData(typography=typography, problems=[problem])


def sort_lanes(lanes: Sequence[Lane]) -> list[Lane]:
    """Return lanes by variant, that which takes longest first, as before and after a change.

    The lanes of a variant follow in the order in which they begin to work; one that never works
    comes last. A recording has lanes in the order of their names, whatever the recipe's order was.
    """
    ends: dict[str, float] = {}
    for lane in lanes:
        ends[lane.variant] = max(lane.end, ends.get(lane.variant, 0.0))
    return sorted(lanes, key=lambda lane: (-ends[lane.variant], lane.variant, lane.start))


def merge(spans: Sequence[Span], least_gap: float = 0.0) -> list[Span]:
    """Return rising spans; those that overlap or are at most a gap apart are joined into one."""
    merged: list[Span] = []
    for start, end in spans:
        if not merged:
            merged.append((start, end))
            continue
        first, last = merged[-1]
        if start - last <= least_gap:
            merged[-1] = first, max(last, end)
        else:
            merged.append((start, end))
    return merged


def draw_spans(data: SpansData) -> Drawing | None:
    """Draw a row for each lane, above an axis of time; None if there are no spans."""
    if not data.end:
        return None
    scale = Scale.from_zero(data.axis_end, end=_WIDTH)
    axis = Scale.from_zero(data.axis_end)
    typography = data.typography
    head, rows = _describe_busy_lanes(data)
    if data.has_phases:
        head, rows = _describe_phases(data)
    sentences = []
    notebook_rows = []
    for lane, cells in zip(data.lanes, rows, strict=True):
        facts = [f"{name} {cell}" for name, cell in zip(head, cells, strict=True) if cell]
        sentences.append(f"{lane.name}: {', '.join(facts)}" if facts else lane.name)
        blocks = _draw_characters(lane.spans, data.axis_end)
        notebook_rows.append([lane.name, blocks, cells[-1]])
    length = format_rounded(data.axis_end, "s", typography)
    html = render_html(
        "spans.html",
        label=typography.typeset("; ".join(sentences)),
        lanes=[(lane, _make_path(lane.spans, scale)) for lane in data.lanes],
        width=_WIDTH,
        ticks=label_ticks(axis, "s", typography, _MOST_TICKS),
    )
    table_rows = [[lane.name, *cells] for lane, cells in zip(data.lanes, rows, strict=True)]
    notebook_head = ["", _("from 0 to %s") % length, head[-1]]
    return Drawing(
        html=html,
        table=Table(head=["", *head], rows=table_rows),
        notebook=Table(head=notebook_head, rows=notebook_rows),
    )


def _describe_busy_lanes(data: SpansData) -> tuple[list[str], list[list[str]]]:
    """Return the headings of facts, and for each lane how many spans it has and how busy it is."""
    typography = data.typography
    rows = []
    for lane in data.lanes:
        count = format_rounded(len(lane.spans), "", typography)
        rows.append([count, typography.format_percent(lane.busy_share)])
    return [_("spans"), _("busy until its end")], rows


def _describe_phases(data: SpansData) -> tuple[list[str], list[list[str]]]:
    """Return the headings of facts, and for each lane when its span begins and how long it is."""
    rows = []
    for lane in data.lanes:
        cells = ["", ""]
        for start, end in lane.spans:
            cells = [
                format_rounded(start, "s", data.typography),
                format_rounded(end - start, "s", data.typography),
            ]
        rows.append(cells)
    return [_("begins after"), _("takes")], rows


def _make_path(spans: Sequence[Span], scale: Scale) -> str:
    """Return an SVG path with a piece for each span; it is as thick as the lane is high.

    It moves from one span to the next in whole units: such a path is short, and gets small on its
    way to readers.
    """
    least_gap = _LEAST_GAP * scale.high / _WIDTH
    pieces: list[str] = []
    place = 0  # of the pen, which begins in the middle of the lane: that is one unit high
    for start, end in merge(spans, least_gap):
        left = max(round(scale(start)), place)
        right = max(round(scale(end)), left + _LEAST_WIDTH)
        if pieces:
            pieces.append(f"m{left - place} 0h{right - left}")
        else:
            pieces.append(f"M{left} .5h{right - left}")
        place = right
    return "".join(pieces)


def _draw_characters(spans: Sequence[Span], end: float) -> str:
    """Return a row of characters, each as high as its slot of time is busy."""
    merged = merge(spans)
    characters = []
    for slot in range(_SLOTS):
        first = end * slot / _SLOTS
        last = end * (slot + 1) / _SLOTS
        busy = 0.0
        for start, stop in merged:
            overlap = min(stop, last) - max(start, first)
            busy += max(0.0, overlap)
        share = busy / (last - first)
        highest = len(LANE_CHARACTERS) - 1
        level = min(highest, round(share * highest))
        if share > _LEAST_SHARE:
            level = max(1, level)
        characters.append(LANE_CHARACTERS[level])
    return "".join(characters)
