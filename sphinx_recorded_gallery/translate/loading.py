"""The translations that a build shows: the safe messages of its catalogs.

Sphinx would show compiled catalogs unchecked, whoever compiled them. So it gets none of a project,
and the one of the engine's own labels (``engine_labels.py``) is replaced here: labels are read when
a build begins, the messages of a page together with the page, and both are handed to Sphinx in
memory. A translation that would spoil a page causes a warning, and readers get the English text.
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

from ..engine_labels import ENGINE, shipped_labels
from ..errors import GalleryError
from ..languages import Language, is_translated, locale_folder
from ..store import cached, hash_file, once, watch
from .catalogs import (
    Kind,
    catalog_folder,
    label_domains,
    line_of,
    read_catalog,
)
from .checks import Kinds, examine, prepare_label, prepare_prose

logger = logging.getLogger(__name__)


class _Catalog(gettext.GNUTranslations):
    """Messages in the form that Sphinx and its templates need."""

    def __init__(self, domain: str, messages: dict[str, str]) -> None:
        super().__init__()
        self._catalog = messages
        self.plural = bool  # never used: messages have no plural forms
        installed = translators.get(("general", domain))
        is_of_earlier_build = isinstance(installed, _Catalog)
        # The engine's labels are all among the messages, as far as they are safe.
        if installed and not is_of_earlier_build and domain != ENGINE:
            self.add_fallback(installed)
        translators["general", domain] = self


def load_labels(app: Sphinx, config: Config) -> None:
    """Install the safe labels of this build's language."""
    _forget_labels_that_sphinx_loaded(app, config)
    for domain in label_domains(config):
        messages: dict[str, str] = {}
        if is_translated(config):
            messages = _read_labels(app, config, domain)
        catalog = _Catalog(domain, messages)
        if domain == "sphinx":
            app.translator = catalog


def _forget_labels_that_sphinx_loaded(app: Sphinx, config: Config) -> None:
    """Empty the catalogs that Sphinx loaded unchecked before any extension ran.

    gettext keeps one dictionary for each file as long as the process lives.
    """
    for locale in config.recorded_gallery_locale_dirs:
        path = catalog_folder(app.srcdir / locale, config.language) / "sphinx.mo"
        key = gettext.GNUTranslations, os.path.abspath(path)
        loaded_catalog = gettext._translations.get(key)  # type: ignore[attr-defined]
        if loaded_catalog:
            loaded_catalog._catalog.clear()


def _read_labels(app: Sphinx, config: Config, domain: str) -> dict[str, str]:
    """Return the safe labels of a domain; warn of the others."""
    messages: dict[str, str] = {}
    for path in _label_files(config, app.srcdir, domain):
        entries, problems = read_entries(path)
        problems += drop_unsafe(path, entries, Kind.LABEL, Language.current(config))
        for problem in problems:
            logger.warning("%s", problem, type="recorded_gallery", subtype="catalog")
        messages = translations_of(entries) | messages  # the first file, that of the project, wins
    return messages


def _label_files(config: Config, root: Path, domain: str) -> list[Path]:
    """Return the existing catalogs of labels, that of the project first."""
    paths = [catalog_folder(locale_folder(config, root), config.language) / f"{domain}.po"]
    shipped = shipped_labels(config.language)
    if domain == ENGINE and shipped is not None:
        paths.append(shipped)
    return [path for path in paths if path.is_file()]


def read_entries(path: Path) -> tuple[list[polib.POEntry], list[str]]:
    """Return the messages in use of a catalog, or the problem of a catalog that cannot be read.

    A missing catalog has no messages and no problem.
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
    """Remove from ``entries`` those that would spoil a page; return the problems.

    Only entries with ``kinds`` are checked; one kind applies to all of them.
    """
    if isinstance(kinds, Kind):
        kinds = {entry.msgid: {kinds} for entry in entries}
    examined = [entry for entry in entries if entry.msgid in kinds]
    problems: dict[int, str] = {}  # the first problem of each message, by line
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
    """Return translations by source text; of several messages with one text, the first counts."""
    translations: dict[str, str] = {}
    for entry in entries:
        # translated(): neither empty, fuzzy nor obsolete
        if entry.msgid and not entry.msgid_plural and entry.translated():
            translations.setdefault(entry.msgid, entry.msgstr)
    return translations


def install_messages(env: BuildEnvironment, entries: list[polib.POEntry]) -> dict[str, str]:
    """Hand the messages of the current page to Sphinx; return the translations."""
    messages = translations_of(entries)
    if env.docname in label_domains(env.config):
        return {}  # the page has the name of a catalog of labels
    translators.pop(("general", env.docname), None)
    if messages:
        _Catalog(env.docname, messages)
    return messages


def find_messages(
    env: BuildEnvironment, name: str, texts: Collection[str], language: Language, kind: Kind
) -> dict[str, str]:
    """Return the safe translations of some texts of one kind in a catalog."""
    if language == Language.source(env.config):
        return {}
    path = catalog_path(env, name, language.code)
    entries = [entry for entry in once(env, entries_now, path) if entry.msgid in texts]
    drop_unsafe(path, entries, kind, language)  # problems are reported with the page
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
        language = Language.current(env.config)
        messages = find_messages(env, docname, [text], language, Kind[kind])
        return [], messages.get(text, text)

    return str(cached(env, ("message", docname, text, kind), [catalog_path(env, docname)], read))


def labels_now(env: BuildEnvironment) -> str:
    """Return hashes of all labels in the language of this build, for pages to watch."""
    hashes = []
    for domain in label_domains(env.config):
        for path in _label_files(env.config, env.srcdir, domain):
            hashes.append(hash_file(env, str(path)))
    return " ".join(hashes)


def catalog_path(env: BuildEnvironment, docname: str, code: str = "") -> Path:
    """Return where the catalog of a page lies, or would lie.

    ``code`` is that of a language; without it, it is the language of the build.
    """
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
