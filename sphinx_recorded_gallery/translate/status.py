"""How far catalogs are translated, for the page that shows it."""

import contextlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
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
    percent_done,
    read_catalog,
)
from .hidden_characters import find_hidden
from .pot import read_pots

# A line of the header that names a person has an address or a year.
_CREDIT = re.compile(r"^([^<,]+)(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class Status:
    """How far one catalog is, or several together, in words of the source."""

    words: int
    words_left: int
    words_fuzzy: int  # of those left, the ones whose translation waits to be revised
    path: Path = Path()
    domain: str = ""  # the page, or the name of a catalog of labels
    translators: tuple[str, ...] = ()

    @property
    def percent(self) -> int:
        """Whole percents of the words, 100 only if nothing is left."""
        return percent_done(self.words, self.words_left)


def language_status(project: Project, code: str) -> list[Status]:
    """Measure all catalogs of a language, in the order of their names.

    They are measured by the messages that they should have, or without templates by their own. Of
    one that is not there, or cannot be read, nothing is translated. Raises ``GalleryError`` for a
    damaged template.
    """
    pots = read_pots(project)
    statuses = []
    for domain, path in find_catalogs(project, code, pots).items():
        catalog = polib.POFile()
        with contextlib.suppress(GalleryError):
            catalog = read_catalog(path) if path.exists() else catalog
        own = {e.msgid: e for e in catalog if not (e.obsolete or e.msgid_plural)}
        entries = pots.get(domain, ()) if pots else own.values()
        # Comments of a module that is folded are not what makes a page translated.
        texts = [entry.msgid for entry in entries if not is_of_module(entry, domain)]
        left = [text for text in texts if not _is_done(text, own.get(text))]
        fuzzy = [text for text in left if text in own and own[text].fuzzy]
        words, words_left, words_fuzzy = (sum(map(count_words, p)) for p in (texts, left, fuzzy))
        lines = map(_CREDIT.match, map(str.strip, catalog.header.splitlines()))
        names = [line[1] for line in lines if line]
        names.append(catalog.metadata.get("Last-Translator", "").partition("<")[0])
        statuses.append(
            Status(
                path=path,
                domain=domain,
                words=words,
                words_left=words_left,
                words_fuzzy=words_fuzzy,
                translators=tuple(dict.fromkeys(filter(_is_name, map(str.strip, names)))),
            )
        )
    return statuses


def catalog_status(env: BuildEnvironment, code: str) -> list[Status]:
    """Return how far each catalog of a language is, in the order of their names.

    While no file below the folder of catalogs changes, none is read again, in later builds either.
    """
    root, config = Path(env.srcdir), env.config
    locale = locale_folder(config, root)
    project = Project(root=root, galleries=(), recordings=root, locale=locale, config=config)
    files = sorted(locale.rglob("*.po*"))  # and the templates
    statuses: list[Status] = cached(
        env, ("catalogs", code), files, lambda: ([], language_status(project, code))
    )
    return statuses


def _is_done(text: str, entry: polib.POEntry | None) -> bool:
    """Tell a message that is translated, or has no words to translate."""
    return bool(entry.translated()) if entry else is_wordless(text)


def _is_name(text: str) -> bool:
    """Tell what may stand on a page as a person's name: not FULL NAME, as a template has it."""
    return 0 < len(text) <= 100 and not text.isupper() and not find_hidden(text)


def add_up(statuses: Sequence[Status]) -> Status:
    """Return how far several catalogs are together."""
    names = ("words", "words_left", "words_fuzzy")
    return Status(**{name: sum(getattr(each, name) for each in statuses) for name in names})
