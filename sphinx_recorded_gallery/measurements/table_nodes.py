"""Tables as nodes, with columns as wide as what they hold."""

from collections.abc import Sequence

from docutils import nodes

_WIDEST = 50  # characters, for formats that have no other measure

Line = Sequence[Sequence[nodes.Node]]  # the words of each cell; none in an empty one


def make_table(
    head: Line,
    lines: Sequence[Line],
    *,
    stubs: int = 0,
    caption: Sequence[nodes.Node] = (),
    classes: Sequence[str] = (),
) -> nodes.table:
    """Return a table; the first columns, ``stubs``, head its lines. No text of it is a message."""
    specs = []
    for number, cells in enumerate(zip(head, *lines, strict=True)):
        widest = max(sum(len(word.astext()) for word in cell) for cell in cells)
        width = min(_WIDEST, max(1, widest))
        specs.append(nodes.colspec(colwidth=width, stub=number < stubs))
    body = nodes.tbody("", *(_make_row(line) for line in lines))
    group = nodes.tgroup("", *specs, nodes.thead("", _make_row(head)), body, cols=len(specs))
    table = nodes.table("", classes=list(classes))
    if caption:
        table += nodes.title("", "", *caption, translatable=False)
    table += group
    return table


def _make_row(line: Line) -> nodes.row:
    row = nodes.row()
    for words in line:
        cell = nodes.entry()
        if words:
            cell += nodes.paragraph("", "", *words, translatable=False)
        row += cell
    return row
