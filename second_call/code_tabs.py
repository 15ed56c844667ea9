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
    Page,
    Priority,
    RecipePage,
    add_recipe_transform,
    write_block,
)

from .labels import _


# What they derive from is how formats other than HTML write them.
class code_cases(nodes.container):  # noqa: N801 (docutils names nodes so)
    """Cases of which a reader picks one."""


class code_case(nodes.container):  # noqa: N801
    """The name of a case, and its code."""


class case_name(nodes.paragraph):  # noqa: N801
    """What was the caption."""


def make_cases(_env: BuildEnvironment, document: nodes.document, _page: RecipePage) -> None:
    """Gather blocks with captions that follow each other; their names are translated there."""
    blocks_with_caption = [node for node in document.findall(nodes.container) if has_caption(node)]
    parents = dict.fromkeys(block.parent for block in blocks_with_caption)
    for parent in parents:
        for blocks in _find_runs(parent):
            start = parent.index(blocks[0])
            parent[start : start + len(blocks)] = [_gather(blocks)]


def _find_runs(parent: nodes.Element) -> list[list[nodes.Node]]:
    """Return the blocks with captions that follow each other, where there are several."""
    runs = []
    for is_captioned, group in groupby(parent.children, has_caption):
        run = list(group)
        if is_captioned and len(run) > 1:
            runs.append(run)
    return runs


def has_caption(node: nodes.Node) -> bool:
    """Tell whether a node is a block of code with its caption."""
    return isinstance(node, nodes.container) and bool(node.get("literal_block"))


def _gather(blocks: list[Any]) -> code_cases:
    cases = code_cases()
    for block in blocks:
        caption, code = block.children
        name = case_name(caption.rawsource, "", *caption.children)
        name.source, name.line = caption.source, caption.line
        cases += code_case("", name, code, ids=block["ids"])
    return cases


def add_cases(app: Sphinx) -> None:
    """Let pages show cases, and notebooks their names."""
    add_recipe_transform(app, make_cases, Priority.ADD_TO_PAGE)
    app.add_node(code_cases, html=(_begin_cases, _end_cases))
    app.add_node(code_case, html=(_begin_case, _end_case))
    app.add_node(case_name, html=(_begin_name, _end_name))


def _begin_cases(self: HTML5Translator, node: code_cases) -> None:
    self.body.append(self.starttag(node, "fieldset", CLASS="code-cases"))
    legend = self.encode(node.get("legend", _("Your case")))
    self.body.append(f'<legend class="visually-hidden">{legend}</legend>\n')


def _end_cases(self: HTML5Translator, _node: code_cases) -> None:
    self.body.append("</fieldset>\n")


def _begin_case(_self: HTML5Translator, _node: code_case) -> None:
    """Write nothing: the name comes first, and then opens the box of the code."""


def _end_case(self: HTML5Translator, _node: code_case) -> None:
    self.body.append("</div>\n")


def _begin_name(self: HTML5Translator, node: case_name) -> None:
    cases = node.parent.parent
    group = list(self.document.findall(code_cases)).index(cases) + 1
    number = cases.index(node.parent) + 1
    name = f"case-{group}"
    button = f'<input type="radio" name="{name}" id="{name}-{number}"'
    if number == 1:
        button += " checked"
    self.body.append(f"{button}>")
    self.body.append(self.starttag(node, "label", "", **{"for": f"{name}-{number}"}))


def _end_name(self: HTML5Translator, node: case_name) -> None:
    self.body.append("</label>\n" + self.starttag(node.parent, "div", CLASS="code-case"))


@write_block.register
def _write_name(node: case_name, page: Page) -> str:
    """Return the name of a case in bold, for notebooks and scripts."""
    words = [child.deepcopy() for child in node.children]
    return write_block(nodes.paragraph("", "", nodes.strong("", "", *words)), page)
