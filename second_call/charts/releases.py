"""What a release changed: a ratio for each quantity and recipe, around 1×."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import Typography

from ..make_nodes import render_html
from .chart_data import Drawing, Table
from .scales import Scale, format_value, label_ticks

_ = get_translation("second_call")

_MARGIN = 1.05  # the axis reaches so far beyond the values
_MOST_TICKS = 5
_DIGITS = 3


@dataclass(frozen=True, kw_only=True)
class Change:
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


def draw_changes(changes: Sequence[Change], typography: Typography) -> Drawing | None:
    """Draw a dot and a range for each change, on one axis with 1× on it; None if there is none."""
    if not changes:
        return None
    lows = [change.low for change in changes]
    highs = [change.high for change in changes]
    scale = Scale(
        low=min(*lows, 1.0) / _MARGIN,
        high=max(*highs, 1.0) * _MARGIN,
        start=0,
        end=100,
        is_log=True,
    )
    lines = []
    for change in changes:
        facts = {
            "ratio": format_value(change.ratio, "x", typography, _DIGITS),
            "low": format_value(change.low, "x", typography, _DIGITS),
            "high": format_value(change.high, "x", typography, _DIGITS),
            "machines": change.hosts,
        }
        if change.hosts > 1:
            words = _("%(ratio)s (%(low)s to %(high)s on %(machines)s machines)")
        else:
            words = _("%(ratio)s (one machine)")
        lines.append((change, typography.typeset(str(words % facts)), facts["ratio"]))
    ticks = label_ticks(scale, "x", typography, _MOST_TICKS)
    html = render_html(
        "releases.html",
        label=typography.typeset(
            "; ".join(f"{change.label}: {words}" for change, words, _ratio in lines)
        ),
        one=scale(1),
        ticks=[tick for tick in ticks if abs(tick[0] - scale(1)) > 5],
        one_words=format_value(1, "x", typography),
        changes=[
            {
                "label": change.label,
                "verdict": change.verdict,
                "low": scale(change.low),
                "place": scale(change.ratio),
                "high": scale(change.high),
                "words": ratio,
                "description": words,
            }
            for change, words, ratio in lines
        ],
    )
    table = Table(
        head=["", str(_("times as good as before"))],
        rows=[[change.label, words] for change, words, _ratio in lines],
    )
    return Drawing(html=html, table=table, has_ranges=True)
