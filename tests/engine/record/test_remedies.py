"""What an error says is done word for word, on a machine without a GPU."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.record.write_recordings import write_recording
from tests.helpers.gallery import Gallery
from tests.helpers.measured_recipe import RECIPE

pytestmark = pytest.mark.usefixtures("_run_here", "_without_gpu")

TITLE = '"""\nT\n=\n"""\n'
SUGGESTED = re.compile(r": recorded-gallery ([^;[\n]+)")  # "[" begins the type of a warning


@pytest.fixture
def _without_gpu(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide NVIDIA's tool, in a gallery that asks for a GPU, and stand in its folder."""
    folders = os.environ["PATH"].split(os.pathsep)
    kept = [folder for folder in folders if not Path(folder, "nvidia-smi").exists()]
    monkeypatch.setenv("PATH", os.pathsep.join(kept))
    monkeypatch.setenv("RECORDED_GALLERY_DEVICE", "gpu")
    monkeypatch.chdir(gallery.root)


def run_suggested(text: str) -> int:
    """Run the command that a text suggests; return its exit status."""
    (command,) = set(SUGGESTED.findall(text))
    return main(shlex.split(command))


def name_gpu(gallery: Gallery, name: str) -> None:
    """Let the recording of a recipe say that a GPU made it."""
    recording = gallery.recording(name)
    recording.facts["device"]["gpu"] = "Some GPU"
    write_recording(recording.notebook, recording.path)


@pytest.mark.parametrize("state", ["missing", "stale", "damaged", "changed"])
def test_what_check_suggests_makes_a_recording_current(
    gallery: Gallery, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    gallery.write("recipe", f"{TITLE}x = 1")
    path = gallery.recordings / "recipe.ipynb"
    if state != "missing":
        assert gallery.record("recipe")
    if state == "stale":
        gallery.write("recipe", f"{TITLE}x = 2")
    if state == "damaged":
        path.write_text("{")
    if state == "changed":
        path.write_text(path.read_text().replace('"seconds": ', '"seconds": 1'))
    assert main(["check"]) == 1
    assert run_suggested(capsys.readouterr().out) == 0
    assert main(["check"]) == 0


def test_a_build_suggests_what_makes_a_recording_current(gallery: Gallery) -> None:
    gallery.write("recipe", f"{TITLE}x = 1")
    assert run_suggested(gallery.build().warnings) == 0
    gallery.write("recipe", f"{TITLE}x = 2")
    assert run_suggested(gallery.build().warnings) == 0
    assert gallery.build().warnings == ""


def test_without_a_gpu_the_same_is_offered_on_the_cpu(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("first", "second", "third"):
        gallery.write(name, RECIPE)
    asked = ["record", "first", "third", "--force", "--replicates", "2"]
    assert main([*asked, "--recordings-folder", "recordings/my host"]) == 1
    told = capsys.readouterr().err
    assert "record first third --device cpu --force --replicates 2" in told
    assert run_suggested(told) == 0
    written = {path.name for path in gallery.recordings.glob("my host/*.*")}
    assert written == {"first.ipynb", "first.jsonl", "third.ipynb", "third.jsonl"}


def test_recordings_from_a_gpu_stay_beside_what_is_offered(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery.write("steps", RECIPE)
    assert gallery.record("steps")
    name_gpu(gallery, "steps")
    before = (gallery.recordings / "steps.ipynb").read_bytes()
    assert main(["record", "steps", "--replicates", "1"]) == 1
    assert run_suggested(capsys.readouterr().err) == 0
    assert (gallery.recordings / "steps.ipynb").read_bytes() == before
    assert (gallery.recordings / "mine/steps.jsonl").read_text().count("\n") == 1


def test_what_is_missing_is_offered_alone_beside_recordings_from_a_gpu(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery.write("steps", RECIPE)
    assert gallery.record("steps")
    name_gpu(gallery, "steps")
    gallery.write("new", RECIPE)
    assert main(["record"]) == 1
    told = capsys.readouterr().err
    assert "to run on the CPU instead: recorded-gallery record new --device cpu\n" in told
    assert run_suggested(told) == 0
    assert (gallery.recordings / "new.ipynb").exists()


def test_a_stale_recording_from_a_gpu_asks_for_one(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery.add("recipe", f"{TITLE}x = 1")
    name_gpu(gallery, "recipe")
    gallery.write("recipe", f"{TITLE}x = 2")
    assert main(["check"]) == 1
    told = capsys.readouterr().out
    assert "on a machine with a GPU, run: recorded-gallery record recipe\n" in told


def test_replicates_of_another_device_are_refused_before_they_run(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery.write("steps", RECIPE)
    assert gallery.record("steps")
    name_gpu(gallery, "steps")
    assert main(["record", "steps", "--device", "cpu", "--replicates", "2"]) == 1
    told = capsys.readouterr().err
    assert "steps: recorded on Some GPU, and replicates on another device" in told
    assert "begins" not in told
    assert not (gallery.recordings / "steps.jsonl").exists()
    assert run_suggested(told) == 0
    lines = (gallery.recordings / "mine/steps.jsonl").read_text().splitlines()
    assert len(lines) == 2


def test_what_a_change_of_shared_code_costs_is_told(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    module = gallery.write("_bench", '"""How it is measured."""\nx = 1\n')
    for name in ("first", "second"):
        gallery.write(name, f"{TITLE}from _bench import x\n\n# %%\n\nprint(x)\n")
    assert gallery.record()
    module.write_text('"""How it is measured."""\nx = 2\n')
    assert main(["check"]) == 1
    told = capsys.readouterr().out
    assert told.count("changed code in _bench.py, imported in cell 1") == 2
    assert "_bench.py is part of 2 examples: its change needs 2 new recordings" in told


@pytest.mark.slow
def test_the_program_is_named_as_it_was_started(gallery: Gallery) -> None:
    gallery.write("recipe", f"{TITLE}x = 1")
    package = Path(__file__).parents[3]
    environment = os.environ | {"PYTHONPATH": str(package)}
    started = [sys.executable, "-m", "sphinx_recorded_gallery"]
    done = subprocess.run([*started, "check"], capture_output=True, text=True, env=environment)
    (command,) = re.findall(r"run: (.*)", done.stdout)
    assert "-m sphinx_recorded_gallery record recipe --device cpu" in command
    done = subprocess.run(shlex.split(command), capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
