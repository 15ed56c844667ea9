"""What a person is told of a whole session, line by line; no recipe really runs."""

import re
from collections.abc import Callable

import nbformat
import pytest
from nbformat import NotebookNode

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.record.kernel import Run

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n\n'
ROWS = "application/vnd.recipe-gallery.rows+json"
ROW = {"case": "A", "variant": "b", "size": None, "quantity": "time", "value": 1.5, "unit": "s"}


@pytest.fixture(autouse=True)
def _stub(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run no recipe: a cell that names rows publishes one, one that fails fails."""

    async def execute(run: Run, on_cell: Callable[[int], None]) -> NotebookNode:
        notebook = nbformat.v4.new_notebook()
        for cell in run.recipe.cells:
            on_cell(cell.number)
            node = nbformat.v4.new_code_cell(cell.code)
            if "rows" in cell.code:
                row = ROW | {"value": -1} if "wrong" in cell.code else ROW
                data = {ROWS: {"rows": [row], "claims": []}}
                node.outputs = [nbformat.v4.new_output("display_data", data)]
            if "fails" in cell.code:
                remedy = "mend it\n    printed"
                raise GalleryError("failed", path=run.recipe.path, line=cell.line, remedy=remedy)
            notebook.cells.append(node)
        return notebook

    monkeypatch.setattr(Run, "execute", execute)


def record(gallery: Gallery, *names: str, **options: object) -> tuple[bool, list[str]]:
    """Record; return whether that went well, and what was told, but of the machine."""
    done = gallery.record(*names, **options)
    text = gallery.messages.replace(f"{gallery.root}/", "")
    text = re.sub(r"(?m)^(\S+: current \()CPU: .*\)$", r"\1CPU)", text)
    text = re.sub(r"\d+ s\b", "N s", text)
    return done, [line for line in text.splitlines() if not line.startswith("note: the recordings")]


@pytest.fixture
def recipes(gallery: Gallery) -> Gallery:
    """One that publishes, one that does not, one that fails, and one that is none."""
    gallery.write("a", TITLE + "rows = 1\n\n# %%\n\nx = 2\n")
    gallery.write("b", TITLE + "x = 1\n")
    gallery.write("c", TITLE + "x = 'fails'\n")
    gallery.write("d", "no title")
    return gallery


NO_RECIPE = "error: recipes_source/d.py:1: syntax error: invalid syntax; mend the code"
FAILED = "error: recipes_source/c.py:8: failed; mend it"
LEFT = "about a minute left"


def test_a_session_tells_each_cell_each_result_and_what_became_of_all(recipes: Gallery) -> None:
    assert record(recipes, replicates=2) == (
        False,
        [
            NO_RECIPE,
            "a (1 of 3): cell 1 of 2, N s",
            "a (1 of 3): cell 2 of 2, N s",
            "a: recorded in N s",
            f"b (2 of 5): cell 1 of 1, N s, {LEFT}",
            "b: recorded in N s",
            "b: publishes no rows, so it has no replicates",
            f"c (3 of 5): cell 1 of 1, N s, {LEFT}",
            FAILED,
            "    printed",
            f"a replicate 1 (4 of 5): cell 1 of 2, N s, {LEFT}",
            f"a replicate 1 (4 of 5): cell 2 of 2, N s, {LEFT}",
            "a replicate 1: recorded in N s",
            f"a replicate 2 (5 of 5): cell 1 of 2, N s, {LEFT}",
            f"a replicate 2 (5 of 5): cell 2 of 2, N s, {LEFT}",
            "a replicate 2: recorded in N s",
            "2 of 4 recorded: a, b",
            "2 of 2 replicates made: a 2",
            "2 failed: d, c",
            NO_RECIPE,
            FAILED,
        ],
    )


def test_a_second_session_tells_what_is_there_already(recipes: Gallery) -> None:
    record(recipes, replicates=2)
    assert record(recipes, replicates=2) == (
        False,
        [
            "a: current (CPU)",
            "b: current (CPU)",
            NO_RECIPE,
            "a: its 2 replicates are there already",
            "b: publishes no rows, so it has no replicates",
            "c (1 of 1): cell 1 of 1, N s",
            FAILED,
            "    printed",
            "0 of 4 recorded: none",
            "2 current already",
            "2 failed: d, c",
            NO_RECIPE,
            FAILED,
        ],
    )
    assert record(recipes, "b") == (True, ["b: current (CPU)"])
    assert record(recipes, "a", force=True, replicates=1) == (
        True,
        [
            "a (1 of 1): cell 1 of 2, N s",
            "a (1 of 1): cell 2 of 2, N s",
            "a: recorded in N s",
            f"a replicate 3 (2 of 2): cell 1 of 2, N s, {LEFT}",
            f"a replicate 3 (2 of 2): cell 2 of 2, N s, {LEFT}",
            "a replicate 3: recorded in N s",
            "1 of 1 recorded: a",
            "1 of 1 replicates made: a 1",
        ],
    )


def test_rows_that_no_page_could_show_are_refused_and_what_was_there_stays(
    recipes: Gallery,
) -> None:
    assert record(recipes, "a")[0]
    before = (recipes.recordings / "a.ipynb").read_bytes()
    recipes.write("a", TITLE + "wrong_rows = 1\n")
    done, lines = record(recipes, "a")
    assert not done
    assert lines[-1] == (
        "error: recipes_source/a.py:8: rows published by cell 1: row 1: value is -1, "
        "which has to be 0, or a number from 1e-15 to 1e15; correct what the recipe publishes"
    )
    assert (recipes.recordings / "a.ipynb").read_bytes() == before


def test_a_damaged_line_of_replicates_is_told_and_other_recipes_go_on(recipes: Gallery) -> None:
    assert record(recipes, "a", replicates=1)[0]
    (recipes.recordings / "a.jsonl").write_text("{}\n")
    done, lines = record(recipes, "a", "b", replicates=2)
    assert not done
    assert lines[0] == "a: current (CPU)"
    assert lines[1].startswith("error: recordings/a.jsonl:1: ")
    assert lines[2] == "b (1 of 1): cell 1 of 1, N s"
    assert lines[-2:] == ["1 failed: a", lines[1]]


def test_the_numbers_of_replicates_begin_at_one_also_where_they_are_forced(
    recipes: Gallery,
) -> None:
    told = record(recipes, "a", force=True, replicates=1)[1]
    assert "a replicate 1: recorded in N s" in told


def test_a_replicate_that_lacks_what_once_defined_is_told_with_the_reason(gallery: Gallery) -> None:
    once = "\n# %%\n\n# sphinx_gallery_once = True\nrows = 2\n"
    gallery.write("a", TITLE + "x = 1\n" + once)
    done, lines = record(gallery, "a", replicates=1)
    assert not done
    assert lines[-1] == (
        "error: recipes_source/a.py: replicate 1 published no rows, though the page's run did; "
        "publish them in a cell that is not '# sphinx_gallery_once'"
    )


def test_a_recipe_is_called_by_its_name_or_its_last_part(gallery: Gallery) -> None:
    for folder in ("one", "two"):
        (gallery.recipes / folder).mkdir()
        (gallery.recipes / folder / "README.rst").write_text("Part\n====\n")
    for name in ("one/a", "two/a", "two/b", "c"):
        gallery.write(name, TITLE + "x = 1\n")
    assert record(gallery, "b")[1][-1] == "two/b: recorded in N s"
    assert record(gallery, "one/a.py")[1][-1] == "one/a: recorded in N s"
    told = "there are: one/a, two/a"
    for name, text in (("a", f"several recipes are named a; {told}"), ("x", "no recipe named x; ")):
        with pytest.raises(GalleryError) as caught:
            gallery.record("c", name)
        assert str(caught.value).startswith(text)
    assert not (gallery.recordings / "c.ipynb").exists()
