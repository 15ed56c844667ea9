"""The glossary: one English term has one translation in each language.

``locale/glossary.csv`` has the columns ``term`` and ``note``, ``locale/<language>/glossary.csv``
``term`` and ``translation``. A cell may hold several forms separated by ``|``: the first is the
term, the others are forms that count as it too, such as an inflection or the form in a compound. A
term with the note ``name`` that no language translates is a name, which stays as it is everywhere.
"""

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..atomic_files import atomic_write
from ..errors import GalleryError

FILE_NAME = "glossary.csv"


@dataclass(frozen=True, kw_only=True)
class Term:
    """One line of the glossary."""

    forms: tuple[str, ...]  # English, the term itself first
    # by language code, the translation itself first
    translations: dict[str, tuple[str, ...]] = field(default_factory=dict)
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


class Glossary:
    """The terms, and how they are found in texts."""

    def __init__(self, terms: Sequence[Term] = ()) -> None:
        self.terms = tuple(terms)
        self.names = frozenset(form for term in terms if term.is_name for form in term.forms)
        known = sorted((form for term in terms for form in term.forms), key=len, reverse=True)
        forms = "|".join(map(re.escape, known)) or "(?!)"
        self._pattern = re.compile(rf"(?<![\w.-])({forms})(?:s|es)?(?![\w-])", re.IGNORECASE)

    def missing(self, language: str, source: str, translation: str) -> list[tuple[str, str]]:
        """Return the terms of a source text that its translation does not use.

        With each stands the translation that the glossary has of it. Where "graph break" and
        "graph" are terms, the words "graph break" are the first one only.
        """
        forms = {found[1].lower() for found in self._pattern.finditer(source)}
        spaceless, missing = _squeeze(translation), []
        for term in self.terms:
            wanted = term.translations.get(language)
            is_meant = wanted and not forms.isdisjoint(map(str.lower, term.forms))
            if wanted and is_meant and not any(_squeeze(form) in spaceless for form in wanted):
                missing.append((term.name, wanted[0]))
        return missing


def _squeeze(text: str) -> str:
    """Leave spaces and case out: languages differ in how they write compounds."""
    return "".join(text.split()).casefold()


def find_glossaries(locale: Path) -> list[Path]:
    """Return the files of a glossary that there are: of all languages, and of each."""
    return [*locale.glob(FILE_NAME), *sorted(locale.glob(f"*/{FILE_NAME}"))]


def load_glossary(locale: Path) -> Glossary:
    """Read the glossary of a folder of catalogs; none if there is no file.

    Raises ``GalleryError`` if a file of it is no such table.
    """
    terms: dict[str, Term] = {}
    for path in find_glossaries(locale):
        is_own = path.parent == locale
        for line, cells in read_table(path, "term", "note" if is_own else "translation"):
            text = remedy = ""
            forms, found = (split_forms(cell) for cell in cells)
            if not forms:
                text, remedy = "no English term", "fill in the first column"
            elif is_own:
                terms[forms[0]] = Term(forms=forms, note=cells[1])
            elif forms[0] not in terms:
                text = f"{forms[0]!r} is no term of {locale / FILE_NAME}"
                remedy = "add it there, with a note"
            elif found:
                terms[forms[0]].translations[path.parent.name] = found
            if text:
                raise GalleryError(text, path=path, line=line, remedy=remedy)
    return Glossary([*terms.values()])


def read_table(path: Path, *columns: str) -> list[tuple[int, list[str]]]:
    """Return the lines of a table in CSV with their numbers; cells at the end may be left out.

    Raises ``GalleryError`` if it is none, or has other columns.
    """
    rows = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            if next(reader, []) != [*columns]:
                text = f"the first line has to name the columns: {','.join(columns)}"
                raise GalleryError(text, path=path, line=1)
            for cells in filter(None, reader):
                if len(cells) > len(columns):
                    text, remedy = "more cells than columns", "quote a cell with commas"
                    raise GalleryError(text, path=path, line=reader.line_num, remedy=remedy)
                rows.append((reader.line_num, cells + [""] * (len(columns) - len(cells))))
        except (csv.Error, UnicodeError) as error:
            text = f"not a table in CSV and UTF-8: {error}"
            raise GalleryError(text, path=path, line=max(reader.line_num, 1)) from None
    return rows


def split_forms(cell: str) -> tuple[str, ...]:
    """Return the forms in a cell."""
    return tuple(form.strip() for form in cell.split("|") if form.strip())


def begin_glossary(locale: Path, language: str) -> Path | None:
    """Write an empty glossary of a language, with all terms; return it if there was none."""
    path = locale / language / FILE_NAME
    if path.exists() or not (locale / FILE_NAME).exists():
        return None
    terms = [term.name for term in load_glossary(locale).terms if not term.is_name]
    path.parent.mkdir(parents=True, exist_ok=True)
    table = io.StringIO(newline="")
    rows = [("term", "translation"), *((term, "") for term in terms)]
    csv.writer(table, lineterminator="\n").writerows(rows)
    atomic_write(path, table.getvalue().encode())
    return path
