"""Which measurements recorded anew lie outside what a commit has published."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.measurements.replicates import replicates_path
from sphinx_recorded_gallery.measurements.rows import Row
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from sphinx_recorded_gallery.record.write_recordings import append_replicate
from tests.helpers.gallery import Gallery, git
from tests.helpers.measured_recipe import REPLICATE


def row(variant: str, value: float, **changes: object) -> Row:
    named = {"case": "Adam", "size": 10, "quantity": "gpu", "unit": "ms"}
    return replace(Row(**named, variant=variant, value=value), **changes)


EAGER, COMPILED = row("eager", 4.0), row("compiled", 2.0)

Drifts = Callable[..., str]


def commit_all(gallery: Gallery) -> None:
    git(gallery.root, "add", ".")
    git(gallery.root, "commit", "-m", "all")


@pytest.fixture
def published(gallery: Gallery) -> Gallery:
    """A repository with lines of a recipe on three hosts; no recording of its page."""
    gallery.write("measuring", '"""\nMeasuring\n=========\n"""\nx = 1\n')
    git(gallery.root, "init", "--quiet")
    for host, factor in (("a", 0.98), ("b", 1.0), ("c", 1.02)):
        rows = [replace(each, value=each.value * factor) for each in (EAGER, COMPILED)]
        add(gallery, *rows, host=host)
    commit_all(gallery)
    return gallery


def add(gallery: Gallery, *rows: Row, **changes: object) -> None:
    """Append a replicate that measured rows."""
    recipe = load_recipe(gallery.recipes / "measuring.py", "measuring")
    known = replace(REPLICATE, fingerprint=recipe.replicate_fingerprint, rows=rows)
    path = replicates_path(gallery.recordings / "measuring.ipynb")
    append_replicate(replace(known, **changes), path)


@pytest.fixture
def drifts(published: Gallery, capsys: pytest.CaptureFixture[str]) -> Drifts:
    """Runs the command and returns what it printed."""

    def run(*arguments: str, status: int = 0) -> str:
        capsys.readouterr()
        assert main(["drift", "--root", str(published.root), *arguments]) == status
        printed = capsys.readouterr()
        return printed.out + printed.err

    return run


def test_measurements_outside_their_ranges_are_told(published: Gallery, drifts: Drifts) -> None:
    for number, host in enumerate("abc"):
        first = row("eager", 1.0 + number / 10, quantity="first_call")
        add(published, first, host=host, replicate=9)
    commit_all(published)
    new = (EAGER, row("compiled", 2.5), row("eager", 2.0, quantity="first_call"))
    add(published, *new, host="new")
    told = drifts()
    assert "1 of 3 measurements lie in the ranges of HEAD" in told
    assert "```text\n1 new processes on 1 hosts, Some GPU\noutside: adam.10.compiled.gpu: " in told
    assert "2 (1.811 to 2.209 expected), now 2.5 ms, +25.0%\n" in told
    assert "adam.10.eager.first_call: 1.1 (1 to 1.2 seen on 3 hosts), now 2 ms, +81.8%\n```" in told


def test_what_other_code_measures_in_another_unit_is_not_compared(
    published: Gallery, drifts: Drifts
) -> None:
    published.write("measuring", '"""\nMeasuring\n=========\n"""\nx = 2\n')
    add(published, replace(EAGER, unit="s"), COMPILED, host="new")
    assert "1 of 1 measurements lie in the ranges of HEAD" in drifts()


PAGE = """
'''
Measuring
=========

Text.
'''
from IPython.display import display

names = {"case": "Adam", "size": 10, "unit": "ms", "quantity": "gpu"}
values = {"eager": 4.0, "compiled": 2.0, "once": 7.0}
rows = [{**names, "variant": name, "value": value} for name, value in values.items()]
display({"application/vnd.recorded-gallery.rows+json": {"rows": rows}}, raw=True)
"""


def test_a_page_recorded_anew_counts_unless_its_code_changed(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    git(gallery.root, "init", "--quiet")
    gallery.add("measuring", PAGE)
    commit_all(gallery)

    def told() -> str:
        assert main(["drift", "--root", str(gallery.root)]) == 0
        return capsys.readouterr().out

    assert "nothing was recorded since HEAD" in told()
    assert gallery.record(force=True)
    assert "1 new processes on 1 hosts" in told()
    assert "3 of 3 measurements lie" in told()
    gallery.write("measuring", f"{PAGE}\nx = 2\n")
    assert "nothing was recorded since HEAD" in told()


@pytest.mark.parametrize("base", ["no-such-branch", "--all"])
def test_a_commit_that_is_not_there_is_an_error(drifts: Drifts, base: str) -> None:
    told = drifts(f"--base={base}", status=1)
    known = "name a branch, a tag or a commit of this repository"
    assert told.endswith(f": git finds no commit {base!r}; {known}\n")
    assert told.startswith("error: ")
    assert told.count("\n") == 1


def test_what_a_recorder_wrote_addresses_nobody_in_markdown(
    published: Gallery, drifts: Drifts
) -> None:
    evil = "```\n@everyone | [a](https://example.org) `x`"
    add(published, EAGER, host="new", device={"gpu": evil})
    lines = drifts().splitlines()
    assert "@everyone" in lines[-2]
    first, last = lines.index("```text"), len(lines) - 1
    assert [number for number, line in enumerate(lines) if "```" in line] == [first, last]


@pytest.mark.parametrize(
    ("machine", "remedy"),
    [("mien", "did you mean mine?"), ("zzz", "name the folder of a recorded machine")],
)
def test_a_machine_that_there_is_not_is_told(
    drifts: Drifts, published: Gallery, machine: str, remedy: str
) -> None:
    (published.recordings / "mine").mkdir()
    told = drifts("--recordings-folder", str(published.recordings / machine), status=1)
    assert told.endswith(f"no such folder of recordings; {remedy}\n")
