import json
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


def head_of_script(site: Gallery, **settings: object) -> list[str]:
    """Return the lines of the first comment of a script, up to the first heading in it."""
    build = site.build(**settings)
    assert build.warnings == ""
    script = (build.out / "recipes/adding.py").read_text(encoding="utf-8")
    mark, _title, *lines = script.partition("\n\n")[0].split("\n")
    assert mark == "# %% [markdown]"
    # Dates have spaces at which no line breaks.
    return [line.removeprefix("#").strip().replace("\xa0", " ") for line in lines if line != "#"]


def test_a_script_begins_with_what_it_is_where_it_ran_and_how_long(site: Gallery) -> None:
    path = site.recordings / "adding.ipynb"
    text = path.read_text().replace('"device": {', '"device": {"gpu": "X1", ')
    text = re.sub(r'"versions": {[^}]*}', '"versions": {"python": "3.12", "lib": "1.2"}', text)
    write_recording(path, re.sub(r'"seconds": [\d.]+', '"seconds": 1234.6', text))
    sentence, device, seconds, versions, *_text = head_of_script(
        site, recorded_gallery_package_names={"lib": "Lib"}
    )
    assert sentence == "A first sentence with `code`."
    assert re.fullmatch(r"\* Recorded on X1, Lib 1\.2, \w+ \d+, \d{4}", device)
    assert seconds == "* Running time: 1,235 seconds"
    assert versions == "* Versions: Lib 1.2, Python 3.12"
    notebook = nbformat.read(site.root / "out/html/recipes/adding.ipynb", as_version=4)
    assert device in notebook.cells[0].source.replace("\xa0", " ")


def test_the_head_of_a_script_is_in_the_language_of_the_page(site: Gallery) -> None:
    site.translate("recipes/adding", {"A first sentence with ``code``.": "``code``가 있는 문장."})
    lines = head_of_script(site, language="ko")
    start = lines.index("`code`가 있는 문장.")  # below a note that not all is translated
    seconds = lines[start + 2]
    assert re.fullmatch(r"\* 실행 시간: \d+ s", seconds)


def test_a_script_that_was_not_recorded_says_what_is_known(site: Gallery) -> None:
    (site.recordings / "adding.ipynb").unlink()
    site.configure(suppress_warnings=["recorded_gallery.recording"])
    note, *_note, sentence, _link = head_of_script(site)
    assert note == "> **Note**"
    assert sentence == "A first sentence with `code`."


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


def show_instead(site: Gallery, data: dict[str, object], **metadata: object) -> Path:
    """Let the recording show something else in its second cell, and say other things of itself."""
    path = site.recordings / "adding.ipynb"
    notebook = json.loads(path.read_text())
    shown = notebook["cells"][1]["outputs"][0]
    shown["data"] = data
    shown["metadata"] = {"text/html": {"isolated": True}, "image/png": {"width": 3, "evil": "x"}}
    notebook["metadata"] |= metadata
    write_recording(path, json.dumps(notebook))
    return path


def test_a_notebook_loads_nothing_and_obeys_no_stranger(site: Gallery) -> None:
    host = "https://evil.example"
    markdown_text = f"**good** ![x]({host}/md.png) <script>fetch('{host}')</script>"
    forms = {
        "text/markdown": markdown_text,
        "text/plain": "<IPython.core.display.Markdown object>",
        "application/vnd.vegalite.v5+json": {"data": {"url": f"{host}/v.json"}},
        "application/vnd.jupyter.es6-rich-output": f"{host}/module.js",
    }
    kernel = {"name": "bash", "display_name": "Bash", "language": "bash"}
    jupytext = {"formats": "ipynb,../../evil//py:percent"}
    show_instead(site, forms, kernelspec=kernel, jupytext=jupytext, language_info={"name": "bash"})
    notebook = read(site.build())
    cell = next(each for each in notebook.cells if "class Table" in each.source)
    (output,) = cell.outputs
    assert output.data == {"text/plain": markdown_text}
    assert output.metadata == {}
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.metadata.language_info.name == "python"
    assert "jupytext" not in notebook.metadata
    assert notebook.metadata.recording.recipe == "adding"


def test_an_output_of_which_nothing_can_be_shown_is_none(site: Gallery) -> None:
    show_instead(site, {"application/vnd.plotly.v1+json": {"data": []}})
    notebook = read(site.build())
    cell = next(each for each in notebook.cells if "class Table" in each.source)
    assert cell.outputs == []


def test_where_recordings_are_trusted_a_notebook_has_all_their_forms(site: Gallery) -> None:
    site.configure(recorded_gallery_trust_outputs=True)
    forms = {"text/markdown": "**good**", "application/vnd.plotly.v1+json": {"data": []}}
    show_instead(site, forms)
    notebook = read(site.build())
    cell = next(each for each in notebook.cells if "class Table" in each.source)
    assert cell.outputs[0].data == forms
