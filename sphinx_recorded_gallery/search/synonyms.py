"""Synonyms: the words that readers search for, beside those that pages use.

``locale/synonyms.csv`` has the columns ``language``, ``searched`` and ``meant``; a cell may hold
several forms separated by ``|``. A search for any form in a line also finds the forms in ``meant``.
Where ``meant`` is empty, the searched words say nothing about what is looked for: "how", "what is".
The glossary counts too: English terms lead to their translations.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import GalleryError
from ..translate.glossary import load_glossary, read_table, split_forms

FILE_NAME = "synonyms.csv"
COLUMNS = ["language", "searched", "meant"]


@dataclass(frozen=True, kw_only=True)
class _Row:
    """One line of the table, with forms in lower case."""

    language: str
    searched: tuple[str, ...]
    meant: tuple[str, ...]


def load_synonyms(locale: Path, languages: Collection[str], code: str) -> dict[str, list[str]]:
    """Return the forms that each searched form stands for in the language ``code``.

    ``locale`` is the folder of catalogs, which has the synonyms and the glossary; ``languages`` are
    the codes of the project's languages. A form with an empty list is to be left out of searches.
    Raises ``GalleryError`` if a file is not a table, or a line of the synonyms has an unknown
    language, no searched form, or a form of an earlier line.
    """
    synonyms: dict[str, list[str]] = {}
    for row in _read_rows(locale / FILE_NAME, languages):
        if row.language != code:
            continue
        if not row.meant:  # forms to be left out
            for form in row.searched:
                synonyms.setdefault(form, [])
            continue
        for form in [*row.searched, *row.meant]:
            other_forms = [meant_form for meant_form in row.meant if meant_form != form]
            if other_forms:
                synonyms.setdefault(form, []).extend(other_forms)
    for form, translation in _read_translations(locale, code):
        synonyms.setdefault(form, [translation])
    return synonyms


def _read_translations(locale: Path, code: str) -> Iterator[tuple[str, str]]:
    """Yield the English forms of the glossary with their translations, in lower case."""
    for term in load_glossary(locale).terms:
        translations = term.translations.get(code)
        if not translations:
            continue
        translation = translations[0].lower()
        forms = [form.lower() for form in term.forms]
        if translation not in forms:  # it is where English words are in use, as "eager"
            for form in forms:
                yield form, translation


def _read_rows(path: Path, languages: Collection[str]) -> Iterator[_Row]:
    """Yield the lines of the synonyms, if the file exists.

    Raises ``GalleryError`` if the file is not such a table.
    """
    if not path.exists():
        return
    first_lines: dict[tuple[str, str], int] = {}  # by language and searched form
    for line, (language, searched_cell, meant_cell) in read_table(path, *COLUMNS):
        row = _Row(
            language=language,
            searched=_lower_forms(searched_cell),
            meant=_lower_forms(meant_cell),
        )
        if language not in languages:
            raise GalleryError(
                f"{language!r} is not a language of this project",
                path=path,
                line=line,
                remedy=f"use one of {', '.join(languages)}",
            )
        if not row.searched:
            raise GalleryError(
                "no word that readers search",
                path=path,
                line=line,
                remedy="fill in the second column",
            )
        for form in split_forms(searched_cell):
            first_line = first_lines.setdefault((language, form.lower()), line)
            if first_line != line:
                raise GalleryError(
                    f"{form!r} is also in line {first_line}",
                    path=path,
                    line=line,
                    remedy="keep one of them",
                )
        yield row


def _lower_forms(cell: str) -> tuple[str, ...]:
    """Return the forms in a cell, in lower case."""
    return tuple(form.lower() for form in split_forms(cell))
