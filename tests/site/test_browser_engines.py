"""A reader's ways through the built site: by day in Chromium, at night in all engines."""

import json
import os
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.browsers import ENGINES

pytestmark = pytest.mark.slow
RECIPE = "recipes/where_time_goes.html"
FOCUSED = "document.activeElement"


BY_DAY, *OTHERS = ENGINES
PARAMETERS = [BY_DAY, *(pytest.param(each, marks=pytest.mark.nightly) for each in OTHERS)]


@pytest.fixture(scope="module", params=PARAMETERS)
def engine(request: pytest.FixtureRequest) -> Iterator[Any]:
    start, is_there, packages = ENGINES[request.param]
    if not is_there:
        lacks = f"no {request.param}; install it, for example: apt-get install {packages}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(lacks)
    with start() as engine:
        yield engine
        assert engine.errors() == []


def has_ring(engine: Any, of: str = FOCUSED) -> bool:
    style = f"getComputedStyle({of})"
    return engine.run(f"{style}.outlineStyle !== 'none' || {style}.boxShadow !== 'none'")


@pytest.mark.parametrize(
    ("code", "query"), [("en", "graph break"), ("ko", "컴파일"), ("zh_CN", "优化器")]
)
def test_results_come_while_one_types(engine: Any, address: str, code: str, query: str) -> None:
    engine.open(f"{address}{code}/using.html")
    engine.press("Control", "k")
    engine.until(f"{FOCUSED}.matches('#pst-search-dialog input')")
    for letter in query:
        engine.press(letter)
    shown = "document.querySelector('#pst-search-dialog .search-results')"
    engine.until(f"{shown}.dataset.query === '{query}' && {shown}.children.length > 2")
    engine.press("ArrowDown")
    engine.until(f"{FOCUSED}.matches('#pst-search-dialog .search-title')")
    assert has_ring(engine)
    engine.press("Enter")
    engine.until("document.readyState === 'complete' && !location.pathname.endsWith('/using.html')")
    engine.until("document.hasFocus()")  # or the window itself would take the keys
    engine.press("Control", "k")
    engine.until(f"{FOCUSED}.matches('input')")
    engine.press("Escape")
    engine.until("!document.querySelector('dialog[open]')")


def test_a_case_is_chosen_by_mouse_and_arrows(engine: Any, address: str) -> None:
    engine.open(f"{address}ko/recipes/varying_sizes.html")
    blocks = "[...document.querySelector('.code-cases').querySelectorAll('pre')]"
    shown = f"{blocks}.map((e) => e.checkVisibility())"
    first, *others = engine.run(shown)
    assert (first, any(others)) == (True, False)
    engine.click(".code-cases label:nth-of-type(2)")
    engine.until(f"{shown}[1]")
    engine.press("ArrowRight")
    engine.until(f"{shown}[2] && !{shown}[1]")
    assert has_ring(engine, f"{FOCUSED}.labels[0]")


def test_cells_are_unfolded_and_folded(engine: Any, address: str) -> None:
    engine.open(f"{address}zh_CN/{RECIPE}")
    cells = "[...document.querySelectorAll('.folded-cell')].map((e) => e.open)"
    count = len(engine.run(cells))
    for is_open in (True, False):
        engine.click("button.unfold-all")
        assert engine.run(cells) == count * [is_open]
    anchor = engine.run("document.querySelectorAll('.folded-cell')[1].querySelector('[id]').id")
    engine.open(f"{address}zh_CN/faq.html")
    engine.open(f"{address}zh_CN/{RECIPE}#{anchor}")
    engine.until(f"{cells}[1] && !{cells}[0]")


def test_the_fields_of_does_it_pay_take_numbers_from_the_keyboard(
    engine: Any, address: str
) -> None:
    engine.open(f"{address}en/index.html")
    fields = "document.querySelector('.pays-fields')"
    sentence = f"{fields}.querySelector('output').textContent"
    at_first = engine.run(sentence)
    engine.run(f"{fields}.querySelector('[name=milliseconds]').focus()")
    assert has_ring(engine)
    engine.press("Control", "a")
    engine.press("5")
    engine.until(f"{FOCUSED}.value === '5'")
    engine.until(f"{sentence} !== {json.dumps(at_first)}")
    assert engine.run(sentence) != engine.run(f"{fields}.dataset.never")  # a run of 50 s
    engine.press("Tab")
    engine.until(f"{FOCUSED}.name === 'calls'")
    assert has_ring(engine)
    engine.press("Control", "a")
    engine.press("2")
    engine.until(f"{sentence} === {fields}.dataset.never")


def test_language_and_colours_are_chosen_and_kept(engine: Any, address: str) -> None:
    engine.open(f"{address}en/{RECIPE}")
    engine.click("header .color-mode summary")
    engine.click("header .color-mode [data-mode=dark]")
    section = engine.run("document.querySelectorAll('article section section')[3].id")
    engine.open(f"{address}en/{RECIPE}#{section}")
    for control in ("summary", "[hreflang=ko]"):
        engine.click(f"header .language-switcher {control}")
    engine.until("document.documentElement.lang === 'ko'")
    assert engine.run("location.hash") == f"#{section}"
    assert engine.run("document.documentElement.dataset.theme") == "dark"
    colour = (
        "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number)"
    )
    assert sum(engine.run(colour)) < 150
    engine.click("header .color-mode summary")
    engine.click("header .color-mode [data-mode=auto]")
    assert not engine.run("localStorage.getItem('mode') === 'dark'")


def test_every_stop_of_the_keyboard_is_seen(engine: Any, address: str) -> None:
    engine.open(f"{address}en/{RECIPE}")
    for step in range(30):
        engine.press("Tab")
        drawn = f"({FOCUSED}.type === 'radio' ? {FOCUSED}.labels[0] : {FOCUSED})"
        html = engine.run(f"{drawn}.outerHTML.slice(0, 100)")
        assert step or "#main-content" in html
        assert not html.startswith("<body")
        assert engine.run(f"{drawn}.getBoundingClientRect().width > 0"), html
        assert has_ring(engine, drawn), html


def test_paper_has_every_word(engine: Any, address: str, tmp_path: Path) -> None:
    """A heading that is cut in two between pages, or a drawing over text, loses its words."""
    engine.open(f"{address}en/{RECIPE}")
    # The box of the answer looks like one; its heading is only for screen readers.
    titles = "article :is(h1, h2:not(.answer > h2), .folded-cell > summary, .chart-data > summary)"
    headings = engine.run(
        f"[...document.querySelectorAll('{titles}')].map((e) => e.firstChild.textContent)"
    )
    paper = engine.print()
    if paper is None:
        pytest.skip("WebKit's driver cannot print")
    if not shutil.which("pdftotext"):
        pytest.skip("no pdftotext; install it, for example: apt-get install poppler-utils")
    (tmp_path / "page.pdf").write_bytes(paper)
    subprocess.run(["pdftotext", "-layout", "page.pdf"], cwd=tmp_path, check=True)
    printed = unicodedata.normalize("NFKC", (tmp_path / "page.txt").read_text())  # no ligatures
    text = " ".join(printed.split())
    assert [each for each in headings if " ".join(each.split()) not in text] == []
