"""Charts: scales, and each form on a page."""

import json
import math
from dataclasses import dataclass

import pytest
from babel import Locale
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser

from second_call.charts.explorer import Variant, describe
from second_call.charts.scales import format_seconds, format_value, time_words
from sphinx_recorded_gallery.languages import find_locale
from tests.helpers.gallery import ROOT, Gallery


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.01424, "s", "14,2 ms"),
        (0.01, "s", "10 ms"),
        (1.68e10, "B", "16,8 GB"),
        (2.736, "x", "2,74×"),
        (105_000_000, "", "105.000.000"),
    ],
)
def test_values_have_their_unit_as_in_the_language(value: float, unit: str, shown: str) -> None:
    assert format_value(value, unit, Locale("de")).replace("\u00a0", " ") == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (1.26e-4, "130 µs"),
        (0.9999, "1 s"),
        (76.4, "76 s"),
        (104.4, "104 s"),
        (126, "2 min 6 s"),
        (599.8, "10 min"),
        (5430, "1 h 31 min"),
        (7200, "2 h"),
        (500_000, "139 h"),
    ],
)
def test_times_are_written_as_they_are_said(seconds: float, shown: str) -> None:
    written = format_seconds(seconds, Locale("en"), time_words())
    assert written.replace("\u00a0", " ") == shown


RECIPE = """
'''
Steps
=====

What it is about.
'''

from base64 import b64decode

from IPython.display import Image, display


HEAD = "<thead><tr><th></th><th>wall (ms)</th></tr></thead>"
LINES = "<tr><th>plain</th><td>1</td></tr><tr><th>CUDA graphs</th><td>2</td></tr>"
TABLE = {"text/html": f"<table>{HEAD}<tbody>{LINES}</tbody></table>"}
START = dict(case="process", size=None, variant="compiler", quantity="start_up")
ROWS = [START | dict(value=1.0, unit="s")]
for size in (10, 100):
    for variant, quantity, value, unit in (
        ("plain", "wall", 2e-4 * size, "s"),
        ("plain", "gpu", 1e-4 * size, "s"),
        ("plain", "share", 0.5, "share"),
        ("plain", "part", 0.5, "share"),
        ("CUDA graphs", "part", 1.0, "share"),
        ("CUDA graphs", "wall", 1e-4 * size, "s"),
        ("CUDA graphs", "gpu", 1e-4 * size, "s"),
        ("CUDA graphs", "first_call", 4.0, "s"),
    ):
        figure = dict(case="Adam", size=size, sizes="number of layers")
        figure |= dict(variant=variant, quantity=quantity)
        ROWS.append(figure | dict(value=value, unit=unit))
display({"application/vnd.recipe-gallery.rows+json": {"rows": ROWS}}, raw=True)
display(TABLE, raw=True)
display(TABLE, raw=True)

# %%
# It takes :measured:`adam.10.cuda-graphs.wall`, and :claim:`graphs take less
# <10.cuda-graphs.wall < 10.plain.wall>`.
#
# .. chart:: wall, gpu
#    :case: Adam.10
#
#    A step of Adam.
#
# .. chart:: part
#    :case: Adam.10
#    :whole: wall
#
#    What a step is made of.
#
# .. chart:: break-even
#    :case: Adam.10
#
#    All calls of a run.
#
# .. chart:: gpu
#
#    Steps of models of two sizes.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_alt = "A black square"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
Image(b64decode(PNG))

# %%
# The end.
"""
QUANTITIES = """\
# .. chart:: gpu
#    :case: Adam.10
#
#    Of one size.
#
# .. chart:: wall
#
#    Of all sizes.

"""
KOREAN = {
    "CUDA graphs": "CUDA 그래프",
    "number of layers": "층의 수",
    "A step of Adam.": "Adam의 한 걸음.",
}


@dataclass
class Pages:
    """What a build left of the recipe."""

    warnings: str
    html: str
    downloads: tuple[str, str]
    pictures: list[str]  # names of files

    @property
    def charts(self) -> list[Tag]:
        return BeautifulSoup(self.html, "html.parser").select("figure.chart")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pages]:
    """The recipe, built in three languages."""
    gallery = Gallery(tmp_path_factory.mktemp("charts"), ["sphinx_recorded_gallery", "second_call"])
    gallery.set_languages("ko", "zh_CN")
    gallery.add("steps", RECIPE)
    gallery.translate("recipes/steps", KOREAN)
    found = {}
    for code in ("en", "ko", "zh_CN"):
        build = gallery.build(language=code)
        files = (build.out / f"recipes/steps.{ending}" for ending in ("ipynb", "py"))
        downloads = tuple(file.read_text(encoding="utf-8") for file in files)
        pictures = [path.name for path in build.out.glob("_images/*")]
        found[code] = Pages(build.warnings, build.page("recipes/steps"), downloads, pictures)
    return found


def words(drawing: Tag) -> list[str]:
    """Return the words of a drawing, which have a line each."""
    found = drawing.select("text, .bars-name, .bars-words, .chart-key li, .plot p")
    return [" ".join(each.get_text(" ").split()) for each in found]


def test_each_form_is_drawn(pages: dict[str, Pages]) -> None:
    assert not pages["en"].warnings
    ladder, stacked, explorer, lines = pages["en"].charts
    assert all(each.find(role="img")["aria-label"] for each in (ladder, stacked, lines))
    assert words(ladder) == [
        *("plain", "wall time 2.0 ms", "GPU time 1.0 ms"),
        *("CUDA graphs", "wall time 1.0 ms", "GPU time 1.0 ms"),
    ]
    assert words(stacked) == ["part", "plain", "1 ms", "CUDA graphs", "1 ms"]
    assert {"plain", "CUDA graphs", "limit", "GPU time", "number of layers", "10", "100"} <= {
        *words(lines)
    }
    assert {"10", "1,000", "100,000"} <= {*words(explorer)}
    bars = [float(each["width"].rstrip("%")) for each in ladder.find_all("rect")]
    assert bars == pytest.approx([100, 50, 50, 50])
    assert ladder.rect.title.get_text() == "wall time: 2.0\u00a0ms"
    assert [each.get_text() for each in lines.select(".reach title")][1] == "plain: 10\u00a0ms"
    parts = [(each["x"], each.title.get_text()) for each in stacked.select(".bars-bar rect")]
    assert parts == 2 * [("0.00%", "part: 1\u00a0ms")]
    (line,) = lines.select("polyline.limit")
    heights = [float(place.partition(",")[2]) for place in line["points"].split()]
    assert heights[0] > heights[1]  # more time is further up
    cells = [[each.get_text() for each in row.select("th, td")] for row in ladder.select("tr")]
    assert cells[0] == ["", "wall time", "GPU time"]
    assert [name for name, *_cells in cells[1:]] == ["plain", "CUDA graphs"]
    assert "number of layers" in lines.table.get_text()
    assert explorer.table.get_text().count("CUDA graphs") == 1


@pytest.mark.slow
def test_a_chart_of_a_quantity_follows_its_rows(gallery: Gallery) -> None:
    start, end = RECIPE.index("# .. chart:: wall, gpu"), RECIPE.index("# sphinx_gallery_fold")
    recipe = RECIPE[:start] + QUANTITIES + RECIPE[end:]
    gallery.add("steps", recipe)
    build = gallery.build()
    assert not build.warnings
    drawn = BeautifulSoup(build.page("recipes/steps"), "html.parser").select("figure.chart")
    bars, lines = map(words, drawn)
    assert bars == ["plain", "1.0 ms", "CUDA graphs", "1.0 ms", "limit", "500 µs"]
    assert {"wall time", "number of layers", "10", "100", "CUDA graphs"} <= {*lines}
    notebook = (build.out / "recipes/steps.ipynb").read_text(encoding="utf-8")
    assert "Of all sizes." in notebook
    for told, old, new in (
        ("wall was measured in 2 cases; name one by :case:", '"start_up"', '"wall"'),
        ("the size '0' is no number above 0", "(10, 100)", "(0, 100)"),
    ):
        gallery.write("steps", recipe.replace(old, new))
        gallery.record("steps")
        assert told in gallery.build().warnings


def test_words_of_a_chart_are_translated(pages: dict[str, Pages]) -> None:
    ladder, stacked, explorer, lines = pages["ko"].charts
    assert "CUDA 그래프" in words(ladder)
    assert "Adam의 한 걸음." in ladder.figcaption.get_text()
    assert "CUDA 그래프" in words(stacked)
    assert "층의 수" in words(lines)
    assert "CUDA 그래프" in ladder.find(role="img")["aria-label"]
    assert "CUDA 그래프" in explorer.find("output").get_text()
    assert not any("CUDA graphs" in each.get_text() for each in pages["ko"].charts)


def test_evidence_and_figures_have_the_names_of_charts(pages: dict[str, Pages]) -> None:
    page = BeautifulSoup(pages["ko"].html, "html.parser")
    evidence = page.find(class_="claim-measured")
    assert evidence.get_text() == "CUDA 그래프 1.0\u00a0ms < plain 2.0\u00a0ms"
    assert [each.get_text() for each in evidence.find_all(class_="recorded-data")] == ["plain"]
    listed = page.find(class_="figure-list").li.get_text()
    assert listed.startswith("Adam · 층의 수: 10 · CUDA 그래프 · wall time: ")


def test_tables_say_what_they_are_of(pages: dict[str, Pages]) -> None:
    device = pages["en"].html.partition("Recorded on ")[2].partition(",")[0].partition(" with")[0]
    for chart in pages["en"].charts[:3]:
        told = chart.find("caption").get_text()
        medians = f"medians on {device} (processes: 1, machines: 1)"
        assert told == f"Adam · number of layers: 10 · {medians}"


def test_a_table_of_rows_is_drawn_from_all_processes(pages: dict[str, Pages]) -> None:
    page = BeautifulSoup(pages["ko"].html, "html.parser")
    (table,) = page.select("table.measured-table")
    assert table.select_one(".caption-text").get_text().startswith("Adam · 층의 수: 100 · ")
    assert "프로세스 1개" in table.caption.get_text()
    cells = [each.get_text(strip=True) for each in table.select("tbody :is(th, td)")]
    assert [each.get_text() for each in table.select("tbody th")] == ["plain", "CUDA 그래프"]
    assert cells == ["plain", "20\u00a0ms", "CUDA 그래프", "10\u00a0ms"]
    # no rows are published before the second one, which stays as it was recorded
    (other,) = page.select(".recorded-html table")
    assert [each.get_text() for each in other.select("td")] == ["", "1", "2"]
    assert other.caption is None
    assert pages["ko"].downloads[0].count("<td>2</td>") == 3  # in the code, too


def test_a_table_of_several_sizes_has_a_column_of_them(gallery: Gallery) -> None:
    lines = "".join(
        f"<tr><th rowspan='2'>{size}</th><th>plain</th><td>1</td></tr>"
        "<tr><th>CUDA graphs</th><td>2</td></tr>"
        for size in (10, 100)
    )
    start, end = RECIPE.index("LINES = "), RECIPE.index("TABLE = ")
    gallery.add("steps", f'{RECIPE[:start]}LINES = "{lines}"\n{RECIPE[end:]}')
    page = BeautifulSoup(gallery.build().page("recipes/steps"), "html.parser")
    (table,) = page.select("table.measured-table")
    lines = [row.select("th, td") for row in table.select("tbody tr")]
    assert len(table.select("tbody th + th + td")) == len(lines)
    assert [[each.get_text(strip=True) for each in line] for line in lines] == [
        ["10", "plain", "2.0\u00a0ms"],
        ["10", "CUDA graphs", "1.0\u00a0ms"],
        ["100", "plain", "20\u00a0ms"],
        ["100", "CUDA graphs", "10\u00a0ms"],
    ]


def test_the_explorer_answers_without_a_script(pages: dict[str, Pages]) -> None:
    explorer = pages["en"].charts[2]
    sentence = explorer.find("output").get_text().replace("\u00a0", " ")
    assert sentence == (
        "Adam · number of layers: 10, 10,000 calls. "
        "Fastest: CUDA graphs (CUDA graphs 15 s, plain 20 s)."
    )
    assert "explorer.js" in pages["en"].html
    plain, graphs = json.loads(explorer.find(class_="explorer-case")["data-variants"])
    assert plain == ["plain", 0, pytest.approx(2e-3)]  # at the start, and each call
    assert graphs == ["CUDA graphs", pytest.approx(4 - 1e-3 + 1), pytest.approx(1e-3)]


@pytest.mark.parametrize("code", ["en", "ko", "zh_CN"])
def test_the_explorer_says_for_others_what_the_build_says(
    browser: Browser, pages: dict[str, Pages], code: str
) -> None:
    with browser.new_page() as page:
        page.set_content(pages[code].html)
        page.add_script_tag(path=ROOT / "_static/explorer.js")
        shown = page.locator(".explorer-case")
        variants = [
            Variant(name=name, start=start, call=call, kind="")
            for name, start, call in json.loads(shown.get_attribute("data-variants") or "")
        ]
        for power, calls in ((1, 10), (3.3, 2000), (4, 10_000), (6, 1_000_000)):
            page.get_by_role("slider").fill(str(power))
            case = shown.get_attribute("data-name") or ""
            words = page.locator(".explorer").evaluate("each => ({...each.dataset})")
            said = describe(case, variants, calls, find_locale(code), words)
            assert page.locator("output").inner_text() == said
            assert page.locator(".explorer-calls").inner_text() == f"{calls:,}"
            mark = shown.locator(".explorer-mark").first
            place = (math.log10(calls) - 1) / 5 * 100
            assert float((mark.get_attribute("x1") or "").rstrip("%")) == pytest.approx(place)


def test_a_chart_stands_in_place_of_the_figure_behind_it(pages: dict[str, Pages]) -> None:
    page = pages["en"].html
    assert pages["en"].pictures == []
    assert "A black square" not in page
    assert "Code of the figure" not in page
    for text in pages["en"].downloads:
        assert "b64decode(PNG)" in text
        assert "A step of Adam." in text  # below its table


OTHERS = """
.. chart:: wall

   Text.

.. chart:: wall
   :case: Adam

.. chart::

   Text.

"""


def test_a_wrong_chart_is_told_in_one_line(gallery: Gallery) -> None:
    gallery.add("steps", RECIPE)
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + OTHERS)
    warnings = gallery.build().warnings
    for told in (
        "chart: it draws what a recipe has measured, and this page is none's",
        "chart: it needs a caption, a sentence below its options",
        "chart: it needs a quantity, for example: .. chart:: wall",
    ):
        assert told in warnings
    for told, old, new in (
        ("lines are of one quantity; choose a size by :case:", "Adam.10", "Adam"),
        ("no measurement is called 'adam.10.gp'", "wall, gpu", "wall, gp"),
        ("no measurement is called 'adam.10.hole'", ":whole: wall", ":whole: hole"),
    ):
        gallery.write("steps", RECIPE.replace(old, new, 1))
        assert told in gallery.build().warnings
    gallery.write("steps", RECIPE + "\nsizes = {\n")
    warnings = gallery.build().warnings
    assert "'{' was never closed" in warnings
    assert "steps.rst" not in warnings  # a file that no author has
