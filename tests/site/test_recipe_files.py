"""Names of files that no recipe may have, which `make record` refuses before anything runs."""

import subprocess
import sys
from pathlib import Path

import pytest

from second_call.recipe_files import (
    find_given_up,
    find_unknown,
    find_unknown_titles,
    find_wrong_names,
)
from second_call.short_titles import list_short_titles
from tests.helpers.gallery import ROOT

AUTHOR = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]


@pytest.mark.parametrize(
    ("name", "near_name"),
    [("Tiny_Sum", "tiny_sum"), ("2-sums", "sums"), ("tiny__sum_", "tiny_sum"), ("7", "my_recipe")],
)
def test_a_wrong_name_is_told_with_one_near_it(tmp_path: Path, name: str, near_name: str) -> None:
    for stem in (name, "tiny_sum_2", "_Look"):
        (tmp_path / f"{stem}.py").touch()
    [told] = [error.describe(tmp_path) for error in find_wrong_names(tmp_path)]
    assert told == (
        f"{name}.py: the name of a recipe has small letters, digits and _ between them; "
        f"rename it, for example to {near_name}.py, and record it again"
    )


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("memry", "did you mean memory?"),
        ("memory.py", "did you mean memory?"),
        ("recipes_source/memory.py", "did you mean memory?"),
        ("memory,tokens", 'write spaces between names: RECIPES="memory tokens"'),
        ("zzz", "choose among: memory, tokens"),
    ],
)
def test_a_name_of_no_recipe_is_told(tmp_path: Path, name: str, remedy: str) -> None:
    for stem in ("memory", "tokens", "_look"):
        (tmp_path / f"{stem}.py").touch()
    [told] = find_unknown(tmp_path, ["tokens", name, "memory"])
    assert str(told) == f"no recipe named {name}; {remedy}"


def test_the_page_of_a_recipe_that_was_given_up_is_told(tmp_path: Path) -> None:
    recipes = tmp_path / "recipes_source"
    recipes.mkdir()
    (recipes / "memory.py").touch()
    (tmp_path / "conf.py").write_text('redirects = {"recipes/moved": "memory.html"}\n')
    pages = tmp_path / "tests/site/published_pages.txt"
    pages.parent.mkdir(parents=True)
    pages.write_text("# All pages\nindex\nrecipes/memory\nrecipes/moved\nrecipes/once\n")
    for command in (["init", "-q"], ["add", "."], [*AUTHOR, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    with pages.open("a") as lines:
        lines.write("recipes/tried\n")
    published, tried = [error.describe(tmp_path) for error in find_given_up(tmp_path, recipes)]
    assert published.startswith("tests/site/published_pages.txt:5: recipes/once has no recipe; let")
    assert published.endswith("lead elsewhere: add 'recipes/once' to redirects in conf.py")
    remedy = "remove the line, and that of second_call_recipes in conf.py"
    assert tried == f"tests/site/published_pages.txt:6: recipes/tried has no recipe; {remedy}"


def test_a_short_title_of_no_recipe_is_told(tmp_path: Path) -> None:
    recipes = tmp_path / "recipes_source"
    recipes.mkdir()
    for name in list_short_titles():
        (recipes / f"{name}.py").touch()
    (recipes / "memory.py").rename(recipes / "memories.py")
    assert [*find_unknown_titles(tmp_path, recipes)] == []  # a site without short titles
    titles = tmp_path / "second_call/short_titles.py"
    titles.parent.mkdir()
    titles.touch()
    [told] = find_unknown_titles(tmp_path, recipes)
    assert str(told) == f"{titles}: 'memory' is no recipe; did you mean 'memories'?"


def test_a_wrong_name_is_refused_before_the_check(tmp_path: Path) -> None:
    (tmp_path / "Mine.py").touch()
    command = [sys.executable, "-m", "second_call.recipe_files", tmp_path]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: {tmp_path}/Mine.py: the name of a recipe has small")
    # Nor does `check` then ask to record it, or to list it
    for target in ("page", "check"):
        commands = (ROOT / "Makefile").read_text().partition(f"\n{target}:")[2].partition("\n\n")[0]
        check = "second_call.recipe_files recipes_source"
        assert commands.index(check) < commands.index("$(ENGINE) check")
