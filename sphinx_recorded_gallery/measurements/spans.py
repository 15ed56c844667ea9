"""Spans: when lanes such as CPU and GPU were busy in a run; a recipe publishes them by case.

It displays a JSON object of the type ``SPANS_MIME`` for each case; ``spans.schema.json`` describes
it. Sites draw spans. They belong only to the run that a page shows, and are not measurements.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..recipes.mime_types import PUBLISHED_MIME
from ..recipes.recorded_recipe import RecordedPage, load_page
from ..recipes.recording import find_data
from .schemas import validate

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from ..recipes.recipe import Recipe

SPANS_MIME = PUBLISHED_MIME + "spans+json"
REMEDY = "correct what the example publishes"

Span = tuple[float, float]  # start and end, in seconds from the beginning of the picture


@dataclass(frozen=True, kw_only=True)
class Spans:
    """When each lane of a case was busy."""

    case: str
    lanes: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    @property
    def end(self) -> float:
        """When the last span ends, in seconds; 0 without any."""
        ends = [0.0]
        for lane in self.lanes.values():
            ends += [end for _start, end in lane]
        return max(ends)


def find_spans(data: Mapping[str, Any]) -> Spans | None:
    """Return the spans that one output publishes; None if there are none or they are invalid."""
    if SPANS_MIME not in data:
        return None
    with suppress(ValueError):
        return parse_spans(data[SPANS_MIME])
    return None


def parse_spans(value: Any) -> Spans:
    """Return the spans of one display; raise ``ValueError`` that names a wrong one."""
    validate(value, "spans")
    lanes = {name: _parse_lane(name, lane) for name, lane in value["lanes"].items()}
    return Spans(case=value["case"], lanes=lanes)


def _parse_lane(name: str, lane: Sequence[Sequence[float]]) -> tuple[Span, ...]:
    """Return the spans of a lane; raise ``ValueError`` for times that are no span."""
    spans = []
    for number, (start, end) in enumerate(lane, 1):
        if math.isnan(start) or math.isnan(end):  # JSON has no such number
            raise ValueError(f"lane {name}, span {number}: a time is nan, not a finite number")
        if start > end:
            raise ValueError(f"lane {name}, span {number}: it ends at {end}, before {start}")
        spans.append((float(start), float(end)))
    return tuple(spans)


def read_spans(
    notebook: NotebookNode, place: Path, recipe: Recipe | None = None
) -> dict[str, Spans]:
    """Return the spans that the cells of a notebook published, by case.

    Raises ``GalleryError`` that names the cell. It points to ``place``, the recipe or its
    recording; if ``recipe`` is given, to the line of the cell.
    """
    by_case: dict[str, Spans] = {}
    for number, data in find_data(notebook):
        if SPANS_MIME not in data:
            continue
        try:
            spans = parse_spans(data[SPANS_MIME])
            if spans.case in by_case:
                raise ValueError(f"the case {spans.case!r} has spans already")
        except ValueError as error:
            text = f"spans published by cell {number}: {error}"
            line = recipe.cells[number - 1].line if recipe else None
            raise GalleryError(text, path=place, line=line, remedy=REMEDY) from None
        by_case[spans.case] = spans
    return by_case


def load_spans(env: BuildEnvironment, docname: str) -> dict[str, Spans]:
    """Return the spans of the run that the page ``docname`` shows, by case.

    There are none on other pages than those of recipes, and none without a current recording.
    Raises ``GalleryError`` for invalid spans. The page of a recipe is read again when its recording
    changes; another page has to ``watch`` the recording itself.
    """
    page = load_page(env, docname)
    if not isinstance(page, RecordedPage) or not page.comparison.is_current:
        return {}
    return read_spans(page.recording.notebook, page.recording.path)
