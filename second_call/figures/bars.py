"""Headline figures as bars: the time of an arm below that of the version it is compared with."""

from collections.abc import Sequence

from babel import Locale
from docutils import nodes
from sphinx.locale import get_translation

from recipe_gallery.languages import format_times

from ..nodes import render
from .headline import HeadlineRow

_ = get_translation("second_call")


def make_bars(rows: Sequence[HeadlineRow], locale: Locale) -> list[nodes.Node]:
    """Return a list of bars, one for each row, and the sentence that says how to read them."""
    caption = _(
        "Each bar is a time: grey for the version compared with, in colour for the case named. "
        "Shorter is faster; the thin line is the spread."
    )
    bars = render(
        "time_bars.html",
        rows=rows,
        longest=max(1.0, *(1 / row.speedup.low for row in rows)),
        compared=str(_("compared with %s")),
        format_times=format_times,
        locale=locale,
    )
    return [bars, nodes.paragraph("", caption, classes=["time-bars-caption"])]
