"""Lighthouse for every kind of page: ``.venv/bin/python benchmarks/lighthouse.py``.

Needs Node.js, which fetches Lighthouse, and Chromium.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
from sphinx_recorded_gallery.languages import load_languages  # noqa: E402
from sphinx_recorded_gallery.recipes.find_recipes import find_recipes  # noqa: E402
from tests.helpers.chromium import find_chromium, serve  # noqa: E402

LIGHTHOUSE = "lighthouse@13.5.0"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
TARGETS = {"performance": 98, "accessibility": 100, "best-practices": 100, "seo": 100}
MOST = {"weight": 63, "blocking": 50}  # kB, ms


def main() -> int:
    """Measure, print the table; return 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--languages", nargs="+", help="codes; all published ones by default")
    parser.add_argument(
        "--pages",
        nargs="+",
        help="names; one of each kind and all recipes by default",
    )
    options = parser.parse_args()
    published = [each.code for each in load_languages(ROOT).values() if each.published]
    recipes = [f"recipes/{path.stem}" for path in find_recipes(ROOT / "recipes_source")]
    rows, missed = [], []
    with tempfile.TemporaryDirectory() as folder, socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
        found.close()
        site = f"http://127.0.0.1:{port}/"  # pages name their own address
        build = Path(folder, "build")
        command = [sys.executable, "-m", "sphinx_recorded_gallery", "html", "--build", str(build)]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"SITE_URL": site}, check=True)
        with serve(build / "html", port):
            for code in options.languages or published:
                for page in options.pages or ["index", *recipes, "results", "faq", "search"]:
                    runs = [measure(f"{site}{code}/{page}.html") for _ in range(options.runs)]
                    values = {key: median(run[key] for run in runs) for key in runs[0]}
                    rows.append((code, page, values))
                    print(code, page, {k: round(v, 1) for k, v in values.items()}, flush=True)
                    targets = TARGETS | ({"seo": 0} if page == "search" else {})  # not for robots
                    missed += [key for key, target in targets.items() if values[key] < target]
                    missed += [key for key, most in MOST.items() if values[key] > most]
    print("\n| Language | Page | Performance | Accessibility | Best practices | SEO | ", end="")
    print("Largest paint (s) | Blocking (ms) | Shift | Weight (kB) |")
    print("|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for code, page, values in rows:
        scores = " | ".join(f"{values[key]:.0f}" for key in CATEGORIES)
        print(
            f"| {code} | {page} | {scores} | {values['paint']:.1f} | {values['blocking']:.0f} | "
            f"{values['shift']:.3f} | {values['weight']:.0f} |"
        )
    return 1 if missed else 0


def measure(url: str) -> dict[str, float]:
    """Return scores from 0 to 100, times, and kilobytes sent, of one run as a phone."""
    command = ["npx", "--yes", LIGHTHOUSE, url, "--output=json", "--quiet"]
    command += [f"--only-categories={','.join(CATEGORIES)}"]
    command += ["--chrome-flags=--headless --no-sandbox --disable-gpu"]
    environment = os.environ | {"CHROME_PATH": find_chromium() or ""}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    report: dict[str, Any] = json.loads(done.stdout)
    audits = report["audits"]
    for name, audit in audits.items():
        if audit["score"] == 0 and audit["scoreDisplayMode"] == "binary":
            print(f"  {url}: {name}: {audit['title']}", file=sys.stderr)
    return {
        **{key: 100 * report["categories"][key]["score"] for key in CATEGORIES},
        "paint": audits["largest-contentful-paint"]["numericValue"] / 1000,
        "blocking": audits["total-blocking-time"]["numericValue"],
        "shift": audits["cumulative-layout-shift"]["numericValue"],
        "weight": audits["total-byte-weight"]["numericValue"] / 1000,
    }


if __name__ == "__main__":
    sys.exit(main())
