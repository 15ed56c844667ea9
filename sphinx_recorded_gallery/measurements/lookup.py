"""What recipes measured, looked up by their pages: what a page asks for and keeps an eye on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from functools import partial
from pathlib import Path

from sphinx.config import Config
from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..recipes.find_recipes import GalleryFile, list_files
from ..recipes.recipe import Recipe
from ..recipes.recorded_recipe import Unrecorded, load_recorded
from ..recipes.recording import Recording
from ..recipes.recording_toml import FILE_NAME, load_settings
from ..store import digest_of, keep, once, watch
from .keys import Reference, Term, find_references, parse_comparison
from .processes import (
    ClaimRecord,
    Measurements,
    NotMeasured,
    ProcessSet,
    has_size,
    is_within,
    measure_all,
    read_processes,
    suggest_keys,
)
from .quantities import Quantity, list_quantities, name_gpu_only
from .ranges import Measurement
from .replicates import replicates_path


class Outcome(Enum):
    """What came of looking for measurements; the value says when it is so."""

    MEASURED = "measured"
    UNRECORDED = "no recording, or one of other code: the recipe's own page tells"
    UNREADABLE = "the files do not fit together: the problem names its place, for all keys alike"
    WRONG_KEY = "nothing is called so, or several things are"
    LEFT_TO_GPU = "a GPU measures it, and the recording is a CPU's"


@dataclass(frozen=True, kw_only=True)
class RecipeResults:
    """A recipe, and what was measured on one machine if it was recorded there."""

    # Pages that show measurements need not change with title and text, so ``repr`` has neither.
    title: str = field(repr=False)  #: of the recipe
    text: str = field(repr=False)  #: its first paragraph
    outcome: Outcome = Outcome.UNRECORDED  #: MEASURED if there are measurements
    problem: str = ""  #: why nothing is measured, or not by this code
    device: str = ""  #: GPU, or else CPU; empty if there is no recording
    recorded: datetime | None = None  #: when the page's run was made
    versions: tuple[tuple[str, str], ...] = ()  #: by package
    on_gpu: bool = False  #: whether a GPU ran it
    package: str = ""  #: whose releases are told apart; empty if none are
    release: str = ""  #: of the run that the page shows
    #: of all processes of the page's release
    measurements: Measurements = field(default_factory=Measurements, repr=False)
    by_release: dict[str, Measurements] = field(default_factory=dict, repr=False)  #: newest first
    #: what GPUs measured with the same code, if the recording is a CPU's
    on_gpus: Measurements = field(default_factory=Measurements, repr=False)
    #: stands for all releases where a build asks whether they are others
    digest: bytes = b""

    def of_release(self, release: str = "") -> Measurements:
        """Return the measurements of a release, by default of the page's.

        Raises ``ValueError`` that names the releases there are.
        """
        if not release or release == self.release:
            return self.measurements
        if release in self.by_release:
            return self.by_release[release]
        if not self.package:
            raise ValueError(
                f"no releases are told apart, so there is no {release}; name the package in "
                f"{FILE_NAME}: [provenance] release"
            )
        there = ", ".join(filter(None, self.by_release)) or "none"
        raise ValueError(f"nothing was measured with {self.package} {release}; there are: {there}")


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """What a recipe says to one key: a measurement, or for a comparison a claim."""

    outcome: Outcome
    measurement: Measurement | None = None
    #: what was ``compared``, in how many processes it ``held``, and what ``refuted`` it
    claim: ClaimRecord | None = None
    problem: str = ""  #: what a person has to mend, if anything


def find_page(env: BuildEnvironment, named: Reference, docname: str) -> str:
    """Return the page of the recipe that a role on the page ``docname`` names.

    Raises ``ValueError`` if there is no such recipe.
    """
    files = once(env, all_files)
    if not named.recipe:
        if docname in files:
            return docname
        raise ValueError(f"{named.key!r} names no recipe; write it as recipe:{named.key}")
    for page, file in files.items():
        if named.recipe in (file.name, page):
            return page
    names = [file.name for file in watch(env, all_files).values()]  # there may be one later
    raise ValueError(f"no recipe is called {named.recipe!r}{suggest_keys(named.recipe, names)}")


def all_files(env: BuildEnvironment) -> dict[str, GalleryFile]:
    """Return all recipes of the project by their pages, for ``once`` or a page to watch."""
    return {file.docname: file for file in list_files(env.config, Path(env.srcdir))}


def look_up(env: BuildEnvironment, docname: str, key: str, release: str = "") -> Lookup:
    """Return what a recipe says to the key of a measurement, or to the comparison of a claim.

    ``release`` is another one than the page's. The page at hand is read again when the measurements
    of the recipe change: one look for all its keys.
    """
    results = watch(env, load_results, docname)
    if results is None:
        return Lookup(outcome=Outcome.UNRECORDED)
    quantities = list_quantities(env.config)
    return find_in_results(
        results, key, release, quantities, may_lack=env.config.recorded_gallery_gpu_figures
    )


def find_in_results(
    results: RecipeResults,
    key: str,
    release: str,
    quantities: dict[str, Quantity],
    *,
    may_lack: bool,
) -> Lookup:
    """Return what results say to a key or comparison.

    On a CPU's recording they ``may_lack`` what only a GPU measures, and nothing else.
    """
    if results.outcome is Outcome.UNREADABLE:
        return Lookup(outcome=results.outcome, problem=results.problem)
    if results.outcome is not Outcome.MEASURED:
        return Lookup(outcome=results.outcome)
    may_lack = may_lack and not results.on_gpu
    try:
        measurements = results.of_release(release)
    except ValueError as error:
        if not (may_lack and results.package):
            return Lookup(outcome=Outcome.WRONG_KEY, problem=str(error))
        # A CPU need not have run each release; its own tells whether there is such a key.
        found = find_in_results(results, key, "", quantities, may_lack=True)
        return found if found.problem else Lookup(outcome=Outcome.LEFT_TO_GPU)
    try:
        if "<" in key:
            return Lookup(outcome=Outcome.MEASURED, claim=measurements.find_claim(key))
        return Lookup(outcome=Outcome.MEASURED, measurement=measurements.find(key))
    except NotMeasured as error:
        problem = str(error)
        if may_lack and _is_left_to_gpu(results, key, name_gpu_only(quantities)):
            return Lookup(outcome=Outcome.LEFT_TO_GPU)
    except ValueError as error:
        problem = str(error)
    return Lookup(outcome=Outcome.WRONG_KEY, problem=problem)


def _is_left_to_gpu(results: RecipeResults, key: str, gpu_only: frozenset[str]) -> bool:
    """Tell whether all terms that a CPU's recording lacks are what a GPU measures.

    A term is that if a GPU has measured it with the same code, or if its quantity is one of a GPU's
    and this CPU has measured something else of the same case, variant and size.
    """
    terms = parse_comparison(key) if "<" in key else (Term(key=key),)
    return all(
        _has(results.measurements, term)
        or _has(results.on_gpus, term)
        or _lacks_quantity_alone(results.measurements, term, gpu_only)
        for term in terms
    )


def _has(measurements: Measurements, term: Term) -> bool:
    try:
        measurements.find(term.key, term.size)
    except (NotMeasured, ValueError):
        return False
    return True


def _lacks_quantity_alone(measurements: Measurements, term: Term, gpu_only: frozenset[str]) -> bool:
    *parts, quantity = term.key.split(".")
    if quantity not in gpu_only:
        return False
    return any(
        is_within(parts, name.split(".")[:-1]) and has_size(measurement.size, term.size)
        for name, measurement in measurements.by_key.items()
    )


def load_results(env: BuildEnvironment, docname: str, machine: str = "") -> RecipeResults | None:
    """Return what a recipe measured by its page; None if it is gone, or cannot be read.

    ``machine`` names a folder of ``recordings/``; without it, it is the recording the page shows.
    Files that have not changed are not read again, also not in later builds.
    """
    file = once(env, all_files).get(docname)
    if file is None:
        return None
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings, machine)
    path = file.recording(folder)
    files = [file.path, path, replicates_path(path), file.gallery / FILE_NAME]
    read = partial(_read_with_files, file, folder, Path(env.srcdir), env.config)
    results: RecipeResults | None = keep(env, ("results", docname, machine), files, read)
    return results


def _read_with_files(
    file: GalleryFile, folder: Path, root: Path, config: Config
) -> tuple[list[Path] | None, RecipeResults | None]:
    """Return results, and the files of the recipe, None if it cannot be read."""
    try:
        files = load_recorded(file, folder).recipe.files
        return files, read_results(file, folder, root, config)
    except GalleryError:
        return None, None


def read_results(file: GalleryFile, folder: Path, root: Path, config: Config) -> RecipeResults:
    """Return what the recording of a recipe in ``folder`` says.

    Problems of its files are in the results, with paths below ``root``. Raises ``GalleryError`` if
    the recipe itself cannot be read.
    """
    page = load_recorded(file, folder)
    recipe = page.recipe
    results = RecipeResults(title=recipe.title, text=recipe.summary)
    if isinstance(page, Unrecorded):
        return replace(results, problem=page.error.describe(root))
    recording = page.recording
    results = replace(
        results,
        device=recording.device_name,
        recorded=recording.recorded,
        versions=tuple(recording.facts["versions"].items()),
        on_gpu=recording.on_gpu,
    )
    if not page.comparison.is_current:
        stale = f"stale recording: {page.comparison.describe()}"
        problem = GalleryError(stale, path=recording.path).describe(root)
        return replace(results, problem=problem)
    try:
        package = load_settings(file.gallery).release
        processes = read_processes(recording.path, recipe, recording, package)
        return _add_measurements(results, processes, recording, list_quantities(config))
    except GalleryError as error:  # the files do not fit together
        return replace(results, outcome=Outcome.UNREADABLE, problem=str(error))


def find_claims(recipe: Recipe) -> list[str]:
    """Return the comparisons that a recipe's text claims of its own measurements, of any release.

    Claims that name a release are of that one alone, and left out.
    """
    texts = [block.content for block in recipe.blocks if block.type == "text"]
    references = [reference for text in texts for _line, reference in find_references(text)]
    return [
        reference.key
        for reference in references
        if "<" in reference.key and not reference.release and reference.recipe in ("", recipe.name)
    ]


def _add_measurements(
    results: RecipeResults,
    processes: ProcessSet,
    recording: Recording,
    quantities: dict[str, Quantity],
) -> RecipeResults:
    by_release = {
        release: measure_all(group, quantities) for release, group in processes.by_release.items()
    }
    on_gpus = [each for each in processes.replicates if each.device.get("gpu")]
    elsewhere = measure_all([] if recording.on_gpu else on_gpus, quantities)
    return replace(
        results,
        outcome=Outcome.MEASURED,
        package=processes.package,
        release=processes.release,
        measurements=by_release[processes.release],
        by_release=by_release,
        on_gpus=elsewhere,
        digest=digest_of((by_release, elsewhere)),
    )
