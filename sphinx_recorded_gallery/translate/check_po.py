"""Check catalogs: ``recorded-gallery check-po``."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import GalleryError, suggest
from ..labels import ENGINE_LOCALE
from ..languages import Language
from ..project import Project
from .catalogs import Kind, find_catalogs, kind_of, label_domains, read_catalog
from .checks import Problem, compare, examine
from .glossary import Glossary, load_glossary
from .pot import read_pots
from .style_checks import find_advice

LEFT = frozenset({"empty", "fuzzy"})  # what is left to do, and no mistake


def check_project(project: Project, languages: Sequence[Language]) -> list[Problem]:
    """Check the catalogs of languages, those that there are and those that pages should have.

    Raises ``GalleryError`` if a glossary or a template is damaged.
    """
    load_glossary(project.locale)  # damaged, it is told without any catalog, too
    for language in languages:
        find_advice(project.locale, language.code)
    pots, labels = read_pots(project), label_domains(project.config)
    problems: list[Problem] = []
    if languages and not pots:
        text = f"no templates say which messages pages have; run: {suggest('update-po')}"
        place = project.locale / "templates"
        problems.append(Problem(path=place, line=1, message=text, check="template"))
    for language in languages:
        for domain, path in find_catalogs(project, language.code, pots).items():
            label = domain in labels
            texts = {entry.msgid: kind_of(entry, label=label) for entry in pots.get(domain, ())}
            problems += check_file(path, language, label, project.locale, texts if pots else None)
    return sorted(problems, key=lambda problem: (str(problem.path), problem.line, problem.check))


def check_file(
    path: Path,
    language: Language,
    label: bool,
    locale: Path,
    wanted: Mapping[str, Kind] | None = None,
) -> list[Problem]:
    """Check one catalog, which need not be there; ``locale`` is the folder of the glossary.

    ``label`` tells that it holds labels. ``wanted`` are the messages that it should hold,
    with what each is; without it the catalog's own word is taken.
    """
    try:
        catalog = read_catalog(path) if path.exists() else []
    except GalleryError as error:
        text = "; ".join(filter(None, [error.text, error.remedy]))
        line = error.line or 1
        return [Problem(path=path, line=line, message=text, check="syntax", breaks=True)]
    # The engine's labels are of no site: its terms are not theirs.
    glossary = Glossary() if path.is_relative_to(ENGINE_LOCALE) else load_glossary(locale)
    entries = [entry for entry in catalog if not entry.obsolete]
    kinds = {
        entry.msgid: {(wanted or {}).get(entry.msgid) or kind_of(entry, label=label)}
        for entry in entries
    }
    advice = find_advice(locale, language.code)
    problems = [*examine(path, entries, kinds, language, glossary=glossary, advice=advice)]
    if wanted is not None:
        problems += compare(path, catalog, list(wanted), language.code)
    return problems


def format_problems(problems: Sequence[Problem]) -> str:
    """Return the problems, a line each, and how many there are of each kind.

    What is left to translate or to revise is no problem.
    """
    counts = Counter(problem.check for problem in problems)
    empty, fuzzy = counts.pop("empty", 0), counts.pop("fuzzy", 0)
    total = "no problems"
    if counts:
        names = ", ".join(f"{name}: {count}" for name, count in counts.most_common())
        number = counts.total()
        total = f"{number} problem{'s' if number > 1 else ''} ({names})"
    left = {"to translate": empty, "to revise": fuzzy}
    tasks = ", ".join(f"{count} {task}" for task, count in left.items() if count)
    return "\n".join([*map(str, problems), f"{total}; {tasks}" if tasks else total])
