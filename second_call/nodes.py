"""Parts of pages as nodes: tables, and links to other pages."""

from collections.abc import Sequence

from docutils import nodes
from sphinx import addnodes
from sphinx.environment import BuildEnvironment


def make_table(
    header: Sequence[str | nodes.Node], rows: Sequence[Sequence[nodes.Node]], *, classes: list[str]
) -> nodes.table:
    """Return a table with one line of headings."""
    group = nodes.tgroup(cols=len(header))
    group += [nodes.colspec(colwidth=1) for _column in header]
    # Texts of the interface are lazy, so that they are no strings.
    titles = [each if isinstance(each, nodes.Node) else nodes.Text(each) for each in header]
    group += nodes.thead("", _row(titles))
    group += nodes.tbody("", *(_row(cells) for cells in rows))
    return nodes.table("", group, classes=classes)


def _row(cells: Sequence[nodes.Node]) -> nodes.row:
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", "", cell)) for cell in cells))


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
