"""Replicates: which are made, what is kept of them, and what goes on where it stopped."""

import os
import signal
import textwrap
import time
from pathlib import Path
from typing import Any

import pytest
from nbformat import NotebookNode

from gallery import Gallery
from recipe_gallery.__main__ import main
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import Replicate, read_replicates
from recipe_gallery.record import task as tasks
from recipe_gallery.record.task import Task

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n'
PUBLISHES = """
import os
from IPython.display import display

number = int(os.environ["RECIPE_REPLICATE"])
row = {"case": "Adam", "variant": "compiled", "size": 10, "quantity": "speedup", "unit": ""}
kind = "application/vnd.recipe-gallery.rows+json"
display({kind: {"rows": [row | {"value": 1.5 + number / 100}]}}, raw=True)
"""


def write(gallery: Gallery, name: str = "recipe", code: str = PUBLISHES) -> Path:
    return gallery.write(name, TITLE + textwrap.dedent(code))


def replicates(gallery: Gallery, name: str = "recipe") -> tuple[Replicate, ...]:
    recipe = load_recipe(gallery.recipes / f"{name}.py")
    path = gallery.recordings / f"{name}.jsonl"
    return read_replicates(path, recipe.replicate_fingerprint).current


def numbers(gallery: Gallery, name: str = "recipe") -> list[int]:
    return [each.replicate for each in replicates(gallery, name)]


@pytest.mark.slow
def test_each_replicate_is_a_line_that_says_what_its_process_published(gallery: Gallery) -> None:
    write(gallery)
    assert gallery.record(replicates=2)
    made = replicates(gallery)
    assert [(each.replicate, each.published.rows[0].value) for each in made] == [
        (1, 1.51),
        (2, 1.52),
    ]
    recording = gallery.recording("recipe")
    assert {each.host for each in made} == {recording.facts["host"]}
    assert {each.device_name for each in made} == {recording.device_name}
    assert made[0].versions == recording.facts["versions"]
    lines = gallery.messages.splitlines()
    assert any(line.startswith("recipe replicate 2 (3 of 3): cell 1 of 1, ") for line in lines)
    assert "1 of 1 recorded: recipe" in lines
    assert lines[-1] == "2 of 2 replicates made: recipe 2"


@pytest.mark.usefixtures("_run_here")
def test_a_missing_one_is_made(gallery: Gallery) -> None:
    write(gallery)
    assert gallery.record(replicates=3)
    path = gallery.recordings / "recipe.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[2])
    assert gallery.record(replicates=3)
    assert numbers(gallery) == [1, 3, 2]


@pytest.mark.usefixtures("_run_here")
def test_those_of_other_code_and_of_other_machines_do_not_count(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(gallery)
    assert gallery.record(replicates=1)
    write(gallery, code=PUBLISHES + "\nprint('changed')")
    assert gallery.record(replicates=1)
    assert numbers(gallery) == [1]
    assert len((gallery.recordings / "recipe.jsonl").read_text().splitlines()) == 2
    monkeypatch.setattr("recipe_gallery.record.facts.host_hash", lambda: "another")
    assert gallery.record(replicates=1)
    assert [(each.replicate, each.host == "another") for each in replicates(gallery)] == [
        (1, False),
        (1, True),
    ]


@pytest.mark.usefixtures("_run_here")
def test_cells_that_run_once_are_left_out(gallery: Gallery) -> None:
    once = "\n# %%\n\n# sphinx_gallery_once = True\nprint('sweep', number)\n"
    write(gallery, code=PUBLISHES + once)
    assert gallery.record(replicates=1)
    starts = [line.partition(",")[0] for line in gallery.messages.splitlines()]
    assert "recipe (1 of 1): cell 2 of 2" in starts
    assert "recipe replicate 1 (2 of 2): cell 1 of 1" in starts
    write(gallery, code=PUBLISHES + once.replace("sweep", "another"))
    assert gallery.record(replicates=1)
    assert "1 of 1 recorded: recipe" in gallery.messages
    assert "its 1 replicates are there already" in gallery.messages


@pytest.mark.usefixtures("_run_here")
def test_a_failed_replicate_is_named_and_does_not_stop_others(gallery: Gallery) -> None:
    write(gallery, code=PUBLISHES + "\nassert number != 2, 'two'")
    assert not gallery.record(replicates=3)
    assert numbers(gallery) == [1, 3]
    assert "1 failed: recipe replicate 2" in gallery.messages.splitlines()
    assert "AssertionError: two" in gallery.messages.splitlines()[-1]


@pytest.mark.usefixtures("_run_here")
def test_a_replicate_that_publishes_nothing_is_an_error(gallery: Gallery) -> None:
    write(gallery, code=PUBLISHES.replace("display({", "number or display({"))
    assert not gallery.record(replicates=1)
    assert gallery.messages.splitlines()[-1].endswith(
        "recipe.py: replicate 1 published no rows, though the page's run did; "
        "publish them in a cell that is not '# sphinx_gallery_once'"
    )


@pytest.mark.usefixtures("_run_here")
def test_an_interruption_keeps_replicates_and_the_same_command_goes_on(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tasks.run_task

    def interrupt(task: Task, *others: Any) -> NotebookNode | Replicate:
        if task.number == 2:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(1)
        return run(task, *others)

    write(gallery)
    with monkeypatch.context() as patched:
        patched.setattr(tasks, "run_task", interrupt)
        with pytest.raises(KeyboardInterrupt):
            gallery.record(replicates=3)
    assert gallery.messages.splitlines()[-1] == (
        "1 of 3 replicates made: recipe 1; the same command goes on with the others"
    )
    assert numbers(gallery) == [1]
    assert gallery.record(replicates=3)
    assert numbers(gallery) == [1, 2, 3]


@pytest.mark.parametrize("wrong", ["0", "-1", "x", "1e3", "1001"])
def test_a_number_that_is_none_is_told(capsys: pytest.CaptureFixture[str], wrong: str) -> None:
    with pytest.raises(SystemExit):
        main(["record", f"--replicates={wrong}"])
    assert "is not a number from 1 to 1,000" in capsys.readouterr().err
