"""Lines of replicates: nothing finished is lost, whoever is killed, full or at work beside."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.measurements.replicates import Replicate, read_replicates
from sphinx_recorded_gallery.measurements.rows import parse
from sphinx_recorded_gallery.record.write_recordings import append_replicate
from tests.helpers.gallery import ROOT, git
from tests.helpers.measured_recipe import REPLICATE

ROW = {"case": "a", "variant": "b", "size": None, "quantity": "time", "value": 1.5, "unit": "ms"}
ROWS = parse({"rows": [ROW]})
LINE = replace(REPLICATE, replicate=1, rows=ROWS)


def append(path: Path, replicate: Replicate) -> None:
    append_replicate(replicate, path)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "recordings" / "a.jsonl"


def numbers(path: Path, fingerprint: str = "now") -> list[int]:
    return [each.replicate for each in read_replicates(path, fingerprint)[0]]


def test_a_line_that_is_there_twice_counts_once(path: Path) -> None:
    append(path, LINE)
    append(path, LINE)
    append(path, replace(LINE, seconds=2.0))  # the same number, another process
    append(path, replace(LINE, fingerprint="of other code"))
    assert numbers(path) == [1, 1]
    path.write_bytes(path.read_bytes().rstrip(b"\n"))  # as some editors save
    append(path, replace(LINE, replicate=2))
    assert numbers(path) == [1, 1, 2]
    assert read_replicates(path, "now")[1] == 1


DAMAGE: dict[str, Callable[[str], str]] = {
    "was changed after it was recorded": lambda line: line.replace('"value": 1.5', '"value": 1.6'),
    "not a whole line (invalid JSON)": lambda line: line[:50],
    "in format 2, this version reads 1": lambda line: line.replace('"schema": 1', '"schema": 2'),
    "not the line of a replicate": lambda line: "[1]",
}


@pytest.mark.parametrize("message", DAMAGE)
def test_a_damaged_line_is_named_by_its_number(path: Path, message: str) -> None:
    for number in (1, 2, 3):
        append(path, replace(LINE, replicate=number))
    lines = path.read_text().splitlines()
    lines[1] = DAMAGE[message](lines[1])
    path.write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(GalleryError) as caught:
        read_replicates(path, "now")
    expected = f"{path}:2: {message}; restore the line from git, or remove it"
    assert str(caught.value) == expected


def test_a_conflict_in_the_lines_has_a_remedy_of_its_own(path: Path) -> None:
    append(path, LINE)
    path.write_text(f"{path.read_text()}<<<<<<< HEAD\n")
    with pytest.raises(GalleryError) as caught:
        read_replicates(path, "now")
    remedy = "keep the lines of both sides and remove those that git added"
    assert str(caught.value) == f"{path}:2: an unresolved merge conflict; {remedy}"


def test_git_unites_what_two_branches_appended(tmp_path: Path) -> None:
    attributes = (ROOT / ".gitattributes").read_bytes()
    (tmp_path / ".gitattributes").write_bytes(attributes)
    path = tmp_path / "recordings" / "machine/a.jsonl"
    git(tmp_path, "init", "-q", "-b", "main")
    append(path, LINE)

    def commit() -> None:
        git(tmp_path, "add", ".gitattributes", str(path))
        git(tmp_path, "commit", "-qm", "lines")

    commit()
    git(tmp_path, "checkout", "-qb", "other")
    append(path, replace(LINE, replicate=2, host="h2"))
    append(path, replace(LINE, replicate=4))
    commit()
    git(tmp_path, "checkout", "-q", "main")
    append(path, replace(LINE, replicate=3))
    append(path, replace(LINE, replicate=4))  # the very same line
    commit()
    git(tmp_path, "merge", "-q", "other", "-m", "both")
    assert sorted(numbers(path)) == [1, 2, 3, 4]
    append(path, replace(LINE, replicate=5))
    assert sorted(numbers(path)) == [1, 2, 3, 4, 5]
