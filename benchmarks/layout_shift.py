"""How far pages move while they load: ``.venv/bin/python benchmarks/layout_shift.py [--write]``.

Opens one page of each kind in Chromium, in all published languages and at the widths of phones,
tablets and desktops, from a fast server and over a slow line, and asks the browser for its
cumulative layout shift (https://web.dev/articles/cls). Needs a built site: ``make html``.
"""

import argparse
import sys
from pathlib import Path

from playwright.sync_api import Browser

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from sphinx_recorded_gallery.languages import load_languages  # noqa: E402
from tests.helpers.chromium import launch, serve  # noqa: E402

PAGES = ("index", "recipes/index", "recipes/compiling_optimizer", "results", "faq", "search")
WIDTHS = (360, 390, 600, 720, 768, 1024, 1350, 1440)
MOST = 0.02
# Lighthouse's line of a phone: 1.6 Mbit/s, 150 ms
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 2e5, "uploadThroughput": 1e5}
SHIFT = """() => new Promise((done) => {
  let sum = 0, where = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (entry.hadRecentInput) continue;
      sum += entry.value;
      for (const { node } of entry.sources) {
        const element = node?.nodeType === 1 ? node : node?.parentElement;
        if (element) where.push(element.tagName.toLowerCase() + "." + element.className);
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done([sum, [...new Set(where)]]), 300);
})"""


def main() -> int:
    """Measure, print or write the table; return 1 if a page moves more than it may."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, default=ROOT / "_build/html")
    parser.add_argument("--pages", nargs="+", default=PAGES)
    parser.add_argument("--widths", nargs="+", type=int, default=WIDTHS)
    parser.add_argument("--languages", nargs="+", help="codes; all published ones by default")
    parser.add_argument("--write", action="store_true", help="write layout_shift.md")
    options = parser.parse_args()
    published = [each.code for each in load_languages(ROOT).values() if each.published]
    worst: dict[tuple[str, bool], tuple[float, str]] = {}
    loads = 0
    with launch() as browser, serve(options.site) as site:
        for slow in (False, True):
            for code in options.languages or published:
                for page in options.pages:
                    for width in options.widths:
                        found, where = measure(browser, f"{site}{code}/{page}.html", width, slow)
                        loads += 1
                        told = f"{code}, {width} px: {', '.join(where[:3])}"
                        worst[page, slow] = max(worst.get((page, slow), (0.0, "")), (found, told))
                        if found > MOST:
                            line = "slow" if slow else "fast"
                            print(f"{found:.3f} {page} {line} {told}", flush=True)
    text = write_table(worst, loads, options)
    print(text)
    if options.write:
        Path(__file__).with_suffix(".md").write_text(text, encoding="utf-8")
    return max(found for found, _told in worst.values()) > MOST


def measure(browser: Browser, address: str, width: int, slow: bool) -> tuple[float, list[str]]:
    """Return the layout shift of a page's first visit, and what moved."""
    context = browser.new_context(viewport={"width": width, "height": 900 if width > 800 else 844})
    page = context.new_page()
    if slow:
        context.new_cdp_session(page).send("Network.emulateNetworkConditions", SLOW)
    page.goto(address, wait_until="load")
    found, where = page.evaluate(SHIFT)
    context.close()
    return found, where


def write_table(
    worst: dict[tuple[str, bool], tuple[float, str]], loads: int, options: argparse.Namespace
) -> str:
    """Return the results as a document."""
    lines = [
        "# How far pages move while they load",
        "",
        "Written by `benchmarks/layout_shift.py`: the largest cumulative layout shift of a first",
        f"visit in Chromium, of {loads} loads: {len(options.pages)} pages, all languages, windows",
        f"of {', '.join(map(str, options.widths))} pixels. Above 0.1 a page is said to need work;",
        f"here {MOST} is the most.",
        "",
        "| Page | Fast server | 1.6 Mbit/s, 150 ms |",
        "|---|---:|---:|",
    ]
    for page in options.pages:
        lines.append(f"| {page} | {worst[page, False][0]:.3f} | {worst[page, True][0]:.3f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
