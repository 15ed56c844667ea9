"""What readers see who search: ``.venv/bin/python benchmarks/search.py``; needs Chromium.

Each query is typed into the field of the search page, and the results are read from the page.
"""

import argparse
import statistics
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from sphinx_recorded_gallery.commands.site import build_site  # noqa: E402
from sphinx_recorded_gallery.languages import Language, load_languages  # noqa: E402
from sphinx_recorded_gallery.project import load_project  # noqa: E402
from tests.helpers.chromium import launch, serve  # noqa: E402

QUERIES = Path(__file__).with_name("search_queries")
SETS = (
    "held_out",
    "fresh",
    "fresh_2",
    "fresh_3",
    "fresh_4",
    "new_recipes",
    "cuda_graphs",
    "fresh_5",
    "problems",
    "problems_2",
    "problems_3",
    "problems_4",
    "problems_5",
    "problems_6",
    "own_pages",
    "memory_and_saved_models",
)
CLEAR = """() => {
  document.querySelector("article .search-status").textContent = "";
  document.querySelector("article .search-results, #search-results").replaceChildren();
}"""
# Something is told, and it is not that the search goes on.
DRAWN = """searching => {
  const told = document.querySelector("article .search-status").textContent;
  return told && told !== searching;
}"""
RESULTS = "article :is(.search-results, #search-results) > li"
# Bytes of the scripts and the index of the search, packed
LOADED = """() => performance.getEntriesByType("resource")
  .filter(({ name }) => /search-index|recipe_(search|rank)/.test(name))
  .reduce((all, each) => all + each.encodedBodySize, 0)"""
LINKS = 'all => all.map((each) => [...each.querySelectorAll("a")].map((link) => link.href))'


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What was drawn for a query."""

    kind: str
    text: str
    rank: int  # place of the first right result; 0: it is not there
    straight: bool  # the title of one of the first three leads there itself
    pages: tuple[str, ...]
    sections: int  # results among the first three that lead to a section
    right_section: bool | None  # the first three lead to the one that answers; None: no such one
    milliseconds: float


@dataclass(kw_only=True)
class Asked:
    """All queries of a set in one language."""

    language: Language
    answers: list[Answer] = field(default_factory=list)
    loaded: int = 0  # bytes of the first search, packed, without the page
    problems: list[str] = field(default_factory=list)

    def share(self, within: int, kind: str = "") -> str:
        """Return how many queries have a right one among the first results."""
        ranks = [each.rank for each in self.answers if kind in ("", each.kind)]
        return f"{sum(0 < rank <= within for rank in ranks) / len(ranks):.0%}"


def main() -> None:
    """Ask the queries of each set in each language; print the tables of search.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", type=Path, help="a built site; without it one is built")
    parser.add_argument("--queries", type=Path, nargs="*", help="folders of query files")
    parser.add_argument("--missed", action="store_true", help="also list what was not found")
    options = parser.parse_args()
    languages = [each for each in load_languages(ROOT).values() if each.published]
    with tempfile.TemporaryDirectory() as folder:
        site = options.site
        if not site:
            assert build_site(load_project(ROOT), Path(folder), languages, ["-q"])
            site = Path(folder, "html")
        with launch() as browser, serve(site) as address:
            for queries in options.queries or [QUERIES, *(QUERIES / name for name in SETS)]:
                asked = []
                for language in languages:
                    with browser.new_context() as context:
                        text = (queries / f"{language.code}.toml").read_text(encoding="utf-8")
                        entries = tomllib.loads(text)["query"]
                        asked.append(ask_all(context.new_page(), address, language, entries))
                print(f"\n{queries.name}\n")
                print_tables(asked)
                if options.missed:
                    print_missed(asked)


def ask_all(
    page: Page, address: str, language: Language, entries: list[dict[str, str | list[str]]]
) -> Asked:
    """Type all queries into the page of the search."""
    asked = Asked(language=language)
    root = f"{address}{language.code}/"
    page.on("pageerror", lambda error: asked.problems.append(str(error)))
    page.on("console", lambda message: asked.problems.append(message.text))
    page.goto(f"{root}search.html")
    page.wait_for_load_state("networkidle")

    for number, entry in enumerate(entries):
        asked.answers.append(ask(page, root, entry))
        if not number:
            asked.loaded = page.evaluate(LOADED)
    return asked


def ask(page: Page, root: str, entry: dict[str, str | list[str]]) -> Answer:
    """Type one query; read what is drawn."""
    query = str(entry["text"])
    page.evaluate(CLEAR)
    box = page.locator("article input[name=q]")
    box.fill("")
    began = time.perf_counter()
    box.fill(query)
    box.press("Enter")
    page.wait_for_function(DRAWN, arg=searching(page), polling=5)
    milliseconds = 1000 * (time.perf_counter() - began)
    drawn = [
        [place_of(link.removeprefix(root)) for link in each]
        for each in page.locator(RESULTS).evaluate_all(LINKS)
    ]
    right = {*entry.get("accept", entry.get("pages", []))}
    places = [place for place, all_of in enumerate(drawn, 1) if any(is_right(right, *all_of))]
    wanted = entry.get("section")
    return Answer(
        kind=str(entry["kind"]),
        text=query,
        rank=places[0] if places else 0,
        straight=any(is_right(right, *(first for first, *_others in drawn[:3]))),
        pages=tuple(first for first, *_others in drawn),
        sections=sum(not first.endswith("#") for first, *_others in drawn[:3]),
        right_section=any(wanted in each for each in drawn[:3]) if wanted else None,
        milliseconds=milliseconds,
    )


def place_of(address: str) -> str:
    """Return a place as query files name it: ``faq#is-it-worth-it``, ``faq#`` for its top."""
    page, _, section = address.partition("#")
    page = page.removesuffix(".html")
    return f"{page if page and not page.endswith('/') else f'{page}index'}#{section}"


def is_right(right: set[str], *places: str) -> Iterator[bool]:
    """Tell of places whether an answer names them, or their page as a whole."""
    return (place in right or place.partition("#")[0] in right for place in places)


def searching(page: Page) -> str:
    """Return what the page says while it searches."""
    return page.evaluate(
        """() => {
          const form = document.querySelector("article form.recipe-search");
          return form ? JSON.parse(form.dataset.labels).searching
            : document.getElementById("search-status").dataset.searching;
        }"""
    )


def print_tables(asked: list[Asked]) -> None:
    """Print what was found, how fast, and with how many bytes."""
    print(
        "| Language | Queries | First | First three | Straight | To sections | Right section | ms "
        "| kB |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for each in asked:
        shown = sum(min(len(answer.pages), 3) for answer in each.answers)
        sections = sum(answer.sections for answer in each.answers) / max(shown, 1)
        straight = sum(answer.straight for answer in each.answers) / len(each.answers)
        named = [one.right_section for one in each.answers if one.right_section is not None]
        right = f"{sum(named)} of {len(named)}" if named else ""
        taken = statistics.median(answer.milliseconds for answer in each.answers)
        print(
            f"| {each.language.name} | {len(each.answers)} | {each.share(1)} | {each.share(3)} | "
            f"{straight:.0%} | {sections:.0%} | {right} | {taken:.0f} | {each.loaded / 1000:.0f} |"
        )
    print("\n| Language | Kind of query | Queries | First three |")
    print("|---|---|---:|---:|")
    for each in asked:
        counts: dict[str, int] = defaultdict(int)
        for answer in each.answers:
            counts[answer.kind] += 1
        for kind, number in counts.items():
            print(f"| {each.language.name} | {kind} | {number} | {each.share(3, kind)} |")


def print_missed(asked: list[Asked]) -> None:
    """Print the queries without a right page among the first three, and what the console said."""
    for each in asked:
        for answer in each.answers:
            if not 0 < answer.rank <= 3:
                where = answer.rank or "-"
                print(f"{each.language.code}: {answer.text!r} at {where}: {answer.pages[:4]}")
        for problem in dict.fromkeys(each.problems):
            print(f"{each.language.code}: console: {problem}")


if __name__ == "__main__":
    main()
