"""Synonyms: what readers call a thing beside what pages call it.

``locale/synonyms.csv`` has the columns ``language``, ``searched`` and ``meant``; a cell may hold
several forms separated by ``|``. Who searches one of these forms finds what has another of them,
whichever column it stands in. Where ``meant`` is empty, the words say nothing about what is looked
for: "how", "what is". The glossary counts, too: English terms lead to their translations.
"""

from collections.abc import Collection, Iterator
from pathlib import Path

from ..errors import GalleryError
from ..translate.glossary import load_glossary, read_table, split_forms

FILE_NAME = "synonyms.csv"
COLUMNS = ["language", "searched", "meant"]


def load_synonyms(locale: Path, languages: Collection[str], code: str) -> dict[str, list[str]]:
    """Return what each searched form means in a language, by the files of a folder of catalogs.

    Raises ``GalleryError`` if one is no table, or the synonyms name another language than these.
    """
    found: dict[str, list[str]] = {}
    for searched, meant in _read_rows(locale / FILE_NAME, languages, code):
        for form in map(str.lower, (*searched, *meant)):
            others = [each.lower() for each in meant if each.lower() != form]
            if others or not meant:
                found[form] = [*found.get(form, ()), *others]
    for term in load_glossary(locale).terms:
        meant = term.translations.get(code, ())[:1]
        if meant and meant[0].lower() not in map(str.lower, term.forms):  # "eager" stays English
            for form in term.forms:
                found.setdefault(form.lower(), [meant[0].lower()])
    return found


def _read_rows(
    path: Path, languages: Collection[str], code: str
) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
    """Yield what is searched and what is meant in each line of a language."""
    lines: dict[tuple[str, str], int] = {}  # by language and form
    for line, (language, searched, meant) in read_table(path, *COLUMNS) if path.exists() else ():
        text = remedy = ""
        if language not in languages:
            text = f"{language!r} is no language of this project"
            remedy = f"use one of {', '.join(languages)}"
        elif not split_forms(searched):
            text, remedy = "no word that readers search", "fill in the second column"
        for form in split_forms(searched):
            if (before := lines.setdefault((language, form.lower()), line)) != line:
                text, remedy = f"{form!r} stands in line {before}, too", "keep one of them"
        if text:
            raise GalleryError(text, path=path, line=line, remedy=remedy)
        if language == code:
            yield split_forms(searched), split_forms(meant)
