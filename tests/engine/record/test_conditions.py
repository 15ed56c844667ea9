"""What is told of packages, of what a probe says, and of the commit."""

import contextlib
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.conditions import describe_commit, package_versions, run_probe


def test_versions_are_those_of_installed_packages() -> None:
    versions = package_versions(["pytest", "no-such-package", "", "../x"])
    assert versions == {"python": sys.version.split()[0], "pytest": pytest.__version__}


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("print('a'); print('b')", "b"),
        ("pass", "no output"),
        ("raise SystemExit('no driver')", "no driver"),
        ('print(\'{"versions": {"CUDA": 13}}\')', '{"versions": {"CUDA": 13}}'),
    ],
)
def test_a_probe_that_fails_says_why(program: str, told: str) -> None:
    assert run_probe("print('{\"gpu\": true}')", {}, 60) == {"gpu": True}
    with pytest.raises(GalleryError) as caught:
        run_probe(program, {}, 60)
    assert str(caught.value).startswith(f"the probe in recording.toml failed: {told}; install what")


@pytest.mark.slow
def test_a_probe_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    program = f"""
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(tmp_path / "pid")!r}).write_text(str(child.pid))
time.sleep(600)
"""
    with pytest.raises(
        GalleryError, match=r"recording\.toml failed: no answer in 2 s, as of a GPU"
    ):
        run_probe(program, {}, 2)
    with contextlib.suppress(psutil.NoSuchProcess):
        child = psutil.Process(int((tmp_path / "pid").read_text()))
        psutil.wait_procs([child], timeout=5)
        assert child.status() == psutil.STATUS_ZOMBIE  # nobody has asked how it ended


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository with one file."""
    git(tmp_path, "init")
    (tmp_path / "a.py").write_text("1")
    (tmp_path / ".gitignore").write_text("built\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")
    return tmp_path


def test_a_commit_is_that_of_the_gallery_and_changes_are_told(
    committed: Path,
) -> None:
    facts, note = describe_commit(committed)
    assert (len(facts["commit"]), facts["modified"], note) == (40, False, "")
    (committed / "new.py").touch()
    facts, note = describe_commit(committed)
    assert facts["modified"]
    assert note == f"{committed} has uncommitted changes; the recordings will say so"


def test_why_there_is_no_commit_is_told(
    committed: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> str:
        facts, note = describe_commit(folder)
        assert facts == {"commit": None, "modified": False}
        return note.removeprefix("the recordings will name no commit: ")

    (committed / "built").mkdir()
    assert refuse(committed / "built") == "git ignores it"
    empty = tmp_path_factory.mktemp("empty")
    assert "fatal: not a git repository" in refuse(empty)
    git(empty, "init")
    assert "does not have any commits yet" in refuse(empty)
    monkeypatch.setenv("PATH", "/nowhere")
    assert refuse(committed) == "No such file or directory"
