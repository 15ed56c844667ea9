"""Which answers, verdicts, and cells of the table of who should read on, have too many words.

CONTRIBUTING.md gives the limits; ``recorded-gallery check`` tells what exceeds them.
"""

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError

MOST_WORDS_OF_ANSWER = 120  # code aside
MOST_WORDS_OF_VERDICT = 60  # its paragraphs, without chart, facts and code
MOST_WORDS_OF_CELL = 12
_ANSWER = re.compile(r"(?m)^\.\. answer::\n(?P<text>(?: .*\n|\n)*)")
# Directives and lists, with what is indented below them
_NO_PARAGRAPHS = re.compile(r"(?m)^(?:\.\.|[-*+]) .*\n(?:(?: .*)?\n)*")
_TABLE = re.compile(r"(?ms)^\*\*Does this apply to you\?\*\*$(?P<text>.*?)(?=^\*\*|\Z)")
_CELL = re.compile(r"(?m)^ +(?:\* )? *- (?P<text>.+(?:\n {7}.+)*)")
# What no reader sees as words: code, directives and options
_NO_WORDS = re.compile(
    r"(?m)^( *)\.\. (?:code-block|code)::.*\n(?:\1 +.*\n|\n)*|^ *\.\. [\w-]+::.*\n|^ *:\w+:.*\n"
)
_ROLE_WITH_TARGET = re.compile(r":\w+:`(?P<text>[^`<]*?)\s*<[^`]*>`")
_ROLE_OR_CODE = re.compile(r":\w+:`[^`]*`|``[^`]*``|\{[^{}]*\}")


def find_long_parts(path: Path, first_line: int, text: str) -> Iterator[GalleryError]:
    """Yield the answer, its verdict and the cells of a text that have too many words."""

    def check(what: str, part: str, start: int, most: int) -> Iterator[GalleryError]:
        words = count_words(part)
        if words > most:
            told = f"{what} has {words} words, and the most are {most}"
            line = first_line + text.count("\n", 0, start)
            yield GalleryError(told, path=path, line=line, remedy="shorten it")

    answer = _ANSWER.search(text)
    if answer:
        yield from check("the answer", answer["text"], answer.start(), MOST_WORDS_OF_ANSWER)
        verdict = _NO_PARAGRAPHS.sub("", textwrap.dedent(answer["text"]))
        yield from check("the verdict", verdict, answer.start(), MOST_WORDS_OF_VERDICT)
    table = _TABLE.search(text)
    if table:
        for cell in _CELL.finditer(table["text"]):
            start = table.start("text") + cell.start("text")
            yield from check("this cell", cell["text"], start, MOST_WORDS_OF_CELL)


def count_words(text: str) -> int:
    """Return the number of words that a reader sees; a measurement or a piece of code is one."""
    words = _NO_WORDS.sub("", text)
    words = _ROLE_WITH_TARGET.sub(r"\g<text>", words)
    words = _ROLE_OR_CODE.sub("x", words)
    return len([word for word in words.split() if re.search(r"\w", word)])
