"""The processes of a recording, the page's run and replicates of its code, and what they say."""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from ..errors import GalleryError, suggest
from ..recipes.recipe import Recipe
from ..recipes.recording import Recording, compare, read_recording
from .keys import Term, parse_comparison
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
        return f"{told}; say it with more care: a new text needs no new recording"


class NotMeasured(LookupError):  # noqa: N818 (what may be missing is no error everywhere)
    """No measurement is called so; ``key`` is what was looked for."""

    def __init__(self, text: str, key: str) -> None:
        super().__init__(text)
        self.key = key


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """All measurements of a recording, by key."""

    by_key: dict[str, Measurement] = field(default_factory=dict)
    processes: tuple[Process, ...] = ()

    def find(self, key: str, size: str = "") -> Measurement:
        """Return the measurement that a key means, which may leave out what there is once.

        Raises ``NotMeasured`` if there is none, ``ValueError`` if there are several.
        """
        if key in self.by_key and not size:
            return self.by_key[key]
        parts = key.split(".")
        found = [
            each
            for name, each in self.by_key.items()
            if is_part(parts, name.split("."))
            and size in ("", str(each.size), slug(each.size or ""))
        ]
        if len(found) == 1:
            return found[0]
        named = f"{key!r} of size {size}" if size else repr(key)
        if found:
            several = ", ".join(each.key for each in found[:3])
            raise ValueError(f"{named} may be each of {several}{', ...' * (len(found) > 3)}")
        near = suggest_keys(key, self.by_key)
        raise NotMeasured(f"no measurement is called {named}{near}", key)

    def find_claim(self, key: str) -> ClaimRecord:
        """Compare what a claim names in each process that measured all of it.

        Raises ``NotMeasured`` if there is none, ``ValueError`` for an unclear key.
        """
        compared = [(term, self.find(term.key, term.size)) for term in parse_comparison(key)]
        unit = f" {compared[0][1].unit}".rstrip()
        asked, refuted = [], []
        for process in self.processes:
            found = process.by_key
            if all(each.key in found for _term, each in compared):
                asked.append(process)
                values = [term.factor * found[each.key].value for term, each in compared]
                if not all(less < more for less, more in pairwise(values)):
                    evidence = " against ".join(f"{value:.4g}{unit}" for value in values)
                    refuted.append(f"{process.title}: {evidence}")
        if not asked:
            raise NotMeasured(f"no process measured all of {key!r}", compared[0][1].key)
        return ClaimRecord(
            key=key,
            held=len(asked) - len(refuted),
            of=len(asked),
            hosts=len({process.host for process in asked}),
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
class Sources:
    """All processes of a recording, as far as they count."""

    path: Path  # of the recording
    replicates: tuple[Replicate, ...]  # of the code, on any device
    stale: int  # how many are of other code
    device: str  # that counts: the page's, or else that of the first replicate
    page: Process | None  # None if there is no current recording

    @property
    def counted(self) -> tuple[Replicate, ...]:
        """The replicates of the device that counts."""
        return tuple(each for each in self.replicates if each.device_name == self.device)

    @property
    def processes(self) -> tuple[Process, ...]:
        """The page's run and the replicates that count, whatever the order of their lines."""
        replicates = sorted(
            self.counted, key=lambda each: (each.host, each.replicate, each.recorded, each.hash)
        )
        return (*([self.page] if self.page else []), *replicates)


def measure_all(processes: Sequence[Process]) -> Measurements:
    """Return what processes say together."""
    measured = measure((each.host, each.rows) for each in processes)
    # What the sizes of a case count stands in some of its rows; readers are told with each.
    counted = {row.case: row.sizes for each in processes for row in each.rows if row.sizes}
    by_key = {k: replace(each, sizes=counted.get(each.case, "")) for k, each in measured.items()}
    return Measurements(by_key=by_key, processes=tuple(processes))


def read_sources(path: Path, recipe: Recipe | None, recording: Recording | None = None) -> Sources:
    """Return the processes of the recording at ``path`` that ran the code of a recipe.

    Without a recipe they are those of the recording, and of the code of the newest replicate.
    Raises ``GalleryError`` if recording, rows or replicates cannot be read, or do not fit together.
    """
    fingerprint = recipe.replicate_fingerprint if recipe else ""
    replicates, stale = read_replicates(replicates_path(path), fingerprint)
    if recording is None and path.exists():
        recording = read_recording(path, recipe.name if recipe else "")
    page, devices = None, [each.device_name for each in replicates]
    if recording and (recipe is None or compare(recipe, recording).is_current):
        rows = read_rows(recording.notebook, path)
        # of an unknown host: no further one is made of it
        hosts = [str(recording.facts.get("host", "")), *(each.host for each in replicates)]
        host = next(filter(None, hosts), "")
        page = Process(replicate=0, host=host, rows=rows)
        devices.insert(0, recording.device_name)
    device = devices[0] if devices else ""
    sources = Sources(path=path, replicates=replicates, stale=stale, device=device, page=page)
    _require_same_units(sources)
    return sources


def is_part(parts: Sequence[str], whole: Sequence[str]) -> bool:
    """Tell whether parts of a key stand in a whole one in this order, the quantity last."""
    left = iter(whole)
    return parts[-1:] == [*whole[-1:]] and all(part in left for part in parts)


def suggest_keys(key: str, keys: Iterable[str]) -> str:
    """Return those that look like a key, for the end of a sentence."""
    names = list(keys)
    quantities = {name.rpartition(".")[2] for name in names}
    near = difflib.get_close_matches(key, names, n=3, cutoff=0.5)
    near = near or difflib.get_close_matches(key.rpartition(".")[2], quantities)
    return f"; near it: {', '.join(near)}" if near else ""


def _require_same_units(sources: Sources) -> None:
    units: dict[str, str] = {}
    for process in sources.processes:
        for row in process.rows:
            if units.setdefault(row.key, row.unit) != row.unit:
                text = f"{row.key} is in {units[row.key]!r} and, in replicate {process.replicate}, "
                remedy = f"publish one unit, then run: {suggest('record', sources.path.stem)}"
                path = replicates_path(sources.path)
                raise GalleryError(f"{text}in {row.unit!r}", path=path, remedy=remedy)
