"""Which figures recorded anew lie outside what a commit has published."""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gallery import Gallery
from recipe_gallery.__main__ import main
from recipe_gallery.project import load_project
from recipe_gallery.recipes.measurements import (
    ClaimRecord,
    Figure,
    Figures,
    figures_path,
    store_figures,
)
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import Replicate, append, replicates_path
from recipe_gallery.recipes.rows import Claim, Row
from recipe_gallery.record.drift.compare import Compared, Drift, find_drift
from recipe_gallery.record.drift.published import Published
from recipe_gallery.record.drift.report import format_markdown, format_text

GPU = "Some GPU"
REPLICATE = Replicate(
    fingerprint="",
    replicate=1,
    host="a",
    device={"gpu": GPU},
    clocks={},
    versions={},
    commit=None,
    modified=False,
    recorded="2026-01-02T03:04:05Z",
    seconds=1.0,
)


def row(arm: str, value: float, **changes: object) -> Row:
    known = Row(
        case="Adam", arm=arm, size=10, quantity="time", value=value, unit="ms", spread_class="gpu"
    )
    return replace(known, **changes)


def figure(published: Row, low: float, high: float) -> Figure:
    names = ("key", "case", "arm", "size", "quantity", "unit", "value", "spread_class")
    known = {name: getattr(published, name) for name in names}
    return Figure(**known, low=low, high=high, processes=6, hosts=2)


EAGER, COMPILED = row("eager", 4.0), row("compiled", 2.0)
PUBLISHED = [figure(EAGER, 3.9, 4.1), figure(COMPILED, 1.9, 2.1)]

Drifts = Callable[..., str]
Append = Callable[..., None]


def git(folder: Path, *arguments: str) -> None:
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def commit_all(gallery: Gallery) -> None:
    git(gallery.root, "add", ".")
    git(gallery.root, "commit", "-m", "all")


@pytest.fixture
def published(gallery: Gallery) -> Gallery:
    """A repository with a recipe whose figures are published; no recording of its page."""
    gallery.write("measuring", '"""\nMeasuring\n=========\n"""\nx = 1\n')
    gallery.recordings.mkdir()
    git(gallery.root, "init", "--quiet")
    claim = ClaimRecord(key="faster", held=6, of=6, evidence="2 against 4 ms")
    publish(gallery, PUBLISHED, [claim])
    return gallery


def publish(gallery: Gallery, figures: Sequence[Figure], claims: Sequence[ClaimRecord]) -> None:
    stored = Figures(
        figures={each.key: each for each in figures}, claims={each.key: each for each in claims}
    )
    store_figures(gallery.recordings / "measuring.ipynb", stored)
    commit_all(gallery)


@pytest.fixture
def measure(published: Gallery) -> Append:
    """Appends a replicate that measured rows."""

    def measure(*rows: Row, claims: Sequence[Claim] = (), **changes: object) -> None:
        recipe = load_recipe(published.recipes / "measuring.py", "measuring")
        known = replace(REPLICATE, fingerprint=recipe.replicate_fingerprint, rows=rows)
        line = replace(known, claims=tuple(claims), **changes)
        append(replicates_path(published.recordings / "measuring.ipynb"), line)

    return measure


@pytest.fixture
def drifts(published: Gallery, capsys: pytest.CaptureFixture[str]) -> Drifts:
    """Runs the command and returns what it printed."""

    def run(*arguments: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(["drift", "--root", str(published.root), *arguments]) == status
        printed = capsys.readouterr()
        return printed.out + printed.err

    return run


def test_what_was_not_recorded_anew_is_not_compared(drifts: Drifts) -> None:
    assert drifts() == (
        "measuring: nothing was recorded since HEAD\nno figure to compare with HEAD\n"
    )


def test_figures_outside_their_intervals_are_told_by_class(measure: Append, drifts: Drifts) -> None:
    measure(EAGER, row("compiled", 2.2))
    assert drifts() == (
        "measuring: 1 of 2 figures outside their interval; 1 new process on 1 host, Some GPU\n"
        "  gpu: 1 of 2 outside\n"
        "    adam.10.compiled.time  2 ms  1.9 to 2.1  2.2 ms  +10.0 %\n"
        "  claim faster: no longer made\n"
        "1 of 2 figures (50 %) within the intervals of HEAD; of a later recording 95 % should be "
        "(fewer are)\n"
    )


def test_what_lies_on_the_edge_of_its_interval_is_within(measure: Append, drifts: Drifts) -> None:
    measure(row("eager", 4.1), row("compiled", 1.9))
    assert "0 of 2 figures outside" in drifts()


def test_the_new_value_is_the_mean_of_the_medians_of_hosts(measure: Append, drifts: Drifts) -> None:
    for host, values in {"a": (3.0, 3.2, 9.0), "b": (5.0,)}.items():
        for number, value in enumerate(values, 1):
            measure(row("eager", value), host=host, replicate=number)
    assert "4 new processes on 2 hosts" in drifts()
    assert "within the intervals" in drifts()  # sqrt(3.2 * 5) = 4


def test_processes_that_were_published_do_not_count(
    published: Gallery, measure: Append, drifts: Drifts
) -> None:
    measure(row("eager", 400.0))
    commit_all(published)
    measure(row("eager", 4.0), replicate=2)
    assert "0 of 1 figures outside their interval; 1 new process" in drifts()
    assert "1 of 1 figures outside their interval; 2 new processes" in drifts("--base", "HEAD~1")


def test_replicates_of_other_code_do_not_count(measure: Append, drifts: Drifts) -> None:
    measure(row("eager", 400.0), fingerprint="0" * 64)
    assert "nothing was recorded" in drifts()


def test_what_another_device_measured_is_not_compared(measure: Append, drifts: Drifts) -> None:
    measure(row("eager", 400.0), device={"gpu": "Other GPU"}, replicate=2)
    measure(EAGER)
    told = drifts()
    assert "0 of 1 figures outside their interval; 1 new process" in told
    assert "left out, as recorded on another device than Some GPU: Other GPU" in told


def test_figures_that_are_new_or_gone_are_told(measure: Append, drifts: Drifts) -> None:
    measure(EAGER, row("fused", 3.0), row("compiled", 0.002, unit="s"))
    told = drifts()
    assert "new figure: adam.10.fused.time (ms)\n" in told
    assert "new figure: adam.10.compiled.time (s)\n" in told
    assert "no longer measured: adam.10.compiled.time (ms)\n" in told


def test_figures_of_0_are_compared(published: Gallery, measure: Append, drifts: Drifts) -> None:
    publish(published, [figure(replace(EAGER, value=0.0), 0.0, 0.0)], [])
    measure(row("eager", 0.0))
    assert "0 of 1 figures outside" in drifts()
    measure(row("eager", 1.0), replicate=2)
    assert "0 ms  0 to 0  0.5 ms  was 0" in drifts()


def test_claims_that_changed_are_told_with_evidence(measure: Append, drifts: Drifts) -> None:
    wrong = Claim(key="faster", holds=False, evidence="5 against 4 ms")
    measure(EAGER, COMPILED, claims=[wrong, Claim(key="new", holds=True, evidence="e")])
    measure(EAGER, COMPILED, claims=[replace(wrong, holds=True)], replicate=2)
    told = drifts()
    assert "claim faster: held in 6 of 6, now in 1 of 2: 5 against 4 ms\n" in told
    assert "claim new: new, holds in 1 of 1\n" in told


def test_strict_fails_for_figures_outside_and_claims_refuted_and_nothing_else(
    measure: Append, drifts: Drifts
) -> None:
    drifts("--strict")
    held = Claim(key="faster", holds=True, evidence="e")
    measure(EAGER, COMPILED, row("fused", 3.0), claims=[held])
    drifts("--strict")
    measure(EAGER, COMPILED, claims=[replace(held, holds=False)], replicate=2)
    drifts("--strict", status=1)
    drifts()


def test_a_figure_outside_is_strictly_a_failure(measure: Append, drifts: Drifts) -> None:
    measure(row("eager", 5.0))
    drifts("--strict", status=1)


def test_a_page_recorded_anew_counts_unless_its_code_changed(gallery: Gallery) -> None:
    code = """
    '''
    Measuring
    =========

    Text.
    '''
    from IPython.display import display

    row = {"case": "Adam", "arm": "eager", "size": 10, "quantity": "time", "unit": "ms"}
    rows = [row | {"value": 5.0, "class": "gpu"}]
    display({"application/vnd.recipe-gallery.rows+json": {"rows": rows}}, raw=True)
    """
    git(gallery.root, "init", "--quiet")
    gallery.recordings.mkdir()
    publish(gallery, PUBLISHED, [])
    gallery.add("measuring", code)
    project = load_project(gallery.root)
    [drift] = find_drift(project, [], "HEAD")
    assert [each.value for each in drift.compared if each.is_outside] == [pytest.approx(5)]
    assert drift.device == gallery.recording("measuring").device_name
    gallery.write("measuring", f"{code}\n    x = 2\n")
    [drift] = find_drift(project, ["measuring"], "HEAD")
    assert drift.note == "nothing was recorded since HEAD"
    gallery.write("measuring", code)
    commit_all(gallery)
    [drift] = find_drift(project, [], "HEAD")
    assert drift.note == "nothing was recorded since HEAD"


def test_what_is_wrong_with_one_recipe_does_not_stop_the_others(
    published: Gallery, measure: Append, drifts: Drifts
) -> None:
    measure(EAGER, COMPILED)
    published.write("another", "'''\nNo title\n'''\nx = (\n")
    told = drifts()
    assert "another: " in told
    assert "another.py:" in told
    assert "2 of 2 figures (100 %) within" in told


def test_published_figures_that_are_damaged_are_told_with_their_commit(
    published: Gallery, measure: Append, drifts: Drifts
) -> None:
    measure(EAGER)
    path = figures_path(published.recordings / "measuring.ipynb")
    path.write_text("{}\n")
    commit_all(published)
    told = drifts()
    assert "measuring: HEAD:" in told
    assert "measuring.figures.jsonl:1: not figures made here; compare with another commit" in told


@pytest.mark.parametrize("base", ["no-such-branch", "--all", "", "a\0b"])
def test_a_commit_that_is_not_there_is_an_error(drifts: Drifts, base: str) -> None:
    told = drifts(f"--base={base}", status=1)
    known = "name a branch, a tag or a commit of this repository"
    reason = "git: embedded null byte" if "\0" in base else f"git knows no commit {base!r}; {known}"
    assert told.endswith(f": {reason}\n")
    assert told.startswith("error: ")
    assert told.count("\n") == 1


def test_recipes_are_named_as_for_recording(drifts: Drifts) -> None:
    assert drifts("measuring.py").startswith("measuring: ")
    assert drifts("no", status=1) == "error: no recipe named no; there are: measuring\n"


def test_without_git_or_a_repository_there_is_one_line(
    published: Gallery, drifts: Drifts, monkeypatch: pytest.MonkeyPatch
) -> None:
    (published.root / ".git").rename(published.root / "git")
    assert "git knows no commit 'HEAD'" in drifts(status=1)
    monkeypatch.setenv("PATH", "/nowhere")
    assert drifts(status=1) == "error: git is not installed; install it\n"


def drift_of(*values: float, **changes: object) -> Drift:
    compared = tuple(
        Compared(figure=figure(row(f"arm{number}", 4.0), 3.9, 4.1), value=value)
        for number, value in enumerate(values)
    )
    known = Drift(name="measuring", device=GPU, processes=6, hosts=2, compared=compared)
    return replace(known, **changes)


def test_markdown_is_a_table_of_what_is_outside() -> None:
    assert format_markdown([drift_of(4.0, 5.0)], "HEAD").splitlines() == [
        "### Figures beside those that are published",
        "",
        "1 of 2 figures (50 %) within the intervals of HEAD; of a later recording 95 % should be "
        "(fewer are)",
        "",
        "#### `measuring`",
        "",
        "| Class | Figure | Published | Interval | Now | Change |",
        "|---|---|---|---|---|---|",
        "| `gpu` | `adam.10.arm1.time` | `4 ms` | `3.9 to 4.1` | `5 ms` | `+25.0 %` |",
        "",
        "```text",
        "1 of 2 figures outside their interval; 6 new processes on 2 hosts, Some GPU",
        "```",
    ]


def test_what_a_recipe_wrote_addresses_nobody_in_markdown() -> None:
    evil = "```\n@everyone | [a](https://example.org) `x`"
    unit = row("a|`b`", 5.0, unit="`|\n@b")
    wrong = Compared(figure=figure(unit, 1.0, 2.0), value=5.0)
    told = format_markdown([drift_of(compared=(wrong,), new=(evil,), note=evil)], "HEAD")
    lines = told.splitlines()
    [line] = [line for line in lines if line.startswith("| `gpu`")]
    assert line == (
        "| `gpu` | `adam.10.a-b.time` | `5 '\\| @b` | `1 to 2` | `5 '\\| @b` | `+0.0 %` |"
    )
    first, last = lines.index("```text"), len(lines) - 1
    assert [number for number, line in enumerate(lines) if "```" in line] == [first, last]


def test_a_long_list_is_cut_in_markdown() -> None:
    told = format_markdown([drift_of(*[5.0] * 100, gone=("x",) * 100)], "HEAD")
    assert told.count("adam.") == 20
    assert "`+25.0 %` |\n\n80 more are outside.\n\n```text\n" in told
    assert "... and 80 more" in told
    assert len(told) < 10_000


def test_a_pull_request_takes_what_is_told_of_many_recipes() -> None:
    told = format_markdown([drift_of(4.0, gone=("x" * 100,) * 100)] * 100, "HEAD")
    assert len(told) < 65_536 / 2
    assert re.search(r"\n```\n\n\d+ more recipes left out; all: recipe-gallery drift$", told)
    assert "left out" not in format_markdown([drift_of(4.0)] * 10, "HEAD")


def test_that_enough_is_within_is_told() -> None:
    told = format_text([drift_of(*[4.0] * 19, 5.0)], "main")
    assert told.endswith(
        "19 of 20 figures (95 %) within the intervals of main; of a later recording 95 % should be"
    )


@pytest.mark.parametrize(
    ("notebook", "device"),
    [
        ({"metadata": {"recording": {"device": {"gpu": "A GPU", "cpu": "A CPU"}}}}, "A GPU"),
        ({"metadata": {"recording": {"device": {"gpu": None, "cpu": "A CPU"}}}}, "A CPU"),
        ({"metadata": {"recording": {"device": 5}}}, ""),
        ({"metadata": {}}, ""),
        ([], ""),
    ],
)
def test_the_device_of_what_was_published_is_known_as_far_as_it_tells(
    notebook: object, device: str
) -> None:
    text = json.dumps(notebook)
    known = Published(figures=Figures(), notebook=text, replicates=frozenset())
    assert known.device == device
    assert replace(known, notebook="").device == ""


def test_what_only_recording_needs_may_be_missing() -> None:
    program = """
import sys
for name in ("psutil", "scipy", "nbclient", "jupyter_client", "distributed"):
    sys.modules[name] = None
from recipe_gallery.record.drift import compare, report
from recipe_gallery.record.programs import ask
print(ask(["git", "--version"], seconds=60).stdout)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.startswith("git version"), done.stderr
