"""Figures as they are stored: the same bytes for the same figures, and what is wrong is told."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from gallery import ROOT
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.hashes import digest
from recipe_gallery.recipes.measurements import (
    ClaimRecord,
    Figure,
    Figures,
    Ratio,
    Refutation,
    figures_path,
    load_figures,
    store_figures,
)

FIGURE = Figure(
    key="adam.100.compiled.speedup",
    case="Adam",
    arm="compiled",
    size=100,
    quantity="speedup",
    unit="×",
    spread_class="gpu",
    value=2.5,
    low=2.0,
    high=3.0,
    processes=6,
    hosts=2,
)
CLAIM = ClaimRecord(
    key="faster",
    held=5,
    of=6,
    evidence="1 < 2",
    refuted=(Refutation(replicate=3, host="h2", evidence="3 > 2"),),
)
OTHER = replace(FIGURE, key="a.b.c", size=None)
RATIO = Ratio(key="a.b.c", over="a.d.c", value=2.0, low=1.6, high=2.5, processes=6, hosts=2)
ALL = Figures(
    figures={FIGURE.key: FIGURE, OTHER.key: OTHER},
    ratios={(RATIO.key, RATIO.over): RATIO},
    claims={CLAIM.key: CLAIM},
    sources="digest",
    method="1",
)


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return tmp_path / "recordings" / "a.ipynb"


def test_what_is_stored_is_loaded_again(recording: Path) -> None:
    assert load_figures(recording) == Figures(figures={}, claims={}, sources="", method="")
    assert store_figures(recording, ALL)
    assert load_figures(recording) == ALL
    header, *lines = map(json.loads, figures_path(recording).read_text().splitlines())
    assert header["schema"] == 1
    keys = ["a.b.c", "adam.100.compiled.speedup", "a.b.c", "faster"]
    assert [line["key"] for line in lines] == keys


def test_a_ratio_is_known_in_both_directions() -> None:
    assert ALL.compare("a.b.c", "a.d.c") == RATIO
    inverse = ALL.compare("a.d.c", "a.b.c")
    assert inverse
    assert (inverse.low, inverse.value, inverse.high) == (0.4, 0.5, 0.625)
    assert (inverse.key, inverse.over, inverse.hosts) == ("a.d.c", "a.b.c", 2)
    assert ALL.compare("a.b.c", "adam.100.compiled.speedup") is None


def test_the_same_figures_are_the_same_bytes_and_not_written_again(recording: Path) -> None:
    store_figures(recording, ALL)
    before = figures_path(recording).read_bytes()
    reversed_ = replace(ALL, figures=dict(reversed(ALL.figures.items())))
    assert not store_figures(recording, reversed_)
    assert figures_path(recording).read_bytes() == before
    assert [path.name for path in recording.parent.iterdir() if path.suffix == ".new"] == []
    lines = before.decode().splitlines()  # by any Python, in the order of the alphabet
    assert [json.dumps(json.loads(line), sort_keys=True) for line in lines] == lines


def test_a_width_is_the_larger_way_to_an_end() -> None:
    assert FIGURE.width == pytest.approx(0.25)
    assert replace(FIGURE, high=4.0).width == pytest.approx(0.6)
    assert replace(FIGURE, low=0.0).width == float("inf")
    assert replace(FIGURE, low=0.0, value=0.0, high=1.0).width == float("inf")
    assert replace(FIGURE, low=0.0, value=0.0, high=0.0).width == 0.0


DAMAGE: dict[str, Callable[[list[str]], list[str]]] = {
    "2: not a whole line (invalid JSON)": lambda lines: [lines[0], lines[1][:20], *lines[2:]],
    "1: the lines below are not those that were computed": lambda lines: [lines[0], *lines[2:]],
    "1: the lines below are not": lambda lines: [lines[0], *lines[2:], lines[1]],
    "7: figures of two branches were merged": lambda lines: [*lines, lines[1], lines[0]],
    "1: in format 3, this version reads 1": lambda lines: ['{"schema": 3}', *lines[1:]],
    "2: not a whole": lambda lines: [lines[0], "<<<<<<< HEAD", *lines[1:]],
    "1: not figures made here": lambda lines: [],
}


@pytest.mark.parametrize("message", DAMAGE)
def test_what_is_damaged_is_told_with_its_line(recording: Path, message: str) -> None:
    store_figures(recording, ALL)
    path = figures_path(recording)
    path.write_text("".join(f"{line}\n" for line in DAMAGE[message](path.read_text().splitlines())))
    with pytest.raises(GalleryError) as caught:
        load_figures(recording)
    assert str(caught.value).startswith(f"{path}:{message}")
    assert str(caught.value).endswith("; run: recipe-gallery figures a")


NOT_MADE_HERE = "not figures made here"
NO_LINE = "is not one line of text without spaces around it"
WRONG = [
    (0, {"processes": "3"}, NOT_MADE_HERE),
    (0, {"hosts": -1}, NOT_MADE_HERE),
    (0, {"unit": None}, "row 1: unit is None, not a string"),
    (0, {"case": "two\nlines"}, f"row 1: case 'two\\nlines' {NO_LINE}"),
    (0, {"low": True}, "low is True, not a plain number"),
    (0, {"high": "3"}, "high is '3', not a plain number"),
    (0, {"spread_class": "%"}, "row 1: class '%' has no letter a-z and no digit, for its key"),
    (0, {"low": 2.6}, "the value 2.5 lies outside of its interval"),
    (2, {"value": 0}, "the value 0 lies outside of its interval"),
    (2, {"low": 0.0}, "low of a ratio is 0"),
    (2, {"high": 1e16}, "high is 1e+16, not 0 nor in 1e-15 to 1e+15"),
    (2, {"hosts": 1.5}, NOT_MADE_HERE),
    (2, {"processes": True}, NOT_MADE_HERE),
    (2, {"over": "\x1b[2J"}, f"over '\\x1b[2J' {NO_LINE}"),
    (2, {"key": "x" * 401}, f"key '{'x' * 59}... has 401 characters, more than 400"),
    (2, {"over": "x" * 401}, f"over '{'x' * 59}... has 401 characters, more than 400"),
    (3, {"evidence": "\x1b[2J"}, f"claim 1: evidence '\\x1b[2J' {NO_LINE}"),
    (3, {"of": 6.5}, NOT_MADE_HERE),
    (3, {"held": -1}, NOT_MADE_HERE),
    (3, {"refuted": [{"replicate": -1, "host": "h1", "evidence": "1 > 2"}]}, NOT_MADE_HERE),
    (
        *(3, {"refuted": [{"replicate": 1, "host": "\x1b[2J", "evidence": "1 > 2"}]}),
        f"host '\\x1b[2J' {NO_LINE}",
    ),
    (
        *(3, {"refuted": [{"replicate": 1, "host": "h1", "evidence": None}]}),
        "claim 1: evidence is None, not a string",
    ),
]
RIGHT = [
    (0, {"low": 0, "hosts": 0}),
    (2, {"key": "x" * 400, "over": "y" * 400}),
    (3, {"refuted": [{"replicate": 0, "host": "", "evidence": "1 > 2"}]}),  # an old recording's
]


def change(recording: Path, number: int, facts: dict[str, object]) -> None:
    """Change a stored line as whoever wants to deceive can do it."""
    store_figures(recording, ALL)
    path = figures_path(recording)
    header, *lines = map(json.loads, path.read_text().splitlines())
    lines[number] |= facts
    header["lines"] = digest(lines)
    path.write_text("".join(f"{json.dumps(each)}\n" for each in (header, *lines)))


@pytest.mark.parametrize(("number", "facts", "told"), WRONG)
def test_what_no_page_could_show_is_told(
    recording: Path, number: int, facts: dict[str, object], told: str
) -> None:
    change(recording, number, facts)
    with pytest.raises(GalleryError) as caught:
        load_figures(recording)
    path = figures_path(recording)
    assert str(caught.value) == f"{path}:1: {told}; run: recipe-gallery figures a"


@pytest.mark.parametrize(("number", "facts"), RIGHT)
def test_what_a_page_can_show_is_read(
    recording: Path, number: int, facts: dict[str, object]
) -> None:
    change(recording, number, facts)
    found = load_figures(recording)
    assert [len(found.figures), len(found.ratios), len(found.claims)] == [2, 1, 1]


def test_a_place_that_cannot_be_written_or_read_is_told(recording: Path) -> None:
    recording.parent.write_text("a file")
    with pytest.raises(GalleryError) as caught:
        store_figures(recording, ALL)
    told = "cannot be written: File exists; mend it, then run: recipe-gallery figures a"
    assert str(caught.value) == f"{figures_path(recording)}: {told}"
    recording.parent.unlink()
    figures_path(recording).mkdir(parents=True)
    long = recording.with_name("a" * 300)
    for path, what in ((recording, "not a file"), (long, "cannot be read: File name too long")):
        with pytest.raises(GalleryError) as caught:
            load_figures(path)
        told = f"{figures_path(path)}:1: {what}; run: recipe-gallery figures {path.stem}"
        assert str(caught.value) == told


def test_git_ignores_what_is_there_while_they_are_written(
    recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = []

    def write(path: Path, data: bytes) -> None:
        path.write_bytes(data)
        found.extend(each.name for each in recording.parent.iterdir())

    monkeypatch.setattr("recipe_gallery.recipes.files.write_through", write)
    store_figures(recording, ALL)
    assert sorted(found) == [".a.figures.jsonl.lock", ".a.figures.jsonl.new"]


def test_figures_that_git_united_are_told(tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        subprocess.run(["git", *name, *arguments], cwd=tmp_path, check=True, capture_output=True)

    recording = tmp_path / "recordings/a.ipynb"
    (tmp_path / ".gitattributes").write_bytes((ROOT / ".gitattributes").read_bytes())
    git("init", "-q", "-b", "main")
    store_figures(recording, ALL)
    for branch, value in (("main", None), ("other", 2.1), ("main", 2.2)):
        if branch == "other":
            git("checkout", "-qb", "other")
        elif value:
            git("checkout", "-q", "main")
        changed = replace(FIGURE, value=value or 2.0)
        store_figures(recording, replace(ALL, figures={FIGURE.key: changed}, sources=str(value)))
        git("add", ".")
        git("commit", "-qm", "figures")
    git("merge", "-q", "other", "-m", "both")
    with pytest.raises(
        GalleryError, match=r"two branches were merged; run: recipe-gallery figures"
    ):
        load_figures(recording)
