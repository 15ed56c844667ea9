"""A recording tells what was changed in it after it was made."""

import copy
from typing import Any

import nbformat
import pytest

from gallery import Gallery
from recipe_gallery.recipes.hashes import seal, take_hash


def make_notebook() -> Any:
    cells = [nbformat.v4.new_code_cell("1 + 1", id=f"cell-{n}") for n in (1, 2)]
    cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text="2\nlines\x85 here")]
    data = {"application/x+json": {"1": [0.1, None, {}]}, "text/plain": "a\nb"}
    cells[1].outputs = [nbformat.v4.new_output("display_data", data)]
    cells[1].metadata["recording"] = {"seconds": 0.5}
    return nbformat.v4.new_notebook(cells=cells, metadata={"recording": {"recipe": "a"}})


CHANGES = {
    "printed": lambda n: n.cells[0].outputs[0].update(text="3"),
    "source": lambda n: n.cells[0].update(source="1 + 2"),
    "hash": lambda n: n.metadata.recording.update(hash="0"),
    "fact": lambda n: n.metadata.recording.update(recipe="b"),
    "added": lambda n: n.metadata.update(kernelspec={}),
    "fewer cells": lambda n: n.cells.pop(),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_anything_is_told(change: Any) -> None:
    notebook = nbformat.v4.reads_json(nbformat.writes(seal(make_notebook())))
    assert take_hash(copy.deepcopy(notebook)) == ""
    change(notebook)
    assert take_hash(notebook) == "was changed after it was recorded"


def test_a_new_recording_has_a_hash_and_shows_none(site: Gallery) -> None:
    text = (site.recordings / "adding.ipynb").read_text()
    assert text.count('"hash": "') == 1
    build = site.build()
    assert build.warnings == ""
    assert '"hash"' not in (build.out / "recipes/adding.ipynb").read_text()
