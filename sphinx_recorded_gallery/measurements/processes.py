"""The measurements of all processes of a recipe: the run that its page shows, and replicates."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from ..errors import GalleryError, suggest_record
from ..recipes.recipe import Recipe
from ..recipes.recording import Recording, compare, read_recording
from ..recipes.releases import find_release, sort_releases
from .keys import ComparisonTerm, parse_comparison
from .quantities import Quantity, find_gpu_bound
from .ranges import Measurement, find_range, is_baseline, measure
from .replicates import Process, Replicate, read_replicates, replicates_path
from .rows import LARGEST, SMALLEST, Row, read_rows, slug

_MAX_NAMES = 3  # processes or keys that a message names
_LEAST_SHARE_OF_PARTS = 0.5  # of a key, in a name that is suggested for it
_LEAST_LIKENESS = 0.7  # of two spellings of one part


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """The number of processes in which a claim holds."""

    key: str
    held: int  # number of processes in which it holds
    measured_in: int  # number of processes that measured all of it
    hosts: int  # number of hosts on which these ran
    compared: tuple[tuple[ComparisonTerm, Measurement], ...]
    refuted: tuple[str, ...]  # processes in which it does not hold, with their values

    @property
    def failure(self) -> str:
        """The message for the author of a claim that some processes refute."""
        refutations = "; ".join(self.refuted[:_MAX_NAMES])
        if len(self.refuted) > _MAX_NAMES:
            refutations += f"; and {len(self.refuted) - _MAX_NAMES} more"
        count = f"{self.measured_in - self.held} of {self.measured_in} processes"
        remedy = "weaken the sentence: a new text needs no new recording"
        return f"does not hold in {count}: {refutations}; {remedy}"


class NotMeasured(LookupError):  # noqa: N818 (some callers accept that one is missing)
    """There is no measurement with the key and size of ``term``."""

    def __init__(self, text: str, term: ComparisonTerm) -> None:
        super().__init__(text)
        self.term = term


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """All measurements of a recording with one release.

    ``by_key`` has them by their keys, in the order of these; ``processes`` are what measured them.
    """

    by_key: dict[str, Measurement] = field(default_factory=dict)
    processes: tuple[Process, ...] = ()
    release: str = ""  # empty if releases are not told apart

    @property
    def published(self) -> list[Measurement]:
        """What the first process measured, in the order in which the recipe published it.

        That is the run which a page shows, if it has one.
        """
        if not self.processes:
            return []
        return [self.by_key[row.key] for row in self.processes[0].rows]

    def find(self, key: str, size: str = "") -> Measurement:
        """Return the measurement with a key, which may omit parts if only one measurement matches.

        Raises ``NotMeasured`` if none matches, ``ValueError`` if several do.
        """
        if key in self.by_key and not size:
            return self.by_key[key]
        parts = key.split(".")
        matches = []
        for name, measurement in self.by_key.items():
            if is_part(parts, name.split(".")) and has_size(measurement.size, size):
                matches.append(measurement)
        if len(matches) == 1:
            return matches[0]
        wanted = f"{key!r} of size {size}" if size else repr(key)
        if not matches:
            suggestions = suggest_keys(key, self.by_key)
            text = f"no measurement is called {wanted}{suggestions}"
            raise NotMeasured(text, ComparisonTerm(key=key, size=size))
        names = [measurement.key for measurement in matches[:_MAX_NAMES]]
        if len(matches) > _MAX_NAMES:
            names.append("...")
        raise ValueError(f"{wanted} is ambiguous: it may be {', '.join(names)}; name more parts")

    def check_claim(self, key: str) -> ClaimRecord:
        """Compare the terms of a claim in each process that measured all, and count where it holds.

        Raises ``NotMeasured`` if no process did, ``ValueError`` for an unclear key and for terms of
        different units.
        """
        compared = [(term, self.find(term.key, term.size)) for term in parse_comparison(key)]
        unit = _require_one_unit(key, [measurement for _term, measurement in compared])
        keys = {measurement.key for _term, measurement in compared}
        complete = [process for process in self.processes if process.by_key.keys() >= keys]
        if not complete:
            raise NotMeasured(f"no process measured all of {key!r}", compared[0][0])
        refuted = []
        for process in complete:
            values = []
            for term, measurement in compared:
                values.append(term.factor * process.by_key[measurement.key].value)
            holds = all(less < more for less, more in pairwise(values))
            if not holds:
                evidence = " against ".join(f"{value:.4g} {unit}".rstrip() for value in values)
                refuted.append(f"{process.describe(self.release)}: {evidence}")
        return ClaimRecord(
            key=key,
            held=len(complete) - len(refuted),
            measured_in=len(complete),
            hosts=len({process.host for process in complete}),
            compared=tuple(compared),
            refuted=tuple(refuted),
        )

    def find_ratio(self, key: str, over: str) -> Measurement | None:
        """Return the ratio of the measurement ``key`` to ``over``.

        Returns None if no process has both, or if a ratio exceeds the bounds of a row. The ratio of
        two wall times is the speed-up that the recipe publishes, if it publishes one.
        """
        numerator = self.by_key[key]
        denominator = self.by_key[over]
        if _is_speedup(numerator, denominator, self.by_key):
            return self.by_key[replace(denominator, quantity="speedup").key]
        ratios = []
        for process in self.processes:
            rows = process.by_key
            if key in rows and over in rows and rows[over].value:
                ratio = rows[key].value / rows[over].value
                row = replace(rows[key], quantity="ratio", unit="x", value=ratio)
                ratios.append((process.host, row))
        if not ratios:
            return None
        can_be_shown = all(SMALLEST <= row.value <= LARGEST for _host, row in ratios)
        if not can_be_shown:
            return None
        return find_range(ratios, gpu_bound=numerator.gpu_bound and denominator.gpu_bound)

    def find_paired(self, key: str, beside: str) -> Measurement:
        """Return the measurement ``key`` in those processes alone that also measured ``beside``.

        It is what a ratio of the two was taken from. Raises ``KeyError`` if no process has both.
        """
        rows = []
        for process in self.processes:
            if key in process.by_key and beside in process.by_key:
                rows.append((process.host, process.by_key[key]))
        if not rows:
            raise KeyError(key)
        return find_range(rows, gpu_bound=self.by_key[key].gpu_bound)


@dataclass(frozen=True, kw_only=True)
class ProcessSet:
    """All processes of a recording; those with one device and release count."""

    path: Path  # of the recording
    replicates: tuple[Replicate, ...]  # of the current code, on any device, with any release
    stale: int  # number of replicates that ran other code
    device: str  # that counts: the page's, or else that of the first replicate
    page: Process | None  # the run that the page shows; None if there is no current recording
    package: str = ""  # whose version is the release; without one, every release is ""

    @property
    def on_device(self) -> tuple[Replicate, ...]:
        """The replicates of the device that counts."""
        return tuple(
            replicate for replicate in self.replicates if replicate.device_name == self.device
        )

    @property
    def release(self) -> str:
        """The release that counts: the page's, or else that of the newest line."""
        if self.page:
            return self.tell_release(self.page)
        if not self.on_device:
            return ""
        newest = max(self.on_device, key=lambda replicate: replicate.recorded)
        return self.tell_release(newest)

    @property
    def by_release(self) -> dict[str, tuple[Process, ...]]:
        """The processes on the device that counts, the newest release first.

        The page's run is the first of its release. The order of replicates does not depend on the
        order of their lines in the file.
        """
        replicates = sorted(self.on_device, key=_replicate_order)
        processes: list[Process] = [*replicates]
        if self.page:
            processes.insert(0, self.page)
        groups: dict[str, list[Process]] = {}
        for process in processes:
            groups.setdefault(self.tell_release(process), []).append(process)
        return {release: tuple(groups[release]) for release in sort_releases(groups)}

    @property
    def processes(self) -> tuple[Process, ...]:
        """The processes that count."""
        return self.by_release.get(self.release, ())

    def tell_release(self, process: Process) -> str:
        """Return the release that a process measured."""
        return find_release(process.versions, self.package)


def measure_all(
    processes: Sequence[Process],
    quantities: Mapping[str, Quantity] | None = None,
    *,
    release: str = "",
) -> Measurements:
    """Return the measurements of processes with one release.

    ``quantities`` are those of the project; without them, the engine's own are used.
    """
    gpu_bound = find_gpu_bound(quantities) if quantities is not None else None
    measured = measure(((process.host, process.rows) for process in processes), gpu_bound)
    # Only some rows of a case name what its sizes count; each measurement needs that name.
    size_names = {}  # by case
    for process in processes:
        for row in process.rows:
            if row.size_name:
                size_names[row.case] = row.size_name
    by_key = {
        key: replace(measurement, size_name=size_names.get(measurement.case, ""))
        for key, measurement in measured.items()
    }
    return Measurements(by_key=by_key, processes=tuple(processes), release=release)


def read_processes(
    path: Path, recipe: Recipe | None, recording: Recording | None = None, package: str = ""
) -> ProcessSet:
    """Return the processes of the recording at ``path`` that ran the code of a recipe.

    Without a recipe, they are the recording's run and the replicates with the code of the newest
    one. The version of ``package`` is the release. Raises ``GalleryError`` if the recording, rows
    or replicates cannot be read, or if their units differ.
    """
    fingerprint = recipe.replicate_fingerprint if recipe else ""
    replicates, stale = read_replicates(replicates_path(path), fingerprint)
    if recording is None and path.exists():
        recording = read_recording(path, recipe.name if recipe else "")
    page = None
    device = replicates[0].device_name if replicates else ""
    if recording and (recipe is None or compare(recipe, recording).is_current):
        page = Process(
            replicate=0,
            host=_find_host(recording, replicates),
            rows=read_rows(recording.notebook, path),
            versions=dict(recording.facts["versions"]),
        )
        device = recording.device_name
    processes = ProcessSet(
        path=path, replicates=replicates, stale=stale, device=device, page=page, package=package
    )
    _require_same_units(processes)
    return processes


def _replicate_order(replicate: Replicate) -> tuple[Any, ...]:
    return replicate.host, replicate.replicate, replicate.recorded, replicate.hash


def _find_host(recording: Recording, replicates: Sequence[Replicate]) -> str:
    """Return the host of a recording; if unknown, that of a replicate, to count no host twice."""
    host = str(recording.facts.get("host", ""))
    if host:
        return host
    for replicate in replicates:
        if replicate.host:
            return replicate.host
    return ""


def _is_speedup(
    numerator: Measurement, denominator: Measurement, by_key: Mapping[str, Measurement]
) -> bool:
    """Return whether the ratio of two measurements is a speed-up that the recipe publishes."""
    if numerator.quantity != "wall":
        return False
    is_same_but_for_variant = (
        numerator.case == denominator.case
        and numerator.size == denominator.size
        and numerator.quantity == denominator.quantity
    )
    if not is_same_but_for_variant:
        return False
    is_published = replace(denominator, quantity="speedup").key in by_key
    return is_published and is_baseline(numerator, by_key)


def is_part(parts: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether ``whole`` holds the parts of a key in this order, with the same quantity."""
    return parts[-1] == whole[-1] and is_within(parts, whole)


def is_within(parts: Sequence[str], whole: Sequence[str]) -> bool:
    """Return whether ``whole`` holds all parts in this order, whatever lies between them."""
    remaining = iter(whole)  # ``in`` consumes it up to the part, so the next is sought behind that
    return all(part in remaining for part in parts)


def has_size(size: str | float | None, wanted: str) -> bool:
    """Return whether a size is the one that a claim names; any size fits an empty ``wanted``."""
    if not wanted:
        return True
    if size is None:
        return False
    return wanted in (str(size), slug(size))


def suggest_keys(key: str, keys: Iterable[str]) -> str:
    """Return the keys or quantities most similar to ``key``, for the end of a sentence.

    Keys that share parts come first: if a variant was renamed, size and quantity still tell which
    measurement was meant, whatever the letters of the new name are.
    """
    names = list(keys)
    scores = {name: _share_of_parts(key, name) for name in names}
    similar = [name for name in names if scores[name] >= _LEAST_SHARE_OF_PARTS]
    similar.sort(key=lambda name: (scores[name], _likeness(key, name)), reverse=True)
    if not similar:
        quantities = {name.rpartition(".")[2] for name in names}
        similar = difflib.get_close_matches(key.rpartition(".")[2], quantities, n=_MAX_NAMES)
    if not similar:
        return ""
    return f"; similar: {', '.join(similar[:_MAX_NAMES])}"


def _share_of_parts(key: str, name: str) -> float:
    """Return how many of the parts of ``key`` another name has, from 0 to 1.

    A part that is spelled nearly so counts by its likeness.
    """
    parts = key.split(".")
    total = 0.0
    for part in parts:
        likeness = max(_likeness(part, other) for other in name.split("."))
        if likeness >= _LEAST_LIKENESS:
            total += likeness
    return total / len(parts)


def _likeness(word: str, other: str) -> float:
    return difflib.SequenceMatcher(None, word, other).ratio()


def _require_one_unit(claim: str, compared: Sequence[Measurement]) -> str:
    """Return the unit of the compared measurements; raise ``ValueError`` if units differ."""
    first = compared[0]
    for other in compared:
        if other.unit != first.unit:
            units = f"{first.key} in {_name_unit(first)} with {other.key} in {_name_unit(other)}"
            raise ValueError(
                f"the claim <{claim}> compares {units}; compare values of the same unit"
            )
    return first.unit


def _name_unit(measurement: Measurement) -> str:
    return repr(measurement.unit) if measurement.unit else "no unit (a count)"


def _require_same_units(processes: ProcessSet) -> None:
    """Raise ``GalleryError`` if rows with one key have different units."""
    units: dict[str, str] = {}
    for processes_of_release in processes.by_release.values():
        for process in processes_of_release:
            for row in process.rows:
                unit = units.setdefault(row.key, row.unit)
                if row.unit != unit:
                    raise _different_units(processes.path, process, row, unit)


def _different_units(recording: Path, process: Process, row: Row, unit: str) -> GalleryError:
    if isinstance(process, Replicate):
        path = replicates_path(recording)
        place = f"in replicate {process.replicate}"
    else:  # the page's run, of an older release than the replicates
        path = recording
        place = "in the page's run"
    return GalleryError(
        f"{row.key} is in {unit!r} and, {place}, in {row.unit!r}",
        path=path,
        remedy=f"publish one unit, then run: {suggest_record(recording.stem)}",
    )
