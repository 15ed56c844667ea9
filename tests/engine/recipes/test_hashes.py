"""A recording tells what was changed in it after it was made."""

from typing import Any

import nbformat
import pytest

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.hashes import seal, take_hash
from recipe_gallery.recipes.recording import read_recording


def make_notebook() -> Any:
    cells = [nbformat.v4.new_code_cell("1 + 1", id=f"cell-{n}") for n in (1, 2)]
    cells[0].outputs = [nbformat.v4.new_output("stream", name="stdout", text="2\nlines\x85 here")]
    data = {"application/x+json": {"1": [0.1, None, {}]}, "text/plain": "a\nb"}
    cells[1].outputs = [nbformat.v4.new_output("display_data", data)]
    cells[1].metadata["recording"] = {"seconds": 0.5}
    return nbformat.v4.new_notebook(cells=cells, metadata={"recording": {"recipe": "a"}})


def test_what_was_written_is_read_as_unchanged_and_without_its_hash() -> None:
    text = nbformat.writes(seal(make_notebook()))
    notebook = nbformat.v4.reads_json(text)
    assert text.count('"hash": "') == 1
    assert take_hash(notebook) == ""
    assert "hash" not in nbformat.writes(notebook)


CHANGES = {
    "printed": lambda n: n.cells[0].outputs[0].update(text="3"),
    "kind": lambda n: n.cells[0].outputs[0].update(name="stderr"),
    "source": lambda n: n.cells[0].update(source="1 + 2"),
    "count": lambda n: n.cells[0].update(execution_count=7),
    "time": lambda n: n.cells[1].metadata.recording.update(seconds=0.4),
    "no metadata": lambda n: n.cells[0].pop("metadata"),
    "hash": lambda n: n.metadata.recording.update(hash="0"),
    "fact": lambda n: n.metadata.recording.update(recipe="b"),
    "added": lambda n: n.metadata.update(kernelspec={}),
    "order": lambda n: n.cells.reverse(),
    "fewer cells": lambda n: n.cells.pop(),
    "format": lambda n: n.update(nbformat_minor=4),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_of_anything_is_told(change: Any) -> None:
    notebook = seal(make_notebook())
    change(notebook)
    assert take_hash(notebook) == "was changed after it was recorded"


def test_a_new_recording_has_a_hash_and_shows_none(site: Gallery) -> None:
    text = (site.recordings / "adding.ipynb").read_text()
    assert text.count('"hash": "') == 1
    build = site.build()
    assert build.warnings == ""
    assert '"hash"' not in (build.out / "recipes/adding.ipynb").read_text()


def test_a_recording_without_a_hash_is_recorded_again(site: Gallery) -> None:
    path = site.recordings / "adding.ipynb"
    path.write_text(nbformat.writes(site.recording("adding").notebook))
    with pytest.raises(GalleryError) as caught:
        read_recording(path)
    assert caught.value.text == "carries no hash of what it holds"
    assert caught.value.remedy == (
        "restore it from git or run: recipe-gallery record adding --force"
    )
