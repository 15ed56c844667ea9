"""What a change of English text means for translators: `make translation-impact BASE=main`."""

import difflib
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polib

from ..languages import Language
from ..project import GalleryError
from .catalogs import INTERFACE, catalog_folder, read_catalog
from .update import make_templates

_SHOWN = 30  # messages a page, in a summary that people read


@dataclass(kw_only=True)
class PageImpact:
    """The messages of one page that differ."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[tuple[str, str]] = field(default_factory=list)  # old and new text


def find_impact(root: Path, base: str, templates: Path) -> dict[str, PageImpact]:
    """Compare the messages of the working tree with those of the commit ``base``, page by page."""
    new = make_templates(root, templates)
    with tempfile.TemporaryDirectory() as folder:
        _extract_commit(root, base, Path(folder))
        old = make_templates(Path(folder), Path(folder, "_build/gettext"))
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


def format_impact(root: Path, impact: dict[str, PageImpact], languages: Sequence[Language]) -> str:
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
        count = sum(
            len(text.split()) for text in [*page.added, *(new for _old, new in page.changed)]
        )
        words += count
        lines.append(
            f"| `{domain}` | {len(page.added)} | {len(page.changed)} | {len(page.removed)} "
            f"| {count} |"
        )
    names = ", ".join(
        f"{language.name}: {_translated_before(root, language, impact)}" for language in languages
    )
    lines += [
        "",
        f"{words} words to translate in each language. After `make update-po`, translations of "
        f"changed messages are kept as fuzzy ({names}), and readers see English for them until "
        "they are revised.",
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


def _translated_before(root: Path, language: Language, impact: dict[str, PageImpact]) -> int:
    """Return how many of the changed messages are translated so far."""
    count = 0
    for domain, page in impact.items():
        path = catalog_folder(root / "locale", language.code) / f"{domain}.po"
        if not path.exists() or domain in INTERFACE:
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
            f"no commit {commit!r} here ({reason[0] if reason else 'git failed'}); "
            "for example: make translation-impact BASE=main"
        )
    with tempfile.TemporaryFile() as file:
        file.write(done.stdout)
        file.seek(0)
        with tarfile.open(fileobj=file) as archive:
            archive.extractall(folder, filter="data")
