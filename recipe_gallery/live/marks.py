"""Marks on the pages that `live` shows: of which message each sentence is.

A mark is a class of an element, made from the source text, so that it stays right when lines of a
catalog move. Pages that are published have none.
"""

import hashlib
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import extract_messages

from .. import Priority
from ..languages import is_translated
from ..recipes.cell_marks import code_of_cells
from ..translate.comments import find_comments
from ..translate.transforms import code_comment

PREFIX = "live-message-"


def mark_of(text: str) -> str:
    """Return the class of elements that show the message ``text``."""
    return PREFIX + hashlib.sha256(text.encode()).hexdigest()[:10]


class MarkMessages(SphinxTransform):
    """Mark what has a message, before Sphinx translates it; a block of code for each comment."""

    default_priority = Priority.MARK_MESSAGES

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place."""
        if not is_translated(self.config):
            return
        for node, text in extract_messages(self.document):
            shown = _block_of(node) if type(node) is code_comment else node
            if isinstance(shown, nodes.TextElement | nodes.image) and text:
                _mark(shown, text)
        for block in code_of_cells(self.document):
            if "recipe_module" in block:  # its comments are messages of another catalog
                for comment in find_comments(block.astext(), is_module=True):
                    _mark(block, comment.text)


def _block_of(helper: nodes.Element) -> nodes.Element | None:
    """Return the block of code that a comment is from; its helpers stand before it."""
    rest = helper.parent.children[helper.parent.index(helper) :]
    blocks = (each for each in rest if isinstance(each, nodes.literal_block))
    return next((each for each in blocks if not isinstance(each, code_comment)), None)


def _mark(node: nodes.Element, text: str) -> None:
    mark = mark_of(text)
    if mark not in node["classes"]:
        node["classes"].append(mark)
