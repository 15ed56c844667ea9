"""What the templates of catalogs tell translators: where each message is, and what kind of text."""

from collections import defaultdict
from pathlib import Path
from typing import Any

import polib
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util.i18n import docname_to_domain
from sphinx.util.nodes import extract_messages

from .. import Priority
from ..recipes.gallery import find_source
from .checks.messages import COMMENT, FORMULA
from .comment_nodes import code_comment

_KINDS: dict[type[nodes.Element], str] = {
    code_comment: f"{COMMENT}: one line of plain text, no markup",
    nodes.math_block: f"{FORMULA}: translate only what stands in \\text{{...}}",
    nodes.image: "Description of a picture, for those who cannot see it",
    nodes.title: "Title",
    nodes.meta: "Description of the page, for search engines",
}


class LocateInRecipes(SphinxTransform):
    """For catalogs: let messages name the recipe and its line, not the page made from it."""

    default_priority = Priority.LOCATE_MESSAGES

    def apply(self, **kwargs: Any) -> None:
        """Change the places of all nodes of a recipe's page."""
        source = find_source(self.config, Path(self.env.srcdir), self.env.docname)
        if source is None:
            return
        page = self.document["source"]
        start, first = 0, 1  # where the block at hand begins, on the page and in the recipe
        for node in self.document.findall(nodes.Element):
            if isinstance(node, nodes.title) and start == 0:
                start, first = node.line or 0, 2  # the title stands in the docstring's second line
            if "recipe_block" in node:
                start, first = (node.line or 0) + 2, node["recipe_line"]
            if node.source == page:
                node.source = str(source)
                node.line = first + max((node.line or start) - start, 0)


def note_kinds(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Remember what kind of text each message of a page is, while templates are made."""
    if app.builder.name != "gettext":
        return
    kinds = app.env.metadata[docname].setdefault("kinds", defaultdict(set))
    for node, text in extract_messages(doctree):
        kinds[text].add(next((name for kind, name in _KINDS.items() if type(node) is kind), ""))


def write_kinds(app: Sphinx, exception: Exception | None) -> None:
    """Write the kinds into the finished templates."""
    if app.builder.name != "gettext" or exception:
        return
    for docname in app.env.found_docs:
        kinds = app.env.metadata[docname].get("kinds")
        domain = docname_to_domain(docname, app.config.gettext_compact)
        path = Path(app.outdir, f"{domain}.pot")
        if not kinds or not path.exists():
            continue
        template = polib.pofile(str(path), wrapwidth=0)
        for entry in template:
            # A text that is of two kinds is told nothing: it has to suit both.
            entry.comment = next(iter(kinds[entry.msgid])) if len(kinds[entry.msgid]) == 1 else ""
        template.save(str(path))
