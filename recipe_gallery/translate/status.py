"""How far catalogs are translated: `make status`, and the page for translators."""

import contextlib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import polib

from ..errors import GalleryError, suggest, visible
from ..languages import Language
from ..project import file_state
from .catalogs import Progress, domain_of, find_catalogs, locale_folders, measure, read_catalog
from .comments import HIDDEN
from .templates.kept import KeptTemplates

_BAR = 20  # characters
_LONGEST_NAME = 100
# A line of the header that names a person has an address or a year.
_CREDIT = re.compile(r"^(?P<name>[^<,]+)(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class CatalogStatus:
    """How far one catalog is."""

    path: Path
    domain: str  # the page, or the name of a catalog of labels
    is_label: bool
    progress: Progress
    is_readable: bool = True  # else the page is in English
    revised: date | None = None
    translators: tuple[str, ...] = ()
    stale: str = ""  # why the measure may be old


def catalog_status(path: Path, code: str, kept: KeptTemplates) -> CatalogStatus:
    """Measure one catalog, of the messages that it should have if that is known.

    Of one that is not there nothing is translated.
    """
    domain = domain_of(path)
    catalog, is_readable = polib.POFile(), True
    try:
        catalog = read_catalog(path) if path.exists() else catalog
    except GalleryError:
        is_readable = False
    revised = None
    with contextlib.suppress(ValueError):  # it may hold a template's YEAR-MO-DA
        revised = date.fromisoformat(catalog.metadata.get("PO-Revision-Date", "")[:10])
    lines = [line.strip() for line in catalog.header.splitlines()]
    names = [found["name"].strip() for line in lines if (found := _CREDIT.match(line))]
    names.append(catalog.metadata.get("Last-Translator", "").partition("<")[0].strip())
    return CatalogStatus(
        path=path,
        domain=domain,
        is_label=domain in kept.labels,
        is_readable=is_readable,
        progress=measure(catalog, _texts(catalog, domain, code, kept)),
        revised=revised,
        # FULL NAME, as a template has it, is nobody.
        translators=tuple(dict.fromkeys(name for name in names if _is_name(name))),
    )


def _is_name(text: str) -> bool:
    """Tell what may stand on a page as the name of a person, without characters nobody sees."""
    return 0 < len(text) <= _LONGEST_NAME and not text.isupper() and not HIDDEN.search(text)


def _texts(
    catalog: polib.POFile, domain: str, code: str, kept: KeptTemplates
) -> Collection[str] | None:
    """Return which messages a catalog has to have, None if only itself says so."""
    template = kept.of_catalog(domain, code, catalog) if kept.exist else None
    if template:
        return template.kinds.keys() or None
    return () if kept.exist and domain not in kept.pages else None


def language_status(
    kept: KeptTemplates, code: str, known: dict[Path, tuple[object, CatalogStatus]] | None = None
) -> list[CatalogStatus]:
    """Measure all catalogs of a language, in the order of their names.

    If neither a catalog in ``known`` nor its template has changed since, the status is taken from
    there; those of others are put in. Without ``known`` it is told, too, which may be old.
    """
    locales = locale_folders(kept.root, kept.locale)
    found = {path for locale in locales for path in find_catalogs(locale, code)}
    if kept.exist:
        found |= {kept.catalog_of(domain, code) for domain in kept.domains}
    statuses = []
    for path in found:
        domain = domain_of(path)
        pot = "sphinx" if domain in kept.labels else domain
        state = file_state(path), file_state(kept.path_of(pot))
        if known is None or path not in known or known[path][0] != state:
            status = catalog_status(path, code, kept)
        else:
            status = known[path][1]
        if known is not None:
            known[path] = state, status
        elif template := kept.of_page(pot):
            status = replace(status, stale=template.stale)
        # A page without messages needs no catalog.
        if path.exists() or status.progress.words:
            statuses.append(status)
    return sorted(statuses, key=lambda each: f"{each.domain}.po".split("/"))


def add_up(statuses: Iterable[CatalogStatus]) -> Progress:
    """Return the progress of several catalogs together; what cannot be read is all left."""
    parts = [each.progress for each in statuses]
    names = Progress.__dataclass_fields__
    return Progress(**{name: sum(getattr(part, name) for part in parts) for name in names})


def format_status(language: Language, statuses: Sequence[CatalogStatus]) -> str:
    """Return a table of one language for the terminal."""
    if not statuses:
        run = suggest("update-po", language.code)
        return f"{language.code}  {language.name}  no catalogs; run: {run}"
    total = add_up(statuses)
    filled = _BAR * total.percent // 100
    bar = "█" * filled + "░" * (_BAR - filled)
    lines = [f"{language.code}  {language.name}  {bar} {total.percent:>3} %"]
    width = max([len(status.domain) for status in statuses], default=0)
    for status in statuses:
        line = f"  {status.domain:<{width}}  "
        if status.is_readable:
            progress = status.progress
            left = f"{progress.words_left:>6} words left, {progress.fuzzy:>3} fuzzy"
            names = ", ".join(status.translators)
            line += f"{progress.percent:>3} %  {left}  {status.revised or '-'}  {names}"
        else:
            line += f"cannot be read; run: {suggest('check-po', language.code)}"
        if status.stale:
            line += f"  ({status.stale}; run: {suggest('update-po')})"
        lines.append(line)
    return "\n".join(map(visible, lines))
