"""What is known of the figures and claims of a recipe: what a page asks for and keeps an eye on."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from sphinx.environment import BuildEnvironment

from ...errors import GalleryError
from ...project import gallery_folders
from ...recipes.gallery import GalleryFile, find_file, find_recordings, list_files
from ...recipes.measurements import Measurement
from ...recipes.recipe import Recipe
from ...recipes.references import Reference
from ...recipes.replicates import replicates_path
from ...recipes.sources import (
    ClaimRecord,
    Measurements,
    NotMeasured,
    is_part,
    read_sources,
    suggest_keys,
)
from ...recorded_page import RecordedPage, load_recorded
from ...store import keep, once, watch

FIGURE, CLAIM = "figure", "claim"  # what a page can ask for
MAYBE = "maybe"  # a figure that need not be there: the answer suggests no others, which takes long
OF_A_GPU = ("gpu", "cpu", "kernels")  # quantities that a CPU does not publish
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True)
class Known:
    """The figures of a recipe, of the recording that its page shows and of other machines."""

    measurements: Measurements | None = None  # without a current recording, which its page tells
    elsewhere: tuple[tuple[str, Measurements], ...] = ()  # by the name of the device
    problem: str = ""  # why figures that are there cannot be read
    in_files: bool = False  # whether the problem is one of their files, whoever asks for figures
    on_gpu: bool = False  # whether a GPU ran the recording
    code: str | None = None  # in lower case, which keys are made of; None if of data, too


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a recipe says to one key."""

    figure: Measurement | None = None
    claim: ClaimRecord | None = None
    elsewhere: tuple[tuple[str, ClaimRecord], ...] = ()  # the claim on other devices
    problem: str = ""  # why there is neither; empty too where nothing is recorded
    in_files: bool = False  # whether the problem names its place, and is the same for all keys
    trial: bool = False  # of a CPU, where the text is about a GPU


def find_page(env: BuildEnvironment, named: Reference, docname: str) -> str:
    """Return the page of the recipe that a role on the page ``docname`` names.

    Raises ``ValueError`` if there is no such recipe.
    """
    root = Path(env.srcdir)
    if not named.recipe:
        if find_file(env.config, root, docname):
            return docname
        raise ValueError(f"{named.key!r} names no recipe; write it as recipe:{named.key}")
    candidates = [f"{pages}/{named.recipe}" for pages, _examples in gallery_folders(env.config)]
    for page in (*candidates, named.recipe):
        if find_file(env.config, root, page):
            return page
    names = watch(env, _list_names)  # there may be one later
    raise ValueError(f"no recipe is called {named.recipe!r}{suggest_keys(named.recipe, names)}")


def all_files(env: BuildEnvironment) -> dict[str, GalleryFile]:
    """Return all recipes of the project by their pages; they are looked for once in a build."""
    return once(env, _list_all)


def _list_all(env: BuildEnvironment) -> dict[str, GalleryFile]:
    return {file.docname: file for file in list_files(env.config, Path(env.srcdir))}


def _list_names(env: BuildEnvironment) -> list[str]:
    return [file.name for file in all_files(env).values()]


def answers(env: BuildEnvironment, docname: str, *questions: str) -> tuple[Answer, ...]:
    """Return what a recipe says to questions such as ``figure adam.100.compiled.speedup``."""
    known = once(env, _know, docname)
    may_lack = env.config.recipe_gallery_gpu_figures and not known.on_gpu
    return tuple(_answer(known, *each.split(" ", 1), may_lack=may_lack) for each in questions)


def _answer(known: Known, kind: str, key: str, *, may_lack: bool) -> Answer:
    measurements = known.measurements
    if measurements is None:
        return Answer(problem=known.problem, in_files=known.in_files)
    if kind == MAYBE:
        return Answer(figure=measurements.by_key.get(key))
    try:
        if kind == FIGURE:
            return Answer(figure=measurements.find(key))
        record = measurements.find_claim(key)
    except NotMeasured as error:
        if may_lack and _may_be_of_gpu(known, measurements, error.key):
            return Answer(trial=True)
        return Answer(problem=str(error), trial=may_lack)
    except ValueError as error:
        return Answer(problem=str(error))
    elsewhere = []
    for device, others in known.elsewhere:
        with suppress(LookupError, ValueError):
            elsewhere.append((device, others.find_claim(key)))
    return Answer(claim=record, elsewhere=tuple(elsewhere))


def _may_be_of_gpu(known: Known, measurements: Measurements, key: str) -> bool:
    """Tell whether a GPU may publish what is called so, and this CPU did not.

    That is a quantity of what was measured here, a case of which nothing was measured here, or a
    claim; cases and claims have to be in the recipe's code. A number is a size, and no case.
    """
    if known.code is None:
        return True
    *parts, quantity = key.split(".")
    heads = [name.split(".")[:-1] for name in measurements.by_key]
    if any(is_part(parts, head) for head in heads):
        return quantity in OF_A_GPU
    measured = {part for head in heads for part in head}
    if parts and parts[0] not in measured and not parts[0].isdecimal():
        return all(word in known.code for word in _WORD.findall(key))
    return f'"{key}"' in known.code or f"'{key}'" in known.code


def _know(env: BuildEnvironment, docname: str) -> Known:
    """Keep what is known of a recipe; unchanged files are not read again, nor in later builds."""
    file = all_files(env).get(docname)
    if file is None:
        return Known(problem=f"there is no recipe {docname!r} any more")
    recordings = Path(env.srcdir, env.config.recipe_gallery_recordings)
    folders = [
        recordings,
        *(recordings / each for each in once(env, _find_machines).get(file.name, ())),
    ]
    files = [file.path]
    for folder in folders:
        path = file.recording(folder)
        files += [path, replicates_path(path)]
    known: Known = keep(env, ("figures", docname), files, lambda: _read(file, folders))
    return known


def _read(file: GalleryFile, folders: list[Path]) -> tuple[list[Path] | None, Known]:
    """Return what is known, and the files of the recipe, None if it cannot be read."""
    pages = [load_recorded(file, folder) for folder in folders]
    files = pages[0].recipe.files if pages[0].recipe else None
    current = [
        page for page in pages if isinstance(page, RecordedPage) and page.comparison.is_current
    ]
    try:
        own = [measure(page) for page in current if page is pages[0]]
        others = [
            (page.recording.device_name, measure(page)) for page in current if page is not pages[0]
        ]
    except GalleryError as error:
        return files, Known(problem=str(error), in_files=True)
    known = Known(measurements=own[0] if own else None, elsewhere=tuple(others))
    if isinstance(pages[0], RecordedPage):
        known = replace(known, on_gpu=pages[0].recording.on_gpu)
        known = replace(known, code=_code_of(pages[0].recipe))
    return files, known


def _code_of(recipe: Recipe) -> str | None:
    """Return a recipe's code in lower case, None if it takes names from files of another kind."""
    texts = [cell.code for cell in recipe.cells]
    for name in recipe.inputs:
        if not name.endswith(".py"):
            return None
        texts.append((recipe.path.parent / name).read_text(encoding="utf-8"))
    return "\n".join(texts).lower()


def measure(page: RecordedPage) -> Measurements:
    """Return what the processes of a recording say; of a stale one, those of the newest code.

    Raises ``GalleryError`` where they cannot be read or do not fit together.
    """
    recipe = page.recipe if page.comparison.is_current else None
    return read_sources(page.recording.path, recipe, page.recording).measure()


def list_machines(env: BuildEnvironment, docname: str) -> tuple[str, ...]:
    """Return on which other machines a recipe was recorded, by its page."""
    file = all_files(env).get(docname)
    return once(env, _find_machines).get(file.name, ()) if file else ()


def _find_machines(env: BuildEnvironment) -> dict[str, tuple[str, ...]]:
    """Return the machines of each recipe that has some, by its name."""
    found: dict[str, tuple[str, ...]] = {}
    folder = Path(env.srcdir, env.config.recipe_gallery_recordings)
    for _path, machine, name in find_recordings(folder, all_files(env).values()):
        if machine and name:
            found[name] = (*found.get(name, ()), machine)
    return found
