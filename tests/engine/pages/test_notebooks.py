import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from gallery import Build, Gallery
from recipe_gallery.recipes.fingerprint import fingerprint_code
from recipe_gallery.recipes.recipe import load_recipe


@pytest.fixture
def build(site: Gallery) -> Build:
    return site.build()


def read(build: Build) -> nbformat.NotebookNode:
    notebook = nbformat.read(build.out / "recipes/adding.ipynb", as_version=4)
    nbformat.validate(notebook)
    return notebook


def markdown(build: Build) -> str:
    return "\n\n".join(cell.source for cell in read(build).cells if cell.cell_type == "markdown")


def test_cells_follow_the_recipe_with_recorded_outputs(build: Build) -> None:
    cells = read(build).cells
    assert [cell.cell_type for cell in cells] == [
        "markdown",
        "markdown",
        "code",
        "markdown",
        "code",
        "code",
    ]
    assert cells[2].outputs[0].text == "the total is 3\n"
    assert cells[5].outputs[0].metadata["image/png"]["alt"] == "A black square"


def test_the_code_is_the_recipes(build: Build, gallery: Gallery) -> None:
    codes = [cell.source for cell in read(build).cells if cell.cell_type == "code"]
    cells = load_recipe(gallery.recipes / "adding.py").cells
    assert [fingerprint_code(code) for code in codes] == [cell.fingerprint for cell in cells]


def test_metadata_tells_where_it_was_recorded_and_the_language(build: Build) -> None:
    metadata = read(build).metadata
    assert metadata.language == "en"
    assert metadata.recording.versions.python
    assert metadata.kernelspec.name == "python3"


def test_markdown_has_no_rest_litter(build: Build) -> None:
    text = markdown(build)
    for litter in ("``", ":doc:", ".. ", "`__", ":math:", "list-table", "<!--", "sphx-glr"):
        assert litter not in text
    assert "# Adding numbers" in text
    assert "`code`" in text
    assert "$x^2$" in text
    assert "> **Note**\n>\n> A remark." in text
    assert re.search(r"\| *one *\| *two *\|", text)


def test_links_lead_to_the_site(build: Build) -> None:
    links = re.findall(r"\]\(([^)]*)\)", markdown(build))
    assert links == ["https://example.org/site/index.html", "https://www.python.org"]


def test_the_script_is_in_the_percent_format(build: Build) -> None:
    script = (build.out / "recipes/adding.py").read_text()
    assert script.startswith("# %% [markdown]\n# # Adding numbers\n")
    assert script.count("\n# %%\n") == 3
    assert "sphinx_gallery_" not in script


def test_both_downloads_run_in_an_empty_folder(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    notebook = read(build)
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    assert notebook.cells[2].outputs[0].text == "the total is 3\n"
    script = build.out / "recipes/adding.py"
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True)
    assert done.stdout == "the total is 3\n"
