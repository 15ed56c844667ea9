"""How far each catalog is translated, by whom and when: `make status`, and a page of the site."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import polib

from ..languages import Language
from ..project import GalleryError
from .catalogs import INTERFACE, Progress, catalog_folder, find_catalogs, measure, read_catalog

_BAR = 20  # characters
# A line of the header that names a person has an address or a year.
_CREDIT = re.compile(r"^(?P<name>[^<,]+?)\s*(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class CatalogStatus:
    """One catalog in the table."""

    domain: str  # page name, or the name of an interface catalog
    progress: Progress | None  # None if the catalog cannot be read
    revised: date | None
    translators: tuple[str, ...]

    @property
    def is_interface(self) -> bool:
        """Tell a catalog of labels from one of a page."""
        return self.domain in INTERFACE


def catalog_status(path: Path, domain: str) -> CatalogStatus:
    """Measure one catalog."""
    try:
        catalog = read_catalog(path)
    except GalleryError:
        return CatalogStatus(domain=domain, progress=None, revised=None, translators=())
    return CatalogStatus(
        domain=domain,
        progress=measure(catalog),
        revised=_parse_date(catalog.metadata.get("PO-Revision-Date", "")),
        translators=_find_translators(catalog),
    )


def language_status(locale: Path, language: Language) -> list[CatalogStatus]:
    """Measure all catalogs of a language."""
    folder = catalog_folder(locale, language.code)
    return [
        catalog_status(path, path.relative_to(folder).with_suffix("").as_posix())
        for path in find_catalogs(locale, language.code)
    ]


def add_up(statuses: Iterable[CatalogStatus]) -> Progress:
    """Return the progress of several catalogs together."""
    parts = [status.progress for status in statuses if status.progress]
    return Progress(
        total=sum(part.total for part in parts),
        translated=sum(part.translated for part in parts),
        fuzzy=sum(part.fuzzy for part in parts),
        words=sum(part.words for part in parts),
        words_left=sum(part.words_left for part in parts),
    )


def format_status(language: Language, statuses: Sequence[CatalogStatus]) -> str:
    """Return a table of one language for the terminal."""
    total = add_up(statuses)
    width = max([len(status.domain) for status in statuses], default=0)
    lines = [f"{language.code}  {language.name}  {_draw_bar(total)} {total.percent:>3} %"]
    for status in statuses:
        progress = status.progress
        if progress is None:
            lines.append(f"  {status.domain:<{width}}  cannot be read; run: make check-po")
            continue
        revised = status.revised.isoformat() if status.revised else "-"
        left = f"{progress.words_left:>6} words left, {progress.fuzzy:>3} fuzzy"
        names = ", ".join(status.translators)
        lines.append(
            f"  {status.domain:<{width}}  {progress.percent:>3} %  {left}  {revised}  {names}"
        )
    return "\n".join(lines)


def _draw_bar(progress: Progress) -> str:
    filled = _BAR * progress.percent // 100
    return "█" * filled + "░" * (_BAR - filled)


def _parse_date(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _find_translators(catalog: polib.POFile) -> tuple[str, ...]:
    """Return the people whom the header names: one a line in its comment, and the last one."""
    lines = catalog.header.splitlines()
    names = [match["name"].strip() for line in lines if (match := _CREDIT.match(line.strip()))]
    names.append(catalog.metadata.get("Last-Translator", "").partition("<")[0].strip())
    return tuple(dict.fromkeys(name for name in names if name and not name.isupper()))
