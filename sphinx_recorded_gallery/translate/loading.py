"""The translations that a build shows: what is fit of its catalogs, each message checked once.

Sphinx would take compiled catalogs as they are, whoever compiled them. Here it gets none: labels
are read when a build begins, the messages of a page when that page is, and handed to Sphinx in
memory. What would spoil a page is told, and readers get the English text for it.
"""

import gettext
import os
from collections.abc import Collection
from pathlib import Path

import polib
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.locale import translators
from sphinx.util import logging

from ..errors import GalleryError
from ..labels import ENGINE, shipped_labels
from ..languages import Language, current_language, is_translated, locale_folder, source_language
from ..store import hash_file, keep, once, watch
from .catalogs import (
    Kind,
    catalog_folder,
    label_domains,
    line_of,
    read_catalog,
)
from .checks import Kinds, examine, prepare_label, prepare_prose
from .glossary import Glossary, find_glossaries, load_glossary

logger = logging.getLogger(__name__)


class _Catalog(gettext.GNUTranslations):
    """Messages as Sphinx and its templates ask for them."""

    def __init__(self, domain: str, messages: dict[str, str]) -> None:
        super().__init__()
        self._catalog = messages
        self.plural = bool  # no message has plural forms
        installed = translators.get(("general", domain))
        if installed and not isinstance(installed, _Catalog):  # which an earlier build installed
            self.add_fallback(installed)
        translators["general", domain] = self


def load_labels(app: Sphinx, config: Config) -> None:
    """Let this build show the labels of its language that are fit for readers."""
    _forget_labels_that_sphinx_loaded(app, config)
    for domain in label_domains(config):
        messages = _read_labels(app, config, domain) if is_translated(config) else {}
        catalog = _Catalog(domain, messages)
        if domain == "sphinx":
            app.translator = catalog


def _forget_labels_that_sphinx_loaded(app: Sphinx, config: Config) -> None:
    """Empty the catalogs that Sphinx has loaded unchecked, before any extension ran.

    gettext keeps one dictionary for each file, for the life of the process.
    """
    for locale in config.recorded_gallery_locale_dirs:
        path = catalog_folder(app.srcdir / locale, config.language) / "sphinx.mo"
        key = gettext.GNUTranslations, os.path.abspath(path)
        if loaded := gettext._translations.get(key):  # type: ignore[attr-defined]
            loaded._catalog.clear()


def _read_labels(app: Sphinx, config: Config, domain: str) -> dict[str, str]:
    """Return the labels of a domain that are fit; warn of the others."""
    messages: dict[str, str] = {}
    for path in _label_files(config, app.srcdir, domain):
        entries, problems = read_entries(path)
        problems += drop_unsafe(path, entries, Kind.LABEL, current_language(config))
        for problem in problems:
            logger.warning("%s", problem, type="recorded_gallery", subtype="catalog")
        messages = translations_of(entries) | messages  # those of the project go first
    return messages


def _label_files(config: Config, root: Path, domain: str) -> list[Path]:
    """Return the catalogs of labels that there are, those of the project first."""
    paths = [catalog_folder(locale_folder(config, root), config.language) / f"{domain}.po"]
    shipped = shipped_labels(config.language)
    if domain == ENGINE and shipped is not None:
        paths.append(shipped)
    return [path for path in paths if path.is_file()]


def read_entries(path: Path) -> tuple[list[polib.POEntry], list[str]]:
    """Return the messages in use of a catalog, and why it cannot be read.

    A catalog that is not there has no messages and no problem.
    """
    if not path.exists():
        return [], []
    try:
        catalog = read_catalog(path)
    except GalleryError as error:
        return [], [f"{error}; shown in English"]
    return [entry for entry in catalog if not entry.obsolete], []


def drop_unsafe(
    path: Path, entries: list[polib.POEntry], kinds: Kinds | Kind, language: Language
) -> list[str]:
    """Remove from ``entries`` those of these kinds that would spoil a page; return why."""
    if isinstance(kinds, Kind):
        kinds = {entry.msgid: {kinds} for entry in entries}
    examined = [entry for entry in entries if entry.msgid in kinds]
    problems: dict[int, str] = {}  # the first of each message, by its line
    for problem in examine(path, examined, kinds, language):
        problems.setdefault(problem.line, f"{problem}; shown in English")
    entries[:] = [entry for entry in entries if line_of(entry) not in problems]
    for entry in entries:
        if kinds.get(entry.msgid) == {Kind.PROSE}:
            entry.msgstr = prepare_prose(entry.msgid, entry.msgstr, language)
        elif kinds.get(entry.msgid) == {Kind.LABEL}:
            entry.msgstr = prepare_label(entry.msgid, entry.msgstr)
    return list(problems.values())


def translations_of(entries: list[polib.POEntry]) -> dict[str, str]:
    """Return the messages that are translated, by their source texts; the first one counts."""
    translations: dict[str, str] = {}
    for entry in entries:
        if entry.msgid and not entry.msgid_plural and entry.translated():
            translations.setdefault(entry.msgid, entry.msgstr)
    return translations


def install_messages(env: BuildEnvironment, entries: list[polib.POEntry]) -> dict[str, str]:
    """Let Sphinx take these messages for the page at hand; return those that are translated."""
    messages = translations_of(entries)
    if env.docname in label_domains(env.config):
        return {}  # a page that is called like a catalog of labels
    translators.pop(("general", env.docname), None)
    if messages:
        _Catalog(env.docname, messages)
    return messages


def find_translations(
    env: BuildEnvironment, name: str, texts: Collection[str], language: Language, kind: Kind
) -> dict[str, str]:
    """Return those of a catalog's messages, all of one kind, that are translated and fit."""
    if language == source_language(env.config):
        return {}
    path = catalog_path(env, name, language.code)
    entries = [entry for entry in once(env, entries_now, path) if entry.msgid in texts]
    drop_unsafe(path, entries, kind, language)  # which its page tells
    return translations_of(entries)


def entries_now(_env: BuildEnvironment, path: Path) -> list[polib.POEntry]:
    """Return the messages in use of a catalog, for ``once``."""
    return read_entries(path)[0]


def find_message(env: BuildEnvironment, docname: str, text: str, kind: Kind = Kind.PROSE) -> str:
    """Return a message of a page in the language of this build, and watch it."""
    if not is_translated(env.config):
        return text
    return watch(env, translate_message, docname, text, kind.name)


def translate_message(env: BuildEnvironment, docname: str, text: str, kind: str) -> str:
    """Return a translated message; a catalog that has not changed is not read again."""

    def read() -> tuple[list[Path], str]:
        language = current_language(env.config)
        return [], find_translations(env, docname, [text], language, Kind[kind]).get(text, text)

    return str(keep(env, ("message", docname, text, kind), [catalog_path(env, docname)], read))


def watch_glossary(env: BuildEnvironment) -> Glossary:
    """Return the glossary; the page at hand is read again when a file of it changes.

    Raises ``GalleryError`` if a file of it is damaged.
    """
    locale = locale_folder(env.config, Path(env.srcdir))
    for path in find_glossaries(locale):
        env.note_dependency(str(path))
    return load_glossary(locale)


def labels_now(env: BuildEnvironment) -> str:
    """Return hashes of all labels in the language of this build, for pages to watch."""
    hashes = []
    for domain in label_domains(env.config):
        for path in _label_files(env.config, env.srcdir, domain):
            hashes.append(hash_file(env, str(path)))
    return " ".join(hashes)


def catalog_path(env: BuildEnvironment, docname: str, code: str = "") -> Path:
    """Return where the catalog of a page lies, or would lie; in this build's language if none."""
    locale = locale_folder(env.config, Path(env.srcdir))
    return catalog_folder(locale, code or env.config.language) / f"{docname}.po"


def repository_address(env: BuildEnvironment, file: Path, view: str = "edit") -> str:
    """Return where a file is edited on the web, or shown with ``view="blob"``.

    Empty if conf.py names no repository, or the file lies outside of the folder of conf.py.
    """
    repository = env.config.recorded_gallery_repository_url.rstrip("/")
    path = Path(os.path.relpath(file, env.srcdir)).as_posix()
    if not repository or path.startswith(".."):
        return ""
    return f"{repository}/{view}/{env.config.recorded_gallery_repository_branch}/{path}"
