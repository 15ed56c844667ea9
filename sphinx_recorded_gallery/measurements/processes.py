"""The processes of a recording, the page's run and replicates of its code, and what they say."""

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from ..errors import GalleryError, suggest_record
from ..recipes.recipe import Recipe
from ..recipes.recording import Recording, compare, read_recording
from ..recipes.releases import find_release, sort_releases
from .keys import Term, parse_comparison
from .quantities import Quantity, name_gpu_bound
from .ranges import Measurement, find_range, is_baseline, measure
from .replicates import Process, Replicate, read_replicates, replicates_path
from .rows import LARGEST, SMALLEST, read_rows, slug


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """What all processes say of a claim."""

    key: str
    held: int  # in so many processes
    of: int
    hosts: int  # on which these ran
    compared: tuple[tuple[Term, Measurement], ...]
    refuted: tuple[str, ...]  # which processes say the opposite, and what they measured

    @property
    def failure(self) -> str:
        """What is told to whoever makes a claim that processes refute."""
        more = f"; and {len(self.refuted) - 3} more" if len(self.refuted) > 3 else ""
        count = f"{self.of - self.held} of {self.of} processes"
        told = f"does not hold in {count}: {'; '.join(self.refuted[:3])}{more}"
        return f"{told}; weaken the sentence: a new text needs no new recording"


class NotMeasured(LookupError):  # noqa: N818 (what may be missing is no error everywhere)
    """No measurement is called so; ``term`` is what was looked for."""

    def __init__(self, text: str, term: Term) -> None:
        super().__init__(text)
        self.term = term


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """All measurements of a release of a recording, by key."""

    by_key: dict[str, Measurement] = field(default_factory=dict)
    processes: tuple[Process, ...] = ()

    def find(self, key: str, size: str = "") -> Measurement:
        """Return the measurement that a key means, which may leave out what there is once.

        Raises ``NotMeasured`` if there is none, ``ValueError`` if there are several.
        """
        if key in self.by_key and not size:
            return self.by_key[key]
        parts = key.split(".")
        matches = [
            measurement
            for name, measurement in self.by_key.items()
            if is_part(parts, name.split(".")) and has_size(measurement.size, size)
        ]
        if len(matches) == 1:
            return matches[0]
        named = f"{key!r} of size {size}" if size else repr(key)
        if matches:
            names = [match.key for match in matches[:3]]
            names += ["..."] if len(matches) > 3 else []
            raise ValueError(f"{named} is ambiguous: it may be {', '.join(names)}; name more parts")
        near = suggest_keys(key, self.by_key)
        raise NotMeasured(f"no measurement is called {named}{near}", Term(key=key, size=size))

    def find_claim(self, key: str) -> ClaimRecord:
        """Compare what a claim names in each process that measured all of it.

        Raises ``NotMeasured`` if there is none, ``ValueError`` for an unclear key and for terms of
        different units.
        """
        compared = [(term, self.find(term.key, term.size)) for term in parse_comparison(key)]
        unit = _require_one_unit(key, [measurement for _term, measurement in compared])
        keys = [measurement.key for _term, measurement in compared]
        able = [process for process in self.processes if process.by_key.keys() >= {*keys}]
        if not able:
            raise NotMeasured(f"no process measured all of {key!r}", compared[0][0])
        refuted = []
        for process in able:
            values = [
                term.factor * process.by_key[measurement.key].value
                for term, measurement in compared
            ]
            if not all(less < more for less, more in pairwise(values)):
                evidence = " against ".join(f"{value:.4g} {unit}".rstrip() for value in values)
                refuted.append(f"{process.title}: {evidence}")
        return ClaimRecord(
            key=key,
            held=len(able) - len(refuted),
            of=len(able),
            hosts=len({process.host for process in able}),
            compared=tuple(compared),
            refuted=tuple(refuted),
        )

    def compare(self, key: str, over: str) -> Measurement | None:
        """Return how many times as much as another one is; None if no process can tell.

        Of wall times it is the speed-up that the recipe publishes, if that is of the same two.
        """
        one, other = self.by_key[key], self.by_key[over]
        own = replace(other, quantity="speedup").key
        are_walls = one.quantity == "wall" and replace(one, variant=other.variant).key == over
        if are_walls and own in self.by_key and is_baseline(one, self.by_key):
            return self.by_key[own]
        ratios = []
        for process in self.processes:
            rows = process.by_key
            if key in rows and over in rows and rows[over].value:
                ratio = rows[key].value / rows[over].value
                row = replace(rows[key], quantity="ratio", unit="x", value=ratio)
                ratios.append((process.host, row))
        if not ratios or not all(SMALLEST <= row.value <= LARGEST for _host, row in ratios):
            return None
        return find_range(ratios, gpu_bound=one.gpu_bound and other.gpu_bound)


@dataclass(frozen=True, kw_only=True)
class ProcessSet:
    """All processes of a recording, and which of them count: those of one device and release."""

    path: Path  # of the recording
    replicates: tuple[Replicate, ...]  # of the code, on any device, with any release
    stale: int  # how many are of other code
    device: str  # that counts: the page's, or else that of the first replicate
    page: Process | None  # None if there is no current recording
    package: str = ""  # whose releases are told apart; without one all are of the release ""

    @property
    def on_device(self) -> tuple[Replicate, ...]:
        """The replicates of the device that counts."""
        return tuple(each for each in self.replicates if each.device_name == self.device)

    @property
    def release(self) -> str:
        """The release that counts: that of the page's run, or else of the newest line."""
        if self.page:
            return self.find_release(self.page)
        newest = max(self.on_device, key=lambda replicate: replicate.recorded, default=None)
        return self.find_release(newest) if newest else ""

    @property
    def by_release(self) -> dict[str, tuple[Process, ...]]:
        """The processes on the device that counts, the newest release first.

        The page's run is the first of its release, replicates follow whatever the order of lines.
        """
        replicates = sorted(
            self.on_device, key=lambda each: (each.host, each.replicate, each.recorded, each.hash)
        )
        processes: list[Process] = [*([self.page] if self.page else []), *replicates]
        releases = sort_releases(map(self.find_release, processes))
        return {
            release: tuple(each for each in processes if self.find_release(each) == release)
            for release in releases
        }

    @property
    def processes(self) -> tuple[Process, ...]:
        """The processes that count."""
        return self.by_release.get(self.release, ())

    def find_release(self, process: Process) -> str:
        """Return the release that a process measured."""
        return find_release(process.versions, self.package)


def measure_all(
    processes: Sequence[Process], quantities: Mapping[str, Quantity] | None = None
) -> Measurements:
    """Return what processes of one release say together.

    ``quantities`` are those of the project; without them the engine's are known.
    """
    gpu_bound = name_gpu_bound(quantities) if quantities is not None else None
    measured = measure(((process.host, process.rows) for process in processes), gpu_bound)
    # What the sizes of a case count stands in some of its rows; readers are told with each.
    rows = [row for process in processes for row in process.rows]
    counted = {row.case: row.sizes for row in rows if row.sizes}
    by_key = {
        key: replace(measurement, sizes=counted.get(measurement.case, ""))
        for key, measurement in measured.items()
    }
    return Measurements(by_key=by_key, processes=tuple(processes))


def read_processes(
    path: Path, recipe: Recipe | None, recording: Recording | None = None, package: str = ""
) -> ProcessSet:
    """Return the processes of the recording at ``path`` that ran the code of a recipe.

    Without a recipe they are those of the recording, and of the code of the newest replicate.
    ``package`` is the one whose releases are told apart. Raises ``GalleryError`` if recording, rows
    or replicates cannot be read, or do not fit together.
    """
    fingerprint = recipe.replicate_fingerprint if recipe else ""
    replicates, stale = read_replicates(replicates_path(path), fingerprint)
    if recording is None and path.exists():
        recording = read_recording(path, recipe.name if recipe else "")
    page = None
    device = replicates[0].device_name if replicates else ""
    if recording and (recipe is None or compare(recipe, recording).is_current):
        # of an unknown host: no further one is made of it
        hosts = [str(recording.facts.get("host", "")), *(each.host for each in replicates)]
        page = Process(
            replicate=0,
            host=next(filter(None, hosts), ""),
            rows=read_rows(recording.notebook, path),
            versions=dict(recording.facts["versions"]),
        )
        device = recording.device_name
    processes = ProcessSet(
        path=path, replicates=replicates, stale=stale, device=device, page=page, package=package
    )
    _require_same_units(processes)
    return processes


def is_part(parts: Sequence[str], whole: Sequence[str]) -> bool:
    """Tell whether parts of a key stand in a whole one in this order, the quantity last."""
    return parts[-1:] == [*whole[-1:]] and is_within(parts, whole)


def is_within(parts: Sequence[str], whole: Sequence[str]) -> bool:
    """Tell whether parts stand in a whole in this order, whatever lies between them."""
    remaining = iter(whole)
    return all(part in remaining for part in parts)


def has_size(size: str | float | None, wanted: str) -> bool:
    """Tell whether a size is the one that a claim names; an empty one is any."""
    return wanted in ("", str(size), slug(size or ""))


def suggest_keys(key: str, keys: Iterable[str]) -> str:
    """Return those that look like a key, for the end of a sentence."""
    names = list(keys)
    quantities = {name.rpartition(".")[2] for name in names}
    near = difflib.get_close_matches(key, names, n=3, cutoff=0.5)
    near = near or difflib.get_close_matches(key.rpartition(".")[2], quantities)
    return f"; near it: {', '.join(near)}" if near else ""


def _require_one_unit(claim: str, compared: Sequence[Measurement]) -> str:
    """Return the unit of what a claim compares; raise ``ValueError`` if there are several."""
    first = compared[0]
    for other in compared:
        if other.unit != first.unit:
            units = f"{first.key} in {_name_unit(first)} with {other.key} in {_name_unit(other)}"
            raise ValueError(f"the claim <{claim}> compares {units}; compare what has one unit")
    return first.unit


def _name_unit(measurement: Measurement) -> str:
    return repr(measurement.unit) if measurement.unit else "no unit (a count)"


def _require_same_units(processes: ProcessSet) -> None:
    units: dict[str, str] = {}
    of_all_releases = [each for group in processes.by_release.values() for each in group]
    for process in of_all_releases:
        for row in process.rows:
            if units.setdefault(row.key, row.unit) != row.unit:
                text = f"{row.key} is in {units[row.key]!r} and, in replicate {process.replicate}, "
                remedy = f"publish one unit, then run: {suggest_record(processes.path.stem)}"
                path = replicates_path(processes.path)
                raise GalleryError(f"{text}in {row.unit!r}", path=path, remedy=remedy)
