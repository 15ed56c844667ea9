"""Compare build times with stock Sphinx-Gallery: ``.venv/bin/python benchmarks/replay.py``."""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from statistics import median

import nbformat

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recipe_gallery.recipes.outputs.hashes import seal  # noqa: E402

RECIPES = ROOT / "recipes_source"
RECORDINGS = ROOT / "recordings"
TARGET = 1.15  # replaying may take at most this many times as long

# Both sites share everything but the extension; math stays with Sphinx's own renderer, because
# stock Sphinx-Gallery brings none. `plot_gallery` is off in both: neither runs a recipe.
CONF = """
extensions = ["{extension}"]
html_baseurl = "https://example.org/site/"
html_theme = "pydata_sphinx_theme"
exclude_patterns = ["recipes_source", "out"]
sphinx_gallery_conf = {{
    "examples_dirs": "recipes_source",
    "gallery_dirs": "recipes",
    "plot_gallery": 0,
}}
"""
EXTENSIONS = {"stock": "sphinx_gallery.gen_gallery", "replay": "recipe_gallery"}
BUILDS = ("cold", "unchanged")
_LINKED_PAGE = re.compile(r":doc:`(?:[^`<]*<)?([^`>]+)>?`")


@dataclass(frozen=True)
class Cost:
    """What one build took, in seconds; other programs lengthen the wall time far more than CPU."""

    wall: float
    cpu: float


Costs = dict[tuple[int, str, str], list[Cost]]  # by copies, build and kind of site


def main() -> int:
    """Measure, print the table; return 1 if replaying takes longer than the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="compiling_optimizer", help="the one to copy")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 30, 100])
    parser.add_argument("--repetitions", type=int, default=3, help="of each build")
    options = parser.parse_args()
    if not (RECORDINGS / f"{options.recipe}.ipynb").is_file():
        parser.error(f"no recording of {options.recipe}; run: make record RECIPES={options.recipe}")
    costs = measure(options.recipe, options.copies, options.repetitions)
    print()
    print("\n".join(format_table(costs)))
    return int(any(ratio(costs, copies, build, "wall") > TARGET for copies, build, _ in costs))


def measure(recipe: str, counts: Iterable[int], repetitions: int) -> Costs:
    """Build sites of all sizes in turns, stock first; return what every build took."""
    costs: Costs = {}
    with tempfile.TemporaryDirectory() as folder:
        # The first build of a kind compiles modules to bytecode; it is not counted.
        for kind in EXTENSIONS:
            build_twice(Path(folder, "warm-up"), recipe, 1, kind)
        for copies in counts:
            for repetition in range(1, repetitions + 1):
                for kind in EXTENSIONS:
                    pair = build_twice(Path(folder, "site"), recipe, copies, kind)
                    for build, cost in zip(BUILDS, pair, strict=True):
                        costs.setdefault((copies, build, kind), []).append(cost)
                    print(
                        f"{copies:>3} copies, repetition {repetition} of {repetitions}, {kind:<6}: "
                        f"cold {pair[0].wall:6.2f} s, unchanged {pair[1].wall:5.2f} s",
                        flush=True,
                    )
    return costs


def build_twice(site: Path, recipe: str, copies: int, kind: str) -> tuple[Cost, Cost]:
    """Return the cost of a cold build of a new site and of one more with nothing changed."""
    make_site(site, recipe, copies, kind)
    pair = build(site), build(site)
    pages = len(list(site.glob(f"out/recipes/{recipe}_*.html")))
    if pages != copies:
        raise SystemExit(f"{kind}: {pages} pages of {copies} recipes; the times mean nothing")
    shutil.rmtree(site)
    return pair


def make_site(site: Path, recipe: str, copies: int, kind: str) -> None:
    """Write a site that holds a recipe under many names, each with a recording of its own."""
    source = (RECIPES / f"{recipe}.py").read_text(encoding="utf-8")
    notebook = json.loads((RECORDINGS / f"{recipe}.ipynb").read_text(encoding="utf-8"))
    folders = site / "recipes_source", site / "recordings"
    for folder in folders:
        folder.mkdir(parents=True)
    for number in range(1, copies + 1):
        name = f"{recipe}_{number:03}"
        (folders[0] / f"{name}.py").write_text(source, encoding="utf-8")
        # A recording names its recipe, and one of another name is refused.
        notebook["metadata"]["recording"]["recipe"] = name
        text = nbformat.writes(seal(nbformat.v4.reads_json(json.dumps(notebook))))
        (folders[1] / f"{name}.ipynb").write_text(text, encoding="utf-8")
    for name in notebook["metadata"]["recording"]["inputs"]:
        copy = folders[0] / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(RECIPES / name, copy)
    (folders[0] / "GALLERY_HEADER.rst").write_text("Recipes\n=======\n\nAll.\n", encoding="utf-8")
    (site / "conf.py").write_text(CONF.format(extension=EXTENSIONS[kind]), encoding="utf-8")
    contents = "Site\n====\n\n.. toctree::\n\n   recipes/index\n"
    # Stubs stand in for the pages the recipe links to, so that no build warns.
    for target in sorted(set(_LINKED_PAGE.findall(source))):
        page = (PurePosixPath("/recipes") / target).relative_to("/")
        stub = site / f"{page}.rst"
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text("Stub\n====\n", encoding="utf-8")
        contents += f"   {page}\n"
    (site / "index.rst").write_text(contents, encoding="utf-8")


def build(site: Path) -> Cost:
    """Run Sphinx in a process of its own; return its cost; end the program if it warns."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command += ["-d", "out/.doctrees", ".", "out"]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": str(ROOT)}
    start, cpu = time.perf_counter(), cpu_of_children()
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True)
    cost = Cost(time.perf_counter() - start, cpu_of_children() - cpu)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return cost


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def ratio(costs: Costs, copies: int, build: str, kind_of_time: str) -> float:
    """Return how many times as long as stock replaying takes, by the medians."""
    middle: dict[str, float] = {
        kind: median(getattr(cost, kind_of_time) for cost in costs[copies, build, kind])
        for kind in EXTENSIONS
    }
    return middle["replay"] / middle["stock"]


def format_table(costs: Costs) -> list[str]:
    """Return the lines of a Markdown table, one row per size and build."""
    lines = [
        "| Copies | Build | Stock (s) | Replay (s) | Replay / stock | CPU time, replay / stock |",
        "|---:|---|---:|---:|---:|---:|",
    ]
    for copies, build, kind in costs:
        if kind == "stock":
            cells = [spread([cost.wall for cost in costs[copies, build, k]]) for k in EXTENSIONS]
            cells += [f"{ratio(costs, copies, build, each):.2f}" for each in ("wall", "cpu")]
            lines.append(f"| {copies} | {build} | {' | '.join(cells)} |")
    return lines


def spread(seconds: list[float]) -> str:
    """Return median, smallest and largest of some seconds."""
    return f"{median(seconds):.2f} ({min(seconds):.2f}–{max(seconds):.2f})"


if __name__ == "__main__":
    sys.exit(main())
