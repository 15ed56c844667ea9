"""What a release changed: a ratio for each quantity and recipe, around 1×."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sphinx_recorded_gallery.api import Typography

from ..labels import _
from ..make_nodes import render_html
from .chart_data import Drawing, Table
from .scales import Scale, format_rounded, label_ticks

_MARGIN = 1.05  # the axis reaches so far beyond the values
_MOST_TICKS = 5
_DIGITS = 3
_LEAST_DISTANCE = 5  # of the label of a tick from that of 1×, in per cent of the room


@dataclass(frozen=True, kw_only=True)
class ChangeRow:
    """How many times as good a release is, over the hosts that measured both releases.

    Above 1 is better: faster, or less memory. ``low`` and ``high`` are the least and the greatest
    ratio of a host.
    """

    label: str
    ratio: float
    low: float
    high: float
    hosts: int

    @property
    def verdict(self) -> str:
        """Whether all hosts say better, worse, or not the same; the class of a dot."""
        if self.low > 1:
            return "better"
        if self.high < 1:
            return "worse"
        return "unclear"


def draw_changes(changes: Sequence[ChangeRow], typography: Typography) -> Drawing | None:
    """Draw a dot and a range for each change, on one axis with 1× on it; None if there is none."""
    if not changes:
        return None
    scale = _make_scale(changes)
    rows = [_make_row(change, scale, typography) for change in changes]
    sentences = [f"{row['label']}: {row['description']}" for row in rows]
    html = render_html(
        "releases.html",
        label=typography.typeset("; ".join(sentences)),
        one=scale(1),
        ticks=_make_ticks(scale, typography),
        one_words=format_rounded(1, "x", typography),
        changes=rows,
    )
    table = Table(
        head=["", _("change (above 1× is better)")],
        rows=[[row["label"], row["description"]] for row in rows],
    )
    return Drawing(html=html, table=table, has_ranges=True)


def _make_scale(changes: Sequence[ChangeRow]) -> Scale:
    """Return the axis for all changes, with 1× on it."""
    low = min(change.low for change in changes)
    high = max(change.high for change in changes)
    return Scale(
        low=min(low, 1.0) / _MARGIN,
        high=max(high, 1.0) * _MARGIN,
        start=0,
        end=100,
        is_log=True,
    )


def _make_ticks(scale: Scale, typography: Typography) -> list[tuple[float, str]]:
    """Return place and label of each tick, without those so near 1× that labels would meet."""
    ticks = []
    for place, label in label_ticks(scale, "x", typography, _MOST_TICKS):
        if abs(place - scale(1)) > _LEAST_DISTANCE:
            ticks.append((place, label))
    return ticks


def _make_row(change: ChangeRow, scale: Scale, typography: Typography) -> dict[str, Any]:
    """Return what the template draws of a change: places in per cent, and words."""
    ratio = format_rounded(change.ratio, "x", typography, _DIGITS)
    facts = {
        "ratio": ratio,
        "low": format_rounded(change.low, "x", typography, _DIGITS),
        "high": format_rounded(change.high, "x", typography, _DIGITS),
        "machines": change.hosts,
    }
    if change.hosts == 1:
        words = _("%(ratio)s (one machine)")
    elif facts["low"] == facts["high"]:  # with the digits that are shown
        words = _("%(ratio)s on each of %(machines)s machines")
    else:
        words = _("%(ratio)s (%(low)s to %(high)s on %(machines)s machines)")
    return {
        "label": change.label,
        "verdict": change.verdict,
        "low": scale(change.low),
        "place": scale(change.ratio),
        "high": scale(change.high),
        "words": ratio,
        "description": typography.typeset(words % facts),
    }
