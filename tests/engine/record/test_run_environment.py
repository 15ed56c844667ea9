"""What is told of packages, of what a probe says, and of the commit."""

from pathlib import Path

import pytest

from sphinx_recorded_gallery.record.run_environment import describe_commit
from tests.helpers.gallery import git


@pytest.fixture
def committed(tmp_path: Path) -> Path:
    """A repository with one file."""
    git(tmp_path, "init")
    (tmp_path / "a.py").write_text("1")
    (tmp_path / ".gitignore").write_text("built\n")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "all")
    return tmp_path


def test_a_commit_is_that_of_the_gallery_and_changes_are_told(committed: Path) -> None:
    facts, note = describe_commit(committed)
    assert (len(facts["commit"]), facts["modified"], note) == (40, False, "")
    (committed / "new.py").touch()
    facts, note = describe_commit(committed)
    assert facts["modified"]
    assert note == f"{committed} has uncommitted changes; the recordings will say so"


def test_a_commit_of_another_repository_that_a_hook_names_is_not_taken(
    committed: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path_factory.mktemp("other")
    git(other, "init")
    git(other, "commit", "--allow-empty", "-m", "other")
    expected = describe_commit(committed)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other / "index"))
    assert describe_commit(committed) == expected


@pytest.mark.parametrize("kind", ["worktree", "shallow clone"])
def test_a_commit_is_found_wherever_git_keeps_it(
    committed: Path, tmp_path_factory: pytest.TempPathFactory, kind: str
) -> None:
    git(committed, "commit", "--allow-empty", "-m", "second")
    folder = tmp_path_factory.mktemp("other") / "checkout"
    if kind == "worktree":
        git(committed, "worktree", "add", str(folder))
    else:
        git(committed, "clone", "--depth", "1", committed.as_uri(), str(folder))
    facts, note = describe_commit(folder)
    assert (facts, note) == describe_commit(committed)
    assert len(facts["commit"]) == 40


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
