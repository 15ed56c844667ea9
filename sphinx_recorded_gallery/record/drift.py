"""Compare new recordings with those of a commit, or one release with another.

The new processes are those that the commit does not have: lines of replicates, and the page's run
if its notebook has changed. Their values are compared with the ranges of the commit's processes.
For two releases, the report lists what moved on the hosts that measured both.
"""

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import GalleryError
from ..measurements.lookup import find_claims, read_results
from ..measurements.processes import Measurements, ProcessSet, measure_all, read_processes
from ..measurements.quantities import list_quantities
from ..measurements.ranges import Measurement
from ..measurements.release_changes import (
    Basis,
    Change,
    QuantitySummary,
    compare_releases,
    find_differences,
    find_percents,
)
from ..measurements.replicates import Process, replicates_path
from ..project import Project
from ..recipes.find_recipes import GalleryFile
from ..recipes.recipe import load_recipe
from ..recipes.recording_toml import load_settings
from ..recipes.releases import sort_releases
from .check_recordings import choose_files
from .run_program import run_git


def describe_drift(
    project: Project, names: Sequence[str], base: str, folder: Path | None = None
) -> str:
    """Compare recordings of recipes called ``names``, or of all, with those of the commit ``base``.

    ``folder`` holds the recordings; by default it is that of conf.py. Returns Markdown, in which an
    error of one recipe takes the place of its comparison. Raises ``GalleryError`` for an unknown
    recipe or commit.
    """
    commit = _run_git(project.root, "rev-parse", "--verify", "-q", f"{base}^{{commit}}")
    if commit is None:
        remedy = "name a branch, a tag or a commit of this repository"
        raise GalleryError(f"git finds no commit {base!r}", path=project.root, remedy=remedy)
    sections = []
    inside = compared = 0
    for file in choose_files(project, names):
        try:
            path = file.recording_path(folder or project.recordings)
            comparison = _compare(file, path, commit.strip(), base)
            lines = comparison.lines
            inside += comparison.inside
            compared += comparison.compared
        except GalleryError as error:
            lines = [error.describe(Path.cwd())]
        sections.append(_format_section(file.name, lines))
    total = f"{inside} of {compared} measurements lie in the ranges of {base}"
    title = "### New measurements compared with the published ones"
    return f"{title}\n\n{total}\n{''.join(sections)}"


def _format_section(name: str, lines: Sequence[str]) -> str:
    """Return the part of a Markdown report on one recipe.

    The lines hold texts of the recipe. A block of code keeps them from mentioning people; without
    backticks they cannot end it.
    """
    text = "\n".join(lines).replace("`", "'")
    return f"\n#### `{name}`\n\n```text\n{text}\n```\n"


def _run_git(root: Path, *arguments: str) -> str | None:
    """Return what git prints, or None if it fails."""
    result = run_git(root, *arguments)
    if result.returncode:
        return None
    return result.stdout


@dataclass(frozen=True, kw_only=True)
class _Comparison:
    """The new processes of a recipe compared with those of a commit."""

    lines: list[str]  # of the report
    inside: int = 0  # number of measurements inside the ranges of the commit
    compared: int = 0  # number of measurements that both have


@dataclass(frozen=True, kw_only=True)
class _NewProcesses:
    """The processes that a commit does not have."""

    comparable: list[Process]
    left_out: list[str]  # lines of the report, on why others cannot be compared


def _compare(file: GalleryFile, path: Path, commit: str, base: str) -> _Comparison:
    """Compare the processes of a recipe that a commit does not have with those it has."""
    package = load_settings(file.gallery).release
    published, texts = _read_commit(path, commit, base, package)
    recipe = load_recipe(file.path, file.name)
    processes = read_processes(path, recipe, recording=None, package=package)
    device = published.device or processes.device
    release = published.release or processes.release
    new = _split_new(processes, path, texts, device=device, release=release)
    if not new.comparable:
        return _Comparison(lines=[f"nothing was recorded since {base}", *new.left_out])
    compared, outside = _compare_values(
        measure_all(published.processes), measure_all(new.comparable)
    )
    hosts = {process.host for process in new.comparable}
    summary = f"{len(new.comparable)} new processes on {len(hosts)} hosts, {device}"
    return _Comparison(
        lines=[summary, *outside, *new.left_out],
        inside=compared - len(outside),
        compared=compared,
    )


def _split_new(
    processes: ProcessSet, path: Path, texts: Mapping[str, str], *, device: str, release: str
) -> _NewProcesses:
    """Split the new processes into those with a device and a release, and the others."""
    comparable: list[Process] = []
    other_devices: set[str] = set()
    other_releases: set[str] = set()
    for device_of_process, process in _find_new(processes, path, texts):
        release_of_process = processes.tell_release(process)
        if device_of_process != device:
            other_devices.add(device_of_process)
        elif release_of_process != release:
            other_releases.add(release_of_process)
        else:
            comparable.append(process)
    left_out = []
    for name in sorted(other_devices):
        left_out.append(f"left out, as recorded on another device: {name}")
    for name in sort_releases(other_releases):
        other = f"another release of {processes.package}: {name or 'an unknown one'}"
        left_out.append(f"left out, as recorded with {other}")
    return _NewProcesses(comparable=comparable, left_out=left_out)


def _compare_values(before: Measurements, now: Measurements) -> tuple[int, list[str]]:
    """Return how many measurements both have, and a line on each outside its published range."""
    compared = 0
    outside = []
    for key, old in before.by_key.items():
        new = now.by_key.get(key)
        if new is None or new.unit != old.unit:
            continue
        compared += 1
        if not old.low <= new.value <= old.high:
            outside.append(_describe(old, new))
    return compared, outside


def _find_new(
    processes: ProcessSet, path: Path, texts: Mapping[str, str]
) -> Iterator[tuple[str, Process]]:
    """Yield device and process of what the files of a commit do not hold."""
    lines = texts[".jsonl"].split("\n")
    published_hashes = {json.loads(line)["hash"] for line in lines if line.strip()}
    for replicate in processes.replicates:
        if replicate.hash not in published_hashes:
            yield replicate.device_name, replicate
    if processes.page and path.read_text(encoding="utf-8") != texts[".ipynb"]:
        yield processes.device, processes.page


def _read_commit(
    path: Path, commit: str, base: str, package: str
) -> tuple[ProcessSet, dict[str, str]]:
    """Return the processes of a recording in a commit, and the texts of its files by ending."""
    texts = {}
    with tempfile.TemporaryDirectory() as folder:
        for file in (path, replicates_path(path)):
            text = _run_git(file.parent, "show", f"{commit}:./{file.name}")
            texts[file.suffix] = text or ""
            if text is not None:
                Path(folder, file.name).write_text(text, encoding="utf-8")
        try:
            copy = Path(folder, path.name)
            return read_processes(copy, recipe=None, recording=None, package=package), texts
        except GalleryError as error:
            place = Path(f"{base}:{os.path.relpath(error.path or folder, folder)}")
            remedy = "compare with another commit"
            raise GalleryError(error.text, path=place, line=error.line, remedy=remedy) from None


def _describe(before: Measurement, now: Measurement) -> str:
    """Return a line on a measurement outside its published range."""
    kind = "expected" if before.is_predicted else f"seen on {_count_hosts(before.hosts)}"
    published = f"{before.value:.4g} ({before.low:.4g} to {before.high:.4g} {kind})"
    line = f"outside: {before.key}: {published}, now {now.value:.4g}"
    if before.unit:
        line += f" {before.unit}"
    if before.value:
        line += f", {100 * (now.value / before.value - 1):+.1f}%"
    return line


def _count_hosts(count: int) -> str:
    return "1 host" if count == 1 else f"{count} hosts"


def describe_releases(
    project: Project, names: Sequence[str], before: str, folder: Path | None = None
) -> str:
    """Report what moved between the release ``before`` and the one that pages show.

    The report covers the recipes called ``names``, or all. ``folder`` holds the recordings; by
    default it is that of conf.py. Returns Markdown, in which an error of one recipe takes the place
    of its changes. Raises ``GalleryError`` for an unknown recipe.
    """
    sections = []
    for file in choose_files(project, names):
        try:
            lines = _describe_changes(file, folder or project.recordings, before, project)
        except GalleryError as error:
            lines = [error.describe(Path.cwd())]
        sections.append(_format_section(file.name, lines))
    return f"### What moved since {before}\n{''.join(sections)}"


def _describe_changes(file: GalleryFile, folder: Path, before: str, project: Project) -> list[str]:
    """Return the lines of the report on one recipe."""
    results = read_results(file, folder, project.root, project.config)
    if not results.is_measured:
        return [results.problem or "nothing is recorded"]
    if before == results.release:
        return [f"its page shows {before} itself; name another release"]
    try:
        old = results.of_release(before)
    except ValueError as error:
        return [str(error)]
    quantities = list_quantities(project.config)
    claims = find_claims(load_recipe(file.path, file.name))
    changes = compare_releases(results.measurements, old, quantities, claims)
    if not changes.hosts:
        return [f"no host has measured both {results.release} and {before}"]
    hosts = _count_hosts(changes.hosts)
    lines = [f"{results.release} against {before}, on {hosts} that measured both"]
    for claim in changes.claims:
        if claim.holds_now:
            release, other, refuted = results.release, before, claim.before
        else:
            release, other, refuted = before, results.release, claim.now
        count = f"{refuted.measured_in - refuted.held} of {refuted.measured_in} processes"
        lines.append(
            f"holds with {release} and not with {other}: <{claim.comparison}> "
            f"({count}: {refuted.refuted[0]})"
        )
    unmoved: list[str] = []
    unknown: list[str] = []
    for summary in changes.summaries:
        if summary.has_moved:
            lines.append(_describe_summary(summary))
        elif summary.is_known:
            unmoved.append(f"{summary.quantity} ({summary.count})")
        else:
            unknown.append(summary.quantity)
    if unmoved:
        lines.append(f"unchanged: {', '.join(unmoved)}")
    if unknown:
        lines.append(f"not known from one host, whose CPU decides: {', '.join(unknown)}")
    lines += [f"  {_describe_change(change)}" for change in changes.moved]
    for release, keys in ((results.release, changes.only_now), (before, changes.only_before)):
        if keys:
            lines.append(f"measured with {release} alone: {', '.join(keys)}")
    return lines


def _describe_summary(summary: QuantitySummary) -> str:
    """Return a line: ``gpu: less in 3 of 20 by 2 to 9%, more in 1 by 3%, else unchanged``."""
    parts = []
    for word, changes in (("less", summary.less), ("more", summary.more)):
        if changes:
            by = _describe_amounts(changes)
            parts.append(f"{word} in {len(changes)} of {summary.count} by {by}")
    if len(summary.less) + len(summary.more) < summary.count:
        parts.append("else unchanged")
    return f"{summary.quantity}: {', '.join(parts)}"


def _describe_amounts(changes: Sequence[Change]) -> str:
    """Return by how much measurements changed: ``8 to 51%``, or ``1e+06 to 3.4e+07 B``."""
    if changes[0].is_difference:
        unit = f" {changes[0].now.unit}"
        low, high = (f"{amount:.2g}" for amount in find_differences(changes))
    else:
        unit = "%"
        low, high = (f"{100 * share:.0f}" for share in find_percents(changes))
    ends = low if low == high else f"{low} to {high}"
    return f"{ends}{unit}"


_BASIS_MARKS = {
    Basis.VALUES: "",
    Basis.WITHIN_PROCESS: ", within each process",
    Basis.HOST: ", bound by the host",
}


def _describe_change(change: Change) -> str:
    """Return a line on a measurement that moved: the ratio, its range and both values."""
    unit = f" {change.now.unit}" if change.now.unit else ""
    values = f"{change.now.value:.4g}{unit}, was {change.before.value:.4g}{unit}"
    hosts = "1 host"
    if change.hosts > 1:
        hosts = f"{change.low:.3g} to {change.high:.3g} on {change.hosts} hosts"
    mark = _BASIS_MARKS[change.basis]
    return f"{change.now.key}: {change.ratio:.3g} times ({hosts}{mark}); {values}"
