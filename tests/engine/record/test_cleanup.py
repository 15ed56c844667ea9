"""What a killed recorder leaves is removed by the next one, and nothing else."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sphinx_recorded_gallery.record.cleanup import remove_leftovers, run_folder
from tests.helpers.gallery import ROOT

REMOVE = (
    "from sphinx_recorded_gallery.record.cleanup import remove_leftovers; print(remove_leftovers())"
)


def test_runs_whose_recorder_lives_and_what_is_no_run_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    for name in ("kept", "recipe-run-others", "recipe-run-results"):  # the last is a person's
        (tmp_path / name).mkdir()
    for name in ("kept", "recipe-run-others"):
        (tmp_path / name / "owner.lock").touch()
    (tmp_path / "recipe-run-link").symlink_to(tmp_path / "kept")
    (tmp_path / "recipe-run-file").touch()
    before = {*tmp_path.rglob("*")}
    with run_folder() as folder, monkeypatch.context() as patched:
        command = [sys.executable, "-c", REMOVE]
        told = "note: an earlier recording was killed; its temporary folders were removed: 1\n"
        assert subprocess.check_output(command, cwd=ROOT, text=True) == told  # others, of this user
        assert folder.exists()
        (tmp_path / "recipe-run-others").mkdir()
        (tmp_path / "recipe-run-others/owner.lock").touch()
        patched.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
        assert remove_leftovers() == ""
    assert {*tmp_path.rglob("*")} == before
