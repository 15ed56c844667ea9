"""What a terminal without colours shows of printed text: progress bars end up at their last state.

The lines are as long as they are printed, and there is no top or bottom: that is why no terminal
emulator does it, all of which have a screen of a fixed size.
"""

import re

from wcwidth import wcwidth

_WIDTH = 500  # columns; a move to the right ends there
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Text, and control sequences of ECMA-48 in their 7-bit and 8-bit forms. No part of the pattern can
# begin inside of another, or long texts would take quadratic time.
_TOKEN = re.compile(
    r"(?P<text>[^\x00-\x08\x0a-\x1f\x7f-\x9f]+)"
    r"|(?P<control>[\n\r\b])"
    r"|(?:\x1b\[|\x9b)(?P<number>[0-?]*)[ -/]*(?P<move>[@-~])"
    # window titles, links, graphics
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]*(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]*[0-~]"  # character sets, keypads and others
    r"|.",  # any other control character
    re.DOTALL,
)


def render(text: str) -> str:
    """Return text as it stands when all moves of the cursor are done; takes linear time."""
    if not _CONTROL.search(text):
        return text
    rows: list[list[str]] = [[]]  # a wide character takes two places, the second one is ""
    row = column = 0
    for token in _TOKEN.finditer(text):
        line = rows[row]
        if token["text"]:
            column = _write(line, column, token["text"])
        elif token["control"] == "\n":
            row, column = row + 1, 0
            if row == len(rows):
                rows.append([])
        elif token["control"] == "\r":
            column = 0
        elif token["control"] == "\b":
            column = max(column - 1, 0)
        elif token["move"] == "K":
            _erase(line, column, token["number"])
        elif token["move"]:
            digits = re.match(r"\d{0,4}", token["number"])
            steps = int(digits[0] or 1) if digits else 1
            if token["move"] in "AF":
                row = max(row - steps, 0)
            elif token["move"] in "BE":
                row = min(row + steps, len(rows) - 1)
            elif token["move"] == "C":
                column = min(column + steps, max(_WIDTH, len(line)))
            elif token["move"] == "D":
                column = max(column - steps, 0)
            elif token["move"] == "G":
                column = min(steps - 1, max(_WIDTH, len(line)))
            column = 0 if token["move"] in "EF" else column
    return "\n".join("".join(line) for line in rows)


def _write(line: list[str], column: int, text: str) -> int:
    """Write over what stands in a line; return the column after it."""
    line += " " * (column - len(line))
    cells: list[str] = []
    for char in text:
        width = 1 if char.isascii() else wcwidth(char)
        if width == 0 and cells:
            cells[-1 if cells[-1] else -2] += char  # an accent, on what it belongs to
        else:
            cells += [char, ""] if width == 2 else [char]
    end = column + len(cells)
    # What is left of a wide character of which a half is written over.
    if column < len(line) and not line[column]:
        line[column - 1] = " "
    if end < len(line) and not line[end]:
        line[end] = " "
    line[column:end] = cells
    return end


def _erase(line: list[str], column: int, which: str) -> None:
    """Erase what follows the cursor, or with 1 what is before it, or with 2 all."""
    if which not in ("1", "2"):
        del line[column:]
    else:
        end = len(line) if which == "2" else min(column + 1, len(line))
        line[:end] = " " * end if end < len(line) else ""
