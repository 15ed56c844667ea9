"""What recipes measured, looked up by their pages: what a page asks for and keeps an eye on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path

from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..recipes.find_recipes import GalleryFile, list_files
from ..recipes.recorded_recipe import Unrecorded, load_recorded
from ..store import digest_of, keep, once, watch
from .keys import Reference
from .processes import (
    ClaimRecord,
    Measurements,
    NotMeasured,
    is_part,
    measure_all,
    read_sources,
    suggest_keys,
)
from .ranges import Measurement
from .replicates import replicates_path

GPU_QUANTITIES = ("gpu", "cpu", "kernels", "memory")  # quantities that a CPU does not publish
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True)
class Known:
    """A recipe, and what was measured on one machine if it was recorded there."""

    title: str = field(repr=False)  # pages that show figures need not change with it
    text: str = field(repr=False)
    device: str = ""  # empty: there is no recording
    recorded: datetime | None = None
    versions: tuple[tuple[str, str], ...] = ()  # by package
    on_gpu: bool = False  # whether a GPU ran it
    # of all processes; the digest stands for them where a build asks whether they are others
    measurements: Measurements = field(default_factory=Measurements, repr=False)
    digest: bytes = b""
    problem: str = ""  # why nothing is measured, or not by this code
    in_files: bool = False  # whether the problem is one of the replicates, which no page tells
    code: str = field(default="", repr=False)  # in lower case; empty where a GPU ran it


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a recipe says to one key."""

    figure: Measurement | None = None
    claim: ClaimRecord | None = None
    problem: str = ""  # why there is neither; empty too where nothing is recorded
    in_files: bool = False  # whether the problem names its place, and is the same for all keys
    trial: bool = False  # of a CPU, where the text is about a GPU


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


def answer(env: BuildEnvironment, docname: str, key: str) -> Answer:
    """Return what a recipe says to the key of a figure, or to the comparison of a claim.

    The page at hand is read again when its measurements are others: one look for all its figures.
    """
    known = watch(env, know, docname)
    if known and known.in_files:
        return Answer(problem=known.problem, in_files=True)
    if known is None or known.problem:
        return Answer()  # the recipe's own page tells why
    may_lack = env.config.recorded_gallery_gpu_figures and not known.on_gpu
    try:
        if "<" in key:
            return Answer(claim=known.measurements.find_claim(key))
        return Answer(figure=known.measurements.find(key))
    except NotMeasured as error:
        if may_lack and _may_be_of_gpu(known, error.key):
            return Answer(trial=True)
        return Answer(problem=str(error), trial=may_lack)
    except ValueError as error:
        return Answer(problem=str(error))


def _may_be_of_gpu(known: Known, key: str) -> bool:
    """Tell whether a GPU may publish what is called so, and this CPU did not.

    That is a quantity of what was measured here, or a case that is in the recipe's code and of
    which nothing was measured here. A number is a size, and no case.
    """
    *parts, quantity = key.split(".")
    heads = [name.split(".")[:-1] for name in known.measurements.by_key]
    if any(is_part(parts, head) for head in heads):
        return quantity in GPU_QUANTITIES
    measured = {part for head in heads for part in head}
    is_new = bool(parts) and parts[0] not in measured and not parts[0].isdecimal()
    return is_new and all(word in known.code for word in _WORD.findall(key))


def know(env: BuildEnvironment, docname: str, machine: str = "") -> Known | None:
    """Return what is known of a recipe by its page; None if it is gone, or cannot be read.

    ``machine`` names a folder of ``recordings/``; without it, it is the recording the page shows.
    Files that have not changed are not read again, also not in later builds.
    """
    file = once(env, all_files).get(docname)
    if file is None:
        return None
    folder = Path(env.srcdir, env.config.recorded_gallery_recordings, machine)
    path = file.recording(folder)
    files = [file.path, path, replicates_path(path)]
    read = partial(_read, file, folder, Path(env.srcdir))
    known: Known | None = keep(env, ("known", docname, machine), files, read)
    return known


def _read(file: GalleryFile, folder: Path, root: Path) -> tuple[list[Path] | None, Known | None]:
    """Return what is known, and the files of the recipe, None if it cannot be read."""
    try:
        page = load_recorded(file, folder)
    except GalleryError:
        return None, None
    recipe = page.recipe
    known = Known(title=recipe.title, text=recipe.summary)
    if isinstance(page, Unrecorded):
        return recipe.files, replace(known, problem=page.error.describe(root))
    recording = page.recording
    known = replace(
        known,
        device=recording.device_name,
        recorded=recording.recorded,
        versions=tuple(recording.facts["versions"].items()),
        on_gpu=recording.on_gpu,
        code="" if recording.on_gpu else "\n".join(cell.code for cell in recipe.cells).lower(),
    )
    if not page.comparison.is_current:
        stale = f"stale recording: {page.comparison.describe()}"
        problem = GalleryError(stale, path=recording.path).describe(root)
        return recipe.files, replace(known, problem=problem)
    try:
        measurements = measure_all(read_sources(recording.path, recipe, recording).processes)
    except GalleryError as error:  # the processes do not fit together
        return recipe.files, replace(known, problem=str(error), in_files=True)
    digest = digest_of(measurements)
    return recipe.files, replace(known, measurements=measurements, digest=digest)
