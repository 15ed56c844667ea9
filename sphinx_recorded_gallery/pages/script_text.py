"""Markdown for the comments of a script, which people read as it is.

Lines are at most 100 columns wide, and a backslash stands only where the text would be Markdown
without it. A script that is opened as a notebook shows the same as one with the lines of the page.
Headings, tables, formulas and code keep their lines.
"""

import re
from collections.abc import Sequence
from functools import cache
from itertools import pairwise

from docutils.utils import column_width
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.dollarmath import dollarmath_plugin

from ..recipes.comment_safety import is_read_by_tools
from ..wrap_text import is_ideograph, may_break, wrap
from .markdown import protect_lines

MOST_COLUMNS = 100
_MARKER = "# "  # before each line of a comment

# Code, tags and addresses, formulas: nothing of them is text in which a line may end.
_WHOLE = re.compile(
    r"(?<![\\`])(`+)(?!`).*?(?<!`)\1(?!`)|(?<!\\)<[a-zA-Z/!?][^<>]*>"
    r"|(?<!\\)(\$\$?)(?!\s).+?(?<!\\)\2"
)
# Further starts of lines that would end a paragraph: a list, HTML, code, a line below a heading
_STARTS = re.compile(r"[*+-](?:\s|$)|<[a-zA-Z/!?](?!\w+:)|`{3}|~{3}|[-=|:]+(?:\s|$)")
# A backslash before a sign, or behind the number with which a line began. Before other signs it
# keeps Jupyter from making links, or jupytext from beginning another cell.
_BACKSLASH = re.compile(r"\\([_*~`<>&#|$!\[\]+=-])|(?<=\d)\\(?=[.)]\s)")
_WIDE_SIGNS = "，。、；：？！）》」』】〉"  # have a blank of their own, which hides one behind them


def tidy_markdown(text: str) -> str:
    """Return Markdown with shorter lines and without needless backslashes.

    It is returned unchanged if it would be read otherwise.
    """
    lines = text.split("\n")
    is_tidy = all(column_width(_MARKER + line) <= MOST_COLUMNS for line in lines)
    if is_tidy and not _BACKSLASH.search(text):  # most cells, which need no parser
        return text
    tokens = _parser().parse(text)
    for opening, inline in reversed(list(pairwise(tokens))):
        if inline.type != "inline" or not inline.map:
            continue
        first, end = inline.map
        if opening.type == "paragraph_open":
            lines[first:end] = _tidy_paragraph(lines[first:end], inline.content)
        else:  # a heading, or a cell of a table
            lines[first] = _tidy_part(lines[first], inline.content)
    tidied = "\n".join(lines)
    if _render(_parser().parse(tidied)) != _render(tokens):
        return text
    return tidied


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return parser.use(dollarmath_plugin, double_inline=True)


def _render(tokens: Sequence[Token]) -> str:
    """Return Markdown as HTML, in which blanks are alike, and none stands beside an ideograph."""
    html: str = _parser().renderer.render(tokens, _parser().options, {})
    parts = [""]
    for word in html.split():
        if parts[-1] and not is_ideograph(parts[-1][-1]) and not is_ideograph(word[0]):
            parts.append(" ")
        parts.append(word)
    return "".join(parts)


def _tidy_part(line: str, content: str) -> str:
    """Return the line of a heading or of a row with one part of it tidied; columns stay aligned."""
    plain = _remove_backslashes(content)
    padding = " " * (len(content) - len(plain))
    part = re.compile(rf"(?<= ){re.escape(content)}(?= *(?:\||$))")
    return part.sub(lambda _match: plain + padding, line, count=1).rstrip()


def _tidy_paragraph(lines: list[str], content: str) -> list[str]:
    """Return the lines of a paragraph; ``content`` is its Markdown without what begins a line.

    Further lines of a point of a list are indented like its text.
    """
    first_words = content.split("\n")[0].rstrip()
    if not lines[0].rstrip().endswith(first_words):
        return lines
    start = lines[0].rstrip().removesuffix(first_words)
    further = re.sub(r"[^>\s]", " ", start)
    width = MOST_COLUMNS - column_width(_MARKER + start)
    tidied = _remove_backslashes(content).split("\n")
    if any(column_width(line) > width for line in tidied):
        tidied = _wrap_lines(content.split("\n"), width)
    first_line, *further_lines = tidied
    return [start + first_line, *(further + line.lstrip() for line in further_lines)]


def _wrap_lines(lines: list[str], width: int) -> list[str]:
    """Return the lines of a paragraph in other lines, except for breaks that Markdown shows."""
    parts = [""]  # of the text, between breaks
    for line in lines:
        words = line.strip()
        is_chinese = is_ideograph(parts[-1][-1:]) and is_ideograph(words[:1])
        blank = "" if is_chinese or not parts[-1] else " "
        parts[-1] += blank + words
        if words.endswith("\\"):
            parts.append("")
    wrapped: list[str] = []
    for text in parts:
        wrapped += wrap(_split(_remove_backslashes(text), width), width)
    return wrapped


def _split(text: str, width: int) -> list[str]:
    """Return the pieces of a text between which a line may end; joined, they are the text.

    A browser shows the end of a line as a blank. In Chinese it is seen least behind a sign, so
    lines end elsewhere only if they would be too long.
    """
    inside: set[int] = set()
    for match in _WHOLE.finditer(text):
        inside.update(range(match.start() + 1, match.end()))
    pieces = [text[:1]]
    places_in_piece: list[int] = []  # where a too long piece may be divided
    divided: list[str] = []
    for position in range(1, len(text)):
        before, after = text[position - 1], text[position]
        if position not in inside and may_break(before, after):
            if _is_good_end(text, position):
                divided += _divide(pieces.pop(), places_in_piece, width)
                pieces.append("")
                places_in_piece = []
            elif is_ideograph(before) and is_ideograph(after):
                places_in_piece.append(len(pieces[-1]))
        pieces[-1] += after
    return divided + _divide(pieces.pop(), places_in_piece, width)


def _is_good_end(text: str, position: int) -> bool:
    """Return whether a line may end at a place and Markdown reads the next one as text."""
    before, after = text[position - 1], text[position]
    if before in _WIDE_SIGNS:
        if after in "*_~":  # which could not end emphasis at the start of a line
            return False
    elif before != " " or after == " ":
        return False
    rest = text[position:]
    if _STARTS.match(rest) or is_read_by_tools(rest):
        return False
    return protect_lines(rest) == rest


def _divide(piece: str, places: list[int], width: int) -> list[str]:
    """Return a piece as it is, or in parts if it is too long for a line."""
    if column_width(piece.rstrip()) <= width:
        return [piece]
    ends = [*places, len(piece)]
    return [piece[start:end] for start, end in pairwise([0, *ends])]


def _remove_backslashes(content: str) -> str:
    """Return the Markdown of words without the backslashes that change nothing."""
    plain = content
    for match in reversed(list(_BACKSLASH.finditer(content))):
        # Jupyter strikes words out between two tildes, markdown-it only between four.
        if match[1] == "~" and content.count("~") > 1:
            continue
        shorter = plain[: match.start()] + plain[match.start() + 1 :]
        if _starts_otherwise(shorter) and not _starts_otherwise(content):
            continue
        if _parser().renderInline(shorter) == _parser().renderInline(content):
            plain = shorter
    return plain


def _starts_otherwise(content: str) -> bool:
    """Return whether Markdown takes the start of a line for something else than text."""
    if protect_lines(content) != content:
        return True
    return any(_STARTS.match(line) for line in content.split("\n"))
