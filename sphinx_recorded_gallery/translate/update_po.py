"""Bring the catalogs of a project up to date with its sources: `make update-po`.

A text that moved takes its translation with it, from whichever catalog has it, also from what was
put away as obsolete. Where catalogs translate it differently, it is fuzzy: a person chooses. A text
that changed takes the translation of the old one as fuzzy, with the old text beside it.
"""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import polib

from ..languages import Language
from ..project import Project
from .catalogs import WIDTH, count_words, find_catalogs, is_wordless, read_catalog, write_catalog
from .pot import make_pots, shipped_translations, write_pots

# What became of a message that had no finished translation in its catalog
REUSED = "taken from other catalogs"
KEPT = "kept, since only punctuation changed"
FUZZY = "to revise (fuzzy)"
NEW = "new"
# What programs write about themselves, and plural forms, which no message has: with them, a file
# would change with each program that saves it.
_NOT_KEPT = {"POT-Creation-Date", "X-Generator", "Report-Msgid-Bugs-To", "Generated-By"}
_NOT_KEPT |= {"Plural-Forms"}
_IN_BACKTICKS = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)
# Between words, marks that a writer may exchange and say the same; a sentence may begin behind them
_MARKS = re.compile(r"(?:[,;.–—](?=\s)|(?<=\s)-{1,3}(?=\s))\s*(\w?)")


def update_catalogs(
    project: Project, languages: Sequence[Language], folder: Path
) -> tuple[list[Path], list[str]]:
    """Update or create the catalogs of ``languages``, and the templates beside them.

    ``folder`` is for what the gettext builder makes. Returns the files that changed, and lines on
    what became of messages. The catalog of a page that is gone keeps its translations until a
    person removes it, but for those that another one has in use.
    """
    pots = make_pots(project, folder)
    changed, told = write_pots(project, pots), []
    for language in languages:
        code = language.code
        paths = find_catalogs(project, code, pots)
        olds = {domain: read_catalog(path) for domain, path in paths.items() if path.exists()}
        shipped = shipped_translations(project, language)
        catalogs, outcomes = plan_update(olds, pots, language=code, shipped=shipped)
        changed += [paths[name] for name in catalogs if write_catalog(paths[name], catalogs[name])]
        told += [f"{code} {line}" for line in describe_update(outcomes)]
    return changed, told


Outcomes = dict[str, dict[str, str]]  # by catalog and message


def describe_update(outcomes: Outcomes) -> list[str]:
    """Return a line for each catalog about which there is something to say."""
    lines = []
    for domain, found in outcomes.items():
        counts = Counter(found.values())
        told = [f"{counts[each]} {each}" for each in (REUSED, KEPT, FUZZY, NEW) if counts[each]]
        to_do = [text for text, each in found.items() if each in (FUZZY, NEW)]
        words = f"; {sum(map(count_words, to_do))} words to translate" if to_do else ""
        lines.append(f"{domain}: {', '.join(told)}{words}")
    return lines


def plan_update(
    catalogs: Mapping[str, polib.POFile],
    templates: Mapping[str, polib.POFile],
    *,
    language: str,
    shipped: Iterable[polib.POEntry] = (),
) -> tuple[dict[str, polib.POFile], Outcomes]:
    """Update the catalogs of a language from templates, all by the names of their pages.

    What no page has any more is kept as obsolete, unless another catalog has it in use. Of labels
    that are new, ``shipped`` are the translations that others have made.
    """
    in_use = {entry.msgid for template in templates.values() for entry in template}
    own = [entry for catalog in catalogs.values() for entry in catalog]
    disputed = find_disputed(own)
    known = remember([*own, *(entry for entry in shipped if entry.msgid in in_use)])
    made: dict[str, polib.POFile] = {}
    outcomes: Outcomes = {}
    for domain in [*templates, *sorted(catalogs.keys() - templates.keys())]:
        old, template = catalogs.get(domain), templates.get(domain, polib.POFile())
        if old is not None or template:
            made[domain], outcome = merge(
                old, template, known, in_use, language=language, disputed=disputed
            )
            outcomes |= {domain: outcome} if outcome else {}
    live = {(e.msgid, e.msgstr) for each in made.values() for e in each.translated_entries()}
    for catalog in made.values():
        catalog[:] = [e for e in catalog if not e.obsolete or (e.msgid, e.msgstr) not in live]
    return made, outcomes


def find_disputed(entries: Iterable[polib.POEntry]) -> set[str]:
    """Return the texts of which there are several finished translations in use."""
    translations: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.translated() and not entry.obsolete:
            translations[entry.msgid].add(entry.msgstr)
    return {text for text, different in translations.items() if len(different) > 1}


def remember(entries: Iterable[polib.POEntry]) -> dict[str, polib.POEntry]:
    """Return the best translation of each text: finished before fuzzy, in use before obsolete.

    The key is the text that it is a translation of, which may be older than its message.
    """
    usable = [
        entry
        for entry in entries
        if entry.msgid
        and entry.msgstr
        and not entry.msgid_plural
        # a literal that stands alone resembles others by chance
        and not (entry.msgstr == entry.msgid and is_wordless(entry.msgid))
    ]
    known: dict[str, polib.POEntry] = {}
    for entry in sorted(usable, key=lambda each: (each.fuzzy, bool(each.obsolete))):
        known.setdefault((entry.previous_msgid if entry.fuzzy else None) or entry.msgid, entry)
    return known


def merge(
    old: polib.POFile | None,
    template: polib.POFile,
    known: Mapping[str, polib.POEntry],
    in_use: Collection[str],
    *,
    language: str,
    disputed: Collection[str] = (),
) -> tuple[polib.POFile, dict[str, str]]:
    """Return a catalog with the messages of a template and the translations that there are.

    With it stands what became of the messages that it did not translate before. ``known`` is the
    memory of the language, ``in_use`` are the texts that pages have now, ``disputed`` those that
    catalogs translate differently.
    """
    before: dict[str, polib.POEntry] = {}
    # Of a message that a merge doubled: in use before obsolete, finished before fuzzy and empty
    for entry in sorted(old or (), key=lambda e: (bool(e.obsolete), e.fuzzy, not e.msgstr)):
        before.setdefault(entry.msgid, entry)
    new = polib.POFile(wrapwidth=WIDTH)
    new.header = old.header if old is not None else ""
    new.metadata = _header(old, template, language)
    wanted = {entry.msgid for entry in template}
    removed = {text: entry for text, entry in before.items() if text not in wanted}
    outcomes: dict[str, str] = {}
    for message in template:
        entry = _carry_over(message, before.get(message.msgid))
        new.append(entry)
        if entry.msgstr and not (entry.fuzzy and entry.previous_msgid):
            continue  # fuzzy without an older text is what a person doubts
        found = known.get(entry.msgid)
        if found and not found.fuzzy and found.msgid == entry.msgid:
            entry.msgstr, entry.tcomment = found.msgstr, entry.tcomment or found.tcomment
            entry.previous_msgid, entry.flags = None, [f for f in entry.flags if f != "fuzzy"]
            outcomes[entry.msgid] = REUSED
            if entry.msgid in disputed:  # a label of one word depends on its page
                entry.flags = ["fuzzy", *entry.flags]
                outcomes[entry.msgid] = FUZZY
        elif not entry.msgstr:
            gone = {text for text, each in known.items() if each.msgid not in in_use}
            similar = most_alike(entry.msgid, gone, 0.6) or most_alike(entry.msgid, known, 0.8)
            outcome = _offer(entry, known[similar], similar) if similar else NEW
            removed.pop(known[similar].msgid if similar else "", None)
            if outcome is not NEW or entry.msgid not in before:  # else it waits already
                outcomes[entry.msgid] = outcome
    for _text, entry in sorted(removed.items()):  # in one order, whatever a tool has made of it
        if entry.msgstr or entry.tcomment:  # the work of a translator
            entry.obsolete, entry.occurrences, entry.previous_msgid = True, [], None
            new.append(entry)
    return new, outcomes


def _carry_over(message: polib.POEntry, found: polib.POEntry | None) -> polib.POEntry:
    """Return a message of the template with the translation that it has had so far, if any."""
    made = polib.POEntry(
        msgid=message.msgid,
        comment=message.comment,
        flags=[flag for flag in message.flags if flag != "fuzzy"],
        occurrences=message.occurrences,
    )
    if found:
        # Plural forms, which no message has, may be a tool's; the first is what was written.
        made.msgstr, made.tcomment = found.msgstr or found.msgstr_plural.get(0, ""), found.tcomment
        made.previous_msgid = found.previous_msgid if found.fuzzy else None
        made.flags = ["fuzzy", *made.flags] if found.fuzzy else made.flags
    elif is_wordless(message.msgid):
        made.msgstr = message.msgid
    return made


def most_alike(text: str, known: Iterable[str], alike: float) -> str | None:
    """Return the known text that has most words in common with another, if these are enough."""
    words = {tuple(each.split()): each for each in known}
    found = difflib.get_close_matches(tuple(text.split()), words, n=1, cutoff=alike)
    return words[tuple(found[0])] if found else None


def _offer(message: polib.POEntry, similar: polib.POEntry, of: str) -> str:
    """Give a message the translation of a similar text, for a person to revise if words differ."""
    message.msgstr, message.tcomment = similar.msgstr, message.tcomment or similar.tcomment
    doubted = similar.fuzzy and not similar.previous_msgid
    if not doubted and differ_in_marks_only(of, message.msgid):
        return KEPT
    message.previous_msgid, message.flags = of, ["fuzzy", *message.flags]
    return FUZZY


def differ_in_marks_only(one: str, other: str) -> bool:
    """Tell whether two texts have the same words and end alike, whatever commas stand between.

    A translation of one is one of the other then: languages set these marks by rules of their own.
    """
    return one[-1:] == other[-1:] and _unmarked(one) == _unmarked(other)


def _unmarked(text: str) -> str:
    parts = _IN_BACKTICKS.split(text)
    parts[::2] = [_MARKS.sub(lambda found: f" {found[1].lower()}", part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def _header(old: polib.POFile | None, template: polib.POFile, language: str) -> dict[str, str]:
    fields = {
        "Project-Id-Version": template.metadata.get("Project-Id-Version", "").strip() or "PACKAGE",
        # as msginit leaves them: nobody has translated anything yet
        "PO-Revision-Date": "YEAR-MO-DA HO:MI+ZONE",
        "Last-Translator": "FULL NAME <EMAIL@ADDRESS>",
        "Language-Team": "none",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    had = old.metadata.items() if old is not None else ()
    kept = {name: value.strip() for name, value in had if name not in _NOT_KEPT}
    return {**fields, **kept, "Content-Type": fields["Content-Type"]}
