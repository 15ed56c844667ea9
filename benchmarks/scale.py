"""Cost of a change in galleries of 5 and 100 recipes: ``python benchmarks/scale.py``.

Each site is this one with copies of a recipe, their recordings and catalogs beside its own recipes,
built by ``recorded-gallery html``. ``--baseline`` names the folder of another commit, whose site
is built in turns with this one. Writes its table into scale.md; ends with 1 where a limit is
passed.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from build_command import build_command
from folder_and_report import write_report

ROOT = Path(__file__).resolve().parents[1]
# What lies in a checkout and is no part of the site, or was made by a build
LEFT_OUT = {"_build", "recipes", "tests", "benchmarks"}
LIMITS = {  # seconds of CPU with 100 recipes and one language
    "unchanged": 2.5,
    "edited paragraph": 5,
    "edited title": 5,
    "changed recording": 5,
}
TRANSLATED = ("ko", "zh_CN")
# A recording names its recipe, and one whose hash is of something else is refused. Each commit has
# its own hash, and the module may lie elsewhere.
SEAL = """
import importlib, pathlib, sys, nbformat, sphinx_recorded_gallery
root = pathlib.Path(sphinx_recorded_gallery.__file__).parent
path = next(each for each in root.rglob("*.py") if "def seal(" in each.read_text())
name = path.relative_to(root.parent).with_suffix("")
seal = importlib.import_module(".".join(name.parts)).seal
for path in map(pathlib.Path, sys.argv[1:]):
    path.write_text(nbformat.writes(seal(nbformat.v4.reads_json(path.read_text()))))
"""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command took: seconds of CPU, and MB of its largest process."""

    cpu: float
    memory: float


Costs = dict[tuple[int, str, str], dict[str, Cost]]  # by copies, languages, step; by commit


def main() -> int:
    """Measure, write the table; return 1 if a step takes longer than its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="compiling_optimizer", help="the one to copy")
    parser.add_argument("--copies", type=int, nargs="+", default=[5, 100])
    parser.add_argument(
        "--languages", choices=("one", "three"), nargs="+", default=["one", "three"]
    )
    parser.add_argument("--baseline", type=Path, help="folder of the commit to compare with")
    options = parser.parse_args()
    checkouts = {"now": ROOT} | ({"before": options.baseline} if options.baseline else {})
    costs: Costs = {}
    for count in options.copies:
        for languages in options.languages:
            for commit, checkout in checkouts.items():
                with tempfile.TemporaryDirectory() as folder:
                    site = Path(folder, "site")
                    make_site(checkout.resolve(), site, options.recipe, count)
                    codes = ["en", *TRANSLATED] if languages == "three" else ["en"]
                    for step, cost in measure(site, options.recipe, codes):
                        costs.setdefault((count, languages, step), {})[commit] = cost
                        print(count, languages, commit, step, cost, flush=True)
    write_report(Path(__file__), format_table(costs))
    slow = [
        step
        for (count, languages, step), cost in costs.items()
        if (count, languages) == (100, "one") and cost["now"].cpu > LIMITS.get(step, float("inf"))
    ]
    print(*(f"{step} takes more than {LIMITS[step]} s" for step in slow), sep="\n")
    return int(bool(slow))


def make_site(checkout: Path, site: Path, recipe: str, count: int) -> None:
    """Write the site of a checkout with copies of a recipe; titles tell them apart."""

    def leave_out(folder: str, names: list[str]) -> set[str]:
        below = {each for each in names if each.startswith(".") or each == "__pycache__"}
        return below | (LEFT_OUT & {*names} if Path(folder) == checkout else set())

    shutil.copytree(checkout, site, ignore=leave_out)
    source = (site / "recipes_source" / f"{recipe}.py").read_text(encoding="utf-8")
    recording = (site / "recordings" / f"{recipe}.ipynb").read_text(encoding="utf-8")
    title = source.splitlines()[1]
    recordings = []
    for number in range(1, count + 1):
        name, new_title = f"{recipe}_{number:04}", f"{title} {number:04}"
        text = source.replace(
            f"{title}\n{'=' * len(title)}", f"{new_title}\n{'=' * len(new_title)}"
        )
        (site / "recipes_source" / f"{name}.py").write_text(text, encoding="utf-8")
        recordings.append(site / "recordings" / f"{name}.ipynb")
        copy = recording.replace(f'"recipe": "{recipe}"', f'"recipe": "{name}"')
        recordings[-1].write_text(copy, encoding="utf-8")
        for code in TRANSLATED:
            folder = site / "locale" / code / "LC_MESSAGES/recipes"
            po = re.sub(
                rf'(msgid "{re.escape(title)})"\nmsgstr "(.*)"',
                rf'\1 {number:04}"\nmsgstr "\2 {number:04}"',
                (folder / f"{recipe}.po").read_text(encoding="utf-8"),
            )
            (folder / f"{name}.po").write_text(po, encoding="utf-8")
    seal(site, recordings)


def seal(site: Path, recordings: list[Path]) -> None:
    """Give changed recordings the hash that a commit wants."""
    subprocess.run([sys.executable, "-c", SEAL, *map(str, recordings)], cwd=site, check=True)


def measure(site: Path, recipe: str, codes: list[str]) -> Iterator[tuple[str, Cost]]:
    """Yield the cost of each step, in the order in which a person would take them."""
    sources = sorted((site / "recipes_source").glob(f"{recipe}_[0-9]*.py"))
    source = sources[len(sources) // 2]
    page = site / "_build/html/en/recipes" / f"{source.stem}.html"

    def check(word: str) -> None:
        if word not in page.read_text(encoding="utf-8"):
            raise SystemExit(f"{word!r} is not on {page}; the costs mean nothing")

    yield "cold", build(site, codes)
    pages = len(list(site.glob(f"_build/html/*/recipes/{recipe}_*.html")))
    if pages != len(sources) * len(codes):
        raise SystemExit(f"{pages} pages of {len(sources)} recipes; the costs mean nothing")
    yield "unchanged", build(site, codes)
    text = source.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(# [^\n]*[a-z])\.$", r"\1 paragraphone.", text, count=1)
    source.write_text(text, encoding="utf-8")
    yield "edited paragraph", build(site, codes)
    check("paragraphone")
    title = text.splitlines()[1]
    text = text.replace(f"{title}\n=", f"{title} titleone\n==========")
    source.write_text(text, encoding="utf-8")
    yield "edited title", build(site, codes)
    check("titleone")
    recording = site / "recordings" / f"{source.stem}.ipynb"
    notebook = json.loads(recording.read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell["outputs"]]
    next(each for each in outputs if each["output_type"] == "stream")["text"] += "printedone\n"
    recording.write_text(json.dumps(notebook), encoding="utf-8")
    seal(site, [recording])
    yield "changed recording", build(site, codes)
    check("printedone")


def build(site: Path, codes: list[str]) -> Cost:
    """Run ``sphinx_recorded_gallery html`` and return its cost."""
    command = build_command(codes)
    process = subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    output = process.stdout.read().decode(errors="replace")
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # Catalogs lack the edited texts: the build warns of that and succeeds.
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: {process.returncode}\n{output[-3000:]}")
    return Cost(cpu=usage.ru_utime + usage.ru_stime, memory=usage.ru_maxrss / 1024)


def format_table(costs: Costs) -> list[str]:
    """Return the lines of a Markdown table, one row per size, languages and step."""
    lines = [
        "| Copies | Languages | Step | Before: CPU (s) | Now: CPU (s) | Memory before, now (MB) |",
        "|---:|---|---|---:|---:|---:|",
    ]
    for (count, languages, step), cost in costs.items():
        both = [cost[each] for each in ("before", "now") if each in cost]
        seconds = [f"{each.cpu:.1f}" for each in both]
        memory = ", ".join(f"{each.memory:.0f}" for each in both)
        cells = [str(count), languages, step, *(["–"] * (2 - len(both))), *seconds, memory]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
