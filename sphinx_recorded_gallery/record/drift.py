"""Compare what was recorded anew with the measurements that a commit has, or with a release.

What is new are the processes that the commit does not have: lines of replicates, and the page's
run if its notebook is another one. Their value stands beside the range that the commit's processes
give. Of two releases it is told what moved on the hosts that have measured both.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..errors import GalleryError
from ..measurements.lookup import Outcome, find_claims, read_results
from ..measurements.processes import ProcessSet, measure_all, read_processes
from ..measurements.quantities import list_quantities
from ..measurements.ranges import Measurement
from ..measurements.release_changes import (
    Basis,
    Change,
    QuantitySummary,
    compare_releases,
    find_percents,
)
from ..measurements.replicates import Process, replicates_path
from ..project import Project
from ..recipes.find_recipes import GalleryFile
from ..recipes.recipe import load_recipe
from ..recipes.recording_toml import load_settings
from ..recipes.releases import sort_releases
from .check_recordings import choose_files
from .run_program import ask


def describe_drift(
    project: Project, names: Sequence[str], base: str, folder: Path | None = None
) -> str:
    """Compare recordings of recipes called ``names``, or of all, with those of the commit ``base``.

    ``folder`` holds the recordings; by default it is that of conf.py. What is wrong with one
    recipe is told with it. Returns Markdown. Raises ``GalleryError`` for an unknown name of a
    recipe or a commit.
    """
    commit = _ask_git(project.root, "rev-parse", "--verify", "-q", f"{base}^{{commit}}")
    if commit is None:
        remedy = "name a branch, a tag or a commit of this repository"
        raise GalleryError(f"git knows no commit {base!r}", path=project.root, remedy=remedy)
    text, within, of = "", 0, 0
    for file in choose_files(project, names):
        try:
            path = file.recording(folder or project.recordings)
            lines, inside, compared = _compare(file, path, commit.strip(), base)
            within, of = within + inside, of + compared
        except GalleryError as error:
            lines = [error.describe(Path.cwd())]
        # What a recipe wrote stands in it as code, so that it addresses nobody; a fence ends at ```
        shown = "\n".join(lines).replace("`", "'")
        text += f"\n#### `{file.name}`\n\n```text\n{shown}\n```\n"
    total = f"{within} of {of} measurements lie in the ranges of {base}"
    return f"### Measurements beside those that are published\n\n{total}\n{text}"


def _ask_git(root: Path, *question: str) -> str | None:
    """Return git's answer, None if it has none."""
    done = ask(["git", "-C", str(root), *question])
    return None if done.returncode else done.stdout


def _compare(file: GalleryFile, path: Path, commit: str, base: str) -> tuple[list[str], int, int]:
    """Say how the processes of a recipe that the commit does not have stand to its own.

    Also returns how many measurements lie in its ranges, and of how many.
    """
    package = load_settings(file.gallery).release
    published, texts = _read_commit(path, commit, base, package)
    processes = read_processes(path, load_recipe(file.path, file.name), None, package)
    device = published.device or processes.device
    release = published.release or processes.release
    made: list[tuple[str, Process]] = [
        (each.device_name, each)
        for each in processes.replicates
        if f'"hash": "{each.hash}"' not in texts[".jsonl"]
    ]
    if processes.page and path.read_text(encoding="utf-8") != texts[".ipynb"]:
        made.append((processes.device, processes.page))
    new: list[Process] = []
    other_devices: set[str] = set()
    other_releases: set[str] = set()
    for name, process in made:
        release_of_process = processes.find_release(process)
        if name != device:
            other_devices.add(name)
        elif release_of_process != release:
            other_releases.add(release_of_process)
        else:
            new.append(process)
    left_out = [
        f"left out, as recorded on another device: {name}" for name in sorted(other_devices)
    ]
    left_out += [
        f"left out, as recorded with another release of {package}: {name or 'an unknown one'}"
        for name in sort_releases(other_releases)
    ]
    if not new:
        return [f"nothing was recorded since {base}", *left_out], 0, 0
    before, now = measure_all(published.processes), measure_all(new)
    pairs = [
        (measured, now.by_key[key])
        for key, measured in before.by_key.items()
        if key in now.by_key and now.by_key[key].unit == measured.unit
    ]
    outside = [_describe(old, each) for old, each in pairs if not old.low <= each.value <= old.high]
    said = f"{len(new)} new processes on {len({each.host for each in new})} hosts, {device}"
    return [said, *outside, *left_out], len(pairs) - len(outside), len(pairs)


def _read_commit(
    path: Path, commit: str, base: str, package: str
) -> tuple[ProcessSet, dict[str, str]]:
    """Return what a commit has of the recording at ``path``, and the text of its two files."""
    texts = {}
    with tempfile.TemporaryDirectory() as folder:
        for each in (path, replicates_path(path)):
            text = _ask_git(each.parent, "show", f"{commit}:./{each.name}")
            texts[each.suffix] = text or ""
            if text is not None:
                Path(folder, each.name).write_text(text, encoding="utf-8")
        try:
            return read_processes(Path(folder, path.name), None, None, package), texts
        except GalleryError as error:
            place = Path(f"{base}:{os.path.relpath(error.path or folder, folder)}")
            remedy = "compare with another commit"
            raise GalleryError(error.text, path=place, line=error.line, remedy=remedy) from None


def _describe(before: Measurement, now: Measurement) -> str:
    hosts = f"{before.hosts} host{'s' * (before.hosts > 1)}"
    kind = "expected" if before.is_predicted else f"seen on {hosts}"
    change = f", {100 * (now.value / before.value - 1):+.1f} %" if before.value else ""
    unit = f" {before.unit}" if before.unit else ""
    said = f"{before.value:.4g} ({before.low:.4g} to {before.high:.4g} {kind})"
    return f"outside: {before.key}: {said}, now {now.value:.4g}{unit}{change}"


def describe_releases(
    project: Project, names: Sequence[str], before: str, folder: Path | None = None
) -> str:
    """Tell what moved between the release ``before`` and the one that pages show.

    It is told of recipes called ``names``, or of all; what is wrong with one is told with it.
    ``folder`` holds the recordings; by default it is that of conf.py. Returns Markdown. Raises
    ``GalleryError`` for an unknown name of a recipe.
    """
    text = ""
    for file in choose_files(project, names):
        try:
            lines = _describe_changes(file, folder or project.recordings, before, project)
        except GalleryError as error:
            lines = [error.describe(Path.cwd())]
        shown = "\n".join(lines).replace("`", "'")
        text += f"\n#### `{file.name}`\n\n```text\n{shown}\n```\n"
    return f"### What moved since {before}\n{text}"


def _describe_changes(file: GalleryFile, folder: Path, before: str, project: Project) -> list[str]:
    results = read_results(file, folder, project.root, project.config)
    if results.outcome is not Outcome.MEASURED:
        return [results.problem or "nothing is recorded"]
    if before == results.release:
        return [f"its page is of {before} itself: name another release"]
    try:
        old = results.of_release(before)
    except ValueError as error:
        return [str(error)]
    quantities = list_quantities(project.config)
    claims = find_claims(load_recipe(file.path, file.name))
    changes = compare_releases(results.measurements, old, quantities, claims)
    if not changes.hosts:
        return [f"no host has measured both {results.release} and {before}"]
    hosts = "1 host" if changes.hosts == 1 else f"{changes.hosts} hosts"
    lines = [f"{results.release} against {before}, on {hosts} that measured both"]
    for claim in changes.claims:
        release, other = results.release, before
        if not claim.holds_now:
            release, other = before, results.release
        failed = claim.before if claim.holds_now else claim.now
        lines.append(
            f"holds with {release} and not with {other}: <{claim.comparison}> "
            f"({failed.of - failed.held} of {failed.of} processes: {failed.refuted[0]})"
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
    """Return a line: ``gpu: less in 3 of 20 by 2 to 9 %, more in 1 by 3 %, else unchanged``."""
    parts = []
    for word, changes in (("less", summary.less), ("more", summary.more)):
        if changes:
            low, high = (f"{100 * share:.0f}" for share in find_percents(changes))
            by = low if low == high else f"{low} to {high}"
            parts.append(f"{word} in {len(changes)} of {summary.count} by {by} %")
    if len(summary.less) + len(summary.more) < summary.count:
        parts.append("else unchanged")
    return f"{summary.quantity}: {', '.join(parts)}"


_BASIS = {
    Basis.VALUES: "",
    Basis.WITHIN_PROCESS: ", within each process",
    Basis.HOST: ", bound by the host",
}


def _describe_change(change: Change) -> str:
    unit = f" {change.now.unit}" if change.now.unit else ""
    values = f"{change.now.value:.4g}{unit}, was {change.before.value:.4g}{unit}"
    hosts = "1 host"
    if change.hosts > 1:
        hosts = f"{change.low:.3g} to {change.high:.3g} on {change.hosts} hosts"
    return f"{change.now.key}: {change.ratio:.3g} times ({hosts}{_BASIS[change.basis]}); {values}"
