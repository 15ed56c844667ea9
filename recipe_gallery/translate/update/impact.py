"""What a change of the sources means for translators: `make translation-impact`."""

import io
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polib

from ...errors import GalleryError, suggest
from ...languages import Language
from ...project import Project, load_project
from ..catalogs import count_words
from ..templates.extract import make_templates
from .merge import Outcome
from .plan import plan_update
from .update import plan_language

_SHOWN = 30  # messages a page, in a summary that people read


@dataclass(frozen=True, kw_only=True)
class PageImpact:
    """The messages of one page that differ, supposed that all were translated before."""

    added: list[str]
    changed: list[tuple[str, str]]  # old and new text
    removed: list[str]
    free: list[str] = field(default_factory=list)  # moved, or other punctuation: nothing to do

    @property
    def to_do(self) -> set[str]:
        """The messages that a translator has to look at."""
        return {*self.added, *(new for _old, new in self.changed)}


@dataclass(frozen=True, kw_only=True)
class Impact:
    """What an update would make of a change."""

    pages: dict[str, PageImpact]
    fuzzy: dict[str, int]  # translations to be revised, by language

    @property
    def words(self) -> int:
        """Words to translate in each language; a text on several pages counts once."""
        return sum(map(count_words, set().union(*(page.to_do for page in self.pages.values()))))


def find_impact(
    project: Project, base: str, templates: Path, languages: Sequence[Language]
) -> Impact:
    """Compare the messages of the working tree with those of the commit ``base``.

    The catalogs are those of that commit, too: here some may be updated already.
    """
    new = make_templates(project, templates)
    with tempfile.TemporaryDirectory() as folder:
        root = _extract_commit(project.root, base, Path(folder))
        before = load_project(root)
        pages = compare(make_templates(before, root / "_build/gettext"), new)
        fuzzy = {}
        for language in languages:
            outcomes = plan_language(before, new, language.code)[1].outcomes
            fuzzy[language.code] = sum(
                outcomes.get(domain, {}).get(text) is Outcome.FUZZY
                for domain, page in pages.items()
                for text in page.to_do
            )
    return Impact(pages=pages, fuzzy=fuzzy)


def compare(
    old: Mapping[str, polib.POFile], new: Mapping[str, polib.POFile]
) -> dict[str, PageImpact]:
    """Return how the messages of templates differ, as an update of a whole translation tells it."""
    whole = {}
    for domain, template in old.items():
        whole[domain] = polib.POFile()
        whole[domain].extend(  # the comment tells of which text a translation was made
            polib.POEntry(msgid=e.msgid, msgstr=e.msgid, tcomment=e.msgid) for e in template
        )
    plan = plan_update(whole, new, language="")
    in_use = {entry.msgid for template in new.values() for entry in template}
    sources = {
        entry.tcomment
        for domain, outcomes in plan.outcomes.items()
        for entry in plan.catalogs.get(domain, ())
        if entry.msgid in outcomes
    }
    found = {}
    for domain in sorted({*old, *new}):
        outcomes = plan.outcomes.get(domain, {})
        catalog = {entry.msgid: entry for entry in plan.catalogs.get(domain, ())}
        changed = [
            (str(catalog[text].previous_msgid), text)
            for text, outcome in outcomes.items()
            if outcome is Outcome.FUZZY
        ]
        page = PageImpact(
            added=[text for text, outcome in outcomes.items() if outcome is Outcome.NEW],
            changed=changed,
            removed=[
                entry.msgid for entry in old.get(domain, ()) if entry.msgid not in in_use | sources
            ],
            free=[t for t, each in outcomes.items() if each in (Outcome.REUSED, Outcome.KEPT)],
        )
        if page.to_do or page.removed or page.free:
            found[domain] = page
    return found


def format_impact(impact: Impact, languages: Sequence[Language]) -> str:
    """Return the comparison in Markdown, fit for a comment on a pull request."""
    if not impact.pages:
        return "No message that translators see has changed."
    lines = [
        "### What this change means for translations",
        "",
        "| Page | New | Changed | Moved or kept | Removed | Words to translate |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for domain, page in impact.pages.items():
        counts = [len(each) for each in (page.added, page.changed, page.free, page.removed)]
        counts.append(sum(map(count_words, page.to_do)))
        lines.append(f"| `{domain}` | {' | '.join(map(str, counts))} |")
    names = ", ".join(f"{each.name}: {impact.fuzzy[each.code]}" for each in languages)
    lines += [
        "",
        f"{impact.words} words to translate in each language; the same text on several pages "
        f"counts once. After `{suggest('update-po')}`, "
        f"translations of changed messages are kept as fuzzy ({names}), and readers see English "
        "for them until they are revised.",
    ]
    for domain, page in impact.pages.items():
        lines += ["", f"<details><summary><code>{domain}</code></summary>", ""]
        shown = [
            *(f"- changed: {_quote(old)}\n  now: {_quote(new)}" for old, new in page.changed),
            *(f"- new: {_quote(text)}" for text in page.added),
            *(f"- moved or kept: {_quote(text)}" for text in page.free),
            *(f"- removed: {_quote(text)}" for text in page.removed),
        ]
        lines += shown[:_SHOWN]
        if len(shown) > _SHOWN:
            lines.append(f"- and {len(shown) - _SHOWN} more")
        lines += ["", "</details>"]
    return "\n".join(lines)


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
