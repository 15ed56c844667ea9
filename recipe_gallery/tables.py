"""Tables as nodes of a page."""

from collections.abc import Sequence

from docutils import nodes


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
