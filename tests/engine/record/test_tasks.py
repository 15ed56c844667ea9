"""One fresh process of a recipe: what it is given, and what is made of what it gave."""

import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.recipes.gallery import list_files
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.replicates import Replicate
from recipe_gallery.record.machine.conditions import Conditions
from recipe_gallery.record.recording_toml import Settings
from recipe_gallery.record.run.supervise import KernelDiedError, Run
from recipe_gallery.record.tasks import task as tasks
from recipe_gallery.record.tasks.task import Ear, Failure, Task, attempt, do_task

RECIPE = '''
    """
    Title
    =====

    Text.
    """

    # sphinx_gallery_inputs = ["data/a.txt", "data/b.txt"]

    publish()

    # %%

    # sphinx_gallery_once = True
    sweep()
    '''
ROWS = "application/vnd.recipe-gallery.rows+json"
ROW = {"case": "A", "arm": "b", "size": None, "quantity": "time", "value": 1.5, "unit": "s"}
FACTS = {
    "host": "0123456789ab",
    "device": {"cpu": "A CPU", "cores": 2},
    "versions": {"python": "3.14.0"},
    "environment": {"variables": {}},
    "commit": "0" * 40,
    "modified": True,
}

OnCell = Callable[[int], None]


class Heard:
    """What whoever hears a task was told."""

    def __init__(self) -> None:
        self.starts = 0
        self.cells: list[int] = []
        self.lines: list[str] = []

    def ear(self) -> Ear:
        def start() -> None:
            self.starts += 1

        return Ear(on_start=start, on_cell=self.cells.append, say=self.lines.append)


@pytest.fixture
def page(gallery: Gallery) -> Task:
    """The page run of a recipe with an input, and with a cell that runs once."""
    gallery.write("recipe", RECIPE)
    (gallery.recipes / "data").mkdir()
    for name in "ab":
        (gallery.recipes / f"data/{name}.txt").write_text("some data")
    project = load_project(gallery.root)
    (file,) = list_files(project.config, project.root)
    return Task(file=file, recipe=load_recipe(file.path))


@pytest.fixture
def conditions(gallery: Gallery) -> Conditions:
    return Conditions(
        settings=Settings(output_limit=1.5),
        gallery=gallery.recipes,
        environment={"A": "b"},
        facts=FACTS,
    )


def publish(run: Run, on_cell: OnCell) -> NotebookNode:
    """Run no cell; return a notebook in which the first published a row."""
    cells = []
    for cell in run.cells:
        on_cell(cell.number)
        cells.append(nbformat.v4.new_code_cell(cell.code))
    shown = nbformat.v4.new_output("display_data", {ROWS: {"rows": [ROW], "claims": []}})
    cells[0].outputs = [shown]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.clocks = {"samples": 3}
    return notebook


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that were started; each publishes a row."""
    started: list[Run] = []

    def run(started_run: Run, on_cell: OnCell, *_others: object) -> NotebookNode:
        started.append(started_run)
        found = {each.name: each.read_text() for each in started_run.work.glob("data/*")}
        assert found == {"a.txt": "some data", "b.txt": "some data"}
        assert [each.name for each in started_run.work.iterdir()] == ["data"]
        clock[0] += 2.26
        return publish(started_run, on_cell)

    clock = [100.0]
    monkeypatch.setattr(tasks, "time", SimpleNamespace(monotonic=lambda: clock[0]))
    monkeypatch.setattr(tasks, "run_recipe", run)
    return started


def test_a_task_is_called_by_its_recipe_and_number(page: Task) -> None:
    replicate = replace(page, number=1)
    assert (page.title, page.kind, page.cells) == ("recipe", ("recipe", False), 2)
    assert replicate.title == "recipe replicate 1"
    assert (replicate.kind, replicate.cells) == (("recipe", True), 1)


def test_a_page_run_gives_a_recording(page: Task, conditions: Conditions, runs: list[Run]) -> None:
    heard = Heard()
    recording = do_task(page, conditions, heard.ear())
    (run,) = runs
    assert [cell.code for cell in run.cells] == [cell.code for cell in page.recipe.cells]
    assert run.environment == {"A": "b", "RECIPE_REPLICATE": "0"}
    assert (heard.starts, heard.cells) == (1, [1, 2])
    nbformat.validate(recording)
    metadata = recording.metadata
    assert metadata.kernelspec == {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    assert metadata.language_info == {
        "name": "python",
        "version": tasks.platform.python_version(),
        "mimetype": "text/x-python",
        "file_extension": ".py",
        "pygments_lexer": "ipython3",
    }
    facts = dict(metadata.recording)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", facts.pop("recorded"))
    assert facts.pop("seconds") == 2.3
    assert facts == {
        **FACTS,
        "schema": tasks.SCHEMA,
        "recipe": "recipe",
        "cells": [cell.fingerprint for cell in page.recipe.cells],
        "inputs": page.recipe.inputs,
        "clocks": {"samples": 3},
    }
    assert "clocks" not in metadata
    assert not run.folder.exists()


def test_a_replicate_gives_what_it_published_without_cells_that_run_once(
    page: Task, conditions: Conditions, runs: list[Run]
) -> None:
    made = do_task(replace(page, number=2), conditions, Heard().ear())
    (run,) = runs
    assert [cell.code for cell in run.cells] == [page.recipe.cells[0].code]
    assert run.environment["RECIPE_REPLICATE"] == "2"
    assert isinstance(made, Replicate)
    assert made.fingerprint == page.recipe.replicate_fingerprint
    assert (made.replicate, made.host, made.device) == (2, "0123456789ab", FACTS["device"])
    assert (made.commit, made.modified, made.versions) == ("0" * 40, True, {"python": "3.14.0"})
    assert made.clocks == {"samples": 3}
    assert [row.key for row in made.rows] == ["a.b.time"]
    assert made.seconds == 2.3


@pytest.mark.parametrize(("number", "said"), [(0, False), (2, True)])
def test_a_name_that_a_replicate_lacks_is_told_with_the_reason(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch, number: int, said: bool
) -> None:
    def run(*_arguments: object) -> NotebookNode:
        text = "cell 1 of 1 failed: NameError: name 'fig' is not defined"
        raise GalleryError(text, remedy="mend the recipe")

    monkeypatch.setattr(tasks, "run_recipe", run)
    with pytest.raises(GalleryError, match="or mend the recipe" if said else "; mend") as caught:
        do_task(replace(page, number=number), conditions, Heard().ear())
    assert (
        "a replicate leaves out cells with '# sphinx_gallery_once'" in str(caught.value)
    ) == said


def test_a_recipe_without_inputs_starts_in_an_empty_folder(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(started_run: Run, on_cell: OnCell, *_others: object) -> NotebookNode:
        assert list(started_run.work.iterdir()) == []
        return publish(started_run, on_cell)

    monkeypatch.setattr(tasks, "run_recipe", run)
    settings = {name: each for name, each in page.recipe.settings.items() if name != "inputs"}
    alone = replace(page, recipe=replace(page.recipe, settings=settings))
    assert do_task(alone, conditions, Heard().ear()).metadata.recording.inputs == {}


def test_a_replicate_that_publishes_no_rows_says_what_to_do(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(started_run: Run, on_cell: OnCell, *_others: object) -> NotebookNode:
        notebook = publish(started_run, on_cell)
        notebook.cells[0].outputs = []
        return notebook

    monkeypatch.setattr(tasks, "run_recipe", run)
    with pytest.raises(GalleryError) as caught:
        do_task(replace(page, number=2), conditions, Heard().ear())
    assert str(caught.value) == (
        f"{page.recipe.path}: replicate 2 published no rows, though the page's run did; "
        "publish them in a cell that is not '# sphinx_gallery_once'"
    )


def test_a_kernel_that_dies_gets_a_second_try_in_a_folder_of_its_own(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[Run] = []

    def run(started_run: Run, on_cell: OnCell, *_others: object) -> NotebookNode:
        tries.append(started_run)
        if len(tries) == 1:
            raise KernelDiedError("killed", path=page.recipe.path)
        return publish(started_run, on_cell)

    monkeypatch.setattr(tasks, "run_recipe", run)
    heard = Heard()
    do_task(page, conditions, heard.ear())
    first, second = tries
    assert first.started == second.started  # the deadline is for both
    assert first.folder != second.folder
    assert heard.starts == 2
    (line,) = heard.lines
    assert line == f"{page.recipe.path}: killed\ntrying once more"


def test_what_pages_leave_out_of_a_page_run_is_said(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(started_run: Run, on_cell: OnCell, *_others: object) -> NotebookNode:
        notebook = publish(started_run, on_cell)
        shown = nbformat.v4.new_output("display_data", {"text/html": "<script>x</script>"})
        notebook.cells[1].outputs = [shown]
        return notebook

    monkeypatch.setattr(tasks, "run_recipe", run)
    heard = Heard()
    do_task(page, conditions, heard.ear())
    (line,) = heard.lines
    assert "cell 2: pages and notebooks leave out <script>; " in line
    small = replace(conditions, settings=Settings(output_limit=0.0001))
    with pytest.raises(GalleryError, match=r"its recording takes 0\.0 MB, and may take 0\.0001 MB"):
        do_task(page, small, heard.ear())


def failing(error: BaseException) -> Callable[..., NotebookNode]:
    def run(started_run: Run, on_cell: OnCell, *_others: object) -> NotebookNode:
        raise error

    return run


def test_whatever_goes_wrong_is_told_in_what_comes_back(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where reports of defects lie

    def attempt_with(error: BaseException, **changes: Any) -> str:
        monkeypatch.setattr(tasks, "run_recipe", failing(error))
        result = attempt(replace(page, **changes), conditions, Heard().ear())
        assert isinstance(result, Failure)
        return result.text

    known = GalleryError("no", path=Path("a.py"), line=3, remedy="mend it\n    so far")
    assert attempt_with(known) == "a.py:3: no; mend it\n    so far"
    assert attempt_with(OSError(24, "Too many open files")).startswith("recipe: ")
    assert attempt_with(SystemExit(2), number=4).startswith("recipe replicate 4: ")
    with pytest.raises(KeyboardInterrupt):
        attempt_with(KeyboardInterrupt())


def test_a_variable_that_is_kept_from_recipes_is_named_with_what_to_do(
    page: Task, conditions: Conditions, monkeypatch: pytest.MonkeyPatch
) -> None:
    def asks_for(name: str) -> str:
        text = f"cell 1 of 2 failed: KeyError: '{name}'"
        error = GalleryError(text, path=Path("a.py"), remedy="mend the recipe\n    so far\n    TB")
        monkeypatch.setattr(tasks, "run_recipe", failing(error))
        result = attempt(page, conditions, Heard().ear())
        assert isinstance(result, Failure)
        return result.text

    monkeypatch.setenv("HIDDEN", "1")
    monkeypatch.setenv("A", "1")
    monkeypatch.delenv("NONE", raising=False)
    assert asks_for("HIDDEN") == (
        "a.py: cell 1 of 2 failed: KeyError: 'HIDDEN' (it is set here, but recipes get only listed "
        "variables); add it to inherit under [environment] in recording.toml\n    so far\n    TB"
    )
    for name in ("A", "NONE"):  # it gets A, and NONE is not there
        assert asks_for(name) == (
            f"a.py: cell 1 of 2 failed: KeyError: '{name}'; mend the recipe\n    so far\n    TB"
        )


def test_where_recipes_run_is_the_host_and_the_gpu_or_else_the_processor(
    conditions: Conditions,
) -> None:
    assert conditions.place == ("0123456789ab", "A CPU")
    device = {"gpu": "A GPU", "cpu": "A CPU", "cores": 2}
    assert replace(conditions, facts=FACTS | {"device": device}).place == (
        "0123456789ab",
        "A GPU",
    )
