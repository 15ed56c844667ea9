"""What the figures of a recording are computed from: the page's run, and replicates of its code."""

from dataclasses import dataclass
from pathlib import Path

from ..errors import GalleryError, suggest
from .hashes import digest
from .measurements import ClaimRecord, Refutation
from .recipe import Recipe
from .recording import Recording, compare, read_recording
from .replicates import Replicate, Replicates, read_replicates, replicates_path
from .rows import Published, read_published

METHOD = "4"  # of record/replicates/intervals.py; another one makes stored figures outdated


@dataclass(frozen=True, kw_only=True)
class Process:
    """What one process published."""

    number: int  # 0 is the run that the page shows
    host: str
    published: Published


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
    def processes(self) -> list[Process]:
        """The page's run and the replicates that count, whatever the order of their lines."""
        found = [
            Process(number=each.replicate, host=each.host, published=each.published)
            for each in sorted(
                self.counted, key=lambda each: (each.host, each.replicate, each.line)
            )
        ]
        return [*([self.page] if self.page else []), *found]

    @property
    def digest(self) -> str:
        """The digest that belongs to figures computed from these, in whatever order they are."""
        page = self.page.published if self.page else Published()
        host = self.page.host if self.page else ""
        lines = sorted({each.line for each in self.counted})
        return digest([f"{METHOD} {host}", page.as_json(), lines])

    def count_claims(self) -> dict[str, ClaimRecord]:
        """Return by key in how many processes each claim held, and which refute it."""
        processes = self.processes
        keys = {claim.key for each in processes for claim in each.published.claims}
        found = {}
        for key in sorted(keys):
            said = [
                (p, claim) for p in processes for claim in p.published.claims if claim.key == key
            ]
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


def read_sources(path: Path, recipe: Recipe, recording: Recording | None = None) -> Sources:
    """Return what the figures of the recording at ``path`` are computed from.

    Raises ``GalleryError`` if recording, rows or replicates cannot be read, or do not fit together.
    """
    replicates = read_replicates(replicates_path(path), recipe.replicate_fingerprint)
    if recording is None and path.exists():
        former = recipe.name.partition("/")[2]  # the name before there was a second gallery
        recording = read_recording(path, recipe.name, former)
    page, devices = None, [each.device_name for each in replicates.current]
    if recording and compare(recipe, recording).is_current:
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
