"""Cells that run once, and cells that are not shown."""

from pathlib import Path

import pytest

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recipe import Recipe, load_recipe

HEAD = '"""\nTitle\n=====\n"""\n'
ONCE = "# sphinx_gallery_once = True\n"
PLUMBING = "# sphinx_gallery_plumbing = True\n"
HIDDEN = "# sphinx_gallery_start_ignore\nh = 1\n# sphinx_gallery_end_ignore\n"


def load(tmp_path: Path, *cells: str) -> Recipe:
    path = tmp_path / "recipe.py"
    path.write_text(HEAD + "\n# %%\n\n".join(cells))
    return load_recipe(path)


def test_a_cell_that_runs_once_is_left_out_of_replicates(tmp_path: Path) -> None:
    recipe = load(
        tmp_path, "a = 1\n", f"{ONCE}b = 1\n", "c = 1\n", "# sphinx_gallery_once = False\nd = 1\n"
    )
    assert [cell.once for cell in recipe.cells] == [False, True, False, False]
    replicate = recipe.for_replicate()
    assert [(cell.number, cell.code) for cell in replicate.cells] == [
        (1, "a = 1"),
        (2, "c = 1"),
        (3, "d = 1"),
    ]
    assert [cell.line for cell in replicate.cells] == [5, 14, 19]


def test_replicates_have_a_fingerprint_of_what_they_run(tmp_path: Path) -> None:
    (tmp_path / "near.py").write_text("x = 1\n")
    (tmp_path / "other.py").write_text("x = 1\n")
    cells = ["import near\n", f"{ONCE}import other\nb = 1\n", "c = 1\n"]
    before = load(tmp_path, *cells).replicate_fingerprint
    for same in (
        [cells[0], f"{ONCE}import other\nb = 2\n", cells[2]],
        [cells[0], f"{ONCE}b = 1\n", f"# why\n\n{PLUMBING}c = 1\n"],
    ):
        assert load(tmp_path, *same).replicate_fingerprint == before
    (tmp_path / "other.py").write_text("x = 2\n")
    assert load(tmp_path, *cells).replicate_fingerprint == before
    changed = [
        [cells[0], cells[1].removeprefix(ONCE), cells[2]],
        [*cells[:2], "c = 2\n"],
        [*cells[:2], f"{ONCE}c = 1\n"],
        [cells[2], cells[1], cells[0]],
    ]
    found = {load(tmp_path, *each).replicate_fingerprint for each in changed}
    (tmp_path / "near.py").write_text("x = 2\n")
    found.add(load(tmp_path, *cells).replicate_fingerprint)
    assert len(found - {before}) == len(changed) + 1


def test_plumbing_is_a_cell_that_runs_and_is_not_shown(tmp_path: Path) -> None:
    recipe = load(
        tmp_path, "a = 1\n", f"\n{ONCE}{PLUMBING}b = 1\n", HIDDEN, f"{PLUMBING}c = 1\n", "d = 1\n"
    )
    assert [cell.source for cell in recipe.cells] == ["a = 1", "", "", "d = 1"]
    codes = [cell.code.split("\n") for cell in recipe.cells]
    assert [[line for line in code if line[:1] not in ("", "#")] for code in codes] == [
        ["a = 1"],
        ["b = 1"],
        ["h = 1", "c = 1"],
        ["d = 1"],
    ]
    assert [(cell.once, cell.line) for cell in recipe.cells[:2]] == [(False, 5), (True, 12)]
    shown = [cell for _block, cell in recipe.parts if cell]
    assert [cell.number for cell in shown] == [1, 4]
    assert len([block for block in recipe.blocks if block.type == "code"]) == len(shown)


def test_hidden_code_cannot_run_once_with_a_cell_that_always_runs(tmp_path: Path) -> None:
    with pytest.raises(GalleryError) as caught:
        load(tmp_path, "a = 1\n", f"{ONCE}{HIDDEN}", "b = 1\n")
    assert (caught.value.line, caught.value.text) == (
        8,
        "this code is not shown and runs with the cell behind it",
    )
    recipe = load(tmp_path, "a = 1\n", f"{ONCE}{PLUMBING}{HIDDEN}", "b = 1\n")
    assert [cell.once for cell in recipe.cells] == [False, True, False]
