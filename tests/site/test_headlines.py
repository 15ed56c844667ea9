"""Headlines: which figures a page shows in its own words, and how they are drawn."""

import csv
import json
import platform
import re
import shutil

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Browser

from sphinx_recorded_gallery.measurements.ranges import Measurement
from tests.helpers.gallery import ROOT, Gallery, write_recording
from tests.helpers.measured_recipe import add, figure, store

NAMED = """
.. results::

   steps against foreach: Which optimizer?
      adam.100.fused.gpu: Ten layers: ``fused=True``
      adam.100.compiled.gpu: Ten layers: compiled
      adam.100.for-loop.wall: Ten layers: one by one
"""


def timed(key: str, value: float, spread: float = 1.01, unit: str = "s") -> Measurement:
    return figure(key, unit=unit, value=value, low=value / spread, high=value * spread)


FIGURES = [
    timed("adam.100.foreach.gpu", 0.010),
    timed("adam.100.foreach.wall", 0.010),
    timed("adam.100.fused.gpu", 0.004),
    timed("adam.100.fused.wall", 0.004),
    timed("adam.100.fused.speedup", 2.4, unit="x"),  # of each round, not of medians
    timed("adam.100.fused.share", 0.8, unit="share"),
    timed("adam.100.compiled.gpu", 0.0025),
    timed("adam.100.compiled.wall", 0.012),
    timed("adam.100.compiled.speedup", 0.83, unit="x"),
    timed("adam.100.compiled.first_call", 12.5),
    timed("adam.100.for-loop.wall", 0.02),
]


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    add(gallery, "Text.")
    store(gallery, *FIGURES)
    write_page(gallery, NAMED)
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "   results\n")
    return gallery


def write_page(gallery: Gallery, text: str) -> None:
    gallery.root.joinpath("results.rst").write_text(f"Results\n=======\n{text}")


def rows(page: str) -> list[str]:
    found = BeautifulSoup(page, "html.parser").select(".headlines > .headline")
    for cell in (cell for row in found for cell in row.select("[data-label]")):
        cell.insert(0, f"{cell['data-label']} ")
    return [" ".join(row.get_text(" ").split()) for row in found]


def test_headlines_are_drawn_and_said(site: Gallery) -> None:
    build = site.build()
    assert build.warnings == ""
    first, second, third = rows(build.page("results"))
    assert first.startswith("Ten layers: fused=True compared with foreach ")
    assert "Speed-up 2.50× By wall time 2.40×" in first
    assert "Of the limit 80% First call none" in first
    assert "First call 12.5 s" in second
    assert "Speed-up 0.500×" in third
    soup = BeautifulSoup(build.page("results"), "html.parser")
    loses = [row.has_attr("data-loses") for row in soup.select(".headlines > .headline")]
    assert loses == [False, True, True]
    assert len(soup.select(".headline path.dot.slower")) == 1
    assert soup.select_one(".headlines-question a")["href"] == "recipes/steps.html"
    assert "It takes 4.0 ms Instead of 10.0 ms" in first
    assert [each["scope"] for each in soup.select("table tbody th")] == ["colgroup", *3 * ["row"]]
    assert soup.find("script", src=re.compile("results.js"))


def test_the_words_of_headlines_are_translated(site: Gallery) -> None:
    site.set_languages("ko")
    messages = site.build("gettext")
    shutil.rmtree(site.root / "out/doctrees")
    assert 'msgid "Ten layers: compiled"' in (messages.out / "results.pot").read_text()
    site.translate("results", {"Which optimizer?": "무엇?", "Ten layers: compiled": "열 개"})
    page = site.build(language="ko").page("results")
    assert "무엇?</h2>" in page
    assert any(row.startswith("열 개") for row in rows(page))


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("steps: A question\n      no words at all", "write a line such as"),
        ("steps: A question\n      adam.100.fused.gpu: words", "say against what"),
        ("stairs against a: words", "no recipe is called 'stairs'"),
        ("steps against a\n      adam.100.fused.gpu: words", "a headline stands below no question"),
    ],
)
def test_a_line_that_cannot_be_read_is_told(gallery: Gallery, lines: str, told: str) -> None:
    add(gallery, "Text.")
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n.. results::\n\n   {lines}\n")
    warnings = gallery.build().warnings
    assert told in warnings
    assert re.search(r"index.rst:\d+: ERROR", warnings)


def test_a_headline_without_a_ratio_is_told_with_its_line(site: Gallery) -> None:
    write_page(site, NAMED.replace("adam.100.fused.gpu", "adam.100.fusd.gpu"))
    build = site.build()
    told = "results.rst:7: no measurement is called 'adam.100.fusd.gpu'; near it:"
    assert told in build.warnings
    assert rows(build.page("results"))[0].endswith("[not measured yet]")
    write_page(site, NAMED)
    store(site, *FIGURES[:2], timed("adam.100.fused.gpu", 0.0), *FIGURES[3:])
    build = site.build()
    told = "results.rst:7: 'adam.100.fused.gpu' and 'adam.100.foreach.gpu' have no ratio"
    assert build.warnings.count(told) == 1
    assert rows(build.page("results"))[0].endswith("fused=True –")


def test_another_machine_adds_rows_and_a_choice(site: Gallery) -> None:
    assert 'name="machine"' not in site.build().page("results")
    other = site.recordings / "other-machine" / "steps.ipynb"
    other.parent.mkdir()
    shutil.copyfile(site.recordings / "steps.ipynb", other)
    notebook = nbformat.read(other, as_version=4)
    notebook.metadata.recording.device["gpu"] = "Other GPU"
    write_recording(other, nbformat.writes(notebook))
    store(site, *FIGURES, name="other-machine/steps")
    page = site.build().page("results")
    assert "<option>Other GPU</option>" in page
    assert len(rows(page)) == 6
    other.write_text("{")
    build = site.build()
    assert "not a whole notebook" in build.warnings
    assert len(rows(build.page("results"))) == 3


def test_wait_and_gain_are_a_numbered_dot_a_case(site: Gallery) -> None:
    write_page(site, NAMED.replace(".. results::", ".. measured-on::\n\n.. wait-and-gain::"))
    soup = BeautifulSoup(site.build().page("results"), "html.parser")
    assert [each.text for each in soup.select(".trade-plot .number")] == ["1", "2", "3"]
    listed = soup.select(".trade-cases li")
    cases = [" ".join(each.get_text().split()) for each in listed]
    links = soup.select(".trade-plot a")
    assert [each["href"] for each in links] == [f"#{each['id']}" for each in listed]
    assert cases[:2] == [
        "Ten layers: fused=True 2.50×, no wait",
        "Ten layers: compiled 4.00×, first call 12.5 s",
    ]
    assert soup.select_one(".measured-on").get_text().startswith("Measured on ")


def test_rows_can_be_put_into_order_and_left_out(site: Gallery, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((site.build().out / "results.html").as_uri())
    page.add_script_tag(path=str(ROOT / "_static/results.js"))
    seen = page.locator(".headlines > :not([hidden])")
    assert seen.count() == 4  # the question is one
    page.locator("[name=sort]").select_option("calls")
    assert seen.first.get_attribute("data-calls") == "0"
    page.locator("[name=sort]").select_option("gain")
    found = [float(each.get_attribute("data-gain") or "nan") for each in seen.all()]
    assert found == sorted(found, reverse=True) == pytest.approx([4, 2.5, 0.5])
    page.locator("[name=losses]").check()
    assert seen.count() == 2
    page.locator("[name=sort]").select_option("")
    assert seen.count() == 3


def test_figures_lie_beside_the_page_as_json_and_csv(site: Gallery) -> None:
    build = site.build()
    for name in ("results.json", "results.csv"):
        assert f'href="{name}"' in build.page("results")
    data = json.loads((build.out / "results.json").read_text())
    first = next(
        row for row in data["rows"] if row["variant"] == "fused" and row["quantity"] == "gpu"
    )
    assert list(first) == list(data["columns"])
    known = {"recipe": "steps", "value": 0.004, "unit": "s", "processes": 4, "hosts": 3}
    assert known.items() <= first.items()
    assert {row["range"] for row in data["rows"]} == {"expected", "seen"}
    lines = list(csv.DictReader((build.out / "results.csv").open(newline="")))
    assert len(lines) == len(data["rows"]) == len(FIGURES) + 4  # of the page alone


def test_figures_as_data_name_their_release_and_have_no_other(site: Gallery) -> None:
    settings = site.recipes / "recording.toml"
    settings.write_text('[provenance]\nrelease = "python"\n')
    build = site.build()
    data = json.loads((build.out / "results.json").read_text())
    here = ".".join(platform.python_version_tuple()[:2])
    named = {(row["package"], row["release"], row["processes"]) for row in data["rows"]}
    assert named == {("python", here, 1)}  # replicates that do not tell their version are left out
