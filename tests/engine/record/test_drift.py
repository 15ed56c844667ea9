"""Which measurements recorded anew lie outside what a commit has published."""

import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from gallery import Gallery
from measured import REPLICATE
from recipe_gallery.__main__ import main
from recipe_gallery.recipes.measurements import Measurement, find_range
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import append, replicates_path
from recipe_gallery.recipes.rows import Claim, Published, Row
from recipe_gallery.record.drift import Drift, format_drift


def row(variant: str, value: float, **changes: object) -> Row:
    named = {"case": "Adam", "size": 10, "quantity": "gpu", "unit": "ms"}
    return replace(Row(**named, variant=variant, value=value), **changes)


EAGER, COMPILED = row("eager", 4.0), row("compiled", 2.0)
FASTER = Claim(key="faster", holds=True, evidence="2 against 4 ms")

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
    """A repository with lines of a recipe on three hosts; no recording of its page."""
    gallery.write("measuring", '"""\nMeasuring\n=========\n"""\nx = 1\n')
    git(gallery.root, "init", "--quiet")
    for host, factor in (("a", 0.98), ("b", 1.0), ("c", 1.02)):
        rows = [replace(each, value=each.value * factor) for each in (EAGER, COMPILED)]
        add(gallery, *rows, claims=[FASTER], host=host)
    commit_all(gallery)
    return gallery


def add(gallery: Gallery, *rows: Row, claims: Sequence[Claim] = (), **changes: object) -> None:
    """Append a replicate that measured rows."""
    recipe = load_recipe(gallery.recipes / "measuring.py", "measuring")
    published = Published(rows=rows, claims=tuple(claims))
    known = replace(REPLICATE, fingerprint=recipe.replicate_fingerprint, published=published)
    path = replicates_path(gallery.recordings / "measuring.ipynb")
    append(path, replace(known, **changes))


@pytest.fixture
def measure(published: Gallery) -> Append:
    """Appends a replicate of another host."""
    return lambda *rows, **changes: add(published, *rows, **{"host": "new", **changes})


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
        "### Measurements beside those that are published\n\n"
        "0 of 0 measurements lie in the ranges of HEAD\n\n"
        "#### `measuring`\n\n```text\nnothing was recorded since HEAD\n```\n"
    )


def test_measurements_outside_their_ranges_are_told(
    measure: Append, published: Gallery, drifts: Drifts
) -> None:
    for number, host in enumerate("abc"):
        measure(row("eager", 1.0 + number / 10, quantity="first_call"), host=host, replicate=9)
    commit_all(published)
    measure(EAGER, row("compiled", 2.5), row("eager", 2.0, quantity="first_call"), claims=[FASTER])
    told = drifts()
    assert "1 of 3 measurements lie in the ranges of HEAD" in told
    assert "```text\n1 new processes on 1 hosts, Some GPU\noutside: adam.10.compiled.gpu: " in told
    assert "2 (1.811 to 2.209 expected), now 2.5 ms, +25.0 %\n" in told
    assert (
        "adam.10.eager.first_call: 1.1 (1 to 1.2 seen on 3 hosts), now 2 ms, +81.8 %\n```" in told
    )


def test_processes_that_were_published_do_not_count(
    published: Gallery, measure: Append, drifts: Drifts
) -> None:
    measure(row("eager", 400.0), host="a", replicate=2)
    commit_all(published)
    measure(row("eager", 4.0), replicate=2)
    assert "1 new processes on 1 hosts" in drifts()
    assert "2 new processes on 2 hosts" in drifts("--base", "HEAD~1")


def test_what_another_device_measured_is_not_compared(measure: Append, drifts: Drifts) -> None:
    measure(row("eager", 400.0), device={"gpu": "Other GPU"}, replicate=2)
    measure(EAGER)
    told = drifts()
    assert "1 of 1 measurements lie" in told
    assert "1 new processes" in told
    assert "left out, as recorded on another device: Other GPU" in told


def test_what_is_new_or_gone_is_told(measure: Append, drifts: Drifts) -> None:
    measure(EAGER, row("fused", 3.0))
    told = drifts()
    assert "new: adam.10.fused.gpu (ms)\n" in told
    assert "no longer made: adam.10.compiled.gpu (ms)\n" in told
    assert "no longer made: claim faster\n" in told


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
claims = [{"claim": "only-here", "holds": True, "evidence": "of the page"}]
display({"application/vnd.recipe-gallery.rows+json": {"rows": rows, "claims": claims}}, raw=True)
"""


def test_what_replicates_do_not_make_is_not_gone(published: Gallery, drifts: Drifts) -> None:
    """The page's run measures one more variant, and makes a claim that no replicate makes."""
    published.add("measuring", PAGE)
    device = published.recording("measuring").facts["device"]
    add(published, EAGER, COMPILED, device=device)
    commit_all(published)
    add(published, EAGER, COMPILED, device=device, host="new")
    assert "no longer" not in drifts()
    assert "3 of 3" not in drifts()
    published.write("measuring", PAGE.replace('"once": 7.0', '"twice": 7.0'))
    assert published.record("measuring")
    add(published, EAGER, COMPILED, device=device, host="new")
    assert "no longer made: adam.10.once.gpu (ms)\n" in drifts()


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


def test_claims_that_changed_are_told_with_evidence(measure: Append, drifts: Drifts) -> None:
    wrong = Claim(key="faster", holds=False, evidence="5 against 4 ms")
    measure(EAGER, COMPILED, claims=[wrong, Claim(key="new", holds=True, evidence="e")])
    measure(EAGER, COMPILED, claims=[FASTER], replicate=2)
    told = drifts()
    assert "claim faster: held in 3 of 3, now in 1 of 2: 5 against 4 ms\n" in told
    assert "claim new: new, holds in 1 of 1\n" in told


def test_what_is_damaged_in_a_commit_is_told_with_it(
    published: Gallery, measure: Append, drifts: Drifts
) -> None:
    path = replicates_path(published.recordings / "measuring.ipynb")
    whole = path.read_text()
    path.write_text(whole.replace("4.0", "4.5"))
    commit_all(published)
    path.write_text(whole)
    told = drifts()
    assert "HEAD:" in told
    assert "measuring.jsonl:2: was changed after it was recorded; compare with another" in told


@pytest.mark.parametrize("base", ["no-such-branch", "--all"])
def test_a_commit_that_is_not_there_is_an_error(drifts: Drifts, base: str) -> None:
    told = drifts(f"--base={base}", status=1)
    known = "name a branch, a tag or a commit of this repository"
    assert told.endswith(f": git knows no commit {base!r}; {known}\n")
    assert told.startswith("error: ")
    assert told.count("\n") == 1


def test_a_machine_that_was_not_recorded_is_told(published: Gallery, drifts: Drifts) -> None:
    told = drifts("--recordings-folder", str(published.root / "h100"), status=1)
    assert "no such folder of recordings; name a machine that was recorded" in told


def outside(name: str, unit: str = "ms") -> tuple[Measurement, Measurement]:
    """Return a measurement as it was published and as it is now."""
    found = [("a", row(name, 4.0, unit=unit)), ("b", row(name, 4.1, unit=unit))]
    known = find_range(found, gpu_bound=True)
    return known, replace(known, value=5.0)


def test_what_a_recipe_wrote_addresses_nobody_in_markdown() -> None:
    evil = "```\n@everyone | [a](https://example.org) `x`"
    told = format_drift([Drift(name="a", outside=(outside("a", evil),), lines=(evil,))], "HEAD")
    lines = told.splitlines()
    first, last = lines.index("```text"), len(lines) - 1
    assert [number for number, line in enumerate(lines) if "```" in line] == [first, last]


def test_what_only_recording_needs_may_be_missing() -> None:
    program = """
import sys
for name in ("psutil", "nbclient", "jupyter_client", "distributed"):
    sys.modules[name] = None
from recipe_gallery.record import drift
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
