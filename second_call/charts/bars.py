"""Bars: the ladder, which compares arms and a limit, and stacked bars of parts. Boxes: stages."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from .scales import Scale
from .svg import NARROW, SIZE, Drawing, text_width, wrap, write_key, write_note

_BAR, _STEP = 12, 21  # height of a bar, and from one bar of an arm to the next
_WHISKER = 16  # below the top of a bar, so that its figure stands at its end
_BETWEEN = 13  # arms
_GAP = 6  # between a bar and the words at its end
_LABELS = 190  # the column of names is at most so wide
_REACH = 1.35  # of the longest bar: a whisker that is longer ends in an arrow
_STACK = 30  # height of a stacked bar
_BOX, _ARROW = 36, 22  # height of a box, and length of what joins two of them


@dataclass(frozen=True, kw_only=True)
class Bar:
    """One figure."""

    value: float
    low: float
    high: float
    words: str  # at its end
    kind: str  # classes


@dataclass(frozen=True, kw_only=True)
class Group:
    """An arm: its name, and a bar for each quantity."""

    name: str
    bars: Sequence[Bar]


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of a stacked bar."""

    name: str
    value: float
    kind: str


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A stacked bar: what it is the sum of."""

    name: str
    parts: Sequence[Part]
    words: str  # the sum, with its unit

    @property
    def sum(self) -> float:
        """How long it is."""
        return sum(part.value for part in self.parts)


def draw_ladder(
    groups: Sequence[Group], limit: tuple[float, str] | None, note: str, width: float
) -> Drawing:
    """Return bars below each other; ``limit`` is a value and what is written there.

    ``note`` says what an arrow is, where a whisker has one.
    """
    bars = [bar for group in groups for bar in group.bars]
    left = _column([group.name for group in groups], width)
    longest = max(bar.value for bar in bars)
    reach = min(max(bar.high for bar in bars), longest * _REACH)
    room = max(text_width(bar.words) for bar in bars) + _GAP + 4
    scale = Scale(low=0, high=reach, start=left, end=width - room)
    drawing, y = Drawing(width), 4.0
    for group in groups:
        y = _write_name(drawing, group.name, y, left, len(group.bars) * _STEP)
        if limit:  # behind what is written
            x, end = scale(limit[0]), y + len(group.bars) * _STEP
            drawing.line((x, y - 5), (x, end), "limit")
        for bar in group.bars:
            _draw_bar(drawing, bar, scale, y)
            y += _STEP
        y += _BETWEEN
    drawing.line((left, 0), (left, y - _BETWEEN + 2), "axis")
    if limit:
        y = _write_limit(drawing, scale(limit[0]), y, limit[1])
    is_cut = any(bar.high > scale.high for bar in bars)
    drawing.height = write_note(drawing, y - _BETWEEN + 4, note if is_cut else "")
    return drawing


def _column(names: Sequence[str], width: float) -> float:
    """Return how wide the column of names is; where there is no room, they stand above."""
    return 0 if width <= NARROW else min(max(map(text_width, names)) + 12, _LABELS)


def _write_name(drawing: Drawing, name: str, y: float, left: float, height: float) -> float:
    """Write the name of a bar beside it or above it; return where the bar begins."""
    if not left:
        drawing.text(0, y + SIZE - 2, name)
        return y + SIZE + 5
    lines = wrap(name, left - 12)
    first = y + height / 2 + SIZE * 0.32 - (len(lines) - 1) * 8
    for number, line in enumerate(lines):
        drawing.text(left - 10, first - 2 + 16 * number, line, anchor="end")
    return y


def _draw_bar(drawing: Drawing, bar: Bar, scale: Scale, y: float) -> None:
    end, low, high = scale(bar.value), scale(bar.low), scale(bar.high)
    drawing.rect(scale.start, y, end - scale.start, _BAR, f"bar {bar.kind}")
    if bar.high > bar.low:
        middle = y + _WHISKER
        drawing.line((low, middle), (high, middle), "whisker")
        drawing.line((low, middle - 3), (low, middle + 3), "whisker")
        if bar.high > scale.high:
            drawing.path([(high - 5, middle - 3), (high, middle), (high - 5, middle + 3)], "arrow")
        else:
            drawing.line((high, middle - 3), (high, middle + 3), "whisker")
    drawing.text(end + _GAP, y + _BAR - 1.5, bar.words, "value")


def _write_limit(drawing: Drawing, x: float, y: float, words: str) -> float:
    """Write below all bars what the limit is; return where that ends."""
    drawing.line((x, y - _BETWEEN), (x, y - 3), "limit")
    half = text_width(words) / 2
    left = min(max(x - half, 0), drawing.width - 2 * half)
    drawing.text(max(left, 0), y + SIZE - 4, words, "muted")
    return y + SIZE + _BETWEEN


def draw_stacks(stacks: Sequence[Stack], width: float) -> Drawing:
    """Return stacked bars; names of parts stand inside or, where they do not fit, above."""
    left = _column([stack.name for stack in stacks], width)
    room = max(text_width(stack.words) for stack in stacks) + _GAP + 4
    scale = Scale(low=0, high=max(stack.sum for stack in stacks), start=left, end=width - room)
    parts = {part.name: part.kind for stack in stacks for part in stack.parts}
    inside = all(_fit(part, scale) for stack in stacks for part in stack.parts)
    drawing = Drawing(width)
    top = 0.0 if inside else write_key(drawing, parts)
    y = top + 2
    for stack in stacks:
        y = _write_name(drawing, stack.name, y, left, _STACK)
        ends = [0.0, *accumulate(part.value for part in stack.parts)]
        for part, start, end in zip(stack.parts, ends, ends[1:], strict=False):
            drawing.rect(scale(start), y, scale(end) - scale(start), _STACK, f"part {part.kind}")
            if inside:
                _write_inside(drawing, _fit(part, scale), (scale(start) + scale(end)) / 2, y)
        drawing.text(scale(stack.sum) + _GAP, y + _STACK / 2 + 5, stack.words, "value")
        y += _STACK + _BETWEEN
    drawing.line((left, top), (left, y - _BETWEEN + 2), "axis")
    drawing.height = y - _BETWEEN + 4
    return drawing


def _fit(part: Part, scale: Scale) -> list[str]:
    """Return the name of a part in lines that fit inside of it; none if it does not."""
    room = scale(part.value) - scale.start - 4
    lines = wrap(part.name, room, SIZE - 2)
    fits = len(lines) <= 2 and all(text_width(line, SIZE - 2) <= room for line in lines)
    return lines if fits else []


def _write_inside(drawing: Drawing, lines: Sequence[str], x: float, y: float) -> None:
    first = y + _STACK / 2 + 4 - (len(lines) - 1) * 6.5
    for number, line in enumerate(lines):
        drawing.text(x, first + 13 * number, line, "inside", "middle")


def draw_stages(stages: Sequence[tuple[str, str]], width: float) -> Drawing:
    """Return boxes joined by arrows; a stage is its name and what it makes, which stands below."""
    if width <= NARROW:
        return _stages_below_each_other(stages, width)
    room = (width - 2 + _ARROW) / len(stages) - _ARROW
    texts = [wrap(made, room + _ARROW - 8) for _name, made in stages]
    drawing = Drawing(width, _BOX + 10 + 17 * max(map(len, texts)))
    for number, ((name, _made), lines) in enumerate(zip(stages, texts, strict=True)):
        x = 1 + number * (room + _ARROW)
        if number:
            drawing.line((x - _ARROW + 3, 1 + _BOX / 2), (x - 4, 1 + _BOX / 2), "whisker")
            tip = [(x - 9, _BOX / 2 - 4), (x - 4, 1 + _BOX / 2), (x - 9, _BOX / 2 + 6)]
            drawing.path(tip, "arrow")
        drawing.rect(x, 1, room, _BOX, "box")
        drawing.text(x + room / 2, _BOX / 2 + 6, name, anchor="middle")
        for at, line in enumerate(lines):
            drawing.text(x + room / 2, _BOX + 19 + 17 * at, line, "muted", "middle")
    return drawing


def _stages_below_each_other(stages: Sequence[tuple[str, str]], width: float) -> Drawing:
    left = max(text_width(name) for name, _made in stages) + 20
    drawing, y = Drawing(width), 1.0
    for number, (name, made) in enumerate(stages):
        middle = left / 2
        if number:
            drawing.line((middle, y - _ARROW + 3), (middle, y - 4), "whisker")
            drawing.path([(middle - 5, y - 9), (middle, y - 4), (middle + 5, y - 9)], "arrow")
        drawing.rect(1, y, left, _BOX, "box")
        drawing.text(1 + middle, y + _BOX / 2 + 5, name, anchor="middle")
        lines = wrap(made, width - left - 12)
        for at, line in enumerate(lines):
            first = y + _BOX / 2 + 5 - (len(lines) - 1) * 8.5
            drawing.text(left + 12, first + 17 * at, line, "muted")
        y += _BOX + _ARROW
    drawing.height = y - _ARROW + 1
    return drawing
