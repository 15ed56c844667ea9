import io
import os
import re
import signal
import sys
import textwrap
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from PIL import Image

from gallery import Gallery, write_recording
from recipe_gallery.__main__ import main
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recording import find_data
from recipe_gallery.record import session
from recipe_gallery.record import task as tasks
from recipe_gallery.record.gpu import VISIBLE
from recipe_gallery.record.places import one_at_a_time
from recipe_gallery.record.task import Task

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n'


def write(gallery: Gallery, code: str, name: str = "recipe") -> Path:
    return gallery.write(name, TITLE + textwrap.dedent(code))


def test_a_recording_is_a_valid_notebook_with_provenance(gallery: Gallery, recipe: str) -> None:
    gallery.write("adding", recipe)
    assert gallery.record("adding")
    recording = gallery.recording("adding")
    nbformat.validate(recording.notebook)
    assert recording.facts["versions"]["python"] == sys.version.split()[0]
    assert recording.facts["device"]["cores"] >= 1
    assert not recording.on_gpu
    first, table, figure = recording.notebook.cells
    assert first.outputs[0].text == "the total is 3\n"
    assert "<td>cell</td>" in table.outputs[0].data["text/html"]
    assert "image/png" in figure.outputs[0].data
    assert set(os.listdir(gallery.recordings)) <= {".lock", "adding.ipynb"}


def test_two_recordings_differ_only_in_times(gallery: Gallery, recipe: str) -> None:
    gallery.add("adding", recipe)
    texts = []
    for again in (False, True):
        assert not again or gallery.record("adding", force=True)
        notebook = gallery.recording("adding").notebook
        for measured in ("recorded", "seconds"):
            del notebook.metadata.recording[measured]
        for cell in notebook.cells:
            del cell.metadata["recording"]
        texts.append(nbformat.writes(notebook))
    assert texts[0] == texts[1]


def test_an_error_that_conf_expects_is_recorded_and_ends_the_recipe(gallery: Gallery) -> None:
    failing = {"expected_failing_examples": ["recipes_source/recipe.py"]}
    gallery.configure(sphinx_gallery_conf=gallery.settings["sphinx_gallery_conf"] | failing)
    write(gallery, 'print("so far")\n1 / 0\n\n# %%\n\nprint("on")')
    assert gallery.record("recipe")
    first, second = gallery.recording("recipe").notebook.cells
    assert [each.output_type for each in first.outputs] == ["stream", "error"]
    assert first.outputs[1].ename == "ZeroDivisionError"
    assert second.outputs == []
    write(gallery, "x = 1")
    assert not gallery.record("recipe")
    told = "runs to its end, but expected_failing_examples in conf.py names it; take it out there"
    assert told in gallery.messages


@pytest.mark.usefixtures("_run_here")
def test_a_project_checks_what_recipes_publish_before_it_is_written(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(notebook: NotebookNode, recipe: Path) -> None:
        shown = [data["application/x-y+json"] for _number, data in find_data(notebook)]
        raise GalleryError(f"{shown} is wrong", path=recipe)

    code = (
        "from IPython.display import display\ndisplay({'application/x-y+json': {'a': 1}}, raw=True)"
    )
    write(gallery, code)
    monkeypatch.setattr(session, "load_check", lambda project: check)
    assert not gallery.record("recipe")
    assert "recipe.py: [{'a': 1}] is wrong" in gallery.messages
    assert not list(gallery.recordings.glob("*.ipynb"))


def test_settings_reach_the_kernel(gallery: Gallery) -> None:
    (gallery.recipes / "recording.toml").write_text(
        '[environment]\nCACHE = "{scratch}/cache"\n[output]\ndrop = ["chatter"]\n'
    )
    write(
        gallery,
        """
        import os, pathlib
        print("chatter to leave out")
        print(pathlib.Path(os.environ["CACHE"]).exists(), os.environ["CUDA_VISIBLE_DEVICES"] == "")
        """,
    )
    assert gallery.record("recipe")
    assert gallery.recording("recipe").notebook.cells[0].outputs[0].text == "False True\n"


@pytest.mark.slow
def test_a_recipe_that_changes_its_own_input_is_stale(gallery: Gallery) -> None:
    path = gallery.recipes / "numbers.txt"
    path.write_text("1 2 3\n")
    write(
        gallery,
        '# sphinx_gallery_inputs = ["numbers.txt"]\nfrom pathlib import Path\n'
        'print(Path(__file__).with_name("numbers.txt").write_text("4"))',
    )
    assert gallery.record("recipe")
    assert path.read_text() == "4"
    assert gallery.record("recipe")  # again: what was recorded is of other input
    assert "recorded in" in gallery.messages


@pytest.mark.usefixtures("_run_here")
def test_declared_inputs_are_there_and_a_changed_one_makes_stale(gallery: Gallery) -> None:
    data = gallery.recipes / "data"
    data.mkdir()
    data.joinpath("numbers.txt").write_text("1 2 3")
    write(
        gallery,
        '# sphinx_gallery_inputs = ["data/numbers.txt"]\nprint(open("data/numbers.txt").read())',
    )
    assert gallery.record("recipe")
    assert gallery.record("recipe")
    assert "current" in gallery.messages
    data.joinpath("numbers.txt").write_text("4")
    assert gallery.record("recipe")
    assert gallery.recording("recipe").notebook.cells[0].outputs[0].text == "4\n"


@pytest.mark.usefixtures("_run_here")
def test_a_cpu_recording_takes_the_place_of_a_gpu_one_only_when_asked(gallery: Gallery) -> None:
    gallery.add("recipe", f"{TITLE}x = 1")
    path = gallery.recordings / "recipe.ipynb"
    notebook = gallery.recording("recipe").notebook
    notebook.metadata.recording.device["gpu"] = "Some GPU"
    write_recording(path, nbformat.writes(notebook))
    before = path.read_bytes()
    assert not gallery.record("recipe", force=True)
    assert "recipe-gallery record recipe --device cpu --replace-gpu" in gallery.messages
    assert path.read_bytes() == before
    assert gallery.record("recipe", force=True, replace_gpu=True)
    assert not gallery.recording("recipe").on_gpu


@pytest.mark.parametrize("damage", ["{", "[]", "<<<<<<< HEAD\n", ""])
def test_a_recording_that_cannot_be_read_is_replaced_as_it_is_told(
    gallery: Gallery,
    damage: str,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    gallery.add("recipe", f"{TITLE}x = 1")
    gallery.configure(recipe_gallery_device="cpu")
    (gallery.recordings / "recipe.ipynb").write_text(damage)
    monkeypatch.chdir(gallery.root)
    assert main(["check"]) == 1
    (command,) = re.findall(
        r"run: recipe-gallery (record recipe --force)$", capfd.readouterr().out, re.M
    )
    assert main(command.split()) == 0
    assert main(["check"]) == 0
    assert sorted(os.listdir(gallery.recordings)) == ["recipe.ipynb"]  # no lock for git to add


def test_where_conf_names_the_cpu_a_recording_of_a_gpu_is_replaced(gallery: Gallery) -> None:
    gallery.add("recipe", f"{TITLE}x = 1")
    gallery.configure(recipe_gallery_device="cpu")
    path = gallery.recordings / "recipe.ipynb"
    notebook = gallery.recording("recipe").notebook
    notebook.metadata.recording.device["gpu"] = "Some GPU"
    write_recording(path, nbformat.writes(notebook))
    assert gallery.record("recipe", force=True)
    gallery.configure(recipe_gallery_device="tpu")
    with pytest.raises(GalleryError, match="recipe_gallery_device = 'tpu' is not"):
        gallery.record("recipe")


def test_a_lock_for_all_users_can_be_taken_by_each(tmp_path: Path) -> None:
    before = os.umask(0o077)
    try:
        with one_at_a_time(tmp_path / "lock", mode=0o666):
            assert (tmp_path / "lock").stat().st_mode & 0o777 == 0o666
    finally:
        os.umask(before)


def test_which_gpu_is_used_is_not_for_settings_to_say(gallery: Gallery) -> None:
    write(gallery, "x = 1")
    path = gallery.recipes / "recording.toml"
    path.write_text(f'[environment]\n{VISIBLE} = "0"\n')
    with pytest.raises(GalleryError) as caught:
        gallery.record("recipe")
    assert str(caught.value) == (
        f"{path}: [environment] {VISIBLE}: recordings name the GPU that makes them; "
        "remove it, and set it for the command instead"
    )


def test_a_missing_recorder_is_said_in_one_line(
    gallery: Gallery, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(gallery, "x = 1")
    for name in [each for each in sys.modules if each.startswith("recipe_gallery.record.")]:
        package, _, module = name.rpartition(".")
        # else the package would keep the modules that are imported now, after this test
        monkeypatch.delattr(sys.modules[package], module, raising=False)
    for name in [each for each in sys.modules if each.startswith("recipe_gallery.record.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "nbclient", None)
    assert main(["record", "--root", str(gallery.root), "--device", "cpu"]) == 1
    message = capsys.readouterr().err
    assert "recording needs the package nbclient" in message
    assert message.count("\n") == 1


def test_a_recipe_finds_what_a_script_finds(gallery: Gallery) -> None:
    (gallery.recipes / "_beside.py").write_text("VALUE = 42\n")
    write(
        gallery,
        """
        # sphinx_gallery_start_ignore
        hidden = "hidden"
        # sphinx_gallery_end_ignore
        import sys
        import _beside
        print(_beside.VALUE, sys.argv, __file__, hidden)
        """,
    )
    assert gallery.record("recipe")
    (cell,) = gallery.recording("recipe").notebook.cells
    assert cell.outputs[0].text == "42 ['recipe.py'] recipe.py hidden\n"
    assert (cell.execution_count, cell.id) == (1, "cell-1")


@pytest.mark.usefixtures("_run_here")
def test_recipes_of_a_part_are_recorded_under_their_path(gallery: Gallery) -> None:
    part = gallery.recipes / "advanced"
    part.mkdir()
    part.joinpath("README.rst").write_text("Advanced\n========\n")
    write(gallery, "print('deep')", name="advanced/deep")
    write(gallery, "print('flat')", name="flat")
    (gallery.recipes / "recording.toml").write_text('[environment]\nHERE = "{recipes}"\n')
    assert gallery.record("deep.py")
    assert gallery.messages.splitlines()[-1].startswith("advanced/deep: recorded in ")
    found = sorted(
        str(path.relative_to(gallery.recordings)) for path in gallery.recordings.rglob("*.ipynb")
    )
    assert found == ["advanced/deep.ipynb"]
    assert gallery.recording("advanced/deep").facts["recipe"] == "advanced/deep"
    with pytest.raises(GalleryError) as caught:
        gallery.record("other")
    assert str(caught.value) == "no recipe named other; there are: flat, advanced/deep"


@pytest.mark.parametrize("gpu", [None, "A GPU"])
def test_what_the_project_refuses_is_recorded_again(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch, gpu: str | None
) -> None:
    def refuse(notebook: object, path: Path) -> None:
        raise GalleryError("cannot be shown", path=path)

    def run(*arguments: object) -> NotebookNode:
        raise GalleryError("it was run")

    gallery.add("adding")
    recording = gallery.recording("adding")
    recording.facts["device"]["gpu"] = gpu
    write_recording(recording.path, nbformat.writes(recording.notebook))
    monkeypatch.setattr(tasks, "run_task", run)
    assert gallery.record("adding")  # current
    monkeypatch.setattr(session, "load_check", lambda project: refuse)
    assert not gallery.record("adding")
    # from a CPU it may be replaced; a GPU's is kept, as any other
    assert ("it was run" in gallery.messages) == (gpu is None)
    assert ("was made on a GPU" in gallery.messages) == (gpu is not None)


class Strange(BaseException):
    """Nothing that anybody expects."""


@pytest.mark.usefixtures("_run_here")
@pytest.mark.parametrize(
    ("error", "said"),
    [
        (KeyError("key"), "bad: unexpected KeyError in test_session.py:"),
        (Strange("odd\nlines"), "bad: unexpected Strange in test_session.py:"),
        (SystemExit(3), "bad: unexpected SystemExit in test_session.py:"),
        (RuntimeError("no home"), "bad: unexpected RuntimeError in test_session.py:"),
        (
            PermissionError(13, "Permission denied", "data.csv"),
            "bad: data.csv: Permission denied; mend it and run the command again\n",
        ),
        (OSError(24, "Too many open files"), "bad: Too many open files; mend it"),
    ],
)
def test_whatever_goes_wrong_with_one_recipe_is_one_line_and_the_others_go_on(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str
) -> None:
    run = tasks.run_task

    def fail(task: Task, *others: object) -> NotebookNode:
        if task.file.name == "bad":
            raise error
        return run(task, *others)

    write(gallery, "x = 1", name="bad")
    write(gallery, "x = 1", name="good")
    monkeypatch.setattr(tasks, "run_task", fail)
    assert not gallery.record()
    lines = [line for line in gallery.messages.splitlines() if line.startswith("error: ")]
    assert len(lines) == 2  # when it happens, and in the summary
    assert lines[0] == lines[1]
    assert lines[0].startswith(f"error: {said.rstrip()}")
    assert (gallery.recordings / "good.ipynb").exists()
    if "unexpected" in said:
        report = Path(lines[0].rpartition(" ")[2])
        assert "Traceback" in report.read_text()
        report.unlink()


@pytest.mark.usefixtures("_run_here")
@pytest.mark.parametrize(
    ("forced", "again"),
    [(False, "the same command goes on with them"), (True, "name them to go on")],
)
def test_an_interruption_tells_what_is_recorded_and_what_is_not(
    gallery: Gallery, forced: bool, again: str
) -> None:
    for name in ("a", "b", "c"):
        write(gallery, "x = 1", name=name)
    end = f"import os, signal, time\nos.kill({os.getpid()}, signal.SIGTERM)\ntime.sleep(1)"
    write(gallery, end, name="b")
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt):
        gallery.record(force=forced)
    assert signal.getsignal(signal.SIGTERM) is before
    assert gallery.messages.splitlines()[-2:] == [
        "1 of 3 recorded: a",
        f"2 not recorded yet: b, c; {again}",
    ]
    assert [each.name for each in gallery.recordings.glob("*.ipynb")] == ["a.ipynb"]


IN_FUNCTION = "x = 1\n\n\ndef f():\n    # sphinx_gallery_deadline = 9\n    1 / 0\n\n\nf()"


@pytest.mark.parametrize(
    ("code", "line", "remedy"),
    [
        (
            "open('near.txt')",
            11,
            'add a line to the recipe: # sphinx_gallery_inputs = ["near.txt"]',
        ),
        ("open('/nowhere/a')", 11, "a recipe runs in an empty folder, with the files beside it"),
        ("raise OSError(28, 'No space')", 11, "make room, in TMPDIR as well"),
        ("raise MemoryError", 11, "try a smaller size or free memory"),
        (IN_FUNCTION, 16, "mend the recipe"),
    ],
)
def test_an_error_names_its_line_and_what_is_to_blame(
    gallery: Gallery, code: str, line: int, remedy: str
) -> None:
    (gallery.recipes / "near.txt").touch()
    gallery.write("recipe", f"{TITLE}x = 1\n\n# %%\n\n{code}\n")
    assert not gallery.record("recipe")
    assert f"recipes_source/recipe.py:{line}: cell 2 of 2 failed: " in gallery.messages
    assert f"; {remedy}" in gallery.messages


@pytest.mark.parametrize(
    "chosen", ["", "matplotlib.use('Agg')", "matplotlib.pyplot.switch_backend('agg')"]
)
def test_figures_are_drawn_as_large_as_they_are_with_any_backend(
    gallery: Gallery, chosen: str
) -> None:
    draw = "plt.figure(figsize=(3, 2), dpi=100)\nplt.plot([1, 2])\nplt.title('Two points')\n"
    start = f"import matplotlib\nimport matplotlib.pyplot as plt\n{chosen}\n"
    gallery.write("recipe", f"{TITLE}{start}{draw}{draw}\n# %%\n\n{draw}")
    assert gallery.record("recipe"), gallery.messages
    cells = gallery.recording("recipe").notebook.cells
    shown = [
        [each for each in cell.outputs if "image/png" in each.get("data", {})] for cell in cells
    ]
    pictures = [[each.data["image/png"] for each in outputs] for outputs in shown]
    assert [len(each) for each in pictures] == [2, 1]
    assert gallery.build().page("recipes/recipe").count('alt="Two points"') == 3
    for content in [*pictures[0], *pictures[1]]:
        assert Image.open(io.BytesIO(b64decode(content))).size == (300, 200)
