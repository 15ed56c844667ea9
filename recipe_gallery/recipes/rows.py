"""Rows and claims: what a recipe publishes of its measurements, in long form; all is checked.

A recipe publishes them by displaying a JSON object of the type ``MIME``; ``rows.schema.json``
describes it. Several displays of a recipe add up.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ..errors import GalleryError
from .recording import PUBLISHED_MIME, find_data

if TYPE_CHECKING:
    from nbformat import NotebookNode

MIME = PUBLISHED_MIME + "rows+json"
REMEDY = "correct what the recipe publishes"
# Of a recipe: each is a line of tables, and stands in every replicate.
MOST = 2000
LONGEST = {"case": 100, "arm": 100, "size": 60, "quantity": 60, "unit": 20, "class": 60}
LONGEST_KEY, LONGEST_EVIDENCE = 100, 200
LONGEST_NAME = 100  # of a host or a device
LARGEST = 1e15  # bytes, calls or seconds; what is above it is a mistake of units
SMALLEST = 1e-15  # but for 0

Size = int | float | str | None
_T = TypeVar("_T", "Row", "Claim")
_NAMED = re.compile("[A-Za-z0-9_]")  # what a part of a key is made of
_NEEDED = {"case", "arm", "size", "quantity", "value", "unit"}


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure that one process measured."""

    case: str
    arm: str
    size: Size
    quantity: str
    value: float  # in ``unit``; 0 or more
    unit: str  # empty for a bare number
    spread_class: str  # "class" in JSON: rows whose spread is pooled; by default the quantity

    @cached_property
    def key(self) -> str:
        """How prose calls the figure: ``adam.100.compiled.speedup``."""
        parts = [self.case, *([] if self.size is None else [self.size]), self.arm, self.quantity]
        return ".".join(map(slug, parts))

    def as_json(self) -> dict[str, Any]:
        """Return the row as recipes publish it, with its class."""
        found = {name: getattr(self, name) for name in _NEEDED}
        return {**found, "class": self.spread_class}


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What one process says of a comparison that prose makes."""

    key: str  # "claim" in JSON
    holds: bool
    evidence: str  # the figures, in one line

    def as_json(self) -> dict[str, Any]:
        """Return the claim as recipes publish it."""
        return {"claim": self.key, "holds": self.holds, "evidence": self.evidence}


@dataclass(frozen=True, kw_only=True)
class Published:
    """All that one process published."""

    rows: tuple[Row, ...] = ()
    claims: tuple[Claim, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.rows or self.claims)

    def as_json(self) -> dict[str, Any]:
        """Return what was published as one display of it."""
        return {
            "rows": [row.as_json() for row in self.rows],
            "claims": [claim.as_json() for claim in self.claims],
        }


def slug(part: str | float) -> str:
    """Return a part of a key: lower case, with ``-`` for all but letters, digits and ``_``."""
    if isinstance(part, float) and part.is_integer():
        part = int(part)
    return re.sub("[^a-z0-9_]+", "-", str(part).lower()).strip("-")


def read_published(notebook: NotebookNode, place: Path) -> Published:
    """Return what the cells of a notebook published.

    Raises ``GalleryError`` at ``place``, the recipe or its recording, that names cell and row.
    """
    rows: list[Row] = []
    claims: list[Claim] = []
    displayed = [(number, data[MIME]) for number, data in find_data(notebook) if MIME in data]
    for number, value in displayed:
        try:
            found = parse(value)
            rows += found.rows
            claims += found.claims
            require_unique(rows, claims)
        except ValueError as error:
            text = f"rows published by cell {number}: {error}"
            raise GalleryError(text, path=place, remedy=REMEDY) from None
    return Published(rows=tuple(rows), claims=tuple(claims))


def parse(value: Any) -> Published:
    """Return what one display published; raise ``ValueError`` that says which row is wrong."""
    if not isinstance(value, dict) or value.keys() - {"rows", "claims"}:
        raise ValueError('not an object such as {"rows": [...], "claims": [...]}')
    return Published(
        rows=tuple(_read_all("row", _read_row, value.get("rows", []))),
        claims=tuple(_read_all("claim", _read_claim, value.get("claims", []))),
    )


def require_unique(rows: Sequence[Row], claims: Sequence[Claim]) -> None:
    """Raise ``ValueError`` for a key that is there twice, and for too many of them."""
    for kind, keys in (("row", [row.key for row in rows]), ("claim", [c.key for c in claims])):
        if len(keys) > MOST:
            raise ValueError(f"{len(keys)} {kind}s, more than {MOST}")
        key, count = next(iter(Counter(keys).most_common(1)), ("", 0))
        if count > 1:
            raise ValueError(f"{count} {kind}s have the key {key}")


def _read_all(kind: str, read: Callable[[Any], _T], values: Any) -> Iterable[_T]:
    if not isinstance(values, list):
        raise ValueError(f"{kind}s are not a list")
    for number, value in enumerate(values, 1):
        try:
            if not isinstance(value, dict):
                raise ValueError("not an object")
            yield read(value)
        except ValueError as error:
            raise ValueError(f"{kind} {number}: {error}") from None


def _read_row(value: dict[str, Any]) -> Row:
    _require_names(value, _NEEDED, {"class"})
    texts = ["case", "arm", "quantity", "class"]
    if isinstance(value["size"], str):
        texts.append("size")
    elif value["size"] is not None:
        require_number("size", value["size"], negative=True)
    for name in texts:
        text = value.get(name, value["quantity"])
        require_text(name, text, LONGEST[name])
        if not _NAMED.search(text):
            raise ValueError(f"{name} {text!r} has no letter a-z and no digit, for its key")
    require_text("unit", value["unit"], LONGEST["unit"], empty=True)
    require_number("value", value["value"])
    return Row(
        **{name: value[name] for name in _NEEDED},
        spread_class=value.get("class", value["quantity"]),
    )


def _read_claim(value: dict[str, Any]) -> Claim:
    _require_names(value, {"claim", "holds", "evidence"}, set())
    key, holds = value["claim"], value["holds"]
    if not isinstance(key, str) or not re.fullmatch(rf"[a-z0-9_.-]{{1,{LONGEST_KEY}}}", key):
        told = (
            f"claim {_show(key)} is not 1 to {LONGEST_KEY} of the characters a-z, 0-9, _, . and -"
        )
        raise ValueError(told)
    if not isinstance(holds, bool):
        raise ValueError(f"holds is {_show(holds)}, not true or false")
    require_text("evidence", value["evidence"], LONGEST_EVIDENCE)
    return Claim(key=key, holds=holds, evidence=value["evidence"])


def _require_names(value: dict[str, Any], needed: set[str], more: set[str]) -> None:
    if missing := sorted(needed - value.keys()):
        raise ValueError(f"{missing[0]} is missing")
    if unknown := sorted(map(str, value.keys() - needed - more)):
        known = ", ".join(sorted(needed | more))
        raise ValueError(f"{_show(unknown[0])} is unknown; there are {known}")


def require_text(name: str, value: Any, longest: int, *, empty: bool = False) -> None:
    """Raise ``ValueError`` unless a value is one line of text that can be seen."""
    if not isinstance(value, str):
        raise ValueError(f"{name} is {_show(value)}, not a string")
    if len(value) > longest:
        raise ValueError(f"{name} {_show(value)} has {len(value)} characters, more than {longest}")
    if not (value or empty) or not value.isprintable() or value != value.strip():
        raise ValueError(f"{name} {_show(value)} is not one line of text without spaces around it")


def require_number(name: str, value: Any, *, negative: bool = False) -> None:
    """Raise ``ValueError`` unless a value is a number of sensible size."""
    if type(value) not in (int, float):
        raise ValueError(f"{name} is {_show(value)}, not a plain number")
    size = abs(value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} is {value}, not a finite number")
    if (value < 0 and not negative) or size > LARGEST or 0 < size < SMALLEST:
        bounds = f"{SMALLEST:g} to {LARGEST:g}"
        raise ValueError(f"{name} is {_show(value)}, not 0 nor in {bounds}")


def _show(value: Any) -> str:
    try:
        shown = repr(value)
    except ValueError:  # an integer of thousands of digits
        shown = "a huge number"
    return shown if len(shown) <= 60 else f"{shown[:60]}..."
