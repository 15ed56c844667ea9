import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from tests.helpers.gallery import RECIPE, Build, Gallery, write_recording

PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
)


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
    kinds = " ".join(cell.cell_type for cell in cells)
    assert kinds == "markdown markdown code markdown code code"
    assert cells[2].outputs[0].text == "the total is 3\n"
    assert cells[5].outputs[0].metadata["image/png"]["alt"] == "A black square"


def test_what_a_notebook_needs_on_colab_stands_before_its_code(site: Gallery) -> None:
    path = site.recordings / "adding.ipynb"
    write_recording(path, re.sub(r'"device": {', '"device": {"gpu": "X1", ', path.read_text()))
    conf = site.settings["sphinx_gallery_conf"] | {"first_notebook_cell": "print(1)\n"}
    site.configure(sphinx_gallery_conf=conf)
    build = site.build()
    notebook = read(build)
    assert notebook.metadata.accelerator == "GPU"
    assert [cell.source for cell in notebook.cells].index("print(1)") == 1
    assert "print(1)" not in (build.out / "recipes/adding.py").read_text()


@pytest.mark.parametrize("address", ["https://example.org/site/", "https://example.org/site"])
def test_links_lead_to_the_site(site: Gallery, address: str) -> None:
    site.configure(html_baseurl=address)
    links = re.findall(r"\]\(([^)]*)\)", markdown(site.build()))
    assert links == ["https://example.org/site/index.html", "https://www.python.org"]


@pytest.mark.slow
def test_both_downloads_run_in_an_empty_folder(build: Build, tmp_path: Path) -> None:
    folder = tmp_path / "reader"
    folder.mkdir()
    notebook = read(build)
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}).execute()
    assert notebook.cells[2].outputs[0].text == "the total is 3\n"
    script = build.out / "recipes/adding.py"
    done = subprocess.run([sys.executable, script], cwd=folder, capture_output=True, text=True)
    assert done.stdout == "the total is 3\n"


def test_of_a_site_without_an_address_links_are_plain_text(site: Gallery) -> None:
    site.configure(html_baseurl=None)
    picture = "|pic|\n        #\n        # .. |pic| image:: /a.png\n        #    :alt: A picture"
    site.write("adding", RECIPE.replace("A paragraph.", picture))
    (site.root / "a.png").write_bytes(PNG)
    build = site.build()
    assert build.warnings == ""
    text = markdown(build)
    assert "See Site, [Python](https://www.python.org) and" in text
    assert "A picture" in text
    assert "](" not in text.replace("[Python](https://www.python.org)", "")


def test_files_to_download_are_links_to_the_site(site: Gallery) -> None:
    site.add("adding", RECIPE.replace("A paragraph.", ":download:`data </data.csv>`"))
    (site.root / "data.csv").write_text("1")
    build = site.build()
    assert build.warnings == ""
    link = re.search(
        r"\[`*data`*\]\((https://example.org/site/(_downloads/.*data.csv))\)", markdown(build)
    )
    assert (build.out / link[2]).read_text() == "1"
    site.configure(html_baseurl=None)
    assert "](" not in markdown(site.build()).replace("[Python](", "")


def test_names_with_dots_are_files_of_their_own(gallery: Gallery) -> None:
    gallery.add("a.b", RECIPE)
    gallery.add("a.c", RECIPE.replace("A paragraph.", "Another."))
    build = gallery.build()
    assert "A paragraph." in (build.out / "recipes/a.b.ipynb").read_text()
    assert "Another." in (build.out / "recipes/a.c.ipynb").read_text()
    assert "Another." in (build.out / "recipes/a.c.py").read_text()
    assert not (build.out / "recipes/a.ipynb").exists()
    assert 'href="a.b.ipynb"' in build.page("recipes/a.b")


def test_addresses_that_the_theme_shortens(site: Gallery) -> None:
    """pydata-sphinx-theme puts a text into links to GitHub that knows no parent."""
    site.configure(html_theme="pydata_sphinx_theme")
    text = "See https://github.com/pytorch/pytorch/issues/1, it costs 1 $ or 2 $."
    site.write("adding", RECIPE.replace("A paragraph.", text))
    build = site.build()
    assert build.warnings == ""
    text = "[pytorch/pytorch#1](https://github.com/pytorch/pytorch/issues/1)"
    assert text in markdown(build)
