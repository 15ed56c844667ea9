"""Check catalogs: ``recipe-gallery check-po``."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import polib

from ..errors import GalleryError, suggest, visible
from ..languages import Language
from ..project import Project
from . import advice  # noqa: F401 (its checks are among all)
from .catalogs import (
    ENGINE_LOCALE,
    Kind,
    all_catalogs,
    catalog_of,
    kind_of,
    label_domains,
    line_of,
    read_catalog,
    split_path,
)
from .checks import Problem, compare, examine
from .glossary import Glossary, load_glossary
from .pot import messages_for, read_pots


def check_project(project: Project, languages: Sequence[Language]) -> list[Problem]:
    """Check the catalogs of languages.

    Raises ``GalleryError`` if a glossary or a template is damaged.
    """
    load_glossary(project.locale)  # damaged, it is told without any catalog, too
    pots, labels = read_pots(project), label_domains(project.config)
    problems: list[Problem] = []

    def tell(path: Path, text: str, check: str, *run: str) -> None:
        text = f"{text}; run: {suggest('update-po', *run)}"
        problems.append(Problem(path=path, line=1, message=text, check=check))

    if languages and not pots:
        tell(project.locale / "templates", "no templates say which messages pages have", "template")
    for language in languages:
        code = language.code
        paths = {split_path(path)[2]: path for path in all_catalogs(project, code)}
        for domain in paths | pots:
            path, wanted, old = paths.get(domain), None, polib.POFile()
            with suppress(GalleryError):  # which check_file tells
                old = read_catalog(path) if path else old
            if domain in pots:
                messages = messages_for(project, domain, pots[domain], code, old)
                wanted = {e.msgid: kind_of(e, label=domain in labels) for e in messages}
            if path:
                problems += check_file(path, language, labels, project.locale, wanted)
            elif wanted:
                text = "no such catalog, so the page is in English"
                tell(catalog_of(project, domain, code), text, "missing", code)
            if path and pots and wanted is None and any(not entry.obsolete for entry in old):
                tell(path, f"there is no page {domain}, or it is new", "unknown", code)
    return sorted(problems, key=lambda each: (str(each.path), each.line, each.check, each.message))


def check_file(
    path: Path,
    language: Language,
    labels: Collection[str],
    locale: Path,
    wanted: Mapping[str, Kind] | None = None,
) -> list[Problem]:
    """Check one catalog; ``locale`` is the folder of the glossary.

    ``labels`` are the names of catalogs of labels. ``wanted`` are the messages that it should hold,
    with what each is; without it the catalog's own word is taken.
    """
    problems: list[Problem] = []

    def tell(line: int, text: str, name: str, *, breaks: bool = False) -> None:
        problem = Problem(path=path, line=line, message=text, check=name, breaks=breaks)
        problems.append(problem)

    try:
        catalog = read_catalog(path)
    except GalleryError as error:
        text = "; ".join(filter(None, [error.text, error.remedy]))
        tell(error.line or 1, text, "syntax", breaks=True)
        return problems
    if path.read_bytes().startswith(b"\xef\xbb\xbf"):
        tell(1, "the file begins with a byte order mark; save it as UTF-8 without one", "syntax")
    _locale, code, domain = split_path(path)
    code = code or language.code  # labels for ko serve ko_KR, too
    declared = catalog.metadata.get("Language", "")
    if declared.replace("-", "_") != code:
        said = f"says language {declared}" if declared else "names no language"
        tell(1, f'the header {said}; write "Language: {code}\\n" as the folder is called', "header")
    # The engine's labels are of no site: its terms are not theirs.
    glossary = Glossary() if path.is_relative_to(ENGINE_LOCALE) else load_glossary(locale)
    entries = [entry for entry in catalog if not entry.obsolete]
    kinds: dict[str, set[Kind | None]] = {
        entry.msgid: {(wanted or {}).get(entry.msgid) or kind_of(entry, label=domain in labels)}
        for entry in entries
    }
    problems += examine(path, entries, kinds, language, glossary)
    for entry in entries if language.published else ():
        is_empty = not (entry.msgstr or entry.msgid_plural or entry.msgstr_plural)
        if is_empty and (wanted is None or entry.msgid in wanted):
            tell(line_of(entry), "not translated: readers get English; translate it", "empty")
    if wanted is not None:
        problems += compare(path, catalog, list(wanted), code)
    return problems


def format_problems(problems: Sequence[Problem], form: str) -> str:
    """Return the problems as text, or as annotations of GitHub."""
    if form == "github":
        return "\n".join(
            f"::error file={_escape(str(each.path), ':,')},line={each.line},title={each.check}::"
            + _escape(each.message)
            for each in problems
        )
    counts = Counter(each.check for each in problems)
    names = ", ".join(f"{name}: {count}" for name, count in counts.most_common())
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    total = f"{count} ({names})" if problems else "no problems"
    return "\n".join([*map(str, problems), total])


def _escape(text: str, others: str = "") -> str:
    """Escape what would end a text of an annotation, and ``others``."""
    for each in f"%\r\n{others}":
        text = text.replace(each, f"%{ord(each):02X}")
    return visible(text)
