"""Claims in a real browser: their underline, and their evidence by keyboard, finger, on paper."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.helpers.chromium import serve
from tests.helpers.gallery import Gallery
from tests.helpers.measured_recipe import SPEEDUP, WINS, add, figure, store

AXE_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]


@pytest.fixture
def address(gallery: Gallery) -> Iterator[str]:
    add(gallery, f"Here :claim:`it is {{{SPEEDUP}}} as fast <{WINS}>`, and this is the rest.")
    store(gallery, figure())
    assert gallery.build().warnings == ""
    with serve(gallery.root / "out" / "html") as address:
        yield f"{address}recipes/steps.html"


UNDERLINE = "element => getComputedStyle(element).textDecorationStyle"
LINE = "element => getComputedStyle(element).textDecorationLine"


def test_a_claim_is_underlined_with_dots_at_its_number_and_adds_no_letter(
    browser: Browser, address: str
) -> None:
    with browser.new_page() as page:
        page.goto(address)
        sentence = page.locator("label.claim")
        number = sentence.locator(".measured")
        assert (number.evaluate(LINE), number.evaluate(UNDERLINE)) == ("underline", "dotted")
        assert sentence.evaluate(LINE) == "none"
        assert number.evaluate("number => getComputedStyle(number).color") == page.locator(
            "p:has(label.claim)"
        ).evaluate("paragraph => getComputedStyle(paragraph).color")  # it is no link
        mark = page.locator(".claim-mark")
        for place in ("::before", "::after"):
            content = f"mark => getComputedStyle(mark, '{place}').content"
            assert mark.evaluate(content) == "none"
        sentence.hover()
        assert sentence.evaluate(UNDERLINE) == "dotted"
        page.emulate_media(media="print")
        assert number.evaluate(LINE) == "none"


def test_a_claim_without_a_number_is_underlined_as_a_whole(
    browser: Browser, gallery: Gallery
) -> None:
    add(gallery, f"Here :claim:`fused is faster <{WINS}>`.")
    store(gallery, figure())
    assert gallery.build().warnings == ""
    with serve(gallery.root / "out" / "html") as address, browser.new_page() as page:
        page.goto(f"{address}recipes/steps.html")
        sentence = page.locator("label.claim")
        assert (sentence.evaluate(LINE), sentence.evaluate(UNDERLINE)) == ("underline", "dotted")


def test_a_click_on_a_claim_opens_its_evidence_and_another_closes_it(
    browser: Browser, address: str
) -> None:
    with browser.new_page(java_script_enabled=False) as page:
        page.goto(address)
        evidence = page.get_by_text("Holds in 5 of 5 processes on 3 machines:")
        number = page.locator("label.claim .measured").bounding_box()
        page.mouse.click(number["x"] + 2, number["y"] + 2)
        expect(evidence).to_be_visible()
        page.mouse.click(number["x"] + 2, number["y"] + 2)
        expect(evidence).to_be_hidden()


def test_evidence_opens_and_closes_by_keyboard_without_scripts_and_not_on_paper(
    browser: Browser, address: str
) -> None:
    with browser.new_page(java_script_enabled=False) as page:
        page.goto(address)
        mark = page.get_by_role("button", name="Evidence")
        evidence = page.get_by_text("Holds in 5 of 5 processes on 3 machines:")
        expect(evidence).to_be_hidden()
        mark.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        expect(mark).to_be_focused()
        outline = "claim => getComputedStyle(claim).outlineStyle"
        assert page.locator("label.claim").evaluate(outline) == "solid"
        page.keyboard.press("Enter")
        expect(evidence).to_be_visible()
        expect(page.get_by_text("14.0 ms (fused) < 39.0 ms (foreach)")).to_be_visible()
        page.keyboard.press("Escape")
        expect(evidence).to_be_hidden()
        expect(mark).to_be_focused()
        page.keyboard.press("Enter")
        page.emulate_media(media="print")
        for part in (".claim-mark", ".claim-evidence", ".figure-list"):
            expect(page.locator(part)).to_be_hidden()
        expect(page.get_by_text("it is 2.7× as fast")).to_be_visible()


@pytest.mark.parametrize("width", [1280, 320])
def test_evidence_is_in_the_window_beside_its_mark(
    browser: Browser, address: str, width: int
) -> None:
    with browser.new_page(viewport={"width": width, "height": 700}) as page:
        page.goto(address)
        page.get_by_role("button", name="Evidence").click()
        parts = (".claim-mark", ".claim-evidence")
        mark, box = (page.locator(each).bounding_box() for each in parts)
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
        assert abs(box["y"] - mark["y"] - mark["height"]) < 20
        results = Axe().run(page, options={"runOnly": AXE_RULES, "resultTypes": ["violations"]})
        inside = [
            (each["id"], node["target"])
            for each in results.response["violations"]
            for node in each["nodes"]
            if 'class="claim' in node["html"] or "figure-list" in node["html"]
        ]
        assert inside == []


# Rules of sphinx_rtd_theme 3.1 for lists in a section and for labels of forms; after other sheets
READ_THE_DOCS = """
.body section ul li { list-style: disc; margin-left: 24px }
label { cursor: pointer }
label { margin: 0 0 .3125em; color: #333; font-size: 90%; display: block }
"""


def test_styles_of_a_theme_change_neither_links_at_the_head_nor_claims(
    browser: Browser, gallery: Gallery
) -> None:
    add(gallery, f"Here :claim:`it is {{{SPEEDUP}}} as fast <{WINS}>`, and this is the rest.")
    store(gallery, figure())
    (gallery.root / "static").mkdir()
    (gallery.root / "static/read_the_docs.css").write_text(READ_THE_DOCS)
    gallery.configure(html_static_path=["static"], html_css_files=["read_the_docs.css"])
    assert gallery.build().warnings == ""
    with serve(gallery.root / "out" / "html") as address, browser.new_page() as page:
        page.goto(f"{address}recipes/steps.html")
        style = "(part, name) => getComputedStyle(part)[name]"
        links = page.locator(".recipe-actions > li")
        assert links.count() > 1
        for link in links.all():
            assert link.evaluate(style, "listStyleType") == "none"
            assert link.evaluate(style, "marginLeft") == "0px"
        paragraph, sentence = page.locator("p:has(> label.claim)"), page.locator("label.claim")
        assert sentence.evaluate(style, "display") == "inline"
        for name in ("color", "fontSize"):
            assert sentence.evaluate(style, name) == paragraph.evaluate(style, name)
