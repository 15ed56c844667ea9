"""Which files are recordings, and what is said of others."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gallery import write_recording
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recipe import Cell
from recipe_gallery.recipes.recording import SCHEMA, Comparison, compare, find_data, read_recording

Change = Callable[[dict[str, Any]], object]


def write(tmp_path: Path, change: Change = lambda notebook: None, **facts: Any) -> Path:
    known = {
        "schema": SCHEMA,
        "recipe": "deep",
        "cells": ["f"],
        "inputs": {},
        "device": {"cpu": "A CPU", "cores": 2},
        "versions": {"python": "3"},
        "commit": None,
        "modified": False,
        "recorded": "2026-01-02T03:04:05Z",
        "seconds": 1.5,
    }
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": "a"},
        {"output_type": "error", "ename": "E", "evalue": "v", "traceback": ["t"]},
        {"output_type": "display_data", "data": {"application/x-y+json": {"a": 1}}, "metadata": {}},
    ]
    cell = {
        "cell_type": "code",
        "id": "cell-1",
        "metadata": {},
        "source": "x",
        "execution_count": 1,
        "outputs": outputs,
    }
    notebook = {
        "cells": [cell],
        "metadata": {"recording": known | facts},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    change(notebook)
    path = tmp_path / "deep.ipynb"
    write_recording(path, json.dumps(notebook))
    return path


def test_a_recording_tells_where_when_and_what_was_published(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path))
    assert (recording.device_name, recording.on_gpu) == ("A CPU", False)
    assert recording.recorded.isoformat() == "2026-01-02T03:04:05+00:00"
    assert [*find_data(recording.notebook)] == [(1, {"application/x-y+json": {"a": 1}})]
    on_gpu = read_recording(write(tmp_path, device={"cpu": "c", "cores": 1, "gpu": "G"}))
    assert (on_gpu.device_name, on_gpu.on_gpu) == ("G", True)


def test_a_recording_is_known_by_the_name_of_its_recipe_whatever_folder_it_is_in(
    tmp_path: Path,
) -> None:
    path = write(tmp_path, recipe="advanced/deep")
    assert read_recording(path).path == read_recording(path, "guides/deep").path == path
    with pytest.raises(GalleryError) as caught:
        read_recording(path.rename(tmp_path / "other.ipynb"))
    assert caught.value.text == "holds the recording of 'advanced/deep'"
    assert caught.value.remedy == (
        "name it advanced/deep.ipynb or run: recipe-gallery record other --force"
    )


@pytest.mark.parametrize(
    ("change", "facts", "text"),
    [
        (None, {"schema": 99}, f"recorded in format 99, this version reads {SCHEMA}"),
        (None, {"cells": []}, "cells are missing from this recording"),
        (lambda n: n["metadata"].clear(), {}, "not a recording made here"),
    ],
)
def test_what_is_no_recording_is_told(
    tmp_path: Path, change: Change | None, facts: dict[str, Any], text: str
) -> None:
    path = write(tmp_path, change or (lambda notebook: None), **facts)
    with pytest.raises(GalleryError) as caught:
        read_recording(path)
    assert (caught.value.text, caught.value.path) == (text, path)
    assert caught.value.remedy.endswith("run: recipe-gallery record deep --force")


def test_a_conflict_of_two_branches_is_told_with_the_way_out(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}\n=======\n{{}}\n>>>>>>> other\n")
    with pytest.raises(GalleryError, match="a conflict that git left here; keep that of one side"):
        read_recording(path)


def test_only_inputs_that_changed_came_or_went_are_named(tmp_path: Path) -> None:
    recording = read_recording(write(tmp_path, inputs={"a": "1", "b": "2", "c": "3"}))
    cell = Cell(number=1, line=1, source="x", code="x")
    recipe: Any = SimpleNamespace(cells=[cell], inputs={"a": "1", "b": "9", "d": "4"})
    assert compare(recipe, recording).inputs == ("b", "c", "d")
    changed = Comparison(recorded={}, changed=(), removed=0, inputs=("b", "c", "d"))
    assert changed.describe() == "changed input b, c, d"


@pytest.mark.parametrize(
    ("changed", "removed", "told"),
    [
        (1, 1, "changed code in cell 1 (line 1)"),
        (
            1,
            2,
            "changed code in cell 1 (line 1); recorded cells that are no longer in the recipe: 1",
        ),
        (0, 2, "recorded cells that are no longer in the recipe: 2"),
    ],
)
def test_a_changed_cell_is_not_told_as_one_that_is_gone(
    changed: int, removed: int, told: str
) -> None:
    cells = (Cell(number=1, line=1, source="x", code="x"),)[:changed]
    compared = Comparison(recorded={}, changed=cells, removed=removed, inputs=())
    assert compared.describe() == told


SVG = '<svg xmlns="http://www.w3.org/2000/svg"><circle r="1"/></svg>'


def show(**data: Any) -> Change:
    """Let the cell show something, by MIME type with _ for a slash."""
    shown = {mime.replace("_", "/"): value for mime, value in data.items()}
    output = {"output_type": "display_data", "data": shown, "metadata": {}}
    return lambda notebook: notebook["cells"][0].update(outputs=[output])


def test_what_is_read_is_harmless(tmp_path: Path) -> None:
    acting = SVG.replace("<circle", "<script/><circle")
    html = "<p onclick='x()'>t</p><script>x</script>"
    change = show(**{"text_html": html, "image_svg+xml": acting, "text_plain": "<script>"})
    (output,) = read_recording(write(tmp_path, change)).notebook.cells[0].outputs
    assert output.data["text/html"] == "<p>t</p>"
    assert "script" not in output.data["image/svg+xml"]
    assert output.data["text/plain"] == "<script>"


def test_what_is_trusted_is_read_as_it_was_made(tmp_path: Path) -> None:
    data = {
        "text_html": "<b onclick='x()'>t</b>",
        "image_svg+xml": SVG.replace("<c", "<script/><c"),
    }
    path = write(tmp_path, show(**data, application_javascript="x"))
    (output,) = read_recording(path, trusted=True).notebook.cells[0].outputs
    assert sorted(output.data.values()) == sorted([*data.values(), "x"])
