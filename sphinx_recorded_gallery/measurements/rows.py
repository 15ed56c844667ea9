"""Rows: the measurements that a recipe publishes, in long form.

A recipe publishes rows by displaying JSON objects of the type ``MIME``; ``rows.schema.json``
describes them.
"""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GalleryError
from ..recipes.mime_types import PUBLISHED_MIME
from ..recipes.recording import find_data
from ..similar_names import suggest_names
from .schemas import validate

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..recipes.recipe import Recipe
    from .quantities import Quantity

MIME = PUBLISHED_MIME + "rows+json"
REMEDY = "correct what the example publishes"
LARGEST, SMALLEST = 1e15, 1e-15  # as in the schema
_SHARE = "share"  # the unit of parts of a whole
_LARGEST_SHARE = 1.1  # of a quotient of two measurements, which vary

Size = int | float | str | None


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measurement of one process."""

    case: str
    variant: str
    size: Size
    quantity: str
    value: float  # in ``unit``; 0 or more
    unit: str  # empty for a bare number
    size_name: str = ""  # what the size counts; "sizes" in JSON

    @cached_property
    def key(self) -> str:
        """Its name in prose: ``adam.100.compiled.speedup``."""
        parts: list[str | float] = [self.case, self.variant, self.quantity]
        if self.size is not None:
            parts.insert(1, self.size)
        return ".".join(map(slug, parts))

    @property
    def as_json(self) -> dict[str, Any]:
        """The JSON object that a recipe publishes."""
        value = asdict(self)
        size_name = value.pop("size_name")
        if size_name:
            value["sizes"] = size_name
        return value


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table that a page draws from rows: a line for each variant, or each size and variant."""

    case: str
    quantities: tuple[str, ...]  # its columns
    rows: tuple[Row, ...]  # of the case, as they were published with it


def slug(part: str | float) -> str:
    """Return a part of a key: lower case, with ``-`` for all but ``a-z0-9_``."""
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    return re.sub("[^a-z0-9_]+", "-", str(part).lower()).strip("-")


class WrongUnitError(GalleryError):
    """A row has another unit than its quantity: readers would see a wrong number."""


def read_rows(notebook: NotebookNode, place: Path, recipe: Recipe | None = None) -> tuple[Row, ...]:
    """Return the rows that the cells of a notebook published.

    Raises ``GalleryError`` that names the row and its cell. It points to ``place``, the recipe or
    its recording; if ``recipe`` is given, to the line of the cell.
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


def find_hints(
    notebook: NotebookNode, recipe: Recipe, quantities: Mapping[str, Quantity], own_list: str
) -> list[GalleryError]:
    """Return an error for each published quantity whose name, unit or value may be a mistake.

    ``quantities`` are those of the project, and ``own_list`` tells where it adds to them. A recipe
    may publish others: so these are hints, but for a ``WrongUnitError``.
    """
    errors: dict[tuple[str, str], GalleryError] = {}
    for number, data in find_data(notebook):
        for row in find_rows(data):
            for kind, text, remedy in _find_mistakes(row, quantities, own_list):
                line = _find_line(recipe, number, row.quantity)
                error = kind(text, path=recipe.path, line=line, remedy=remedy)
                errors.setdefault((row.quantity, remedy), error)
    return [*errors.values()]


def _find_line(recipe: Recipe, number: int, quantity: str) -> int:
    """Return the line of a recipe that names a quantity which its cell ``number`` published.

    It is in that cell, or the nearest one above it, which may define a function that publishes. It
    is the line of the cell if the name is put together, or stands in a module.
    """
    cell = recipe.cells[number - 1]
    lines = []
    for block in recipe.blocks:
        if block.type != "code":
            continue
        for node in ast.walk(ast.parse(block.content)):
            if isinstance(node, ast.Constant) and node.value == quantity:
                lines.append(block.lineno + node.lineno - 1)
    first_below = math.inf
    if number < len(recipe.cells):
        first_below = recipe.cells[number].line
    in_cell = [line for line in lines if cell.line <= line < first_below]
    if in_cell:
        return min(in_cell)
    return max((line for line in lines if line < cell.line), default=cell.line)


def _find_mistakes(
    row: Row, quantities: Mapping[str, Quantity], own_list: str
) -> Iterator[tuple[type[GalleryError], str, str]]:
    """Yield what may be wrong with a row: the kind of error, its text and its remedy."""
    quantity = quantities.get(row.quantity)
    if quantity is None:
        similar = suggest_names(row.quantity, quantities)
        text = f"no quantity is named {row.quantity!r}, so readers see this word{similar}"
        yield GalleryError, text, f"correct it, or add it with its label and unit to {own_list}"
    elif row.unit != quantity.unit:
        text = f"{row.key} is published with the unit {row.unit!r}; that of {quantity.name} is "
        text += repr(quantity.unit)
        remedy = f"publish it with this unit, or correct the quantity in {own_list}"
        yield WrongUnitError, text, remedy
    if row.unit == _SHARE and row.value > _LARGEST_SHARE:
        text = f"{row.key} is {row.value:g} of the whole, which readers see as {row.value:.0%}"
        yield GalleryError, text, "publish a share as a number from 0 to 1: 0.63 for 63%"


def find_rows(data: Mapping[str, Any]) -> tuple[Row, ...]:
    """Return the rows that one output publishes; none if they are invalid."""
    if MIME not in data:
        return ()
    with suppress(ValueError):
        return parse(data[MIME])
    return ()


def find_table(data: Mapping[str, Any]) -> Table | None:
    """Return the table that one output publishes with its rows; None if there is none."""
    if MIME not in data:
        return None
    published = data[MIME]
    try:
        rows = parse(published)
    except ValueError:
        return None
    if "table" not in published:
        return None
    table = published["table"]
    return Table(
        case=table["case"],
        quantities=tuple(table["quantities"]),
        rows=tuple(row for row in rows if row.case == table["case"]),
    )


def parse(value: Any) -> tuple[Row, ...]:
    """Return the rows of one display; raise ``ValueError`` that names the wrong row."""
    validate(value, "rows")
    rows = value.get("rows", [])
    for number, row in enumerate(rows, 1):
        for name in ("value", "size"):
            if isinstance(row[name], float) and math.isnan(row[name]):  # JSON has no such number
                raise ValueError(f"row {number}: {name} is nan, not a finite number")
    if "table" in value:
        _require_rows_of_table(value["table"], rows)
    return tuple(_make_row(row) for row in rows)


def _make_row(published: Mapping[str, Any]) -> Row:
    """Return the row of a JSON object that the schema allows."""
    fields = dict(published)
    size_name = fields.pop("sizes", "")
    return Row(**fields, size_name=size_name)


def _require_rows_of_table(table: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> None:
    """Raise ``ValueError`` if the case or a quantity of a table has no row."""
    quantities = {row["quantity"] for row in rows if row["case"] == table["case"]}
    if not quantities:
        raise ValueError(f"no row has the case of the table, {table['case']!r}")
    for name in table["quantities"]:
        if name not in quantities:
            raise ValueError(f"no row has the quantity of the column {name!r}")


def require_unique(rows: Sequence[Row]) -> None:
    """Raise ``ValueError`` for a key that several rows have."""
    counts = Counter(row.key for row in rows)
    for key, count in counts.items():
        if count > 1:
            raise ValueError(f"{count} rows have the key {key}")
