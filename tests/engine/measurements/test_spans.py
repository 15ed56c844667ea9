"""Spans as recipes publish them: what is read, and what is refused while recording and reading."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from docutils import nodes
from sphinx.application import Sphinx

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.measurements.spans import (
    SPANS_MIME,
    Spans,
    load_spans,
    parse_spans,
    read_spans,
)
from tests.helpers.gallery import Gallery

SPANS: dict[str, Any] = {
    "case": "one token",
    "unit": "s",
    "lanes": {"CPU": [[0.0, 0.1], [0.2, 0.5]], "GPU": [[0.3, 0.7]]},
}
RECIPE = f'''
"""
Steps
=====
"""

from IPython.display import display

display({{"{SPANS_MIME}": {SPANS}}}, raw=True)
'''


def read(*published: object) -> dict[str, Spans]:
    cells = [nbformat.v4.new_code_cell() for _value in published]
    for cell, value in zip(cells, published, strict=True):
        cell.outputs = [nbformat.v4.new_output("display_data", {SPANS_MIME: value})]
    return read_spans(nbformat.v4.new_notebook(cells=cells), Path("a.py"))


def test_spans_are_read_by_case() -> None:
    found = read(SPANS, {**SPANS, "case": "many"})
    assert [*found] == ["one token", "many"]
    assert found["one token"].lanes == {"CPU": ((0.0, 0.1), (0.2, 0.5)), "GPU": ((0.3, 0.7),)}
    assert found["one token"].end == 0.7


WRONG: dict[str, dict[str, Any]] = {
    "unit is 'ms', which has to be s": {"unit": "ms"},
    "lanes.CPU.0.0 is -1, which has to be seconds from the beginning of the picture": {
        "lanes": {"CPU": [[-1, 0]]}
    },
    "lanes.CPU.0 is [1], which has to be a list of start and end": {"lanes": {"CPU": [[1]]}},
    "lanes is {}, which has to be an object of 1 to 20 lanes": {"lanes": {}},
    "lane CPU, span 2: it ends at 0.5, before 1": {"lanes": {"CPU": [[0, 1], [1, 0.5]]}},
    "lane CPU, span 1: a time is nan, not a finite number": {"lanes": {"CPU": [[0, float("nan")]]}},
    "which has to be an object with case, unit and lanes": {"more": 1},
}


@pytest.mark.parametrize("told", WRONG)
def test_wrong_spans_are_named(told: str) -> None:
    with pytest.raises(GalleryError) as caught:
        read(SPANS | WRONG[told])
    assert str(caught.value).startswith("a.py: spans published by cell 1: ")
    assert told in str(caught.value)
    assert str(caught.value).endswith("; correct what the example publishes")


def test_a_case_is_published_once() -> None:
    with pytest.raises(GalleryError, match="cell 2: the case 'one token' has spans already"):
        read(SPANS, SPANS)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(ValueError, match="an object with case, unit and lanes"):
        parse_spans([])


@pytest.fixture
def noted(monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, Spans]]:
    """What each page of a build has: a site's extension asks as the page is written."""
    found: dict[str, dict[str, Spans]] = {}

    def note(app: Sphinx, _doctree: nodes.document, docname: str) -> None:
        found[docname] = load_spans(app.env, docname)

    extension = ModuleType("noting_spans")
    extension.setup = lambda app: app.connect("doctree-resolved", note)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "noting_spans", extension)
    return found


def test_a_page_has_the_spans_of_its_run(
    gallery: Gallery, noted: dict[str, dict[str, Spans]]
) -> None:
    gallery.add_extension("noting_spans")
    gallery.add("steps", RECIPE)
    gallery.build()
    assert noted["recipes/steps"] == read(SPANS)
    assert noted["index"] == {}
    notebook = json.loads((gallery.root / "out/html/recipes/steps.ipynb").read_text())
    assert not any(cell.get("outputs") for cell in notebook["cells"])


def test_names_of_lanes_are_messages_of_the_page(gallery: Gallery) -> None:
    gallery.add("steps", RECIPE)
    template = (gallery.build("gettext").out / "recipes/steps.pot").read_text()
    assert 'msgid "one token"' in template
