"""Comments in code as messages of their page's catalog; a translation never changes the code.

Neighbouring lines of comments are one message, like a paragraph of text; so is an item of a list, a
comment behind code, and a docstring of one paragraph. Code that is switched off, a drawing, a rule
of dashes, a bare address and what tools read are no messages and stay as they are.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from tokenize import COMMENT, TokenInfo

from docutils.utils import column_width

from ..recipes.comment_safety import find_instruction, find_mark, is_read_by_tools
from ..recipes.fingerprint import find_docstrings, find_tokens, strip_comments
from .catalogs import is_wordless
from .commented_code import is_code, is_drawing
from .hidden_characters import find_hidden

LINE_LENGTH = 88  # as ruff is told for the recipes

_ADDRESS = re.compile(r"<?(?:https?|ftp)://\S+>?[.,;]?")
_ITEM = re.compile(r"(?:[-*+•‣]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)")
# Where a line may end: behind a space, and beside a character of a script that puts no spaces
# between words (Hangul does), unless punctuation holds two characters together.
_IDEOGRAPH = (
    "\u2e80-\u303f\u3041-\u312f\u31a0-\u4dbf\u4e00-\ua4cf\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60"
)
_NO_LINE_START = re.escape("，。、；：？！）》」』】〉”’…·,.;:?!)]}%")
_NO_LINE_END = re.escape("（《「『【〈“‘([{")
MAY_BREAK = re.compile(
    rf"(?<= )|(?<![\s{_NO_LINE_END}])(?![\s{_NO_LINE_START}])"
    rf"(?:(?<=[{_IDEOGRAPH}])|(?=[{_IDEOGRAPH}]))"
)


@dataclass(frozen=True, kw_only=True)
class Comment:
    """One paragraph of a comment: neighbouring lines that hold nothing else, or a trailing one."""

    text: str  # without markers, its lines joined by spaces
    first: int  # row in the block, counted from 0
    last: int
    column: int  # of the marker
    prefix: str = " "  # what stands between the marker and the words: blanks, the sign of an item
    trailing: bool = False  # it stands behind code
    docstring: bool = False


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A comment that has a line for itself."""

    row: int
    column: int
    indent: int  # blanks behind the marker
    text: str


def find_comments(source: str, *, is_module: bool = False) -> list[Comment]:
    """Return the comments and docstrings of a block of code that people read, in order.

    A string on top of a cell is none of these; on top of a module it is.
    """
    lines = source.splitlines()
    docstrings = find_docstrings(source, is_module=is_module)
    comments: list[Comment] = []
    own_lines: list[_Line] = []
    for token in find_tokens(source):
        row, column = token.start[0] - 1, token.start[1]
        if token.start in docstrings:
            comments += _read_docstring(token, lines)
        if token.type != COMMENT:
            continue
        words = token.string.lstrip("#")
        text = words.strip()
        if not lines[row][:column].strip():
            indent = len(words) - len(words.lstrip())
            own_lines.append(_Line(row=row, column=column, indent=indent, text=text))
        elif _is_for_people(text) and not is_code(text):
            comments.append(Comment(text=text, first=row, last=row, column=column, trailing=True))
    for block in _find_blocks(own_lines):
        comments += _read_block(block)
    return sorted(comments, key=lambda comment: comment.first)


def _find_blocks(lines: list[_Line]) -> Iterator[list[_Line]]:
    """Yield lines that stand below each other."""

    def place(numbered: tuple[int, _Line]) -> tuple[int, int]:
        number, line = numbered
        return line.row - number, line.column

    for _place, block in groupby(enumerate(lines), place):
        yield [line for _number, line in block]


def _read_block(block: list[_Line]) -> list[Comment]:
    """Return the paragraphs of lines that stand below each other."""
    comments: list[Comment] = []
    is_open = False  # the line above is part of a paragraph, which may go on
    skipped = _find_code(block) | _find_drawings(block)
    for line in block:
        above = comments[-1] if is_open else None
        if line.row in skipped or not (_is_for_people(line.text) or _goes_on(line, above)):
            is_open = False
            continue
        item = _ITEM.match(line.text) if _may_begin_item(line, above) else None
        if above and not item and _is_next_line(above, line):
            comments[-1] = replace(above, text=f"{above.text} {line.text}", last=line.row)
        else:
            sign = item[0] if item else ""
            comments.append(
                Comment(
                    text=line.text[len(sign) :],
                    first=line.row,
                    last=line.row,
                    column=line.column,
                    prefix=" " * max(line.indent, 1) + sign,
                )
            )
        is_open = True
    return comments


def _is_next_line(above: Comment, line: _Line) -> bool:
    """Tell whether a line is indented as the next one of a paragraph or of an item."""
    if above.prefix.isspace():
        return max(line.indent, 1) == len(above.prefix)  # a marker may touch its words
    return line.indent > len(above.prefix) - len(above.prefix.lstrip())


def _may_begin_item(line: _Line, above: Comment | None) -> bool:
    """Tell whether a dash or a number begins an item here: not in the midst of a sentence."""
    if above is None or not above.prefix.isspace():
        return True
    return line.indent != len(above.prefix) or above.text.endswith((".", ":", ";", "!", "?"))


def _is_for_people(text: str) -> bool:
    """Tell whether a comment has words that a person reads."""
    is_empty = is_wordless(text) or bool(_ADDRESS.fullmatch(text))
    return not is_empty and not is_read_by_tools(text)


def _goes_on(line: _Line, above: Comment | None) -> bool:
    """Tell whether a line without words, such as a number and a full stop, ends a sentence."""
    has_sign = re.search(r"\w", line.text) and not _ADDRESS.fullmatch(line.text)
    return bool(above and has_sign and not is_read_by_tools(line.text))


def _find_code(block: list[_Line]) -> set[int]:
    """Return the rows that hold code that is switched off."""
    rows: set[int] = set()
    for start, line in enumerate(block):
        if line.row in rows:
            continue
        if is_code(line.text):
            rows.add(line.row)
        elif line.text.endswith(("(", "[", "{", ",", "\\")):
            # of a call that is wrapped, no line is code alone
            for end in range(start + 1, len(block)):
                piece = block[start : end + 1]
                if is_code("\n".join(line.text for line in piece)):
                    rows.update(line.row for line in piece)
                    break
    return rows


def _find_drawings(block: list[_Line]) -> set[int]:
    """Return the rows of drawings and tables: they are indented, or stand beside lines of signs."""
    rows: set[int] = set()
    for _indent, group in groupby(block, lambda line: line.indent > block[0].indent):
        piece = [line for line in group if line.text]
        signs = [line for line in piece if is_drawing(line.text)]
        is_apart = piece[0].indent > block[0].indent if piece else False
        has_lines_of_signs = any(is_wordless(line.text) for line in signs)
        if signs and (is_apart or has_lines_of_signs):
            chosen = piece if is_apart else signs
            rows.update(line.row for line in chosen)
    return rows


def _read_docstring(token: TokenInfo, lines: list[str]) -> list[Comment]:
    """Return a docstring of one paragraph that has lines for itself; others stay as they are."""
    (first, column), (last, end) = token.start, token.end
    alone = not (lines[first - 1][:column].strip() or lines[last - 1][end:].strip())
    if not alone or not token.string.startswith('"""') or "\\" in token.string:
        return []
    value = ast.literal_eval(token.string)
    text = " ".join(value.split())
    if not text or ">>>" in text or re.search(r"\n[ \t]*\n", value.strip()):
        return []
    return [Comment(text=text, first=first - 1, last=last - 1, column=column, docstring=True)]


def replace_comments(
    source: str,
    translations: Mapping[str, str],
    *,
    is_module: bool = False,
    refused: dict[str, str] | None = None,
) -> str:
    """Return the code with comments replaced; those without a usable translation stay.

    Those that a tool would obey in this place are put into ``refused``, with what it would do.
    """
    usable = {
        comment: translation
        for comment in find_comments(source, is_module=is_module)
        if (translation := translations.get(comment.text) or comment.text) != comment.text
        and not find_problem(comment.text, translation)
    }
    changed = _write_comments(source, usable)
    if not usable or not _find_harm(source, changed, is_module=is_module):
        return changed
    fit: dict[Comment, str] = {}
    for comment, translation in usable.items():  # which of them is it?
        one_more = fit | {comment: translation}
        problem = _find_harm(source, _write_comments(source, one_more), is_module=is_module)
        if not problem:
            fit = one_more
        elif refused is not None:
            refused[comment.text] = problem
    return _write_comments(source, fit)


def _find_harm(source: str, changed: str, *, is_module: bool) -> str:
    """Return what is wrong with code whose comments were replaced: the promise itself."""
    before, after = (
        strip_comments(code, find_docstrings(code, is_module=is_module))
        for code in (source, changed)
    )
    return find_instruction(source, changed) if before == after else "other code"


def _write_comments(source: str, translations: dict[Comment, str]) -> str:
    lines = source.splitlines()
    for comment in reversed(translations):
        translation = translations[comment]
        if comment.trailing:
            code = lines[comment.first][: comment.column]
            lines[comment.first] = f"{code}# {' '.join(translation.split())}"
        else:
            lines[comment.first : comment.last + 1] = _lay_out(comment, translation)
    return "\n".join(lines) + ("\n" if source.endswith("\n") else "")


def _lay_out(comment: Comment, translation: str) -> list[str]:
    """Return the lines of a comment that has lines for itself."""
    indent, translation = " " * comment.column, " ".join(translation.split())
    if comment.docstring:
        wrapped = wrap(translation, LINE_LENGTH - comment.column - 6)
        text = re.sub('"$', r'\\"', "\n".join(wrapped).replace("\\", r"\\"))  # three are refused
        return [indent + line for line in f'"""{text}"""'.split("\n")]
    wrapped = wrap(translation, LINE_LENGTH - comment.column - 1 - len(comment.prefix))
    if any(find_mark(line) for line in wrapped):  # made by wrapping
        wrapped = [translation]
    prefixes = [comment.prefix, *[" " * len(comment.prefix)] * (len(wrapped) - 1)]
    return [f"{indent}#{prefix}{line}" for prefix, line in zip(prefixes, wrapped, strict=True)]


def find_problem(text: str, translation: str, script: str = "") -> str:
    """Tell why ``translation`` may not take the place of the comment ``text``, or nothing.

    What a tool would make of it where it stands is looked at there.
    """
    if "\n" in translation or find_hidden(translation, script=script, source=text):
        return "a comment is one line; remove line breaks and invisible characters"
    words = " ".join(translation.split())  # as it is written: blanks of all kinds are one
    if words.startswith("#"):
        return "leave out the #, it is put in front of the translation"
    if is_read_by_tools(words) or (find_mark(words) and not find_mark(text)):
        return "a comment must not hold an instruction to a tool; write other words"
    return ""


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most ``width`` columns; wide characters take two.

    Chinese and Japanese break between any two characters, except before closing and after opening
    punctuation; everything else breaks at spaces. What is longer than a line has its own.
    """
    lines = [""]
    for piece in MAY_BREAK.split(text):
        if lines[-1] and column_width((lines[-1] + piece).rstrip()) > width:
            lines.append("")
        lines[-1] += piece
    return [line.rstrip() for line in lines]
