"""Three languages built beside one: ``.venv/bin/python benchmarks/languages.py``."""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import polib
from build_command import build_command
from replay import ROOT, make_site, spread

TARGETS = {"cold": 2.2, "unchanged": 2.0}  # times as long as one language may take
LOCALE = ROOT / "locale"
SETTINGS = f"""
import sys

sys.path.insert(0, {str(Path(__file__).parent)!r})
extensions = ["sphinx_recorded_gallery", "stand_ins"]
recorded_gallery_site_url = "https://example.org/site/"
html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
exclude_patterns = ["recipes_source", "locale", "_build"]
locale_dirs = ["locale"]
gettext_compact = False
sphinx_gallery_conf = {{"examples_dirs": "recipes_source", "gallery_dirs": "recipes"}}
"""
# What is built, the languages named on the command line; a message is edited in the second one.
ARMS = {"one": ["en"], "one, translated": ["ko"], "three": ["en", "ko", "zh_CN"]}
BUILDS = ("cold", "unchanged", "one message edited")

Times = dict[tuple[int, str, str], list[float]]  # by recipes, build and arm


def main() -> int:
    """Measure, print the table; return 1 if three languages take longer than the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="compiling_optimizer", help="the one to copy")
    parser.add_argument("--recipes", type=int, nargs="+", default=[3, 100])
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        for arm in ARMS:  # the first build compiles modules to bytecode; it is not counted
            measure(Path(folder, "warm-up"), options.recipe, 1, arm)
        for count in options.recipes:
            for repetition in range(1, options.repetitions + 1):
                for arm in ARMS:
                    seconds = measure(Path(folder, "site"), options.recipe, count, arm)
                    for build, value in zip(BUILDS, seconds, strict=True):
                        times.setdefault((count, build, arm), []).append(value)
                    shown = ", ".join(f"{value:.2f} s" for value in seconds)
                    print(
                        f"{count:>3} recipes, repetition {repetition}, {arm}: {shown}", flush=True
                    )
    print()
    print("\n".join(format_table(times)))
    too_long = [
        key
        for key in times
        if key[2] == "three" and ratio(times, *key[:2]) > TARGETS.get(key[1], float("inf"))
    ]
    return int(bool(too_long))


def measure(site: Path, recipe: str, count: int, arm: str) -> list[float]:
    """Return the seconds of a cold build, of one more, and of one after an edited message."""
    make_languages_site(site, recipe, count)
    seconds = [build(site, arm), build(site, arm)]
    path = next((site / "locale" / "ko" / "LC_MESSAGES" / "recipes").glob(f"{recipe}_*.po"))
    catalog = polib.pofile(str(path))
    sentence = next(entry for entry in catalog if len(entry.msgid) > 200)
    sentence.msgstr += " 끝."
    catalog.save()
    seconds.append(build(site, arm))
    pages = len(list(site.glob(f"_build/html/*/recipes/{recipe}_*.html")))
    if pages != count * len(ARMS[arm]):
        raise SystemExit(f"{arm}: {pages} pages of {count} recipes; the times mean nothing")
    shutil.rmtree(site)
    return seconds


def make_languages_site(site: Path, recipe: str, count: int) -> None:
    """Write a site with a recipe under many names, each with its catalogs."""
    make_site(site, recipe, count, "replay")
    (site / "conf.py").write_text(SETTINGS, encoding="utf-8")
    shutil.copyfile(ROOT / "languages.toml", site / "languages.toml")
    for language in ("ko", "zh_CN"):
        # Stubs stand in for other pages; so do catalogs without messages.
        for page in site.rglob("*.rst"):
            if page.name != "GALLERY_HEADER.rst":
                stub = site / "locale" / language / "LC_MESSAGES" / page.relative_to(site)
                stub.parent.mkdir(parents=True, exist_ok=True)
                write_stub(stub.with_suffix(".po"), language)
        write_stub(site / "locale" / language / "LC_MESSAGES" / "recipes" / "index.po", language)
        folder = site / "locale" / language / "LC_MESSAGES" / "recipes"
        folder.mkdir(parents=True, exist_ok=True)
        labels = Path(language, "LC_MESSAGES", "sphinx.po")  # those of the engine ship with it
        shutil.copyfile(LOCALE / labels, site / "locale" / labels)
        for path in (site / "recipes_source").glob("*.py"):
            catalog = LOCALE / language / "LC_MESSAGES" / "recipes" / f"{recipe}.po"
            shutil.copyfile(catalog, folder / f"{path.stem}.po")


def write_stub(path: Path, language: str) -> None:
    """Write a catalog without messages."""
    catalog = polib.POFile()
    catalog.metadata = {"Language": language, "Content-Type": "text/plain; charset=UTF-8"}
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog.save(str(path))


def build(site: Path, arm: str) -> float:
    """Return the seconds of `make html`; stub pages without catalogs are warned of."""
    command = build_command(ARMS[arm])
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    began = time.perf_counter()
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return seconds


def ratio(times: Times, count: int, build: str) -> float:
    """Return how many times as long as one language three take, by the medians.

    Where a message is edited the one language is the one it is edited in.
    """
    one = "one, translated" if build == BUILDS[2] else "one"
    return median(times[count, build, "three"]) / median(times[count, build, one])


def format_table(times: Times) -> list[str]:
    """Return the lines of a Markdown table, one row per size and build."""
    lines = [
        "| Recipes | Build | English (s) | Korean (s) | All three (s) | Three / one |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for count, build_, arm in times:
        if arm == "one":
            cells = [spread(times[count, build_, each]) for each in ARMS]
            cells.append(f"{ratio(times, count, build_):.2f}")
            lines.append(f"| {count} | {build_} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
