"""The languages of the site, read from ``languages.toml``."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from babel import Locale, UnknownLocaleError

from .errors import GalleryError

FILE_NAME = "languages.toml"
_CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9]{2,8})*")


@dataclass(frozen=True, kw_only=True)
class Language:
    """One line of ``languages.toml``; the comments there say what each part means."""

    code: str
    name: str
    published: bool = True
    tag: str = ""
    glue: bool = False
    style: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.tag:
            object.__setattr__(self, "tag", self.code.replace("_", "-"))

    def address(self, site_url: str, page: str = "") -> str:
        """Return where this language, or a page of it, is published; nothing if that is unknown."""
        return f"{site_url.rstrip('/')}/{self.code}/{page}" if site_url else ""

    @cached_property
    def locale(self) -> Locale:
        """The forms of dates and numbers; English ones if Babel does not know the language."""
        return find_locale(self.code)


def find_locale(code: str) -> Locale:
    """Return Babel's locale for a language code, or its nearest relative, or English."""
    while code:
        try:
            return Locale.parse(code)
        except (UnknownLocaleError, ValueError):
            code = code.rpartition("_")[0]
    return Locale("en")


def load_languages(root: Path) -> dict[str, Language]:
    """Read the languages of a project by code, the source language first.

    A project without the file has one language, English. Raises ``GalleryError`` if it is no list.
    """
    path = root / FILE_NAME
    if not path.exists():
        return {"en": Language(code="en", name="English")}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise GalleryError(f"{path}: not valid TOML: {error}") from None
    languages = {code: _parse(path, code, entry) for code, entry in data.items()}
    if not languages:
        raise GalleryError(f"{path}: no language; the first line is that of the sources")
    return languages


def choose_languages(root: Path, codes: Sequence[str]) -> list[Language]:
    """Return the languages called ``codes``, or all that are published if none is called."""
    languages = load_languages(root)
    unknown = [code for code in codes if code not in languages]
    if unknown:
        raise GalleryError(
            f"no language {unknown[0]!r} in {FILE_NAME}; there are: {', '.join(languages)}; "
            f"to add it: make new-language LANGUAGE={unknown[0]}"
        )
    if codes:
        return [languages[code] for code in dict.fromkeys(codes)]
    return [language for language in languages.values() if language.published]


def add_language(root: Path, code: str) -> str:
    """Add a language to ``languages.toml``; return the new line, or nothing if it is there."""
    path = root / FILE_NAME
    if code in load_languages(root):
        return ""
    if not _CODE.fullmatch(code):
        raise GalleryError(f"{code!r} is not a language code; use one such as ja or pt_BR")
    locale = find_locale(code)
    if str(locale).split("_")[0] != code.split("_")[0]:
        raise GalleryError(
            f"{code}: not a language that Babel knows; if it is one, add it to {path} by hand"
        )
    name = locale.get_display_name() or code
    name = name[:1].upper() + name[1:]
    line = f'{code} = {{ name = "{name}", published = false }}'
    text = path.read_text(encoding="utf-8")
    path.write_text(f"{text.rstrip()}\n{line}\n", encoding="utf-8")
    return line


def _parse(path: Path, code: str, entry: Any) -> Language:
    if not _CODE.fullmatch(code):
        raise GalleryError(f"{path}: {code!r} is not a language code such as ja or pt_BR")
    if not isinstance(entry, dict):
        raise GalleryError(f'{path}: {code}: write {code} = {{ name = "...", published = true }}')
    kinds = {"name": str, "published": bool, "tag": str, "glue": bool, "style": dict}
    for name, value in entry.items():
        if name not in kinds:
            raise GalleryError(f"{path}: {code}: unknown {name!r}; there are: {', '.join(kinds)}")
        if not isinstance(value, kinds[name]):
            raise GalleryError(f"{path}: {code}: {name} needs a {kinds[name].__name__}")
    if not entry.get("name"):
        raise GalleryError(f"{path}: {code}: name is missing; give it in the language itself")
    return Language(code=code, **entry)
