"""Parts of pages as nodes: HTML, tables and links to other pages."""

from collections.abc import Mapping, Sequence
from typing import Any

from docutils import nodes
from jinja2 import Environment, PackageLoader
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.writers.html5 import HTML5Translator

from .labels import _
from .line_breaks import keep_words_whole

_TEMPLATES = Environment(loader=PackageLoader(__package__), autoescape=True)
_TEMPLATES.globals["_"] = _
_TEMPLATES.filters["unbroken"] = keep_words_whole


class html_element(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """An element for which docutils has no node: ``tag``, ``classes`` and ``attributes``."""


def visit_element(self: HTML5Translator, node: html_element) -> None:
    """Write the start tag of the element."""
    self.body.append(self.starttag(node, node["tag"], **node.get("attributes", {})))


def depart_element(self: HTML5Translator, node: html_element) -> None:
    """Write the end tag of the element."""
    self.body.append(f"</{node['tag']}>\n")


def make_element(
    tag: str,
    *children: nodes.Node,
    css_class: str = "",
    attributes: Mapping[str, str] | None = None,
) -> html_element:
    """Return an element of HTML; ``css_class`` may be several, apart by spaces."""
    return html_element(
        "",
        *children,
        tag=tag,
        classes=css_class.split(),
        attributes=dict(attributes or {}),
    )


def make_paragraph(*children: nodes.Node, css_class: str = "") -> nodes.paragraph:
    """Return a paragraph; ``css_class`` may be several, apart by spaces."""
    return nodes.paragraph("", "", *children, classes=css_class.split())


def render_html(template: str, **context: Any) -> str:
    """Return the HTML that a template of this package makes from a context."""
    return _TEMPLATES.get_template(template).render(**context)


def render(template: str, **context: Any) -> nodes.raw:
    """Return the HTML that a template of this package makes from a context, as a node."""
    return nodes.raw("", render_html(template, **context), format="html")


def make_table(
    header: Sequence[str | nodes.Node], rows: Sequence[Sequence[nodes.Node]], *, classes: list[str]
) -> nodes.table:
    """Return a table with one row of headings, which are texts or nodes."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _column in header]
    headings: list[nodes.Node] = []
    for heading in header:
        if isinstance(heading, str):
            heading = nodes.Text(heading)
        headings.append(heading)
    group += nodes.thead("", _make_row(headings))
    group += nodes.tbody("", *(_make_row(cells) for cells in rows))
    return nodes.table("", group, classes=classes)


def _make_row(cells: Sequence[nodes.Node]) -> nodes.row:
    """Return a row of a table, in which each cell holds one paragraph."""
    row = nodes.row("")
    for cell in cells:
        paragraph = cell
        if not isinstance(cell, nodes.paragraph):
            paragraph = nodes.paragraph("", "", cell)
        row += nodes.entry("", paragraph)
    return row


def link_to_page(
    env: BuildEnvironment, docname: str, *children: nodes.Node
) -> addnodes.pending_xref:
    """Return a link to a page whose text is ``children`` or, without any, the page's title.

    A link with a text warns if the page does not exist.
    """
    has_text = bool(children)
    text = nodes.inline("", "", *children)
    if not has_text:
        text = nodes.inline("", docname)
    return addnodes.pending_xref(
        "",
        text,
        refdomain="std",
        reftype="doc",
        reftarget=f"/{docname}",
        refexplicit=has_text,
        refwarn=has_text,  # without a text: a catalog may remain of a page that was removed
        refdoc=env.docname,
    )
