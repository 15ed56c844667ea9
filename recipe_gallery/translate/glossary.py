"""The glossary: one English term has one translation in each language.

``locale/glossary.csv`` has a column ``term``, one for each language, named by its code, and
``note``. A cell may hold several forms separated by ``|``: the first is the term, the others are
forms that count as it too, such as an inflection or the form in a compound. A line that has nothing
but a term and the note ``name`` is a name, which stays as it is in every language.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from ..errors import GalleryError
from ..languages import Language

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

    @property
    def is_name(self) -> bool:
        """Tell a name, which has no translations."""
        return self.note == "name" and not self.translations

    def translation(self, language: str) -> str:
        """Return what the term is in a language; nothing if it is not told."""
        return self.name if self.is_name else self.translations.get(language, ("",))[0]


def find_glossaries(locale: Path) -> list[Path]:
    """Return the files of a glossary."""
    return [locale / FILE_NAME]


def load_glossary(locale: Path) -> Glossary:
    """Read the glossary of a folder of catalogs; none if there is no file.

    It is kept until the file changes. Raises ``GalleryError`` if it is no table of terms.
    """
    path = (locale / FILE_NAME).absolute()
    return _read_glossary(path, path.stat().st_mtime_ns) if path.exists() else Glossary()


@lru_cache(maxsize=4)
def _read_glossary(path: Path, _time: int) -> Glossary:
    def refuse(text: str, remedy: str = "") -> GalleryError:
        return GalleryError(text, path=path, line=line, remedy=remedy)

    line = 1
    terms = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for row in reader:
                if "term" not in row:
                    line = 1
                    raise refuse("the first line has to name the columns: term,...,note")
                line = reader.line_num
                forms, note = split_forms(row.pop("term")), row.pop("note", None) or ""
                if not forms:
                    raise refuse("no English term", "fill in the first column")
                if None in row:
                    raise refuse("more cells than columns", "quote a cell with commas")
                translations = {
                    code: split_forms(cell) for code, cell in row.items() if split_forms(cell)
                }
                terms.append(Term(forms=forms, translations=translations, note=note))
                line += 1
    except (csv.Error, UnicodeError) as error:
        raise refuse(f"not a table in CSV and UTF-8: {error}") from None
    return Glossary(terms)


def split_forms(cell: str | None) -> tuple[str, ...]:
    """Return the forms in a cell."""
    return tuple(form.strip() for form in (cell or "").split("|") if form.strip())


class Glossary:
    """The terms, and how they are found in texts."""

    def __init__(self, terms: Sequence[Term] = ()) -> None:
        self.terms = tuple(terms)
        self._found: dict[str, tuple[int, ...]] = {}
        self.names = frozenset(form for term in terms if term.is_name for form in term.forms)

    def missing(self, language: str, source: str, translation: str) -> list[tuple[str, str]]:
        """Return the terms of a source text that its translation does not use.

        With each stands the translation that the glossary has of it. Where "graph break" and
        "graph" are terms, the words "graph break" are the first one only.
        """
        spaceless = _squeeze(translation)
        missing = []
        for number in self._find(source):
            forms = self.terms[number].translations.get(language)
            if forms and not any(_squeeze(form) in spaceless for form in forms):
                missing.append((self.terms[number].name, forms[0]))
        return missing

    def _find(self, source: str) -> tuple[int, ...]:
        """Return the numbers of the terms in a text, which several languages translate."""
        if source not in self._found:
            forms = {each[1].lower() for each in self._pattern.finditer(source)}
            known = forms & self._by_form.keys()  # the long s, ſ, is found as s
            self._found[source] = tuple(sorted({self._by_form[form] for form in known}))
        return self._found[source]

    @cached_property
    def _by_form(self) -> dict[str, int]:
        terms = enumerate(self.terms)
        return {form.lower(): number for number, term in terms for form in term.forms}

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
                if translation := term.translation(language.code):
                    writer.writerow([term.name, translation, term.note])
        written.append(path)
    return written


@lru_cache(maxsize=4096)
def _squeeze(text: str) -> str:
    """Leave spaces and case out: languages differ in how they write compounds."""
    return "".join(text.split()).casefold()
