"""Figures of a recording: computed, stored, and told by `check`."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import nbformat
import pytest

from gallery import Gallery, write_recording
from recipe_gallery.__main__ import main
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.measurements import figures_path, load_figures
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import Replicate, append, replicates_path
from recipe_gallery.recipes.rows import Claim, parse, read_published
from recipe_gallery.record.replicates.report import FiguresReport
from recipe_gallery.record.replicates.update import update_figures

MEASURING = '''
"""
Measuring
=========

:claim:`It is faster, {adam.10.compiled.time} <faster>`.
"""

from IPython.display import display

names = {"case": "Adam", "unit": "ms", "quantity": "time"}
rows = [
    {**names, "arm": "eager", "size": 10, "value": 4.0},
    {**names, "arm": "compiled", "size": 10, "value": 2.0},
]
claim = {"claim": "faster", "holds": True, "evidence": "2.0 against 4.0 ms"}
display({"application/vnd.recipe-gallery.rows+json": {"rows": rows, "claims": [claim]}}, raw=True)
'''


@pytest.fixture
def measured(gallery: Gallery) -> Gallery:
    gallery.add("measuring", MEASURING)
    return gallery


def add_replicates(
    gallery: Gallery, *factors: float, host: str = "other", **changes: object
) -> None:
    """Append replicates that measured so many times what the page shows."""
    recording = gallery.recording("measuring")
    published = read_published(recording.notebook, recording.path)
    facts = recording.facts
    for number, factor in enumerate(factors, 1):
        rows = tuple(replace(row, value=row.value * factor) for row in published.rows)
        replicate = Replicate(
            fingerprint=load_recipe(gallery.recipes / "measuring.py").replicate_fingerprint,
            replicate=number,
            host=host,
            device=dict(facts["device"]),
            clocks={},
            versions=dict(facts["versions"]),
            commit=None,
            modified=False,
            recorded=facts["recorded"],
            seconds=1.5,
            rows=rows,
            claims=published.claims,
        )
        append(replicates_path(recording.path), replace(replicate, **changes))


Run = Callable[..., tuple[int, str]]


@pytest.fixture
def call(measured: Gallery, capsys: pytest.CaptureFixture[str]) -> Run:
    def run(command: str, *arguments: str) -> tuple[int, str]:
        folder = ["--root", str(measured.root), "--recordings-folder", str(measured.recordings)]
        status = main([command, *arguments, *folder])
        captured = capsys.readouterr()
        return status, captured.out + captured.err

    return run


def test_figures_are_those_of_the_page_and_its_replicates(measured: Gallery, call: Run) -> None:
    add_replicates(measured, 1.001, 1.002, 1.003)
    status, text = call("figures")
    assert (status, text) == (
        0,
        "measuring: 2 figures of 4 processes on 2 hosts, computed\n",
    )
    found = load_figures(measured.recordings / "measuring.ipynb")
    figure = found.figures["adam.10.compiled.time"]
    assert (figure.value, figure.processes, figure.hosts) == (2.002, 4, 2)
    assert 1.95 < figure.low < figure.value < figure.high < 2.05
    claim = found.claims["faster"]
    assert (claim.held, claim.of, claim.evidence) == (4, 4, "2.0 against 4.0 ms")


def test_the_same_processes_give_the_same_bytes_in_any_order(measured: Gallery, call: Run) -> None:
    add_replicates(measured, 1.01, 1.02, 1.03)
    call("figures")
    recording = measured.recordings / "measuring.ipynb"
    before = figures_path(recording).read_bytes()
    path = replicates_path(recording)
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert call("check")[0] == 0
    assert "computed" not in call("figures")[1]
    figures_path(recording).unlink()
    call("figures")
    assert figures_path(recording).read_bytes() == before


def test_check_tells_of_replicates_and_of_wide_intervals(measured: Gallery, call: Run) -> None:
    add_replicates(measured, 1.01, 2.0, 3.0)
    call("figures")
    status, text = call("check")
    assert status == 0
    assert "figures of 4 processes on 2 hosts\n" in text
    assert "claims that hold in every process: 1\n" in text
    assert "2 intervals wider than ±10%: adam.10.compiled.time (±" in text


def test_check_tells_of_figures_that_some_processes_lack(measured: Gallery, call: Run) -> None:
    (row, _other) = read_published(
        measured.recording("measuring").notebook, measured.recordings / "measuring.ipynb"
    ).rows
    add_replicates(measured, 1.01, 1.02)
    add_replicates(measured, 1.03, rows=(row,))
    call("figures")
    text = call("check")[1]
    assert "1 figure not of all processes: adam.10.compiled.time (of 3)\n" in text


def test_what_the_page_alone_publishes_is_not_lacking(measured: Gallery, call: Run) -> None:
    (row, _other) = read_published(
        measured.recording("measuring").notebook, measured.recordings / "measuring.ipynb"
    ).rows
    add_replicates(measured, 1.01, 1.02, rows=(row,))
    call("figures")
    assert "not of all processes" not in call("check")[1]


def test_a_page_of_an_unknown_host_is_of_no_further_one(measured: Gallery, call: Run) -> None:
    recording = measured.recording("measuring")
    recording.notebook.metadata.recording.pop("host", None)
    write_recording(recording.path, nbformat.writes(recording.notebook))
    add_replicates(measured, 1.01, 1.02)
    assert "2 figures of 3 processes on 1 host" in call("figures")[1]


def test_check_says_nothing_of_recordings_without_rows(gallery: Gallery) -> None:
    gallery.add("adding")
    recording = gallery.recordings / "adding.ipynb"
    assert update_figures(recording, load_recipe(gallery.recipes / "adding.py")) == []
    assert not figures_path(recording).exists()


def test_figures_that_are_missing_or_of_other_processes_are_an_error(
    measured: Gallery, call: Run
) -> None:
    status, text = call("check")
    assert status == 1
    expected = "error: no intervals of figures are stored; run: recipe-gallery figures measuring"
    assert expected in text
    assert call("figures")[0] == 0
    assert call("check")[0] == 0
    add_replicates(measured, 1.0)
    status, text = call("check")
    assert status == 1
    again = "run: recipe-gallery figures measuring"
    assert f"  error: the stored figures are not those of these processes; {again}" in text


def test_a_claim_that_a_replicate_refutes_is_an_error(measured: Gallery, call: Run) -> None:
    add_replicates(measured, 1.0)
    no = Claim(key="faster", holds=False, evidence="4.1 against 4.0 ms")
    add_replicates(measured, 1.0, claims=(no,), replicate=7)
    line = (
        "claim faster held in 2 of 3 processes; replicate 7 on host other refutes it: "
        "4.1 against 4.0 ms"
    )
    status, text = call("figures")
    assert (status, text.splitlines()[1]) == (0, line)
    status, text = call("check")
    assert status == 1
    assert f"error: {line}\n" in text
    refuted = load_figures(measured.recordings / "measuring.ipynb").claims["faster"].refuted
    assert [(each.replicate, each.host) for each in refuted] == [(7, "other")]


def test_a_claim_that_no_text_makes_is_told_and_no_error(measured: Gallery, call: Run) -> None:
    no = Claim(key="faster", holds=False, evidence="4.1 against 4.0 ms")
    add_replicates(measured, 1.0, claims=(no,), replicate=7)
    call("figures")
    text = MEASURING.replace(":claim:`It is faster, {adam.10.compiled.time} <faster>`", "Text")
    measured.write("measuring", text)
    status, text = call("check")
    assert status == 0
    assert "claim faster held in 1 of 2 processes" in text
    assert "(no text says so)\n" in text
    index = measured.root / "index.rst"
    own = index.read_text(encoding="utf-8")
    index.write_text(f"{own}\n:claim:`It is faster <measuring:faster>`.\n", encoding="utf-8")
    status, text = call("check")  # now a text of another page rests on it
    assert status == 1
    assert "error: claim faster held in 1 of 2 processes" in text


def test_what_no_text_rests_on_may_refute_a_claim(measured: Gallery, call: Run) -> None:
    no = Claim(key="faster", holds=False, evidence="4.1 against 4.0 ms")
    add_replicates(measured, 1.0, claims=(no,), replicate=7)
    assert call("figures")[0] == 0
    assert call("check")[0] == 1
    line = "claim faster held in 1 of 2 processes; replicate 7 on host other refutes it: "
    measured.configure(recipe_gallery_gpu_figures=True)  # and this recording is of a CPU
    status, text = call("check")
    assert status == 0
    assert line in text
    assert "error" not in text
    measured.configure(recipe_gallery_gpu_figures=False)
    shutil.copytree(measured.recordings, measured.recordings / "mine")
    for path in measured.recordings.glob("*.*"):
        path.unlink()
    text = call("check")[1]
    assert "mine/measuring" in text
    assert f"error: {line}" not in text


def test_stale_replicates_and_those_of_another_device_do_not_count(
    measured: Gallery, call: Run
) -> None:
    add_replicates(measured, 5.0, fingerprint="of other code")
    add_replicates(measured, 5.0, device={"gpu": "Another GPU", "cpu": "x", "cores": 1})
    add_replicates(measured, 1.0)
    status, text = call("figures")
    assert status == 0
    assert "figures of 2 processes on 2 hosts (1 replicate of another device left out)" in text
    status, text = call("check")
    assert status == 0
    assert "  1 replicate of other code: ignored\n" in text


def test_a_damaged_line_is_told_and_the_recording_stays_current(
    measured: Gallery, call: Run
) -> None:
    add_replicates(measured, 1.0, 1.1)
    path = replicates_path(measured.recordings / "measuring.ipynb")
    path.write_text(path.read_text().replace('"replicate": 2', '"replicate": 3'))
    for command in ("check", "figures"):
        status, text = call(command)
        assert status == 1
        assert "measuring.jsonl:2: was changed after it was recorded; restore the line" in text
    assert "1 of 1 recordings current" in call("check")[1]


def test_an_unfinished_line_is_told_and_ignored(measured: Gallery, call: Run) -> None:
    add_replicates(measured, 1.0)
    path = replicates_path(measured.recordings / "measuring.ipynb")
    path.write_bytes(path.read_bytes() + b'{"claims": [')
    call("figures")
    status, text = call("check")
    assert status == 0
    assert "  the last replicate was not written to its end: ignored\n" in text


def test_one_process_in_another_unit_is_told(measured: Gallery, call: Run) -> None:
    value = {
        "case": "Adam",
        "arm": "eager",
        "size": 10,
        "quantity": "time",
        "value": 1,
        "unit": "s",
    }
    add_replicates(measured, 1.0, rows=parse({"rows": [value]}).rows)
    status, text = call("figures")
    assert status == 1
    assert text.endswith(
        "measuring.jsonl: adam.10.eager.time is in 'ms' and, in replicate 1, in 's'; "
        "publish one unit, then run: recipe-gallery record measuring "
        f"--root {measured.root}\n"
    )


def test_figures_of_other_machines_lie_in_their_folder(measured: Gallery, call: Run) -> None:
    other = measured.recordings / "h100" / "measuring.ipynb"
    other.parent.mkdir()
    shutil.copy(measured.recordings / "measuring.ipynb", other)
    assert call("figures", "measuring")[1].count("computed") == 2
    assert figures_path(other).exists()
    assert call("check")[0] == 0


def test_a_recipe_that_publishes_wrong_rows_is_not_recorded(measured: Gallery) -> None:
    late = "\nimport time\ntime.sleep(60)\n"  # nobody waits for the end of the cell
    measured.write("wrong", MEASURING.replace("4.0", "float('nan')") + late)
    assert not measured.record("wrong")
    told = "cell 1 of 1 published wrong rows: row 1: value is 'nan', not a plain number; correct"
    assert told in measured.messages
    assert not (measured.recordings / "wrong.ipynb").exists()


@pytest.mark.usefixtures("_run_here")
def test_recording_computes_figures(measured: Gallery) -> None:
    assert measured.record(force=True)
    assert (
        "measuring: 2 figures of 1 process on 1 host (how hosts differ is supposed), computed"
        in measured.messages
    )
    figures = load_figures(measured.recordings / "measuring.ipynb").figures
    assert figures["adam.10.compiled.time"].processes == 1


def test_of_a_stale_recording_only_that_is_told(measured: Gallery, call: Run) -> None:
    call("figures")
    measured.write("measuring", MEASURING.replace("4.0}", "5.0}"))
    status, text = call("check")
    assert status == 1
    assert "changed code in cell 1" in text
    assert "error" not in text


def test_that_figures_are_of_other_code_is_told_and_they_stay(measured: Gallery, call: Run) -> None:
    add_replicates(measured, 1.0)
    call("figures")
    measured.write("measuring", MEASURING.replace("4.0}", "5.0}"))
    before = figures_path(measured.recordings / "measuring.ipynb").read_bytes()
    told = "measuring: what was measured is of other code; run: recipe-gallery record measuring"
    assert told in call("figures")[1]
    assert figures_path(measured.recordings / "measuring.ipynb").read_bytes() == before


def test_files_of_no_recording_are_told(measured: Gallery, call: Run) -> None:
    call("figures")
    stored = figures_path(measured.recordings / "measuring.ipynb")
    stored.rename(stored.with_name("before.figures.jsonl"))
    (measured.recordings / "before.jsonl").touch()
    status, text = call("check")
    assert status == 1
    for name in ("before.figures.jsonl", "before.jsonl"):
        assert (
            f"{name}: no recording of this name; "
            "remove the file, or rename it as the recording was\n"
        ) in text


def test_an_unknown_recipe_is_told(call: Run) -> None:
    status, text = call("figures", "nobody")
    assert (status, text) == (1, "error: no recipe named nobody; there are: measuring\n")


@pytest.mark.parametrize("command", ["figures", "drift"])
def test_a_machine_that_was_not_recorded_is_told(
    measured: Gallery, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    folder = measured.root / "h100"
    assert main([command, "--root", str(measured.root), "--recordings-folder", str(folder)])
    told = f"error: {folder}: no such folder of recordings; name a machine that was recorded\n"
    assert capsys.readouterr().err == told


def test_without_scipy_a_line_says_what_to_install(
    measured: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    name = "recipe_gallery.record.replicates.intervals"
    monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(GalleryError) as caught:
        update_figures(
            measured.recordings / "measuring.ipynb", load_recipe(measured.recipes / "measuring.py")
        )
    assert str(caught.value) == (
        "measuring: intervals of figures need the package scipy.special; "
        "run: pip install 'recipe-gallery[record]'"
    )


def test_a_recipe_that_no_longer_publishes_loses_its_figures(measured: Gallery, call: Run) -> None:
    call("figures")
    without = "display(1)\n"
    measured.add("measuring", MEASURING[: MEASURING.index("names =")] + without)
    stored = figures_path(measured.recordings / "measuring.ipynb")
    again = "run: recipe-gallery figures measuring"
    told = f"  error: figures are stored, but nothing publishes any; {again}"
    assert told in call("check")[1]
    removed = "measuring: publishes no rows; measuring.figures.jsonl is removed\n"
    assert call("figures") == (0, removed)
    assert not stored.exists()
    assert call("figures") == (0, "no recording publishes figures\n")


def test_check_imports_no_scipy(measured: Gallery, call: Run) -> None:
    call("figures")
    program = (
        "import sys; from recipe_gallery.__main__ import main;"
        f"assert main(['check', '--root', {str(measured.root)!r}]) == 0;"
        "assert 'scipy' not in sys.modules"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", program], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_is_to_be_mended_is_told_after_what_is_to_be_known() -> None:
    report = FiguresReport(notes=("figures of 1 process",), wrong=("none are stored",))
    assert report.lines == ("figures of 1 process", "error: none are stored")
