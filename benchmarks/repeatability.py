"""Whether measurements repeat on a host that was left out: ``python benchmarks/repeatability.py``.

For each release and each host of each recipe, ranges are computed from the processes of the other
hosts, by the method of the site and by that of before, and compared with the median of what the
host that was left out measured. A range is judged by Gneiting and Raftery's interval score, in
logarithms: its width, and 2/alpha times what is outside. Less is better; it is proper, so neither a
wide range nor a narrow one can win by its width alone. ``--write`` puts the tables into
repeatability.md.
"""

import argparse
import math
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from sphinx_recorded_gallery.measurements.processes import read_processes  # noqa: E402
from sphinx_recorded_gallery.measurements.quantities import (  # noqa: E402
    find_gpu_bound,
    list_quantities,
)
from sphinx_recorded_gallery.measurements.ranges import Measurement, measure  # noqa: E402
from sphinx_recorded_gallery.measurements.replicates import Process  # noqa: E402
from sphinx_recorded_gallery.measurements.rows import Row  # noqa: E402
from sphinx_recorded_gallery.project import load_project  # noqa: E402
from sphinx_recorded_gallery.recipes.find_recipes import list_files  # noqa: E402
from sphinx_recorded_gallery.recipes.recipe import load_recipe  # noqa: E402
from sphinx_recorded_gallery.recipes.recording_toml import load_settings  # noqa: E402
from sphinx_recorded_gallery.recipes.releases import sort_releases  # noqa: E402

REPORT = Path(__file__).with_suffix(".md")
MARKS = "<!-- tables -->", "<!-- end of tables -->"
ALPHA = 0.05
NAMED = 12  # predictions that were wrong, by name

Range = tuple[float, float]
Measured = list[tuple[str, Sequence[Row]]]  # host and rows of each process


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A measurement of a host that was left out, and what the others say of it."""

    release: str
    recipe: str
    known: Measurement
    former: Range  # by the method of before
    seen: float
    is_of_page: bool  # whether the host that was left out recorded the page

    @property
    def kind(self) -> str:
        """What bounds it."""
        if self.known.low == self.known.high:
            return "the same on all others"
        return "bound by the GPU" if self.known.is_predicted else "bound by the host"


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write them into repeatability.md")
    options = parser.parse_args()
    project = load_project(ROOT)
    gpu_bound = find_gpu_bound(list_quantities(project.config))
    releases: dict[str, dict[str, Sequence[Process]]] = defaultdict(dict)  # and recipes
    for file in list_files(project.config, project.root):
        package = load_settings(file.gallery).release
        path, recipe = file.recording_path(project.recordings), load_recipe(file.path, file.name)
        for release, processes in read_processes(path, recipe, None, package).by_release.items():
            releases[release][file.name] = processes
    lines = [
        *["    $ python benchmarks/repeatability.py --write", ""],
        *[f"{time.strftime('%Y-%m-%d')}, on the recordings of this commit."],
    ]
    for release in sort_releases(releases):
        lines += ["", *describe_release(release, releases[release], gpu_bound)]
    print("\n".join(lines))
    if options.write:
        before, _, rest = REPORT.read_text(encoding="utf-8").partition(MARKS[0])
        text = "\n\n".join([before + MARKS[0], "\n".join(lines), MARKS[1]])
        REPORT.write_text(text + rest.partition(MARKS[1])[2], encoding="utf-8")
    return 0


def describe_release(
    release: str, recipes: dict[str, Sequence[Process]], gpu_bound: Container[str]
) -> list[str]:
    """Return the tables of one release."""
    trials = [
        trial
        for name, processes in recipes.items()
        for trial in leave_out(release, name, processes, gpu_bound)
    ]
    lines = [f"## Release {release}" if release else "## All processes", ""]
    lines += count_processes(recipes)
    if not trials:
        return [*lines, "", "Measured on one host: nothing can be left out."]
    predicted = [trial for trial in trials if trial.kind == "bound by the GPU"]
    lines += ["", "### By what bounds them", "", *compare(trials, lambda trial: trial.kind)]
    if predicted:
        lines += ["", "### Bound by the GPU, by quantity", ""]
        lines += compare(predicted, lambda trial: f"`{trial.known.quantity}`")
        lines += ["", "### Bound by the GPU, by what the host that was left out ran", ""]
        lines += compare(predicted, name_process)
    lines += ["", "### By recipe", "", *compare(trials, lambda trial: f"`{trial.recipe}`")]
    return [*lines, "", "### Predictions that were wrong", "", *name_outside(predicted)]


def leave_out(
    release: str, recipe: str, processes: Sequence[Process], gpu_bound: Container[str]
) -> Iterator[Trial]:
    """Yield what each host measured, with the ranges of the others."""
    hosts = sorted({each.host for each in processes})
    for host in hosts if len(hosts) > 1 else ():
        others = [(each.host, each.rows) for each in processes if each.host != host]
        own = measure(((host, each.rows) for each in processes if each.host == host), gpu_bound)
        former = former_ranges(others)
        is_of_page = any(each.replicate == 0 for each in processes if each.host == host)
        for key, known in measure(others, gpu_bound).items():
            if key in own and known.hosts > 1:
                yield Trial(
                    release=release,
                    recipe=recipe,
                    known=known,
                    former=former[key],
                    seen=own[key].value,
                    is_of_page=is_of_page,
                )


def name_process(trial: Trial) -> str:
    """Return the kind of process, and whether memory or time was measured.

    The page's run also runs the experiments that replicates leave out, so what they leave in the
    allocator counts there. And it begins with another variant.
    """
    process = "the page's run" if trial.is_of_page else "replicates only"
    is_memory = trial.known.unit == "B"
    return f"{process}, {'memory' if is_memory else 'times and their ratios'}"


def score(low: float, high: float, seen: float) -> float:
    """Return the interval score in logarithms: 0.02 for ±1% that holds what was seen."""
    if low == high == seen:
        return 0.0
    if min(low, seen) <= 0:
        return math.inf
    outside = max(math.log(low / seen), math.log(seen / high), 0.0)
    return math.log(high / low) + 2 / ALPHA * outside


def count_processes(recipes: dict[str, Sequence[Process]]) -> list[str]:
    """Return the table of recipes, processes and hosts."""
    lines = ["| Recipe | Processes | Of each host |", "|---|---:|---|"]
    for name, processes in recipes.items():
        counts = Counter(each.host for each in processes)
        of_each = ", ".join(str(count) for _host, count in counts.most_common())
        lines.append(f"| `{name}` | {len(processes)} | {of_each} |")
    return lines


def compare(trials: list[Trial], group: Callable[[Trial], str]) -> list[str]:
    """Return a table of both methods by group: how many inside, how wide, how good."""
    groups: dict[str, list[Trial]] = defaultdict(list)
    for each in trials:
        groups[group(each)].append(each)
    lines = [
        "| | Left out | Inside | Half width, median | Score, mean | before: Inside | Half width "
        "| Score |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, found in [*sorted(groups.items()), ("**all**", trials)]:
        cells = [name, str(len(found))]
        for ranges in ([(e.known.low, e.known.high) for e in found], [e.former for e in found]):
            pairs = list(zip(ranges, (each.seen for each in found), strict=True))
            inside = fmean(low <= seen <= high for (low, high), seen in pairs)
            width = median(math.log(high / low) / 2 if low else math.inf for low, high in ranges)
            scores = [score(low, high, seen) for (low, high), seen in pairs]
            finite = [each for each in scores if math.isfinite(each)]
            cells += [f"{inside:.1%}", f"±{width:.1%}", f"{fmean(finite):.3f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def name_outside(trials: list[Trial]) -> list[str]:
    """Return predictions that do not hold what was seen, the worst first."""
    outside = [e for e in trials if not e.known.low <= e.seen <= e.known.high]
    outside.sort(key=lambda e: -score(e.known.low, e.known.high, e.seen))
    lines = ["| Measurement | Hosts | Predicted | Left out |", "|---|---:|---:|---:|"]
    for each in outside[:NAMED]:
        known = each.known
        predicted = f"{known.low:.4g} to {known.high:.4g} {known.unit}"
        name = f"{each.recipe}: {known.key}"
        lines.append(f"| {name} | {known.hosts} | {predicted} | {each.seen:.4g} {known.unit} |")
    more = len(outside) - NAMED
    return lines + ([f"\nAnd {more} more."] if more > 0 else [])


# The method of before: hosts as a random effect, spread pooled over rows of a class, 98 of 100.
FORMER_T = {4: 3.747, 5: 3.365, 6: 3.143, 7: 2.998, 8: 2.896, 9: 2.821}  # 99% points
FORMER_T |= {10: 2.764, 11: 2.718, 12: 2.681, 13: 2.650, 14: 2.624, 15: 2.602, 16: 2.583, 17: 2.567}
FORMER_T |= {18: 2.552, 19: 2.539, 20: 2.528, 21: 2.518, 22: 2.508, 23: 2.500, 24: 2.492}
CHI2 = {1: 0.4549, 2: 1.3863, 3: 2.366, 4: 3.3567, 5: 4.3515, 6: 5.3481, 7: 6.3458, 8: 7.3441}


def former_ranges(processes: Measured) -> dict[str, Range]:
    """Return the interval of each row by key, as it was published before."""
    logs: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    classes = {}
    for host, rows in processes:
        by_key = {row.key: row for row in rows}
        for key, row in by_key.items():
            logs[key][host].append(math.log(max(row.value, 1e-300)))
            wall = by_key.get(key.removesuffix(row.quantity) + "wall")
            gpu = by_key.get(key.removesuffix(row.quantity) + "gpu")
            waits = wall and gpu and wall.value > 1.2 * gpu.value
            is_wall = row.quantity in ("wall", "speedup", "break_even")
            classes.setdefault(key, (row.quantity, bool(waits and is_wall)))
    own = {key: former_variances(list(hosts.values())) for key, hosts in logs.items()}
    pooled = {}
    for name in set(classes.values()):
        members = [own[key] for key in own if classes[key] == name]
        pooled[name] = pool([each[0] for each in members]), pool([each[1] for each in members])
    found = {}
    for key, hosts in logs.items():
        of_processes, of_hosts = (
            max(mine or 0.0, shared[0])
            for mine, shared in zip((m[0] for m in own[key]), pooled[classes[key]], strict=True)
        )
        freedom = pooled[classes[key]][1][1]  # of hosts
        of_processes = of_processes or 0.05**2
        supposed = max(0.003**2, min(0.25**2, 9 * of_processes), of_processes)
        between = max(of_hosts, (4 * supposed + freedom * of_hosts) / (4 + freedom))
        spread = 1 + (1 if len(hosts) < 3 else math.pi / 2) / len(hosts)
        half = max(math.log(1.005), FORMER_T[4 + freedom] * math.sqrt(between * spread))
        center = median(median(values) for values in hosts.values())
        high = min(center + half, 700)  # where some measured 0 and others more, a float ends before
        found[key] = math.exp(center - half), math.exp(high)
    return found


Variance = tuple[float | None, int]  # and its degrees of freedom


def former_variances(hosts: list[list[float]]) -> tuple[Variance, Variance]:
    """Return the variance of the processes of a host, and that of hosts' medians."""
    medians = [median(values) for values in hosts]
    inner = sum(len(values) - 1 for values in hosts)
    within = sum((value - fmean(values)) ** 2 for values in hosts for value in values)
    between = sum((value - fmean(medians)) ** 2 for value in medians)
    outer = len(hosts) - 1
    return (within / inner if inner else None, inner), (between / outer if outer else None, outer)


def pool(variances: list[Variance]) -> tuple[float, int]:
    """Return what the mean of variances is likely to be, whatever a few of them are."""
    known = [each for each, _freedom in variances if each is not None]
    freedom = max(each for _variance, each in variances)
    if len(known) < 2:
        return (known or [0.0])[0], freedom
    return median(known) * freedom / CHI2[min(freedom, 8)], freedom


if __name__ == "__main__":
    sys.exit(main())
