"""What a recipe finds, what is kept of it, and what stops nothing."""

import errno
import io
import os
import re
import signal
import sys
import textwrap
from base64 import b64decode
from pathlib import Path
from typing import Any

import nbformat
import pytest
from PIL import Image

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.record import write_recordings
from tests.helpers.gallery import RECIPE, Gallery, write_recording

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n'
here = pytest.mark.usefixtures("_run_here")


def write(gallery: Gallery, code: str, name: str = "recipe") -> Path:
    return gallery.write(name, TITLE + textwrap.dedent(code))


def printed(gallery: Gallery, name: str = "recipe") -> str:
    return str(gallery.recording(name).notebook.cells[0].outputs[0].text)


def errors(gallery: Gallery) -> list[str]:
    return [line for line in gallery.messages.splitlines() if line.startswith("error: ")]


def recorded_on_gpu(gallery: Gallery) -> Path:
    """Add a recording that names a GPU."""
    gallery.add("recipe", f"{TITLE}x = 1")
    recording = gallery.recording("recipe")
    recording.facts["device"]["gpu"] = "Some GPU"
    write_recording(recording.path, nbformat.writes(recording.notebook))
    return recording.path


@pytest.mark.slow
def test_two_recordings_are_valid_notebooks_that_differ_only_in_times(gallery: Gallery) -> None:
    gallery.write("adding", RECIPE)
    texts = []
    for _again in range(2):
        assert gallery.record("adding", force=True)
        recording = gallery.recording("adding")
        assert recording.facts["versions"]["python"] == sys.version.split()[0]
        assert recording.facts["device"]["cores"] >= 1
        assert not recording.on_gpu
        first, table, figure = recording.notebook.cells
        assert first.outputs[0].text == "the total is 3\n"
        assert "<td>cell</td>" in table.outputs[0].data["text/html"]
        assert "image/png" in figure.outputs[0].data
        for measured in ("recorded", "seconds"):
            del recording.facts[measured]
        for cell in recording.notebook.cells:
            del cell.metadata["recording"]
        nbformat.validate(recording.notebook)
        texts.append(nbformat.writes(recording.notebook))
    assert texts[0] == texts[1]
    assert set(os.listdir(gallery.recordings)) <= {".lock", "adding.ipynb"}


@pytest.mark.slow
def test_an_error_that_conf_expects_is_recorded_and_shown_and_ends_the_recipe(
    gallery: Gallery,
) -> None:
    failing = {"expected_failing_examples": ["recipes_source/recipe.py"]}
    gallery.configure(sphinx_gallery_conf=gallery.settings["sphinx_gallery_conf"] | failing)
    write(gallery, 'print("so far")\n1 / 0\n\n# %%\n\nprint("on")')
    assert gallery.record("recipe")
    first, second = gallery.recording("recipe").notebook.cells
    assert [each.output_type for each in first.outputs] == ["stream", "error"]
    assert first.outputs[1].ename == "ZeroDivisionError"
    assert second.outputs == []
    build = gallery.build()
    assert build.warnings == ""
    assert re.search("ZeroDivisionError(</span>)?: division by zero", build.page("recipes/recipe"))
    shown = nbformat.read(build.out / "recipes/recipe.ipynb", as_version=4).cells[1].outputs
    assert shown[1].ename == "ZeroDivisionError"
    write(gallery, "x = 1")
    assert not gallery.record("recipe")
    told = "runs to its end, but expected_failing_examples in conf.py names it; remove it there"
    assert told in gallery.messages


@pytest.mark.slow
def test_a_recipe_finds_what_a_script_finds_and_what_settings_say(gallery: Gallery) -> None:
    (gallery.recipes / "recording.toml").write_text(
        '[environment]\nCACHE = "{scratch}/cache"\n[output]\ndrop = ["chatter*"]\n'
    )
    (gallery.recipes / "_beside.py").write_text("VALUE = 42\n")
    (gallery.recipes / "data").mkdir()
    numbers = gallery.recipes / "data/numbers.txt"
    numbers.write_text("1 2 3")
    write(
        gallery,
        """
        # sphinx_gallery_inputs = ["data/numbers.txt"]
        # sphinx_gallery_start_ignore
        hidden = "hidden"
        # sphinx_gallery_end_ignore
        import os, sys
        from pathlib import Path
        import _beside
        print("chatter to leave out")
        print(_beside.VALUE, sys.argv, __file__, hidden)
        print(Path(os.environ["CACHE"]).exists(), os.environ["CUDA_VISIBLE_DEVICES"] == "")
        print(open("data/numbers.txt").read(), Path(__file__).with_name("data").is_dir())
        """,
    )
    assert gallery.record("recipe")
    told = "42 ['recipe.py'] recipe.py hidden\nFalse True\n{} True\n"
    assert printed(gallery) == told.format("1 2 3")
    (cell,) = gallery.recording("recipe").notebook.cells
    assert (cell.execution_count, cell.id) == (1, "cell-1")
    assert gallery.record("recipe")
    assert "recipe: current" in gallery.messages
    numbers.write_text("4")
    assert gallery.record("recipe")
    assert printed(gallery) == told.format("4")


@pytest.mark.slow
@pytest.mark.parametrize("code", ["VALUE = 2\n", "VALUE = (\n"])
def test_a_module_that_is_edited_during_a_run_makes_its_recording_stale(
    gallery: Gallery, code: str
) -> None:
    """Put back later, it would else pass for what ran."""
    module = gallery.recipes / "_beside.py"
    module.write_text("VALUE = 1\n")
    write(
        gallery,
        f"""
        import pathlib
        import _beside
        _ = pathlib.Path({str(module)!r}).write_text({code!r})
        print(_beside.VALUE)
        """,
    )
    assert gallery.record("recipe")
    assert "recipe: _beside.py changed while it ran" in gallery.messages
    module.write_text("VALUE = 1\n")
    assert gallery.record("recipe")
    assert "recipe: recorded" in gallery.messages  # not: current


@pytest.mark.slow
def test_a_cpu_recording_takes_the_place_of_a_gpu_one_only_when_asked(gallery: Gallery) -> None:
    path = recorded_on_gpu(gallery)
    before = path.read_bytes()
    assert not gallery.record("recipe", force=True)
    assert "recorded-gallery record recipe --device cpu --force --replace-gpu" in gallery.messages
    assert path.read_bytes() == before
    assert gallery.record("recipe", force=True, replace_gpu=True)
    assert not gallery.recording("recipe").on_gpu
    recorded_on_gpu(gallery)
    gallery.configure(recorded_gallery_device="cpu")
    assert gallery.record("recipe", force=True)
    gallery.configure(recorded_gallery_device="tpu")
    with pytest.raises(GalleryError, match="recorded_gallery_device = 'tpu' is not"):
        gallery.record("recipe")


@pytest.mark.parametrize("damage", ["{", "changed"])
def test_a_recording_that_cannot_be_read_is_replaced_as_it_is_told(
    gallery: Gallery,
    damage: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gallery.add("recipe", f"{TITLE}x = 1")
    gallery.configure(recorded_gallery_device="cpu")
    path = gallery.recordings / "recipe.ipynb"
    changed = path.read_text().replace('"seconds": ', '"seconds": 1')
    path.write_text(changed if damage == "changed" else damage)
    monkeypatch.chdir(gallery.root)
    assert main(["check"]) == 1
    told = capfd.readouterr().out
    (command,) = re.findall(r"run: recorded-gallery (record recipe --force)$", told, re.M)
    assert main(command.split()) == 0
    assert main(["check"]) == 0
    assert sorted(os.listdir(gallery.recordings)) == ["recipe.ipynb"]  # no lock for git to add


def test_a_missing_recorder_is_said_in_one_line(
    gallery: Gallery, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(gallery, "x = 1")
    for name in [
        each for each in sys.modules if each.startswith("sphinx_recorded_gallery.record.")
    ]:
        package, _, module = name.rpartition(".")
        # else the package would keep the modules that are imported now, after this test
        monkeypatch.delattr(sys.modules[package], module, raising=False)
    for name in [
        each for each in sys.modules if each.startswith("sphinx_recorded_gallery.record.")
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nbclient", None)
    assert main(["record", "--root", str(gallery.root), "--device", "cpu"]) == 1
    message = capsys.readouterr().err
    assert "recording needs the package nbclient; run: " in message
    assert message.endswith("[record]'\n")
    assert message.count("\n") == 1


@here
def test_a_recipe_is_called_by_its_path_or_its_last_part(gallery: Gallery) -> None:
    for folder in ("one", "two"):
        (gallery.recipes / folder).mkdir()
        (gallery.recipes / folder / "README.rst").write_text("Part\n====\n")
    for name in ("one/a", "two/a", "two/b", "c"):
        write(gallery, "x = 1", name)
    assert gallery.record("b.py")
    assert gallery.messages.splitlines()[-1].startswith("two/b: recorded in ")
    assert gallery.record("one/a")
    assert gallery.recording("one/a").facts["recipe"] == "one/a"
    several = "several examples are named a; choose among: one/a, two/a"
    told = {
        "a": several,
        "x": "no example named x; choose among: c, one/a, ",
        "one/b": "no example named one/b; did you mean one/a?",
        "examples/c.py": "no example named examples/c; did you mean c?",
        "a,c": "no example named a,c; write spaces between names: a c",
    }
    for name, text in told.items():
        with pytest.raises(GalleryError) as caught:
            gallery.record("c", name)
        assert str(caught.value).startswith(text)
    found = {str(each.relative_to(gallery.recordings)) for each in gallery.recordings.rglob("*.i*")}
    assert found == {"one/a.ipynb", "two/b.ipynb"}


@here
def test_an_interruption_tells_what_is_recorded_and_what_is_not(gallery: Gallery) -> None:
    for name in ("a", "b", "c"):
        write(gallery, "x = 1", name=name)
    end = f"import os, signal, time\nos.kill({os.getpid()}, signal.SIGTERM)\ntime.sleep(1)"
    write(gallery, end, name="b")
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        gallery.record()
    assert signal.getsignal(signal.SIGTERM) is before
    told = ["1 of 3 recorded: a", "2 not recorded yet: b, c"]
    assert gallery.messages.splitlines()[-2:] == told
    assert [each.name for each in gallery.recordings.glob("*.ipynb")] == ["a.ipynb"]


IN_FUNCTION = "x = 1\n\n\ndef f():\n    # sphinx_gallery_deadline = 9\n    1 / 0\n\n\nf()"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "line", "remedy"),
    [
        (
            "open('near.txt')",
            11,
            'add a line to the example: # sphinx_gallery_inputs = ["near.txt"]',
        ),
        (
            "from pathlib import Path\n\nopen(Path.cwd() / 'near.txt'), open('far/away.txt')",
            13,
            'add a line to the example: # sphinx_gallery_inputs = ["near.txt", "far/away.txt"]',
        ),
        ("open('/nowhere/a')", 11, "an example runs in an empty folder, with the files beside it"),
        (
            "raise RuntimeError('Found no NVIDIA driver on your system.')",
            11,
            "this machine has no GPU",
        ),
        ("raise OSError(28, 'No space')", 11, "free disk space, also in TMPDIR"),
        (IN_FUNCTION, 16, "mend the example"),
    ],
)
def test_an_error_names_its_line_and_what_is_to_blame(
    gallery: Gallery, code: str, line: int, remedy: str
) -> None:
    (gallery.recipes / "near.txt").touch()
    (gallery.recipes / "far").mkdir()
    (gallery.recipes / "far/away.txt").touch()
    gallery.write("recipe", f"{TITLE}x = 1\n\n# %%\n\n{code}\n")
    assert not gallery.record("recipe")
    assert f"recipes_source/recipe.py:{line}: cell 2 of 2 failed: " in gallery.messages
    assert f"; {remedy}" in gallery.messages


@pytest.mark.slow
@pytest.mark.parametrize(
    "chosen",
    [
        "",
        pytest.param("matplotlib.use('Agg')", marks=pytest.mark.nightly),
        "import warnings; warnings.simplefilter('error')",
    ],
)
def test_figures_are_drawn_as_large_as_they_are_with_any_backend(
    gallery: Gallery, chosen: str
) -> None:
    draw = "plt.figure(figsize=(3, 2), dpi=100)\nplt.plot([1, 2])\nplt.title('Two points')\n"
    start = f"import matplotlib\n{chosen}\nimport matplotlib.pyplot as plt\n"
    gallery.write("recipe", f"{TITLE}{start}{draw}{draw}\n# %%\n\n{draw}")
    assert gallery.record("recipe"), gallery.messages
    pictures = [
        [each.data["image/png"] for each in cell.outputs if "image/png" in each.get("data", {})]
        for cell in gallery.recording("recipe").notebook.cells
    ]
    assert [len(each) for each in pictures] == [2, 1]
    assert gallery.build().page("recipes/recipe").count('alt="Two points"') == 3
    for content in [*pictures[0], *pictures[1]]:
        assert Image.open(io.BytesIO(b64decode(content))).size == (300, 200)


def show(data: dict[str, Any]) -> str:
    return f"from IPython.display import display\ndisplay({data!r}, raw=True)\n"


@here
def test_what_pages_leave_out_is_told(gallery: Gallery) -> None:
    html = "<p>a</p><script>draw()</script>"
    code = show({"text/html": html}) + show({"text/html": html}) + show({"image/bmp": "x"})
    gallery.write("recipe", f"{TITLE}\n{code}")
    assert gallery.record("recipe")
    told = "recipe.py:8: cell 1: pages and notebooks leave out <script>, an output whose only form"
    assert f"{told} is image/bmp; show something without scripts" in gallery.messages


@here
@pytest.mark.parametrize("wrong", ["recorded-galery.rows+json", "recorded-gallery.row+json"])
def test_a_misspelt_type_of_what_is_published_is_told(gallery: Gallery, wrong: str) -> None:
    gallery.write("recipe", f"{TITLE}\n{show({f'application/vnd.{wrong}': {'rows': []}})}")
    assert gallery.record("recipe")
    told = f"recipe.py:8: cell 1: nothing reads an output of the type application/vnd.{wrong}; did"
    assert f"{told} you mean application/vnd.recorded-gallery.rows+json?" in gallery.messages


@here
def test_a_full_disk_keeps_the_old_recording_and_ends_no_other(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(gallery, "print(1)", "one")
    write(gallery, "print(1)", "two")
    assert gallery.record()
    path = gallery.recordings / "one.ipynb"
    before = path.read_bytes()
    write(gallery, "print(2)", "one")

    def full(place: Path, data: bytes) -> None:
        if place.name == ".one.ipynb.new":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(place))
        place.write_bytes(data)

    monkeypatch.setattr(write_recordings, "ensure_writable", lambda path: None)
    monkeypatch.setattr(write_recordings.atomic_files, "write_synced", full)
    assert not gallery.record(force=True)
    assert path.read_bytes() == before
    told = "cannot be written: No space left on device; free disk space and record again"
    assert {*errors(gallery)} == {f"error: {path}: {told}"}
    assert "two: recorded in " in gallery.messages
    assert not list(gallery.recordings.glob(".*.new"))
