"""What a recorded table shows: its case, and that it is of the one process that made the page."""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import escape, unescape
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from ...recipes.cell_marks import DATA_CLASS
from ...recipes.recorded_page import RecordedPage, load_page
from ...recipes.rows import MIME, Row, parse
from .naming import Pieces, mark, name_case

_ = get_translation("recipe_gallery")

_TABLE = re.compile(r"<table\b[^>]*>(?!\s*<caption)")
_HEAD = re.compile(r"<th\b[^>]*>([^<]*)</th>")
_PART = re.compile(r"(%\(\w+\)s)")
_PLACE = re.compile(r'<caption data-case="([^"]*)"></caption>')


def find_rows(data: Mapping[str, Any]) -> list[Row]:
    """Return the rows that one output publishes; none if it is not what a recipe may publish."""
    with suppress(ValueError):
        return [*parse(data[MIME]).rows] if MIME in data else []
    return []


def leave_place(html: str, rows: Sequence[Row]) -> str:
    """Return recorded HTML with a place for the caption of its first table.

    ``rows`` were published right before. They are the table's if its lines have their arms' names.
    """
    case = [rows[-1].case, rows[-1].size] if rows else []
    arms = {row.variant for row in rows if [row.case, row.size] == case}
    lines = {unescape(each) for each in _HEAD.findall(html.partition("</thead>")[2])}
    said = escape(json.dumps(case if arms and lines == arms else []))
    return _TABLE.sub(lambda table: f'{table[0]}<caption data-case="{said}"></caption>', html, 1)


def caption_tables(env: BuildEnvironment, document: nodes.document) -> None:
    """Say in the reader's language what recorded tables show, in the places that were left."""
    page = load_page(env, env.docname)
    if not isinstance(page, RecordedPage):
        return
    device = page.recording.device_name

    def fill(place: re.Match[str]) -> str:
        case = json.loads(unescape(place[1]))
        said = _("%(case)s: one process on %(device)s") if case else _("One process on %(device)s")
        named = f'<span class="{DATA_CLASS}">{escape(device)}</span>'
        text = ""
        for part in _PART.split(str(said)):  # whose brackets are not those of the sentence
            pieces: Pieces = [(part, False)]
            if part == "%(case)s":
                pieces = name_case(env, env.docname, *case)
            text += named if part == "%(device)s" else mark(env.config, pieces)
        return f"<caption>{text}</caption>"

    for node in document.findall(nodes.raw):
        if node.get("format") == "html" and "data-case" in node.astext():
            node.children = [nodes.Text(_PLACE.sub(fill, node.astext()))]
