"""Rows and claims: what a recipe publishes of its measurements, in long form.

A recipe publishes them by displaying a JSON object of the type ``MIME``; ``rows.schema.json`` says
what it may hold. Several displays of a recipe add up.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import GalleryError
from .recording import PUBLISHED_MIME, find_data

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from .recipe import Recipe

MIME = PUBLISHED_MIME + "rows+json"
ROW = ("case", "variant", "size", "quantity", "value", "unit")  # what each has
REMEDY = "correct what the recipe publishes"
LARGEST, SMALLEST = 1e15, 1e-15  # as in the schema; a claim's evidence may hold anything
MOST = 2000  # rows or claims of a recipe: each is a line of tables, and stands in every replicate

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


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What one process says of a comparison that prose makes."""

    key: str  # "claim" in JSON
    holds: bool
    evidence: str  # in one line


@dataclass(frozen=True, kw_only=True)
class Published:
    """All that one process published."""

    rows: tuple[Row, ...] = ()
    claims: tuple[Claim, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.claims)

    @cached_property
    def by_key(self) -> dict[str, Row]:
        """Its rows by their keys."""
        return {row.key: row for row in self.rows}

    def as_json(self) -> dict[str, Any]:
        """Return what was published as one display of it."""
        rows = [
            {k: each for k, each in asdict(row).items() if each or k != "sizes"}
            for row in self.rows
        ]
        claims = [{"claim": c.key, "holds": c.holds, "evidence": c.evidence} for c in self.claims]
        return {"rows": rows, "claims": claims}


def slug(part: str | float) -> str:
    """Return a part of a key: lower case, with ``-`` for all but letters, digits and ``_``."""
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    return re.sub("[^a-z0-9_]+", "-", str(part).lower()).strip("-")


def read_published(notebook: NotebookNode, place: Path, recipe: Recipe | None = None) -> Published:
    """Return what the cells of a notebook published.

    Raises ``GalleryError`` at ``place``, the recipe or its recording, that names the row, its cell
    and, of a ``recipe`` whose cells these are, the line of the cell.
    """
    rows: list[Row] = []
    claims: list[Claim] = []
    for number, data in find_data(notebook):
        if MIME not in data:
            continue
        try:
            found = parse(data[MIME])
            rows += found.rows
            claims += found.claims
            require_unique(rows, claims)
        except ValueError as error:
            text = f"rows published by cell {number}: {error}"
            line = recipe.cells[number - 1].line if recipe else None
            raise GalleryError(text, path=place, line=line, remedy=REMEDY) from None
    return Published(rows=tuple(rows), claims=tuple(claims))


def parse(value: Any) -> Published:
    """Return what one display published; raise ``ValueError`` that says which row is wrong."""
    from fastjsonschema import JsonSchemaValueException

    try:
        _validator()(value)
    except JsonSchemaValueException as error:
        raise ValueError(_describe(error)) from None
    rows = []
    for number, row in enumerate(value.get("rows", []), 1):
        for name in ("value", "size"):
            if isinstance(row[name], float) and math.isnan(row[name]):  # JSON has no such number
                raise ValueError(f"row {number}: {name} is nan, not a finite number")
        known = {name: row[name] for name in ROW}
        rows.append(Row(sizes=row.get("sizes", ""), **known))
    claims = (
        Claim(key=each["claim"], holds=each["holds"], evidence=each["evidence"])
        for each in value.get("claims", [])
    )
    return Published(rows=tuple(rows), claims=tuple(claims))


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
    if error.rule == "additionalProperties":
        shown = repr(min(map(str, error.value.keys() - error.definition["properties"].keys())))
        what = f"{shown:.60} is unknown; there are {', '.join(error.definition['properties'])}"
    elif error.rule == "required":
        what = f"{min(error.definition['required'] - error.value.keys())} is missing"
    else:
        needed = error.definition.get("description", error.message)
        name = path[-1] if len(path) in (1, 3) else "it"
        what = f"{name} is {shown:.60}, which has to be {needed}"
    return f"{path[0].removesuffix('s')} {int(path[1]) + 1}: {what}" if path[1:] else what


def require_unique(rows: Sequence[Row], claims: Sequence[Claim]) -> None:
    """Raise ``ValueError`` for a key that is there twice, and for too many of them."""
    for kind, keys in (("row", [row.key for row in rows]), ("claim", [c.key for c in claims])):
        if len(keys) > MOST:
            raise ValueError(f"{len(keys)} {kind}s, more than {MOST}")
        key, count = next(iter(Counter(keys).most_common(1)), ("", 0))
        if count > 1:
            raise ValueError(f"{count} {kind}s have the key {key}")
