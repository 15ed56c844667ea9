import re
import subprocess
import sys
from base64 import b64decode
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from gallery import RECIPE, Build, Gallery, write_recording

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


def test_metadata_tells_where_it_was_recorded_and_the_language(build: Build) -> None:
    metadata = read(build).metadata
    assert metadata.language == "en"
    assert metadata.recording.versions.python
    assert metadata.kernelspec.name == "python3"


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


def test_markdown_has_no_rest_litter(build: Build) -> None:
    text = markdown(build)
    for litter in ("``", ":doc:", ".. ", "`__", ":math:", "list-table", "<!--", "sphx-glr"):
        assert litter not in text
    assert "# Adding numbers" in text
    assert "`code`" in text
    assert "$x^2$" in text
    assert "> **Note**\n>\n> A remark." in text
    assert re.search(r"\| *one *\| *two *\|", text)


@pytest.mark.parametrize("address", ["https://example.org/site/", "https://example.org/site"])
def test_links_lead_to_the_site(site: Gallery, address: str) -> None:
    site.configure(html_baseurl=address)
    links = re.findall(r"\]\(([^)]*)\)", markdown(site.build()))
    assert links == ["https://example.org/site/index.html", "https://www.python.org"]


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
    site.add(
        "adding",
        RECIPE.replace(
            "A paragraph.",
            "|pic|\n        #\n        # .. |pic| image:: /a.png\n        #    :alt: A picture",
        ),
    )
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
    assert link
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


def test_addresses_that_the_theme_shortens(gallery: Gallery) -> None:
    """pydata-sphinx-theme puts a text into links to GitHub that knows no parent."""
    gallery.configure(html_theme="pydata_sphinx_theme")
    gallery.add(
        text=RECIPE.replace(
            "A paragraph.", "See https://github.com/pytorch/pytorch/issues/1, it costs 1 $ or 2 $."
        )
    )
    build = gallery.build()
    assert build.warnings == ""
    text = "[pytorch/pytorch#1](https://github.com/pytorch/pytorch/issues/1)"
    assert text in markdown(build)
