"""Tables that a page draws of rows, in the place of those that its run has shown."""

import json

import pytest
from bs4 import BeautifulSoup, Tag
from docutils import nodes

from sphinx_recorded_gallery.measurements.docutils_tables import make_untranslated_table
from sphinx_recorded_gallery.measurements.rows import MIME, Row
from tests.helpers.gallery import Build, Gallery
from tests.helpers.measured_recipe import add_replicate

RECIPE = f"""
'''
Steps
=====

Text.
'''

from IPython.display import display

MIME = "{MIME}"
HTML = {{"text/html": "<table><tr><td>of the run</td></tr></table>"}}


def publish(rows, *quantities):
    table = {{"case": "Adam", "quantities": quantities}}
    display({{MIME: {{"rows": rows, "table": table}}}}, raw=True)


def row(variant, quantity, value, unit="s", size=None):
    counted = {{"sizes": "layers"}} if size else {{}}
    row = dict(case="Adam", variant=variant, size=size, quantity=quantity)
    return row | counted | dict(value=value, unit=unit)


SHOW
"""
PLAIN = """publish(
    [
        row("plain", "wall", 0.02),
        row("graphs", "wall", 0.01),
        row("plain", "kernels", 3, ""),
        row("graphs", "speedup", 2.0, "x"),
    ],
    "wall",
    "kernels",
    "speedup",
)
"""
SHOW = "display(HTML, raw=True)\n"
SIZES = """publish(
    [row(v, "wall", s / 1000, size=s) for s in (1, 10) for v in ("plain", "graphs")], "wall"
)
"""


def build(gallery: Gallery, code: str) -> Build:
    gallery.add("steps", RECIPE.replace("SHOW", code))
    return gallery.build()


def find_page(build: Build) -> Tag:
    return BeautifulSoup(build.page("recipes/steps"), "html.parser")


def read_lines(table: Tag) -> list[list[str]]:
    return [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table("tr")]


def test_a_table_has_the_medians_of_all_processes(gallery: Gallery) -> None:
    gallery.add("steps", RECIPE.replace("SHOW", PLAIN + SHOW))
    row = Row(case="Adam", variant="plain", size=None, quantity="wall", value=0.04, unit="s")
    add_replicate(gallery, rows=[row], host=gallery.recording("steps").facts["host"])
    result = gallery.build()
    (table,) = find_page(result).select("table.measured-table")
    assert read_lines(table) == [
        ["", "speed-up", "wall time", "kernels"],
        ["plain", "", "30\u00a0ms", "3"],
        ["graphs", "2.0×", "10\u00a0ms", ""],
    ]
    assert table.caption.get_text().startswith("Adam · medians of 2 processes on one machine")
    assert (
        "of the run"
        not in result.page("recipes/steps").partition("HTML = ")[2].partition("</pre>")[2]
    )


def test_the_first_columns_are_those_that_decide(gallery: Gallery) -> None:
    names = ["kernels", "first_call", "wall", "speedup"]
    rows = "".join(f'row("graphs", "{name}", 2.0, ""), ' for name in names)
    (table,) = find_page(build(gallery, f"publish([{rows}], *{names})\n")).select("table")
    head, *_lines = read_lines(table)
    assert head == ["", "speed-up", "wall time", "first call", "kernels"]


def test_the_notebook_keeps_what_the_run_has_shown_and_says_so(gallery: Gallery) -> None:
    result = build(gallery, PLAIN + SHOW)
    notebook = json.loads((result.out / "recipes/steps.ipynb").read_text())
    [cell] = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    shown, note = cell["outputs"]
    assert "of the run" in "".join(shown["data"]["text/html"])
    said = "These numbers are from one run. The page shows medians over all machines."
    assert "".join(note["data"]["text/plain"]) == said
    assert said not in (result.out / "recipes/steps.py").read_text()


def test_a_table_of_several_sizes_has_a_column_of_them(gallery: Gallery) -> None:
    (table,) = find_page(build(gallery, SIZES)).select("table.measured-table")
    assert read_lines(table) == [
        ["layers", "", "wall time"],
        ["1", "plain", "1.0\u00a0ms"],
        ["1", "graphs", "1.0\u00a0ms"],
        ["10", "plain", "10\u00a0ms"],
        ["10", "graphs", "10\u00a0ms"],
    ]
    assert len(table.select("tbody th + th + td")) == 4


@pytest.mark.parametrize("shown", ["", "print(1)\n", SHOW])
def test_each_published_table_is_drawn_once(gallery: Gallery, shown: str) -> None:
    page = find_page(build(gallery, f"{PLAIN}{shown}{SIZES}{shown}"))
    captions = [table.caption.get_text() for table in page.select("table.measured-table")]
    assert [caption.partition(" ·")[0] for caption in captions] == ["Adam", "Adam"]
    assert not page.select(".recorded-html")


def test_other_tables_stay_as_they_were_recorded(gallery: Gallery) -> None:
    page = find_page(build(gallery, f"{SHOW}{PLAIN}{SHOW}{SHOW}"))
    assert len(page.select(".recorded-html table")) == 2
    assert len(page.select("table.measured-table")) == 1


def test_a_stale_recording_shows_what_its_run_has_shown(gallery: Gallery) -> None:
    gallery.add("steps", RECIPE.replace("SHOW", f"{PLAIN}{SHOW}\n# %%\nx = 1"))
    gallery.write("steps", RECIPE.replace("SHOW", f"{PLAIN}{SHOW}\n# %%\nx = 2"))
    page = find_page(gallery.build())
    assert page.select_one(".recorded-html td").get_text() == "of the run"
    assert not page.select("table.measured-table")


def test_a_column_is_as_wide_as_its_letters_in_formats_that_measure_in_them() -> None:
    head = [[nodes.Text("名字")], []]  # each letter is two wide
    table = make_untranslated_table(head, [[[nodes.Text("a")], [nodes.Text("x" * 60)]]])
    assert [spec["colwidth"] for spec in table.findall(nodes.colspec)] == [4, 50]
