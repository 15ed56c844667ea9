"""Seconds from a saved catalog to the new page: ``.venv/bin/python benchmarks/live.py``."""

import argparse
import json
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from statistics import median

import polib
from languages import make_languages_site
from replay import ROOT, spread

sys.path.insert(0, str(ROOT))
from sphinx_recorded_gallery.languages import load_languages
from sphinx_recorded_gallery.live.server import serve
from sphinx_recorded_gallery.live.watch_and_rebuild import Live
from sphinx_recorded_gallery.project import load_project

TARGETS = {3: 2.0, 100: 4.0}  # seconds
LANGUAGE = "ko"


def main() -> int:
    """Measure, print the table; return 1 if the median of a size is above its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="compiling_optimizer", help="the one to copy")
    parser.add_argument("--recipes", type=int, nargs="+", default=list(TARGETS))
    parser.add_argument("--edits", type=int, default=7, help="the first one is not counted")
    options = parser.parse_args()
    seconds = {count: measure(options.recipe, count, options.edits) for count in options.recipes}
    print()
    print("| Recipes | Edit to new page (s) | Target (s) |")
    print("|---:|---:|---:|")
    for count, values in seconds.items():
        print(f"| {count} | {spread(values)} | {TARGETS.get(count, '-')} |")
    return int(any(median(values) > TARGETS.get(n, 60) for n, values in seconds.items()))


def measure(recipe: str, count: int, edits: int) -> list[float]:
    """Serve a site, edit a sentence again and again; return the seconds until it is on the page."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder, "site")
        make_languages_site(site, recipe, count)
        live = Live(load_project(site), site / "_build", load_languages(site)[LANGUAGE])
        server = serve(live, 0)
        address = f"http://127.0.0.1:{server.server_address[1]}"
        stop = threading.Event()
        threads = [
            threading.Thread(target=server.serve_forever, daemon=True),
            threading.Thread(target=live.watch, args=(stop,), daemon=True),
        ]
        for thread in threads:
            thread.start()
        while not live.state.build:
            time.sleep(0.1)
        catalog = next(
            (site / "locale" / LANGUAGE / "LC_MESSAGES" / "recipes").glob(f"{recipe}_*.po")
        )
        page = f"{address}/{LANGUAGE}/recipes/{catalog.stem}.html"
        with urllib.request.urlopen(page) as answer:
            before = answer.read().decode()
        seconds = []
        for number in range(edits):
            word, seen = f"끝{number}", live.state.build
            edit(catalog, before, word)
            began = time.perf_counter()
            while live.state.build == seen:
                with urllib.request.urlopen(f"{address}/live-state?seen={seen}") as answer:
                    problems = json.load(answer)["problems"]
            with urllib.request.urlopen(page) as answer:
                shown = word in answer.read().decode()
            seconds.append(time.perf_counter() - began)
            if not shown:
                raise SystemExit(f"the edit is not on the page: {problems}")
            print(f"{count:>3} recipes, edit {number}: {seconds[-1]:.2f} s", flush=True)
            time.sleep(0.5)
        stop.set()
        server.shutdown()
    return seconds[1:]


def edit(path: Path, page: str, word: str) -> None:
    """Change the end of a long paragraph of a page, as a translator does."""
    catalog = polib.pofile(str(path))
    longs = (entry for entry in catalog if len(entry.msgid) > 200)
    paragraph = next(entry for entry in longs if entry.msgstr[:30] in page)
    paragraph.msgstr = f"{paragraph.msgstr.split(' 끝')[0]} {word}"
    catalog.save()


if __name__ == "__main__":
    sys.exit(main())
