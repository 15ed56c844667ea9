"""What is told of figures: of how many processes they are, which are wide, which claims failed."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from ...errors import GalleryError, describe_error, suggest
from ...recipes.measurements import ClaimRecord, Figure, figures_path, load_figures
from ...recipes.recipe import Recipe
from ...recipes.recording import Recording
from ...recipes.references import find_claims
from ...recipes.sources import Sources, read_sources

WIDE = 0.1  # an interval that reaches further is told
_WORST = 3  # so many of them by name


@dataclass(frozen=True, kw_only=True)
class FiguresReport:
    """How the figures of one recording stand; nothing is told of one that publishes none."""

    notes: tuple[str, ...] = ()  # what a person may want to know
    wrong: tuple[str, ...] = ()  # what is to be mended
    refuted: tuple[str, ...] = ()  # claims that a process refutes; text must not rest on these

    @property
    def lines(self) -> tuple[str, ...]:
        """All that is told."""
        return (*self.notes, *(f"error: {line}" for line in (*self.wrong, *self.refuted)))

    @property
    def as_trial(self) -> "FiguresReport":
        """The same of processes that may refute what the text says."""
        return replace(self, notes=(*self.notes, *self.refuted), refuted=())


def inspect_figures(
    path: Path, recipe: Recipe, recording: Recording | None, borrowed: Collection[str]
) -> FiguresReport:
    """Return how the figures of the recording at ``path`` stand; nothing is computed.

    ``borrowed`` are the claims of the recipe that other pages make.
    """
    try:
        sources = read_sources(path, recipe, recording)
        stored = load_figures(path)
    except GalleryError as error:
        return FiguresReport(wrong=(describe_error(error),))
    replicates = sources.replicates
    publishes = any(each.published for each in sources.processes)
    claims = sources.count_claims()
    texts = [block.content for block in recipe.blocks if block.type == "text"]
    made = find_claims("\n".join(texts)) | {*borrowed}
    refuted = describe_refuted(claims[key] for key in sorted(claims.keys() & made))
    notes, wrong = [], []
    if publishes or replicates.current:
        notes.append(f"figures of {describe(sources)}")
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
    again = f"run: {suggest('figures', recipe.name)}"
    if recording and not sources.page:
        pass  # what is stale is recorded again, and its figures are computed then
    elif publishes and not figures_path(path).exists():
        wrong.append(f"no intervals of figures are stored; {again}")
    elif publishes and stored.sources != sources.digest:
        wrong.append(f"the stored figures are not those of these processes; {again}")
    elif publishes:
        notes += describe_wide(stored.figures.values())
        notes += describe_partial(stored.figures.values(), sources)
    elif stored.figures or stored.claims:
        wrong.append(f"figures are stored, but nothing publishes any; {again}")
    return FiguresReport(notes=tuple(notes), wrong=tuple(wrong), refuted=tuple(refuted))


def describe(sources: Sources) -> str:
    """Return of how many processes and hosts figures are, and what was left out."""
    processes = sources.processes
    hosts = len({each.host for each in processes})
    text = f"{count(len(processes), 'process', 'es')} on {count(hosts, 'host')}"
    if hosts == 1:
        text += " (how hosts differ is supposed)"
    other = len(sources.replicates.current) - len(sources.counted)
    return f"{text} ({count(other, 'replicate')} of another device left out)" if other else text


def describe_wide(figures: Iterable[Figure]) -> list[str]:
    """Tell of the figures whose intervals are wide: how many, and the worst."""
    wide = sorted((each for each in figures if each.width > WIDE), key=lambda each: -each.width)
    if not wide:
        return []
    widths = [f"{each.width:.0%}" if each.width < 10 else "1000% or more" for each in wide]
    named = zip(wide[:_WORST], widths, strict=False)
    worst = ", ".join(f"{each.key} (±{width})" for each, width in named)
    more = "" if len(wide) <= _WORST else ", ..."
    return [f"{count(len(wide), 'interval')} wider than ±{WIDE:.0%}: {worst}{more}"]


def describe_partial(figures: Iterable[Figure], sources: Sources) -> list[str]:
    """Tell of the figures that some of the processes lack which should publish them.

    What the page alone publishes is measured once.
    """
    replicates = len(sources.counted)
    of_page = {row.key for row in sources.page.published.rows} if sources.page else set()
    lacking = [
        each
        for each in figures
        if each.processes < replicates + bool(sources.page)
        and not (each.processes == 1 and each.key in of_page)
    ]
    if not lacking:
        return []
    first = lacking[0]
    text = f"{count(len(lacking), 'figure')} not of all processes: {first.key} (of "
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
