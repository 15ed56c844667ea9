import re
from pathlib import Path

import pytest

from gallery import Gallery
from recipe_gallery.project import GalleryError
from recipe_gallery.recipes.gallery import find_recipes
from recipe_gallery.recipes.recipe import load_recipe

BAD = Path(__file__).parent / "bad_recipes"


@pytest.mark.parametrize("path", sorted(BAD.glob("*.py")), ids=lambda path: path.stem)
def test_a_bad_recipe_ends_in_one_line_that_names_place_and_remedy(path: Path) -> None:
    expected = re.search(r"# expect: (.*)", path.read_text())
    assert expected, "add a line: # expect: <start of the message>"
    with pytest.raises(GalleryError) as caught:
        _ = load_recipe(path).inputs
    assert expected[1] in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cells_are_the_code_blocks_without_settings(gallery: Gallery, recipe: str) -> None:
    loaded = load_recipe(gallery.write("adding", recipe))
    assert loaded.title == "Adding numbers"
    assert [cell.number for cell in loaded.cells] == [1, 2, 3]
    assert loaded.cells[0].source.startswith("# Why this is here.")
    assert loaded.cells[2].alt == ("A black square",)
    assert "sphinx_gallery" not in "".join(cell.source for cell in loaded.cells)


def test_the_number_of_a_line_leads_to_the_cell(gallery: Gallery, recipe: str) -> None:
    path = gallery.write("adding", recipe)
    lines = path.read_text().splitlines()
    for cell in load_recipe(path).cells:
        below = "\n".join(lines[cell.line - 1 :]).lstrip()
        assert below.startswith(("# sphinx_gallery_alt", cell.source.splitlines()[0]))


def test_prose_and_comments_leave_the_fingerprint(gallery: Gallery, recipe: str) -> None:
    before = load_recipe(gallery.write("adding", recipe)).fingerprint
    edited = recipe.replace("A paragraph.", "Another.").replace("Why this is here.", "Because.")
    assert load_recipe(gallery.write("adding", edited)).fingerprint == before
    edited = recipe.replace("1 + 2", "1 + 3")
    assert load_recipe(gallery.write("adding", edited)).fingerprint != before


def test_files_that_start_with_an_underscore_are_no_recipes(gallery: Gallery, recipe: str) -> None:
    gallery.write("_draft", recipe)
    path = gallery.write("adding", recipe)
    assert find_recipes(gallery.recipes) == [path]
