"""What readers see who search the site: typed into the field, and read from the page."""

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.search.index import FILE_NAME, find_words
from sphinx_recorded_gallery.search.synonyms import load_synonyms
from tests.helpers.chromium import note_errors, serve
from tests.helpers.gallery import ROOT, Gallery
from tests.helpers.site_pages import LANGUAGES, by_language

NAMES = ["recompile_limit", "fused=True", "torch._dynamo", "100%"]
SIGNS = {
    "en": [*NAMES, "reduce-overhead", "_dynamo", "100 %", "“graph”", "ＧＰＵ", "C++ graph"],
    "ko": [*NAMES, "max-autotune를", "@컴파일"],
    "zh_CN": [*NAMES, "max-autotune模式", "@编译"],
}
OTHERWISE = {"en": ("graphics card", "GPU"), "ko": ("첫 실행", "첫 호출"), "zh_CN": ("显卡", "GPU")}
SYMPTOM = {"en": "GPU utilization is low", "ko": "GPU 이용률이 낮음", "zh_CN": "GPU 使用率低"}


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """One page for all tests of this file, and none of them may leave a message."""
    with browser.new_context() as context:
        page = context.new_page()
        problems = note_errors(page)
        yield page
    assert problems == []


def search(page: Page, query: str) -> Locator:
    """Type a query into the page of the search; return the results when they are drawn."""
    page.locator("article input[name=q]").fill(query)
    page.keyboard.press("Enter")
    results = page.locator("article .search-results")
    expect(results).to_have_attribute("data-query", query)
    return results.locator(":scope > li")


def links(results: Locator) -> list[str]:
    return results.locator(".search-title").evaluate_all("all => all.map((each) => each.href)")


def label(page: Page, name: str) -> str:
    found = page.locator("article form").evaluate(
        "(form, name) => JSON.parse(form.dataset.labels)[name]", name
    )
    assert isinstance(found, str)
    return found


@by_language
def test_readers_find_pages(page: Page, address: str, language: Language) -> None:
    """Every fourth of the queries; benchmarks/search.py asks all."""
    path = ROOT / f"benchmarks/search_queries/{language.code}.toml"
    queries = tomllib.loads(path.read_text(encoding="utf-8"))["query"][::4]
    page.goto(f"{address}{language.code}/search.html")
    missed = []
    sections = 0
    for query in queries:
        found = links(search(page, query["text"]))[:3]
        names = [re.search(rf"/{language.code}/(.*?)(\.html|$|#)", each)[1] for each in found]
        sections += "#" in found[0]
        if not set(names) & set(query["pages"]):
            missed.append((query["text"], names))
    assert len(missed) <= 0.05 * len(queries), missed
    assert sections > 0.3 * len(queries)


@by_language
def test_names_with_signs_are_found(page: Page, address: str, language: Language) -> None:
    page.goto(f"{address}{language.code}/search.html")
    for query in SIGNS[language.code]:
        results = search(page, query)
        assert results.count(), query
        if "100" not in query:  # which stands in tables only
            expect(results.locator("mark").first).to_be_attached()
        told = page.locator("article .search-status").inner_text()
        assert told.startswith(label(page, "found").partition("%s")[0]), told
    assert search(page, "compile").count() > 3
    assert search(page, "xyzzyq").count() == 0
    expect(page.locator("article .search-status")).to_have_text(label(page, "none"))


@by_language
def test_synonyms_and_english_terms_find_what_pages_call_it(
    page: Page, address: str, language: Language
) -> None:
    page.goto(f"{address}{language.code}/search.html")
    typed, called = OTHERWISE[language.code]
    assert set(links(search(page, typed))) & set(links(search(page, called))[:3])
    marks = search(page, typed).locator("mark").all_inner_texts()
    assert any(called.split()[-1].lower() in mark.lower() for mark in marks), marks
    first_three = links(search(page, SYMPTOM[language.code]))[:3]
    assert any("/recipes/where_time_goes" in link for link in first_three)
    if language.code != "en":
        search(page, "break-even")
        assert [
            mark for mark in page.locator("article mark").all_inner_texts() if not mark.isascii()
        ]


@by_language
def test_synonyms_lead_to_words_that_pages_have(languages_site: Path, language: Language) -> None:
    """One of them is enough: a text may be worded anew without a look at the synonyms."""
    index = (languages_site / language.code / FILE_NAME).read_text(encoding="utf-8")
    words = {
        word for word, _list in json.loads(index[index.index("{") : index.rindex(")")])["terms"]
    }
    codes = [each.code for each in LANGUAGES]
    lost = []
    for meant in load_synonyms(ROOT / "locale", codes, language.code).values():
        found = {word for form in meant for word in find_words(form) if word == form or word[1:]}
        lost += [meant] if meant and words.isdisjoint(found) else []
    assert lost == []


def test_a_title_leads_to_its_page_and_a_query_is_kept(page: Page, address: str) -> None:
    page.goto(f"{address}en/search.html?q=How+we+measure")
    expect(page.locator("article .search-title").first).to_have_text("How we measure")
    assert links(page.locator("article .search-results"))[0] == f"{address}en/how_we_measure.html"
    search(page, "median")
    page.go_back()
    expect(page.locator("article input[name=q]")).to_have_value("How we measure")
    results = page.locator("article .search-results")
    expect(results).to_have_attribute("data-query", "How we measure")


def test_an_index_that_cannot_be_loaded_is_told_and_asked_for_again(
    browser: Browser, address: str
) -> None:
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}en/search.html")
        page.route("**/search-index.js", lambda route: route.abort())
        page.locator("article input[name=q]").fill("median")
        expect(page.locator("article .search-status")).to_have_text(label(page, "failed"))
        page.unroute("**/search-index.js")
        assert search(page, "median").count()


def test_readers_find_pages_with_any_theme(gallery: Gallery, browser: Browser) -> None:
    names = ["basalt", "cobalt", "dolomite"]
    for name in names:
        section = f"Deep {name}\n{'-' * 14}\n\nFound by {name}word.\n"
        text = f"{name.title()}\n{'=' * 9}\n\nA stone.\n\n{section}"
        (gallery.root / f"{name}.rst").write_text(text)
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "".join(f"   {name}\n" for name in names))
    gallery.add_extension("sphinx_recorded_gallery.search", html_theme="furo")
    with serve(gallery.build().out) as address, browser.new_page() as page:
        page.goto(f"{address}search.html?q=stone")
        titles = page.locator(".search-title")
        expect(titles).to_have_count(len(names))
        assert sorted(titles.all_text_contents()) == [name.title() for name in names]
        page.goto(f"{address}search.html?q=cobaltword")
        expect(titles).to_have_text(["Cobalt › Deep cobalt"])
        titles.click()
        expect(page).to_have_url(f"{address}cobalt.html#deep-cobalt")
