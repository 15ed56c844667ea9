"""What is told of measurements: of how many processes they are, and which claims failed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import GalleryError, describe_error
from ...recipes.measurements import Measurement
from ...recipes.recipe import Recipe
from ...recipes.recording import Recording
from ...recipes.references import find_claims
from ...recipes.sources import ClaimRecord, Sources, read_sources


@dataclass(frozen=True, kw_only=True)
class MeasuredReport:
    """How the measurements of one recording stand; nothing is told of one that publishes none."""

    notes: tuple[str, ...] = ()  # what a person may want to know
    wrong: tuple[str, ...] = ()  # what is to be mended
    refuted: tuple[str, ...] = ()  # claims that a process refutes; text must not rest on these

    @property
    def lines(self) -> tuple[str, ...]:
        """All that is told."""
        return (*self.notes, *(f"error: {line}" for line in (*self.wrong, *self.refuted)))

    @property
    def as_trial(self) -> "MeasuredReport":
        """The same of processes that may refute what the text says."""
        return replace(self, notes=(*self.notes, *self.refuted), refuted=())


def inspect_measurements(
    path: Path, recipe: Recipe, recording: Recording | None, borrowed: Collection[str]
) -> MeasuredReport:
    """Return how the measurements of the recording at ``path`` stand.

    ``borrowed`` are the claims of the recipe that other pages make.
    """
    try:
        sources = read_sources(path, recipe, recording)
    except GalleryError as error:
        return MeasuredReport(wrong=(describe_error(error),))
    replicates = sources.replicates
    publishes = any(each.published for each in sources.processes)
    measurements = sources.measure()
    claims = measurements.claims
    texts = [block.content for block in recipe.blocks if block.type == "text"]
    made = find_claims("\n".join(texts)) | {*borrowed}
    refuted = describe_refuted(claims[key] for key in sorted(claims.keys() & made))
    notes = []
    if publishes or replicates.current:
        notes.append(f"measurements of {describe(sources)}")
    if claims and not refuted:
        held = [each for each in claims.values() if not each.refuted]
        notes.append(f"claims that hold in every process: {len(held)}")
    # Prose may change without a new recording, so a sentence that was found wrong can go.
    unmade = describe_refuted(claims[key] for key in sorted(claims.keys() - made))
    notes += [f"{each} (no text says so)" for each in unmade]
    if replicates.stale:
        notes.append(f"{count(replicates.stale, 'replicate')} of other code: ignored")
    if replicates.unfinished:
        notes.append("the last replicate was not written to its end: ignored")
    notes += describe_partial(measurements.by_key.values(), sources)
    return MeasuredReport(notes=tuple(notes), refuted=tuple(refuted))


def describe(sources: Sources) -> str:
    """Return of how many processes and hosts measurements are, and what was left out."""
    processes = sources.processes
    hosts = len({each.host for each in processes})
    text = f"{count(len(processes), 'process', 'es')} on {count(hosts, 'host')}"
    if hosts == 1:
        text += " (how hosts differ is not known)"
    other = len(sources.replicates.current) - len(sources.counted)
    return f"{text} ({count(other, 'replicate')} of another device left out)" if other else text


def describe_partial(measured: Iterable[Measurement], sources: Sources) -> list[str]:
    """Tell of the measurements that some of the processes lack which should publish them.

    What the page alone publishes is measured once.
    """
    replicates = len(sources.counted)
    of_page = {row.key for row in sources.page.published.rows} if sources.page else set()
    lacking = [
        each
        for each in measured
        if each.processes < replicates + bool(sources.page)
        and not (each.processes == 1 and each.key in of_page)
    ]
    if not lacking:
        return []
    first = lacking[0]
    text = f"{count(len(lacking), 'measurement')} not of all processes: {first.key} (of "
    return [f"{text}{first.processes}){', ...' if len(lacking) > 1 else ''}"]


def describe_refuted(claims: Iterable[ClaimRecord]) -> list[str]:
    """Tell of the claims that a process refutes, a line each."""
    return [
        f"claim {claim.key} held in {claim.held} of {claim.of} processes; "
        f"{'the page' if not first.replicate else f'replicate {first.replicate}'}"
        f"{f' on host {first.host}' if first.host else ''} refutes it: {first.evidence}"
        for claim in claims
        for first in claim.refuted[:1]
    ]


def count(number: int, noun: str, plural: str = "s") -> str:
    """Return a number with its noun."""
    return f"{number} {noun}{plural if number != 1 else ''}"
