"""Rows as recipes publish them: what is read, and what is refused."""

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.measurements.rows import MIME, Row, find_table, parse, read_rows

ROW: dict[str, Any] = {
    "case": "Adam",
    "variant": "compiled",
    "size": 100,
    "quantity": "GPU time",
    "value": 0.71,
    "unit": "ms",
}


def notebook(*displays: object) -> NotebookNode:
    cells = [nbformat.v4.new_code_cell() for _ in range(1 + len(displays))]
    for cell, value in zip(cells[1:], displays, strict=True):
        cell.outputs = [nbformat.v4.new_output("display_data", {MIME: value})]
    return nbformat.v4.new_notebook(cells=cells)


def refuse(*displays: object) -> str:
    with pytest.raises(GalleryError) as caught:
        read_rows(notebook(*displays), Path("a.py"))
    return str(caught.value)


def test_displays_add_up() -> None:
    other = {**ROW, "size": 200}
    published = {**other, "sizes": "parameters"}
    old = {"claims": [{"claim": "adam.faster"}]}  # as recipes once published: nothing reads it
    found = read_rows(notebook({"rows": [ROW]}, {}, old, {"rows": [published]}), Path("a.py"))
    assert found == (Row(**ROW), Row(**other, size_name="parameters"))
    assert [each.as_json for each in found] == [ROW, published]
    assert read_rows(notebook(), Path("a.py")) == ()


@pytest.mark.parametrize("published", [5, ["table"], "table", {"table": 5}, {"rows": 5}])
def test_a_display_that_is_invalid_has_no_table(published: object) -> None:
    assert find_table({MIME: published}) is None


@pytest.mark.parametrize(
    ("size", "key"),
    [
        (100, "adam.100.compiled.gpu-time"),
        (None, "adam.compiled.gpu-time"),
        (2.5, "adam.2-5.compiled.gpu-time"),
        ("64 x 512, bf16", "adam.64-x-512-bf16.compiled.gpu-time"),
    ],
)
def test_a_row_is_called_by_case_size_variant_and_quantity(size: object, key: str) -> None:
    assert parse({"rows": [{**ROW, "size": size}]})[0].key == key


NUMBER = "which has to be 0, or a number from 1e-15 to 1e15"
SIZE = "which has to be a number, a name such as 2^20, or null if there is one size"
LINE = "which has to be one line of visible text without spaces around it"
NAME = (
    "which has to be one line of at most 100 characters, a letter a-z or a digit among them, "
    "without spaces around it"
)
WRONG_ROWS = {
    "value is nan, not a finite number": {"value": float("nan")},
    f"value is 1e-300, {NUMBER}": {"value": 1e-300},
    f"value is a huge number, {NUMBER}": {"value": 10**5000},
    f"size is [1], {SIZE}": {"size": [1]},
    f"case is '', {LINE}": {"case": ""},
    f"quantity is '%', {NAME}": {"quantity": "%"},
}


@pytest.mark.parametrize("message", WRONG_ROWS)
def test_a_wrong_row_is_named(message: str) -> None:
    text = refuse({"rows": [{**ROW, "size": 1}, {**ROW, **WRONG_ROWS[message]}]})
    mend = "correct what the example publishes"
    assert text == f"a.py: rows published by cell 2: row 2: {message}; {mend}"
    assert "\n" not in text


def test_rows_that_are_a_text_are_told_as_such() -> None:
    told = refuse(json.dumps({"rows": [ROW]}))
    assert "they are a text; display the object itself, without json.dumps" in told


def test_a_row_has_all_that_rows_have_and_nothing_else() -> None:
    told = "an object with case, variant, size, quantity, value and unit, optionally sizes, and"
    assert told in refuse({"rows": [{**ROW, "vaule": 1}]})
    for left in ROW:
        assert told in refuse({"rows": [{name: ROW[name] for name in ROW if name != left}]})


def test_a_key_is_there_once_in_a_recipe() -> None:
    other = {**ROW, "case": "ADAM!", "value": 3}
    text = refuse({"rows": [ROW]}, {"rows": [other]})
    mend = "correct what the example publishes"
    told = "2 rows have the key adam.100.compiled.gpu-time"
    assert text == f"a.py: rows published by cell 3: {told}; {mend}"
