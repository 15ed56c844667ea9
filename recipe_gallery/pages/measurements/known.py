"""What is known of the figures and claims of a recipe: what a page asks for and keeps an eye on."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from sphinx.environment import BuildEnvironment

from ...errors import GalleryError, suggest
from ...project import gallery_folders
from ...recipes.gallery import GalleryFile, find_file, find_recordings, list_files
from ...recipes.measurements import ClaimRecord, Figure, Figures, figures_path, load_figures
from ...recipes.recipe import Recipe
from ...recipes.recorded_page import RecordedPage, load_recorded
from ...recipes.references import Reference
from ...recipes.replicates import replicates_path
from ...recipes.rows import Row
from ...recipes.sources import read_sources
from ...store import keep, once, watch

FIGURE, CLAIM = "figure", "claim"  # what a page can ask for
MAYBE = "maybe"  # a figure that need not be there: the answer suggests no others, which takes long
_WORD = re.compile(r"[^\W\d_]+")


@dataclass(frozen=True, kw_only=True)
class Known:
    """The figures of a recipe, of the recording that its page shows and of other machines."""

    figures: Figures | None = None  # None without a current recording, which its page tells
    elsewhere: tuple[tuple[str, Figures], ...] = ()  # by the name of the device
    problem: str = ""  # why figures that are there cannot be read
    in_files: bool = False  # whether the problem is one of their files, whoever asks for figures
    on_gpu: bool = False  # whether a GPU ran the recording
    words: frozenset[str] | None = None  # of its code, which keys are made of; None if of more


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a recipe says to one key."""

    figure: Figure | None = None
    claim: ClaimRecord | None = None
    machines: int = 1  # on which the claim was tested
    elsewhere: tuple[tuple[str, ClaimRecord], ...] = ()  # the claim on other devices
    problem: str = ""  # why there is neither; empty too where nothing is recorded
    in_files: bool = False  # whether the problem names its place, and is the same for all keys
    trial: bool = False  # of a CPU, where the text is about a GPU: it may lack or refute anything


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
    raise ValueError(f"no recipe is called {named.recipe!r}{_suggest(named.recipe, names)}")


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
    if known.figures is not None and env.config.recipe_gallery_gpu_figures and not known.on_gpu:
        return tuple(_try(known, *question.split()) for question in questions)
    return tuple(_answer(known, *question.split()) for question in questions)


def _try(known: Known, kind: str, key: str) -> Answer:
    """Return what a recording from a CPU says; a GPU may publish more, but no other names."""
    answer = replace(_answer(known, kind, key), problem="", trial=True)
    if kind == MAYBE:
        return answer
    published = {each for found in _published(known, kind) for each in found}
    odd = sorted(set(_WORD.findall(key)) - (known.words or set()))
    if key in published or known.words is None or not odd:
        return answer
    text = f"no recording has {key!r}, and the recipe's code has no {odd[0]!r} to make it of"
    return replace(answer, problem=text + _suggest(key, published))


def _published(known: Known, kind: str) -> Iterator[Iterable[str]]:
    """Yield the keys that each recording has."""
    own = [known.figures] if known.figures else []
    for figures in (*own, *(found for _device, found in known.elsewhere)):
        yield figures.figures if kind == FIGURE else figures.claims


def _answer(known: Known, kind: str, key: str) -> Answer:
    if known.figures is None:
        return Answer(problem=known.problem, in_files=known.in_files)
    figures, claims = known.figures.figures, known.figures.claims
    if kind == MAYBE:
        return Answer(figure=figures.get(key))
    if kind == FIGURE:
        if key in figures:
            return Answer(figure=figures[key])
        return Answer(problem=f"no recorded figure is called {key!r}{_suggest(key, figures)}")
    if key not in claims:
        return Answer(problem=f"no process published the claim {key!r}{_suggest(key, claims)}")
    return Answer(
        claim=claims[key],
        machines=max((each.hosts for each in figures.values()), default=1),
        elsewhere=tuple(
            (device, found.claims[key]) for device, found in known.elsewhere if key in found.claims
        ),
    )


def _suggest(key: str, keys: Iterable[str]) -> str:
    near = difflib.get_close_matches(key, list(keys), n=3, cutoff=0.5)
    return f"; near it: {', '.join(near)}" if near else ""


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
        files += [path, figures_path(path), replicates_path(path)]
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
        own = [figures_of(page) for page in current if page is pages[0]]
        others = [
            (page.recording.device_name, figures_of(page))
            for page in current
            if page is not pages[0]
        ]
    except GalleryError as error:
        return files, Known(problem=str(error), in_files=True)
    known = Known(figures=own[0] if own else None, elsewhere=tuple(others))
    if isinstance(pages[0], RecordedPage):
        known = replace(known, on_gpu=pages[0].recording.on_gpu)
        known = replace(known, words=_words_of(pages[0].recipe))
    return files, known


def _words_of(recipe: Recipe) -> frozenset[str] | None:
    """Return the words of a recipe's code, or None if it takes some from files of another kind."""
    texts = [cell.code for cell in recipe.cells]
    for name in recipe.inputs:
        if not name.endswith(".py"):
            return None
        texts.append((recipe.path.parent / name).read_text(encoding="utf-8"))
    return frozenset(_WORD.findall("\n".join(texts).lower()))


def figures_of(page: RecordedPage) -> Figures:
    """Return the stored figures of a recording, or else what the run of the page published.

    Raises ``GalleryError`` where stored figures are not of the processes that were recorded.
    """
    path = page.recording.path
    sources = read_sources(path, page.recipe, page.recording)
    stored = load_figures(path)
    if stored.sources == sources.digest:
        return stored
    if figures_path(path).exists() or sources.counted:
        number = len(sources.processes)
        processes = "the process that was" if number == 1 else f"the {number} processes that were"
        text = f"not the figures of {processes} recorded"
        remedy = f"run: {suggest('figures', page.recipe.name)}"
        raise GalleryError(text, path=figures_path(path), remedy=remedy)
    rows = sources.page.published.rows if sources.page else ()
    return Figures(figures={row.key: _of_page(row) for row in rows}, claims=sources.count_claims())


def _of_page(row: Row) -> Figure:
    named = {
        each.name: getattr(row, each.name) for each in fields(Figure) if hasattr(row, each.name)
    }
    return Figure(**named, low=row.value, high=row.value, processes=1, hosts=1)


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
