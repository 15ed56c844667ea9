"""What recordings publish is checked by the schema, as `make lint` does it."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from gallery import ROOT
from recipe_gallery.recipes import rows
from recipe_gallery.recipes.replicates import Replicate, append
from recipe_gallery.recipes.rows import MIME

ROW = {"case": "a", "arm": "b", "size": None, "quantity": "time", "value": 1.5, "unit": "ms"}
CHECK = Path(sys.executable).with_name("check-jsonschema")
SCHEMA = Path(rows.__file__).with_name("rows.schema.json")


def check(recordings: Path, folder: Path) -> tuple[int, str]:
    script = ROOT / ".github/scripts/published_rows.py"
    done = subprocess.run(
        [sys.executable, script, recordings, folder], capture_output=True, text=True
    )
    if done.returncode:
        return done.returncode, done.stderr
    done = subprocess.run(
        [CHECK, "--schemafile", SCHEMA, *folder.iterdir()], capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "recordings/part/a.ipynb"


def publish(path: Path, *values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cells = [nbformat.v4.new_code_cell() for _ in values]
    for cell, value in zip(cells, values, strict=True):
        cell.outputs = [nbformat.v4.new_output("display_data", {MIME: value})]
    path.write_text(json.dumps(nbformat.v4.new_notebook(cells=cells)))


def test_right_rows_pass_and_wrong_ones_are_named(recording: Path, tmp_path: Path) -> None:
    publish(recording, {"rows": [ROW]}, {"rows": [ROW | {"size": 1}], "claims": []})
    status, text = check(tmp_path / "recordings", tmp_path / "rows")
    assert status == 0, text
    publish(recording, {"rows": [ROW]}, {"rows": [ROW | {"value": "1.5"}]})
    status, text = check(tmp_path / "recordings", tmp_path / "rows")
    assert status == 1
    assert "part.a.cell-2.json::$.rows[0].value" in text


def test_a_number_that_is_no_json_fails(recording: Path, tmp_path: Path) -> None:
    publish(recording, {"rows": [ROW | {"value": float("nan")}]})
    status, text = check(tmp_path / "recordings", tmp_path / "rows")
    assert (status, "not JSON compliant" in text) == (1, True)


def test_lines_of_replicates_are_checked(recording: Path, tmp_path: Path) -> None:
    publish(recording, {"rows": [ROW]})
    line = Replicate(
        fingerprint="f",
        replicate=1,
        host="h",
        device={"cpu": "CPU"},
        clocks={},
        versions={},
        commit=None,
        modified=False,
        recorded="2026-11-22",
        seconds=1,
    )
    path = recording.with_suffix(".jsonl")
    append(path, replace(line, rows=rows.parse({"rows": [ROW]}).rows))
    assert check(tmp_path / "recordings", tmp_path / "rows")[0] == 0
    path.write_text(path.read_text().replace('"time"', "1"))
    status, text = check(tmp_path / "recordings", tmp_path / "rows")
    assert status == 1
    assert "part.a.line-1.json::$.rows[0]" in text


def test_recordings_without_rows_pass(recording: Path, tmp_path: Path) -> None:
    publish(recording)
    assert check(tmp_path / "recordings", tmp_path / "rows")[0] == 0
    assert [path.read_text() for path in (tmp_path / "rows").iterdir()] == ["{}"]
