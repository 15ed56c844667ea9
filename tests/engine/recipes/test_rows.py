"""Rows and claims as recipes publish them: what is read, and what is refused."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat import NotebookNode

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes import rows
from recipe_gallery.recipes.rows import MIME, Claim, Row, parse, read_published, slug

SCHEMA = json.loads(Path(rows.__file__).with_name("rows.schema.json").read_text())
ROW: dict[str, Any] = {
    "case": "Adam",
    "arm": "compiled",
    "size": 100,
    "quantity": "GPU time",
    "value": 0.71,
    "unit": "ms",
}
CLAIM: dict[str, Any] = {"claim": "adam.faster", "holds": True, "evidence": "0.71 against 2.0 ms"}


def notebook(*displays: object) -> NotebookNode:
    cells = [nbformat.v4.new_code_cell() for _ in range(1 + len(displays))]
    for cell, value in zip(cells[1:], displays, strict=True):
        cell.outputs = [nbformat.v4.new_output("display_data", {MIME: value})]
    return nbformat.v4.new_notebook(cells=cells)


def refuse(*displays: object) -> str:
    with pytest.raises(GalleryError) as caught:
        read_published(notebook(*displays), Path("a.py"))
    return str(caught.value)


def is_valid(value: object) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(value)


@pytest.mark.parametrize(
    ("name", "longest"),
    [("case", 100), ("arm", 100), ("size", 60), ("quantity", 60), ("unit", 20), ("class", 60)],
)
def test_each_text_of_a_row_has_its_bound(name: str, longest: int) -> None:
    row = ROW | {name: "x" + "!" * (longest - 1)}  # of which a key shows one character
    too_long = ROW | {name: "x" + "!" * longest}
    assert len(parse({"rows": [row]}).rows) == 1
    assert is_valid({"rows": [row]})
    assert not is_valid({"rows": [too_long]})
    assert name in refuse({"rows": [too_long]})


def test_displays_add_up() -> None:
    found = read_published(notebook({"rows": [ROW]}, {}, {"claims": [CLAIM]}), Path("a.py"))
    expected = {**ROW, "spread_class": "GPU time"}
    assert found.rows == (Row(**expected),)
    assert found.claims == (Claim(key="adam.faster", holds=True, evidence="0.71 against 2.0 ms"),)
    assert parse(found.as_json()) == found
    assert not read_published(notebook(), Path("a.py"))


@pytest.mark.parametrize(
    ("size", "key"),
    [
        (100, "adam.100.compiled.gpu-time"),
        (None, "adam.compiled.gpu-time"),
        (2.5, "adam.2-5.compiled.gpu-time"),
        (100.0, "adam.100.compiled.gpu-time"),
        ("64 x 512, bf16", "adam.64-x-512-bf16.compiled.gpu-time"),
        ("_small_", "adam._small_.compiled.gpu-time"),
    ],
)
def test_a_row_is_called_by_case_size_arm_and_quantity(size: object, key: str) -> None:
    assert parse({"rows": [{**ROW, "size": size}]}).rows[0].key == key


def test_the_class_of_a_row_is_its_quantity_unless_it_names_one() -> None:
    named, plain = parse({"rows": [{**ROW, "class": "gpu"}, {**ROW, "size": 1}]}).rows
    assert (named.spread_class, plain.spread_class) == ("gpu", "GPU time")


WRONG_ROWS = {
    "value is nan, not a finite number": {"value": float("nan")},
    "value is inf, not a finite number": {"value": float("inf")},
    "value is True, not a plain number": {"value": True},
    "value is '1', not a plain number": {"value": "1"},
    "value is None, not a plain number": {"value": None},
    "value is -1, not 0 nor in 1e-15 to 1e+15": {"value": -1},
    "value is 1e-300, not 0 nor in 1e-15 to 1e+15": {"value": 1e-300},
    "value is a huge number, not 0 nor in 1e-15 to 1e+15": {"value": 10**5000},
    "size is False, not a plain number": {"size": False},
    "size is [1], not a plain number": {"size": [1]},
    "size '×' has no letter a-z and no digit, for its key": {"size": "×"},
    "case is 1, not a string": {"case": 1},
    "case '' is not one line of text without spaces around it": {"case": ""},
    "arm ' a' is not one line of text without spaces around it": {"arm": " a"},
    "arm 'a\\nb' is not one line of text without spaces around it": {"arm": "a\nb"},
    "arm 'a\\u200bb' is not one line of text without spaces around it": {"arm": "a\u200bb"},
    "quantity '%' has no letter a-z and no digit, for its key": {"quantity": "%"},
    "unit is None, not a string": {"unit": None},
    f"unit '{'m' * 21}' has 21 characters, more than 20": {"unit": "m" * 21},
    "class is None, not a string": {"class": None},
    "'vaule' is unknown; there are arm, case, class, quantity, size, unit, value": {"vaule": 1},
}


@pytest.mark.parametrize("message", WRONG_ROWS)
def test_a_wrong_row_is_named(message: str) -> None:
    text = refuse({"rows": [{**ROW, "size": 1}, {**ROW, **WRONG_ROWS[message]}]})
    mend = "correct what the recipe publishes"
    assert text == f"a.py: rows published by cell 2: row 2: {message}; {mend}"
    assert "\n" not in text


@pytest.mark.parametrize("name", ROW)
def test_nothing_may_be_left_out_of_a_row(name: str) -> None:
    text = refuse({"rows": [{key: value for key, value in ROW.items() if key != name}]})
    assert f"row 1: {name} is missing" in text


WRONG_CLAIMS = {
    "holds is 1, not true or false": {"holds": 1},
    "claim 'Adam' is not 1 to 100 of the characters a-z, 0-9, _, . and -": {"claim": "Adam"},
    "claim '' is not 1 to 100 of the characters a-z, 0-9, _, . and -": {"claim": ""},
    f"evidence '{'x' * 59}... has 201 characters, more than 200": {"evidence": "x" * 201},
    "evidence 'a\\nb' is not one line of text without spaces around it": {"evidence": "a\nb"},
    "'x' is unknown; there are claim, evidence, holds": {"x": 1},
}


@pytest.mark.parametrize("message", WRONG_CLAIMS)
def test_a_wrong_claim_is_named(message: str) -> None:
    text = refuse({"claims": [{**CLAIM, **WRONG_CLAIMS[message]}]})
    mend = "correct what the recipe publishes"
    assert text == f"a.py: rows published by cell 2: claim 1: {message}; {mend}"


@pytest.mark.parametrize(
    "value", [[], None, "text", {"row": []}, {"rows": {}}, {"rows": [1]}, {"claims": None}], ids=str
)
def test_another_form_is_refused(value: object) -> None:
    assert refuse(value).startswith("a.py: rows published by cell 2: ")
    assert not is_valid(value)


def test_a_key_is_there_once_in_a_recipe() -> None:
    other = {**ROW, "case": "ADAM!", "value": 3}
    text = refuse({"rows": [ROW]}, {"rows": [other]})
    mend = "correct what the recipe publishes"
    told = "2 rows have the key adam.100.compiled.gpu-time"
    assert text == f"a.py: rows published by cell 3: {told}; {mend}"
    assert "2 claims have the key adam.faster" in refuse({"claims": [CLAIM, CLAIM]})


def test_too_many_rows_are_refused() -> None:
    many = [{**ROW, "size": size} for size in range(2001)]
    assert "2001 rows, more than 2000" in refuse({"rows": many})


NO_JSON = "value is nan", "value is a huge number"  # no program can check these by a schema


@pytest.mark.parametrize("message", [each for each in WRONG_ROWS if not each.startswith(NO_JSON)])
def test_the_schema_refuses_what_is_refused(message: str) -> None:  # nan is no JSON
    assert is_valid({"rows": [ROW]})
    assert not is_valid({"rows": [{**ROW, **WRONG_ROWS[message]}]})


@pytest.mark.parametrize("message", WRONG_CLAIMS)
def test_the_schema_refuses_claims_that_are_refused(message: str) -> None:
    assert is_valid({"claims": [CLAIM]})
    assert not is_valid({"claims": [{**CLAIM, **WRONG_CLAIMS[message]}]})


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([*ROW, "rows"]), inner),
    )
)
def test_whatever_is_published_is_read_or_refused_in_a_line(value: object) -> None:
    told = ""
    try:
        read_published(notebook({"rows": [{**ROW, "size": value}]}, value), Path("a.py"))
    except GalleryError as error:
        told = str(error)
    assert len(told.splitlines()) <= 1


LINES = st.text(max_size=5) | st.sampled_from(["Adam", "10 layers: a", "K", "\u3000", "é_"])


@given(LINES, st.none() | st.floats() | st.integers() | LINES, st.floats() | st.integers(), LINES)
def test_what_is_read_is_valid_by_the_schema(
    case: str, size: object, value: float, unit: str
) -> None:
    row = {**ROW, "case": case, "size": size, "value": value, "unit": unit, "class": case}
    read = True
    try:
        parse({"rows": [row]})
    except ValueError:
        read = False
    assert is_valid({"rows": [row]}) >= read


@given(st.text() | st.integers() | st.floats(allow_nan=False, allow_infinity=False))
def test_a_slug_has_only_the_characters_of_a_key(part: str | float) -> None:
    assert set(slug(part)) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-")
