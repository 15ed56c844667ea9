"""Where lines of text may end, in scripts with and without spaces between words."""

import re
from collections.abc import Iterable
from itertools import pairwise

from docutils.utils import column_width

# A character of a script without spaces between words (Hangul has them)
_IDEOGRAPH = re.compile(
    "[\u2e80-\u303f\u3041-\u312f\u31a0-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60]"
)
_NO_LINE_START = "，。、；：？！）》」』】〉”’…·,.;:?!)]}%"
_NO_LINE_END = "（《「『【〈“‘([{"


def wrap(pieces: Iterable[str], width: int) -> list[str]:
    """Join pieces of a text to lines of at most ``width`` columns; wide characters take two.

    A longer piece gets a line of its own.
    """
    lines = [""]
    for piece in pieces:
        if lines[-1] and column_width((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]


def split_at_breaks(text: str) -> list[str]:
    """Return the pieces of a text between which a line may end; joined, they are the text.

    Chinese and Japanese break between any two characters, except before closing and after opening
    punctuation; everything else breaks at spaces.
    """
    pieces = [text[:1]]
    for before, after in pairwise(text):
        if may_break(before, after):
            pieces.append("")
        pieces[-1] += after
    return pieces


def may_break(before: str, after: str) -> bool:
    """Return whether a line may end between two characters."""
    if before == " ":
        return True
    if before.isspace() or after.isspace():
        return False
    if before in _NO_LINE_END or after in _NO_LINE_START:
        return False
    return is_ideograph(before) or is_ideograph(after)


def is_ideograph(character: str) -> bool:
    """Return whether a character, or a sign, is of a script without spaces between words."""
    return bool(_IDEOGRAPH.match(character))
