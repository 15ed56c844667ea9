"""The languages of a project, read from ``languages.toml``."""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.languages import get_official_languages
from sphinx.config import Config
from sphinx.util import logging

from .errors import GalleryError, suggest, visible
from .project import name_locale_folders

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx

FILE_NAME = "languages.toml"
# Scripts without spaces between words, and Korean, whose particles follow a name without one
_WITHOUT_SPACES = {"Hans", "Hant", "Jpan", "Khmr", "Kore", "Laoo", "Mymr", "Thai", "Tibt"}
CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9]{2,8})*")
CODE_REMEDY = "use one such as ja or pt_BR"
_LINE = re.compile(r"\[?(?P<code>\w+)(?:\]| *=)")
# A name in code that stands for others, such as pkg: no option, and no sign that a shell obeys
_STAND_IN = re.compile(r"[^\W\d][\w-]*")


@dataclass(frozen=True, kw_only=True)
class Mirror:
    """A site that has the pages of another one in a language, at the same paths."""

    original: str  # beginning of addresses, such as https://docs.example.org/
    translated: str

    def translate(self, address: str) -> str:
        """Return the address of the translated page; "" for a page that is elsewhere."""
        if not address.startswith(self.original):
            return ""
        return self.translated + address.removeprefix(self.original)


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language of the project, which is one line of ``languages.toml``.

    ``code`` is such as ``zh_CN``, ``name`` what the language is called in itself. Links to other
    languages lead to those that are ``published``. Translations may lead to ``mirrors`` where the
    source leads to the original, and have the second name of each pair of ``stand_ins`` in code
    where the source has the first.
    """

    code: str
    name: str
    published: bool = True
    mirrors: tuple[Mirror, ...] = ()
    stand_ins: tuple[tuple[str, str], ...] = ()

    @classmethod
    def source(cls, config: Config) -> "Language":
        """Return the language of the sources."""
        languages: dict[str, Language] = config.recorded_gallery_languages
        return next(iter(languages.values()))

    @classmethod
    def current(cls, config: Config) -> "Language":
        """Return the language of this build."""
        languages: dict[str, Language] = config.recorded_gallery_languages
        return languages[config.language]

    @property
    def tag(self) -> str:
        """Its tag for browsers and search engines (BCP 47)."""
        return self.code.replace("_", "-")

    def address(self, site_url: str, page: str = "") -> str:
        """Return the address of this language, or of a page; "" without the site's address."""
        if not site_url:
            return ""
        return f"{site_url.rstrip('/')}/{self.code}/{page}"

    @cached_property
    def locale(self) -> Locale:
        """The formats of dates and numbers; English ones if Babel does not know the language."""
        return find_locale(self.code)

    @cached_property
    def script(self) -> str:
        """The script of the language by ISO 15924, such as Latn."""
        locale = self.locale
        likely = get_global("likely_subtags").get(locale.language, f"{locale.language}_Latn")
        return str(locale.script or likely.split("_")[1])

    @property
    def words_touch_markup(self) -> bool:
        """Whether words may touch inline markup, as a particle after a literal does."""
        return self.script in _WITHOUT_SPACES


def find_locale(code: str) -> Locale:
    """Return Babel's locale for a language code, or its nearest relative, or English."""
    return _find_known_locale(code) or Locale("en")


def _find_known_locale(code: str) -> Locale | None:
    """Return Babel's locale for a code, or its nearest relative; None if there is neither."""
    while code:
        try:
            return Locale.parse(code)
        except (UnknownLocaleError, ValueError):
            code = code.rpartition("_")[0]
    return None


def load_languages(root: Path, default: str = "en") -> dict[str, Language]:
    """Return the languages of a project by code, the source language first.

    A project without ``languages.toml`` has one language, ``default``. Raises ``GalleryError`` if
    the file does not list languages, or ``default`` below others.
    """
    path = root / FILE_NAME
    if not path.exists():
        return {default: Language(code=default, name=name_of(default))}
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        repeated = _find_repeated(path, text)
        if repeated:
            raise repeated from None
        remedy = "mend the line: texts stand in quotes, and true and false have small letters"
        raise GalleryError(f"not valid TOML: {error}", path=path, remedy=remedy) from None
    if not data:
        raise GalleryError("no language", path=path, remedy="add that of the sources first")
    first = next(iter(data))
    if default in data and first != default:
        raise GalleryError(
            f"{first} is first, where the language of the sources stands",
            path=path,
            remedy=f"move the line of {default} above all others",
        )
    if default and default not in data and _has_catalogs(root, first):
        raise GalleryError(
            f"{first} is first, where the language of the sources stands, and has catalogs",
            path=path,
            remedy=f'add above it: {default} = {{ name = "{name_of(default)}" }}',
        )
    return {code: _parse(path, code, entry) for code, entry in data.items()}


def _has_catalogs(root: Path, code: str) -> bool:
    """Return whether a folder of catalogs, as projects usually call it, has some of a language."""
    return any(root.glob(f"locale*/{code}/LC_MESSAGES/**/*.po"))


def _find_repeated(path: Path, text: str) -> GalleryError | None:
    """Return the error of a language that stands twice in ``languages.toml``; None if none does."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if not match:
            continue
        code = match["code"]
        if code in lines:
            problem = f"{code} stands twice, first in line {lines[code]}"
            return GalleryError(problem, path=path, line=number, remedy="remove one of the lines")
        lines[code] = number
    return None


def find_line(path: Path, code: str) -> int:
    """Return the line of a language in ``languages.toml``; 1 without one."""
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        match = _LINE.match(line)
        if match and match["code"] == code:
            return number
    return 1


def choose_languages(root: Path, codes: Sequence[str], default: str = "en") -> list[Language]:
    """Return the languages with certain codes, or all published ones without codes.

    ``default`` is the only language of a project without ``languages.toml``.
    """
    languages = load_languages(root, default)
    for code in codes:
        if code not in languages:
            problem = f"no language {code!r} in {FILE_NAME}; there are: {', '.join(languages)}"
            remedy = f"to add one: {suggest('new-language', code)}"
            near_code = _find_near_code(code, languages)
            if "," in code:
                remedy = f"write spaces between codes: {' '.join(code.split(','))}"
            elif near_code:
                remedy = f"did you mean {near_code}?"
            raise GalleryError(problem, remedy=remedy)
    if codes:
        return [languages[code] for code in dict.fromkeys(codes)]
    return [language for language in languages.values() if language.published]


def _find_near_code(code: str, languages: Mapping[str, Language]) -> str:
    """Return which of ``languages`` somebody may have meant by a code; empty if there is none.

    It is spelled otherwise, lacks its country, or is the country: ZH-CN, zh or cn for zh_CN.
    """
    spelled = {name.lower(): name for name in languages}
    similar = difflib.get_close_matches(code.lower(), spelled, n=1, cutoff=0.8)
    if similar:
        return spelled[similar[0]]
    spoken = [code.lower()]
    if _find_known_locale(code) is None:  # of languages and countries with one code, the language
        spoken += get_official_languages(code.upper())
    for name in languages:
        if name.partition("_")[0] in spoken:
            return name
    return ""


def name_of(code: str) -> str:
    """Return the name of a language in the language itself; the code if Babel does not know it."""
    locale = _find_known_locale(code)
    name = locale.get_display_name() if locale else None
    if not name:
        return code
    return name[:1].upper() + name[1:]


def _parse(path: Path, code: str, entry: Any) -> Language:
    """Return the language of a line; raise ``GalleryError`` if it is invalid."""
    if not CODE.fullmatch(code):
        raise GalleryError(f"{code}: not a language code", path=path, remedy=CODE_REMEDY)
    if not _is_valid(entry):
        remedy = f'write {code} = {{ name = "...", published = true }}'
        raise GalleryError(f"{code}: not a valid language", path=path, remedy=remedy)
    if entry["name"] != visible(entry["name"]):
        text = f"{code}: name has invisible characters"
        raise GalleryError(text, path=path, remedy="remove them")
    mirrors = []
    for original, translated in entry.get("mirrors", {}).items():
        for address in (original, translated):
            if not _is_beginning(address):
                text = f"{code}: {visible(address)!r} in mirrors is not the beginning of addresses"
                remedy = "write it with https:// and a / at its end"
                raise GalleryError(text, path=path, remedy=remedy)
        mirrors.append(Mirror(original=original, translated=translated))
    stand_ins = entry.get("stand_ins", {})
    for name in (*stand_ins, *stand_ins.values()):
        if not isinstance(name, str) or not _STAND_IN.fullmatch(name) or name != visible(name):
            text = f"{code}: {visible(str(name))!r} in stand_ins is not a name"
            raise GalleryError(text, path=path, remedy='write names as in code: pkg = "pako"')
    return Language(
        code=code,
        name=entry["name"],
        published=entry.get("published", True),
        mirrors=tuple(mirrors),
        stand_ins=tuple(stand_ins.items()),
    )


def _is_beginning(address: object) -> bool:
    """Return whether an address is of a site or a folder of one, so that paths can follow."""
    return (
        isinstance(address, str)
        and re.fullmatch(r"https?://[\w.:-]+(/[\w./-]*)?/", address) is not None
    )


def _is_valid(entry: Any) -> bool:
    """Return whether the value of a line has a name, and nothing unknown."""
    if not isinstance(entry, dict) or not entry.get("name"):
        return False
    types = {"name": str, "published": bool, "mirrors": dict, "stand_ins": dict}
    return all(key in types and isinstance(value, types[key]) for key, value in entry.items())


def read_languages(app: "Sphinx", config: Config) -> None:
    """Read ``languages.toml`` when a build begins, and set the address of its language.

    Without that file, a build counts as translated if there are catalogs of its language. The
    sources are then in the language of conf.py, or else in English.
    """
    code = config.language
    is_listed = Path(app.confdir, FILE_NAME).exists()
    folders = locale_folders(config, Path(app.srcdir))
    has_catalogs = any((folder / code).is_dir() for folder in folders)
    source = code
    if is_listed or (has_catalogs and code != "en"):
        source = "en"
    elif has_catalogs:
        source = _language_of_conf(app, config)
    # Where the file lists languages, its first is that of the sources, whatever conf.py says.
    languages = load_languages(Path(app.confdir), "" if is_listed else source)
    if code not in languages:
        languages[code] = Language(code=code, name=name_of(code), published=False)
        if is_listed:
            remedy = f"to add it: {suggest('new-language', code)}"
            problem = GalleryError(f"no language {code!r} in {FILE_NAME}", remedy=remedy)
            logging.getLogger(__name__).warning(
                "%s", problem, type="recorded_gallery", subtype="language"
            )
    config.recorded_gallery_languages = languages
    if not config.html_baseurl:
        config.html_baseurl = languages[code].address(config.recorded_gallery_site_url)


def _language_of_conf(app: "Sphinx", config: Config) -> str:
    """Return the language of conf.py, even if the command line names another."""
    if "language" in config.overrides:
        config = Config.read(app.confdir, overrides={}, tags=app.tags)
    return str(config.language)


def locale_folder(config: Config, srcdir: Path) -> Path:
    """Return the folder of catalogs: the first of ``locale_dirs``, or the default of Sphinx."""
    return locale_folders(config, srcdir)[0]


def locale_folders(config: Config, srcdir: Path) -> list[Path]:
    """Return the folders of ``locale_dirs``, in which catalogs are, or the default of Sphinx."""
    return [Path(srcdir, name) for name in name_locale_folders(config)]


def is_translated(config: Config) -> bool:
    """Return whether this build shows translations."""
    return bool(config.language != Language.source(config).code)
