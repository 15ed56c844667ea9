"""Rows of tables that have fewer or more cells than the head of their table.

docutils names no row of a table that is drawn with ``+`` and ``|``, of a ``list-table`` the line of
the directive, and leaves a cell empty that is missing between ``====``.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from docutils.utils import column_width

from sphinx_recorded_gallery.api import GalleryError

_LIST_TABLE = re.compile(
    r"(?m)^(?P<indent> *)\.\. list-table::.*\n(?P<rows>(?:(?:(?P=indent) +.*)?(?:\n|\Z))*)"
)
_ROW = re.compile(
    r"(?m)^(?P<indent> +)\* -(?: .*)?\n(?:(?P=indent)  .*(?:\n|\Z)|\n(?=(?P=indent)  ))*"
)
_GRID = re.compile(r"(?m)^(?P<indent> *)(?P<border>\+(?:-+\+)+)\n(?:(?P=indent)[+|].*(?:\n|\Z))+")
_SIMPLE = re.compile(
    r"(?m)^(?P<indent> *)(?P<border>=+(?: +=+)+)\n(?:.+\n)+?(?P=indent)(?P=border)\n"
    r"(?P<rows>(?:.+\n)+?)(?P=indent)(?P=border)$"
)


def find_uneven_rows(path: Path, first_line: int, text: str) -> Iterator[GalleryError]:
    """Yield the first such row of each table of a text that begins in ``first_line``."""

    def make_error(what: str, start: int, remedy: str) -> GalleryError:
        line = first_line + text.count("\n", 0, start)
        return GalleryError(what, path=path, line=line, remedy=remedy)

    for table in _LIST_TABLE.finditer(text):
        count = 0  # of the head
        for item in _ROW.finditer(table["rows"]):
            cells = len(re.findall(rf"(?m)^{item['indent']}[* ] -(?= |$)", item[0]))
            count = count or cells
            if cells != count:
                what = f"this row has {_count_cells(cells)}, and the head of its table {count}"
                start = table.start("rows") + item.start()
                yield make_error(what, start, "write one - a cell, also for an empty one")
                break
    for table in _GRID.finditer(text):
        width = len(table["border"])
        start = table.start()
        for line in table[0].splitlines():
            row = line.strip()
            if column_width(row) != width or row[-1] not in "+|":
                what = "this line of a table ends elsewhere than its first line"
                yield make_error(what, start, "write all its cells, and end it with | below the +")
                break
            start += len(line) + 1
    for table in _SIMPLE.finditer(text):
        last_column = len(table["indent"]) + table["border"].rindex(" ") + 1
        start = table.start("rows")
        for line in table["rows"].splitlines():
            is_row = line[len(table["indent"]) :][:1].strip()  # or else the row above goes on
            if is_row and column_width(line) <= last_column:
                what = "this row lacks the last cell of its table"
                yield make_error(what, start, "write it, or \\ for an empty one")
                break
            start += len(line) + 1


def _count_cells(number: int) -> str:
    return "1 cell" if number == 1 else f"{number} cells"
