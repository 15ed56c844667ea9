"""Headline figures as recipes publish them."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recording import Recording
from second_call.figures.headline import MIME, Figure, check_headline, headline

FIGURE = {"low": 1, "value": 2.5, "high": 1e12}
ROW: dict[str, Any] = {
    "case": "a",
    "baseline": "b",
    "speedup": FIGURE,
    "share_of_limit": None,
    "break_even_calls": FIGURE,
}


def recorded(*rows: object) -> Recording:
    cell = nbformat.v4.new_code_cell()
    cell.outputs = [nbformat.v4.new_output("display_data", {MIME: {"rows": list(rows)}})]
    cells = [nbformat.v4.new_code_cell(), cell]
    return Recording(path=Path("a.ipynb"), notebook=nbformat.v4.new_notebook(cells=cells))


def test_rows_come_with_their_figures() -> None:
    first, second = headline(recorded(ROW, ROW | {"case": "c", "share_of_limit": FIGURE}))
    assert (first.case, first.baseline, first.share_of_limit) == ("a", "b", None)
    assert first.speedup == first.break_even_calls == Figure(value=2.5, low=1, high=1e12)
    assert (second.case, second.share_of_limit) == ("c", first.speedup)


@pytest.mark.parametrize(
    "row",
    [
        [],
        "text",
        {name: value for name, value in ROW.items() if name != "break_even_calls"},
        ROW | {"case": 1},
        ROW | {"baseline": None},
        ROW | {"speedup": None},
        ROW | {"speedup": {"low": 0, "value": 1, "high": 2}},
        ROW | {"speedup": {"low": 1e-300, "value": 1, "high": 2}},
        ROW | {"speedup": {"low": True, "value": 1, "high": 2}},
        ROW | {"speedup": {"low": 1, "value": 10**400, "high": 10**400}},
        ROW | {"speedup": {"low": 1, "value": 1}},
        ROW | {"share_of_limit": {"low": 2, "value": 1, "high": 3}},
        ROW | {"share_of_limit": {"low": 1, "value": 4, "high": 3}},
        ROW | {"share_of_limit": {"low": -1, "value": 0, "high": 3}},
        ROW | {"break_even_calls": {"low": 1, "value": 1, "high": True}},
        ROW | {"break_even_calls": {"low": 1, "value": 1, "high": "2"}},
        ROW | {"break_even_calls": {"low": 1, "value": 1, "high": 1e300}},
        ROW | {"break_even_calls": {"low": 1, "value": float("nan"), "high": 2}},
        ROW | {"break_even_calls": 1},
    ],
    ids=str,
)
def test_figures_that_cannot_be_shown_are_refused(row: object) -> None:
    recording = recorded(ROW, row)
    with pytest.raises(GalleryError) as caught:
        check_headline(recording.notebook, Path("a.py"))
    assert str(caught.value) == (
        "a.py: headline figures of cell 2 not as CONTRIBUTING.md describes them; "
        "correct what the recipe publishes"
    )
    assert headline(recording) == ()


def test_an_object_without_rows_is_refused() -> None:
    recording = recorded()
    recording.notebook.cells[1].outputs[0].data[MIME] = [1]
    with pytest.raises(GalleryError):
        check_headline(recording.notebook, Path("a.py"))
