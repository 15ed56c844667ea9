"""Recordings that are damaged or forged, each with a hash that fits what it holds."""

import base64
import copy
import json
import struct
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.measurements.replicates import read_replicates
from sphinx_recorded_gallery.recipes.pictures import TooLargeError, check_picture
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from sphinx_recorded_gallery.recipes.recording import compare, digest, read_recording
from tests.helpers.gallery import Gallery, write_recording

Notebook = dict[str, Any]
Change = Callable[[Notebook], object]


def facts(notebook: Notebook) -> dict[str, Any]:
    return notebook["metadata"]["recording"]


def output(notebook: Notebook, cell: int) -> dict[str, Any]:
    return notebook["cells"][cell]["outputs"][0]


def chunk(kind: bytes, data: bytes) -> bytes:
    crc = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", crc)


def png(width: int, height: int) -> str:
    """Return a picture that says it has this size."""
    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    parts = [chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(b"0")), chunk(b"IEND", b"")]
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


def encode(data: bytes) -> str:
    return base64.b64encode(data).decode()


# of metadata.recording: a value of another type, or none
FACTS: dict[str, tuple[object, ...]] = {
    "device": ([1], None, "x", {}, {"cpu": "C", "cores": 2, "gpu": 5}, {"cpu": "C"}),
    "recorded": (None, "yesterday", 5, "0001-01-01T00:00:00Z", "2026-13-01T00:00:00Z"),
    "seconds": ("long", None, 1e308, 10**400, [], float("nan"), -1),
    "versions": (["x"], None, {"python": 5}),
    "commit": (5, "\x1b[31m\x07abc"),
    "modified": (None, "no"),
    "host": ([1], None),
    "inputs": ([1], None, {"a": 5}),
    "cells": ({}, None, [[1]], "abc"),
    "recipe": (5, "other"),
    "schema": ("1", True, 1.0, 2, 10**1000, [1] * 100_000),
}

OUTPUTS: dict[str, Change] = {
    "text of None": lambda n: output(n, 0).update(text=None),
    "text of lists": lambda n: output(n, 0).update(text=[["x"]]),
    "no text": lambda n: output(n, 0).pop("text"),
    "half a character": lambda n: output(n, 0).update(text="a\ud800b"),
    "another type": lambda n: output(n, 0).update(output_type="evil"),
    "no type": lambda n: output(n, 0).pop("output_type"),
    "a traceback of numbers": lambda n: n["cells"][0].update(
        outputs=[{"output_type": "error", "ename": "E", "evalue": "v", "traceback": [1]}]
    ),
    "no list": lambda n: n["cells"][0].update(outputs="abc"),
    "no outputs": lambda n: n["cells"][0].update(outputs=["abc"]),
    "a cell of text": lambda n: n["cells"][0].update(cell_type="markdown"),
    "a count of HTML": lambda n: n["cells"][0].update(execution_count="<b>"),
    "a source of a number": lambda n: n["cells"][0].update(source=5),
    "no metadata": lambda n: n["cells"][0].update(metadata=None),
    "no data": lambda n: output(n, 1).update(data=None),
    "HTML of a number": lambda n: output(n, 1)["data"].update({"text/html": 5}),
    "HTML with half a character": lambda n: output(n, 1)["data"].update({"text/html": "\udc00"}),
    "Markdown of an object": lambda n: output(n, 1)["data"].update({"text/markdown": {"a": 1}}),
    "no metadata of an output": lambda n: output(n, 2).pop("metadata"),
    "a description of a list": lambda n: output(n, 2).update(
        metadata={"image/png": {"alt": ["x"]}}
    ),
    "no base64": lambda n: output(n, 2)["data"].update({"image/png": "***"}),
    "no picture": lambda n: output(n, 2)["data"].update({"image/png": encode(b"text")}),
    "HTML as a picture": lambda n: output(n, 2)["data"].update(
        {"image/png": encode(b"<script>alert(1)</script>")}
    ),
    "a cut picture": lambda n: output(n, 2)["data"].update(
        {"image/png": encode(base64.b64decode(png(1, 1))[:-20])}
    ),
    "a huge picture": lambda n: output(n, 2)["data"].update({"image/png": png(30_000, 30_000)}),
    "a picture without size": lambda n: output(n, 2)["data"].update({"image/png": png(0, 5)}),
    "a picture of PNG as JPEG": lambda n: output(n, 2).update(data={"image/jpeg": png(1, 1)}),
    "a cut drawing": lambda n: output(n, 2).update(data={"image/svg+xml": "<svg"}),
    "another cell": lambda n: n["cells"].append(n["cells"][0]),
    "no cells": lambda n: n.update(cells=[]),
    "another format": lambda n: n.update(nbformat=3),
    "a format in words": lambda n: n.update(nbformat="4"),
}


def forge(path: Path, change: Change) -> None:
    notebook = json.loads(path.read_text())
    change(notebook)
    text = json.dumps(notebook)
    path.write_text(text)
    with suppress(AttributeError, KeyError, TypeError):  # of nbformat: nobody can compute a hash
        write_recording(path, text)


def set_fact(name: str, value: object) -> Change:
    return lambda notebook: facts(notebook).update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        *(
            pytest.param(set_fact(name, value), id=f"{name}-{number}")
            for name, values in FACTS.items()
            for number, value in enumerate(values)
        ),
        *(pytest.param(lambda n, name=name: facts(n).pop(name), id=f"no {name}") for name in FACTS),
        *(pytest.param(change, id=name) for name, change in OUTPUTS.items()),
    ],
)
def test_what_no_recorder_writes_is_refused_in_a_line(gallery: Gallery, change: Change) -> None:
    gallery.add()
    path = gallery.recordings / "adding.ipynb"
    forge(path, change)
    for trusted in (True, False):
        with pytest.raises(GalleryError) as refused:
            read_recording(path, trusted=trusted)
        assert "\n" not in str(refused.value)
        assert len(str(refused.value)) < 600
        assert "\x1b" not in str(refused.value)


def test_what_the_recorder_writes_is_read(gallery: Gallery) -> None:
    gallery.add()
    path = gallery.recordings / "adding.ipynb"
    forge(path, lambda notebook: copy.deepcopy(notebook))
    assert read_recording(path).facts["recipe"] == "adding"
    # what a later version may add, and no page of this one asks for
    forge(path, set_fact("weather", {"rain": True}))
    assert read_recording(path).facts["weather"] == {"rain": True}


@pytest.mark.slow
def test_a_forged_recording_costs_one_page_its_results(gallery: Gallery) -> None:
    gallery.add("adding")
    names = ["recorded", "no picture", "a traceback of numbers"]
    changes = [set_fact("recorded", "yesterday"), OUTPUTS[names[1]], OUTPUTS[names[2]]]
    for number, change in enumerate(changes):
        gallery.add(f"forged{number}")
        forge(gallery.recordings / f"forged{number}.ipynb", change)
    build = gallery.build()
    assert len(build.warnings.strip().splitlines()) == len(changes)
    assert "the total is 3" in build.page("recipes/adding")
    for number in range(len(changes)):
        page = build.page(f"recipes/forged{number}")
        assert "is damaged, so it shows no results" in page


@pytest.mark.parametrize(
    "html",
    [
        "<div>" * 50_000,
        "<div></x>" * 50_000,
        "<div/>" * 50_000,
        "<div><table></div>" * 50_000,
        "<svg><desc><path/>" * 50_000,
        "<b a=1><p>" * 50_000,
        "<rt>" * 50_000,
        "<option><p>" * 50_000,
    ],
)
def test_html_that_takes_minutes_to_clean_is_refused_at_once(gallery: Gallery, html: str) -> None:
    gallery.add()
    path = gallery.recordings / "adding.ipynb"
    forge(path, lambda n: output(n, 1).update(data={"text/html": html}))
    began = time.monotonic()
    with pytest.raises(GalleryError, match="more than 500 unclosed elements inside each other"):
        read_recording(path)
    assert time.monotonic() - began < 10


def test_a_large_table_is_read(gallery: Gallery) -> None:
    gallery.add()
    path = gallery.recordings / "adding.ipynb"
    rows = "<tr><td><b>1</b><br><td>2</tr>" * 5_000
    forge(path, lambda n: output(n, 1).update(data={"text/html": f"<table>{rows}</table>"}))
    html = output(read_recording(path).notebook, 1)["data"]["text/html"]
    assert html.count("<tr>") == 5_000


def test_pictures_that_browsers_show_pass() -> None:
    check_picture("image/png", png(8, 8))
    check_picture("image/svg+xml", '<svg xmlns="http://www.w3.org/2000/svg"/>')


def replicate_line(**changed: object) -> bytes:
    """Return a line of a replicate with a hash that fits it."""
    value = {
        "schema": 1,
        "replicate": 1,
        "fingerprint": "f",
        "device": {"cpu": "C", "cores": 2},
        "versions": {"python": "3.12"},
        "host": "h",
        "commit": None,
        "modified": False,
        "recorded": "2026-01-01T00:00:00Z",
        "seconds": 1.5,
        "rows": [],
    } | changed
    return json.dumps({**value, "hash": digest(value)}).encode() + b"\n"


@pytest.mark.parametrize(
    "changed",
    [
        *(
            {name: value}
            for name, values in FACTS.items()
            if name not in ("recipe", "cells", "inputs")
            for value in values
            if value != {"cpu": "C"}  # of a replicate, nobody asks for the cores
        ),
        {"replicate": "1"},
        {"replicate": None},
        {"fingerprint": ["f"]},
    ],
    ids=str,
)
def test_a_forged_replicate_is_refused_with_its_line(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    path = tmp_path / "adding.jsonl"
    path.write_bytes(replicate_line() + replicate_line(**changed))
    with pytest.raises(GalleryError, match=r"adding\.jsonl:2: ") as refused:
        read_replicates(path, "")
    assert len(str(refused.value)) < 600
    path.write_bytes(replicate_line())
    assert len(read_replicates(path, "")[0]) == 1


def test_a_folder_in_a_recordings_place_is_moved_before_it_is_recorded(tmp_path: Path) -> None:
    path = tmp_path / "adding.ipynb"
    path.mkdir()
    with pytest.raises(GalleryError, match="a folder is in its place; move it away and run: "):
        read_recording(path)


def test_a_picture_that_is_too_large_is_another_error_than_one_that_is_cut() -> None:
    with pytest.raises(TooLargeError, match="it has 30,000 x 30,000 pixels, of at most 100 mill"):
        check_picture("image/png", png(30_000, 30_000))
    with pytest.raises(ValueError, match="it has 0 x 5 pixels"):
        check_picture("image/png", png(0, 5))


@pytest.mark.parametrize(
    ("codes", "differences"),
    [
        (["x = 1", "y = 2", "z = 3"], ""),
        (["x = 1", "y = 5", "z = 3"], "changed code in cell 2 (line 12)"),
        (["x = 1", "z = 3"], "recorded cells that the example no longer has: 1"),
        # A new cell is not taken for the one that was removed elsewhere
        (
            ["w = 0", "x = 1", "y = 2"],
            "changed code in cell 1 (line 8); recorded cells that the example no longer has: 1",
        ),
    ],
)
def test_a_removed_cell_is_told_beside_a_new_one(
    gallery: Gallery, codes: list[str], differences: str
) -> None:
    head = '"""\nParts\n=====\n\nText.\n"""\n\n'
    gallery.add("parts", head + "\n\n# %%\n\n".join(["x = 1", "y = 2", "z = 3"]) + "\n")
    path = gallery.write("parts", head + "\n\n# %%\n\n".join(codes) + "\n")
    comparison = compare(load_recipe(path), gallery.recording("parts"))
    assert comparison.describe() == differences
    assert comparison.is_current == (not differences)
