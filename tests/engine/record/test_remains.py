"""What a killed recorder leaves is removed by the next one, and nothing else."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from gallery import ROOT
from recipe_gallery.record.remains import MARK, remove_leftovers, run_folder

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.mark.slow
def test_a_run_whose_recorder_lives_is_left_alone(temporary: Path) -> None:
    with run_folder() as folder:
        child = subprocess.Popen(SLEEP, env={MARK: str(folder)})
        try:
            found = "from recipe_gallery.record.remains import remove_leftovers as remove"
            program = [sys.executable, "-c", f"{found}\nprint(remove())"]
            assert subprocess.check_output(program, cwd=ROOT, text=True) == "\n"
            assert folder.exists()
            assert child.poll() is None
        finally:
            child.kill()
            child.wait()
    assert list(temporary.iterdir()) == []


def test_what_is_no_folder_of_a_run_stays(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = temporary / "kept"
    kept.mkdir()
    (kept / "owner.lock").touch()
    (temporary / "recipe-run-link").symlink_to(kept)
    (temporary / "recipe-run-file").touch()
    (temporary / "recipe-run-results").mkdir()  # a person's
    assert remove_leftovers() == ""
    assert (kept / "owner.lock").exists()
    assert (temporary / "recipe-run-results").exists()
    others = temporary / "recipe-run-others"
    others.mkdir()
    (others / "owner.lock").touch()
    monkeypatch.setattr(os, "getuid", lambda: others.stat().st_uid + 1)
    assert remove_leftovers() == ""
    assert others.exists()
