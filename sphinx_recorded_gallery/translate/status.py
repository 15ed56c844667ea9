"""How far catalogs are translated, for the page that shows it."""

import contextlib
import re
from dataclasses import dataclass
from pathlib import Path

import polib
from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..languages import locale_folder
from ..project import Project
from ..store import keep, watch
from .catalogs import (
    count_words,
    find_catalogs,
    is_of_module,
    is_wordless,
    label_domains,
    percent_done,
    read_catalog,
)
from .hidden_characters import find_hidden
from .pot import read_pots

# A line of the header that names a person has an address or a year.
_CREDIT = re.compile(r"^([^<,]+)(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class CatalogStatus:
    """How far one catalog is, or several together, in words of the source.

    ``words_fuzzy`` are those of ``words_left`` whose translation waits to be revised. ``domain`` is
    the page, or the name of a catalog of labels, which ``is_of_labels`` tells.
    """

    words: int
    words_left: int
    words_fuzzy: int
    path: Path = Path()
    domain: str = ""
    is_of_labels: bool = False
    translators: tuple[str, ...] = ()

    @property
    def percent(self) -> int:
        """Whole percents of the words, 100 only if nothing is left."""
        return percent_done(self.words, self.words_left)


@dataclass(frozen=True, kw_only=True)
class TranslationStatus:
    """How far the catalogs of one language are, in the order of their names."""

    catalogs: tuple[CatalogStatus, ...]

    @property
    def total(self) -> CatalogStatus:
        """All catalogs together."""
        return CatalogStatus(
            words=sum(catalog.words for catalog in self.catalogs),
            words_left=sum(catalog.words_left for catalog in self.catalogs),
            words_fuzzy=sum(catalog.words_fuzzy for catalog in self.catalogs),
        )

    @property
    def translators(self) -> list[str]:
        """The names of all translators, in order."""
        names: set[str] = set()
        for catalog in self.catalogs:
            names.update(catalog.translators)
        return sorted(names)


def load_translation_status(env: BuildEnvironment, code: str) -> TranslationStatus:
    """Return how far a language is translated; ``code`` is that of ``languages.toml``.

    The status has a :class:`CatalogStatus` for each of its ``catalogs``, the ``total`` of all, and
    the names of the ``translators``.

    The page at hand is read again when that changes. While no file below the folder of catalogs
    changes, none is read again, in later builds either. Of a catalog that cannot be read, nothing
    is translated. Raises ``GalleryError`` for a damaged template.
    """
    return watch(env, _load_status, code)


def _load_status(env: BuildEnvironment, code: str) -> TranslationStatus:
    root, config = Path(env.srcdir), env.config
    locale = locale_folder(config, root)
    project = Project(root=root, galleries=(), recordings=root, locale=locale, config=config)
    files = sorted(locale.rglob("*.po*"))  # and the templates
    status: TranslationStatus = keep(
        env, ("catalogs", code), files, lambda: ([], language_status(project, code))
    )
    return status


def language_status(project: Project, code: str) -> TranslationStatus:
    """Measure all catalogs of a language, in the order of their names.

    They are measured by the messages that they should have, or without templates by their own. Of
    one that is not there, or cannot be read, nothing is translated. Raises ``GalleryError`` for a
    damaged template.
    """
    pots = read_pots(project)
    labels = label_domains(project.config)
    statuses = []
    for domain, path in find_catalogs(project, code, pots).items():
        catalog = polib.POFile()
        with contextlib.suppress(GalleryError):
            catalog = read_catalog(path) if path.exists() else catalog
        own_entries = {}
        for entry in catalog:
            if not (entry.obsolete or entry.msgid_plural):
                own_entries[entry.msgid] = entry
        expected = pots.get(domain, ()) if pots else own_entries.values()
        words = words_left = words_fuzzy = 0
        for message in expected:
            # Comments of a module that is folded are not what makes a page translated.
            if is_of_module(message, domain):
                continue
            count = count_words(message.msgid)
            words += count
            own_entry = own_entries.get(message.msgid)
            if _is_done(message.msgid, own_entry):
                continue
            words_left += count
            if own_entry is not None and own_entry.fuzzy:
                words_fuzzy += count
        statuses.append(
            CatalogStatus(
                path=path,
                domain=domain,
                is_of_labels=domain in labels,
                words=words,
                words_left=words_left,
                words_fuzzy=words_fuzzy,
                translators=_find_translators(catalog),
            )
        )
    return TranslationStatus(catalogs=tuple(statuses))


def _find_translators(catalog: polib.POFile) -> tuple[str, ...]:
    """Return the names of persons in the header of a catalog, without duplicates."""
    names = []
    for line in catalog.header.splitlines():
        credit = _CREDIT.match(line.strip())
        if credit:
            names.append(credit[1].strip())
    last_translator = catalog.metadata.get("Last-Translator", "")
    names.append(last_translator.partition("<")[0].strip())
    return tuple(dict.fromkeys(filter(_is_name, names)))


def _is_done(text: str, entry: polib.POEntry | None) -> bool:
    """Tell a message that is translated, or has no words to translate."""
    return bool(entry.translated()) if entry else is_wordless(text)


def _is_name(text: str) -> bool:
    """Tell what may stand on a page as a person's name: not FULL NAME, as a template has it."""
    return 0 < len(text) <= 100 and not text.isupper() and not find_hidden(text)
