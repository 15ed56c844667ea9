"""What is told of packages, of what a probe says, and of the commit."""

import contextlib
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.facts import describe_commit, package_versions, run_probe
from recipe_gallery.record.programs import ask


def test_versions_are_those_of_installed_packages() -> None:
    versions = package_versions(["pytest", "no-such-package", "", "../x"])
    assert versions == {"python": sys.version.split()[0], "pytest": pytest.__version__}


def test_a_probe_says_what_no_package_tells() -> None:
    assert run_probe("", {}, 60) == {}
    assert run_probe("print('{\"gpu\": true}')", {}, 60) == {"gpu": True}


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("print(1)", "1"),
        ("print('a'); print('b')", "b"),
        ("pass", "no output"),
        ("raise SystemExit('no driver')", "no driver"),
        ("raise SystemExit('e' * 1000)", "e" * 300),
    ],
)
def test_a_probe_that_fails_says_why(program: str, reason: str) -> None:
    with pytest.raises(GalleryError) as caught:
        run_probe(program, {}, 60)
    assert caught.value.text == f"the probe in recording.toml failed: {reason}"
    meant = "print an object such as" if "Exit" not in program else "install what recipes need"
    assert caught.value.remedy.startswith(meant)


@pytest.mark.parametrize("versions", ["[1]", "5", '{"CUDA": 13}', '{"CUDA": {"a": "1"}}'])
def test_versions_that_a_page_cannot_show_are_told(versions: str) -> None:
    with pytest.raises(GalleryError, match=r'failed: .*; print an object such as \{"gpu": true'):
        run_probe(f"print('{{\"versions\": {versions}}}')", {}, 60)


@pytest.mark.slow
def test_a_probe_that_hangs_is_ended_with_its_children(tmp_path: Path) -> None:
    program = f"""
import pathlib, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
pathlib.Path({str(tmp_path / "pid")!r}).write_text(str(child.pid))
time.sleep(600)
"""
    with pytest.raises(GalleryError) as caught:
        run_probe(program, {}, 2)
    assert str(caught.value) == (
        "the probe in recording.toml gave no answer in 2 s; see whether the GPU's driver hangs, or "
        "raise cell_timeout in recording.toml"
    )
    with contextlib.suppress(psutil.NoSuchProcess):
        child = psutil.Process(int((tmp_path / "pid").read_text()))
        psutil.wait_procs([child], timeout=5)
        assert child.status() == psutil.STATUS_ZOMBIE  # nobody has asked how it ended


def test_a_program_without_an_answer_is_ended() -> None:
    with pytest.raises(TimeoutError, match=r"^no answer in 0\.2 s$"):
        ask(["sleep", "61.25"], seconds=0.2)
    assert not [each for each in psutil.Process().children() if "61.25" in each.cmdline()]


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def test_a_commit_is_named_and_changes_are_told(tmp_path: Path) -> None:
    git(tmp_path, "init")
    path = tmp_path / "a.py"
    path.write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")
    facts, note = describe_commit(tmp_path)
    assert (len(facts["commit"]), facts["modified"], note) == (40, False, "")
    path.write_text("2")
    facts, note = describe_commit(tmp_path)
    assert facts["modified"]
    assert note == f"{tmp_path} has uncommitted changes; the recordings will say so"


def test_a_commit_is_that_of_the_gallery_whatever_is_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "other"):
        (tmp_path / name).mkdir()
        git(tmp_path / name, "init")
        (tmp_path / name / "a.py").write_text(name)
        git(tmp_path / name, "add", ".")
        git(tmp_path / name, "commit", "-m", name)
    git(tmp_path / "mine", "config", "status.showUntrackedFiles", "no")
    mine, _note = describe_commit(tmp_path / "mine")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))  # as hooks of git set it
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "none"))
    assert describe_commit(tmp_path / "mine")[0] == mine
    (tmp_path / "mine" / "new.py").touch()
    assert describe_commit(tmp_path / "mine")[0]["modified"]


def test_what_git_ignores_has_no_commit(tmp_path: Path) -> None:
    git(tmp_path, "init")
    (tmp_path / ".gitignore").write_text("built\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")
    (tmp_path / "built").mkdir()
    facts, note = describe_commit(tmp_path / "built")
    assert facts == {"commit": None, "modified": False, "commit_unknown": "git ignores it"}
    assert note == "the recordings will name no commit: git ignores it"


def test_no_repository_and_no_commit_yet_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    facts, note = describe_commit(tmp_path)
    none = {"commit": None, "modified": False}
    assert facts == none | {"commit_unknown": "not a git repository"}
    assert note == "the recordings will name no commit: not a git repository"
    git(tmp_path, "init")
    assert "does not have any commits yet" in describe_commit(tmp_path)[0]["commit_unknown"]
    monkeypatch.setenv("PATH", "/nowhere")
    assert "No such file or directory" in describe_commit(tmp_path)[0]["commit_unknown"]


def test_a_repository_of_another_owner_is_told_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git(tmp_path, "init")
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")  # git's own, for its tests
    monkeypatch.setenv("HOME", str(tmp_path))  # no settings of whoever runs this
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    facts, note = describe_commit(tmp_path)
    why = "detected dubious ownership"  # and not in which folder
    assert facts == {"commit": None, "modified": False, "commit_unknown": why}
    assert note == (
        f"the recordings will name no commit: {why}; if you trust it, run: "
        f"git config --global --add safe.directory {tmp_path}"
    )
