"""Parts of pages as nodes: HTML, tables, links to other pages, and messages of other pages."""

import re
from collections.abc import Sequence
from typing import Any

from docutils import nodes
from jinja2 import Environment, PackageLoader
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import current_language, message_nodes

_HYPHENATED = re.compile(r"([A-Za-z]+(?:-[A-Za-z]+)+)")
_TEMPLATES = Environment(loader=PackageLoader(__package__), autoescape=True)
_TEMPLATES.globals["_"] = get_translation("second_call")


class html_element(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """An element for which docutils has no node: ``tag``, ``classes`` and ``attributes``."""


def visit_element(self: HTML5Translator, node: html_element) -> None:
    """Write its first tag."""
    self.body.append(self.starttag(node, node["tag"], **node.get("attributes", {})))


def depart_element(self: HTML5Translator, node: html_element) -> None:
    """Write its last tag."""
    self.body.append(f"</{node['tag']}>\n")


def render_html(template: str, **context: Any) -> str:
    """Return a template of this package, filled in."""
    return _TEMPLATES.get_template(template).render(**context)


def render(template: str, **context: Any) -> nodes.raw:
    """Return a template of this package, filled in, as a node."""
    return nodes.raw("", render_html(template, **context), format="html")


def make_table(
    header: Sequence[str | nodes.Node], rows: Sequence[Sequence[nodes.Node]], *, classes: list[str]
) -> nodes.table:
    """Return a table with one line of headings."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _column in header]
    # Texts of the interface are lazy, so that they are no strings.
    titles = [each if isinstance(each, nodes.Node) else nodes.Text(each) for each in header]
    group += nodes.thead("", _make_row(titles))
    group += nodes.tbody("", *(_make_row(cells) for cells in rows))
    return nodes.table("", group, classes=classes)


def _make_row(cells: Sequence[nodes.Node]) -> nodes.row:
    own = (c if isinstance(c, nodes.paragraph) else nodes.paragraph("", "", c) for c in cells)
    return nodes.row("", *(nodes.entry("", each) for each in own))


def link_to_page(
    env: BuildEnvironment, docname: str, *children: nodes.Node
) -> addnodes.pending_xref:
    """Return a link to a page, with a text of its own or else with the page's title."""
    return addnodes.pending_xref(
        "",
        nodes.inline("", "" if children else docname, *children),
        refdomain="std",
        reftype="doc",
        reftarget=f"/{docname}",
        refexplicit=bool(children),
        refwarn=bool(children),  # a catalog may be left of a page that is gone
        refdoc=env.docname,
    )


def translated_nodes(env: BuildEnvironment, docname: str, text: str) -> list[nodes.Node]:
    """Return a message of another page in the language of this build, English marked as such."""
    children = message_nodes(env, docname, text)
    language = current_language(env.config)
    return _keep_words_whole(children) if language.words_touch_markup else children


def _keep_words_whole(children: Sequence[nodes.Node]) -> list[nodes.Node]:
    """Return text in which lines do not break at the hyphen of a Latin word: for-loop."""
    found: list[nodes.Node] = []
    for child in children:
        parts = _HYPHENATED.split(str(child)) if isinstance(child, nodes.Text) else []
        found += [
            nodes.inline("", part, classes=["nowrap"]) if at % 2 else nodes.Text(part)
            for at, part in enumerate(parts)
            if part
        ] or [child]
    return found
