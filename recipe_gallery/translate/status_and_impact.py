"""How far catalogs are translated (`status`), and what a change of the sources costs (`impact`)."""

import contextlib
import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

import polib

from ..errors import GalleryError, suggest
from ..languages import Language
from ..project import Project, load_project
from .catalogs import (
    Progress,
    catalog_folder,
    count_words,
    domain_of,
    find_catalogs,
    measure,
    read_catalog,
)
from .extract import make_templates
from .merge import pair_similar

_BAR = 20  # characters
_SHOWN = 30  # messages a page, in a summary that people read
# A line of the header that names a person has an address or a year.
_CREDIT = re.compile(r"^(?P<name>[^<,]+?)\s*(?:<[^>]*>\s*(?:,\s*\d{4}.*)?|,\s*\d{4}.*)$")


@dataclass(frozen=True, kw_only=True)
class CatalogStatus:
    """How far one catalog is."""

    path: Path
    domain: str  # the page, or the name of a catalog of labels
    is_label: bool
    progress: Progress | None = None  # None if the catalog cannot be read
    revised: date | None = None
    translators: tuple[str, ...] = ()


def catalog_status(path: Path, labels: Collection[str]) -> CatalogStatus:
    """Measure one catalog; ``labels`` are the names of those that hold labels."""
    domain = domain_of(path)
    status = CatalogStatus(path=path, domain=domain, is_label=domain in labels)
    try:
        catalog = read_catalog(path)
    except GalleryError:
        return status
    revised = None
    with contextlib.suppress(ValueError):  # it may hold a template's YEAR-MO-DA
        revised = date.fromisoformat(catalog.metadata.get("PO-Revision-Date", "")[:10])
    lines = [line.strip() for line in catalog.header.splitlines()]
    names = [found["name"].strip() for line in lines if (found := _CREDIT.match(line))]
    names.append(catalog.metadata.get("Last-Translator", "").partition("<")[0].strip())
    return replace(
        status,
        progress=measure(catalog),
        revised=revised,
        # FULL NAME, as a template has it, is nobody.
        translators=tuple(dict.fromkeys(name for name in names if name and not name.isupper())),
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
    filled = _BAR * total.percent // 100
    bar = "█" * filled + "░" * (_BAR - filled)
    lines = [f"{language.code}  {language.name}  {bar} {total.percent:>3} %"]
    width = max([len(status.domain) for status in statuses], default=0)
    for status in statuses:
        line = f"  {status.domain:<{width}}  "
        if progress := status.progress:
            left = f"{progress.words_left:>6} words left, {progress.fuzzy:>3} fuzzy"
            names = ", ".join(status.translators)
            line += f"{progress.percent:>3} %  {left}  {status.revised or '-'}  {names}"
        else:
            line += f"cannot be read; run: {suggest('check-po', language.code)}"
        lines.append(line)
    return "\n".join(lines)


@dataclass(frozen=True, kw_only=True)
class PageImpact:
    """The messages of one page that differ."""

    added: list[str]
    removed: list[str]
    changed: list[tuple[str, str]]  # old and new text


def find_impact(project: Project, base: str, templates: Path) -> dict[str, PageImpact]:
    """Compare the messages of the working tree with those of the commit ``base``, page by page."""
    new = make_templates(project, templates)
    with tempfile.TemporaryDirectory() as folder:
        root = _extract_commit(project.root, base, Path(folder))
        old = make_templates(load_project(root), root / "_build/gettext")
    found = {domain: compare(old.get(domain), new.get(domain)) for domain in sorted({*old, *new})}
    return {
        domain: page for domain, page in found.items() if page.added or page.removed or page.changed
    }


def compare(old: polib.POFile | None, new: polib.POFile | None) -> PageImpact:
    """Return how the messages of two templates differ; a new text like an old one is a change."""
    before = {entry.msgid: None for entry in old or ()}  # a set that keeps the order
    after = {entry.msgid: None for entry in new or ()}
    added = [text for text in after if text not in before]
    removed = [text for text in before if text not in after]
    pairs = pair_similar(added, removed)
    return PageImpact(
        added=[text for text in added if text not in pairs],
        removed=[text for text in removed if text not in pairs.values()],
        changed=[(old_text, text) for text, old_text in pairs.items()],
    )


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
        counts = (len(page.added), len(page.changed), len(page.removed), count)
        lines.append(f"| `{domain}` | {' | '.join(map(str, counts))} |")
    names = ", ".join(
        f"{each.name}: {_translated_before(project, each, impact)}" for each in languages
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
        if path.exists():
            texts = {text for pair in page.changed for text in pair}
            count += sum(bool(entry.msgstr) for entry in read_catalog(path) if entry.msgid in texts)
    return count


def _quote(text: str) -> str:
    """Return a text as inline code, whatever it holds."""
    flat = " ".join(text.split())
    fence = "`" * (max(map(len, re.findall("`+", flat)), default=0) + 1)
    return f"{fence} {flat} {fence}"


def _extract_commit(root: Path, commit: str, folder: Path) -> Path:
    """Put the whole repository into a folder, with examples beside ``root``; return its root."""

    def ask(option: str) -> str:
        command = ["git", "-C", str(root), "rev-parse", option]
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()

    top = ask("--show-toplevel") or str(root)
    command = ["git", "-C", top, "archive", "--format=tar", commit]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        remedy = "name a commit or a branch, such as main"
        raise GalleryError(f"no commit {commit!r} here ({reason})", remedy=remedy)
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / ask("--show-prefix")
