"""Compare what was recorded anew with the figures and claims that a commit has published.

What is new are the processes that the commit does not have: lines of replicates, and the page's
run if its notebook is another one. Of each figure their value stands beside the interval that was
published, which says where a recording made like it will fall.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

from ...errors import GalleryError
from ...project import Project
from ...recipes.gallery import GalleryFile
from ...recipes.measurements import ClaimRecord, Figure
from ...recipes.recipe import Recipe, load_recipe
from ...recipes.recording import compare, read_recording
from ...recipes.replicates import read_replicates, replicates_path
from ...recipes.rows import Claim, Row, read_published
from ..recording_status import choose_files
from .published import Commit, Published, find_commit

_ROUNDING = 1e-9  # of figures that were stored


@dataclass(frozen=True, kw_only=True)
class Process:
    """One process that is not in the commit."""

    host: str
    device: str
    rows: tuple[Row, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, kw_only=True)
class Compared:
    """A published figure, and its value in the new processes."""

    figure: Figure
    value: float

    @property
    def is_outside(self) -> bool:
        """Whether the value lies outside of the published interval."""
        low, high = self.figure.low * (1 - _ROUNDING), self.figure.high * (1 + _ROUNDING)
        return not low <= self.value <= high

    @property
    def change(self) -> float:
        """By what part of the published value it is more, or less: 0.03 is 3 % more."""
        if self.figure.value:
            return self.value / self.figure.value - 1
        return math.inf if self.value else 0.0


@dataclass(frozen=True, kw_only=True)
class ChangedClaim:
    """A claim that holds where it did not, or no longer, or that is new or gone."""

    key: str
    before: tuple[int, int] | None  # held in so many processes of so many
    now: tuple[int, int] | None
    evidence: str = ""  # of a new process in which it does not hold, if there is one


@dataclass(frozen=True, kw_only=True)
class Drift:
    """How a recipe's new processes stand to what was published."""

    name: str
    device: str = ""
    processes: int = 0
    hosts: int = 0
    compared: tuple[Compared, ...] = ()
    new: tuple[str, ...] = ()  # figures that were not published before, with their units
    gone: tuple[str, ...] = ()
    claims: tuple[ChangedClaim, ...] = ()
    note: str = ""  # why nothing, or not all, could be compared

    @property
    def outside(self) -> dict[str, list[Compared]]:
        """The figures outside of their intervals by the class of their spread."""
        found: dict[str, list[Compared]] = defaultdict(list)
        for each in self.compared:
            if each.is_outside:
                found[each.figure.spread_class].append(each)
        return dict(sorted(found.items()))

    @property
    def is_contradicted(self) -> bool:
        """Whether a figure is outside, or a claim holds no longer."""
        lost = [
            each for each in self.claims if each.before and each.now and each.now[0] < each.now[1]
        ]
        return bool(self.outside or lost)


def find_drift(
    project: Project, names: Sequence[str], base: str, folder: Path | None = None
) -> list[Drift]:
    """Compare recordings of recipes called ``names``, or of all, with those of the commit ``base``.

    ``folder`` holds the recordings; by default it is that of conf.py. What is wrong with one
    recipe is its note. Raises ``GalleryError`` for an unknown name of a recipe or a commit.
    """
    commit = find_commit(project.root, base)
    found = []
    for file in choose_files(project, names):
        try:
            found.append(_compare(file, folder or project.recordings, commit))
        except GalleryError as error:
            found.append(Drift(name=file.name, note=error.describe(Path.cwd())))
    return found


def _compare(file: GalleryFile, folder: Path, commit: Commit) -> Drift:
    path = file.recording(folder)
    published = commit.load(path)
    recipe = load_recipe(file.path, file.name)
    processes = _find_new(recipe, file, path, published)
    if not processes:
        return Drift(name=file.name, note=f"nothing was recorded since {commit.name}")
    device = published.device or processes[-1].device
    on_device = [each for each in processes if each.device == device]
    others = sorted({each.device for each in processes} - {device})
    note = f"left out, as recorded on another device than {device}: {', '.join(others)}"
    drift = Drift(name=file.name, device=device, note=note if others else "")
    return _compare_figures(drift, published, on_device) if on_device else drift


def _find_new(recipe: Recipe, file: GalleryFile, path: Path, published: Published) -> list[Process]:
    """Return the processes that the commit does not have, the page's run last."""
    replicates = read_replicates(replicates_path(path), recipe.replicate_fingerprint).current
    processes = [
        Process(host=each.host, device=each.device_name, rows=each.rows, claims=each.claims)
        for each in replicates
        if each.line not in published.replicates
    ]
    if path.is_file() and path.read_text(encoding="utf-8", errors="replace") != published.notebook:
        recording = read_recording(path, file.name, file.name_in_gallery)
        if compare(recipe, recording).is_current:
            found = read_published(recording.notebook, path)
            host, device = str(recording.facts.get("host", "")), recording.device_name
            own = Process(host=host, device=device, rows=found.rows, claims=found.claims)
            processes.append(own)
    return processes


def _compare_figures(drift: Drift, published: Published, processes: Sequence[Process]) -> Drift:
    before = {_name(each): each for each in published.figures.figures.values()}
    measured: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for process in processes:
        for row in process.rows:
            measured[_name(row)][process.host].append(row.value)
    compared = tuple(
        Compared(figure=figure, value=_find_value(measured[name]))
        for name, figure in before.items()
        if name in measured
    )
    return replace(
        drift,
        processes=len(processes),
        hosts=len({each.host for each in processes}),
        compared=compared,
        new=tuple(sorted(measured.keys() - before.keys())),
        gone=tuple(sorted(before.keys() - measured.keys())),
        claims=tuple(_compare_claims(published.figures.claims, processes)),
    )


def _name(figure: Figure | Row) -> str:
    """Return the key with the unit: in another unit it is another figure."""
    return f"{figure.key} ({figure.unit})" if figure.unit else figure.key


def _find_value(by_host: Mapping[str, Sequence[float]]) -> float:
    """Return the median of the hosts' medians, of logarithms where no value is 0."""
    if min(map(min, by_host.values())) <= 0:
        return median(median(values) for values in by_host.values())
    return math.exp(median(median(map(math.log, values)) for values in by_host.values()))


def _compare_claims(
    before: Mapping[str, ClaimRecord], processes: Sequence[Process]
) -> Iterable[ChangedClaim]:
    now: dict[str, list[Claim]] = defaultdict(list)
    for process in processes:
        for claim in process.claims:
            now[claim.key].append(claim)
    for key in sorted(before.keys() | now.keys()):
        record, said = before.get(key), now.get(key)
        held = sum(claim.holds for claim in said or ())
        refuted = [claim.evidence for claim in said or () if not claim.holds]
        if not (record and said) or (record.held == record.of) != (held == len(said)):
            yield ChangedClaim(
                key=key,
                before=(record.held, record.of) if record else None,
                now=(held, len(said)) if said else None,
                evidence=refuted[0] if refuted else "",
            )
