"""How much of each catalog is translated, for the page that shows it."""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polib
from sphinx.environment import BuildEnvironment

from ..errors import GalleryError
from ..languages import locale_folder
from ..project import Project
from ..store import cached
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

# A line of the header that credits a person has an address or a year.
_CREDIT = re.compile(r"^([^<,]+)(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class CatalogStatus:
    """How much of one or several catalogs is translated, in words of the source.

    ``words_fuzzy`` are those of ``words_left`` whose translation waits for revision. ``domain`` is
    the page, or the name of a catalog of labels if ``is_of_labels``.
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
        """Whole percents of the words; 100 only if nothing is left."""
        return percent_done(self.words, self.words_left)


@dataclass(frozen=True, kw_only=True)
class TranslationStatus:
    """How much of each catalog of one language is translated, in the order of their names."""

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


def language_status(project: Project, code: str) -> TranslationStatus:
    """Return the status of each catalog of a language, in the order of their names.

    It counts the messages of the templates, or without templates those of the catalog itself. In a
    catalog that is missing or cannot be read, nothing counts as translated. Raises ``GalleryError``
    for a damaged template.
    """
    pots = read_pots(project)
    labels = label_domains(project.config)
    statuses = []
    for domain, path in find_catalogs(project, code, pots).items():
        catalog = polib.POFile()
        if path.exists():
            with contextlib.suppress(GalleryError):
                catalog = read_catalog(path)
        template = pots.get(domain, ()) if pots else None
        status = _measure(path, domain, catalog, template)
        statuses.append(replace(status, is_of_labels=domain in labels))
    return TranslationStatus(catalogs=tuple(statuses))


def _measure(
    path: Path,
    domain: str,
    catalog: polib.POFile,
    template: Sequence[polib.POEntry] | None,
) -> CatalogStatus:
    """Return the status of a catalog, measured by a template or else by its own messages."""
    own_entries = {
        entry.msgid: entry for entry in catalog if not (entry.obsolete or entry.msgid_plural)
    }
    messages = own_entries.values() if template is None else template
    words = words_left = words_fuzzy = 0
    for message in messages:
        # A page counts as translated even if comments of a folded module are not.
        if is_of_module(message, domain):
            continue
        count = count_words(message.msgid)
        entry = own_entries.get(message.msgid)
        words += count
        if not _is_done(message.msgid, entry):
            words_left += count
            if entry and entry.fuzzy:
                words_fuzzy += count
    return CatalogStatus(
        path=path,
        domain=domain,
        words=words,
        words_left=words_left,
        words_fuzzy=words_fuzzy,
        translators=_find_translators(catalog),
    )


def _find_translators(catalog: polib.POFile) -> tuple[str, ...]:
    """Return the persons that the header of a catalog names, each once."""
    names = []
    for line in catalog.header.splitlines():
        credit = _CREDIT.match(line.strip())
        if credit:
            names.append(credit[1].strip())
    last_translator, _bracket, _address = catalog.metadata.get("Last-Translator", "").partition("<")
    names.append(last_translator.strip())
    return tuple(dict.fromkeys(name for name in names if _is_name(name)))


def load_status(env: BuildEnvironment, code: str) -> TranslationStatus:
    """Return how much of a language is translated.

    The result is cached, also for later builds, until a file in the folder of catalogs changes.
    Raises ``GalleryError`` for a damaged template.
    """
    root = Path(env.srcdir)
    config = env.config
    locale = locale_folder(config, root)
    project = Project(root=root, galleries=(), recordings=root, locale=locale, config=config)
    files = sorted(locale.rglob("*.po*"))  # and the templates
    status: TranslationStatus = cached(
        env, ("catalogs", code), files, lambda: ([], language_status(project, code))
    )
    return status


def _is_done(text: str, entry: polib.POEntry | None) -> bool:
    """Return whether a message is translated, or has no words to translate."""
    if entry is None:
        return is_wordless(text)
    return bool(entry.translated())


def _is_name(text: str) -> bool:
    """Return whether a page may show a text as a person's name; FULL NAME is a placeholder."""
    return 0 < len(text) <= 100 and not text.isupper() and not find_hidden(text)
