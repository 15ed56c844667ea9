"""Check catalogs: ``recorded-gallery check-po``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import polib

from ..engine_labels import ENGINE_LOCALE
from ..errors import GalleryError, suggest
from ..languages import FILE_NAME, Language, find_line
from ..project import Project
from .catalogs import Kind, find_catalogs, kind_of, label_domains, read_catalog
from .checks import Problem, compare_with_page, examine
from .glossary import Glossary, load_glossary
from .pot import read_pots
from .style_checks import find_advice

LEFT = frozenset({"empty", "fuzzy"})  # checks that find unfinished work, not mistakes


def check_project(project: Project, languages: Sequence[Language]) -> list[Problem]:
    """Check the catalogs of languages, including those that pages should have but lack.

    Returns the problems sorted by path, line and check. Raises ``GalleryError`` if a glossary, the
    style rules or a template cannot be read.
    """
    # A damaged glossary or rule file is an error even if there is no catalog to check.
    load_glossary(project.locale)
    for language in languages:
        find_advice(project.locale, language.code)
    pots = read_pots(project)
    label_catalogs = label_domains(project.config)
    problems: list[Problem] = []
    if languages and not pots:
        text = f"no templates list the messages of pages; run: {suggest('update-po')}"
        place = project.locale / "templates"
        problems.append(Problem(path=place, line=1, message=text, check="template"))
    for language in languages:
        if pots and not (project.locale / language.code / "LC_MESSAGES").is_dir():
            text = f"{language.code} has no catalogs; run: {suggest('new-language', language.code)}"
            place = project.root / FILE_NAME
            line = find_line(place, language.code)
            problems.append(Problem(path=place, line=line, message=text, check="missing"))
            continue
        for domain, path in find_catalogs(project, language.code, pots).items():
            is_label = domain in label_catalogs
            expected: dict[str, Kind] | None = None
            if pots:
                expected = {}
                for entry in pots.get(domain, ()):
                    expected[entry.msgid] = kind_of(entry, label=is_label)
            problems += check_file(path, language, is_label, project.locale, expected)
    return sorted(problems, key=_order)


def _order(problem: Problem) -> tuple[str, int, str]:
    return str(problem.path), problem.line, problem.check


def check_file(
    path: Path,
    language: Language,
    label: bool,
    locale: Path,
    expected: Mapping[str, Kind] | None = None,
) -> list[Problem]:
    """Return the problems of one catalog, which may be missing.

    ``label`` is true for a catalog of labels, and ``locale`` is the folder of the glossary.
    ``expected`` are the messages that the catalog should hold, with their kinds; without it, kinds
    come from the catalog itself, and no message counts as missing or unknown. Raises
    ``GalleryError`` if the glossary or the style rules cannot be read.
    """
    catalog: Sequence[polib.POEntry] = []
    try:
        if path.exists():
            catalog = read_catalog(path)
    except GalleryError as error:
        return [_syntax_problem(path, error)]
    # A project's glossary does not apply to the labels of the engine.
    glossary = Glossary() if path.is_relative_to(ENGINE_LOCALE) else load_glossary(locale)
    advice = find_advice(locale, language.code)
    entries = [entry for entry in catalog if not entry.obsolete]
    kinds: dict[str, set[Kind]] = {}
    for entry in entries:
        if expected is not None and entry.msgid in expected:
            kinds[entry.msgid] = {expected[entry.msgid]}
        else:
            kinds[entry.msgid] = {kind_of(entry, label=label)}
    problems = list(examine(path, entries, kinds, language, glossary=glossary, advice=advice))
    if expected is not None:
        problems += compare_with_page(path, catalog, list(expected), language.code)
    return problems


def _syntax_problem(path: Path, error: GalleryError) -> Problem:
    text = error.text
    if error.remedy:
        text += f"; {error.remedy}"
    return Problem(path=path, line=error.line or 1, message=text, check="syntax", breaks=True)


def format_problems(problems: Sequence[Problem]) -> str:
    """Return a line for each problem, and a last line that counts them by check.

    The last line counts messages to translate or to revise apart from problems.
    """
    counts = Counter(problem.check for problem in problems)
    empty = counts.pop("empty", 0)
    fuzzy = counts.pop("fuzzy", 0)
    summary = "no problems"
    if counts:
        noun = "problem" if counts.total() == 1 else "problems"
        names = ", ".join(f"{name}: {count}" for name, count in counts.most_common())
        summary = f"{counts.total()} {noun} ({names})"
    tasks = []
    if empty:
        tasks.append(f"{empty} to translate")
    if fuzzy:
        tasks.append(f"{fuzzy} to revise")
    if tasks:
        summary = f"{summary}; {', '.join(tasks)}"
    return "\n".join([*map(str, problems), summary])
