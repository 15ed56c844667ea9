"""Sphinx extension of the sites that ``replay.py`` builds: stands in for what they do not know."""

import re
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.parsers.rst.states import Inliner
from sphinx.application import Sphinx

Inline = tuple[list[nodes.Node], list[nodes.system_message]]


def setup(app: Sphinx) -> None:
    """Leave out what this site alone draws; where the engine is not, show texts as they are."""
    for directive in ("names", "chart"):
        app.add_directive(directive, Nothing)
    if "sphinx_recorded_gallery" not in app.extensions:
        app.add_role("measured", make_figure)
        app.add_role("claim", make_claim)


class Nothing(Directive):
    """Shows nothing."""

    has_content = True
    optional_arguments = 1
    final_argument_whitespace = True  # the argument is whatever stands there, options, too

    def run(self) -> list[nodes.Node]:
        """Return no node."""
        return []


def make_figure(_name: str, raw: str, text: str, *_place: Any, **_options: Any) -> Inline:
    """Return a figure: the text of its role."""
    return [nodes.inline(raw, text, classes=["measured"])], []


def make_claim(
    name: str, raw: str, text: str, line: int, inliner: Inliner, **_options: Any
) -> Inline:
    """Return a sentence without what it claims; its figures stand in braces."""
    node = nodes.inline(raw, classes=["claim"])
    for piece in re.split(r"({.*?})", text.partition("<")[0].rstrip()):
        node += make_figure(name, raw, piece)[0] if piece[:1] == "{" else nodes.Text(piece)
    return [node], []
