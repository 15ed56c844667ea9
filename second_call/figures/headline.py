"""Headline figures: what a recipe publishes for the results page, and whether it can be shown.

A recipe publishes them by displaying a JSON object of the type ``MIME``:
``{"rows": [{"case": str, "baseline": str, "speedup": F, "share_of_limit": F or null,
"break_even_calls": F or null}]}`` with ``F = {"value": number, "low": number, "high": number}``.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from sphinx.util import logging

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recording import Recording, find_published

MIME = "application/vnd.recipe-gallery.headline+json"
_LARGEST = 1e12  # no sensible ratio, share or number of calls is above it
_SMALLEST = 1e-12  # nor is a speedup below this one
logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A median with its quartiles."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True)
class HeadlineRow:
    """How much faster one case is than its baseline."""

    case: str
    baseline: str
    speedup: Figure  # time of the baseline divided by that of the case, above 0
    share_of_limit: Figure | None
    break_even_calls: Figure | None


def headline(recording: Recording) -> tuple[HeadlineRow, ...]:
    """Return the rows of a recording, in order; none, and a warning, if they cannot be shown."""
    try:
        return read_headline(recording)
    except GalleryError as error:
        logger.warning("%s", error, type="second_call", subtype="headline")
        return ()


def read_headline(recording: Recording) -> tuple[HeadlineRow, ...]:
    """Return the rows of a recording, in order; raise ``GalleryError`` if they cannot be shown."""
    return _read_rows(recording.notebook, recording.path)


def check_headline(notebook: NotebookNode, recipe: Path) -> None:
    """Raise ``GalleryError`` unless all figures that ``recipe`` published can be shown."""
    _read_rows(notebook, recipe)


def _read_rows(notebook: NotebookNode, place: Path) -> tuple[HeadlineRow, ...]:
    rows: list[HeadlineRow] = []
    for number, cell in enumerate(notebook.cells, 1):
        published = find_published(NotebookNode(cells=[cell]), MIME)
        try:
            rows += [_read_row(row) for each in published for row in each["rows"]]
        except (KeyError, TypeError, ValueError):
            raise GalleryError(
                f"headline figures of cell {number} not as CONTRIBUTING.md describes them",
                path=place,
                remedy="correct what the recipe publishes",
            ) from None
    return tuple(rows)


def _read_row(row: dict[str, Any]) -> HeadlineRow:
    speedup = _read_figure(row["speedup"])
    named = isinstance(row["case"], str) and isinstance(row["baseline"], str)
    if not named or speedup.low < _SMALLEST:
        raise ValueError(row)
    share, calls = row["share_of_limit"], row["break_even_calls"]
    return HeadlineRow(
        case=row["case"],
        baseline=row["baseline"],
        speedup=speedup,
        share_of_limit=None if share is None else _read_figure(share),
        break_even_calls=None if calls is None else _read_figure(calls),
    )


def _read_figure(figure: dict[str, Any]) -> Figure:
    low, value, high = (figure[name] for name in ("low", "value", "high"))
    if bool in map(type, (low, value, high)) or not 0 <= low <= value <= high <= _LARGEST:
        raise ValueError(figure)
    return Figure(value=value, low=low, high=high)
