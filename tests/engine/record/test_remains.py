"""What a killed recorder leaves is removed by the next one, and nothing else."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil
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


def test_what_was_left_is_ended_and_removed(temporary: Path) -> None:
    left = temporary / "recipe-run-left"
    (left / "work" / "locked").mkdir(parents=True)
    (left / "work" / "locked" / "file").touch()
    (left / "owner.lock").touch()
    (left / "work" / "locked").chmod(0)
    (left / "link").symlink_to(temporary / "beside")
    (temporary / "beside").mkdir(mode=0o500)
    process = subprocess.Popen(SLEEP, env={MARK: str(left)}, start_new_session=True)
    while not psutil.Process(process.pid).environ():
        time.sleep(0.01)  # it has begun, and not yet what it is to be
    try:
        assert remove_leftovers().endswith("folders: 1, processes: 1")
        assert process.poll() is not None
    finally:
        process.kill()
        process.wait()
    assert [path.name for path in temporary.iterdir()] == ["beside"]
    assert (temporary / "beside").stat().st_mode & 0o777 == 0o500
    assert remove_leftovers() == ""


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
