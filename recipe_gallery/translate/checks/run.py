"""Check catalogs: ``recipe-gallery check-po``, and what a build will not show to readers."""

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import polib

from ...errors import GalleryError
from ...languages import FILE_NAME, Language, choose_languages, load_languages, require_listed
from ...project import Project
from ..catalogs import (
    ENGINE_LOCALE,
    Kind,
    find_catalogs,
    kind_of,
    label_domains,
    line_of,
    locale_folders,
    read_catalog,
    split_path,
)
from ..glossary import Glossary, load_glossary
from ..templates.compare import compare, expect
from ..templates.kept import KeptTemplates, Template
from . import rules, style  # noqa: F401 (they add the checks)
from .lint import check_text
from .message import (
    CHECKS,
    PASTED,
    Check,
    Message,
    describe_length,
    find_allowed,
    find_misused,
    run_checks,
)
from .problems import Problem
from .style.content import find_pasted

BREAKING = [check for check in CHECKS if check.breaks]


def check_catalog(
    path: Path,
    language: Language,
    labels: Collection[str],
    checks: Sequence[Check] = CHECKS,
    terms: Path | None = None,
    kinds: Mapping[str, Kind] | None = None,
) -> tuple[polib.POFile | None, list[Problem]]:
    """Run checks on one catalog; return it with what is wrong.

    ``labels`` are the names of catalogs of labels, ``terms`` is the folder of the glossary if that
    is not the one of the catalogs, ``kinds`` tells what each message is; without it the catalog's
    own word is taken. Only messages of which no problem ``breaks`` are
    fit for readers. ``None`` instead of the catalog means that it cannot be read at all.
    """
    problems: list[Problem] = []

    def tell(line: int, text: str, name: str, *, breaks: bool) -> None:
        problem = Problem(path=path, line=line, message=text, check=name, breaks=breaks)
        problems.append(problem)

    try:
        catalog = read_catalog(path)
    except GalleryError as error:
        text = "; ".join(filter(None, [error.text, error.remedy]))
        tell(error.line or 1, text, "syntax", breaks=True)
        return None, problems
    locale, code, domain = split_path(path)
    # Builds do not look at terms, and a broken glossary is no reason for them to stop.
    wants_terms = any(each.name == "glossary" for each in checks)
    glossary = load_glossary(terms or locale) if wants_terms else Glossary()
    for text in _check_header(catalog, code or language.code):  # labels for ko serve ko_KR, too
        tell(1, text, "header", breaks=False)
    seen: dict[tuple[str | None, str], int] = {}
    messages: list[tuple[int, Message]] = []
    by_kind = {kind: [each for each in checks if each.applies(kind, language)] for kind in Kind}
    for entry in (each for each in catalog if not each.obsolete):
        line = line_of(entry)
        first = seen.setdefault((entry.msgctxt, entry.msgid), line)
        if first != line:
            text = f"the message of line {first} again; keep one of the two"
            tell(line, text, "duplicate", breaks=True)
        if refused := _refuse(entry):
            tell(line, *refused, breaks=True)
            continue
        message = Message(
            text=entry.msgid,
            translation=entry.msgstr,
            kind=(kinds or {}).get(entry.msgid) or kind_of(entry, label=domain in labels),
            fuzzy=entry.fuzzy,
            language=language,
            glossary=glossary,
        )
        if entry.msgstr:
            messages.append((line, message))
            for each, text in run_checks(message, _choose(by_kind[message.kind], entry)):
                tell(line, text, each.name, breaks=each.breaks)
    for line, text, name in _advise_on_all(catalog, messages) if wants_terms else ():
        tell(line, text, name, breaks=False)
    return catalog, problems


def _refuse(entry: polib.POEntry) -> tuple[str, str] | None:
    """Return why a message is not looked at further, and the name of the check."""
    if entry.msgid_plural or entry.msgstr_plural:
        # gettext would show the forms for msgid, too
        return "plural forms, which no message has; write msgid and msgstr alone", "plural"
    excess = describe_length(entry.msgid, entry.msgstr)
    return (excess, "size") if excess else None


def _check_header(catalog: polib.POFile, code: str) -> Iterator[str]:
    """Yield what is wrong with the language and the charset that a catalog declares."""
    declared = catalog.metadata.get("Language", "")
    if declared.replace("-", "_") != code:
        said = f"says language {declared}" if declared else "names no language"
        yield f'the header {said}; write "Language: {code}\\n" as the folder is called'
    charset = catalog.metadata.get("Content-Type", "").rpartition("charset=")[2] or "UTF-8"
    if charset.lower().replace("-", "") not in ("utf8", "usascii", "ascii"):
        yield f"the file is in {charset}, which not all programs read; save it as UTF-8"


def _advise_on_all(
    catalog: polib.POFile, messages: Sequence[tuple[int, Message]]
) -> Iterator[tuple[int, str, str]]:
    """Yield line, problem and name of what one message does not show."""
    commented = [each for each in catalog if each.tcomment and not each.obsolete]
    for entry in commented:
        for text in find_misused(entry.tcomment):
            yield line_of(entry), text, "allow"
    allowed = {line_of(each) for each in commented if PASTED in find_allowed(each.tcomment)}
    for line, text in find_pasted([each for each in messages if not each[1].fuzzy]):
        if line not in allowed:
            yield line, text, PASTED


def _choose(checks: list[Check], entry: polib.POEntry) -> list[Check]:
    """Return those of the checks that have a say on a message with its flags and comments."""
    if not (entry.tcomment or entry.fuzzy):
        return checks
    allowed = find_allowed(entry.tcomment)
    return [
        check
        for check in checks
        if (check.breaks or check.name not in allowed)
        and not (check.breaks and entry.fuzzy)  # fuzzy texts reach no page, so they break none
    ]


def check_tree(project: Project, targets: Sequence[str]) -> list[Problem]:
    """Check the catalogs that ``targets`` names, or all: languages, files or folders.

    Raises ``GalleryError`` if a target is none of them, or the glossary cannot be read.
    """
    languages = load_languages(project.root)
    load_glossary(project.locale)
    found: dict[Path, Language] = {}
    for target in targets or list(languages)[1:]:  # the first is that of the sources
        found |= _find_target(project, languages, target)
    if not targets and len(languages) == 1:
        require_listed(project.locale)
    whole = [each for each in targets or list(languages)[1:] if each in languages]
    kept = KeptTemplates(project.root, project.locale, project.config)
    expected = expect(kept, found, whole)
    arguments = (
        found,
        found.values(),
        repeat(label_domains(project.config)),
        repeat(project.locale),
        [expected.templates.get(path) for path in found],
        repeat(expected.owners),
    )
    if len(found) > 50 and (os.cpu_count() or 1) > 1:  # a process each: this is all computing
        with ProcessPoolExecutor() as pool:
            told = list(pool.map(check_file, *arguments, chunksize=8))
    else:
        told = list(map(check_file, *arguments))
    problems = {problem for each in (*told, expected.problems) for problem in each}
    return sorted(problems, key=lambda each: (str(each.path), each.line, each.check, each.message))


def check_file(
    path: Path,
    language: Language,
    labels: Collection[str],
    terms: Path,
    template: Template | None = None,
    owners: Mapping[str, str] | None = None,
) -> list[Problem]:
    """Check one catalog in all ways; ``terms`` is the folder of the glossary.

    It is compared with its template if there is one; ``owners`` are pages by message.
    """
    shipped = path.is_relative_to(ENGINE_LOCALE)  # beside these there is no glossary
    folder = terms if shipped else None
    kinds = template.kinds if template and not template.stale else None
    catalog, problems = check_catalog(path, language, labels, terms=folder, kinds=kinds)
    if catalog is None:
        return problems
    if template and not template.stale:
        problems += [
            Problem(path=path, line=line, message=text, check=name)
            for line, text, name in compare(catalog, template, language.code, owners or {})
        ]
    if language.published:
        text = "not translated: readers get English; translate it"
        problems += [
            Problem(path=path, line=line_of(entry), message=text, check="empty")
            for entry in catalog.untranslated_entries()
        ]
    return [*problems, *check_text(path)]


def _find_target(
    project: Project, languages: dict[str, Language], target: str
) -> dict[Path, Language]:
    """Return the catalogs that a target names, each with its language."""
    path = Path(target)
    paths = []
    if target in languages:
        locales = locale_folders(project.root, project.locale)
        paths = [found for locale in locales for found in find_catalogs(locale, target)]
    elif path.exists():
        paths = sorted(path.rglob("*.po")) if path.is_dir() else [path]
    elif "/" in target or target.endswith(".po"):
        problem = f"{target}: no such file or folder"
        raise GalleryError(problem, remedy="name a catalog or a language")
    else:
        choose_languages(project.root, [target])  # says what there is
    for found in paths:
        if split_path(found)[1] not in languages:
            problem = f"not below <language>/LC_MESSAGES/ of a language in {FILE_NAME}"
            raise GalleryError(problem, path=found, remedy="move it")
    return {found: languages[split_path(found)[1]] for found in paths}
