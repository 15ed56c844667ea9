"""Which recordings are current, and what they measured: `recorded-gallery check`."""

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from ..errors import (
    GalleryError,
    describe_error,
    suggest_record,
    suggest_recording_again,
    visible,
    visible_line,
)
from ..measurements.keys import Reference
from ..measurements.lookup import find_in_results, list_references, read_results
from ..measurements.processes import ProcessSet, read_processes
from ..measurements.quantities import list_quantities, name_own_list
from ..measurements.rows import WrongUnitError, find_hints
from ..project import Project, load_function
from ..recipes.find_recipes import GalleryFile, find_recordings, list_files
from ..recipes.recipe import Recipe, load_recipe
from ..recipes.recorded_recipe import RecordedPage, Unrecorded, load_recorded
from ..recipes.recording import Recording
from ..recipes.recording_toml import Settings, load_settings

Status = Literal["current", "stale", "missing", "unusable"]


@dataclass(frozen=True, kw_only=True)
class Report:
    """The state of one recording."""

    name: str
    status: Status
    detail: str = ""  # what is wrong and what to do
    origin: str = ""  # device, date, commit and duration of the recording
    recording: Recording | None = None  # None if it cannot be read
    recipe: Recipe | None = None  # None if it cannot be read, or there is none
    note: str = ""  # how many processes the measurements are from
    error: str = ""  # why the measurements cannot be read
    changed_modules: tuple[Path, ...] = ()  # modules shown in the recipe that made it stale
    left_to_gpu: tuple[str, ...] = ()  # keys in its text that only a GPU measures, with lines
    hints: tuple[str, ...] = ()  # what may be a mistake
    has_wrong_units: bool = False  # which are among the hints, and are to be corrected
    versions: tuple[Mapping[str, str], ...] = ()  # of packages, for each process that is known


def inspect(file: GalleryFile, folder: Path) -> Report:
    """Return the state of a recipe's recording in ``folder``; errors are part of the report."""
    recipe = None
    try:
        page = load_recorded(file, folder)
        recipe = page.recipe
        if isinstance(page, Unrecorded):
            return _report_unrecorded(file, page)
        return _report_recorded(file, page)
    except Exception as error:  # a fault in one recipe must not hide the reports on others
        detail = describe_error(error, file.name)
        return Report(name=file.name, status="unusable", detail=detail, recipe=recipe)


def _report_unrecorded(file: GalleryFile, page: Unrecorded) -> Report:
    """Return the report on a recording that is missing or damaged."""
    status: Status = "missing"
    detail = f"run: {suggest_record(file.name)}"
    if page.path.exists():
        status = "unusable"
        detail = describe_error(page.error, file.name)
    return Report(name=file.name, status=status, detail=detail, recipe=page.recipe)


def _report_recorded(file: GalleryFile, page: RecordedPage) -> Report:
    """Return the report on a recording that can be read."""
    recording = page.recording
    note = measurement_error = ""
    versions = [recording.facts["versions"]]
    try:
        settings = load_settings(file.gallery)
        processes = read_processes(recording.path, page.recipe, recording, settings.release)
        note = _describe_processes(processes, settings)
        versions += [replicate.versions for replicate in processes.replicates]
    except GalleryError as error:
        measurement_error = describe_error(error)
    status: Status = "current"
    detail = ""
    if not page.comparison.is_current:
        status = "stale"
        remedy = suggest_recording_again(file.name, on_gpu=recording.on_gpu)
        detail = f"{page.comparison.describe()}; {remedy}"
    changed_modules = []
    for cell in page.comparison.changed:
        if cell.inlined:
            changed_modules.append(cell.inlined.path)
    return Report(
        name=file.name,
        status=status,
        detail=detail,
        origin=_describe_origin(recording),
        recording=recording,
        recipe=page.recipe,
        note=note,
        error=measurement_error,
        changed_modules=tuple(changed_modules),
        versions=tuple(versions),
    )


def _describe_processes(processes: ProcessSet, settings: Settings) -> str:
    """Return how many processes and hosts were measured, and which replicates do not count.

    Where the settings name a package whose releases are compared, the counts are given for each
    release, that of the page first.
    """
    notes = []
    if processes.replicates or any(process.rows for process in processes.processes):
        if settings.release:
            notes.append(_count_by_release(processes))
        else:
            notes.append(_count_all(processes))
    release = processes.tell_release(processes.page) if processes.page else ""
    if settings.current and release and release != settings.current:
        notes.append(
            f"its page shows {settings.release} {release}; "
            f"the current release is {settings.current}"
        )
    other_devices = len(processes.replicates) - len(processes.on_device)
    if other_devices:
        notes.append(f"{_count(other_devices, 'replicate')} of another device ignored")
    if processes.stale:
        notes.append(f"{_count(processes.stale, 'replicate')} of other code ignored")
    return "; ".join(notes)


def _count_all(processes: ProcessSet) -> str:
    """Return the counts of processes and hosts: ``measurements of 3 processes on 2 hosts``."""
    process_count = _count(len(processes.processes), "process", "es")
    hosts = {process.host for process in processes.processes}
    text = f"measurements of {process_count} on {_count(len(hosts), 'host')}"
    if len(hosts) == 1:
        text += " (how hosts differ is not known)"
    return text


def _count_by_release(processes: ProcessSet) -> str:
    """Return hosts and processes of each release: ``2.15: 3 hosts, 4 processes; 2.11: ...``."""
    counts = []
    for release, group in processes.by_release.items():
        hosts = {process.host for process in group}
        host_count = _count(len(hosts), "host")
        process_count = _count(len(group), "process", "es")
        counts.append(f"{release or 'unknown release'}: {host_count}, {process_count}")
    return "; ".join(counts)


def _count(number: int, noun: str, plural: str = "s") -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}{plural}"


def check_recordings(project: Project, folder: Path | None = None) -> list[Report]:
    """Report on each recipe, on recordings of other machines, and on files without a recipe.

    ``folder`` holds the recordings; by default it is that of conf.py. Raises ``GalleryError`` if
    there are no recipes, or if their settings cannot be read.
    """
    check_settings(project)
    folder = folder or project.recordings
    files = name_files(project)
    reports = []
    quantities = list_quantities(project.config)
    own_list = name_own_list(project.config)
    for file in files.values():
        report = inspect(file, folder)
        if report.status == "current" and report.recording and report.recipe:
            found = find_hints(report.recording.notebook, report.recipe, quantities, own_list)
            hints = tuple(error.describe(Path.cwd()) for error in found)
            has_wrong_units = any(isinstance(error, WrongUnitError) for error in found)
            report = replace(report, hints=hints, has_wrong_units=has_wrong_units)
        if report.status == "current" and report.recording and not report.recording.on_gpu:
            report = replace(report, left_to_gpu=_find_left_to_gpu(file, folder, project))
        reports.append(report)

    strays = []
    for path, machine, name in find_recordings(folder, files.values()):
        if not name:
            remedy = (
                "if its example was renamed, rename this file, too, and record the example again; "
                "else restore the example, or remove the file"
            )
            strays.append(_report_stray(path, folder, "no example of this name", remedy))
        elif machine:
            report = inspect(files[name], folder / machine)
            reports.append(replace(report, name=f"{machine}/{name}"))
    # The replicates of a missing recording belong to its recipe, which is reported above.
    own_paths = {file.recording_path(folder) for file in files.values()}
    for path in sorted(folder.glob("**/*.jsonl")):
        recording_path = path.with_suffix(".ipynb")
        if not recording_path.exists() and recording_path not in own_paths:
            remedy = "rename it, restore its recording, or remove the file"
            strays.append(_report_stray(path, folder, "no recording of this name", remedy))
    return reports + strays


def check_settings(project: Project) -> None:
    """Raise ``GalleryError`` if the settings of recording cannot be read."""
    for _pages, recipes in project.galleries:
        load_settings(recipes)


def _report_stray(path: Path, folder: Path, text: str, remedy: str) -> Report:
    """Return a report on a file in ``folder`` that belongs to no recipe or recording."""
    detail = describe_error(GalleryError(text, path=path, remedy=remedy))
    name = path.relative_to(folder).as_posix().removesuffix(".ipynb")
    return Report(name=name, status="unusable", detail=detail)


def _find_left_to_gpu(file: GalleryFile, folder: Path, project: Project) -> tuple[str, ...]:
    """Return keys in a recipe's text that only a GPU measures: ``second.gpu (line 7)``.

    Returns nothing unless conf.py says that texts quote measurements of a GPU.
    """
    # Without the extension for measurements, there is no such setting.
    if not getattr(project.config, "recorded_gallery_gpu_figures", False):
        return ()
    results = read_results(file, folder, project.root, project.config)
    quantities = list_quantities(project.config)
    first_lines: dict[str, int] = {}  # by key
    recipe = load_recipe(file.path, file.name)
    for line, reference in [*list_references(recipe), *_list_shown(recipe, project)]:
        if reference.recipe not in ("", file.name):
            continue  # reported with the other recipe
        lookup = find_in_results(
            results, reference.key, reference.release, quantities, may_lack=True
        )
        if lookup.is_left_to_gpu:
            first_lines.setdefault(reference.name, line)
    return tuple(f"{name} (line {line})" for name, line in first_lines.items())


def _list_shown(recipe: Recipe, project: Project) -> Iterator[tuple[int, Reference]]:
    """Yield what directives of the project show in a recipe's text, each with its line."""
    setting = "recorded_gallery_shown_keys"
    find_keys = load_function(project.config, setting, "returns the keys in a text")
    if find_keys is None:
        return
    for block in recipe.blocks:
        if block.type == "text":
            for line, key in find_keys(block.content):
                yield block.lineno + line, Reference(recipe="", key=key)


def check_texts(project: Project) -> list[str]:
    """Return the errors that the text check named in conf.py finds; none without such a check."""
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
        raise GalleryError(f"no examples in {folders}", remedy=remedy)
    return files


def choose_files(project: Project, names: Sequence[str]) -> list[GalleryFile]:
    """Return the recipes called ``names``, or all if there are no names.

    A recipe of a sub-gallery may be called by the last part of its name if that is unique. Raises
    ``GalleryError`` for a name that fits no recipe or several.
    """
    files = name_files(project)
    if not names:
        return list(files.values())
    return [_choose_file(files, name.removesuffix(".py")) for name in names]


def _choose_file(files: dict[str, GalleryFile], name: str) -> GalleryFile:
    """Return the recipe with this name, or the only one whose name ends in it."""
    if name in files:
        return files[name]
    full_names = [full_name for full_name in files if full_name.rpartition("/")[2] == name]
    if not full_names:
        remedy = f"choose among: {', '.join(files)}"
        similar = difflib.get_close_matches(name, files, n=1)
        similar += difflib.get_close_matches(Path(name).name, files, n=1)  # of a path
        if "," in name:
            remedy = f"write spaces between names: {' '.join(name.split(','))}"
        elif similar:
            remedy = f"did you mean {similar[0]}?"
        raise GalleryError(f"no example named {name}", remedy=remedy)
    if len(full_names) > 1:
        raise GalleryError(
            f"several examples are named {name}", remedy=f"choose among: {', '.join(full_names)}"
        )
    return files[full_names[0]]


def format_reports(reports: Sequence[Report]) -> str:
    """Return the reports as text; the last line counts the current recordings."""
    names = [visible_line(report.name) for report in reports]
    width = max(len(name) for name in names)
    lines = []
    for name, report in zip(names, reports, strict=True):
        lines.append(f"{name:<{width}}  {report.status:<8}  {report.origin}".rstrip())
        details = [report.detail, report.note]
        if report.error:
            details.append(f"error: {report.error}")
        if report.left_to_gpu:
            details.append(f"left to a GPU: {', '.join(report.left_to_gpu)}")
        details += report.hints
        indent = " " * width
        for detail in details:
            if detail:
                lines.append(f"{indent}  {detail}")
    current_count = sum(report.status == "current" for report in reports)
    lines.append(f"{current_count} of {len(reports)} recordings current")
    return "\n".join(map(visible, lines))


def describe_cost(reports: Sequence[Report]) -> list[str]:
    """Return a line on what a change costs for each changed module that several recipes show."""
    counts: Counter[Path] = Counter()
    for report in reports:
        counts.update(report.changed_modules)
    lines = []
    for path, count in counts.items():
        if count > 1:
            lines.append(
                f"{path.name} is part of {count} examples: its change needs {count} new recordings "
                f"and their replicates on every host; to undo it: git checkout HEAD -- {path}"
            )
    return lines


def _describe_origin(recording: Recording) -> str:
    """Return device, date, commit and duration of a recording in one line."""
    facts = recording.facts
    device = recording.device_name
    if not recording.on_gpu:
        device = f"CPU: {device}"
    commit = (facts["commit"] or "unknown")[:7]
    if facts["modified"]:
        commit += " + changes"
    return f"{device}, {facts['recorded'][:10]}, commit {commit}, {facts['seconds']:.0f} s"
