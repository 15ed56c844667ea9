"""Let Sphinx translate the comments of a page's code.

The block of code stays as it is while Sphinx translates the page. Beside it stands a helper node
for each paragraph of comments, which Sphinx extracts and translates like any other text. Once that
is done, the translations are written into the block and the helpers are removed.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

from .. import Priority
from ..recipes.cells import code_of_cells, set_code
from ..recipes.comments import find_comments, replace_comments
from ..recipes.gallery import find_source


class code_comment(addnodes.translatable, nodes.literal_block):  # noqa: N801 (docutils names nodes so)
    """A paragraph of a comment beside its block.

    A literal block, so that Sphinx does not look for markup in it.
    """

    def preserve_original_messages(self) -> None:
        """Do nothing: ``original`` is set from the start."""

    def apply_translated_message(self, original_message: str, translated_message: str) -> None:
        """Keep the translation until it is written into the block."""
        self["translation"] = translated_message

    def extract_original_messages(self) -> Sequence[str]:
        """Return the paragraph."""
        return [self["original"]]


class AddComments(SphinxTransform):
    """Put helper nodes for comments before each block of code of a recipe's page."""

    default_priority = Priority.ADD_COMMENTS

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place if it is a recipe's."""
        source = find_source(self.config, Path(self.env.srcdir), self.env.docname)
        if source is None:
            return
        for block in code_of_cells(self.document):
            for comment in find_comments(block.astext()):
                helper = code_comment("", "", original=comment.text)
                helper.source = str(source)
                helper.line = block["recipe_line"] + comment.first
                block.parent.insert(block.parent.index(block), helper)


class WriteComments(SphinxTransform):
    """Write translated comments into the blocks and remove the helper nodes."""

    default_priority = Priority.WRITE_COMMENTS

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place."""
        translations: dict[str, str] = {}
        for helper in list(self.document.findall(code_comment)):
            translations[helper["original"]] = helper.get("translation", "")
            helper.parent.remove(helper)
        if not any(translations.values()):
            return
        for block in code_of_cells(self.document):
            set_code(block, replace_comments(block.astext(), translations))
