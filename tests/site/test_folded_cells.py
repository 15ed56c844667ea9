"""Folded cells in a real browser: opened by links, by find-in-page, on paper, by one button."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from chromium import serve

PAGE = "en/recipes/where_time_goes.html"


@pytest.fixture(scope="module")
def address(languages_site: Path) -> Iterator[str]:
    with serve(languages_site) as address:
        yield address + PAGE


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def either(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a browser with scripts, and one without."""
    with browser.new_context(java_script_enabled=request.param) as context:
        yield context.new_page()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context.new_page()


def cells(page: Page) -> Locator:
    return page.locator("details.folded-cell")


def expect_open(page: Page, *numbers: int) -> None:
    """See that these cells are open, and no other."""
    for number, cell in enumerate(cells(page).all()):
        expect(cell.locator("pre").first).to_be_visible(visible=number in numbers)


def test_cells_are_folded_and_open_by_their_summaries(either: Page, address: str) -> None:
    either.goto(address)
    assert cells(either).count() > 1
    expect_open(either)
    cells(either).locator("summary").nth(1).click()
    expect_open(either, 1)
    scripts = either.locator(".copy-button").count() > 0
    expect(either.locator("button.unfold-all")).to_be_visible(visible=scripts)


def test_an_address_opens_the_cell_that_it_names(either: Page, address: str) -> None:
    either.goto(address)
    anchor = cells(either).nth(1).locator("[id]").first.get_attribute("id")
    either.goto(f"{address}#{anchor}")
    expect_open(either, 1)
    expect(cells(either).locator("pre").nth(1)).to_be_in_viewport()


def test_find_in_page_opens_a_cell(either: Page, address: str) -> None:
    """Text of an address is looked for by what also answers Ctrl+F, which no test can press."""
    either.goto(address)
    code = cells(either).nth(1).locator("pre").first.text_content() or ""
    text = (either.locator("body").text_content() or "").lower()
    found = re.findall(r"(?<![\w.])[a-z]{6,}(?![\w.])", code)
    words = (each for each in found if text.count(each) == 1)
    either.goto("about:blank")  # or it would be the same page
    either.goto(f"{address}#:~:text={next(words)}")
    expect_open(either, 1)


def test_the_keyboard_reaches_and_opens_a_cell(page: Page, address: str) -> None:
    page.goto(address)
    summary = cells(page).locator("summary").first
    summary.focus()
    page.keyboard.press("Enter")
    expect_open(page, 0)
    page.keyboard.press("Tab")
    inside = page.evaluate("document.activeElement.closest('details')?.className")
    assert inside == "folded-cell"
    page.locator("button.unfold-all").focus()
    page.keyboard.press("Space")
    expect_open(page, *range(cells(page).count()))


def test_paper_shows_the_code(either: Page, address: str) -> None:
    either.goto(address)
    either.emulate_media(media="print")
    expect_open(either, *range(cells(either).count()))
    expect(either.locator(".provenance dl").first).to_be_hidden()  # facts stay folded
