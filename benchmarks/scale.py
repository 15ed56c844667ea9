"""Cost of a change in galleries of 10, 100 and 1,000 recipes: ``python benchmarks/scale.py``.

Each site is this one with copies of a recipe, their recordings and catalogs beside its own
recipes. It is built by the commands that people call; ``--baseline`` names the folder of another
commit, whose site is built in the same way.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import nbformat
import polib
import psutil

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recipe_gallery.recipes.hashes import seal  # noqa: E402

# What lies in a checkout and is no part of the site, or was made by a build.
LEFT_OUT = ("_build", "/recipes", "/tests", "/benchmarks", ".*", "__pycache__", "*.mo", "*.mo.json")
TARGETS = {  # seconds a step may take with 1,000 recipes
    "cold": 250,
    "unchanged": 3,
    "edited paragraph": 6,
    "edited title": 6,
    "changed recording": 6,
    "edited translation": 6,
    "live save": 2,
}
TRANSLATED = ("ko", "zh_CN")
SAVES = 5  # of the live server; the first one is not counted


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a command took: seconds by the clock, seconds of CPU, and MB of its largest process."""

    wall: float
    cpu: float
    memory: float


Key = tuple[int, str, str]  # copies, "one" or "three" languages, step
Costs = dict[Key, dict[str, Cost]]  # by the folder of a commit: "now" and "before"


def main() -> int:
    """Measure, print the table; return 1 if a step with 1,000 copies misses its target."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recipe", default="compiling_optimizer", help="the one to copy")
    parser.add_argument("--copies", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--languages", choices=("one", "three"), nargs="+", default=["one"])
    parser.add_argument("--baseline", type=Path, help="folder of the commit to compare with")
    parser.add_argument("--keep", type=Path, help="keep the sites in this folder")
    options = parser.parse_args()
    checkouts = {"now": ROOT} | ({"before": options.baseline} if options.baseline else {})
    costs: Costs = {}
    with tempfile.TemporaryDirectory() as scratch:
        for count in options.copies:
            for languages in options.languages:
                for commit, checkout in checkouts.items():
                    site = (options.keep or Path(scratch)) / f"{commit}-{languages}-{count}"
                    make_site(checkout.resolve(), site, options.recipe, count)
                    for step, cost in measure(site, options.recipe, languages):
                        costs.setdefault((count, languages, step), {})[commit] = cost
                        print(
                            f"{count:>4} copies, {languages}, {commit:<6} {step:<19} "
                            f"{cost.wall:7.2f} s, {cost.cpu:7.2f} s of CPU, {cost.memory:5.0f} MB",
                            flush=True,
                        )
                    if not options.keep:
                        shutil.rmtree(site)
    print()
    print("\n".join(format_table(costs)))
    return int(
        any(
            cost["now"].wall > TARGETS[step]
            for (count, languages, step), cost in costs.items()
            if count == 1000 and languages == "one"
        )
    )


def make_site(checkout: Path, site: Path, recipe: str, count: int) -> None:
    """Write the site of a checkout with copies of a recipe; titles tell them apart."""
    here = [name.removeprefix("/") for name in LEFT_OUT]
    below = [name for name in LEFT_OUT if not name.startswith("/")]
    shutil.copytree(
        checkout,
        site,
        ignore=lambda folder, names: shutil.ignore_patterns(
            *(here if Path(folder) == checkout else below)
        )(folder, names),
    )
    source = (site / "recipes_source" / f"{recipe}.py").read_text(encoding="utf-8")
    recording = (site / "recordings" / f"{recipe}.ipynb").read_text(encoding="utf-8")
    title = source.splitlines()[1]
    catalogs = [site / "locale" / each / "LC_MESSAGES" / "recipes" for each in TRANSLATED]
    texts = [(folder / f"{recipe}.po").read_text(encoding="utf-8") for folder in catalogs]
    for number in range(1, count + 1):
        name, new_title = f"{recipe}_{number:04}", f"{title} {number:04}"
        text = source.replace(
            f"{title}\n{'=' * len(title)}", f"{new_title}\n{'=' * len(new_title)}"
        )
        (site / "recipes_source" / f"{name}.py").write_text(text, encoding="utf-8")
        # A recording names its recipe, and one of another name is refused.
        copy = recording.replace(f'"recipe": "{recipe}"', f'"recipe": "{name}"')
        write_recording(site / "recordings" / f"{name}.ipynb", copy)
        for folder, catalog in zip(catalogs, texts, strict=True):
            po = re.sub(
                rf'(msgid "{re.escape(title)})"\nmsgstr "(.*)"',
                rf'\1 {number:04}"\nmsgstr "\2 {number:04}"',
                catalog,
            )
            (folder / f"{name}.po").write_text(po, encoding="utf-8")


def measure(site: Path, recipe: str, languages: str) -> Iterator[tuple[str, Cost]]:
    """Yield the cost of each step, in the order in which a person would take them."""
    codes = ["en"] if languages == "one" else ["en", *TRANSLATED]
    copies = sorted((site / "recipes_source").glob(f"{recipe}_[0-9]*.py"))
    name = copies[len(copies) // 2].stem
    yield "cold", build(site, codes)
    pages = len(list(site.glob(f"_build/html/*/recipes/{recipe}_*.html")))
    if pages != len(copies) * len(codes):
        raise SystemExit(f"{pages} pages of {len(copies)} recipes; the costs mean nothing")
    yield "unchanged", build(site, codes)
    source = site / "recipes_source" / f"{name}.py"
    if languages == "three":
        catalog = site / "locale/ko/LC_MESSAGES/recipes" / f"{name}.po"
        edit_translation(catalog, "하나")
        yield "edited translation", build(site, codes)
        check(site, "ko", name, "하나")
        edit_translation(catalog, "둘")
        yield "live save", live(site, "ko", name, edit_translation, catalog)
        return
    edit_paragraph(source, "paragraphone")
    yield "edited paragraph", build(site, codes)
    check(site, "en", name, "paragraphone")
    title = source.read_text(encoding="utf-8").splitlines()[1]
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace(f"{title}\n=", f"{title} titleone\n========="), encoding="utf-8")
    yield "edited title", build(site, codes)
    check(site, "en", name, "titleone")
    recording = site / "recordings" / f"{name}.ipynb"
    notebook = json.loads(recording.read_text(encoding="utf-8"))
    outputs = [output for cell in notebook["cells"] for output in cell["outputs"]]
    next(each for each in outputs if each["output_type"] == "stream")["text"] += "printedone\n"
    write_recording(recording, json.dumps(notebook))
    yield "changed recording", build(site, codes)
    check(site, "en", name, "printedone")
    yield "live save", live(site, "en", name, edit_paragraph, source)


def write_recording(path: Path, text: str) -> None:
    """Write a changed recording with hashes that fit it."""
    path.write_text(nbformat.writes(seal(nbformat.v4.reads_json(text))), encoding="utf-8")


def edit_paragraph(path: Path, word: str) -> None:
    """Change the end of the first paragraph in a comment, as an author does."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"(?m)^(# [^\n]*[a-z])( \w+(?:one|two)\w*)?\.$", rf"\1 {word}.", text, count=1)
    path.write_text(text, encoding="utf-8")


def edit_translation(path: Path, word: str) -> None:
    """Change the end of the first long message of a catalog, as a translator does."""
    catalog = polib.pofile(str(path), wrapwidth=0)
    paragraph = next(entry for entry in catalog if len(entry.msgid) > 200)
    paragraph.msgstr = f"{paragraph.msgstr.split(' 끝')[0]} 끝 {word}"
    catalog.save()


def check(site: Path, language: str, name: str, word: str) -> None:
    """End the program if a change has not reached its page."""
    page = site / "_build/html" / language / "recipes" / f"{name}.html"
    if word not in page.read_text(encoding="utf-8"):
        raise SystemExit(f"{word!r} is not on {page}; the costs mean nothing")


def build(site: Path, codes: list[str]) -> Cost:
    """Run ``recipe_gallery html`` and return its cost."""
    command = [sys.executable, "-m", "recipe_gallery", "html", *codes, "--sphinx-options=-q"]
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert process.stdout
    said = process.stdout.read().decode(errors="replace")
    cost = end(process, time.perf_counter() - began)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)}: exit status {process.returncode}\n{said[-3000:]}")
    return cost


def live(site: Path, language: str, name: str, edit: object, path: Path) -> Cost:
    """Serve a language; return the median cost of a save until the page is on the server."""
    command = [
        sys.executable,
        "-m",
        "recipe_gallery",
        "live",
        language,
        "--port=0",
        "--build=_build",
    ]
    process = subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    address = next(line for line in process.stdout if line.startswith("http")).split("index.html")[
        0
    ]
    seconds = []
    before = cpu_below(process.pid)
    with urllib.request.urlopen(re.sub(r"/\w+/$", "/live-events", address)) as events:
        read_event(events)  # the state at the start
        time.sleep(1)
        for number in range(SAVES):
            word = f"save{number}one"
            began = time.perf_counter()
            edit(path, word)  # type: ignore[operator]
            state = read_event(events)
            with urllib.request.urlopen(f"{address}recipes/{name}.html") as answer:
                shown = word in answer.read().decode()
            seconds.append(time.perf_counter() - began)
            if not shown:
                raise SystemExit(f"the save is not on the page: {state}")
            time.sleep(1)
    cpu = (cpu_below(process.pid) - before) / SAVES
    process.send_signal(signal.SIGINT)
    return Cost(wall=median(seconds[1:]), cpu=cpu, memory=end(process, 0).memory)


def cpu_below(pid: int) -> float:
    """Return the CPU seconds of a process and of all that it started."""
    tree = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    return sum(sum(each.cpu_times()[:4]) for each in tree)


def read_event(events: object) -> dict[str, object]:
    """Return the next state that the server tells."""
    while True:
        line = events.readline().decode()  # type: ignore[attr-defined]
        if line.startswith("data: "):
            return dict(json.loads(line.removeprefix("data: ")))


def end(process: subprocess.Popen[bytes] | subprocess.Popen[str], seconds: float) -> Cost:
    """Wait for a process; return the cost of it and of those that it started."""
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(wall=seconds, cpu=usage.ru_utime + usage.ru_stime, memory=usage.ru_maxrss / 1024)


def format_table(costs: Costs) -> list[str]:
    """Return the lines of a Markdown table, one row per size, languages and step."""
    lines = [
        "| Copies | Languages | Step | Before: wall, CPU (s) | Now: wall, CPU (s) "
        "| Now / before: wall, CPU | Memory before, now (MB) |",
        "|---:|---|---|---:|---:|---:|---:|",
    ]
    for (count, languages, step), cost in costs.items():
        now, before = cost["now"], cost.get("before")
        cells = [f"{before.wall:.1f}, {before.cpu:.1f}" if before else "–"]
        cells.append(f"{now.wall:.1f}, {now.cpu:.1f}")
        cells.append(f"{now.wall / before.wall:.2f}, {now.cpu / before.cpu:.2f}" if before else "–")
        cells.append(f"{before.memory:.0f}, {now.memory:.0f}" if before else f"{now.memory:.0f}")
        lines.append(f"| {count} | {languages} | {step} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    sys.exit(main())
