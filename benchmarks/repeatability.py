"""Whether figures repeat on a host that was left out: ``python benchmarks/repeatability.py``.

For each host of each recipe, intervals are computed from the processes of the other hosts, as
``make record`` computes them. What the host that was left out measured, the median of its
processes, should fall inside. ``--write`` puts the tables into repeatability.md.
"""

import argparse
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from recipe_gallery.project import load_project  # noqa: E402
from recipe_gallery.recipes.gallery import list_files  # noqa: E402
from recipe_gallery.recipes.measurements import Figure  # noqa: E402
from recipe_gallery.recipes.recipe import load_recipe  # noqa: E402
from recipe_gallery.recipes.sources import Process, read_sources  # noqa: E402
from recipe_gallery.record.replicates.intervals import compute_figures  # noqa: E402

REPORT = Path(__file__).with_suffix(".md")
MARKS = "<!-- tables -->", "<!-- end of tables -->"
NAMED = 12  # figures outside of their intervals, by name


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A figure of a host that was left out, and its interval from the others."""

    recipe: str
    hosts: int  # that the interval is from
    figure: Figure
    seen: float

    @property
    def is_inside(self) -> bool:
        """Whether the interval told the truth."""
        return self.figure.low <= self.seen <= self.figure.high


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write them into repeatability.md")
    options = parser.parse_args()
    project = load_project(ROOT)
    recipes: dict[str, list[Process]] = {}
    for file in list_files(project.config, project.root):
        sources = read_sources(file.recording(project.recordings), load_recipe(file.path))
        recipes[file.name] = sources.processes
    trials = [each for name, found in recipes.items() for each in leave_out(name, found)]
    headlines = read_headlines()
    lines = [
        *["    $ python benchmarks/repeatability.py --write", ""],
        *[f"{time.strftime('%Y-%m-%d')}, on the recordings of this commit.", ""],
        *count_processes(recipes),
        *["", "## Headlines and all other figures", ""],
        *coverage(trials, lambda each: "headlines" if is_headline(each, headlines) else "others"),
        *["", "## By recipe", "", *coverage(trials, lambda each: f"`{each.recipe}`")],
        *["", "## By what is measured", ""],
        *coverage(trials, lambda each: each.figure.spread_class),
        *["", "## Outside", "", *name_outside(trials, headlines)],
    ]
    print("\n".join(lines))
    if options.write:
        before, _, rest = REPORT.read_text(encoding="utf-8").partition(MARKS[0])
        text = "\n\n".join([before + MARKS[0], "\n".join(lines), MARKS[1]])
        REPORT.write_text(text + rest.partition(MARKS[1])[2], encoding="utf-8")
    return 0


def leave_out(recipe: str, processes: list[Process]) -> Iterator[Trial]:
    """Yield what each host measured, with the intervals of the others."""
    hosts = sorted({each.host for each in processes})
    for host in hosts if len(hosts) > 1 else ():
        others = [(each.host, each.published.rows) for each in processes if each.host != host]
        measured = defaultdict(list)
        for each in processes:
            for row in each.published.rows if each.host == host else ():
                measured[row.key].append(row.value)
        for key, figure in compute_figures(others).items():
            if key in measured:
                seen = median(measured[key])
                yield Trial(recipe=recipe, hosts=figure.hosts, figure=figure, seen=seen)


def read_headlines() -> set[tuple[str, str]]:
    """Return recipes and keys that the results page shows."""
    recipe, found = "", set()
    for line in (ROOT / "results.rst").read_text(encoding="utf-8").splitlines():
        if match := re.match(r" {3}(\w+) against ", line):
            recipe = match[1]
        elif match := re.match(r" {6}([\w.-]+)(?: against [\w.-]+)?: ", line):
            found.add((recipe, match[1]))
    return found


def is_headline(trial: Trial, headlines: set[tuple[str, str]]) -> bool:
    """Tell whether the results page shows the figure of a trial."""
    return (trial.recipe, trial.figure.key) in headlines


def count_processes(recipes: dict[str, list[Process]]) -> list[str]:
    """Return the table of recipes, processes and hosts."""
    lines = ["| Recipe | Processes | Of each host |", "|---|---:|---|"]
    for name, processes in recipes.items():
        counts = Counter(each.host for each in processes)
        of_each = ", ".join(str(count) for _host, count in counts.most_common())
        lines.append(f"| `{name}` | {len(processes)} | {of_each} |")
    return lines


def coverage(trials: list[Trial], group: Callable[[Trial], str]) -> list[str]:
    """Return a table of how many figures fell inside, by group."""
    groups: dict[str, list[Trial]] = defaultdict(list)
    for each in trials:
        groups[group(each)].append(each)
    lines = [
        "| | Left out | Inside | Share | Interval, median | Deviation, median |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for name, found in [*sorted(groups.items()), ("**all**", trials)]:
        inside = sum(each.is_inside for each in found)
        width = median(each.figure.width for each in found)
        off = median(abs(each.seen / each.figure.value - 1) for each in found if each.figure.value)
        share = f"{inside / len(found):.1%}"
        lines.append(f"| {name} | {len(found)} | {inside} | {share} | ±{width:.1%} | {off:.1%} |")
    return lines


def name_outside(trials: list[Trial], headlines: set[tuple[str, str]]) -> list[str]:
    """Return the figures outside of their intervals, headlines first."""
    outside = [each for each in trials if not each.is_inside]
    outside.sort(key=lambda each: (not is_headline(each, headlines), each.recipe, each.figure.key))
    if not outside:
        return ["None."]
    lines = ["| Figure | Hosts | Interval | Left out |", "|---|---:|---:|---:|"]
    for each in outside[:NAMED]:
        figure, bold = each.figure, "**" * is_headline(each, headlines)
        interval = f"{figure.low:.4g}–{figure.high:.4g} {figure.unit}"
        name = f"{bold}{each.recipe}: {figure.key}{bold}"
        lines.append(f"| {name} | {each.hosts} | {interval} | {each.seen:.4g} {figure.unit} |")
    more = len(outside) - NAMED
    return lines + ([f"\nAnd {more} more."] if more > 0 else [])


if __name__ == "__main__":
    sys.exit(main())
