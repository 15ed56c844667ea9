"""Compare build times with stock Sphinx-Gallery: ``.venv/bin/python benchmarks/replay.py``.

Writes its table into replay.md; ends with 1 if a build takes 1.1 times as long as stock's.
"""

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from statistics import median

import nbformat
from bs4 import BeautifulSoup
from folder_and_report import write_report

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sphinx_recorded_gallery.recipes.recording import seal  # noqa: E402

RECIPES = ROOT / "recipes_source"
RECORDINGS = ROOT / "recordings"
TARGET = 1.1  # replaying may take at most this many times as long

# Both sites share everything but the extension; math stays with Sphinx's own renderer, because
# stock Sphinx-Gallery brings none. `plot_gallery` is off in both: neither runs a recipe.
CONF = """
extensions = {extensions}
html_baseurl = "https://example.org/site/"
html_theme = "pydata_sphinx_theme"
exclude_patterns = ["recipes_source", "out"]
sphinx_gallery_conf = {{
    "examples_dirs": "recipes_source",
    "gallery_dirs": "recipes",
    "plot_gallery": 0,
}}
"""
EXTENSIONS = {
    "stock": ["sphinx_gallery.gen_gallery", "stand_ins"],
    "replay": ["sphinx_recorded_gallery", "stand_ins"],
}
BUILDS = ("cold", "unchanged")
# What pages of the kinds show each in its way: figures, formulas, outputs, links to downloads
APART = (
    ".measured, .math, math, .claim-mark, .claim-evidence, .sphx-glr-script-out, "
    ".sphx-glr-download-link-note, .sphx-glr-footer, .sphx-glr-signature"
)
_LINKED_PAGE = re.compile(r":doc:`(?:[^`<]*<)?([^`>]+)>?`")
_SHARED_CODE = re.compile(r"^from (_\w+) import .*$", re.MULTILINE)
_SETTING = re.compile(r"^# sphinx_gallery_\w+ = .*\n", re.MULTILINE)
_PLUMBING = re.compile(
    rf"(?:{_SETTING.pattern})*^# sphinx_gallery_plumbing = True\n(?s:.*?)(?=^# %%$)",
    re.MULTILINE,
)


Costs = dict[tuple[int, str, str], list[float]]  # s of CPU by copies, build and kind of site


def main() -> int:
    """Measure, write the table; return 1 if replaying takes longer than the target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="compiling_optimizer", help="the one to copy")
    parser.add_argument("--copies", type=int, nargs="+", default=[1, 10])
    parser.add_argument("--repetitions", type=int, default=4, help="of each build")
    options = parser.parse_args()
    costs = measure(options.recipe, options.copies, options.repetitions)
    lines = ["| Copies | Build | Stock (s) | Replay (s) | Ratio |", "|---:|---|---:|---:|---:|"]
    ratios = []
    for copies, name, kind in costs:
        if kind == "stock":
            stock, replay = (costs[copies, name, each] for each in EXTENSIONS)
            ratios.append(median(replay) / median(stock))
            cells = [str(copies), name, spread(stock), spread(replay), f"{ratios[-1]:.2f}"]
            lines.append(f"| {' | '.join(cells)} |")
    write_report(Path(__file__), lines)
    print("\n".join(lines))
    return int(max(ratios) > TARGET)


def measure(recipe: str, counts: Iterable[int], repetitions: int) -> Costs:
    """Build sites of all sizes in turns, stock first; return what every build took."""
    costs: Costs = {}
    with tempfile.TemporaryDirectory() as folder:
        # The first build of a kind compiles modules to bytecode; it is not counted.
        compare(Path(folder), recipe)
        for copies in counts:
            for repetition in range(1, repetitions + 1):
                for kind in EXTENSIONS:
                    pair = build_twice(Path(folder, "site"), recipe, copies, kind)
                    for build, cost in zip(BUILDS, pair, strict=True):
                        costs.setdefault((copies, build, kind), []).append(cost)
                    print(copies, "copies,", repetition, "of", repetitions, kind, pair, flush=True)
    return costs


def compare(folder: Path, recipe: str) -> None:
    """Build a copy with each kind; end the program if replay's page lacks what stock's shows."""
    pages = {}
    for kind in EXTENSIONS:
        make_site(folder / kind, recipe, 1, kind)
        build(folder / kind)
        pages[kind] = read_page(folder / kind / f"out/recipes/{recipe}_001.html")
    (code, prose), (code_replayed, prose_replayed) = pages["stock"], pages["replay"]
    rest = iter(prose_replayed)  # it shows more: results, where they are from, evidence
    missing = [text for text in prose if text not in rest]
    if missing or code != code_replayed:
        what = repr(missing[0]) if missing else "the same code"
        raise SystemExit(f"replay does not show {what} as stock does; the times mean nothing")


def read_page(path: Path) -> tuple[list[str], list[str]]:
    """Return the blocks of code on a page, and its texts in their order."""
    article = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser").article
    assert article is not None
    for each in article.select(APART):
        each.decompose()
    code = [each.get_text() for each in article.select(".highlight pre")]
    prose = article.select("h1, h2, h3, p, li, th, td, .caption-text")
    return code, [" ".join(each.get_text().split()) for each in prose]


def build_twice(site: Path, recipe: str, copies: int, kind: str) -> tuple[float, float]:
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
    if kind == "stock":
        source = write_for_stock(source)
    notebook = json.loads((RECORDINGS / f"{recipe}.ipynb").read_text(encoding="utf-8"))
    inputs = [*notebook["metadata"]["recording"]["inputs"]]
    inputs += [f"{module}.py" for module in _SHARED_CODE.findall(source)]  # stock has none
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
        for path in RECORDINGS.glob(f"{recipe}.*jsonl"):  # replicates, and figures of all
            shutil.copyfile(path, folders[1] / path.name.replace(recipe, name, 1))
    for name in inputs:
        copy = folders[0] / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(RECIPES / name, copy)
    (folders[0] / "GALLERY_HEADER.rst").write_text("Recipes\n=======\n\nAll.\n", encoding="utf-8")
    (site / "conf.py").write_text(CONF.format(extensions=EXTENSIONS[kind]), encoding="utf-8")
    contents = "Site\n====\n\n.. toctree::\n\n   recipes/index\n"
    # Stubs stand in for the pages the recipe links to, so that no build warns.
    for target in sorted(set(_LINKED_PAGE.findall(source))):
        page = (PurePosixPath("/recipes") / target).relative_to("/")
        stub = site / f"{page}.rst"
        stub.parent.mkdir(parents=True, exist_ok=True)
        stub.write_text("Stub\n====\n", encoding="utf-8")
        contents += f"   {page}\n"
    if ":term:" in source:  # terms are defined there
        shutil.copyfile(ROOT / "terms.rst", site / "terms.rst")
        contents += "   terms\n"
    (site / "index.rst").write_text(contents, encoding="utf-8")


def write_for_stock(source: str) -> str:
    """Return a recipe as stock Sphinx-Gallery needs it for a page with the same code and prose."""

    def read(found: re.Match[str]) -> str:
        text = (RECIPES / f"{found[1]}.py").read_text(encoding="utf-8")
        return text.split('"""', 2)[2].strip()  # what stands below its docstring

    return _SHARED_CODE.sub(read, _SETTING.sub("", _PLUMBING.sub("", source)))


def build(site: Path) -> float:
    """Run Sphinx in a process of its own; return its seconds of CPU; end if it warns."""
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-q", "-W", "--keep-going"]
    command += ["-d", "out/.doctrees", ".", "out"]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONPATH": f"{ROOT}:{ROOT}/benchmarks"}
    before = cpu_of_children()
    done = subprocess.run(command, cwd=site, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr}")
    return cpu_of_children() - before


def cpu_of_children() -> float:
    """Return the CPU seconds of all processes that were started and have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def spread(seconds: list[float]) -> str:
    """Return median, smallest and largest of some seconds."""
    return f"{median(seconds):.2f} ({min(seconds):.2f}–{max(seconds):.2f})"


if __name__ == "__main__":
    sys.exit(main())
