"""Code for several cases: blocks with a caption, one after the other, as tabs without a script.

A caption says in what case its code is right::

    .. code-block:: python
       :caption: The GPU waits: ``reduce-overhead``

Paper, notebooks and other formats have one block below the other, each with its name.
"""

from itertools import groupby
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import (
    MarkdownPage,
    Priority,
    RecipePage,
    add_recipe_transform,
    write_block,
)

from .labels import _


# Their base classes decide how formats other than HTML write them.
class code_tabs(nodes.container):  # noqa: N801 (docutils names nodes so)
    """Code for several cases, of which a reader picks one: a name and a tab for each, in turn."""


class tab_name(nodes.paragraph):  # noqa: N801
    """The name of a case, which was the caption."""


class code_tab(nodes.container):  # noqa: N801
    """The code of a case, in the box that opens below the names."""


def gather_code_tabs(_env: BuildEnvironment, document: nodes.document, _page: RecipePage) -> None:
    """Gather blocks with captions that follow each other.

    Their captions become paragraphs within the tabs, which Sphinx translates later.
    """
    blocks_with_caption = [node for node in document.findall(nodes.container) if has_caption(node)]
    # Several blocks may have one parent: each once, in the order of the page
    parents = dict.fromkeys(block.parent for block in blocks_with_caption)
    for parent in parents:
        for blocks in _find_neighbours(parent):
            start = parent.index(blocks[0])
            parent[start : start + len(blocks)] = [_make_tabs(blocks)]


def _find_neighbours(parent: nodes.Element) -> list[list[nodes.Node]]:
    """Return the blocks with captions that follow each other, where there are several."""
    runs_of_blocks = []
    for is_captioned, group in groupby(parent.children, has_caption):
        blocks = list(group)
        if is_captioned and len(blocks) > 1:
            runs_of_blocks.append(blocks)
    return runs_of_blocks


def has_caption(node: nodes.Node) -> bool:
    """Tell whether a node is a block of code with its caption."""
    return isinstance(node, nodes.container) and bool(node.get("literal_block"))


def _make_tabs(blocks: list[Any]) -> code_tabs:
    tabs = code_tabs()
    for block in blocks:
        caption, code = block.children
        name = tab_name(caption.rawsource, "", *caption.children)
        name.source, name.line = caption.source, caption.line
        tabs += [name, code_tab("", code, ids=block["ids"])]
    return tabs


def add_code_tabs(app: Sphinx) -> None:
    """Let pages show tabs, and notebooks their names."""
    add_recipe_transform(app, gather_code_tabs, Priority.ADD_TO_PAGE)
    app.add_node(code_tabs, html=(_begin_tabs, _end_tabs))
    app.add_node(tab_name, html=(_begin_name, _end_name))
    app.add_node(code_tab, html=(_begin_tab, _end_tab))


def _begin_tabs(self: HTML5Translator, node: code_tabs) -> None:
    self.body.append(self.starttag(node, "fieldset", CLASS="code-cases"))
    legend = self.encode(node.get("legend", _("Your case")))
    self.body.append(f'<legend class="visually-hidden">{legend}</legend>\n')


def _end_tabs(self: HTML5Translator, _node: code_tabs) -> None:
    self.body.append("</fieldset>\n")


def _begin_name(self: HTML5Translator, node: tab_name) -> None:
    """Write a button for a tab, which style sheets alone open, and begin its label."""
    tabs = node.parent
    group = list(self.document.findall(code_tabs)).index(tabs) + 1
    number = [child for child in tabs if isinstance(child, tab_name)].index(node) + 1
    name = f"case-{group}"
    button = f'<input type="radio" name="{name}" id="{name}-{number}"'
    if number == 1:
        button += " checked"
    self.body.append(f"{button}>")
    self.body.append(self.starttag(node, "label", "", **{"for": f"{name}-{number}"}))


def _end_name(self: HTML5Translator, _node: tab_name) -> None:
    self.body.append("</label>\n")


# Label and box stand side by side, so that CSS can show the box of a checked one.
def _begin_tab(self: HTML5Translator, node: code_tab) -> None:
    self.body.append(self.starttag(node, "div", CLASS="code-case"))


def _end_tab(self: HTML5Translator, _node: code_tab) -> None:
    self.body.append("</div>\n")


@write_block.register
def _write_name(node: tab_name, page: MarkdownPage) -> str:
    """Return the name of a case in bold, for notebooks and scripts."""
    words = [child.deepcopy() for child in node.children]
    return write_block(nodes.paragraph("", "", nodes.strong("", "", *words)), page)
