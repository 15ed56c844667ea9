"""The glossary: one English term has one translation in each language.

``locale/glossary.csv`` has the columns ``term`` and ``note``; ``locale/<language>/glossary.csv``
has ``term`` and ``translation``. A cell may hold several forms separated by ``|``: the first is the
term itself, and the others count as the term too, such as an inflection or the form in a compound.
A term with the note ``name`` and without translations is a name, which stays as it is in all
languages.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..atomic_files import atomic_write
from ..errors import GalleryError

FILE_NAME = "glossary.csv"


@dataclass(frozen=True, kw_only=True)
class GlossaryTerm:
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
        """Whether the term is a name, which no language translates."""
        return self.note == "name" and not self.translations

    def translation(self, language: str) -> str:
        """Return the translation in a language; the empty string if the glossary has none."""
        if self.is_name:
            return self.name
        forms = self.translations.get(language)
        return forms[0] if forms else ""


class Glossary:
    """The terms, and a search for them in texts."""

    def __init__(self, terms: Sequence[GlossaryTerm] = ()) -> None:
        self.terms = tuple(terms)
        names: set[str] = set()
        forms: list[str] = []
        for term in self.terms:
            forms += term.forms
            if term.is_name:
                names.update(term.forms)
        self.names = frozenset(names)
        self._pattern = _compile_pattern(forms)

    def missing(self, language: str, source: str, translation: str) -> list[tuple[str, str]]:
        """Return the terms of a source text that its translation does not use.

        Each comes as the English term and the translation that the glossary has for it. Where
        "graph break" and "graph" are terms, the words "graph break" count as the first one only.
        """
        forms_in_source = {match[1].lower() for match in self._pattern.finditer(source)}
        squeezed_translation = _squeeze(translation)
        missing = []
        for term in self.terms:
            accepted = term.translations.get(language)
            if not accepted:
                continue
            if not any(form.lower() in forms_in_source for form in term.forms):
                continue
            if not any(_squeeze(form) in squeezed_translation for form in accepted):
                missing.append((term.name, accepted[0]))
        return missing


def _compile_pattern(forms: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern that finds any of the forms as whole words, also in the plural."""
    longest_first = sorted(forms, key=len, reverse=True)
    alternatives = "|".join(map(re.escape, longest_first)) or "(?!)"  # without forms: no match
    return re.compile(rf"(?<![\w.-])({alternatives})(?:s|es)?(?![\w-])", re.IGNORECASE)


def _squeeze(text: str) -> str:
    """Return a text without spaces and in one case: spellings of compounds differ in both."""
    return "".join(text.split()).casefold()


def find_glossaries(locale: Path) -> list[Path]:
    """Return the existing files of a glossary: that of all languages, then those of each."""
    return [*locale.glob(FILE_NAME), *sorted(locale.glob(f"*/{FILE_NAME}"))]


def load_glossary(locale: Path) -> Glossary:
    """Return the glossary of a folder of catalogs; an empty one if there is no file.

    Raises ``GalleryError`` if a file is not a table with the right columns, a line has no English
    term, or a language translates a term that the common file does not have.
    """
    terms: dict[str, GlossaryTerm] = {}
    for path in find_glossaries(locale):
        if path.parent == locale:
            _read_terms(path, terms)
        else:
            _read_translations(path, terms, language=path.parent.name)
    return Glossary(list(terms.values()))


def _read_terms(path: Path, terms: dict[str, GlossaryTerm]) -> None:
    """Add the terms of the file of all languages."""
    for line, (term_cell, note) in read_table(path, "term", "note"):
        forms = _split_term(term_cell, path, line)
        terms[forms[0]] = GlossaryTerm(forms=forms, note=note)


def _read_translations(path: Path, terms: Mapping[str, GlossaryTerm], *, language: str) -> None:
    """Add the translations of a language's file to the terms."""
    for line, (term_cell, translation_cell) in read_table(path, "term", "translation"):
        name = _split_term(term_cell, path, line)[0]
        if name not in terms:
            raise GalleryError(
                f"{name!r} is not a term of {path.parents[1] / FILE_NAME}",
                path=path,
                line=line,
                remedy="add it there, with a note",
            )
        translations = split_forms(translation_cell)
        if translations:
            terms[name].translations[language] = translations


def _split_term(cell: str, path: Path, line: int) -> tuple[str, ...]:
    """Return the forms of a term; raise ``GalleryError`` if there are none."""
    forms = split_forms(cell)
    if not forms:
        raise GalleryError(
            "no English term", path=path, line=line, remedy="fill in the first column"
        )
    return forms


def read_table(path: Path, *columns: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a CSV file below the column names, each with its line number.

    Empty lines are left out, and cells missing at the end of a row are empty. Raises
    ``GalleryError`` if the file is not CSV in UTF-8, has other columns, or a row has too many
    cells.
    """
    rows = []
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file, strict=True)
        try:
            if next(reader, []) != list(columns):
                text = f"the first line has to name the columns: {','.join(columns)}"
                raise GalleryError(text, path=path, line=1)
            for cells in reader:
                if not cells:
                    continue
                if len(cells) > len(columns):
                    raise GalleryError(
                        "more cells than columns",
                        path=path,
                        line=reader.line_num,
                        remedy="quote a cell with commas",
                    )
                missing_cells = [""] * (len(columns) - len(cells))
                rows.append((reader.line_num, [*cells, *missing_cells]))
        except (csv.Error, UnicodeError) as error:
            text = f"not a table in CSV and UTF-8: {error}"
            raise GalleryError(text, path=path, line=max(reader.line_num, 1)) from None
    return rows


def split_forms(cell: str) -> tuple[str, ...]:
    """Return the forms in a cell, which are separated by ``|``."""
    return tuple(form.strip() for form in cell.split("|") if form.strip())


def begin_glossary(locale: Path, language: str) -> Path | None:
    """Write a glossary for a language, with all terms that are not names and no translations.

    Returns the path of the file. Returns None and writes nothing if the language has a glossary
    already, or the project has none. Raises ``GalleryError`` if a file of the glossary is damaged.
    """
    path = locale / language / FILE_NAME
    if path.exists() or not (locale / FILE_NAME).exists():
        return None
    table = io.StringIO(newline="")
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["term", "translation"])
    for term in load_glossary(locale).terms:
        if not term.is_name:
            writer.writerow([term.name, ""])
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic_write(path, table.getvalue().encode())
    return path
