"""What stands in the wrong place of a recipe, or is missing, though each part is right by itself.

``recorded-gallery check`` tells the author; the directive ``answer`` tells what its parts lack.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from sphinx_recorded_gallery.api import GalleryError

ANSWER_REMEDY = "it stands once, in the docstring: move it there, or put both together"
_ANSWER = re.compile(r"(?m)^\.\. answer::")
# A directive that is not indented is in no answer.
_HERO_OUTSIDE = re.compile(r"(?m)^\.\. chart::.*\n(?: +:.*\n)*? +(?P<option>:hero:)")
_APPLIES = "**Does this apply to you?**"
_TABLE = re.compile(rf"(?ms)^{re.escape(_APPLIES)}$(?P<table>.*?)(?=^\*\*|\Z)")
_ROW = re.compile(r"(?m)^ +\* - (?P<cell>.+)")
_FIRST_CELL = "GPU busy below 80%"
# Where one measures, it may stand before that: a job that waits for data is below 80%, too.
_CELL_BEFORE = "New batches"
_LEAST_ROWS, _MOST_ROWS = 3, 5  # below the head


def find_misplaced_parts(
    path: Path, first_line: int, text: str, *, is_docstring: bool = True
) -> Iterator[GalleryError]:
    """Yield a second answer, charts with ``:hero:`` outside of it, and a wrong first table.

    ``text`` begins in ``first_line``. Its table is looked at if it has an answer. Only a docstring
    may have one.
    """

    def make_error(what: str, start: int, remedy: str) -> GalleryError:
        line = first_line + text.count("\n", 0, start)
        return GalleryError(what, path=path, line=line, remedy=remedy)

    answers = [*_ANSWER.finditer(text)]
    if answers and not is_docstring:
        yield make_error("an answer below the docstring", answers[0].start(), ANSWER_REMEDY)
        return
    for second in answers[1:]:
        yield make_error("a second answer", second.start(), "a page has one; put them together")
    for hero in _HERO_OUTSIDE.finditer(text):
        what = ":hero: outside of the answer has no effect"
        yield make_error(what, hero.start("option"), "remove it, or move the chart into the answer")
    if not answers:
        return
    table = _TABLE.search(text)
    if table is None:
        remedy = f"write {_APPLIES} and a list-table below it, as make new-recipe does"
        yield make_error(
            "no table below the answer says whom it is for", answers[0].start(), remedy
        )
        return
    rows = [row["cell"] for row in _ROW.finditer(table["table"])][1:]
    if not _LEAST_ROWS <= len(rows) <= _MOST_ROWS:
        what = f"this table has {len(rows)} rows below its head"
        remedy = f"write {_LEAST_ROWS} to {_MOST_ROWS}"
        yield make_error(what, table.start(), remedy)
        return
    if rows[0].startswith(_CELL_BEFORE):
        rows = rows[1:]
    if not rows[0].startswith(_FIRST_CELL):
        what = f"this table does not begin with {_FIRST_CELL!r}"
        yield make_error(what, table.start(), "begin so, as the tables of all recipes do")
