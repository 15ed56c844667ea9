"""How a recipe's page begins: ``.venv/bin/python benchmarks/pages.py [BUILD]``.

BUILD is a built site, ``_build/html`` by default. For each page and screen the table tells where
the first chart ends, in pixels from the top, how many words verdict, answer box and page have, and
how many colours bars have. Code, names of tabs, what a chart draws, what the build remarks below it
and what is folded are no words.
It fails if a page misses what the constants ask for; words are counted in every language, and have
a limit in English, because other languages divide them in other ways. Needs Chromium.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from second_call.length_checks import MOST_WORDS_OF_ANSWER, MOST_WORDS_OF_VERDICT  # noqa: E402
from sphinx_recorded_gallery.recipes.find_recipes import find_recipes  # noqa: E402
from tests.helpers.chromium import launch, serve  # noqa: E402

SCREENS = {"desktop": (1440, 900), "phone": (390, 844)}
MOST_CHART = {"desktop": 900, "phone": 1200}  # pixels
MOST_VERDICT, MOST_BOX = MOST_WORDS_OF_VERDICT, MOST_WORDS_OF_ANSWER
MOST_PAGE = 1400  # words
MOST_COLOURS = 3
MEASURE = """() => {
  const box = document.querySelector("article section.answer");
  const drawing = document.querySelector("article figure.chart .bars");
  const segmenter = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" });
  const silent = ".highlight, .recorded-output, .recipe-head, .unfold-line, .code-cases > label,"
    + " legend, svg, .bars, .bars-key, .remarks, .answer > h2, details, nav, [popover]";
  const count = (part) => {
    let text = "";
    const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent.closest(silent) || !parent.checkVisibility({ visibilityProperty: true })) continue;
      // A name that may break behind its parts is one
      const isRest = parent.previousElementSibling?.localName === "wbr";
      text += (isRest ? "" : "\\n") + walker.currentNode.data;
    }
    return [...segmenter.segment(text)].filter((piece) => piece.isWordLike).length;
  };
  const bars = [...document.querySelectorAll("article .bars-bar rect.solid")];
  return {
    chart: drawing ? drawing.getBoundingClientRect().bottom + scrollY : null,
    verdict: box ? count(box.querySelector(".verdict")) : 0,
    box: box ? count(box) : 0,
    words: count(document.querySelector("article")),
    colours: new Set(bars.map((bar) => getComputedStyle(bar).fill)).size,
    right: document.documentElement.scrollWidth - innerWidth,
  };
}"""


@dataclass(frozen=True, kw_only=True)
class Beginning:
    """How a page begins on a screen."""

    page: str
    screen: str
    chart: float | None  # where the first one ends; none without a chart
    verdict: int
    box: int
    words: int
    colours: int
    right: float  # pixels that stand out of the screen

    @property
    def misses(self) -> list[str]:
        """What is not as it ought to be."""
        misses = []
        most_chart = MOST_CHART[self.screen]
        if self.chart is None or self.chart > most_chart:
            misses.append(f"first chart below {most_chart} px")
        if not self.verdict:
            misses.append("no verdict")
        if self.page.startswith("en/") and self.verdict > MOST_VERDICT:
            misses.append(f"verdict of more than {MOST_VERDICT} words")
        if self.page.startswith("en/") and self.box > MOST_BOX:
            misses.append(f"answer box of more than {MOST_BOX} words")
        if self.page.startswith("en/") and self.words > MOST_PAGE:
            misses.append(f"page of more than {MOST_PAGE} words")
        if self.colours > MOST_COLOURS:
            misses.append(f"more than {MOST_COLOURS} colours of bars")
        if self.right > 0:
            misses.append("wider than the screen")
        return misses


def measure_page(browser: Browser, site: str, page: str) -> Iterator[Beginning]:
    """Yield how a page begins on each screen."""
    for screen, (width, height) in SCREENS.items():
        context = browser.new_context(viewport={"width": width, "height": height})
        tab = context.new_page()
        tab.goto(f"{site}{page}.html", wait_until="load")
        facts = tab.evaluate(MEASURE)
        context.close()
        yield Beginning(page=page, screen=screen, **facts)


def main() -> int:
    """Measure, print the table; return 1 if a page misses a bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "_build/html")
    parser.add_argument("--languages", nargs="+", default=["en"])
    options = parser.parse_args()
    failed = False
    print("| Page | Screen | First chart ends (px) | Verdict (words) | Box (words) | ", end="")
    print("Page (words) | Colours | Misses |\n|---|---|---:|---:|---:|---:|---:|---|")
    with serve(options.build) as site, launch() as browser:
        for language in options.languages:
            for path in find_recipes(ROOT / "recipes_source"):
                page = f"{language}/recipes/{path.stem}"
                if not (options.build / f"{page}.html").exists():
                    continue  # it waits for its recording
                for beginning in measure_page(browser, site, page):
                    failed = failed or bool(beginning.misses)
                    print(write_row(beginning), flush=True)
    return int(failed)


def write_row(beginning: Beginning) -> str:
    """Return a row of the table."""
    chart = "-" if beginning.chart is None else f"{beginning.chart:.0f}"
    misses = ", ".join(beginning.misses) or "-"
    cells = [
        beginning.page,
        beginning.screen,
        chart,
        str(beginning.verdict),
        str(beginning.box),
        str(beginning.words),
        str(beginning.colours),
        misses,
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
