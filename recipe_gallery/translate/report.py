"""What translators are told: how far catalogs are, and what a change of the sources means."""

import difflib
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import polib

from ..languages import Language
from ..project import GalleryError, Project, load_project, suggest
from .catalogs import (
    Progress,
    catalog_folder,
    count_words,
    domain_of,
    find_catalogs,
    label_domains,
    measure,
    read_catalog,
)
from .extract import make_templates

_BAR = 20  # characters
_SHOWN = 30  # messages a page, in a summary that people read
# A line of the header that names a person has an address or a year.
_CREDIT = re.compile(r"^(?P<name>[^<,]+?)\s*(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class CatalogStatus:
    """How far one catalog is."""

    path: Path
    is_label: bool  # of labels, not of a page
    progress: Progress | None = None  # None if the catalog cannot be read
    revised: date | None = None
    translators: tuple[str, ...] = ()

    @property
    def domain(self) -> str:
        """The page, or the name of a catalog of labels."""
        return domain_of(self.path)


def catalog_status(path: Path, labels: Collection[str]) -> CatalogStatus:
    """Measure one catalog; ``labels`` are the names of those that hold labels."""
    is_label = domain_of(path) in labels
    try:
        catalog = read_catalog(path)
    except GalleryError:
        return CatalogStatus(path=path, is_label=is_label)
    return CatalogStatus(
        path=path,
        is_label=is_label,
        progress=measure(catalog),
        revised=_parse_date(catalog.metadata.get("PO-Revision-Date", "")),
        translators=_find_translators(catalog),
    )


def language_status(
    locales: Iterable[Path],
    code: str,
    labels: Collection[str],
    known: dict[Path, tuple[int, CatalogStatus]] | None = None,
) -> list[CatalogStatus]:
    """Measure all catalogs of a language, in the order of their names.

    Of catalogs in ``known`` that have not changed since, the status is taken from there; those of
    others are put in, with the time of the file.
    """
    known = {} if known is None else known
    found = [path for locale in locales for path in find_catalogs(locale, code)]
    for path in found:
        time = path.stat().st_mtime_ns
        if path not in known or known[path][0] != time:
            known[path] = time, catalog_status(path, labels)
    return sorted((known[path][1] for path in found), key=lambda each: Path(f"{each.domain}.po"))


def add_up(statuses: Iterable[CatalogStatus]) -> Progress:
    """Return the progress of several catalogs together."""
    parts = [status.progress for status in statuses if status.progress]
    names = Progress.__dataclass_fields__
    return Progress(**{name: sum(getattr(part, name) for part in parts) for name in names})


def format_status(language: Language, statuses: Sequence[CatalogStatus]) -> str:
    """Return a table of one language for the terminal."""
    total = add_up(statuses)
    width = max([len(status.domain) for status in statuses], default=0)
    check = suggest("check-po", language.code)
    lines = [f"{language.code}  {language.name}  {_draw_bar(total)} {total.percent:>3} %"]
    for status in statuses:
        progress = status.progress
        if progress is None:
            lines.append(f"  {status.domain:<{width}}  cannot be read; run: {check}")
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


@dataclass(kw_only=True)
class PageImpact:
    """The messages of one page that differ."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[tuple[str, str]] = field(default_factory=list)  # old and new text


def find_impact(project: Project, base: str, templates: Path) -> dict[str, PageImpact]:
    """Compare the messages of the working tree with those of the commit ``base``, page by page."""
    new = make_templates(project, templates)
    with tempfile.TemporaryDirectory() as folder:
        _extract_commit(project.root, base, Path(folder))
        old = make_templates(load_project(Path(folder)), Path(folder, "_build/gettext"))
    impact = {}
    for domain in sorted({*old, *new}):
        page = compare(old.get(domain), new.get(domain))
        if page.added or page.removed or page.changed:
            impact[domain] = page
    return impact


def compare(old: polib.POFile | None, new: polib.POFile | None) -> PageImpact:
    """Return how the messages of two templates differ; a new text like an old one is a change."""
    before = [entry.msgid for entry in old or ()]
    after = [entry.msgid for entry in new or ()]
    impact = PageImpact(removed=[text for text in before if text not in set(after)])
    for text in after:
        if text in set(before):
            continue
        similar = difflib.get_close_matches(text, impact.removed, n=1)
        if similar:
            impact.changed.append((similar[0], text))
            impact.removed.remove(similar[0])
        else:
            impact.added.append(text)
    return impact


def format_impact(
    project: Project, impact: dict[str, PageImpact], languages: Sequence[Language]
) -> str:
    """Return the comparison in Markdown, fit for a comment on a pull request."""
    if not impact:
        return "No message that translators see has changed."
    lines = [
        "### What this change means for translations",
        "",
        "| Page | New | Changed | Removed | Words to translate |",
        "|---|---:|---:|---:|---:|",
    ]
    words = 0
    for domain, page in impact.items():
        count = sum(map(count_words, [*page.added, *(new for _old, new in page.changed)]))
        words += count
        lines.append(
            f"| `{domain}` | {len(page.added)} | {len(page.changed)} | {len(page.removed)} "
            f"| {count} |"
        )
    names = ", ".join(
        f"{language.name}: {_translated_before(project, language, impact)}"
        for language in languages
    )
    lines += [
        "",
        f"{words} words to translate in each language. After `{suggest('update-po')}`, "
        f"translations of changed messages are kept as fuzzy ({names}), and readers see English "
        "for them until they are revised.",
    ]
    for domain, page in impact.items():
        lines += ["", f"<details><summary><code>{domain}</code></summary>", ""]
        shown = [
            *(f"- changed: {_quote(old)}\n  now: {_quote(new)}" for old, new in page.changed),
            *(f"- new: {_quote(text)}" for text in page.added),
            *(f"- removed: {_quote(text)}" for text in page.removed),
        ]
        lines += shown[:_SHOWN]
        if len(shown) > _SHOWN:
            lines.append(f"- and {len(shown) - _SHOWN} more")
        lines += ["", "</details>"]
    return "\n".join(lines)


def _translated_before(project: Project, language: Language, impact: dict[str, PageImpact]) -> int:
    """Return how many of the changed messages are translated so far."""
    count = 0
    for domain, page in impact.items():
        path = catalog_folder(project.locale, language.code) / f"{domain}.po"
        if not path.exists() or domain in label_domains(project.config):
            continue
        texts = {text for pair in page.changed for text in pair}
        count += sum(bool(entry.msgstr) for entry in read_catalog(path) if entry.msgid in texts)
    return count


def _quote(text: str) -> str:
    """Return a text as inline code, whatever it holds."""
    flat = " ".join(text.split())
    fence = "`" * (max(map(len, re.findall("`+", flat)), default=0) + 1)
    return f"{fence} {flat} {fence}"


def _extract_commit(root: Path, commit: str, folder: Path) -> None:
    done = subprocess.run(
        ["git", "-C", str(root), "archive", "--format=tar", commit], capture_output=True
    )
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise GalleryError(
            f"no commit {commit!r} here ({reason[0] if reason else 'git failed'})",
            remedy="name a commit or a branch, such as main",
        )
    with tempfile.TemporaryFile() as file:
        file.write(done.stdout)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            archive.extractall(folder, filter="data")
