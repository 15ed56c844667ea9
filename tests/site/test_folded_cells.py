"""Folded cells in a real browser: opened by links, searches, find-in-page, paper, one button."""

import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import polib
import pytest
from axe_playwright_python.sync_playwright import Axe
from filelock import FileLock
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect

from chromium import serve
from gallery import copy_repository
from recipe_gallery.recipes.gallery import find_recipes

RECIPE = "recipes/compile_modes"
SUMMARY = "The sizes of both kinds of device"
ANCHOR = "the-sizes-of-both-kinds-of-device"
# Marks above the first lines of three cells of the recipe, in the place of its own
MARKS = {
    "\nimport functools\n": "The modules",
    "\nbench = Bench()\n": SUMMARY,
    "\ntorch._inductor.config.max_autotune": "How results are compared",
}
OF_FIGURE = "Code of the figure"  # of cells that charts take the place of
WORD = "quokkas"  # stands in the second of them, and nowhere else
AXE = {"resultTypes": ["violations"], "preload": False}
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}


def replace(text: str, old: str, new: str) -> str:
    """Replace what the text has, the first time that it has it."""
    assert old in text
    return text.replace(old, new, 1)


@pytest.fixture(scope="module")
def folded_site(shared: Path) -> Path:
    """The site in two languages, in which one recipe has three folded cells."""
    source = shared / "folded site"
    with FileLock(shared / "folded site.lock"):
        if not source.exists():
            copy_repository(source)
            path = source / "recipes_source/compile_modes.py"
            for other in set(find_recipes(path.parent)) - {path}:
                other.unlink()  # nothing below looks at them
            text = path.read_text(encoding="utf-8")
            text = re.sub(rf'\n# sphinx_gallery_fold = "(?!{OF_FIGURE}").*', "", text)
            for start, summary in MARKS.items():
                mark = f'\n# sphinx_gallery_fold = "{summary}"'
                text = replace(text, start, mark + start)
            text = replace(text, "\nbench =", f"\n# Sizes for {WORD}.\nbench =")
            text = replace(text, "# Gradients are", f"# See `{SUMMARY}`_. Gradients are")
            path.write_text(text, encoding="utf-8")
            catalog = source / f"locale/ko/LC_MESSAGES/{RECIPE}.po"
            entries = polib.pofile(str(catalog))
            comment = "Comment in code: shown in the place of folded code; no markup"
            entries.append(polib.POEntry(msgid=SUMMARY, msgstr="기기별 크기", comment=comment))
            entries.save()
            command = [sys.executable, "-m", "recipe_gallery", "html", "en", "ko"]
            command.append("--sphinx-options=-q")
            done = subprocess.run(command, cwd=source, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
    return source / "_build" / "html"


@pytest.fixture(scope="module")
def address(folded_site: Path) -> Iterator[str]:
    with serve(folded_site) as address:
        yield f"{address}en/{RECIPE}.html"


@pytest.fixture(params=[True, False], ids=["with scripts", "without scripts"])
def either(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page of a browser with scripts, and one without."""
    with browser.new_context(java_script_enabled=request.param) as context:
        yield context.new_page()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context(viewport=DESKTOP) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context.new_page()


def cells(page: Page) -> Locator:
    return page.locator("details.folded-cell")


def expect_open(page: Page, *summaries: str) -> None:
    """See that these cells are open, and no other."""
    opened = page.locator("details.folded-cell[open] > summary")
    expect(opened).to_have_text(list(summaries))


def test_cells_are_folded_and_open_by_their_summaries(either: Page, address: str) -> None:
    either.goto(address)
    expect(cells(either).locator("summary")).to_have_text(list(MARKS.values()))
    expect_open(either)
    expect(cells(either).locator("pre").first).to_be_hidden()
    either.locator("summary", has_text=SUMMARY).click()
    expect_open(either, SUMMARY)
    expect(cells(either).locator("pre").nth(1)).to_be_visible()


def test_what_a_folded_cell_put_out_is_in_sight(page: Page, address: str) -> None:
    page.goto(address)
    output = page.locator("details.folded-cell + .recorded-output").first
    expect(output).to_be_visible()


def test_a_link_opens_the_cell_that_it_leads_to(either: Page, address: str) -> None:
    either.goto(address)
    either.locator(f"p a[href='#{ANCHOR}']").click()
    expect_open(either, SUMMARY)
    expect(cells(either).locator("pre").nth(1)).to_be_in_viewport()


def test_an_address_opens_the_cell_that_it_names(either: Page, address: str) -> None:
    either.goto(f"{address}#{ANCHOR}")
    expect_open(either, SUMMARY)
    expect(cells(either).locator("pre").nth(1)).to_be_in_viewport()


def test_where_the_browser_opens_nothing_the_script_does(page: Page, address: str) -> None:
    page.goto(address)
    page.evaluate(
        """id => {
          const cell = document.getElementById(id).closest("details");
          history.replaceState(null, "", "#" + id); // a browser opens nothing for it
          dispatchEvent(new HashChangeEvent("hashchange"));
        }""",
        ANCHOR,
    )
    expect_open(page, SUMMARY)
    page.evaluate("document.querySelector('details.folded-cell[open]').open = false")
    page.evaluate("id => document.querySelector(`p a[href='#${id}']`).click()", ANCHOR)
    expect_open(page, SUMMARY)


def test_find_in_page_opens_a_cell(either: Page, address: str) -> None:
    """Text of an address is looked for by what also answers Ctrl+F, which no test can press."""
    either.goto(f"{address}#:~:text={WORD}")
    expect_open(either, SUMMARY)
    expect(cells(either).locator("pre").nth(1)).to_be_in_viewport()


def test_one_button_opens_and_folds_all(page: Page, address: str) -> None:
    page.goto(address)
    button = page.locator("button.unfold-all")
    expect(button).to_have_text("Unfold all")
    button.click()
    expect_open(page, *MARKS.values())
    expect(button).to_have_text("Fold all")
    cells(page).locator("summary").first.click()
    expect(button).to_have_text("Unfold all")  # one is closed
    button.click()
    expect_open(page, *MARKS.values())
    button.click()
    expect_open(page)


def test_without_scripts_there_is_no_button(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(address)
        expect(page.locator("button.unfold-all")).to_be_hidden()


def test_the_keyboard_reaches_and_opens_all(page: Page, address: str) -> None:
    page.goto(address)
    summary = cells(page).locator("summary").first
    page.locator("button.unfold-all").focus()
    for _ in range(20):
        page.keyboard.press("Tab")
        if summary.evaluate("each => each === document.activeElement"):
            break
    expect(summary).to_be_focused()
    assert summary.evaluate("each => getComputedStyle(each).outlineStyle") != "none"
    page.keyboard.press("Enter")
    expect_open(page, "The modules")
    page.keyboard.press("Tab")
    inside = page.evaluate("document.activeElement.closest('details')?.className")
    assert inside == "folded-cell"
    page.locator("button.unfold-all").focus()
    page.keyboard.press("Space")
    expect_open(page, *MARKS.values())


def test_paper_shows_the_code(either: Page, address: str, tmp_path: Path) -> None:
    either.goto(address)
    text = text_of(either.pdf())
    for summary in MARKS.values():
        assert squeeze(summary) in text
    for code in ("importfunctools", f"#Sizesfor{WORD}.", "defagree(calls,tolerance)"):
        assert code in text
    assert "MiB" not in text  # facts of the recording stay folded
    expect_open(either)  # and what was closed is closed again


def test_the_code_inside_can_be_copied(page: Page, address: str) -> None:
    page.goto(address)
    cells(page).locator("summary").nth(1).click()
    block = cells(page).nth(1).locator("div.highlight")
    block.hover()
    block.locator(".copy-button").click()
    expect(block.locator(".copy-button")).to_have_text("Copied")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"# Sizes for {WORD}.\nbench = Bench()")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_open_cells_are_accessible(browser: Browser, address: str, size: dict[str, int]) -> None:
    # While they are folded, it is for the walk through every page.
    told: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            told.append(message.text)

    with browser.new_context(viewport=size, reduced_motion="reduce") as context:
        page = context.new_page()
        page.on("console", note)
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto(address)
        page.locator("button.unfold-all").click()
        for theme, only in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
            page.emulate_media(color_scheme=theme)
            expect(page.locator("html")).to_have_attribute("data-theme", theme)
            expect_open(page, *MARKS.values())
            # the dark theme changes only colours
            results = Axe().run(page, options=AXE | only)
            assert results.violations_count == 0, results.generate_report()
            assert not page.evaluate(
                "document.querySelector('.bd-article').scrollWidth"
                " > document.querySelector('.bd-article').clientWidth"
            )
    assert told == []


def test_other_languages_have_their_own_words(page: Page, address: str) -> None:
    page.goto(address.replace("/en/", "/ko/"))
    expect(cells(page).locator("summary").nth(1)).to_have_text("기기별 크기")
    expect(cells(page).locator("summary").first).to_have_attribute("lang", "en")
    expect(page.locator("button.unfold-all")).to_have_text("코드 모두 펼치기")


def squeeze(text: str) -> str:
    return "".join(text.split())


def text_of(pdf: bytes) -> str:
    """Return all text of a PDF that Chromium wrote, without spaces.

    Text is numbers of glyphs, and each font has a table that leads from them to characters. Which
    font a text has is not looked up: it is read with each of them, one after the other.
    """
    streams = []
    for start in re.finditer(rb"stream\r?\n", pdf):
        try:
            streams.append(zlib.decompressobj().decompress(pdf[start.end() :]).decode("latin-1"))
        except zlib.error:
            continue  # a stream that is not packed: it is no text
    fonts = []
    for stream in (each for each in streams if "begincmap" in each):
        table = {}
        for first, last, to in re.findall(r"<(\w{4})> <(\w{4})> <(\w{4})>", stream):
            for glyph in range(int(first, 16), int(last, 16) + 1):
                table[glyph] = chr(int(to, 16) + glyph - int(first, 16))
        for glyph, to in re.findall(r"^<(\w{4})> <(\w{4})>$", stream, re.MULTILINE):
            table[int(glyph, 16)] = chr(int(to, 16))
        fonts.append(table)
    found = []
    for stream in streams:
        glyphs = "".join(re.findall(r"<([0-9A-Fa-f]+)>(?= Tj|[^<>]*\] TJ)", stream))
        numbers = [int(glyphs[at : at + 4], 16) for at in range(0, len(glyphs), 4)]
        found += ["".join(font.get(number, "?") for number in numbers) for font in fonts]
    return squeeze("\n".join(found))
