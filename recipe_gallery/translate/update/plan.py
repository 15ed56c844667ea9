"""Update all catalogs of a language together: a text that moved takes its translation with it."""

from collections.abc import Mapping
from dataclasses import dataclass

import polib

from ..catalogs import count_words
from .memory import Memory
from .merge import Outcome, merge

# Which part of a new page's words an old one has to have, for the page to be the old one renamed
_SAME_PAGE = 0.5


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What an update makes of the catalogs of one language, by their names."""

    catalogs: dict[str, polib.POFile]
    outcomes: dict[str, dict[str, Outcome]]  # by catalog and message
    renamed: dict[str, str]  # new name and old name
    emptied: list[str]  # catalogs that nobody needs any more: all that they had is in others

    def describe(self) -> list[str]:
        """Return a line for each catalog about which there is something to say."""
        lines = []
        for domain in self.catalogs:
            outcomes = self.outcomes.get(domain, {})
            parts = [f"renamed from {self.renamed[domain]}"] if domain in self.renamed else []
            for outcome in Outcome:
                texts = [text for text, each in outcomes.items() if each is outcome]
                words = f" ({sum(map(count_words, texts))} words)"
                to_do = outcome in (Outcome.NEW, Outcome.FUZZY)
                if texts:
                    parts.append(f"{len(texts)} {outcome.value}{words if to_do else ''}")
            if parts:
                lines.append(f"{domain}: {', '.join(parts)}")
        gone = set(self.emptied) - set(self.renamed.values())
        lines += [f"{name}: removed, nothing in it is needed any more" for name in sorted(gone)]
        return lines


def plan_update(
    catalogs: Mapping[str, polib.POFile], templates: Mapping[str, polib.POFile], *, language: str
) -> Plan:
    """Update the catalogs of a language from templates, all by the names of their pages.

    The catalog of a page that is gone becomes that of a new page which has most of its text. What
    else nobody needs is kept as obsolete, unless another catalog has it in use.
    """
    renamed = _find_renamed(catalogs, templates)
    gone = catalogs.keys() - templates.keys() - set(renamed.values())
    in_use = {entry.msgid for template in templates.values() for entry in template}
    memory = Memory(catalogs, in_use)
    made: dict[str, polib.POFile] = {}
    outcomes: dict[str, dict[str, Outcome]] = {}
    for domain in [*templates, *sorted(gone)]:
        old = catalogs.get(renamed.get(domain, domain))
        template = templates.get(domain, polib.POFile())
        if old is not None or template:
            made[domain], outcomes[domain] = merge(old, template, memory, language=language)
    live = {
        (entry.msgid, entry.msgstr)
        for catalog in made.values()
        for entry in catalog
        if not entry.obsolete and not entry.fuzzy and entry.msgstr
    }
    for catalog in made.values():
        catalog[:] = [e for e in catalog if not e.obsolete or (e.msgid, e.msgstr) not in live]
    emptied = sorted(domain for domain in gone if not made[domain] and catalogs[domain])
    return Plan(
        catalogs={domain: each for domain, each in made.items() if domain not in emptied},
        outcomes={domain: each for domain, each in outcomes.items() if each},
        renamed=renamed,
        emptied=[*emptied, *sorted(renamed.values())],
    )


def _find_renamed(
    catalogs: Mapping[str, polib.POFile], templates: Mapping[str, polib.POFile]
) -> dict[str, str]:
    """Return which new pages are old ones under another name."""
    gone = {
        domain: {entry.msgid for entry in catalogs[domain] if entry.msgstr}
        for domain in sorted(catalogs.keys() - templates.keys())
    }
    shares = []
    for domain in sorted(templates.keys() - catalogs.keys()):
        texts = {entry.msgid for entry in templates[domain]}
        words = sum(map(count_words, texts)) or 1
        for old, known in gone.items():
            shares.append((sum(map(count_words, texts & known)) / words, domain, old))
    renamed: dict[str, str] = {}
    for share, domain, old in sorted(shares, reverse=True):
        if share >= _SAME_PAGE and domain not in renamed and old not in renamed.values():
            renamed[domain] = old
    return renamed
