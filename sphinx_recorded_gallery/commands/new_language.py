"""Prepare a language, with everything that follows from its code."""

import argparse
from pathlib import Path

from ..atomic_files import atomic_write
from ..errors import GalleryError, suggest
from ..languages import (
    CODE,
    CODE_REMEDY,
    FILE_NAME,
    choose_languages,
    find_locale,
    load_languages,
    name_of,
)
from ..project import Project, require_extension
from .arguments import TEMPLATES, argument, command


@command("new-language", argument("language", help="its code, such as ja or pt_BR"), TEMPLATES)
def new_language(project: Project, options: argparse.Namespace) -> None:
    """Add a language, with catalogs to fill in."""
    from ..translate.glossary import begin_glossary
    from ..translate.update_po import update_catalogs

    require_extension(project, "translate")
    code = options.language
    line = add_language(project.root, code, project.config.language)
    print(f"{FILE_NAME}: {line}" if line else f"{FILE_NAME} has {code} already")
    [language] = choose_languages(project.root, [code], project.config.language)
    update_catalogs(project, [language], options.templates)
    print(f"{project.locale / code}: its catalogs")
    owners = project.root / ".github/CODEOWNERS"
    if owners.is_file():
        print(f"{owners}: name its reviewers there")
    glossary = begin_glossary(project.locale, code)
    if glossary:
        print(f"{glossary}: the terms, for your translations")
    print("Translate the catalogs, and look at the pages:", suggest("live", code))
    print("To publish the language, set published = true in its line.")


def add_language(root: Path, code: str, source: str = "en") -> str:
    """Add a language to ``languages.toml``; return the new line, or "" if there is one.

    Without that file, one is written that begins with ``source``, the language of the sources.
    """
    path = root / FILE_NAME
    languages = load_languages(root, source)
    if code == next(iter(languages)):
        raise GalleryError(f"{code} is the language of the sources", remedy="name another")
    if code in languages:
        return ""
    if not CODE.fullmatch(code) or find_locale(code).language != code.split("_")[0]:
        remedy = f"{CODE_REMEDY}, or write its line into {path}"
        raise GalleryError(f"{code!r} is not the code of a known language", remedy=remedy)
    line = f'{code} = {{ name = "{name_of(code)}", published = false }}'
    first = f'{source} = {{ name = "{name_of(source)}" }}'
    text = path.read_text(encoding="utf-8") if path.exists() else first
    atomic_write(path, f"{text.rstrip()}\n{line}\n".encode())
    return line
