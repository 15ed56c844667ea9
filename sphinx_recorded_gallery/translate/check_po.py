"""Check catalogs: ``recorded-gallery check-po``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import polib

from ..errors import GalleryError, suggest
from ..labels import ENGINE_LOCALE
from ..languages import Language
from ..project import Project
from .catalogs import Kind, find_catalogs, kind_of, label_domains, read_catalog
from .checks import Problem, compare, examine
from .glossary import Glossary, load_glossary
from .pot import read_pots
from .style_checks import find_advice

LEFT = frozenset({"empty", "fuzzy"})  # the checks that find work left to do, not mistakes


def check_project(project: Project, languages: Sequence[Language]) -> list[Problem]:
    """Check the catalogs of languages, including those that pages should have but lack.

    Returns the problems sorted by path, line and check. Raises ``GalleryError`` if a glossary, the
    style rules or a template cannot be read.
    """
    # Damage in these files is an error even where no catalog is there to check.
    load_glossary(project.locale)
    for language in languages:
        find_advice(project.locale, language.code)
    pots = read_pots(project)
    label_catalogs = label_domains(project.config)
    problems: list[Problem] = []
    if languages and not pots:
        text = f"no templates say which messages pages have; run: {suggest('update-po')}"
        place = project.locale / "templates"
        problems.append(Problem(path=place, line=1, message=text, check="template"))
    for language in languages:
        for domain, path in find_catalogs(project, language.code, pots).items():
            is_label = domain in label_catalogs
            expected: dict[str, Kind] | None = None
            if pots:
                template = pots.get(domain, ())
                expected = {entry.msgid: kind_of(entry, label=is_label) for entry in template}
            problems += check_file(path, language, is_label, project.locale, expected)
    return sorted(problems, key=lambda problem: (str(problem.path), problem.line, problem.check))


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
        text = f"{error.text}; {error.remedy}" if error.remedy else error.text
        line = error.line or 1
        return [Problem(path=path, line=line, message=text, check="syntax", breaks=True)]
    # A project's glossary does not apply to the labels of the engine.
    glossary = Glossary() if path.is_relative_to(ENGINE_LOCALE) else load_glossary(locale)
    advice = find_advice(locale, language.code)
    entries = [entry for entry in catalog if not entry.obsolete]
    kinds: dict[str, set[Kind]] = {}
    for entry in entries:
        kind = expected.get(entry.msgid) if expected is not None else None
        kinds[entry.msgid] = {kind or kind_of(entry, label=label)}
    problems = [*examine(path, entries, kinds, language, glossary=glossary, advice=advice)]
    if expected is not None:
        problems += compare(path, catalog, list(expected), language.code)
    return problems


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
