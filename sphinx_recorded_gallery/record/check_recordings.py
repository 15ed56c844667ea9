"""Which recordings are current, and what they measured: `recorded-gallery check`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from ..errors import GalleryError, describe_error, has_driver, suggest_record, visible, visible_line
from ..measurements.keys import find_references
from ..measurements.lookup import Outcome, find_in_results, read_results
from ..measurements.processes import ProcessSet, read_processes
from ..measurements.quantities import list_quantities
from ..project import Project, load_function
from ..recipes.find_recipes import GalleryFile, find_recordings, list_files
from ..recipes.recipe import Recipe, load_recipe
from ..recipes.recorded_recipe import Unrecorded, load_recorded
from ..recipes.recording import Recording
from ..recipes.recording_toml import Settings, load_settings

Status = Literal["current", "stale", "missing", "unusable"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is told of one recording."""

    name: str
    status: Status
    detail: str = ""  # what is wrong and what to do
    origin: str = ""  # from where and when the recording is
    recording: Recording | None = None  # None if it cannot be read
    recipe: Recipe | None = None  # None if it cannot be read, or there is none
    note: str = ""  # of how many processes its measurements are
    error: str = ""  # why they cannot be read
    changed_modules: tuple[Path, ...] = ()  # whose code it shows, and which made it stale
    left_to_gpu: tuple[str, ...] = ()  # keys of its text that a CPU does not measure, with lines


def inspect(file: GalleryFile, folder: Path) -> Report:
    """Return how the recording of a recipe in ``folder`` stands, and what is wrong with it."""
    report = partial(Report, name=file.name)
    try:
        page = load_recorded(file, folder)
        report = partial(report, recipe=page.recipe)
        if isinstance(page, Unrecorded):
            if not page.path.exists():
                remedy = f"run: {suggest_record(file.name)}"
                return report(status="missing", detail=remedy)
            raise page.error
        recording = page.recording
        report = partial(report, origin=_describe_origin(recording), recording=recording)
        try:
            settings = load_settings(file.gallery)
            processes = read_processes(recording.path, page.recipe, recording, settings.release)
            report = partial(report, note=_describe_processes(processes, settings))
        except GalleryError as error:
            report = partial(report, error=describe_error(error))
    except Exception as error:  # of one recipe; the others are told, too
        return report(status="unusable", detail=describe_error(error, file.name))
    if page.comparison.is_current:
        return report(status="current")
    command = suggest_record(file.name, on_gpu=recording.on_gpu)
    where = "on a machine with a GPU, run" if recording.on_gpu and not has_driver() else "run"
    detail = f"{page.comparison.describe()}; {where}: {command}"
    modules = tuple(cell.inlined.path for cell in page.comparison.changed if cell.inlined)
    return report(status="stale", detail=detail, changed_modules=modules)


def _describe_processes(processes: ProcessSet, settings: Settings) -> str:
    """Return of how many processes and hosts measurements are, and what was left out.

    Where releases are told apart, that is told of each, the page's first.
    """
    told = []
    if processes.replicates or any(each.rows for each in processes.processes):
        counts = _count_by_release if settings.release else _count_all
        told.append(counts(processes))
    page = processes.find_release(processes.page) if processes.page else ""
    if settings.current and page and page != settings.current:
        told.append(
            f"its page is of {settings.release} {page}, the current release is {settings.current}"
        )
    others = {
        "of another device": len(processes.replicates) - len(processes.on_device),
        "of other code": processes.stale,
    }
    told += [
        f"{_count(count, 'replicate')} {what} ignored" for what, count in others.items() if count
    ]
    return "; ".join(told)


def _count_all(processes: ProcessSet) -> str:
    hosts = len({each.host for each in processes.processes})
    text = f"measurements of {_count(len(processes.processes), 'process', 'es')}"
    text += f" on {_count(hosts, 'host')}"
    return f"{text} (how hosts differ is not known)" if hosts == 1 else text


def _count_by_release(processes: ProcessSet) -> str:
    """Return hosts and processes of each release: ``2.15: 3 hosts, 4 processes; 2.11: ...``."""
    counted = []
    for release, group in processes.by_release.items():
        hosts = len({each.host for each in group})
        counts = f"{_count(hosts, 'host')}, {_count(len(group), 'process', 'es')}"
        counted.append(f"{release or 'unknown release'}: {counts}")
    return "; ".join(counted)


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}{plural if number != 1 else ''}"


def check_recordings(project: Project, folder: Path | None = None) -> list[Report]:
    """Report on every recipe, and on recordings of other machines or of no recipe.

    ``folder`` holds the recordings; by default it is that of conf.py. What is raised holds for all.
    """
    for _pages, recipes in project.galleries:
        load_settings(recipes)
    folder = folder or project.recordings
    files = name_files(project)
    reports = []
    for file in files.values():
        report = inspect(file, folder)
        if report.status == "current" and report.recording and not report.recording.on_gpu:
            report = replace(report, left_to_gpu=_find_left_to_gpu(file, folder, project))
        reports.append(report)

    alone = []
    for path, machine, name in find_recordings(folder, files.values()):
        if not name:
            alone.append((path, "no recipe of this name"))
        elif machine:
            report = inspect(files[name], folder / machine)
            reports.append(replace(report, name=f"{machine}/{name}"))
    known = {file.recording(folder) for file in files.values()}
    for path in sorted(folder.glob("**/*.jsonl")):
        if not path.with_suffix(".ipynb").exists() and path.with_suffix(".ipynb") not in known:
            alone.append((path, "no recording of this name"))
    remedy = "move it to where one is missing, restore what it is of, or remove the file"
    for path, text in alone:
        detail = describe_error(GalleryError(text, path=path, remedy=remedy))
        name = path.relative_to(folder).as_posix().removesuffix(".ipynb")
        reports.append(Report(name=name, status="unusable", detail=detail))
    return reports


def _find_left_to_gpu(file: GalleryFile, folder: Path, project: Project) -> tuple[str, ...]:
    """Return what a recipe's text names and a CPU does not measure: ``second.gpu (line 7)``.

    Nothing is left where conf.py does not say that the text is about a GPU.
    """
    # a project without measurements has no such setting
    if not getattr(project.config, "recorded_gallery_gpu_figures", False):
        return ()
    results = read_results(file, folder, project.root, project.config)
    quantities = list_quantities(project.config)
    left: dict[str, int] = {}
    for block in load_recipe(file.path, file.name).blocks:
        if block.type != "text":
            continue
        for line, reference in find_references(block.content):
            if reference.recipe not in ("", file.name):
                continue  # told with the other recipe, if that is a CPU's, too
            lookup = find_in_results(
                results, reference.key, reference.release, quantities, may_lack=True
            )
            if lookup.outcome is Outcome.LEFT_TO_GPU:
                left.setdefault(reference.name, block.lineno + line)
    return tuple(f"{name} (line {line})" for name, line in left.items())


def check_texts(project: Project) -> list[str]:
    """Return what a site finds wrong with its texts; nothing where conf.py names no checks."""
    find_problems = load_function(
        project.config, "recorded_gallery_text_checks", "returns errors of texts"
    )
    if find_problems is None:
        return []
    return [error.describe(Path.cwd()) for error in find_problems(project.root.resolve())]


def name_files(project: Project) -> dict[str, GalleryFile]:
    """Return the recipes of a project by name; raise ``GalleryError`` if there are none."""
    files = {file.name: file for file in list_files(project.config, project.root)}
    if not project.galleries:
        text = "conf.py: sphinx_gallery_conf names no gallery"
        raise GalleryError(text, remedy="name a folder in examples_dirs and one in gallery_dirs")
    if not files:
        folders = ", ".join(str(folder) for _pages, folder in project.galleries)
        remedy = "write one there or mend sphinx_gallery_conf['examples_dirs'] in conf.py"
        raise GalleryError(f"no recipes in {folders}", remedy=remedy)
    return files


def choose_files(project: Project, names: Sequence[str]) -> list[GalleryFile]:
    """Return the recipes called ``names``, or all; raise ``GalleryError`` for an unknown name.

    A recipe of a sub-gallery may be called by its last part where only one has it.
    """
    files = name_files(project)
    chosen = []
    for name in [name.removesuffix(".py") for name in names] or files:
        found = [each for each in files if name in (each, each.rpartition("/")[2])]
        if name not in files and len(found) != 1:
            text = f"{'several recipes are' if found else 'no recipe'} named {name}"
            raise GalleryError(text, remedy=f"there are: {', '.join(found or files)}")
        chosen.append(files[name if name in files else found[0]])
    return chosen


def format_reports(reports: Sequence[Report]) -> str:
    """Return the reports as lines of text, the count last."""
    names = [visible_line(report.name) for report in reports]
    width = max(map(len, names))
    lines = []
    for name, report in zip(names, reports, strict=True):
        line = f"{name:<{width}}  {report.status:<8}  {report.origin}".rstrip()
        below = [report.detail, report.note, report.error and f"error: {report.error}"]
        if report.left_to_gpu:
            below.append(f"left to a GPU: {', '.join(report.left_to_gpu)}")
        lines += [line, *(f"{'':<{width}}  {each}" for each in below if each)]
    current = sum(report.status == "current" for report in reports)
    lines.append(f"{current} of {len(reports)} recordings current")
    return "\n".join(map(visible, lines))


def describe_cost(reports: Sequence[Report]) -> list[str]:
    """Return what the change of each module costs that several recipes show."""
    modules = Counter(path for report in reports for path in report.changed_modules)
    return [
        f"{path.name} is the code of {count} recipes: its change asks for {count} new recordings "
        f"and for their replicates on every host; to take it back: git checkout HEAD -- {path}"
        for path, count in modules.items()
        if count > 1
    ]


def _describe_origin(recording: Recording) -> str:
    """Return device, date, commit and duration of a recording in one line."""
    facts = recording.facts
    commit = (facts["commit"] or "unknown")[:7] + (" + changes" if facts["modified"] else "")
    device = "" if recording.on_gpu else "CPU: "
    device += recording.device_name
    return f"{device}, {facts['recorded'][:10]}, commit {commit}, {facts['seconds']:.0f} s"
