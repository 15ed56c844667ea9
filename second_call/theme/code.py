"""Colours of code: a few kinds of words have one, and nothing else is marked."""

from typing import Any

from pygments.formatters import HtmlFormatter
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder

# The classes that _static/site.css has colours for, by what they mark; the first that fits counts.
_CLASSES = {
    String.Interpol: "",  # what stands in the braces of an f-string is code
    String.Doc: "sd",
    String: "s",
    Comment: "c",
    Number: "m",
    Keyword: "k",
    Operator.Word: "k",
    Name.Builtin: "nb",
    Name.Class: "nf",
    Name.Function: "nf",
    Name.Decorator: "nd",
    Name.Exception: "nb",
    Name.Tag: "k",
    Generic.Prompt: "gp",
    Generic.Output: "go",
}


class FewColours(HtmlFormatter):
    """Marks only what has a colour: most of a page of code would be marks otherwise."""

    def _get_css_classes(self, ttype: Any) -> str:
        """Return the class of a kind of token; nothing if it looks like the rest."""
        return next((name for kind, name in _CLASSES.items() if ttype in kind), "")


def colour_few(app: Sphinx) -> None:
    """Let this build's pages mark few kinds of words, where conf.py asks for it."""
    if isinstance(app.builder, StandaloneHTMLBuilder) and app.config.second_call_few_colours:
        app.builder.highlighter.formatter = FewColours
