"""Prepare a language: all that can be known of one from its code."""

import argparse
import csv
import io
import re
from pathlib import Path

from ..errors import GalleryError, suggest
from ..languages import (
    CODE,
    CODE_REMEDY,
    FILE_NAME,
    Language,
    choose_languages,
    find_locale,
    load_languages,
    name_of,
)
from ..project import Project
from .parser import TEMPLATES, argument, command

OWNERS = Path(".github", "CODEOWNERS")


@command("new-language", argument("language", help="its code, such as ja or pt_BR"), TEMPLATES)
def new_language(project: Project, options: argparse.Namespace) -> None:
    """Add a language, with catalogs to fill in."""
    from ..translate.catalogs import find_catalogs, locale_folders
    from ..translate.glossary import FILE_NAME as GLOSSARY
    from ..translate.update.update import update_catalogs

    code = options.language
    line = add_language(project.root, code)
    print(f"{FILE_NAME}: {line}" if line else f"{FILE_NAME} has {code} already")
    language = choose_languages(project.root, [code])[0]
    print(_describe(language))
    update_catalogs(project, [language], options.templates)
    for folder in locale_folders(project.root, project.locale):
        if count := len(find_catalogs(folder, code)):
            print(f"{folder / code}: {count} catalog{'s' * (count > 1)}")
    glossary, owners = project.locale / GLOSSARY, project.root / OWNERS
    if add_column(glossary, code):
        print(f"{glossary}: a column {code}, for the terms that you choose")
    for owned in add_owners(owners, code, [*load_languages(project.root)]):
        print(f"{owners}: {owned}")
    print("Translate the catalogs, and look at the pages:")
    print(suggest("live", code))
    print("Once readers should find the language, set published = true in its line.")


def add_language(root: Path, code: str) -> str:
    """Add a language to ``languages.toml``; return the new line, or nothing if it is there.

    Without that file there is one that begins with English.
    """
    path = root / FILE_NAME
    if code in (known := load_languages(root)):
        if code == next(iter(known)):
            raise GalleryError(f"{code} is what the recipes are written in", remedy="name another")
        return ""
    if not CODE.fullmatch(code):
        raise GalleryError(f"{code!r} is not a language code", remedy=CODE_REMEDY)
    if find_locale(code).language != code.split("_")[0]:
        remedy = f"if it is one, add it to {path} by hand"
        raise GalleryError(f"{code}: not a language that Babel knows", remedy=remedy)
    line = f'{code} = {{ name = "{name_of(code)}", published = false }}'
    first = 'en = { name = "English" }'
    text = path.read_text(encoding="utf-8") if path.exists() else first
    path.write_text(f"{text.rstrip()}\n{line}\n", encoding="utf-8")
    return line


def _describe(language: Language) -> str:
    """Return what is known of a language, for people to see whether it is right."""
    direction = "right to left" if language.is_rtl else "left to right"
    touch = "may" if language.words_touch_markup else "may not"
    words = f"words {touch} touch markup; glue in {FILE_NAME} can say otherwise"
    return f"written from {direction}; {words}"


def add_column(path: Path, code: str) -> bool:
    """Add a language to the glossary, before its remarks; tell whether that changed it."""
    if not path.exists():
        return False
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    if not rows or code in rows[0]:
        return False
    place = rows[0].index("note") if "note" in rows[0] else len(rows[0])
    for number, row in enumerate(rows):
        if row:  # no empty line
            row.insert(place, code if number == 0 else "")
    made = io.StringIO()
    csv.writer(made, lineterminator="\n").writerows(rows)
    path.write_text(made.getvalue(), encoding="utf-8")
    return True


def add_owners(path: Path, code: str, codes: list[str]) -> list[str]:
    """Add a line to ``CODEOWNERS`` beside those of other languages; return the new ones.

    They name who reviews the folder until now.
    """
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    folder = re.compile(rf"(\S*/)(?:{'|'.join(map(re.escape, codes))})/( +)\S")
    found = {
        each[1]: (number, each) for number, line in enumerate(lines) if (each := folder.match(line))
    }
    added = []
    for above, (number, last) in sorted(found.items(), key=lambda item: -item[1][0]):
        path_of_it = f"{above}{code}/"
        rules = [line.partition("#")[0].split() for line in lines]
        if any(rule and rule[0] == path_of_it for rule in rules):
            continue
        owners = [rule[1:] for rule in rules if rule and rule[0] in ("*", *_folders(above))]
        width = last.end(2) - len(path_of_it)
        added.append(f"{path_of_it}{' ' * max(1, width)}{' '.join(owners[-1] if owners else [])}")
        lines.insert(number + 1, added[-1])
    if added:
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return added[::-1]


def _folders(path: str) -> list[str]:
    """Return a folder and those above it, as ``CODEOWNERS`` writes them."""
    parts = path.strip("/").split("/")
    return [f"/{'/'.join(parts[: end + 1])}/" for end in range(len(parts))]
