"""Headline figures as bars: the time of an arm below the time of the version it is compared with.

Drawn with the colours of the page, as text and inline SVG that need no script and scale with it.
"""

from collections.abc import Sequence
from html import escape

from babel import Locale
from docutils import nodes
from sphinx.locale import get_translation
from sphinx.writers.html5 import HTML5Translator

from recipe_gallery.languages import format_times
from recipe_gallery.recipes.cells import DATA_CLASS

from .headline import HeadlineRow

_ = get_translation("second_call")


class time_bars(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A list of headline figures; the attribute ``rows`` holds them."""


def make_bars(rows: Sequence[HeadlineRow], locale: Locale) -> list[nodes.Node]:
    """Return a list of bars, one for each row, and the sentence that says how to read them."""
    caption = _(
        "Each bar is a time: grey for the version compared with, in colour for the case named. "
        "Shorter is faster; the thin line is the spread."
    )
    return [
        time_bars(rows=list(rows), locale=locale),
        nodes.paragraph("", "", nodes.Text(caption), classes=["time-bars-caption"]),
    ]


def draw_pair(row: HeadlineRow) -> str:
    """Return the picture of a card as HTML: one bar for the baseline, one for the arm."""
    arm = row.case.rpartition(": ")[2]
    share = 1 / row.speedup.value
    longest = max(1.0, share)
    lines = [
        f'<span class="{DATA_CLASS}">{escape(name)}</span>'
        + _draw_time_bar([(kind, 0, length / longest, 6, 0)], 6)
        for name, length, kind in ((row.baseline, 1, "baseline"), (arm, share, "arm"))
    ]
    return f'<div class="recipe-card-picture" aria-hidden="true">{"".join(lines)}</div>'


def visit_bars(self: HTML5Translator, node: time_bars) -> None:
    """Write the list; text says all that the bars show."""
    longest = max(1.0, *(1 / row.speedup.low for row in node["rows"]))
    lines = []
    for row in node["rows"]:
        speedup = row.speedup
        baseline = f'<span class="{DATA_CLASS}">{escape(row.baseline)}</span>'
        compared = escape(_("compared with %s")).replace("%s", baseline)
        slower = " slower" if speedup.value < 1 else ""
        low, high = 1 / speedup.high / longest, 1 / speedup.low / longest
        bars = _draw_time_bar(
            [
                ("baseline", 0, 1 / longest, 3, 0),
                (f"arm{slower}", 0, 1 / speedup.value / longest, 6, 4),
                ("spread", low, max(high - low, 0.002), 1, 6.5),
            ],
            10,
        )
        lines.append(
            f'<li><span class="time-bar-case {DATA_CLASS}">{escape(row.case)}</span> '
            f'<span class="time-bar-baseline">{compared}</span> '
            f"<strong>{format_times(speedup.value, node['locale'])}</strong>{bars}</li>"
        )
    self.body.append(f'<ul class="time-bars">{"".join(lines)}</ul>\n')
    raise nodes.SkipNode


def _draw_time_bar(bars: Sequence[tuple[str, float, float, float, float]], height: float) -> str:
    """Return SVG that is as wide as there is room; a bar is class, start, length, height, top."""
    drawn = "".join(
        f'<rect class="{kind}" x="{100 * start:.2f}" y="{top}" width="{100 * length:.2f}" '
        f'height="{thickness}"/>'
        for kind, start, length, thickness, top in bars
    )
    return (
        f'<svg class="time-bar" viewBox="0 0 100 {height}" preserveAspectRatio="none" '
        f'aria-hidden="true">{drawn}</svg>'
    )
