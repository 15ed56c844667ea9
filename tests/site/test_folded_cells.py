"""Folded cells in a real browser: opened by links, by find-in-page, on paper, by one button."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect


@pytest.fixture
def address(address: str) -> str:
    return f"{address}en/recipes/where_time_goes.html"


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    with browser.new_context(java_script_enabled=request.param) as context:
        yield context.new_page()


def cells(page: Page) -> Locator:
    return page.locator("details.folded-cell")


def expect_open(page: Page, *numbers: int) -> None:
    """See that these cells are open, and no other."""
    for number, cell in enumerate(cells(page).all()):
        expect(cell.locator("pre").first).to_be_visible(visible=number in numbers)


def test_cells_are_folded_and_open_by_their_summaries(page: Page, address: str) -> None:
    page.goto(address)
    assert cells(page).count() > 1
    expect_open(page)
    cells(page).locator("summary").nth(1).focus()
    page.keyboard.press("Enter")
    expect_open(page, 1)
    scripts = page.locator(".copy-button").count() > 0
    button = page.locator("button.unfold-all")
    expect(button).to_be_visible(visible=scripts)
    if scripts:
        button.focus()
        page.keyboard.press("Space")
        expect_open(page, *range(cells(page).count()))


def find_folded_word(page: Page) -> tuple[int, str]:
    """Return the number of a cell, and a word of its code that stands nowhere else on the page."""
    text = (page.locator("body").text_content() or "").lower()
    for number, cell in enumerate(cells(page).all()):
        code = cell.locator("pre").first.text_content() or ""
        for word in re.findall(r"(?<![\w.])[a-z]{6,}(?![\w.])", code):
            if text.count(word) == 1:
                return number, word
    raise AssertionError("no word stands in one folded cell alone")


def test_an_address_and_a_search_in_the_page_open_the_cell_that_has_it(
    page: Page, address: str
) -> None:
    """Text of an address is looked for by what also answers Ctrl+F, which no test can press."""
    page.goto(address)
    number, word = find_folded_word(page)
    cell = cells(page).nth(number)
    page.goto(f"{address}#{cell.locator('[id]').first.get_attribute('id')}")
    expect_open(page, number)
    expect(cell.locator("pre").first).to_be_in_viewport()
    page.goto("about:blank")  # or it would be the same page
    page.goto(f"{address}#:~:text={word}")
    expect_open(page, number)


def test_paper_shows_the_code(page: Page, address: str) -> None:
    page.goto(address)
    page.emulate_media(media="print")
    expect_open(page, *range(cells(page).count()))
    expect(page.locator(".provenance dl").first).to_be_hidden()  # facts stay folded
