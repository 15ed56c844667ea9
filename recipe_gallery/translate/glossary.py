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
from functools import cache, cached_property
from pathlib import Path

from ..project import GalleryError

FILE_NAME = "glossary.csv"


@dataclass(frozen=True, kw_only=True)
class Term:
    """One line of the glossary."""

    forms: tuple[str, ...]  # English, the term itself first
    translations: Mapping[str, tuple[str, ...]]  # by language code, likewise
    note: str = ""

    @property
    def name(self) -> str:
        """The English term."""
        return self.forms[0]


@cache
def load_glossary(locale: Path) -> Glossary:
    """Read the glossary of a folder of catalogs; none if there is no file."""
    path = locale / FILE_NAME
    if not path.exists():
        return Glossary()
    rows: list[tuple[int, dict[str | None, str]]] = []
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for row in reader:
                rows.append((reader.line_num, dict(row)))
                line = reader.line_num + 1
    except (csv.Error, UnicodeError) as error:
        raise GalleryError(f"{path}:{line}: not a table in CSV and UTF-8: {error}") from None
    except OSError as error:
        raise GalleryError(f"{path}: cannot be read: {error.strerror}") from None
    if rows and "term" not in rows[0][1]:
        raise GalleryError(f"{path}:1: the first line has to name the columns: term,...,note")
    terms = []
    for line, row in rows:
        forms = _split(row.pop("term"))
        if not forms:
            raise GalleryError(f"{path}:{line}: no English term; fill in the first column")
        note = row.pop("note", None) or ""
        if None in row:
            raise GalleryError(f"{path}:{line}: more cells than columns; quote a cell with commas")
        translations = {code: _split(cell) for code, cell in row.items() if code and _split(cell)}
        terms.append(Term(forms=forms, translations=translations, note=note))
    return Glossary(terms)


def _split(cell: str | None) -> tuple[str, ...]:
    return tuple(form.strip() for form in (cell or "").split("|") if form.strip())


class Glossary:
    """The terms, and how they are found in texts."""

    def __init__(self, terms: Sequence[Term] = ()) -> None:
        self.terms = tuple(terms)

    def missing(self, language: str, source: str, translation: str) -> list[tuple[str, str]]:
        """Return the terms of a text whose translation lacks theirs, with what is expected."""
        spaceless = _squeeze(translation)
        return [
            (term.name, forms[0])
            for term in self.find(source)
            if (forms := term.translations.get(language))
            and not any(_squeeze(form) in spaceless for form in forms)
        ]

    def find(self, source: str) -> list[Term]:
        """Return the terms that occur in an English text; of two that overlap, the longer."""
        found = (self._by_form[match[1].lower()] for match in self._pattern.finditer(source))
        return list({term.name: term for term in found}.values())

    @cached_property
    def _by_form(self) -> dict[str, Term]:
        return {form.lower(): term for term in self.terms for form in term.forms}

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        forms = "|".join(re.escape(form) for form in sorted(self._by_form, key=len, reverse=True))
        return re.compile(rf"(?<![\w.-])({forms or '(?!)'})(?:s|es)?(?![\w-])", re.IGNORECASE)


def _squeeze(text: str) -> str:
    """Leave spaces and case out: languages differ in how they write compounds."""
    return re.sub(r"\s+", "", text).casefold()
