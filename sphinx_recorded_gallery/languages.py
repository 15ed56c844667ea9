"""The languages of a project, read from ``languages.toml``."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from sphinx.config import Config
from sphinx.util import logging

from .errors import GalleryError, suggest, visible

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx

FILE_NAME = "languages.toml"
# Scripts without spaces between words, and Korean, whose particles follow a name without one
_WITHOUT_SPACES = {"Hans", "Hant", "Jpan", "Khmr", "Kore", "Laoo", "Mymr", "Thai", "Tibt"}
CODE = re.compile(r"[a-z]{2,3}(_[A-Za-z0-9]{2,8})*")
CODE_REMEDY = "use one such as ja or pt_BR"


@dataclass(frozen=True, kw_only=True)
class Language:
    """A language of the project, which is one line of ``languages.toml``.

    ``code`` is such as ``zh_CN``, ``name`` what the language is called in itself. Links to other
    languages lead to those that are ``published``.
    """

    code: str
    name: str
    published: bool = True

    @property
    def tag(self) -> str:
        """Its name for browsers and search engines (BCP 47)."""
        return self.code.replace("_", "-")

    def address(self, site_url: str, page: str = "") -> str:
        """Return where this language, or a page of it, is published; nothing if that is unknown."""
        return f"{site_url.rstrip('/')}/{self.code}/{page}" if site_url else ""

    @cached_property
    def locale(self) -> Locale:
        """The forms of dates and numbers; English ones if Babel does not know the language."""
        return find_locale(self.code)

    @cached_property
    def script(self) -> str:
        """The script that the language is written in, after ISO 15924: Latn."""
        locale = self.locale
        likely = get_global("likely_subtags").get(locale.language, f"{locale.language}_Latn")
        return str(locale.script or likely.split("_")[1])

    @property
    def words_touch_markup(self) -> bool:
        """Tell whether words may touch inline markup, as a particle does behind a literal."""
        return self.script in _WITHOUT_SPACES


def find_locale(code: str) -> Locale:
    """Return Babel's locale for a language code, or its nearest relative, or English."""
    while code:
        try:
            return Locale.parse(code)
        except (UnknownLocaleError, ValueError):
            code = code.rpartition("_")[0]
    return Locale("en")


def load_languages(root: Path, default: str = "en") -> dict[str, Language]:
    """Return the languages of a project by code, the source language first.

    A project without ``languages.toml`` has one language, ``default``. Raises ``GalleryError`` if
    the file does not list languages.
    """
    path = root / FILE_NAME
    if not path.exists():
        return {default: Language(code=default, name=name_of(default))}
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise GalleryError(f"not valid TOML: {error}", path=path) from None
    if not data:
        raise GalleryError("no language", path=path, remedy="the first is that of the sources")
    return {code: _parse(path, code, entry) for code, entry in data.items()}


def choose_languages(root: Path, codes: Sequence[str], default: str = "en") -> list[Language]:
    """Return the languages called ``codes``, or all that are published if none is called.

    ``default`` is the one language of a project without ``languages.toml``.
    """
    languages = load_languages(root, default)
    for code in codes:
        if code not in languages:
            problem = f"no language {code!r} in {FILE_NAME}; there are: {', '.join(languages)}"
            raise GalleryError(problem, remedy=f"to add one: {suggest('new-language', code)}")
    if codes:
        return [languages[code] for code in dict.fromkeys(codes)]
    return [language for language in languages.values() if language.published]


def name_of(code: str) -> str:
    """Return the name of a language in itself."""
    name = find_locale(code).get_display_name() or code
    return name[:1].upper() + name[1:]


def _parse(path: Path, code: str, entry: Any) -> Language:
    kinds = {"name": str, "published": bool}
    if not CODE.fullmatch(code):
        problem, remedy = "not a language code", CODE_REMEDY
    elif (
        not isinstance(entry, dict)
        or not entry.get("name")
        or any(not isinstance(value, kinds.get(key, ())) for key, value in entry.items())
    ):
        problem = "not as such a line is written"
        remedy = f'write {code} = {{ name = "...", published = true }}'
    elif entry["name"] != visible(entry["name"]):
        problem, remedy = "name has characters that nobody sees", "remove them"
    else:
        return Language(code=code, **entry)
    raise GalleryError(f"{code}: {problem}", path=path, remedy=remedy)


def read_languages(app: "Sphinx", config: Config) -> None:
    """Read ``languages.toml`` when a build begins; derive the address of its language's site.

    In a project without that file, a build is taken to be translated if there are catalogs of its
    language. The sources are then in the language that conf.py names, or else in English.
    """
    code = config.language
    is_listed = Path(app.confdir, FILE_NAME).exists()
    folders = getattr(config, "recorded_gallery_locale_dirs", None) or config.locale_dirs
    has_catalogs = any(Path(app.srcdir, folder, code).is_dir() for folder in folders)
    if not is_listed and has_catalogs and code == "en":
        source = _language_of_conf(app, config)
    else:
        source = "en" if is_listed or has_catalogs else code
    languages = load_languages(Path(app.confdir), source)
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
    """Return the language that conf.py names, whatever the command line does."""
    if "language" in config.overrides:
        config = Config.read(app.confdir, overrides={}, tags=app.tags)
    return str(config.language)


def locale_folder(config: Config, srcdir: Path) -> Path:
    """Return the folder of catalogs: the first of ``locale_dirs``, or what Sphinx falls back to."""
    names = getattr(config, "recorded_gallery_locale_dirs", None) or config.locale_dirs
    return Path(srcdir, (names or ["locales"])[0])


def source_language(config: Config) -> Language:
    """Return the language that the sources are written in."""
    return next(iter(config.recorded_gallery_languages.values()))


def current_language(config: Config) -> Language:
    """Return the language of this build."""
    language: Language = config.recorded_gallery_languages[config.language]
    return language


def is_translated(config: Config) -> bool:
    """Tell whether this build shows translations."""
    return bool(config.language != source_language(config).code)
