"""The messages of a language as `live` tells of them: what is wrong, and where each one is."""

import contextlib
import re
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polib

from ..errors import GalleryError
from ..languages import Language
from ..project import Project, file_state
from ..translate.catalogs import (
    catalog_folder,
    domain_of,
    find_catalogs,
    label_domains,
    line_of,
    locale_folders,
    read_catalog,
)
from ..translate.checks.problems import Problem
from ..translate.checks.run import BREAKING, check_catalog, check_file
from .marks import mark_of

# What a page has in place of it: a value of a label, a measured figure
_VARIABLE = re.compile(r"%(?:\(\w+\))?[sd]|:(?:measured|claim):`[^`]*`")
# What a reader does not see: the name of a role, the target of a link
_HIDDEN = re.compile(r":[a-z][a-z:+-]*:(?=`)|\s*<[^<>`]*>(?=`)")
_LONGEST = 1000  # characters of a text that is looked for


@dataclass(frozen=True, kw_only=True)
class _Message:
    mark: str
    place: str  # file and line
    source: str
    translation: str
    problems: tuple[Problem, ...]

    def tell(self, *, breaking: bool) -> list[str]:
        """Return what is wrong, each once; what breaks a page only if asked for."""
        found = [each for each in self.problems if breaking or not each.breaks]
        return list(dict.fromkeys(f"{each.message} ({each.check})" for each in found))


class Messages:
    """The catalogs of one language, each read again when it changes."""

    def __init__(self, project: Project, language: Language) -> None:
        self._root, self._locale = project.root.resolve(), project.locale.resolve()
        self._folders = locale_folders(self._root, self._locale)
        self._labels = label_domains(project.config)
        # What is not translated yet is told in every language: whoever asks translates it.
        self._language = replace(language, published=True)
        self._read: dict[Path, tuple[object, list[_Message]]] = {}
        self._broken: dict[Path, list[Problem]] = {}
        self._lock = threading.Lock()

    def note(self, changed: Iterable[Path]) -> bool:
        """Note which of the saved files break a page; tell whether all of them do, and some."""
        folders = [catalog_folder(each, self._language.code) for each in self._folders]
        good = bad = False
        for path in changed:
            self._broken.pop(path, None)
            if path.suffix == ".po" and any(map(path.is_relative_to, folders)) and path.exists():
                found = check_catalog(path, self._language, self._labels, BREAKING)[1]
                if problems := [each for each in found if each.breaks]:
                    self._broken[path] = problems
            good, bad = good or path not in self._broken, bad or path in self._broken
        return bad and not good

    @property
    def broken(self) -> list[Path]:
        """The catalogs whose last save would break a page."""
        return list(self._broken)

    def describe_broken(self) -> list[str]:
        """Return what is wrong with these, a line for each."""
        return [each.describe(self._root) for found in self._broken.values() for each in found]

    def advise(self, page: str) -> dict[str, list[dict[str, Any]]]:
        """Return what could be better, by message: on the page, and anywhere else."""
        hints: dict[str, list[dict[str, Any]]] = {"here": [], "elsewhere": []}
        for path, messages in self._catalogs():
            place = "here" if domain_of(path) == page else "elsewhere"
            for each in messages:
                if texts := each.tell(breaking=False):
                    hints[place].append({"place": each.place, "mark": each.mark, "texts": texts})
        return hints

    def find(self, page: str, marks: Collection[str], texts: Sequence[str]) -> list[dict[str, Any]]:
        """Return the messages with these marks, or else those that read like one of ``texts``."""
        catalogs = sorted(self._catalogs(), key=lambda each: domain_of(each[0]) != page)
        messages = [message for _path, found in catalogs for message in found]
        first: dict[str, _Message] = {}  # a page's own goes before another's of the same text
        for message in messages:
            if message.mark in marks:
                first.setdefault(message.mark, message)
        looked = (_look_for(text[:_LONGEST], messages) for text in texts)
        found = list(first.values()) or next(filter(None, looked), [])
        return [
            {
                "place": each.place,
                "source": each.source,
                "translation": each.translation,
                "texts": each.tell(breaking=True),
            }
            for each in found
        ]

    def _catalogs(self) -> Iterator[tuple[Path, list[_Message]]]:
        with self._lock:  # several pages may ask at once
            paths = [
                path for each in self._folders for path in find_catalogs(each, self._language.code)
            ]
            glossary = self._locale / "glossary.csv"
            for path in paths:
                stamp = [file_state(path), file_state(glossary)]
                if path not in self._read or self._read[path][0] != stamp:
                    self._read[path] = stamp, self._check(path)
            return iter([(path, self._read[path][1]) for path in paths])

    def _check(self, path: Path) -> list[_Message]:
        """Return the messages of a catalog; what is wrong with the file itself is one more."""
        try:
            problems = check_file(path, self._language, self._labels, self._locale)
        except GalleryError as error:  # of the glossary, without which nothing can be said
            text = error.describe(self._root)
            problems = [Problem(path=path, line=1, message=text, check="glossary")]
        catalog: Iterable[polib.POEntry] = ()
        with contextlib.suppress(GalleryError):  # then this is what is wrong
            catalog = read_catalog(path)
        shown = path.relative_to(self._root) if path.is_relative_to(self._root) else path
        entries = {line_of(each): each for each in catalog if not each.obsolete}
        told: dict[int, list[Problem]] = {line: [] for line in entries}
        for each in problems:
            # Some checks name a line inside of a message.
            start = max((line for line in entries if line <= each.line), default=each.line)
            told.setdefault(start, []).append(each)
        return [
            _Message(
                mark=mark_of(entries[line].msgid) if line in entries else "",
                place=f"{shown}:{line}",
                source=entries[line].msgid if line in entries else "",
                translation=entries[line].msgstr if line in entries else "",
                problems=tuple(told[line]),
            )
            for line in sorted(told)
        ]


def _look_for(text: str, messages: Iterable[_Message]) -> list[_Message]:
    """Return the messages that read like a text of a page; of labels that hold values, the best."""
    wanted = _squash(text)
    if not wanted:
        return []
    exact, likely = [], []
    for each in messages:
        for shown in (each.translation[:_LONGEST], each.source[:_LONGEST]):
            parts = [_squash(part) for part in _VARIABLE.split(shown)]
            fixed = sum(map(len, parts))
            if len(parts) == 1 and parts[0] == wanted:
                exact.append(each)
            elif len(parts) > 1 and fixed and _fits(parts, wanted):
                likely.append((fixed, each))
    if exact or not likely:
        return exact[:3]
    return [max(likely, key=lambda each: each[0])[1]]


def _fits(parts: list[str], wanted: str) -> bool:
    """Tell whether a text has the parts in their order, with something between each two."""
    first, *inner, last = parts
    if not (wanted.startswith(first) and wanted.endswith(last)):
        return False
    at = len(first)
    for part in inner:
        if (found := wanted.find(part, at + 1)) < 0:
            return False
        at = found + len(part)
    return at < len(wanted) - len(last)


def _squash(text: str) -> str:
    """Return the letters and digits that a reader sees, without spaces and markup."""
    return re.sub(r"[\W_]+", "", _HIDDEN.sub("", text))
