"""Rows: what a recipe publishes of its measurements, in long form.

A recipe publishes them by displaying a JSON object of the type ``MIME``, of which several add up;
``rows.schema.json`` says what it may hold.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GalleryError
from ..recipes.mime_types import PUBLISHED_MIME
from ..recipes.recording import find_data

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..recipes.recipe import Recipe

MIME = PUBLISHED_MIME + "rows+json"
REMEDY = "correct what the recipe publishes"
LARGEST, SMALLEST = 1e15, 1e-15  # as in the schema

Size = int | float | str | None


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one process measured once."""

    case: str
    variant: str
    size: Size
    quantity: str
    value: float  # in ``unit``; 0 or more
    unit: str  # empty for a bare number
    sizes: str = ""  # what the size counts

    @cached_property
    def key(self) -> str:
        """How prose calls it: ``adam.100.compiled.speedup``."""
        sizes = [] if self.size is None else [self.size]
        return ".".join(map(slug, [self.case, *sizes, self.variant, self.quantity]))

    @property
    def as_json(self) -> dict[str, Any]:
        """What a recipe publishes of it."""
        return {name: each for name, each in asdict(self).items() if each or name != "sizes"}


def slug(part: str | float) -> str:
    """Return a part of a key: lower case, with ``-`` for all but letters, digits and ``_``."""
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    return re.sub("[^a-z0-9_]+", "-", str(part).lower()).strip("-")


def read_rows(notebook: NotebookNode, place: Path, recipe: Recipe | None = None) -> tuple[Row, ...]:
    """Return the rows that the cells of a notebook published.

    Raises ``GalleryError`` at ``place``, the recipe or its recording, that names the row, its cell
    and, of a ``recipe`` whose cells these are, the line of the cell.
    """
    rows: list[Row] = []
    for number, data in find_data(notebook):
        if MIME not in data:
            continue
        try:
            rows += parse(data[MIME])
            require_unique(rows)
        except ValueError as error:
            text = f"rows published by cell {number}: {error}"
            line = recipe.cells[number - 1].line if recipe else None
            raise GalleryError(text, path=place, line=line, remedy=REMEDY) from None
    return tuple(rows)


def find_rows(data: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows that one output publishes; none if it is not what a recipe may publish."""
    with suppress(ValueError):
        return parse(data[MIME]) if MIME in data else ()
    return ()


def parse(value: Any) -> tuple[Row, ...]:
    """Return the rows of one display; raise ``ValueError`` that says which row is wrong."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(value)
    except JsonSchemaValueException as error:
        raise ValueError(_describe(error)) from None
    rows = value.get("rows", [])
    for number, row in enumerate(rows, 1):
        for name in ("value", "size"):
            if isinstance(row[name], float) and math.isnan(row[name]):  # JSON has no such number
                raise ValueError(f"row {number}: {name} is nan, not a finite number")
    return tuple(Row(**row) for row in rows)


@cache
def _validator() -> Any:
    import fastjsonschema  # slow to import, as is what it makes, and most pages publish nothing

    text = Path(__file__).with_name("rows.schema.json").read_text(encoding="utf-8")
    return fastjsonschema.compile(json.loads(text))


def _describe(error: Any) -> str:
    """Return what is wrong with a value, by what the schema says of it."""
    _data, *path = error.path
    shown = "a huge number"  # an integer of thousands of digits
    with suppress(ValueError):
        shown = repr(error.value)
    name = path[-1] if len(path) in (1, 3) else "it"
    needed = error.definition.get("description", error.message)
    what = f"{name} is {shown:.200}, which has to be {needed}"
    return f"row {int(path[1]) + 1}: {what}" if path[1:] else what


def require_unique(rows: Sequence[Row]) -> None:
    """Raise ``ValueError`` for a key that is there twice."""
    key, count = next(iter(Counter(row.key for row in rows).most_common(1)), ("", 0))
    if count > 1:
        raise ValueError(f"{count} rows have the key {key}")
