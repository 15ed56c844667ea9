"""Searches in three languages: ``.venv/bin/python benchmarks/search.py``; needs Chromium."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, Request

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
from chromium import launch, serve  # noqa: E402
from recipe_gallery.languages import Language, load_languages  # noqa: E402

QUERIES = Path(__file__).with_name("search_queries")
SHOWN = 10
# Sphinx's results: its summary comes with the last of them, and never if the search fails.
SPHINX = """async () => {
  const done = () => document.querySelector("#search-results .search-summary")?.innerText;
  for (let wait = 0; !done() && !window.failed && wait < 75; wait++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return [...document.querySelectorAll("#search-results ul.search > li > a")].map((a) => a.href);
}"""
PAGEFIND = """async ([folder, query]) => {
  const pagefind = await import(folder + "pagefind.js");
  const { results } = await pagefind.search(query);
  const data = await Promise.all(results.slice(0, 10).map((each) => each.data()));
  return data.map((each) => each.url);
}"""
OURS = """async ([root, query, language]) => {
  const search = await import(root + "_static/search.js");
  window.index ||= search.open(root + "pagefind/");
  return (await search.find(await window.index, query, language)).map((page) => page.url);
}"""
ENGINES = ("Sphinx", "Sphinx with modules", "Pagefind", "Pagefind as used here")


def main() -> None:
    """Build the site four times in each language, ask every query, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=Path, default=QUERIES, help="folder of query files")
    parser.add_argument("--missed", action="store_true", help="also list what was not found")
    options = parser.parse_args()
    languages = [each for each in load_languages(ROOT).values() if each.published]
    ranks: dict[tuple[str, str], list[tuple[str, int]]] = {}
    sizes: dict[tuple[str, str], tuple[int, int]] = {}
    with tempfile.TemporaryDirectory() as folder, launch() as browser:
        for language in languages:
            text = options.queries.joinpath(f"{language.code}.toml").read_text(encoding="utf-8")
            queries = tomllib.loads(text)["query"]
            for engine in ENGINES:
                out = Path(folder, language.code, engine.replace(" ", "-"))
                size = build(engine, language, out)
                with serve(out) as address, browser.new_context() as context:
                    page = context.new_page()
                    page.add_init_script("window.onerror = () => { window.failed = true }")
                    loaded = first_visit(page, engine, address, queries[0]["text"], language)
                    found = [ask(page, engine, address, q["text"], language) for q in queries]
                sizes[language.code, engine] = (size, loaded)
                for query, pages in zip(queries, found, strict=True):
                    rank = next((i for i, name in enumerate(pages, 1) if name in query["pages"]), 0)
                    ranks.setdefault((language.code, engine), []).append((query["kind"], rank))
                    if options.missed and not 0 < rank <= 3:
                        print(
                            f"{language.code}, {engine}: {query['text']!r} at {rank}: {pages[:3]}"
                        )
                print(
                    f"{language.code}, {engine}: {share(ranks[language.code, engine], 3)}",
                    flush=True,
                )
    print_tables(languages, ranks, sizes)


def build(engine: str, language: Language, out: Path) -> int:
    """Build the pages and the index of one engine; return the size of the index in bytes."""
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-b",
        "html",
        "-D",
        f"language={language.code}",
    ]
    if engine.startswith("Sphinx"):
        command += ["-D", "recipe_gallery_pagefind=0", "-D", "second_call_unused_assets="]
        command += ["-D", "html_theme=basic", "-D", "templates_path="]
    if engine == "Sphinx with modules":
        command += ["-D", "extensions=recipe_gallery,search_modules"]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parent)}
    subprocess.run(
        [*command, "-d", str(out) + "-doctrees", ".", str(out)],
        cwd=ROOT,
        env=environment,
        check=True,
        stderr=subprocess.DEVNULL,  # the simple theme knows not all settings
    )
    if engine.startswith("Sphinx"):
        return (out / "searchindex.js").stat().st_size
    if engine == "Pagefind":
        # pages as they are, in the language that they name, as the manual suggests
        shutil.rmtree(out / "pagefind")
        plain = [sys.executable, "-m", "pagefind", "--site", str(out), "--root-selector", "article"]
        plain += ["--glob", "{*,recipes/*}.html", "--keep-index-url", "--quiet"]
        subprocess.run(plain, check=True)
    files = [file for file in (out / "pagefind").rglob("*") if file.suffix.startswith(".pf_")]
    return sum(file.stat().st_size for file in files)


def first_visit(page: Page, engine: str, address: str, query: str, language: Language) -> int:
    """Return how many bytes the files of a first search have, the page itself left out."""
    loaded: list[int] = []

    def count(request: Request) -> None:
        if any(part in request.url for part in ("search", "language_data", "stemmer", "pagefind")):
            loaded.append(request.sizes()["responseBodySize"])

    page.on("requestfinished", count)
    page.goto(address + "index.html")
    ask(page, engine, address, query, language)
    page.wait_for_load_state("networkidle")
    page.remove_listener("requestfinished", count)
    return sum(loaded)


def ask(page: Page, engine: str, address: str, query: str, language: Language) -> list[str]:
    """Return the names of the first pages that an engine finds."""
    if engine.startswith("Sphinx"):
        page.goto(f"{address}search.html?{urlencode({'q': query})}")
        found = page.evaluate(SPHINX)
    elif engine == "Pagefind":
        found = page.evaluate(PAGEFIND, [address + "pagefind/", query])
    else:
        found = page.evaluate(OURS, [address, query, language.tag])
    names = []
    for url in found:
        name = url.removeprefix(address).lstrip("/").partition("#")[0].partition("?")[0]
        name = name.removesuffix(".html")
        names.append(name + "index" if name in ("", "recipes/") else name)
    return list(dict.fromkeys(names))[:SHOWN]


def share(ranks: list[tuple[str, int]], within: int) -> str:
    """Return how many queries have a right page among the first results."""
    return f"{sum(0 < rank <= within for _kind, rank in ranks) / len(ranks):.0%}"


def print_tables(
    languages: list[Language],
    ranks: dict[tuple[str, str], list[tuple[str, int]]],
    sizes: dict[tuple[str, str], tuple[int, int]],
) -> None:
    """Print what search.md shows."""
    print("\n| Language | Search | Queries | First | First three | First ten | Index (kB) |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for language in languages:
        for engine in ENGINES:
            found = ranks[language.code, engine]
            size = sizes[language.code, engine][0]
            print(
                f"| {language.name} | {engine} | {len(found)} | {share(found, 1)} | "
                f"{share(found, 3)} | {share(found, 10)} | {size / 1000:.0f} |"
            )
    print("\n| Language | Kind of query | Queries | " + " | ".join(ENGINES) + " |")
    print("|---|---|---:|" + "---:|" * len(ENGINES))
    for language in languages:
        for kind in dict.fromkeys(kind for kind, _rank in ranks[language.code, ENGINES[0]]):
            shares = []
            for engine in ENGINES:
                of_kind = [each for each in ranks[language.code, engine] if each[0] == kind]
                shares.append(share(of_kind, 3))
            print(f"| {language.name} | {kind} | {len(of_kind)} | {' | '.join(shares)} |")
    print("\n| Language | " + " | ".join(f"{each}, first search (kB)" for each in ENGINES) + " |")
    print("|---|" + "---:|" * len(ENGINES))
    for language in languages:
        loaded = [f"{sizes[language.code, engine][1] / 1000:.0f}" for engine in ENGINES]
        print(f"| {language.name} | {' | '.join(loaded)} |")


if __name__ == "__main__":
    main()
