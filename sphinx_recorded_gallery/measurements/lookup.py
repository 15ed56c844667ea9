"""Look up the measurements of recipes for pages, which watch them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from ..recipes.releases import find_release
from ..store import cached, digest_of, once, watch
from .keys import ComparisonTerm, Reference, find_references, is_comparison, parse_comparison
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
from .quantities import Quantity, find_gpu_only, list_quantities
from .ranges import Measurement
from .replicates import read_all_replicates, replicates_path


class Outcome(Enum):
    """The outcome of looking up measurements. What readers are told is ``Lookup.problem``."""

    MEASURED = "measured"
    NO_CURRENT_RECORDING = "no current recording"  # which the recipe's own page reports
    UNREADABLE = "unreadable"  # files do not fit together; the problem is the same for all keys
    WRONG_KEY = "wrong key"  # no measurement has this name, or several have
    LEFT_TO_GPU = "left to a GPU"  # only a GPU measures it, and the recording was made on a CPU


@dataclass(frozen=True, kw_only=True)
class RecipeResults:
    """A recipe, and its measurements if it was recorded."""

    # Not in repr: pages that show measurements do not depend on title and text.
    title: str = field(repr=False)  #: of the recipe
    text: str = field(repr=False)  #: its first paragraph
    outcome: Outcome = Outcome.NO_CURRENT_RECORDING  #: MEASURED if there are measurements
    problem: str = ""  #: why there are no measurements of this code
    device: str = ""  #: empty without a recording
    recorded: datetime | None = None  #: when the page's run was made
    versions: tuple[tuple[str, str], ...] = ()  #: by package
    on_gpu: bool = False  #: the recording was made on a GPU
    package: str = ""  #: whose releases are told apart; empty if they are not
    release: str = ""  #: of the run that the page shows
    #: of all processes of the page's release
    measurements: Measurements = field(default_factory=Measurements, repr=False)
    by_release: dict[str, Measurements] = field(default_factory=dict, repr=False)  #: newest first
    #: that any process measured, of any code on any device, if the recording was made on a CPU
    releases_anywhere: frozenset[str] = frozenset()
    #: replicates on GPUs, if the recording was made on a CPU
    gpu_measurements: Measurements = field(default_factory=Measurements, repr=False)
    #: stands for the measurements of all releases when a build looks for changes
    digest: bytes = b""

    @property
    def is_measured(self) -> bool:
        """Whether there are measurements."""
        return self.outcome is Outcome.MEASURED

    @property
    def is_unreadable(self) -> bool:
        """Whether the files of the recording do not fit together, as ``problem`` says."""
        return self.outcome is Outcome.UNREADABLE

    def of_release(self, release: str = "") -> Measurements:
        """Return the measurements of a release, by default of the page's.

        Raises ``ValueError`` that lists the measured releases.
        """
        if not release or release == self.release:
            return self.measurements
        if release in self.by_release:
            return self.by_release[release]
        if not self.package:
            raise ValueError(
                f"releases are not told apart, so there is no {release}; name the package in "
                f"{FILE_NAME}: [provenance] release"
            )
        releases = ", ".join(filter(None, self.by_release)) or "none"
        raise ValueError(
            f"nothing was measured with {self.package} {release}; measured releases: {releases}"
        )


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """The result of looking up one key: a measurement, or a claim for a comparison."""

    outcome: Outcome
    measurement: Measurement | None = None
    #: what was ``compared``, in how many processes it ``held``, and what ``refuted`` it
    claim: ClaimRecord | None = None
    problem: str = ""  #: for a person to correct; empty if there is none

    @property
    def is_left_to_gpu(self) -> bool:
        """Whether only a GPU measures it, and the recording was made on a CPU."""
        return self.outcome is Outcome.LEFT_TO_GPU

    @property
    def is_unreadable(self) -> bool:
        """Whether the files of the recording do not fit together; the same holds for all keys."""
        return self.outcome is Outcome.UNREADABLE


def find_page(env: BuildEnvironment, named: Reference, docname: str) -> str:
    """Return the page of the recipe that a role on the page ``docname`` names.

    Raises ``ValueError`` if there is no such recipe.
    """
    try:
        return choose_page(once(env, all_files), named, docname)
    except ValueError:
        if named.recipe:
            watch(env, all_files)  # the recipe may be added later
        raise


def choose_page(files: Mapping[str, GalleryFile], named: Reference, docname: str) -> str:
    """Return the page among ``files`` that a role on the page ``docname`` names.

    Raises ``ValueError`` if there is no such recipe.
    """
    if not named.recipe:
        if docname in files:
            return docname
        raise ValueError(f"{named.key!r} names no example; write it as NAME:{named.key}")
    for page, file in files.items():
        if named.recipe in (file.name, page):
            return page
    names = [file.name for file in files.values()]
    choice = suggest_keys(named.recipe, names) or f"; choose among: {', '.join(names)}"
    raise ValueError(f"no example is called {named.recipe!r}{choice}")


def all_files(env: BuildEnvironment) -> dict[str, GalleryFile]:
    """Return all recipes of the project by page, for ``once`` or ``watch``."""
    return {file.docname: file for file in list_files(env.config, Path(env.srcdir))}


def look_up(env: BuildEnvironment, docname: str, key: str, release: str = "") -> Lookup:
    """Look up the key of a measurement, or the comparison of a claim, in a recipe.

    ``release`` is empty for that of the page. The current page is read again when the measurements
    of the recipe change.
    """
    results = watch(env, load_results, docname)
    if results is None:
        return Lookup(outcome=Outcome.NO_CURRENT_RECORDING)
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
    """Look up a key or a comparison in the results of a recipe.

    With ``may_lack``, a recording on a CPU may lack measurements that only a GPU can make.
    """
    if results.is_unreadable:
        return Lookup(outcome=results.outcome, problem=results.problem)
    if not results.is_measured:
        return Lookup(outcome=results.outcome)
    can_lack = may_lack and not results.on_gpu
    try:
        measurements = results.of_release(release)
    except ValueError as error:
        if not (can_lack and release in results.releases_anywhere):
            return Lookup(outcome=Outcome.WRONG_KEY, problem=str(error))
        # A CPU need not run again each release that was measured; its own shows whether the key
        # exists.
        lookup = _find_in_release(results, results.measurements, key, quantities, can_lack=True)
        if lookup.problem:
            return lookup
        return Lookup(outcome=Outcome.LEFT_TO_GPU)
    return _find_in_release(results, measurements, key, quantities, can_lack=can_lack)


def _find_in_release(
    results: RecipeResults,
    measurements: Measurements,
    key: str,
    quantities: dict[str, Quantity],
    *,
    can_lack: bool,
) -> Lookup:
    """Look up a key or a comparison in the measurements of one release of a recipe."""
    try:
        if is_comparison(key):
            return Lookup(outcome=Outcome.MEASURED, claim=measurements.check_claim(key))
        return Lookup(outcome=Outcome.MEASURED, measurement=measurements.find(key))
    except NotMeasured as error:
        problem = str(error)
        gpu_only = find_gpu_only(quantities)
        if can_lack and _is_left_to_gpu(results, key, gpu_only):
            return Lookup(outcome=Outcome.LEFT_TO_GPU)
        if can_lack and _is_of_gpu(error.term.key, gpu_only):
            problem = _describe_wrong_gpu_key(measurements, error.term)
    except ValueError as error:
        problem = str(error)
    return Lookup(outcome=Outcome.WRONG_KEY, problem=problem)


def _is_left_to_gpu(results: RecipeResults, key: str, gpu_only: frozenset[str]) -> bool:
    """Return whether only a GPU can measure the terms that a recording on a CPU lacks.

    That is so if a GPU measured the term with the same code, or if only GPUs measure its quantity
    and this CPU measured another quantity of the same case, variant and size.
    """
    terms: Sequence[ComparisonTerm]
    if is_comparison(key):
        terms = parse_comparison(key)
    else:
        terms = [ComparisonTerm(key=key)]
    for term in terms:
        is_measured = _has(results.measurements, term) or _has(results.gpu_measurements, term)
        if not is_measured and not _lacks_only_quantity(results.measurements, term, gpu_only):
            return False
    return True


def _is_of_gpu(key: str, gpu_only: frozenset[str]) -> bool:
    return key.rpartition(".")[2] in gpu_only


def _describe_wrong_gpu_key(measurements: Measurements, term: ComparisonTerm) -> str:
    """Return that a GPU would not measure a term either, with the keys that it would measure."""
    quantity = term.key.rpartition(".")[2]
    keys = [f"{name.rpartition('.')[0]}.{quantity}" for name in measurements.by_key]
    suggestions = suggest_keys(term.key, dict.fromkeys(keys))
    return f"no measurement is called {term.key!r}{suggestions}"


def _has(measurements: Measurements, term: ComparisonTerm) -> bool:
    try:
        measurements.find(term.key, term.size)
    except (NotMeasured, ValueError):
        return False
    return True


def _lacks_only_quantity(
    measurements: Measurements, term: ComparisonTerm, gpu_only: frozenset[str]
) -> bool:
    """Return whether a term has a GPU's quantity of a case that was measured otherwise."""
    *parts, quantity = term.key.split(".")
    if quantity not in gpu_only:
        return False
    for name, measurement in measurements.by_key.items():
        case_parts = name.split(".")[:-1]
        if is_within(parts, case_parts) and has_size(measurement.size, term.size):
            return True
    return False


def load_results(env: BuildEnvironment, docname: str, machine: str = "") -> RecipeResults | None:
    """Return the results of the recipe of a page; None if it is gone or cannot be read.

    ``machine`` names a folder of ``recordings/``; by default the results are those that the page
    shows. They are cached, also for later builds, until a file changes.
    """
    file = once(env, all_files).get(docname)
    if file is None:
        return None
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings, machine)
    path = file.recording_path(folder)
    files = [file.path, path, replicates_path(path), file.gallery / FILE_NAME]
    read = partial(_read_with_files, file, folder, Path(env.srcdir), env.config)
    results: RecipeResults | None = cached(env, ("results", docname, machine), files, read)
    return results


def _read_with_files(
    file: GalleryFile, folder: Path, root: Path, config: Config
) -> tuple[list[Path] | None, RecipeResults | None]:
    """Return the files of a recipe and its results; None for both if it cannot be read."""
    try:
        files = load_recorded(file, folder).recipe.files
        return files, read_results(file, folder, root, config)
    except GalleryError:
        return None, None


def read_results(file: GalleryFile, folder: Path, root: Path, config: Config) -> RecipeResults:
    """Return the results of a recipe from its recording in ``folder``.

    Problems of its files are part of the results, with paths relative to ``root``. Raises
    ``GalleryError`` if the recipe itself cannot be read.
    """
    page = load_recorded(file, folder)
    recipe = page.recipe
    if isinstance(page, Unrecorded):
        problem = page.error.describe(root)
        return RecipeResults(title=recipe.title, text=recipe.summary, problem=problem)
    recording = page.recording
    results = RecipeResults(
        title=recipe.title,
        text=recipe.summary,
        device=recording.device_name,
        recorded=recording.recorded,
        versions=tuple(recording.facts["versions"].items()),
        on_gpu=recording.on_gpu,
    )
    if not page.comparison.is_current:
        text = page.comparison.describe_as_stale()
        problem = GalleryError(text, path=recording.path).describe(root)
        return replace(results, problem=problem)
    try:
        package = load_settings(file.gallery).release
        processes = read_processes(recording.path, recipe, recording, package)
        if not recording.on_gpu:
            published = file.recording_path(root / config.recorded_gallery_recordings)
            releases = _find_releases(package, recording.path, published)
            results = replace(results, releases_anywhere=releases)
        return _add_measurements(results, processes, recording, list_quantities(config))
    except GalleryError as error:  # the files do not fit together
        return replace(results, outcome=Outcome.UNREADABLE, problem=str(error))


def _find_releases(package: str, *recordings: Path) -> frozenset[str]:
    """Return the releases of a package that the replicates of recordings measured.

    Also those of other code: who changes a recipe on a CPU does not make its text wrong.
    """
    releases = set()
    for path in recordings:
        for replicate in read_all_replicates(replicates_path(path)):
            releases.add(find_release(replicate.versions, package))
    return frozenset(releases - {""})


def find_claims(recipe: Recipe) -> list[str]:
    """Return the comparisons that a recipe's text claims of its own measurements.

    Claims that name a release hold for that release only, and are left out.
    """
    comparisons = []
    for _line, reference in list_references(recipe):
        is_own = reference.recipe in ("", recipe.name)
        if is_comparison(reference.key) and is_own and not reference.release:
            comparisons.append(reference.key)
    return comparisons


def list_references(recipe: Recipe) -> Iterator[tuple[int, Reference]]:
    """Yield what the roles in a recipe's text name, each with its line in the file."""
    for block in recipe.blocks:
        if block.type == "text":
            for line, reference in find_references(block.content):
                yield block.lineno + line, reference


def _add_measurements(
    results: RecipeResults,
    processes: ProcessSet,
    recording: Recording,
    quantities: dict[str, Quantity],
) -> RecipeResults:
    by_release = {}
    for release, group in processes.by_release.items():
        by_release[release] = measure_all(group, quantities, release=release)
    replicates_on_gpus = []
    if not recording.on_gpu:
        replicates_on_gpus = [
            replicate for replicate in processes.replicates if replicate.device.get("gpu")
        ]
    gpu_measurements = measure_all(replicates_on_gpus, quantities)
    return replace(
        results,
        outcome=Outcome.MEASURED,
        package=processes.package,
        release=processes.release,
        measurements=by_release[processes.release],
        by_release=by_release,
        gpu_measurements=gpu_measurements,
        digest=digest_of((by_release, gpu_measurements)),
    )
