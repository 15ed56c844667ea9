"""Synonyms: what readers call a thing beside what pages call it.

``locale/synonyms.csv`` has the columns ``language``, ``searched`` and ``meant``; a cell may hold
several forms separated by ``|``. Who searches the words of one finds those of the other. Where
``meant`` is empty, the words say nothing about what is looked for: "how", "what is". The glossary
counts, too: English terms lead to their translations.
"""

import csv
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import GalleryError
from ..languages import Language
from ..translate.glossary import load_glossary, split_forms
from .words import find_words

FILE_NAME = "synonyms.csv"
COLUMNS = ["language", "searched", "meant"]


@dataclass(frozen=True, kw_only=True)
class Synonym:
    """One line of the file, or of the glossary."""

    language: str
    searched: tuple[str, ...]
    meant: tuple[str, ...]
    line: int = 0


def load_synonyms(locale: Path, languages: Collection[str]) -> list[Synonym]:
    """Read the synonyms of a folder of catalogs; none if there is no file.

    Raises ``GalleryError`` if it is no table of synonyms, or names another language than these.
    """
    path = locale / FILE_NAME
    if not path.exists():
        return []
    rows: list[Synonym] = []
    line = 1

    def refuse(text: str, remedy: str) -> GalleryError:
        return GalleryError(text, path=path, line=line, remedy=remedy)

    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            if next(reader, []) != COLUMNS:
                raise refuse("the first line has to name the columns", ",".join(COLUMNS))
            seen: dict[tuple[str, str], int] = {}
            for cells in filter(None, reader):
                line = reader.line_num
                if len(cells) != len(COLUMNS):
                    raise refuse(f"{len(cells)} cells", "write language,searched,meant")
                row = Synonym(
                    language=cells[0].strip(),
                    searched=split_forms(cells[1]),
                    meant=split_forms(cells[2]),
                    line=line,
                )
                if row.language not in languages:
                    remedy = f"use one of {', '.join(languages)}"
                    raise refuse(f"{row.language!r} is no language of this project", remedy)
                if not row.searched:
                    raise refuse("no word that readers search", "fill in the second column")
                for form in row.searched:
                    before = seen.setdefault((row.language, form.lower()), line)
                    if before != line:
                        raise refuse(f"{form!r} stands in line {before}, too", "keep one of them")
                rows.append(row)
    except (csv.Error, UnicodeError) as error:
        raise refuse(f"not a table in CSV and UTF-8: {error}", "save it as such") from None
    return rows


def find_lost(
    rows: Sequence[Synonym], words: Collection[str], locale: Path
) -> Iterator[GalleryError]:
    """Tell synonyms that lead nowhere, because no page has a word of them."""
    for row in rows:
        for form in row.meant:
            dense = len(form) > 1 and form[:2].lower() in set(find_words(form))
            missing = [word for word in find_words(form) if word not in words]
            if missing and not (dense and len(missing) == 1 and len(missing[0]) == 1):
                text = f"{form!r} stands on no page in {row.language}"
                remedy = "name what the pages call it"
                yield GalleryError(text, path=locale / FILE_NAME, line=row.line, remedy=remedy)


def add_glossary(
    rows: Sequence[Synonym], locale: Path, language: Language
) -> Mapping[str, Sequence[str]]:
    """Return what is meant by each searched form in a language, the terms of the glossary too."""
    found: dict[str, list[str]] = {}
    terms = [
        (term.forms, translations[:1])
        for term in load_glossary(locale).terms
        if (translations := term.translations.get(language.code))
        and translations[0].lower() not in map(str.lower, term.forms)  # "eager" stays English
    ]
    own = [(row.searched, row.meant) for row in rows if row.language == language.code]
    for searched, meant in (*own, *terms):
        for form in searched:
            found.setdefault(form.lower(), [each.lower() for each in meant if each != form])
    return found
