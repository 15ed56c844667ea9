"""Tables as docutils nodes; a column is as wide as its contents, up to a limit."""

from collections.abc import Sequence

from docutils import nodes
from docutils.utils import column_width

_WIDEST = 50  # letters of a column, in formats that measure so; a Chinese one counts as two

Line = Sequence[Sequence[nodes.Node]]  # the inline nodes of each cell; an empty cell has none


def make_untranslated_table(
    head: Line,
    lines: Sequence[Line],
    *,
    stubs: int = 0,
    caption: Sequence[nodes.Node] = (),
    classes: Sequence[str] = (),
) -> nodes.table:
    """Return a table whose text is left out of catalogs.

    The cells of the first columns, ``stubs`` in number, are headings of their lines.
    """
    specs = []
    columns = zip(head, *lines, strict=True)
    for number, cells in enumerate(columns):
        widest_cell = max(_measure(cell) for cell in cells)
        width = min(max(widest_cell, 1), _WIDEST)
        specs.append(nodes.colspec(colwidth=width, stub=number < stubs))
    rows = [_make_row(line) for line in lines]
    group = nodes.tgroup("", *specs, cols=len(specs))
    group += nodes.thead("", _make_row(head))
    group += nodes.tbody("", *rows)
    table = nodes.table("", classes=list(classes))
    if caption:
        table += nodes.title("", "", *caption, translatable=False)
    table += group
    return table


def _measure(cell: Sequence[nodes.Node]) -> int:
    return sum(column_width(node.astext()) for node in cell)


def _make_row(line: Line) -> nodes.row:
    row = nodes.row()
    for cell in line:
        entry = nodes.entry()
        if cell:
            entry += nodes.paragraph("", "", *cell, translatable=False)
        row += entry
    return row
