"""Comments in code as messages of their page's catalog; a translation never changes the code.

Neighbouring lines of comments are one message, like a paragraph of text; so is a comment behind
code.
"""

import re
import tokenize
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from docutils.utils import column_width

from .fingerprint import find_tokens, strip_comments

LINE_LENGTH = 88  # as ruff is told for the recipes

# What tools read, not people. At the start of a comment it is neither translated nor put in.
_PRAGMA = re.compile(
    r"%|!|\+|-\*-|noqa\b|nosec\b|type:|fmt:|isort:|ruff:|mypy:|pyright:|pylint:|pragma\b|flake8:"
    r"|sphinx_gallery_",
    re.IGNORECASE,
)
# Line breaks of every kind, and characters that are not seen but change what is: directions of
# writing, characters without width, blanks that look like Hangul.
HIDDEN = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u180e\u2028\u2029\u200b\u200e\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_NO_LINE_START = set("，。、；：？！）》」』】〉”’…·,.;:?!)]}%")
_NO_LINE_END = set("（《「『【〈“‘([{")


@dataclass(frozen=True, kw_only=True)
class Comment:
    """One paragraph of a comment: neighbouring lines that hold nothing else, or a trailing one."""

    text: str  # without markers, its lines joined by spaces
    first: int  # row in the block, counted from 0
    last: int
    column: int  # of the marker
    trailing: bool  # it stands behind code


def find_comments(source: str) -> list[Comment]:
    """Return the comments of a block of code that people read, in order."""
    lines = source.splitlines()
    found: list[Comment] = []
    paragraph: list[tuple[int, int, str]] = []

    def finish() -> None:
        if paragraph:
            text = " ".join(text for _row, _column, text in paragraph)
            first, column, _text = paragraph[0]
            found.append(
                Comment(
                    text=text, first=first, last=paragraph[-1][0], column=column, trailing=False
                )
            )
            paragraph.clear()

    for token in find_tokens(source):
        if token.type != tokenize.COMMENT:
            continue
        row, column, marked = token.start[0] - 1, token.start[1], token.string
        text = marked.lstrip("#").strip()
        trailing = bool(lines[row][:column].strip())
        follows = paragraph and paragraph[-1][:2] == (row - 1, column)
        if trailing or not follows or not text or _PRAGMA.match(text):
            finish()
        if not text or _PRAGMA.match(text) or marked.startswith("#!"):
            continue
        if trailing:
            found.append(Comment(text=text, first=row, last=row, column=column, trailing=True))
        else:
            paragraph.append((row, column, text))
    finish()
    return found


def replace_comments(source: str, translations: Mapping[str, str]) -> str:
    """Return the code with comments replaced; those without a usable translation stay."""
    lines = source.splitlines()
    for comment in reversed(find_comments(source)):
        translation = translations.get(comment.text, "")
        if (
            not translation
            or translation == comment.text
            or find_problem(comment.text, translation)
        ):
            continue
        if comment.trailing:
            code = lines[comment.first][: comment.column]
            lines[comment.first] = f"{code}# {translation.strip()}"
        else:
            marker = " " * comment.column + "# "
            wrapped = wrap(translation, LINE_LENGTH - len(marker))
            if any(_PRAGMA.match(line) for line in wrapped):  # made by wrapping
                wrapped = [" ".join(translation.split())]
            lines[comment.first : comment.last + 1] = [marker + line for line in wrapped]
    changed = "\n".join(lines) + ("\n" if source.endswith("\n") else "")
    # What find_problem lets through is a comment still; this is the promise itself.
    return changed if strip_comments(changed) == strip_comments(source) else source


def find_problem(text: str, translation: str) -> str | None:
    """Tell why ``translation`` may not take the place of the comment ``text``, or None."""
    if HIDDEN.search(translation):
        return "a comment is one line, without control or invisible characters"
    for quotes in ('"""', "'" * 3):
        if quotes in translation and quotes not in text:
            return f"a comment must not bring in {quotes}"
    if _PRAGMA.match(translation.lstrip("# ")) or "# %%" in translation:
        return "a comment must not start like an instruction to a tool"
    if translation.lstrip().startswith("#"):
        return "leave out the #, it is put in front of the translation"
    try:
        translation.encode()
    except UnicodeEncodeError:
        return "a character that cannot be written in UTF-8"
    return None


def wrap(text: str, width: int) -> list[str]:
    """Break a text into lines of at most ``width`` columns; wide characters take two.

    Chinese and Japanese break between any two characters, except before closing and after opening
    punctuation; everything else breaks at spaces.
    """
    lines = [""]
    for piece in _unbreakable(text):
        if lines[-1] and column_width(lines[-1] + piece.rstrip()) > width:
            lines[-1] = lines[-1].rstrip()
            lines.append("")
        lines[-1] += piece if lines[-1] else piece.lstrip()
    return [line.rstrip() for line in lines]


def _unbreakable(text: str) -> Iterator[str]:
    """Cut a text where a line may end; each piece keeps the spaces behind it."""
    for word in re.findall(r"\S+\s*", text):
        piece = ""
        for character in word:
            before = piece[-1:]
            either_ideograph = _is_ideograph(character) or _is_ideograph(before)
            held = character in _NO_LINE_START or before in _NO_LINE_END or character.isspace()
            if before and either_ideograph and not held:
                yield piece
                piece = ""
            piece += character
        yield " ".join(piece.split()) + (" " if piece[-1].isspace() else "")


def _is_ideograph(character: str) -> bool:
    """Tell a character of a script that puts no spaces between words (Hangul does)."""
    if not character or unicodedata.east_asian_width(character) not in "WF":
        return False
    return not unicodedata.name(character, "").startswith("HANGUL")
