"""Check catalogs: `make check-po`, and what a build will not show to readers.

Beside the checks of single messages, these are run where they are installed: ``msgfmt --check`` of
GNU gettext and sphinx-lint.

A justified exception is accepted at the message itself, by a translator's comment with a reason::

    # check-po: allow glossary (here "layer" is a layer of abstraction)
"""

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import polib

from ...languages import FILE_NAME, Language, choose_languages, load_languages
from ...project import GalleryError
from ..catalogs import INTERFACE, find_catalogs, read_catalog
from ..glossary import Glossary, load_glossary
from .messages import CHECKS, Check, Message

_ALLOW = re.compile(r"check-po: allow (?P<name>[\w-]+)(?P<reason>.*)")
_MSGFMT = re.compile(r"^(?:msgfmt: )?(?P<path>[^:\n]+):(?P<line>\d+)(?::\d+)?: (?P<text>.*)$", re.M)
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


# What would end a build, change a program or show what nobody sees has no good reason.
_NO_EXCEPTION = {"comment", "hidden-character", "markup", "placeholder", "raw-html"}
BREAKING = [check for check in CHECKS if check.breaks]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One line of `make check-po`."""

    path: Path
    line: int
    message: str
    check: str
    breaks: bool = False

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message} ({self.check})"


def check_catalog(
    path: Path, language: Language, checks: Sequence[Check] | None = None
) -> tuple[polib.POFile | None, list[Problem]]:
    """Run checks on one catalog; return it with what is wrong.

    Only messages of which nothing is said that ``breaks`` are fit for readers. ``None`` instead of
    the catalog means that it cannot be read at all.
    """
    try:
        catalog = read_catalog(path)
    except GalleryError as error:
        return None, [_unreadable(path, error)]
    problems = list(_check_header(path, catalog, language))
    interface = path.stem in INTERFACE
    # Builds do not look at terms, and a broken glossary is no reason for them to stop.
    wants_terms = checks is None or any(each.name == "glossary" for each in checks)
    glossary = load_glossary(_locale_folder(path)) if wants_terms else Glossary()
    seen: dict[tuple[str | None, str], int] = {}
    for entry in catalog:
        if entry.obsolete:
            continue
        key = (entry.msgctxt, entry.msgid)
        line = line_of(entry)
        if key in seen:
            text = f"the message of line {seen[key]} again; keep one of the two"
            problems.append(
                Problem(path=path, line=line, message=text, check="duplicate", breaks=True)
            )
        seen.setdefault(key, line)
        if not entry.msgstr:
            continue
        message = Message(
            text=entry.msgid,
            translation=entry.msgstr,
            kind=entry.comment.partition(":")[0].strip(),
            interface=interface,
            fuzzy=entry.fuzzy,
            glue=language.glue,
            language=language.code,
            glossary=glossary,
        )
        allowed = _allowed(entry)
        for each in CHECKS if checks is None else checks:
            # Fuzzy texts reach no page, so they break none.
            if each.name in allowed - _NO_EXCEPTION or (each.breaks and entry.fuzzy):
                continue
            problems += [
                Problem(path=path, line=line, message=text, check=each.name, breaks=each.breaks)
                for text in each.run(message)
            ]
    return catalog, problems


def line_of(entry: polib.POEntry) -> int:
    """Return the line where an entry starts in its catalog."""
    return int(entry.linenum or 1)


def _allowed(entry: polib.POEntry) -> set[str]:
    return {
        found["name"]
        for found in _ALLOW.finditer(entry.tcomment)
        if len(re.sub(r"\W", "", found["reason"])) > 1  # without a reason it does not count
    }


def _unreadable(path: Path, error: GalleryError) -> Problem:
    found = re.fullmatch(rf"{re.escape(str(path))}(?::(\d+))?: (.*)", str(error), re.DOTALL)
    line, text = (int(found[1] or 1), found[2]) if found else (1, str(error))
    return Problem(path=path, line=line, message=text, check="syntax", breaks=True)


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


def check_tree(root: Path, targets: Sequence[str]) -> list[Problem]:
    """Check the catalogs that ``targets`` names, or all: languages, files or folders.

    Raises ``GalleryError`` if a target is none of them, or the glossary cannot be read.
    """
    languages = load_languages(root)
    load_glossary(root / "locale")
    jobs = [(path, languages[code]) for path, code in _find_targets(root, languages, targets)]
    if not jobs:
        return []
    workers = min(len(jobs), os.cpu_count() or 1) if len(jobs) > 50 else 1
    if workers == 1:
        found = [_check_file(*job) for job in jobs]
    else:  # a process each: this is all computing
        with ProcessPoolExecutor(workers) as pool:
            found = list(pool.map(_check_file, *zip(*jobs, strict=True), chunksize=8))
    problems = [problem for each in found for problem in each]
    return sorted(set(problems), key=lambda each: (str(each.path), each.line, each.check))


def _check_file(path: Path, language: Language) -> list[Problem]:
    catalog, problems = check_catalog(path, language)
    if catalog is not None and language.published:
        empty = [entry for entry in catalog.untranslated_entries() if not entry.obsolete]
        problems += [
            Problem(
                path=path,
                line=line_of(entry),
                message="not translated; readers get English",
                check="empty",
            )
            for entry in empty
        ]
    problems += run_msgfmt(path)
    return problems if catalog is None else [*problems, *run_sphinx_lint(path)]


def _find_targets(
    root: Path, languages: dict[str, Language], targets: Sequence[str]
) -> Iterator[tuple[Path, str]]:
    locale = root / "locale"
    source = next(iter(languages))
    if not targets:
        targets = [code for code in languages if code != source]
    for target in targets:
        path = Path(target)
        if target in languages:
            for found in find_catalogs(locale, target):
                yield found, target
        elif path.exists():
            for found in sorted(path.rglob("*.po")) if path.is_dir() else [path]:
                yield found, _language_of(found, languages)
        elif "/" in target or target.endswith(".po"):
            raise GalleryError(f"{target}: no such file or folder; name a catalog or a language")
        else:
            choose_languages(root, [target])  # says what there is


def _language_of(path: Path, languages: dict[str, Language]) -> str:
    for parent in path.resolve().parents:
        if parent.name == "LC_MESSAGES" and parent.parent.name in languages:
            return parent.parent.name
    raise GalleryError(
        f"{path}: not below locale/<language>/LC_MESSAGES/ of a language in {FILE_NAME}; move it"
    )


def run_msgfmt(path: Path) -> list[Problem]:
    """Return what ``msgfmt --check`` says; nothing where GNU gettext is not installed."""
    program = shutil.which("msgfmt")
    if not program:
        return []
    command = [program, "--check-format", "--check-domain", "-o", os.devnull, str(path)]
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "LANGUAGE": ""}
    done = subprocess.run(command, capture_output=True, env=environment)
    return [
        Problem(path=path, line=int(found["line"]), message=found["text"], check="msgfmt")
        for found in _MSGFMT.finditer(done.stderr.decode(errors="replace"))
    ]


def run_sphinx_lint(path: Path) -> list[Problem]:
    """Return what sphinx-lint says; nothing where it is not installed."""
    try:
        from sphinxlint import check_file
        from sphinxlint.checkers import all_checkers
    except ModuleNotFoundError:
        return []
    checkers = [checker for name, checker in all_checkers.items() if name in _LINT]
    return [
        Problem(path=path, line=error.line_no, message=error.msg, check=error.checker_name)
        for error in check_file(str(path), checkers)
        if not isinstance(error, str)  # it cannot read the file; msgfmt says why
    ]


def format_problems(problems: Sequence[Problem], form: str) -> str:
    """Return the problems as text, as annotations of GitHub, or as JSON."""
    if form == "json":
        fields = ("line", "message", "check")
        return json.dumps(
            [
                {"file": str(each.path), **{name: getattr(each, name) for name in fields}}
                for each in problems
            ],
            ensure_ascii=False,
            indent=1,
        )
    if form == "github":
        return "\n".join(
            f"::error file={each.path},line={each.line},title={each.check}::{_escape(each.message)}"
            for each in problems
        )
    counts = Counter(each.check for each in problems)
    names = ", ".join(f"{name}: {count}" for name, count in counts.most_common())
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    total = f"{count} ({names})" if problems else "no problems"
    return "\n".join([*map(str, problems), total])


def _escape(text: str) -> str:
    """Escape what ends the text of an annotation."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
