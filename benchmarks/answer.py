"""How far down a page its answer stands: ``.venv/bin/python benchmarks/answer.py [BUILD]``.

BUILD is a built site, ``_build/html`` by default. The answer ends where the first paragraph of the
answer box ends, the snippet where its code ends, that of the longest case. Where a page has no box,
it is the first paragraph with a figure or a claim, or the one with the words that ``--answer``
gives, and the first block of code. Needs Chromium.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from sphinx_recorded_gallery.recipes.find_recipes import find_recipes  # noqa: E402
from tests.helpers.chromium import launch, serve  # noqa: E402

SCREENS = {"desktop": (1440, 900), "phone": (390, 844)}
MOST_NUMBERS = 4  # of a paragraph that a reader in a hurry takes in
# What a reader sees without opening anything; outputs, buttons and lists of figures are no prose.
MEASURE = """(answer) => {
  const article = document.querySelector("article");
  const box = article.querySelector("section.answer");
  const inside = ".highlight, .recorded-output, .recipe-head, .chart, details, nav, fieldset";
  const bottom = (each) => each ? each.getBoundingClientRect().bottom + scrollY : null;
  const seen = (each) => each.checkVisibility({ visibilityProperty: true });
  const isAnswer = (p) => answer ? p.textContent.includes(answer)
                                 : p.querySelector(".measured, .claim");
  const blocks = [...article.querySelectorAll(".highlight pre")]
    .filter((each) => !each.closest(".recorded-output"));
  const lines = (each) => each.textContent.split("\\n").filter((line) => line.trim()).length;
  const sum = (found) => found.reduce((all, each) => all + lines(each), 0);
  const found = box?.querySelector("p")
    || [...article.querySelectorAll("p, li, td")].filter(seen).find(isAnswer);
  const end = bottom(found);
  const segmenter = new Intl.Segmenter(document.documentElement.lang, { granularity: "word" });
  const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
  let words = 0, before = 0;
  while (walker.nextNode()) {
    const text = walker.currentNode, parent = text.parentElement;
    if (parent.closest(inside) || !seen(parent)) continue;
    const count = [...segmenter.segment(text.data)].filter((part) => part.isWordLike).length;
    words += count;
    if (found && found.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_PRECEDING)
      before += count;
  }
  const visible = blocks.filter(seen);
  const cases = [...(box?.querySelectorAll("fieldset input") || [])].reverse();
  const ends = cases.map((each) => {
    each.checked = true;  // the first one in the end
    return bottom(each.parentElement);
  });
  const cells = (each) => each.closest(".highlight-Python");  // of the experiment
  return {
    height: document.documentElement.scrollHeight, answer: end, box: box !== null,
    snippet: ends.length ? Math.max(...ends)
      : bottom(box?.querySelector(".highlight pre") || visible[0]),
    first: ends.at(-1) ?? null,
    words, before, code: sum(visible.filter(cells)),
    folded: sum(blocks.filter((each) => !seen(each))),
    numbers: [...(box?.querySelectorAll("p") || [])]
      .map((each) => each.querySelectorAll(".measured").length).find((count) => count) || 0,
    wide: document.documentElement.scrollWidth > innerWidth,
  };
}"""


def main() -> int:
    """Measure, print the table; return 1 if a recipe's page misses a bar."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", nargs="?", type=Path, default=ROOT / "_build/html")
    parser.add_argument("--languages", nargs="+", default=["en"])
    parser.add_argument("--pages", nargs="+", help="such as faq; the recipes by default")
    parser.add_argument("--answer", help="words of the paragraph that answers")
    options = parser.parse_args()
    pages = options.pages or [f"recipes/{p.stem}" for p in find_recipes(ROOT / "recipes_source")]
    print("| Page | Screen | Height (screens) | Answer (screens) | Snippet (screens) | ", end="")
    print("Numbers | Words | Words before | Code lines | Folded | Misses |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---|")
    missed = False
    with serve(options.build) as site, launch() as browser:
        for page in (f"{code}/{page}" for code in options.languages for page in pages):
            for screen, (width, height) in SCREENS.items():
                context = browser.new_context(viewport={"width": width, "height": height})
                tab = context.new_page()
                if not tab.goto(f"{site}{page}.html", wait_until="load").ok:
                    parser.error(f"{options.build / page}.html is not there; build the site first")
                found = tab.evaluate(MEASURE, options.answer)
                context.close()
                misses = list_misses(screen, found)
                missed = missed or bool(misses)
                print(write_row(page, screen, found, misses), flush=True)
    return int(missed and not options.pages)


def list_misses(screen: str, found: dict[str, Any]) -> list[str]:
    """Return what of a page is not as recipes ought to be."""
    height = SCREENS[screen][1]
    most = {"answer": height, "first": height, "snippet": height * (2 if screen == "phone" else 1)}
    found = found | {"first": found["first"] or found["snippet"]}  # without cases there is one
    misses = [name for name in most if found[name] is None or found[name] > most[name]]
    misses += [] if found["box"] else ["no box"]
    misses += ["numbers"] if found["numbers"] > MOST_NUMBERS else []
    return misses + (["too wide"] if found["wide"] else [])


def write_row(page: str, screen: str, found: dict[str, Any], misses: list[str]) -> str:
    """Return a row of the table."""
    height = SCREENS[screen][1]
    places = [found["height"], found["answer"], found["snippet"]]
    screens = [f"{place / height:.1f}" if place is not None else "-" for place in places]
    counts = [str(found[name]) for name in ("numbers", "words", "before", "code", "folded")]
    return f"| {' | '.join([page, screen, *screens, *counts, ', '.join(misses) or '-'])} |"


if __name__ == "__main__":
    sys.exit(main())
