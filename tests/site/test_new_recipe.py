"""`make new-recipe`: a skeleton that is a recipe as it stands."""

import shutil
import subprocess
from pathlib import Path

import pytest

from second_call.new_recipe import begin_recipe
from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from tests.helpers.gallery import ROOT, copy_repository


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with what names recipes."""
    for name in ("conf.py", "tests/site/published_pages.txt", "recipes_source/_harness.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, path)
    (tmp_path / "recipes_source/mine.py").touch()
    return tmp_path


def test_a_recipe_is_begun_and_listed(root: Path) -> None:
    begin_recipe(root, "gradient_accumulation")
    recipe = load_recipe(root / "recipes_source/gradient_accumulation.py")
    assert recipe.title == "Gradient accumulation: compile it?"
    assert recipe.cells[0].settings.fold.startswith("The harness")
    order: dict[str, list[str]] = {}
    start = "second_call_recipes = ["
    listed = start + (root / "conf.py").read_text().partition(start)[2].partition("]")[0] + "]"
    exec(listed, order)
    assert order["second_call_recipes"][-1] == "gradient_accumulation"
    head, *pages = (root / "tests/site/published_pages.txt").read_text().splitlines()
    assert head.startswith("#")
    assert pages == sorted(pages)
    assert "recipes/gradient_accumulation" in pages


def test_a_recipe_that_was_never_published_may_be_begun_again(root: Path) -> None:
    author = ["-c", "user.name=Somebody", "-c", "user.email=somebody@example.org"]
    for command in (["init", "-q"], ["add", "."], [*author, "commit", "-q", "-m", "All"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    recipe, *lists = begin_recipe(root, "gradient_accumulation")
    recipe.unlink()
    before = [path.read_text() for path in lists]
    assert begin_recipe(root, "gradient_accumulation") == [recipe, *lists]
    assert [path.read_text() for path in lists] == before
    with pytest.raises(GalleryError, match="there was a page recipes/compile_modes once"):
        begin_recipe(root, "compile_modes")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "which recipe?; take small letters"),
        ("Mine-2", "'Mine-2' is not a name for a recipe; take small letters"),
        ("../mine", "'../mine' is not a name for a recipe; take small letters"),
        ("index", "'index' is not a name for a recipe; take small letters"),
        ("mine", "recipes_source/mine.py: it is there already; take another name"),
        ("compile_modes", "there was a page recipes/compile_modes once"),
        ("a" * 61, "a name of 61 letters would make too long a title and address; take one of"),
        ("a" * 300, "a name of 300 letters"),
        ("random", "random is a Python module"),
        ("torch", "torch is a Python module"),
    ],
)
def test_a_bad_name_writes_nothing(root: Path, name: str, told: str) -> None:
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    with pytest.raises(GalleryError) as refused:
        begin_recipe(root, name)
    assert told in refused.value.describe(root)
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


@pytest.mark.nightly
def test_the_skeleton_records_and_renders(tmp_path: Path, make: list[str]) -> None:
    root = tmp_path / "site"
    copy_repository(root)
    for step in (
        ["new-recipe", "NAME=gradient_accumulation"],
        ["record", "RECIPES=gradient_accumulation", "DEVICE=cpu"],
        ["page", "RECIPES=gradient_accumulation"],
    ):
        done = subprocess.run([*make, *step], cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
    assert "the English part is done" in done.stdout
    address = done.stdout.partition("to read it: file://")[2].partition("\n")[0]
    page = Path(address).read_text()
    assert 'class="chart' in page
    assert "not measured" not in page
