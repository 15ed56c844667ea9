"""Tables as Markdown, or as HTML where a cell covers others or holds more than a line."""

import re
from itertools import chain

from docutils import nodes
from tabulate import tabulate

from .blocks import bold_line, join_blocks, write_block
from .escape import escape, protect_lines
from .inline import join_inline
from .page import Page

# What reads the same in HTML, where Markdown is understood only between empty lines
_PLAIN = re.compile(r"[\w ,.:()%+=/-]*")


@write_block.register(nodes.table)
def _table(table: nodes.table, page: Page) -> str:
    parts = []
    for child in table.children:
        if isinstance(child, nodes.title):
            parts.append(protect_lines(escape(page.number(table)) + join_inline(child, page)))
        elif isinstance(child, nodes.tgroup):
            parts.append(_grid(child, page))
    return "\n\n".join(parts)


def _grid(group: nodes.tgroup, page: Page) -> str:
    heads = [row for part in group if isinstance(part, nodes.thead) for row in part]
    rows = [row for part in group if isinstance(part, nodes.tbody) for row in part]
    if len(heads) < 2 and all(map(_is_simple, chain(*heads, *rows))):
        table = [[_line(cell, page) for cell in row] for row in [*heads, *rows]]
        # Markdown has no table without a header, but an empty one.
        header = table.pop(0) if heads else [""] * len(table[0])
        return str(tabulate(table, headers=header, tablefmt="github", disable_numparse=True))
    return "\n".join(
        ["<table>", *_part("thead", heads, page), *_part("tbody", rows, page), "</table>"]
    )


def _is_simple(cell: nodes.entry) -> bool:
    """Tell whether a cell is one line in one column and one row."""
    if cell.get("morecols") or cell.get("morerows"):
        return False
    if any(r"\|" in code.astext() for code in cell.findall(nodes.literal)):
        return False  # Markdown has no form for it that all programs understand
    return [type(child) for child in cell] in ([], [nodes.paragraph])


def _is_header(cell: nodes.entry) -> bool:
    """Tell whether a cell of the body names its row."""
    row = cell.parent
    columns = [each for each in row.parent.parent if isinstance(each, nodes.colspec)]
    return bool(columns[row.index(cell)].get("stub"))


def _line(cell: nodes.entry, page: Page) -> str:
    text = join_blocks(cell.children, page).replace("\n", " ").replace("|", r"\|")
    in_body = isinstance(cell.parent.parent, nodes.tbody)
    return bold_line(text) if in_body and _is_header(cell) else text


def _part(tag: str, rows: list[nodes.row], page: Page) -> list[str]:
    if not rows:
        return []
    lines = [f"<{tag}>"]
    for row in rows:
        lines += ["<tr>", *(_cell(cell, page) for cell in row), "</tr>"]
    return [*lines, f"</{tag}>"]


def _cell(cell: nodes.entry, page: Page) -> str:
    tag = "th" if isinstance(cell.parent.parent, nodes.thead) or _is_header(cell) else "td"
    wide, high = cell.get("morecols", 0) + 1, cell.get("morerows", 0) + 1
    spans = f' colspan="{wide}"' * (wide > 1) + f' rowspan="{high}"' * (high > 1)
    text = join_blocks(cell.children, page)
    if not _PLAIN.fullmatch(text):
        text = f"\n\n{text}\n\n"
    return f"<{tag}{spans}>{text}</{tag}>"
