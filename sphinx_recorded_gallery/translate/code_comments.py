"""Comments in code as messages of their page's catalog; a translation never changes the code.

Neighbouring lines of comments are one message, like a paragraph of text. So is an item of a list, a
comment after code, and a paragraph of a docstring. Commented-out code, drawings, rules of dashes,
bare addresses and instructions to tools are not translated.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from tokenize import COMMENT, TokenError, TokenInfo

from ..page_nodes import read_changed_code, width_of_signs
from ..recipes.comment_safety import find_instruction, find_mark, is_read_by_tools
from ..recipes.fingerprint import find_docstrings, find_tokens, strip_comments
from ..wrap_text import split_at_breaks, wrap
from .catalogs import is_wordless
from .commented_code import is_code, is_drawing
from .hidden_characters import find_hidden

_QUOTES = '"""'  # of docstrings that are translated
LINE_LENGTH = 88  # the limit that ruff enforces in recipes

_ADDRESS = re.compile(r"<?(?:https?|ftp)://\S+>?[.,;]?")
_ITEM = re.compile(r"(?:[-*+•‣]|\(?(?:\d{1,2}|[a-zA-Z])[.)])\s+(?=\S)")


@dataclass(frozen=True, kw_only=True)
class Comment:
    """One paragraph of a comment: neighbouring lines with nothing else, or one after code."""

    text: str  # without markers, its lines joined by spaces
    first: int  # row in the block, counted from 0
    last: int
    column: int  # of the marker
    prefix: str = " "  # between the marker and the words: blanks, the sign of an item
    trailing: bool = False  # it follows code on its line
    docstring: bool = False
    opens: bool = False  # the docstring: its quotes come first
    closes: bool = False  # the docstring: its quotes come last, on the same line


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A comment on a line of its own."""

    row: int
    column: int
    indent: int  # blanks after the marker
    text: str


def find_comments(source: str, *, is_module: bool = False) -> list[Comment]:
    """Return the comments and docstrings that people read in a block of code, in order.

    A string at the top of a module is a docstring; at the top of a cell it is code.
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
    """Yield groups of lines that directly follow each other in one column."""
    block: list[_Line] = []
    for line in lines:
        if block and not _is_below(block[-1], line):
            yield block
            block = []
        block.append(line)
    if block:
        yield block


def _is_below(above: _Line, line: _Line) -> bool:
    """Return whether a line directly follows another one in the same column."""
    return line.row == above.row + 1 and line.column == above.column


def _read_block(block: list[_Line]) -> list[Comment]:
    """Return the paragraphs of lines that directly follow each other."""
    comments: list[Comment] = []
    is_open = False  # the line above belongs to a paragraph that may continue
    skipped = _find_code(block) | _find_drawings(block)
    for line in block:
        above = comments[-1] if is_open else None
        is_text = _is_for_people(line.text) or _goes_on(line, above)
        if line.row in skipped or not is_text:
            is_open = False
            continue
        sign = _find_item_sign(line, above)
        if above and not sign and _is_next_line(above, line):
            comments[-1] = replace(above, text=f"{above.text} {line.text}", last=line.row)
        else:
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
    """Return whether a line is indented like the next line of a paragraph or an item."""
    if above.prefix.isspace():
        return max(line.indent, 1) == len(above.prefix)  # a marker may touch its words
    return line.indent > len(above.prefix) - len(above.prefix.lstrip())


def _find_item_sign(line: _Line, above: Comment | None) -> str:
    """Return the dash or number that begins an item, with its blanks; empty if none does."""
    item = _ITEM.match(line.text)
    if not item or not _may_begin_item(line, above):
        return ""
    return item[0]


def _may_begin_item(line: _Line, above: Comment | None) -> bool:
    """Return whether an item may begin here: a dash within a sentence does not begin one."""
    if above is None or not above.prefix.isspace():
        return True
    return line.indent != len(above.prefix) or above.text.endswith((".", ":", ";", "!", "?"))


def _is_for_people(text: str) -> bool:
    """Return whether a comment has words for people."""
    is_empty = is_wordless(text) or bool(_ADDRESS.fullmatch(text))
    return not is_empty and not is_read_by_tools(text)


def _goes_on(line: _Line, above: Comment | None) -> bool:
    """Return whether a line without words, such as a number and a full stop, ends a sentence."""
    has_sign = re.search(r"\w", line.text) and not _ADDRESS.fullmatch(line.text)
    return bool(above and has_sign and not is_read_by_tools(line.text))


def _find_code(block: list[_Line]) -> set[int]:
    """Return the rows of commented-out code."""
    rows: set[int] = set()
    for start, line in enumerate(block):
        if line.row in rows:
            continue
        if is_code(line.text):
            rows.add(line.row)
        elif line.text.endswith(("(", "[", "{", ",", "\\")):
            # No single line of a wrapped call is code by itself.
            for end in range(start + 1, len(block)):
                piece = block[start : end + 1]
                if is_code("\n".join(line.text for line in piece)):
                    rows.update(line.row for line in piece)
                    break
    return rows


def _find_drawings(block: list[_Line]) -> set[int]:
    """Return the rows of drawings and tables: indented rows, or rows beside lines of signs."""
    rows: set[int] = set()
    for is_indented, group in groupby(block, lambda line: line.indent > block[0].indent):
        piece = [line for line in group if line.text]
        drawing_lines = [line for line in piece if is_drawing(line.text)]
        if not drawing_lines:
            continue
        if is_indented:
            rows.update(line.row for line in piece)
        elif any(is_wordless(line.text) for line in drawing_lines):
            rows.update(line.row for line in drawing_lines)
    return rows


def _read_docstring(token: TokenInfo, lines: list[str]) -> list[Comment]:
    """Return the paragraphs of a docstring on lines of its own.

    Indented paragraphs, such as lists, are not translated, nor is a docstring with examples.
    """
    (first, column), (last, end) = token.start, token.end
    code_before = lines[first - 1][:column].strip()
    code_after = lines[last - 1][end:].strip()
    if code_before or code_after:
        return []
    if not token.string.startswith('"""') or "\\" in token.string:
        return []
    if ">>>" in token.string:
        return []
    rows = token.string.removeprefix(_QUOTES).removesuffix(_QUOTES).split("\n")
    rows[0] = " " * column + rows[0]  # where the other rows begin
    closes_alone = len(rows) > 1 and not rows[-1].strip()
    places = list(_find_paragraphs(rows))
    paragraphs = []
    for start, end in places:
        is_indented = any(len(row) - len(row.lstrip()) != column for row in rows[start:end])
        if is_indented and len(places) > 1:
            continue
        paragraph = Comment(
            text=" ".join(" ".join(rows[start:end]).split()),
            first=first - 1 + start,
            last=first - 1 + end - 1,
            column=column,
            docstring=True,
            opens=start == 0,
            closes=end == len(rows) and not closes_alone,
        )
        paragraphs.append(paragraph)
    return paragraphs


def _find_paragraphs(rows: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the first row of each paragraph, and the row behind it."""
    start = None
    for place, row in enumerate([*rows, ""]):
        if row.strip() and start is None:
            start = place
        if not row.strip() and start is not None:
            yield start, place
            start = None


def replace_comments(
    source: str,
    translations: Mapping[str, str],
    *,
    is_module: bool = False,
    refused: dict[str, str] | None = None,
) -> str:
    """Return code with its comments translated; those without a usable translation stay.

    A translation that a tool would obey is left out. ``refused`` gets such comments, each with the
    reason.
    """
    usable: dict[Comment, str] = {}
    for comment in find_comments(source, is_module=is_module):
        translation = translations.get(comment.text) or comment.text
        is_changed = translation != comment.text
        if is_changed and not find_problem(comment.text, translation):
            usable[comment] = translation
    changed = _write_comments(source, usable)
    if not usable or not _find_harm(source, changed, is_module=is_module):
        return changed
    # Add the translations one by one, to leave out only those that do harm.
    harmless: dict[Comment, str] = {}
    for comment, translation in usable.items():
        candidate = harmless | {comment: translation}
        problem = _find_harm(source, _write_comments(source, candidate), is_module=is_module)
        if not problem:
            harmless = candidate
        elif refused is not None:
            refused[comment.text] = problem
    return _write_comments(source, harmless)


def find_diff_comments(diff: str) -> list[Comment]:
    """Return the comments that follow code in what a diff of Python leaves, in order."""
    comments = find_comments(read_changed_code(diff))
    return [comment for comment in comments if comment.trailing]


def replace_diff_comments(
    diff: str, translations: Mapping[str, str], *, refused: dict[str, str] | None = None
) -> str:
    """Return a diff of Python with the comments that follow code translated.

    Those on lines of their own stay, as their translation may have more lines. ``refused`` is that
    of ``replace_comments``.
    """
    of_comments = {}
    for comment in find_diff_comments(diff):
        of_comments[comment.text] = translations.get(comment.text, "")
    code = read_changed_code(diff)
    translated_lines = replace_comments(code, of_comments, refused=refused).splitlines()
    lines = diff.splitlines()
    if len(translated_lines) != len(lines):  # a comment on lines of its own has the same words
        return diff
    width = width_of_signs(diff)
    for row, translated in enumerate(translated_lines):
        if translated:
            signs = lines[row][:width]
            lines[row] = signs + translated
    return "\n".join(lines)


def _find_harm(source: str, changed: str, *, is_module: bool) -> str:
    """Return what is wrong with code after its comments were replaced; empty if it is the same.

    The code may be a piece that cannot be parsed, such as that of a diff, so it is compared as
    text. The whole script is compared once more, as a program: by ``check_program`` of
    ``pages/downloads.py``.
    """
    code_before = _without_texts(source, is_module=is_module)
    try:
        code_after = _without_texts(changed, is_module=is_module)
    except (SyntaxError, TokenError):  # as by quotes that end a docstring early
        return "other code"
    if code_before != code_after:
        return "other code"
    return find_instruction(source, changed)


def _without_texts(source: str, *, is_module: bool) -> str:
    """Return code without comments and docstrings."""
    return strip_comments(source, find_docstrings(source, is_module=is_module))


def _write_comments(source: str, translations: dict[Comment, str]) -> str:
    """Return code with translated comments, from the last, so that lines keep their numbers."""
    lines = source.splitlines()
    for comment in reversed(translations):
        translation = translations[comment]
        if comment.trailing:
            code = lines[comment.first][: comment.column]
            lines[comment.first] = f"{code}# {' '.join(translation.split())}"
        else:
            rows = slice(comment.first, comment.last + 1)
            lines[rows] = _lay_out(comment, translation, _find_width(lines[rows]))
    if source.endswith("\n"):
        lines.append("")
    return "\n".join(lines)


def _find_width(rows: Sequence[str]) -> int:
    """Return how wide the translation of a comment may become.

    An author has wrapped one of several lines, so that narrow screens show all of it. The
    translation of a single line may be longer.
    """
    if len(rows) == 1:
        return LINE_LENGTH
    return min(LINE_LENGTH, max(len(row) for row in rows))


def _lay_out(comment: Comment, translation: str, width: int) -> list[str]:
    """Return the lines of a comment that stands on lines of its own."""
    indent = " " * comment.column
    translation = " ".join(translation.split())
    pieces = split_at_breaks(translation)
    if comment.docstring:
        wrapped = wrap(pieces, LINE_LENGTH - comment.column - 2 * len(_QUOTES))
        text = "\n".join(wrapped).replace("\\", r"\\")
        if comment.opens:
            text = _QUOTES + text
        if comment.closes:
            text = re.sub('"$', r'\\"', text)  # a translation with three quotes is refused
            text += _QUOTES
        return [indent + line for line in text.split("\n")]
    wrapped = wrap(pieces, width - comment.column - 1 - len(comment.prefix))
    if any(find_mark(line) for line in wrapped):  # wrapping moved it to the start of a line
        wrapped = [translation]
    first_line, *further_lines = wrapped
    hanging_indent = " " * len(comment.prefix)
    lines = [f"{indent}#{comment.prefix}{first_line}"]
    lines += [f"{indent}#{hanging_indent}{line}" for line in further_lines]
    return lines


def find_problem(text: str, translation: str, script: str = "") -> str:
    """Return why ``translation`` may not replace the comment ``text``; empty if it may.

    Harm that depends on the code around the comment is found by ``replace_comments``.
    """
    if "\n" in translation or find_hidden(translation, script=script, source=text):
        return "a comment is one line; remove line breaks and invisible characters"
    words = " ".join(translation.split())  # as it will be written, with single blanks
    if words.startswith("#"):
        return "leave out the #; it is added before the translation"
    if is_read_by_tools(words) or (find_mark(words) and not find_mark(text)):
        return "a comment must not hold an instruction to a tool; write other words"
    return ""
