"""Drawings: SVG as text, made at build time, with nothing in it but shapes, words and classes.

Colours and fonts come from ``_static/site.css``, which knows the classes. A chart is drawn twice,
``WIDE`` and ``NARROW``, and the style sheet shows what there is room for. A unit of a drawing is
about a pixel, so words are never smaller than 11 px.
"""

import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from html import escape

from recipe_gallery.translate import comments

WIDE, NARROW = 720, 340
SIZE = 14  # of words, in units, as in the style sheet
# Widths of letters in sizes, those of a wide font: what a reader has is seldom wider
_WIDTHS = {"narrow": 0.36, "lower": 0.63, "upper": 0.74, "wide": 0.98, "full": 1.02}
_NARROW_LETTERS = frozenset("iljtfr.,:;'|!()[] \u00a0-·")


class Drawing:
    """A drawing that is ``width`` by ``height`` units; shapes are added from back to front."""

    def __init__(self, width: float, height: float = 0) -> None:
        self.width, self.height = width, height
        self.data = ""  # more attributes, written as they are
        self._parts: list[str] = []

    def rect(self, x: float, y: float, width: float, height: float, kind: str) -> None:
        """Add a rectangle; ``kind`` is its classes."""
        size = f'width="{_n(max(width, 0))}" height="{_n(height)}"'
        self._parts.append(f'<rect class="{kind}" x="{_n(x)}" y="{_n(y)}" {size}/>')

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> None:
        """Add a straight line between two points."""
        ends = f'x1="{_n(start[0])}" y1="{_n(start[1])}" x2="{_n(end[0])}" y2="{_n(end[1])}"'
        self._parts.append(f'<line class="{kind}" {ends}/>')

    def path(self, points: Iterable[tuple[float, float]], kind: str) -> None:
        """Add a line through points."""
        steps = " ".join(f"{_n(x)},{_n(y)}" for x, y in points)
        self._parts.append(f'<polyline class="{kind}" points="{steps}"/>')

    def dot(self, x: float, y: float, radius: float, kind: str) -> None:
        """Add a circle."""
        self._parts.append(f'<circle class="{kind}" cx="{_n(x)}" cy="{_n(y)}" r="{_n(radius)}"/>')

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Add a line of words; ``y`` is its base line, ``anchor`` what of it stands at ``x``."""
        kind = f' class="{kind}"' if kind else ""
        anchor = "" if anchor == "start" else f' text-anchor="{anchor}"'
        words = escape(words, quote=False)
        self._parts.append(f'<text{kind} x="{_n(x)}" y="{_n(y)}"{anchor}>{words}</text>')

    def close(self, label: str, kind: str = "") -> str:
        """Return the SVG; ``label`` tells what it shows to those who cannot see it."""
        width, height = _n(self.width), _n(self.height)
        box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        return (
            f'<svg class="{kind}" role="img" aria-label="{escape(label)}" {box}{self.data}>'
            f"{''.join(self._parts)}</svg>\n"
        )


def draw_both(draw: Callable[[float], Drawing], label: str) -> str:
    """Return a chart in its two forms; ``draw`` draws it so wide."""
    wide, narrow = draw(WIDE), draw(NARROW)
    return wide.close(label, "chart-wide") + narrow.close(label, "chart-narrow")


def text_width(words: str, size: float = SIZE) -> float:
    """Return about how wide a line of words is, rather too much than too little."""
    return size * sum(_WIDTHS[_kind_of(letter)] for letter in words)


def _kind_of(letter: str) -> str:
    if unicodedata.combining(letter):
        return "narrow"
    if unicodedata.east_asian_width(letter) in "WF":
        return "full"
    if letter in _NARROW_LETTERS:
        return "narrow"
    if letter in "mMwW%@":
        return "wide"
    return "upper" if letter.isupper() or letter == "×" else "lower"


def wrap(words: str, width: float, size: float = SIZE) -> list[str]:
    """Return words in lines of at most ``width`` units; a word that is longer has its own line."""
    room = width + 0.01  # sums are inexact
    return comments.wrap(str(words), room, partial(text_width, size=size))  # a label may be lazy


def write_key(drawing: Drawing, kinds: Mapping[str, str], shape: str = "part") -> float:
    """Write on top which colour is which name, in their order; return where that ends.

    ``shape`` is "part", or "curve" for a piece of a line.
    """
    x, y, sample = 0.0, 0.0, 12 if shape == "part" else 18
    for name, kind in kinds.items():
        needed = sample + 6 + text_width(name)
        if x and x + needed > drawing.width:
            x, y = 0.0, y + 22
        if shape == "part":
            drawing.rect(x, y + 3, sample, 12, f"part {kind}")
        else:
            drawing.line((x, y + 9), (x + sample, y + 9), f"{shape} {kind}")
        drawing.text(x + sample + 6, y + 14, name)
        x += needed + 12
    return y + 34


def write_note(drawing: Drawing, y: float, words: str) -> float:
    """Write what holds for all of a drawing below it; return where that ends."""
    for line in wrap(words, drawing.width) if words else []:
        drawing.text(0, y + SIZE, line, "muted")
        y += SIZE + 4
    return y + 4 if words else y


def spread_out(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """Return places that are at least ``apart`` from each other, moved as little as can be.

    They keep their order, and stay between ``low`` and ``high`` if there is room for all.
    """
    order = sorted(range(len(places)), key=lambda each: places[each])
    moved = [places[each] for each in order]
    for _again in range(200):
        before = [*moved]
        for at in range(1, len(moved)):
            lack = apart - (moved[at] - moved[at - 1])
            if lack > 0.01:
                moved[at - 1] -= lack / 2
                moved[at] += lack / 2
        moved[0], moved[-1] = max(moved[0], low), min(moved[-1], high)
        if moved == before:
            break
    found = [0.0] * len(places)
    for at, each in enumerate(order):
        found[each] = moved[at]
    return found


def _n(value: float) -> str:
    """Return a number as short as a drawing needs it."""
    return f"{value:.1f}".removesuffix(".0")
