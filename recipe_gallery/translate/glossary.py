"""The glossary: one English term has one translation in each language.

``locale/glossary.csv`` has a column ``term``, one for each language, named by its code, and
``note``. A cell may hold several forms separated by ``|``: the first is the term, the others are
forms that count as it too, such as an inflection or the form in a compound.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from ..languages import Language
from ..project import GalleryError

FILE_NAME = "glossary.csv"


@dataclass(frozen=True, kw_only=True)
class Term:
    """One line of the glossary."""

    forms: tuple[str, ...]  # English, the term itself first
    translations: Mapping[str, tuple[str, ...]]  # by language code, the translation itself first
    note: str = ""

    @property
    def name(self) -> str:
        """The English term."""
        return self.forms[0]


def load_glossary(locale: Path) -> Glossary:
    """Read the glossary of a folder of catalogs; none if there is no file.

    It is kept until the file changes. Raises ``GalleryError`` if it is no table of terms.
    """
    path = locale / FILE_NAME
    try:
        state = path.stat()
    except FileNotFoundError:
        return Glossary()
    return _read_glossary(path.absolute(), path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=4)
def _read_glossary(_absolute: Path, path: Path, _time: int, _size: int) -> Glossary:
    line = 1
    terms = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for row in reader:
                line = reader.line_num
                terms.append(_parse_row(path, line, dict(row)))
                line += 1
    except (csv.Error, UnicodeError) as error:
        problem = f"not a table in CSV and UTF-8: {error}"
        raise GalleryError(problem, path=path, line=line) from None
    return Glossary(terms)


def _parse_row(path: Path, line: int, row: dict[Any, Any]) -> Term:
    """Return the term of a row; under the key None are cells for which there is no column."""
    if "term" not in row:
        problem = "the first line has to name the columns: term,...,note"
        raise GalleryError(problem, path=path, line=1)
    forms = _split(row.pop("term"))
    note = row.pop("note", None) or ""
    if not forms:
        remedy = "fill in the first column"
        raise GalleryError("no English term", path=path, line=line, remedy=remedy)
    if None in row:
        remedy = "quote a cell with commas"
        raise GalleryError("more cells than columns", path=path, line=line, remedy=remedy)
    translations = {code: _split(cell) for code, cell in row.items() if _split(cell)}
    return Term(forms=forms, translations=translations, note=note)


def _split(cell: str | None) -> tuple[str, ...]:
    return tuple(form.strip() for form in (cell or "").split("|") if form.strip())


class Glossary:
    """The terms, and how they are found in texts."""

    def __init__(self, terms: Sequence[Term] = ()) -> None:
        self.terms = tuple(terms)

    def missing(self, language: str, source: str, translation: str) -> list[tuple[str, str]]:
        """Return the terms of a source text that its translation does not use.

        With each stands the translation that the glossary has of it.
        """
        spaceless = _squeeze(translation)
        return [
            (term.name, forms[0])
            for term in self.find(source)
            if (forms := term.translations.get(language))
            and not any(_squeeze(form) in spaceless for form in forms)
        ]

    def find(self, source: str) -> list[Term]:
        """Return the terms that occur in an English text.

        Where "graph break" and "graph" are terms, the words "graph break" are the first one only.
        """
        found = (self._by_form[match[1].lower()] for match in self._pattern.finditer(source))
        return list({term.name: term for term in found}.values())

    @cached_property
    def _by_form(self) -> dict[str, Term]:
        return {form.lower(): term for term in self.terms for form in term.forms}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        forms = "|".join(re.escape(form) for form in sorted(self._by_form, key=len, reverse=True))
        return re.compile(rf"(?<![\w.-])({forms or '(?!)'})(?:s|es)?(?![\w-])", re.IGNORECASE)


def write_glossaries(glossary: Glossary, languages: Sequence[Language], folder: Path) -> list[Path]:
    """Write ``glossary.<code>.csv`` for each language, which translation tools import.

    Its columns are source, target and comment. Returns the files.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for language in languages:
        path = folder / f"glossary.{language.code}.csv"
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["source", "target", "comment"])
            for term in glossary.terms:
                if translations := term.translations.get(language.code):
                    writer.writerow([term.name, translations[0], term.note])
        written.append(path)
    return written


def _squeeze(text: str) -> str:
    """Leave spaces and case out: languages differ in how they write compounds."""
    return re.sub(r"\s+", "", text).casefold()
