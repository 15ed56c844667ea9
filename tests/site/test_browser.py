"""The built site in a real browser: read, searched, downloaded from and used by keyboard."""

import re
import runpy
from collections.abc import Iterator
from itertools import pairwise, product
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from benchmarks.layout_shift import measure
from benchmarks.pages import measure_page
from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.project import load_project
from tests.helpers.browsers import wait_for
from tests.helpers.chromium import note_errors
from tests.helpers.gallery import ROOT
from tests.helpers.site_pages import LANGUAGES, by_language, by_recipe, by_recipe_and_language

DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
SIZES = {"desktop": DESKTOP, "phone": PHONE}
RECIPE = "recipes/compile_modes"
# WCAG 2.2 AA, and what axe counts as good practice; of these, the dark theme changes only colours.
AXE_RULES = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}
# Style sheets would be loaded again, at addresses that axe gets wrong.
AXE = {
    "resultTypes": ["violations"],
    "preload": False,
    "rules": {"label-content-name-mismatch": {"enabled": True}},  # which axe only tries out
}


# The theme's column of text scrolls by itself, so that the page would not show it.
SCROLLS_SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(
  ".bd-article-container, .bd-article")].some((each) => each.scrollWidth > each.clientWidth)"""

# Formulas of their own line begin near where the text does.
FORMULAS_FAR_OFF = """() => [...document.querySelectorAll("div.math > math")].some((each) => {
  const [formula, text] = [each, each.closest("section")].map((it) => it.getBoundingClientRect());
  return Math.abs(formula.left - text.left) > 48;
})"""


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport=DESKTOP) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        yield context


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def wait_for_layout(page: Page) -> None:
    """Wait until no part of a page waits for a moment in which nothing else is to do."""
    page.wait_for_function("() => typeof parts === 'undefined' || !parts.length")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))")


def looks() -> Iterator[Any]:
    """Yield languages, sizes, themes and which pages: by day one of each kind is looked at once."""
    english, korean = (each for each in LANGUAGES if each.code in ("en", "ko"))
    by_day = [f"{name}.html" for name in ("index", "faq", "results", RECIPE)]
    yield pytest.param(english, DESKTOP, "light", by_day, id="desktop-light")
    yield pytest.param(korean, PHONE, "dark", by_day, id="phone-dark")
    for language, (name, size), theme in product(LANGUAGES, SIZES.items(), ("light", "dark")):
        look = f"{name}-{theme}-{language.code}"
        every = ["*.html", "recipes/*.html"]
        yield pytest.param(language, size, theme, every, marks=pytest.mark.nightly, id=look)


@pytest.mark.parametrize(("language", "size", "theme", "which"), list(looks()))
def test_every_page_is_accessible_and_keeps_to_itself(
    browser: Browser,
    address: str,
    languages_site: Path,
    language: Language,
    size: dict[str, int],
    theme: str,
    which: list[str],
) -> None:
    folder = languages_site / language.code
    paths = [path for pattern in which for path in sorted(folder.glob(pattern))]
    with browser.new_context(viewport=size, color_scheme=theme) as context:
        page = context.new_page()

        def note_request(request: Request) -> None:
            if not request.url.startswith((address, "data:")):
                problems.append(f"{page.url}: asks another host: {request.url}")

        problems = note_errors(page)
        page.on("request", note_request)
        for path in paths:
            name = path.relative_to(languages_site).as_posix()
            page.goto(address + name)
            expect(page.locator("html")).to_have_attribute("data-theme", theme)
            wait_for_layout(page)
            if page.evaluate(SCROLLS_SIDEWAYS):
                problems.append(f"{name}: scrolls sideways")
            if page.evaluate(FORMULAS_FAR_OFF):
                problems.append(f"{name}: a formula stands far from the text")
            results = Axe().run(page, options=AXE | {"runOnly": AXE_RULES[theme]})
            for violation in results.response["violations"]:
                where = [str(node["target"]) for node in violation["nodes"]]
                problems.append(f"{name}: {violation['id']}: {len(where)}: {where[:3]}")
            page.wait_for_load_state("networkidle")  # whatever it asks for later is noted, too
    assert problems == []


def test_copy_gives_code_without_prompts_and_outputs(page: Page, address: str) -> None:
    page.goto(f"{address}ko/{RECIPE}.html")
    page.locator(".code-cases label").nth(1).click()
    block = page.locator("article div.highlight:has(> .copy-button)").nth(1)
    code = block.locator("pre").text_content()
    assert block.locator(".copy-button").evaluate("(e) => getComputedStyle(e).opacity") == "1"
    block.locator(".copy-button").click()
    expect(block.locator(".copy-button")).to_have_text(
        block.locator(".copy-button").get_attribute("data-done") or ""
    )
    assert page.evaluate("navigator.clipboard.readText()") == code
    assert page.locator(".recorded-output .copy-button").count() == 0
    page.evaluate(
        """() => {
          const pre = document.querySelectorAll("div.highlight:has(> .copy-button) pre")[1];
          pre.innerHTML = '<span class="gp">&gt;&gt;&gt; </span>x = 1\\n<span class="go">1</span>';
        }"""
    )
    block.locator(".copy-button").click()
    wait_for(lambda: page.evaluate("navigator.clipboard.readText()") == "x = 1\n")
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    button = page.locator(".copy-button:visible").first
    failed = button.get_attribute("data-failed")
    button.click(force=True)
    expect(button).to_have_text(failed)


def test_the_selected_sentence_is_in_the_form_of_a_better_translation(
    page: Page, address: str
) -> None:
    page.goto(f"{address}ko/faq.html")
    link = page.locator(".improve-translation a").first
    paragraph = page.locator("article p").first
    sentence = paragraph.inner_text().strip()
    assert "&sentence=" not in (link.get_attribute("href") or "")
    expect(page.locator(".improve-translation p").last).to_be_visible()  # says that one can select
    for choose in ("pointerdown", "keydown"):
        paragraph.select_text()
        link.dispatch_event(choose)
        known = parse_qs(urlsplit(link.get_attribute("href") or "").query)
        assert known["sentence"] == [sentence[:500]]
        assert known["language"] == ["한국어"]
        page.evaluate("getSelection().removeAllRanges()")
        link.dispatch_event(choose)
        assert "&sentence=" not in (link.get_attribute("href") or "")


@pytest.mark.parametrize(
    ("code", "size"), [pytest.param("zh_CN", DESKTOP, marks=pytest.mark.nightly), ("ko", PHONE)]
)
def test_all_is_reached_by_keyboard(
    page: Page, address: str, code: str, size: dict[str, int]
) -> None:
    """Walk through a page with Tab: each stop can be seen, and no control is left out."""
    page.set_viewport_size(size)
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{address}{code}/{RECIPE}.html")
    page.wait_for_load_state("networkidle")
    wanted = page.evaluate(
        """() => {
          const kinds = "a[href], button, summary, input, [tabindex='0']";
          const seen = [...document.querySelectorAll(kinds)]
            .filter((each) => each.checkVisibility({ visibilityProperty: true }))
            .filter((each) => each.type !== "radio" || each.checked);  // arrows lead to others
          seen.forEach((each, number) => (each.dataset.number = number));
          return seen.map((each) => each.outerHTML.slice(0, 120));
        }"""
    )
    reached = set()
    for step in range(len(wanted) + 20):
        page.keyboard.press("Tab")
        stop = page.evaluate(
            """() => {
              const stop = document.activeElement;
              const is_drawn_by_label = stop.matches("[type=radio], .claim-mark");
                  const drawn = is_drawn_by_label ? stop.labels[0] : stop;
              const box = drawn.getBoundingClientRect();
              const style = getComputedStyle(drawn);
              return {
                number: stop.dataset.number,
                html: stop.outerHTML.slice(0, 120),
                seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.right > 0
                  && box.top < innerHeight && box.left < innerWidth,
                marked: style.outlineStyle !== "none" || style.boxShadow !== "none",
              };
            }"""
        )
        if step == 0:
            assert "#main-content" in stop["html"]
        if stop["html"].startswith("<body"):
            break
        assert stop["seen"], stop
        assert stop["marked"], stop
        reached.add(stop["number"])
    assert [html for number, html in enumerate(wanted) if str(number) not in reached] == []


def test_motion_is_reduced_for_those_who_ask(page: Page, address: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{address}en/{RECIPE}.html")
    moving = page.evaluate(
        """() => [...document.querySelectorAll("*")].filter((each) => {
          const style = getComputedStyle(each);
          return style.animationName !== "none" || !/^(0s|none)/.test(style.transitionDuration)
            || style.scrollBehavior === "smooth";
        }).map((each) => each.outerHTML.slice(0, 80))"""
    )
    assert moving == []


def test_pages_work_from_a_folder(page: Page, languages_site: Path) -> None:
    problems = note_errors(page)
    folder, other = (languages_site / LANGUAGES[0].code).as_uri(), LANGUAGES[-1]
    page.goto(f"{folder}/{RECIPE}.html")
    assert page.locator("h1").evaluate("h1 => getComputedStyle(h1).fontWeight") == "700"
    assert page.locator(".copy-button").count() > 5
    page.locator("header .language-switcher summary").click()
    page.locator(f"header .language-switcher a[hreflang={other.tag}]").click()
    assert page.evaluate("document.documentElement.lang") == other.tag
    page.goto(f"{folder}/search.html?q=torch.compile")
    page.locator("article .search-title").first.click()
    expect(page.locator("h1")).to_be_visible()
    assert problems == []


@by_language
def test_a_wrong_address_is_answered_in_the_language_of_it(
    page: Page, address: str, language: Language, languages_site: Path
) -> None:
    problems = note_errors(page)
    # Only full paths lead anywhere from a wrong address: this host has the site's folder, too.
    folder = urlsplit(load_project(ROOT).config.recorded_gallery_site_url).path.strip("/")
    page.route(
        f"{address}{folder}/**",
        lambda route: route.continue_(url=route.request.url.replace(f"/{folder}/", "/")),
    )
    response = page.goto(f"{address}{folder}/{language.code}/no/such/page.html")
    assert response.status == 404
    sections = page.locator("section:visible")
    expect(sections).to_have_count(1)
    assert sections.get_attribute("lang") == language.tag
    assert page.evaluate("document.documentElement.lang") == language.tag
    assert [text for text in problems if "404" not in text] == []
    assert page.evaluate("getComputedStyle(document.body).maxWidth") != "none"
    for link in sections.locator("a").all():
        path = (link.get_attribute("href") or "").partition(f"/{language.code}/")[2]
        assert (languages_site / language.code / path).exists()


@pytest.mark.parametrize(
    ("wish", "code"), [("ko-KR", "ko"), ("zh-TW", "zh_CN"), ("en-GB", "en"), ("fr-FR", None)]
)
def test_the_first_page_leads_to_the_language_of_the_browser(
    browser: Browser, address: str, wish: str, code: str | None
) -> None:
    with browser.new_context(locale=wish) as context:
        page = context.new_page()
        page.goto(address)
        expect(page).to_have_url(f"{address}{code}/index.html" if code else address)
        if not code:  # a reader chooses
            assert Axe().run(page, options=AXE).violations_count == 0


def test_paper_is_light_and_nothing_is_cut_off(browser: Browser, address: str) -> None:
    with browser.new_context(color_scheme="dark", viewport=DESKTOP) as context:
        page = context.new_page()
        page.goto(f"{address}en/{RECIPE}.html")
        assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        page.set_viewport_size({"width": 700, "height": 900})
        page.emulate_media(media="print")
        light = page.evaluate(
            """() => [...document.querySelectorAll("article :is(p, li, td, th, h1, h2, pre span)")]
              .filter((each) => Math.min(...getComputedStyle(each).color.match(/\\d+/g)) > 190)
              .map((each) => each.outerHTML.slice(0, 80))"""
        )
        assert light == []
        expect(page.locator(".chart-data table").first).to_be_visible()
        cases = page.locator(".answer .code-cases input")
        assert cases.count() > 1
        expect(page.locator(".answer .code-cases pre:visible")).to_have_count(cases.count())
        folded, shown = (
            page.locator(each).first.evaluate("(e) => parseFloat(getComputedStyle(e).lineHeight)")
            for each in (".folded-cell pre", ".answer pre")
        )
        assert folded < 0.75 * shown  # plumbing takes little paper
        cut = page.evaluate(
            """() => [...document.querySelectorAll("article :is(table, pre)")]
              .filter((each) => each.getBoundingClientRect().right > innerWidth + 1
                || each.scrollWidth > each.clientWidth + 1 && each.tagName === "PRE")
              .map((each) => each.outerHTML.slice(0, 80))"""
        )
        assert cut == []


@by_recipe
def test_figures_are_read_on_a_phone_and_what_scrolls_says_so(
    page: Page, address: str, name: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}ko/recipes/{name}.html")
    sizes = page.locator("figure.chart :is(svg text, .bars span)").evaluate_all(
        """all => all.filter((each) => each.checkVisibility())
          .map((each) => parseFloat(getComputedStyle(each).fontSize)
            * (each.getScreenCTM?.().a ?? 1))"""
    )
    assert min(sizes) >= 12
    charts = page.locator("figure.chart svg:not(svg svg):visible").all()  # others are clipped
    assert charts
    for box in [each.bounding_box() for each in charts]:
        assert 0 <= box["x"] <= PHONE["width"] - box["width"]
    tables = "article :is(.recorded-html, .pst-scrollable-table-container)"
    wide = page.locator(f":is({tables})[role=region][tabindex='0'][aria-label]")
    page.evaluate(
        "document.querySelectorAll('article details').forEach((each) => (each.open = true))"
    )
    wait_for_layout(page)
    scrolling = "all => all.filter((each) => each.scrollWidth > each.clientWidth + 1).length"
    assert wide.count() == page.locator(tables).evaluate_all(scrolling)
    for named, least in ((wide, 3), (page.locator(".copy-button"), 4)):
        names = [each.get_attribute("aria-label") for each in named.all()]
        assert len(set(names)) == len(names) >= least
    # Code scrolls: a line that went on at column 0 would read as a statement of its own.
    code = page.locator("article .highlight:has(> .copy-button) > pre")
    wraps = "(e) => getComputedStyle(e).whiteSpace !== 'pre'"
    assert not code.evaluate_all(f"all => all.filter({wraps})")
    is_out_of_reach = "(e) => e.scrollWidth > e.clientWidth && e.tabIndex < 0"
    assert not code.evaluate_all(f"all => all.filter({is_out_of_reach})")
    bottom = "getBoundingClientRect().bottom"
    covers = f"(e) => e.getBoundingClientRect().top < e.previousElementSibling.{bottom} - 1"
    assert not page.locator(".copy-button:visible").evaluate_all(f"all => all.filter({covers})")


def test_a_phone_lays_a_page_out_after_it_is_drawn_and_finds_its_place_again(
    page: Page, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/recipes/compile_modes.html")
    assert page.evaluate("document.documentElement.matches('.arrived')")
    wait_for_layout(page)
    page.evaluate("document.getElementById('pitfalls').scrollIntoView()")
    page.evaluate("scrollBy(0, 700)")
    place = page.evaluate("[currentSection(), scrollY]")
    page.reload()
    assert page.evaluate("[currentSection(), scrollY]") == place


@pytest.mark.parametrize("name", ["memory", "token_generation"])
def test_an_address_of_a_section_leads_a_phone_to_it(page: Page, address: str, name: str) -> None:
    page.set_viewport_size(PHONE)
    recipe = f"{address}en/recipes/{name}.html"
    page.goto(recipe)
    anchors = page.locator("article section section[id]").evaluate_all(
        "all => all.map((e) => e.id)"
    )
    assert len(anchors) > 10
    far_off = {}
    for anchor in anchors:
        page.goto("about:blank")  # else the browser only scrolls the page that it has
        page.goto(f"{recipe}#{anchor}")
        page.wait_for_function("scrollY > 0")
        wait_for_layout(page)
        top = page.locator(f"[id='{anchor}']").evaluate("(e) => e.getBoundingClientRect().top")
        is_at_end = page.evaluate(
            "innerHeight + scrollY >= document.documentElement.scrollHeight - 1"
        )
        if not 0 <= top <= 80 and not is_at_end:
            far_off[anchor] = top
    assert far_off == {}


def test_a_recipe_leads_to_its_neighbours_and_is_marked_while_it_is_read(
    page: Page, address: str
) -> None:
    settings = runpy.run_path(str(ROOT / "conf.py"))
    recipes = [f"{address}ko/recipes/{name}.html" for name in settings["second_call_recipes"]]
    page.goto(recipes[0])
    marked = page.locator("#pst-page-toc-nav a[aria-current]")
    for _ in range(6):
        page.mouse.wheel(0, 900)
    page.evaluate("() => new Promise((done) => setTimeout(() => requestAnimationFrame(done), 200))")
    read = page.evaluate("currentSection()")
    expect(marked).to_have_attribute("href", f"#{read}")
    assert page.locator(".neighbours a").count() == 1
    for each in recipes[1:]:
        page.locator(".neighbours a.next").click()
        expect(page).to_have_url(each)
    assert page.locator(".neighbours a.next").count() == 0


@pytest.mark.parametrize("name", ["index", "recipes/where_time_goes", "results", "search"])
def test_nothing_moves_while_a_page_loads(browser: Browser, address: str, name: str) -> None:
    for width in (390, 1440):
        moved, what = measure(browser, f"{address}en/{name}.html", width, slow=False)
        assert moved < 0.02, (width, what)


@by_recipe_and_language
def test_a_page_begins_with_a_short_answer_and_a_chart(
    page: Page, browser: Browser, address: str, name: str, language: Language
) -> None:
    recipe = f"{language.code}/recipes/{name}"
    assert [begin.misses for begin in measure_page(browser, address, recipe)] == [[], []]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}{recipe}.html")
    page.locator("#pst-page-toc-nav a[href='#the-answer']").click()
    expect(page).to_have_url(re.compile("#the-answer$"))


def test_pages_work_where_nothing_can_be_stored(browser: Browser, address: str) -> None:
    with browser.new_context() as context:
        context.add_init_script(
            """Object.defineProperty(window, "localStorage", {
              configurable: true,
              get() { throw new DOMException("denied", "SecurityError"); },
            });"""
        )
        page = context.new_page()
        problems = note_errors(page)
        page.goto(f"{address}en/{RECIPE}.html")
        page.locator("header .search-button__button").first.click()
        expect(page.locator("#pst-search-dialog")).to_be_visible()
        assert problems == []


def test_pages_can_be_read_without_scripts(browser: Browser, address: str) -> None:
    with browser.new_context(java_script_enabled=False, viewport=DESKTOP) as context:
        page = context.new_page()
        page.goto(f"{address}ko/{RECIPE}.html")
        expect(page.locator(".color-mode").first).to_be_hidden()
        summary = page.locator("header .language-switcher summary")
        summary.click()
        page.locator("header .language-switcher a[hreflang=en]").click()
        expect(page).to_have_url(f"{address}en/{RECIPE}.html")
        page.set_viewport_size(PHONE)
        menu = page.locator(".bd-sidebar-primary")
        expect(menu.locator("a", has_text="Results")).to_be_visible()
        expect(menu.locator(".language-switcher summary")).to_be_visible()
        sections = page.locator("#pst-page-toc-nav a")
        expect(sections.first).to_have_attribute("href", "#the-answer")
        assert sections.count() > 3
        for link in sections.all():
            expect(link).to_be_visible()
        page.goto(f"{address}en/search.html")
        expect(page.locator("form.bd-search:visible")).to_have_count(0)
        page.locator("article noscript a, article p a").first.click()
        expect(page).to_have_url(f"{address}en/index.html")


@by_language
def test_a_tablet_has_the_menu_in_one_line_of_the_header(
    page: Page, address: str, language: Language
) -> None:
    page.set_viewport_size({"width": 800, "height": 900})
    page.goto(f"{address}{language.code}/{RECIPE}.html")
    expect(page.locator("header .primary-toggle")).to_be_hidden()
    expect(page.locator(".bd-sidebar-primary")).to_be_hidden()
    parts = page.locator(
        "header :is(.navbar-brand, .nav-link, .search-button-field, summary, .secondary-toggle)"
    )
    boxes = [part.bounding_box() for part in parts.all() if part.is_visible()]
    assert len(boxes) == 10  # brand, 5 pages, search, languages, colours, sections
    for left, right in pairwise(sorted(boxes, key=lambda box: box["x"])):
        assert left["x"] + left["width"] <= right["x"]
    middles = [box["y"] + box["height"] / 2 for box in boxes]
    assert max(middles) - min(middles) < 5
    page.locator("header .language-switcher summary").click()
    menu = page.locator("header .language-switcher ul").bounding_box()
    assert menu
    assert menu["x"] + menu["width"] <= 800


@pytest.mark.parametrize("toggle", ["primary-toggle", "secondary-toggle"])
def test_a_menu_over_a_page_is_closed_by_its_button(page: Page, address: str, toggle: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}ko/{RECIPE}.html")
    button = page.locator(f"header .{toggle}").first
    close = page.locator("dialog[open] .close-menu")
    button.click()
    box = close.bounding_box()
    assert box
    assert (box["width"], box["height"]) == pytest.approx((44, 44), abs=0.1)
    expect(close).to_have_attribute("aria-label", "닫기")
    close.click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    button.click()
    expect(close).to_be_focused()  # the first stop
    page.keyboard.press("Enter")
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(page.locator(".close-menu")).to_have_count(0)


@by_recipe
def test_code_stands_above_the_facts_and_all_ends_at_one_edge(
    page: Page, address: str, name: str
) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}en/recipes/{name}.html")
    edge = "(e) => e.getBoundingClientRect()"
    parts = (".verdict", "figure.chart", ".answer-code", ".facts")
    boxes = [page.locator(f".answer > {part}").evaluate(edge) for part in parts]
    for above, below in pairwise(boxes):
        assert 0 <= below["top"] - above["bottom"] < 20  # no dead area
        assert below["right"] == above["right"]
    tops = page.locator(".answer .code-cases > label").evaluate_all(
        "all => all.map((each) => Math.round(each.getBoundingClientRect().top))"
    )
    assert len(set(tops)) <= 1  # tabs in one line
    parts = "article :is(.highlight, table, figure.chart > *, .answer, .neighbours, .folded-cell)"
    ends = page.locator(f"{parts}:not(.answer *)").evaluate_all(
        """all => all.filter((each) => each.checkVisibility())
          .map((each) => Math.round(each.getBoundingClientRect().right))"""
    )
    assert len(ends) > 20
    widest = max(ends)
    assert widest == round(page.locator("section.answer").evaluate(edge)["right"])
    others = [end for end in ends if end != widest]
    assert not others, others  # nothing ends a little earlier


def test_code_that_scrolls_says_so(page: Page, address: str) -> None:
    """The shade at the right edge, or among forced colours a fade, ends where the code does."""
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/recipes/where_time_goes.html")
    code = page.locator(".answer pre").first
    assert code.evaluate("(e) => e.scrollWidth > e.clientWidth")
    background = "(e) => [getComputedStyle(e).backgroundImage, getComputedStyle(e).maskImage]"
    layers, mask = code.evaluate(background)
    assert layers.count("linear-gradient") == 4
    assert mask == "none"
    page.emulate_media(forced_colors="active")
    layers, mask = code.evaluate(background)
    assert "linear-gradient" not in layers
    assert "linear-gradient" in mask
    code.evaluate("(e) => { e.scrollLeft = e.scrollWidth; }")
    page.wait_for_function(
        "(e) => getComputedStyle(e).maskImage === 'none'", arg=code.element_handle()
    )
    page.emulate_media(forced_colors="none")


def test_a_phone_has_the_key_of_bars_and_what_ratios_are_of(page: Page, address: str) -> None:
    keys = []
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto(f"{address}en/index.html")
        keys.append(page.locator(".bars-legend li:visible").all_inner_texts())
        page.goto(f"{address}en/results.html")
        keys.append(page.locator(".bars-legend li:visible").all_inner_texts())
        keys.append(page.locator(".group-gain > span:visible").all_inner_texts())
        keys.append(page.locator(".legend-note:visible").all_inner_texts())
    assert all(keys)
    assert keys[:4] == keys[4:]
    assert "each row has its own scale" in keys[0]


def test_numbers_of_all_groups_stand_at_one_height(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}en/results.html")
    tops = page.locator(".group-gain strong").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().top)"
    )
    assert len(tops) > 3
    assert len(set(tops)) == 1


def test_folded_cases_stand_below_the_columns_of_the_others(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}en/results.html")
    fold = page.locator("details.more-cases").first
    fold.locator("summary").click()
    edges = "row => [...row.cells].map((each) => Math.round(each.getBoundingClientRect().left))"
    shown = page.locator("tbody.headlines > .headline").first.evaluate(edges)
    assert fold.locator(".headline").first.evaluate(edges) == shown


@pytest.mark.parametrize("name", ["serving", "recipes/cuda_graphs"])
def test_names_in_code_break_behind_their_parts_on_a_phone(
    page: Page, address: str, name: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/{name}.html")
    page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
    broken = page.locator("article :is(p, li) > code.literal .pre").evaluate_all(
        """all => all.filter((each) => each.checkVisibility() && each.getClientRects().length > 1)
          .map((each) => each.textContent)"""
    )
    # What has no dot and no underscore breaks behind a bracket or a hyphen
    assert not [name for name in broken if re.fullmatch(r"[\w.]+", name)]


@pytest.mark.parametrize(("code", "name"), [("en", "varying_sizes"), ("ko", "memory")])
def test_the_sign_of_a_link_to_a_heading_stays_inside_of_a_phone(
    page: Page, address: str, code: str, name: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}{code}/recipes/{name}.html")
    outside = page.locator("article a.headerlink:visible").evaluate_all(
        """all => all.filter((each) => each.getBoundingClientRect().right
          > each.parentElement.getBoundingClientRect().right + 0.5).map((e) => e.hash)"""
    )
    assert outside == []


LEFT = "all => all.map((each) => Math.round(each.getBoundingClientRect().left))"


def test_tables_begin_and_end_where_their_rules_do(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}en/recipes/cuda_graphs.html")
    insets = """all => all.map((table) => {
      const rule = table.tHead.rows[0].getBoundingClientRect();
      const titles = [...table.tHead.querySelectorAll("p")].map((e) => e.getBoundingClientRect());
      return [titles[0].left - rule.left, rule.right - titles.at(-1).right].map(Math.round);
    })"""
    words = page.locator("#does-this-apply-to-you table").evaluate_all(insets)
    figures = page.locator("table.measured-table:visible").evaluate_all(insets)
    assert words[0][0] == 0
    assert len(figures) > 3
    assert {end for _, end in figures} == {0}


def test_a_phone_shows_what_decides_and_keeps_names_in_sight(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/recipes/cuda_graphs.html")
    wait_for_layout(page)
    frames = page.locator(".pst-scrollable-table-container:has(> .measured-table)")
    frames.evaluate_all("all => all.forEach((each) => each.scrollIntoView())")
    box = "getBoundingClientRect()"
    seen = frames.evaluate_all(
        f"""all => all.map((frame) => [...frame.querySelectorAll("thead th")]
          .filter((each) => each.{box}.right <= frame.{box}.right + 1)
          .map((each) => each.textContent.trim()))"""
    )
    assert len(seen) > 4
    deciding = ["speed-up", "wall time", "first call", "break-even"]
    assert all(titles[:2] == deciding[:2] for titles in seen)
    assert sum(titles[:4] == deciding for titles in seen) > 3
    moved = frames.evaluate_all(
        f"""all => all.map((frame) => {{
          frame.scrollLeft = 150;
          const [name, caption] = [frame.querySelector("tbody th"), frame.querySelector("caption")];
          return [name.{box}.left, caption.{box}.left, caption.{box}.width - frame.clientWidth]
            .map((each) => Math.round(each));
        }})"""
    )
    assert {tuple(each) for each in moved} == {(16, 16, 0)}


def test_titles_of_neighbouring_columns_do_not_touch(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 820, "height": 900})
    page.goto(f"{address}en/recipes/compile_modes.html")
    gaps = page.locator("table.measured-table:visible").evaluate_all(
        """all => all.flatMap((table) => {
          const titles = [...table.tHead.rows[0].querySelectorAll("p")].map((each) => {
            const range = document.createRange();
            range.selectNodeContents(each);
            return range.getBoundingClientRect();
          });
          return titles.slice(1).map((each, index) => each.left - titles[index].right);
        })"""
    )
    assert len(gaps) > 20
    assert min(gaps) > 6


def test_code_in_the_answer_stands_out_from_its_box(page: Page, address: str) -> None:
    page.goto(f"{address}en/recipes/cuda_graphs.html")
    colour = "(e) => getComputedStyle(e).backgroundColor"
    code = page.locator(".answer > .verdict code").first.evaluate(colour)
    assert code != page.locator("section.answer").evaluate(colour)


def test_folded_cells_in_a_row_are_one_list(page: Page, address: str) -> None:
    page.goto(f"{address}en/recipes/cuda_graphs.html")
    gaps = page.locator(".folded-cell + .folded-cell").evaluate_all(
        """all => all.map((each) => each.getBoundingClientRect().top
          - each.previousElementSibling.getBoundingClientRect().bottom)"""
    )
    assert len(gaps) > 5
    assert set(gaps) == {0}


@pytest.mark.parametrize("width", [1440, 390])
def test_fields_of_what_pays_stand_below_each_other(page: Page, address: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{address}en/index.html")
    assert len(set(page.locator(".pays-fields input").evaluate_all(LEFT))) == 1


@pytest.mark.parametrize(("width", "height", "most"), [(1440, 900, 620), (390, 844, 844)])
def test_results_begin_on_the_first_screen_behind_all_groups(
    page: Page, address: str, width: int, height: int, most: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{address}en/results.html")
    gains = page.locator(".group-links li strong")
    assert gains.count() == page.locator(".headline-group").count()
    bar = page.locator(".headline .bars-bar").first.bounding_box()
    assert bar
    assert bar["y"] < most
    page.locator(".group-links a").last.click()
    wait_for_layout(page)
    group = page.locator(".headline-group").last
    top = group.locator("h2").evaluate("(e) => e.getBoundingClientRect().top")
    assert 0 < top < height / 2


def test_a_phone_meets_the_cases_and_the_first_box_of_the_checklist_first(
    page: Page, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/serving.html")
    for part in ("table.cases", ".checklist li > p, .checklist li"):
        box = page.locator(part).first.bounding_box()
        assert box
        assert box["y"] < PHONE["height"] - 100
    lists = page.locator("article section > ul")
    is_box = "(e) => getComputedStyle(e, '::before').borderTopStyle === 'solid'"
    assert all(item.evaluate(is_box) for item in lists.locator("> li").all())


def test_a_phone_meets_the_button_and_the_chart_first(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/index.html")
    for part in (".front-actions", "figure.hero .bars"):
        box = page.locator(part).bounding_box()
        assert box
        assert box["y"] + box["height"] < PHONE["height"]
    page.set_viewport_size({"width": 1440, "height": 900})
    hero, intro = (
        page.locator(part).first.bounding_box() for part in ("figure.hero", ".gains-line")
    )
    assert hero
    assert intro
    assert abs(hero["y"] - intro["y"]) < 10


def test_a_recipe_has_two_lines_between_title_and_answer_on_a_phone(
    page: Page, address: str
) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/recipes/cuda_graphs.html")
    head = page.locator(".recipe-head").bounding_box()
    assert head
    assert head["height"] < 60


def test_the_list_of_sections_shows_parts_of_the_one_that_is_read(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{address}en/recipes/cuda_graphs.html")
    parts = page.locator("#pst-page-toc-nav ul ul a")
    assert parts.count() > 4
    expect(parts.first).to_be_hidden()
    page.locator("#pst-page-toc-nav a[href='#pitfalls']").click()
    expect(parts.first).to_be_visible()
    page.set_viewport_size(PHONE)
    page.locator("header .secondary-toggle").first.click()
    expect(page.locator("dialog[open] .toc-entry ul a").first).to_be_visible()


def test_figures_of_a_result_stand_at_one_height_on_a_phone(page: Page, address: str) -> None:
    page.set_viewport_size(PHONE)
    page.goto(f"{address}en/results.html")
    tops = page.locator(".headline").first.evaluate(
        """(row) => [...row.querySelectorAll("td:nth-child(n + 3)")]
          .map((each) => Math.round(each.getBoundingClientRect().top))"""
    )
    assert len(tops) == 3
    assert len(set(tops)) == 1


def test_the_footer_begins_where_the_text_does(page: Page, address: str) -> None:
    page.set_viewport_size({"width": 820, "height": 900})
    page.goto(f"{address}en/index.html")
    assert len(set(page.locator("h1, .copyright").evaluate_all(LEFT))) == 1
    height = page.locator(".copyright").evaluate("(e) => e.getBoundingClientRect().height")
    assert height < 30  # one line
