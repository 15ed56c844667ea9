"""What is written anew after which change."""

from pathlib import Path

import pytest

from sphinx_recorded_gallery.pages.write_pages import Inputs, plan
from sphinx_recorded_gallery.recipes.find_recipes import GalleryFile

ONE, TWO = (
    GalleryFile(path=Path(f"{name}.py"), gallery=Path(), docname=f"recipes/{name}", name=name)
    for name in ("one", "two")
)
OWNERS = {"one.py": ONE, "one.ipynb": ONE, "two.py": TWO, "two.ipynb": TWO}
FORMER = dict.fromkeys([*OWNERS, "code", "conf.py", "_helper.py"], "old")


def inputs(*changed: str) -> Inputs:
    return Inputs(
        files=(ONE, TWO),
        states=FORMER | dict.fromkeys(changed, "new"),
        owners=OWNERS,
        recordings=frozenset({"one.ipynb", "two.ipynb"}),
        conf="conf.py",
    )


@pytest.mark.parametrize("changed", ["code", "conf.py"])
def test_code_and_settings_change_every_page(changed: str) -> None:
    todo = plan(inputs(changed), FORMER, [])
    assert todo.rewrite == todo.check_pictures == {ONE, TWO}
    assert todo.changes_text


def test_a_recording_may_change_the_pictures_of_its_page_alone() -> None:
    todo = plan(inputs("one.ipynb"), FORMER, [])
    assert (todo.rewrite, todo.check_pictures) == (set(), {ONE})
    assert not todo.changes_text


def test_an_edited_recipe_is_written_alone() -> None:
    todo = plan(inputs("two.py"), FORMER, [])
    assert (todo.rewrite, todo.edited) == (set(), {TWO})
    assert todo.changes_text


def test_a_module_may_be_part_of_any_recipe() -> None:
    todo = plan(inputs("_helper.py", "two.py"), FORMER, [])
    assert (todo.check_pictures, todo.edited) == ({ONE, TWO}, set())


def test_a_page_that_is_gone_is_written_again() -> None:
    todo = plan(inputs(), FORMER, [ONE])
    assert (todo.rewrite, todo.check_pictures, todo.edited) == ({ONE}, {ONE}, set())
    assert not todo.changes_text


def test_a_recipe_that_is_gone_changes_lists() -> None:
    former = FORMER | {"three.py": "old"}
    todo = plan(inputs(), former, [])
    assert todo.changes_text
    assert todo.edited == set()
