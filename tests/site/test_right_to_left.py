"""The site in a language written from right to left, in a real browser: where things stand."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FloatRect, Page

from chromium import serve
from recipe_gallery.languages import PSEUDO_CODES

RECIPE = "recipes/compile_modes"
SCROLLS = """() => [document.documentElement, ...document.querySelectorAll(
  ".bd-article-container, .bd-article")].some((each) => each.scrollWidth > each.clientWidth)"""
WIDTH = 1440


@pytest.fixture(scope="module")
def address(pseudo_site: Path) -> Iterator[str]:
    with serve(pseudo_site) as address:
        yield address


@pytest.fixture(scope="module")
def page(browser: Browser, address: str) -> Iterator[Page]:
    with browser.new_context(viewport={"width": WIDTH, "height": 900}) as context:
        context.set_default_timeout(20_000)
        yield context.new_page()


def box(page: Page, selector: str) -> FloatRect:
    found = page.locator(selector).first.bounding_box()
    assert found, selector
    return found


def style(page: Page, selector: str, name: str) -> str:
    script = "(each, name) => getComputedStyle(each)[name]"
    return str(page.locator(selector).first.evaluate(script, name))


def right(found: FloatRect) -> float:
    return found["x"] + found["width"]


def test_no_page_scrolls_sideways(page: Page, address: str, pseudo_site: Path) -> None:
    names = [*pseudo_site.glob("*.html"), *pseudo_site.glob("recipes/*.html")]
    assert len(names) > 8
    problems = []
    for name in sorted(path.relative_to(pseudo_site).as_posix() for path in names):
        page.goto(address + name)
        root = page.evaluate("[document.documentElement.lang, document.documentElement.dir]")
        assert root == [PSEUDO_CODES[1].replace("_", "-"), "rtl"], name
        headings = page.locator("article :is(h1, h2, h3)").all_text_contents()
        assert all(len(text) > 2 for text in headings), (name, headings)
        for width in (320, 390, WIDTH):
            page.set_viewport_size({"width": width, "height": 900})
            if page.evaluate(SCROLLS):
                problems.append((name, width))
    assert problems == []


def test_the_page_is_mirrored_and_its_code_is_not(page: Page, address: str) -> None:
    page.goto(f"{address}{RECIPE}.html")
    article = box(page, "article h1")
    text = page.evaluate(
        """() => {
          const range = document.createRange();
          range.selectNodeContents(document.querySelector("article section > p:not([dir])"));
          return [...range.getClientRects()].reduce((all, each) => Math.max(all, each.right), 0);
        }"""
    )
    assert abs(text - right(article)) < 2  # lines begin at the right
    assert right(box(page, ".bd-sidebar-secondary")) < article["x"]
    assert box(page, ".navbar-brand")["x"] > WIDTH / 2
    assert right(box(page, "header .language-switcher")) < WIDTH / 2
    # the line beside the contents of the page is between them and the text
    assert style(page, ".sidebar-secondary-item", "borderRightWidth") == "1px"
    assert style(page, ".sidebar-secondary-item", "borderLeftWidth") == "0px"
    icon, title = box(page, ".page-toc i, .onthispage i"), box(page, ".page-toc li, .page-toc a")
    assert icon["x"] > title["x"]
    # code, and what programs print
    for selector in ("div.highlight pre", "article p code", ".recorded-output", "math"):
        if page.locator(selector).count():
            assert style(page, selector, "direction") == "ltr", selector
    code, button = box(page, "div.highlight:has(> .copy-button)"), box(page, ".copy-button")
    assert right(code) - right(button) < 16
    assert page.locator(".recorded-output .highlight pre").count()
    assert style(page, ".recorded-output .highlight pre", "borderLeftWidth") == "3px"


def test_menus_open_inside_the_window(page: Page, address: str) -> None:
    page.goto(f"{address}{RECIPE}.html")
    page.locator("header .language-switcher summary").click()
    menu = box(page, "header .language-switcher ul")
    assert menu["x"] >= 0
    assert right(menu) <= WIDTH
    # English names keep their order of words, at the side where lines begin
    assert style(page, "header .language-switcher bdi[lang=en]", "direction") == "ltr"
    item, name = box(page, "header .language-switcher li a"), box(page, "header li a bdi")
    assert right(item) - right(name) < name["x"] - item["x"]
    page.locator("details.provenance summary").click()
    assert box(page, "details.provenance dt")["x"] > box(page, "details.provenance dd")["x"]


def test_the_navigation_of_a_phone_comes_from_the_right(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{address}{RECIPE}.html")
    button = box(page, "header .primary-toggle")
    assert button["x"] > 195
    page.locator("header .primary-toggle").click()
    page.wait_for_timeout(300)
    panel = box(page, "dialog[open]")
    assert 390 - right(panel) < 20  # where the window scrolls, its bar is there
    assert panel["x"] > 0
