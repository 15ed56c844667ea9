"""Folded cells in what is built: pages, books, notebooks, scripts and catalogs."""

import re

import nbformat
import pytest
from bs4 import BeautifulSoup, Tag

from tests.helpers.gallery import RECIPE, Build, Gallery

PAGE = "recipes/adding"
SUMMARY = "Helpers: *x* & <b>"
MARK = f'# sphinx_gallery_fold = "{SUMMARY}"\n\n'
FOLDED = RECIPE.replace("        # Why this is here.", f"        {MARK}        # Why this is here.")


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    gallery.add("adding", FOLDED)
    return gallery


def page_of(build: Build, name: str = PAGE) -> BeautifulSoup:
    return BeautifulSoup(build.page(name), "html.parser")


def cell_of(build: Build) -> Tag:
    [cell] = page_of(build).select("details.folded-cell")
    return cell


def test_a_page_folds_the_code_and_shows_what_it_put_out(site: Gallery) -> None:
    build = site.build()
    assert build.warnings == ""
    cell = cell_of(build)
    assert not cell.has_attr("open")
    assert cell.select_one("summary").get_text() == SUMMARY
    code = cell.select_one("div.highlight pre").get_text()
    assert code.startswith("# Why this is here.\ntotal = 1 + 2\n")
    output = cell.find_next_sibling()
    assert "recorded-output" in output["class"]
    assert output.get_text().strip() == "the total is 3"
    assert "sphinx_gallery_fold" not in build.page(PAGE)


def test_what_one_run_printed_is_folded_with_its_code(site: Gallery) -> None:
    mark = "# sphinx_gallery_fold_output = True\n"
    site.add("adding", FOLDED.replace(MARK, MARK.strip() + f"\n        {mark}\n"))
    build = site.build()
    assert build.warnings == ""
    cell = cell_of(build)
    assert cell.select_one(".recorded-output").get_text().strip() == "the total is 3"
    assert "the total is 3" not in cell.find_next_sibling().get_text()
    notebook = nbformat.read(build.out / f"{PAGE}.ipynb", as_version=4)
    printed = [
        output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ())
    ]
    assert "the total is 3\n" in printed


def test_a_table_is_not_folded_with_what_is_printed(site: Gallery) -> None:
    """Its text form, for formats without HTML, stays beside it and leaves no empty box."""
    table = "class Table:\n    def _repr_html_(self):\n        return '<table><td>1</td></table>'\n"
    mark = '# sphinx_gallery_fold = "A table"\n# sphinx_gallery_fold_output = True\n'
    site.add(
        "table", f'"""\nTable\n=====\n\nText.\n"""\n\n{mark}\n{table}\nTable()\n\n# %%\n# End.\n'
    )
    boxes = page_of(site.build(), "recipes/table").select(".recorded-output")
    assert [len(box.select("table")) for box in boxes] == [1]


def test_the_button_for_all_cells_comes_with_its_script(site: Gallery) -> None:
    site.add("plain", RECIPE)
    build = site.build()
    [button] = page_of(build).select(".unfold-line:has(+ .folded-cell) > button.unfold-all")
    assert (button.get_text(), button["data-fold"]) == ("Unfold all", "Fold all")
    [script] = re.findall(r'<script[^>]*src="([^"]*folded_cells\.js)[^>]*>', build.page(PAGE))
    assert (build.out / "recipes" / script).resolve().is_file()
    plain = build.page("recipes/plain")
    assert "folded" not in plain
    assert "unfold-all" not in plain


def test_the_notebook_hides_the_code_below_its_summary(site: Gallery) -> None:
    build = site.build()
    notebook = nbformat.read(build.out / f"{PAGE}.ipynb", as_version=4)
    nbformat.validate(notebook)
    [number] = [n for n, cell in enumerate(notebook.cells) if "jupyter" in cell.metadata]
    above, cell = notebook.cells[number - 1 : number + 1]
    assert (above.cell_type, above.source) == ("markdown", r"**Helpers: \*x\* & \<b>**")
    hidden = {"jupyter": {"source_hidden": True}, "tags": ["hide-input"], "cellView": "form"}
    assert cell.metadata == hidden
    title = f"# @title {SUMMARY}"  # which Colab shows in place of the code
    assert cell.source.startswith(f"{title}\n# Why this is here.\ntotal")
    script = (build.out / f"{PAGE}.py").read_text()
    assert "@title" not in script
    assert cell.outputs[0].text == "the total is 3\n"


def test_a_text_leads_to_a_folded_cell_by_its_summary(site: Gallery) -> None:
    recipe = FOLDED.replace(SUMMARY, "Small helpers").replace("A paragraph.", "`Small helpers`_")
    site.write("adding", recipe)
    build = site.build()
    assert build.warnings == ""
    assert 'href="#small-helpers"' in build.page(PAGE)
    inside = cell_of(build).select_one("#small-helpers")
    assert inside.select_one("pre")  # inside of what is folded: browsers open it for a link
    notebook = (build.out / f"{PAGE}.ipynb").read_text()
    assert "[Small helpers](https://example.org/site/recipes/adding.html#small-helpers)" in notebook


def test_a_section_of_the_same_name_keeps_its_address(site: Gallery) -> None:
    site.write("adding", FOLDED.replace(SUMMARY, "Text").replace("A paragraph.", "See Text_."))
    build = site.build()
    assert build.warnings == ""
    page = page_of(build)
    assert page.select_one("section#text")
    assert page.select_one("section#text > p > a.reference")["href"] == "#text"
    assert cell_of(build).select_one("div[id]")["id"] != "text"


def test_code_with_numbers_of_lines_and_with_links_is_folded(site: Gallery) -> None:
    site.add_extension("sphinx.ext.autodoc")  # Sphinx-Gallery then writes code by itself
    site.write("adding", FOLDED.replace("cell_timeout = 60", "line_numbers = True"))
    build = site.build()
    assert build.warnings == ""
    cell = cell_of(build)
    assert cell.select_one("summary").get_text() == SUMMARY
    assert "total = 1 + 2" in cell.select_one("pre").get_text()
    notebook = nbformat.read(build.out / f"{PAGE}.ipynb", as_version=4)
    [code] = [cell.source for cell in notebook.cells if "jupyter" in cell.metadata]
    assert "\n# Why this is here.\ntotal" in code


def test_another_mark_changes_the_page_and_not_its_recording(site: Gallery) -> None:
    site.build()
    assert site.build().read == []
    site.write("adding", FOLDED.replace(SUMMARY, "Others"))
    build = site.build()
    assert (build.read, build.warnings) == ([PAGE], "")
    assert cell_of(build).select_one("summary").get_text() == "Others"
    site.write("adding", RECIPE)
    build = site.build()
    assert (build.read, build.warnings) == ([PAGE], "")
    assert "folded" not in build.page(PAGE)
    assert "the total is 3" in build.page(PAGE)


@pytest.mark.parametrize("builder", ["text", "latex", "man", "texinfo", "xml"])
def test_what_cannot_be_unfolded_shows_the_code(site: Gallery, builder: str) -> None:
    build = site.build(builder, copyright="me", version="1")
    assert build.warnings == ""
    text = "".join(
        path.read_text(encoding="utf-8")
        for path in build.out.rglob("*")
        if path.suffix in (".txt", ".tex", ".xhtml", ".1", ".texi", ".xml")
    )
    assert "total" in text
    assert "folded-cell" not in text.replace("<folded_cell", "")
    assert not [*build.out.rglob("folded_cells.js")]


def test_page_notebook_and_script_have_the_translated_summary(site: Gallery) -> None:
    site.set_languages("ko")
    site.translate(PAGE, {SUMMARY: "도우미: *x* & <b>", "Why this is here.": "까닭."})
    build = site.build(language="ko")
    cell = cell_of(build)
    assert str(cell.select_one("summary")) == "<summary>도우미: *x* &amp; &lt;b&gt;</summary>"
    assert "# 까닭." in cell.get_text()
    assert cell.select_one("div[id]")["id"] == "helpers-x-b"  # addresses are those of the source
    notebook = nbformat.read(build.out / f"{PAGE}.ipynb", as_version=4)
    assert r"**도우미: \*x\* & \<b>**" in [each.source for each in notebook.cells]
    assert r"# **도우미: \*x\* & \<b>**" in (build.out / f"{PAGE}.py").read_text()
    [button] = page_of(build).select("button.unfold-all")
    assert button.get_text() == "코드 모두 펼치기"
    site.translate(PAGE, {"Why this is here.": "까닭."})
    summary = cell_of(site.build(language="ko")).select_one("summary")
    assert (summary["lang"], summary.get_text()) == ("en", SUMMARY)
