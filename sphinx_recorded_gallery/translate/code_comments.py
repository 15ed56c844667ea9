"""Comments in code as messages of their page's catalog; a translation never changes the code.

Neighbouring lines of comments are one message, like a paragraph of text; so is a comment behind
code, and a docstring of one paragraph.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from tokenize import COMMENT, TokenInfo

from docutils.utils import column_width

from ..recipes.comment_safety import find_instruction
from ..recipes.fingerprint import find_docstrings, find_tokens, strip_comments

LINE_LENGTH = 88  # as ruff is told for the recipes

# What tools read, not people. At the start of a comment it is neither translated nor put in.
_PRAGMA = re.compile(
    r"%|!|\+|-\*-|noqa\b|nosec\b|type:|fmt:|isort:|ruff:|mypy:|pyright:|pylint:|pragma\b|flake8:"
    r"|sphinx_gallery_|In ?\[[\d ]*\]|<(?:code|markdown)cell>",
    re.IGNORECASE,
)
# Some tools look for it anywhere in a comment, or behind a second marker.
_PRAGMA_INSIDE = re.compile(
    r"#\s*(?:%%|noqa|nosec|type:|fmt:|isort:|ruff:|mypy:|pyright:|pragma\b|flake8:|doctest:)"
    r"|\bpylint:|\bvim?:\s*set\b|-\*-",
    re.IGNORECASE,
)
# Line breaks of every kind, and characters that are not seen but change what is: directions of
# writing, characters without width, blanks that look like Hangul; halves that UTF-8 cannot write.
HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u2028\u2029\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ud800-\udfff\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
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
    trailing: bool = False  # it stands behind code
    docstring: bool = False


def find_comments(source: str, *, is_module: bool = False) -> list[Comment]:
    """Return the comments and docstrings of a block of code that people read, in order.

    A string on top of a cell is none of these; on top of a module it is.
    """
    lines = source.splitlines()
    docstrings = find_docstrings(source, is_module=is_module)
    found: list[Comment] = []
    for token in find_tokens(source):
        text = token.string.lstrip("#").strip()
        row, column = token.start[0] - 1, token.start[1]
        if token.start in docstrings:
            found += _read_docstring(token, lines)
        if token.type != COMMENT or not text or _PRAGMA.match(text):
            continue
        trailing = bool(lines[row][:column].strip())
        comment = Comment(text=text, first=row, last=row, column=column, trailing=trailing)
        above = found[-1] if found else comment
        follows = (above.last, above.column) == (row - 1, column) and not above.docstring
        if follows and not (above.trailing or trailing):
            found[-1] = replace(above, text=f"{above.text} {text}", last=row)
        else:
            found.append(comment)
    return found


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
            lines[comment.first] = f"{code}# {translation.strip()}"
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
    wrapped = wrap(translation, LINE_LENGTH - comment.column - 2)
    if any(_PRAGMA.match(line) for line in wrapped):  # made by wrapping
        wrapped = [translation]
    return [f"{indent}# {line}" for line in wrapped]


def find_problem(text: str, translation: str) -> str:
    """Tell why ``translation`` may not take the place of the comment ``text``, or nothing.

    What a tool would make of it where it stands is looked at there.
    """
    if HIDDEN.search(translation):
        return "a comment is one line; remove line breaks and invisible characters"
    if translation.lstrip().startswith("#"):
        return "leave out the #, it is put in front of the translation"
    if _PRAGMA.match(translation) or (
        _PRAGMA_INSIDE.search(translation) and not _PRAGMA_INSIDE.search(text)
    ):
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
