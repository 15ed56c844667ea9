"""Colours of Python: a few kinds of words have one, and nothing else is marked.

A page of code has thousands of marks: their short names make a page 1 % lighter.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer
from pygments.token import Comment, Error, Keyword, Name, Number, Operator, String, Text
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

_CLASS_OF_MARK = re.compile(r'<span class="(\w+)">')
# What _static/site.css has colours for, by what has them; the first that fits counts.
_SHOWN = {
    String.Interpol: Text,  # what stands in the braces of an f-string is code
    String.Doc: String.Doc,
    String: String,
    Comment: Comment,
    Number: Number,
    Keyword: Keyword,
    Operator.Word: Keyword,
    Name.Builtin.Pseudo: Text,  # `self` is a name as any other, and stands in every second line
    Name.Builtin: Name.Builtin,
    Name.Class: Name.Function,
    Name.Function: Name.Function,
    Name.Decorator: Name.Decorator,
    Name.Exception: Name.Builtin,
    Error: Error,
}


class FewColours(PythonLexer):
    """Tells only what has a colour: most of a page of code would be marks otherwise."""

    def __init__(self, **options: Any) -> None:
        super().__init__(stripnl=False, **options)  # as Sphinx has Python

    def get_tokens_unprocessed(self, *args: Any) -> Iterator[tuple[int, Any, str]]:
        """Yield the tokens of a text with their places."""
        for place, token, text in super().get_tokens_unprocessed(*args):
            yield place, _shown(token), text


class ShortMarks(HtmlFormatter[str]):
    """Writes ``<i class=k>`` for ``<span class="k">``; the text itself is escaped."""

    def wrap(self, source: Any) -> Iterator[tuple[int, str]]:
        """Yield the parts of a block of code."""
        for kind, text in super().wrap(source):
            text = _CLASS_OF_MARK.sub(r"<i class=\1>", text)
            yield kind, text.replace("<span", "<i").replace("</span>", "</i>")


def shorten_marks(app: Sphinx) -> None:
    """Let the pages of this build have short marks; other builds of the process keep their own."""
    if isinstance(app.builder, StandaloneHTMLBuilder):
        app.builder.highlighter.formatter = ShortMarks


@cache
def _shown(token: Any) -> Any:
    for kind, shown_kind in _SHOWN.items():
        if token in kind:
            return shown_kind
    return Text
