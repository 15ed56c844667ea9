"""Check catalogs: ``recipe-gallery check-po``, and what a build will not show to readers.

Beside the checks of single messages sphinx-lint is asked. A justified exception is accepted at the
message itself, by a translator's comment with a reason::

    # check-po: allow glossary (here "layer" is a layer of abstraction)
"""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import polib

from ...languages import FILE_NAME, Language, choose_languages, load_languages
from ...project import GalleryError, Project
from ..catalogs import (
    Kind,
    domain_of,
    find_catalogs,
    kind_of,
    label_domains,
    line_of,
    locale_folders,
    read_catalog,
)
from ..glossary import Glossary, load_glossary
from . import structure, wording  # noqa: F401 (they add their checks)
from .message import CHECKS, Check, Message
from .problems import Problem

_ALLOW = re.compile(r"check-po: allow (?P<name>[\w-]+)(?P<reason>.*)")
_ESCAPES = set('abfnrtv"\\01234567x')  # what may follow a backslash
# Of sphinx-lint, what holds for one message: not how reST is laid out in a file, and no spaces
# around markup, which some languages do without.
_LINT = {
    "backtick-before-role",
    "directive-with-three-dots",
    "exclamation-and-tilde",
    "horizontal-tab",
    "missing-backtick-after-role",
    "missing-colon-in-role",
    "missing-space-in-hyperlink",
    "missing-underscore-after-hyperlink",
    "role-with-double-backticks",
    "role-with-extra-backtick",
}

BREAKING = [check for check in CHECKS if check.breaks]


def check_catalog(
    path: Path, language: Language, labels: Collection[str], checks: Sequence[Check] = CHECKS
) -> tuple[polib.POFile | None, list[Problem]]:
    """Run checks on one catalog; return it with what is wrong.

    ``labels`` are the names of catalogs of labels. Only messages of which no problem ``breaks`` are
    fit for readers. ``None`` instead of the catalog means that it cannot be read at all.
    """
    try:
        catalog = read_catalog(path)
    except GalleryError as error:
        text = f"{error.text}; {error.remedy}" if error.remedy else error.text
        line = error.line or 1
        return None, [Problem(path=path, line=line, message=text, check="syntax", breaks=True)]
    # Builds do not look at terms, and a broken glossary is no reason for them to stop.
    wants_terms = any(each.name == "glossary" for each in checks)
    glossary = load_glossary(_locale_folder(path)) if wants_terms else Glossary()
    problems = list(_check_header(path, catalog, language))
    seen: dict[tuple[str | None, str], int] = {}
    for entry in catalog:
        if entry.obsolete:
            continue
        line = line_of(entry)
        first = seen.setdefault((entry.msgctxt, entry.msgid), line)
        if first != line:
            text = f"the message of line {first} again; keep one of the two"
            problems.append(
                Problem(path=path, line=line, message=text, check="duplicate", breaks=True)
            )
        for message in _messages(entry, language, glossary, label=domain_of(path) in labels):
            problems += [
                Problem(path=path, line=line, message=text, check=each.name, breaks=each.breaks)
                for each in _applicable(checks, message.kind, entry)
                for text in each.run(message)
            ]
    return catalog, problems


def _messages(
    entry: polib.POEntry, language: Language, glossary: Glossary, *, label: bool
) -> Iterator[Message]:
    """Yield each translation of an entry, of which it has several if it has plural forms."""
    forms = entry.msgstr_plural.values() if entry.msgid_plural else [entry.msgstr]
    for translation in filter(None, forms):
        yield Message(
            text=entry.msgid_plural or entry.msgid,
            translation=translation,
            kind=kind_of(entry, label=label),
            fuzzy=entry.fuzzy,
            glue=language.glue,
            language=language.code,
            glossary=glossary,
        )


def _applicable(checks: Sequence[Check], kind: Kind, entry: polib.POEntry) -> list[Check]:
    """Return the checks that have a say on a message."""
    allowed = _allowed(entry)
    return [
        check
        for check in checks
        if kind in check.of
        and not (check.excusable and check.name in allowed)
        and not (check.breaks and entry.fuzzy)  # fuzzy texts reach no page, so they break none
    ]


def _allowed(entry: polib.POEntry) -> set[str]:
    return {
        found["name"]
        for found in _ALLOW.finditer(entry.tcomment)
        if len(re.sub(r"\W", "", found["reason"])) > 1  # without a reason it does not count
    }


def _locale_folder(path: Path) -> Path:
    """Return the folder that holds the languages' folders."""
    for parent in path.parents:
        if parent.name == "LC_MESSAGES":
            return parent.parents[1]
    return path.parent


def _check_header(path: Path, catalog: polib.POFile, language: Language) -> Iterator[Problem]:
    declared = catalog.metadata.get("Language", "")
    if not declared:
        text = f'the header names no language; add "Language: {language.code}\\n"'
    elif declared.replace("-", "_") != language.code:
        text = f"the header says language {declared}, the folder {language.code}; correct one"
    else:
        return
    yield Problem(path=path, line=1, message=text, check="header")


def check_tree(project: Project, targets: Sequence[str]) -> list[Problem]:
    """Check the catalogs that ``targets`` names, or all: languages, files or folders.

    Raises ``GalleryError`` if a target is none of them, or the glossary cannot be read.
    """
    languages = load_languages(project.root)
    load_glossary(project.locale)
    targets = targets or list(languages)[1:]  # the first is that of the sources
    found = [each for target in targets for each in _find_target(project, languages, target)]
    check_one = partial(_check_file, labels=label_domains(project.config))
    paths, codes = [path for path, _code in found], [languages[code] for _path, code in found]
    if len(found) > 50 and (os.cpu_count() or 1) > 1:  # a process each: this is all computing
        with ProcessPoolExecutor() as pool:
            told = list(pool.map(check_one, paths, codes, chunksize=8))
    else:
        told = list(map(check_one, paths, codes))
    problems = {problem for each in told for problem in each}
    return sorted(problems, key=lambda each: (str(each.path), each.line, each.check))


def _check_file(path: Path, language: Language, labels: Collection[str]) -> list[Problem]:
    catalog, problems = check_catalog(path, language, labels)
    if catalog is None:
        return problems
    if language.published:
        text = "not translated; readers get English"
        problems += [
            Problem(path=path, line=line_of(entry), message=text, check="empty")
            for entry in catalog.untranslated_entries()
        ]
    return [*problems, *_check_text(path), *_ask_sphinx_lint(path)]


def _check_text(path: Path) -> Iterator[Problem]:
    """Yield what other programs would not read, though this one can."""
    for line, row in enumerate(path.read_bytes().splitlines(), start=1):
        text = row.decode(errors="replace")
        if line == 1 and text.startswith("\ufeff"):
            said = "the file begins with a byte order mark; save it as UTF-8 without one"
            yield Problem(path=path, line=1, message=said, check="syntax")
        if not text.startswith("#"):
            for found in re.findall(r"\\(.)", text):
                if found not in _ESCAPES:
                    said = f"\\{found} means nothing here; write \\\\{found} for a backslash"
                    yield Problem(path=path, line=line, message=said, check="syntax")


def _find_target(
    project: Project, languages: dict[str, Language], target: str
) -> Iterator[tuple[Path, str]]:
    """Yield the catalogs that a target names, each with the code of its language."""
    path = Path(target)
    if target in languages:
        for locale in locale_folders(project.root, project.locale):
            for found in find_catalogs(locale, target):
                yield found, target
    elif path.exists():
        for found in sorted(path.rglob("*.po")) if path.is_dir() else [path]:
            yield found, _language_of(found, languages)
    elif "/" in target or target.endswith(".po"):
        problem = f"{target}: no such file or folder"
        raise GalleryError(problem, remedy="name a catalog or a language")
    else:
        choose_languages(project.root, [target])  # says what there is


def _language_of(path: Path, languages: dict[str, Language]) -> str:
    for parent in path.resolve().parents:
        if parent.name == "LC_MESSAGES" and parent.parent.name in languages:
            return parent.parent.name
    problem = f"not below <language>/LC_MESSAGES/ of a language in {FILE_NAME}"
    raise GalleryError(problem, path=path, remedy="move it")


def _ask_sphinx_lint(path: Path) -> list[Problem]:
    from sphinxlint import check_file  # builds do not need it
    from sphinxlint.checkers import all_checkers

    checkers = [checker for name, checker in all_checkers.items() if name in _LINT]
    return [
        Problem(path=path, line=error.line_no, message=error.msg, check=error.checker_name)
        for error in check_file(str(path), checkers)
        if not isinstance(error, str)  # it takes no other charset than UTF-8
    ]
