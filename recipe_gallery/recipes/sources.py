"""The processes of a recording, the page's run and replicates of its code, and what they say."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..errors import GalleryError, suggest
from .measurements import Measurement, find_range, measure
from .recipe import Recipe
from .recording import Recording, compare, read_recording
from .replicates import Replicate, Replicates, read_replicates, replicates_path
from .rows import LARGEST, SMALLEST, Published, read_published


@dataclass(frozen=True, kw_only=True)
class Process:
    """What one process published."""

    number: int  # 0 is the run that the page shows
    host: str
    published: Published


@dataclass(frozen=True, kw_only=True)
class Refutation:
    """A process that says the opposite of a claim."""

    replicate: int  # its number; 0 is the run that the page shows
    host: str
    evidence: str


@dataclass(frozen=True, kw_only=True)
class ClaimRecord:
    """What all processes say of a claim."""

    key: str
    held: int  # in so many processes
    of: int
    evidence: str  # of the first in which it held, the page's run if it is among them
    refuted: tuple[Refutation, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Measurements:
    """All measurements and claims of a recording, by key."""

    by_key: dict[str, Measurement] = field(default_factory=dict)
    claims: dict[str, ClaimRecord] = field(default_factory=dict)
    processes: tuple[Process, ...] = ()

    def compare(self, key: str, over: str) -> Measurement | None:
        """Return how many times as much as another one is; None if no process can tell."""
        ratios = []
        for process in self.processes:
            rows = process.published.by_key
            if key in rows and over in rows and rows[over].value:
                ratio = rows[key].value / rows[over].value
                row = replace(rows[key], quantity="ratio", unit="x", value=ratio)
                ratios.append((process.host, row))
        if not ratios or not all(SMALLEST <= row.value <= LARGEST for _host, row in ratios):
            return None
        gpu_bound = self.by_key[key].gpu_bound and self.by_key[over].gpu_bound
        return find_range(ratios, gpu_bound=gpu_bound)


@dataclass(frozen=True, kw_only=True)
class Sources:
    """All processes of a recording, as far as they count."""

    path: Path  # of the recording
    replicates: Replicates
    device: str  # that counts: the page's, or else that of the first replicate
    page: Process | None  # None if there is no current recording

    @property
    def counted(self) -> tuple[Replicate, ...]:
        """The replicates of the device that counts."""
        return tuple(each for each in self.replicates.current if each.device_name == self.device)

    @property
    def processes(self) -> tuple[Process, ...]:
        """The page's run and the replicates that count, whatever the order of their lines."""
        replicates = sorted(
            self.counted, key=lambda each: (each.host, each.replicate, each.recorded, each.hash)
        )
        found = (
            Process(number=each.replicate, host=each.host, published=each.published)
            for each in replicates
        )
        return (*([self.page] if self.page else []), *found)

    def measure(self) -> Measurements:
        """Return what all processes say."""
        return measure_all(self.processes)


def measure_all(processes: Sequence[Process]) -> Measurements:
    """Return what processes say together."""
    measured = measure((each.host, each.published.rows) for each in processes)
    claims = _count_claims(processes)
    return Measurements(by_key=measured, claims=claims, processes=tuple(processes))


def _count_claims(processes: Sequence[Process]) -> dict[str, ClaimRecord]:
    """Return by key in how many processes each claim held, and which refute it."""
    found = {}
    for key in sorted({claim.key for each in processes for claim in each.published.claims}):
        said = [(p, claim) for p in processes for claim in p.published.claims if claim.key == key]
        held = [claim for _process, claim in said if claim.holds]
        found[key] = ClaimRecord(
            key=key,
            held=len(held),
            of=len(said),
            evidence=(held or [said[0][1]])[0].evidence,
            refuted=tuple(
                Refutation(replicate=p.number, host=p.host, evidence=claim.evidence)
                for p, claim in said
                if not claim.holds
            ),
        )
    return found


def read_sources(path: Path, recipe: Recipe | None, recording: Recording | None = None) -> Sources:
    """Return the processes of the recording at ``path`` that ran the code of a recipe.

    Without a recipe they are those of the recording, and of the code of the newest replicate.
    Raises ``GalleryError`` if recording, rows or replicates cannot be read, or do not fit together.
    """
    fingerprint = recipe.replicate_fingerprint if recipe else ""
    replicates = read_replicates(replicates_path(path), fingerprint)
    if recording is None and path.exists():
        name = recipe.name if recipe else ""  # and the name before there was a second gallery
        recording = read_recording(path, name, name.partition("/")[2])
    page, devices = None, [each.device_name for each in replicates.current]
    if recording and (recipe is None or compare(recipe, recording).is_current):
        published = read_published(recording.notebook, path)
        # of an unknown host: no further one is made of it
        hosts = [str(recording.facts.get("host", "")), *(each.host for each in replicates.current)]
        host = next(filter(None, hosts), "")
        page = Process(number=0, host=host, published=published)
        devices.insert(0, recording.device_name)
    device = devices[0] if devices else ""
    sources = Sources(path=path, replicates=replicates, device=device, page=page)
    _require_same_units(sources)
    return sources


def _require_same_units(sources: Sources) -> None:
    units: dict[str, str] = {}
    for process in sources.processes:
        for row in process.published.rows:
            if units.setdefault(row.key, row.unit) != row.unit:
                text = f"{row.key} is in {units[row.key]!r} and, in replicate {process.number}, "
                remedy = f"publish one unit, then run: {suggest('record', sources.path.stem)}"
                path = replicates_path(sources.path)
                raise GalleryError(f"{text}in {row.unit!r}", path=path, remedy=remedy)
