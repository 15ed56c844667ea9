"""The directive ``folded``: text below a title that opens it.

``.. folded:: How to read it`` keeps an explanation where readers need it, and out of their way.
Pages that cannot fold show the title as a paragraph, and the text below it.
"""

from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator


class folded_text(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """A title and what it opens."""


class fold_title(nodes.paragraph):  # noqa: N801
    """The title, a message of the page."""


class Folded(SphinxDirective):
    """Its argument is the title, its content the text."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the folded text."""
        self.assert_has_content()
        [words] = self.arguments
        children, problems = self.parse_inline(words)
        title = fold_title(words, "", *children)
        self.set_source_info(title)
        text = self.parse_content_to_nodes()
        return [folded_text("", title, *text), *problems]


def visit_folded(self: HTML5Translator, _node: folded_text) -> None:
    """Begin the fold."""
    self.body.append('<details class="folded-text">')


def depart_folded(self: HTML5Translator, _node: folded_text) -> None:
    """End it."""
    self.body.append("</details>\n")


def visit_title(self: HTML5Translator, _node: fold_title) -> None:
    """Begin the title."""
    self.body.append("<summary>")


def depart_title(self: HTML5Translator, _node: fold_title) -> None:
    """End it."""
    self.body.append("</summary>\n")
