"""Bring the catalogs of a project up to date with its sources: `make update-po`.

A text that moved keeps its translation, whichever catalog holds it, even as obsolete. Where
catalogs translate the text differently, the message becomes fuzzy, so that a person chooses. A text
that changed gets the translation of the old text as fuzzy, with the old text beside it.
"""

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path

import polib

from ..languages import Language
from ..project import Project
from .catalogs import (
    WIDTH,
    Kind,
    count_words,
    find_catalogs,
    is_wordless,
    read_catalog,
    write_catalog,
)
from .checks import examine
from .glossary import load_glossary
from .pot import make_pots, shipped_translations, write_pots
from .style_checks import find_advice

# The outcomes of messages that had no finished translation in their catalog
REUSED = "taken from other catalogs"
KEPT = "kept, since only punctuation changed"
FUZZY = "to revise (fuzzy)"
NEW = "new"
# Header fields that programs write about themselves, and plural forms, which no message has: with
# them, a file would change with each program that saves it.
_DROPPED_FIELDS = {
    "POT-Creation-Date",
    "X-Generator",
    "Report-Msgid-Bugs-To",
    "Generated-By",
    "Plural-Forms",
}
_IN_BACKTICKS = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)
# Marks between words that a writer may exchange without changing the meaning, and the letter after
# them, which is a capital if a sentence begins there
_MARKS = re.compile(r"(?:[,;.–—](?=\s)|(?<=\s)-{1,3}(?=\s))\s*(\w?)")
# The share of words that a message must have in common with another text to get its translation
_CUTOFF_OF_REMOVED_TEXTS = 0.6
_CUTOFF_OF_TEXTS = 0.8

Outcomes = dict[str, dict[str, str]]  # by catalog and message


def update_catalogs(
    project: Project, languages: Sequence[Language], folder: Path
) -> tuple[list[Path], list[str]]:
    """Update or create the catalogs of ``languages`` and the templates beside them.

    The gettext builder writes into ``folder``. Returns the files that changed, and a line for each
    catalog with the outcomes of its messages. The catalog of a removed page keeps the translations
    that no other catalog has in use, until a person removes the file.

    Raises ``GalleryError`` if the messages cannot be extracted or a catalog cannot be read.
    """
    templates = make_pots(project, folder)
    changed_files = write_pots(project, templates)
    report: list[str] = []
    for language in languages:
        paths = find_catalogs(project, language.code, templates)
        old_catalogs = {}
        for domain, path in paths.items():
            if path.exists():
                old_catalogs[domain] = read_catalog(path)
        shipped = _leave_out_faulty(shipped_translations(project, language), project, language)
        catalogs, outcomes = plan_update(
            old_catalogs, templates, language=language.code, shipped=shipped
        )
        for domain, catalog in catalogs.items():
            if write_catalog(paths[domain], catalog):
                changed_files.append(paths[domain])
        report += [f"{language.code} {line}" for line in describe_update(outcomes)]
    return changed_files, report


def _leave_out_faulty(
    shipped: Sequence[polib.POEntry], project: Project, language: Language
) -> list[polib.POEntry]:
    """Return the translations that `check-po` accepts: of others, no translator is the author."""
    glossary = load_glossary(project.locale)
    advice = find_advice(project.locale, language.code)
    accepted = []
    for entry in shipped:
        kinds = {entry.msgid: {Kind.LABEL}}
        problems = examine(Path(), [entry], kinds, language, glossary=glossary, advice=advice)
        if not any(problems):
            accepted.append(entry)
    return accepted


def describe_update(outcomes: Outcomes) -> list[str]:
    """Return a line for each catalog in ``outcomes``, with the number of messages by outcome."""
    lines = []
    for domain, outcome_by_text in outcomes.items():
        counts = Counter(outcome_by_text.values())
        parts = []
        for outcome in (REUSED, KEPT, FUZZY, NEW):
            if counts[outcome]:
                parts.append(f"{counts[outcome]} {outcome}")
        line = f"{domain}: {', '.join(parts)}"
        word_count = 0
        for text, outcome in outcome_by_text.items():
            if outcome in (FUZZY, NEW):
                word_count += count_words(text)
        if word_count:
            line += f"; {word_count} words to translate"
        lines.append(line)
    return lines


def plan_update(
    catalogs: Mapping[str, polib.POFile],
    templates: Mapping[str, polib.POFile],
    *,
    language: str,
    shipped: Iterable[polib.POEntry] = (),
) -> tuple[dict[str, polib.POFile], Outcomes]:
    """Return the updated catalogs of a language, and the outcomes of their messages.

    Catalogs and templates are keyed by domain: the name of a page or a package. A message that no
    template has is kept as obsolete, unless another catalog has its translation in use. ``shipped``
    are the translations of labels that Sphinx, the theme and the engine bring along.
    """
    texts_in_use = {entry.msgid for entry in chain.from_iterable(templates.values())}
    own_entries = list(chain.from_iterable(catalogs.values()))
    shipped_in_use = [entry for entry in shipped if entry.msgid in texts_in_use]
    memory = remember([*own_entries, *shipped_in_use])
    disputed = find_disputed(own_entries)

    new_catalogs: dict[str, polib.POFile] = {}
    outcomes: Outcomes = {}
    removed_pages = sorted(catalogs.keys() - templates.keys())
    for domain in [*templates, *removed_pages]:
        old = catalogs.get(domain)
        template = templates.get(domain, polib.POFile())
        if old is None and not template:
            continue
        new_catalogs[domain], catalog_outcomes = merge(
            old, template, memory, texts_in_use, language=language, disputed=disputed
        )
        if catalog_outcomes:
            outcomes[domain] = catalog_outcomes
    _drop_moved(new_catalogs.values())
    return new_catalogs, outcomes


def _drop_moved(catalogs: Collection[polib.POFile]) -> None:
    """Remove the obsolete messages whose translation a catalog has in use."""
    translations_in_use = set()
    for catalog in catalogs:
        for entry in catalog.translated_entries():
            translations_in_use.add((entry.msgid, entry.msgstr))
    for catalog in catalogs:
        kept_entries = []
        for entry in catalog:
            has_moved = entry.obsolete and (entry.msgid, entry.msgstr) in translations_in_use
            if not has_moved:
                kept_entries.append(entry)
        catalog[:] = kept_entries


def find_disputed(entries: Iterable[polib.POEntry]) -> set[str]:
    """Return the texts that have several different finished translations in use."""
    translations: dict[str, set[str]] = defaultdict(set)
    for entry in entries:
        if entry.translated() and not entry.obsolete:
            translations[entry.msgid].add(entry.msgstr)
    return {text for text, variants in translations.items() if len(variants) > 1}


def remember(entries: Iterable[polib.POEntry]) -> dict[str, polib.POEntry]:
    """Return the memory of a language: the entry with the best translation of each text.

    A finished translation is better than a fuzzy one, and one in use better than an obsolete one.
    The key is the text that was translated: for a fuzzy entry the older text, if it has one.
    """
    usable = [entry for entry in entries if _is_usable(entry)]
    usable.sort(key=lambda entry: (entry.fuzzy, bool(entry.obsolete)))
    memory: dict[str, polib.POEntry] = {}
    for entry in usable:
        memory.setdefault(_translated_text(entry), entry)
    return memory


def _is_usable(entry: polib.POEntry) -> bool:
    """Return whether the translation of an entry may serve another message."""
    if not entry.msgid or not entry.msgstr or entry.msgid_plural:
        return False
    # A lone literal resembles others only by chance.
    is_copied_literal = entry.msgstr == entry.msgid and is_wordless(entry.msgid)
    return not is_copied_literal


def _translated_text(entry: polib.POEntry) -> str:
    """Return the text that the translation of an entry was made for."""
    if entry.fuzzy and entry.previous_msgid:
        return entry.previous_msgid
    return entry.msgid


def merge(
    old: polib.POFile | None,
    template: polib.POFile,
    memory: Mapping[str, polib.POEntry],
    texts_in_use: Collection[str],
    *,
    language: str,
    disputed: Collection[str] = (),
) -> tuple[polib.POFile, dict[str, str]]:
    """Return a catalog with the messages of a template and their translations.

    The second value holds the outcome of each message that had no finished translation in ``old``,
    except those that stay empty. ``memory`` is that of the language (``remember``),
    ``texts_in_use`` are the texts that templates have now, and ``disputed`` the texts that catalogs
    translate differently.
    """
    old_entries = _unique_entries(old)
    removed_texts = [text for text, entry in memory.items() if entry.msgid not in texts_in_use]
    template_texts = {message.msgid for message in template}
    obsolete_entries = {}
    for text, entry in old_entries.items():
        if text not in template_texts:
            obsolete_entries[text] = entry
    catalog = polib.POFile(wrapwidth=WIDTH)
    catalog.header = old.header if old is not None else ""
    catalog.metadata = _header(old, template, language)
    outcomes: dict[str, str] = {}
    for message in template:
        text = message.msgid
        entry = _carry_over(message, old_entries.get(text))
        catalog.append(entry)
        if _is_settled(entry):
            continue

        remembered = memory.get(text)
        if remembered is not None and not remembered.fuzzy:
            outcomes[text] = _reuse(entry, remembered, is_disputed=text in disputed)
            continue
        if entry.msgstr:
            continue  # fuzzy since its text changed, and still to revise

        similar_text = most_alike(text, removed_texts, _CUTOFF_OF_REMOVED_TEXTS)
        if similar_text is None:
            similar_text = most_alike(text, memory, _CUTOFF_OF_TEXTS)
        if similar_text is None:
            if text not in old_entries:
                outcomes[text] = NEW
        else:
            similar = memory[similar_text]
            outcomes[text] = _offer(entry, similar, similar_text)
            obsolete_entries.pop(similar.msgid, None)  # its translation has moved to this message

    for _text, entry in sorted(obsolete_entries.items()):  # in an order that every tool keeps
        if entry.msgstr or entry.tcomment:  # the work of a translator
            entry.obsolete = True
            entry.occurrences = []
            entry.previous_msgid = None
            catalog.append(entry)
    return catalog, outcomes


def _is_settled(entry: polib.POEntry) -> bool:
    """Return whether an entry has a translation that an update leaves alone.

    It is finished, or a person marked it as fuzzy, in doubt of it. An update notes the former text
    with what it marks, and may find something better for it later.
    """
    if not entry.msgstr:
        return False
    is_marked_by_update = entry.fuzzy and entry.previous_msgid
    return not is_marked_by_update


def _unique_entries(catalog: polib.POFile | None) -> dict[str, polib.POEntry]:
    """Return the entries of a catalog by text; if a text occurs twice, the better entry.

    Version control can duplicate a message when it merges branches. An entry in use is better than
    an obsolete one, then a finished one than a fuzzy one, then a filled one than an empty one.
    """

    def defects(entry: polib.POEntry) -> tuple[bool, bool, bool]:
        return bool(entry.obsolete), entry.fuzzy, not entry.msgstr

    best_first = sorted(catalog or (), key=defects)
    entries: dict[str, polib.POEntry] = {}
    for entry in best_first:
        entries.setdefault(entry.msgid, entry)
    return entries


def _carry_over(message: polib.POEntry, old: polib.POEntry | None) -> polib.POEntry:
    """Return an entry for a message of the template, with the translation of its old entry."""
    entry = polib.POEntry(
        msgid=message.msgid,
        comment=message.comment,
        flags=[flag for flag in message.flags if flag != "fuzzy"],
        occurrences=message.occurrences,
    )
    if old is not None:
        # Messages have no plural forms; if a tool added them, the first is the translation.
        entry.msgstr = old.msgstr or old.msgstr_plural.get(0, "")
        entry.tcomment = old.tcomment
        if old.fuzzy:
            entry.previous_msgid = old.previous_msgid
            entry.flags.insert(0, "fuzzy")
    elif is_wordless(message.msgid):
        entry.msgstr = message.msgid
    return entry


def _reuse(entry: polib.POEntry, finished: polib.POEntry, *, is_disputed: bool) -> str:
    """Give an entry the finished translation of the same text; return the outcome.

    A disputed translation becomes fuzzy: what a label of one word means depends on its page.
    """
    entry.msgstr = finished.msgstr
    entry.tcomment = entry.tcomment or finished.tcomment
    entry.previous_msgid = None
    entry.flags = [flag for flag in entry.flags if flag != "fuzzy"]
    if is_disputed:
        entry.flags.insert(0, "fuzzy")
        return FUZZY
    return REUSED


def most_alike(text: str, candidates: Iterable[str], cutoff: float) -> str | None:
    """Return the candidate that has most words in common with a text.

    Returns None if no candidate reaches ``cutoff``, the smallest share of common words (0 to 1).
    """
    # difflib compares sequences of anything: texts by letters, tuples of words by words.
    candidate_by_words = {tuple(candidate.split()): candidate for candidate in candidates}
    words = tuple(text.split())
    closest = difflib.get_close_matches(words, candidate_by_words, n=1, cutoff=cutoff)
    if not closest:
        return None
    return candidate_by_words[tuple(closest[0])]


def _offer(entry: polib.POEntry, similar: polib.POEntry, similar_text: str) -> str:
    """Give an entry the translation of a similar text; return the outcome.

    A person has to revise the translation if the words of the two texts differ.
    """
    entry.msgstr = similar.msgstr
    entry.tcomment = entry.tcomment or similar.tcomment
    is_doubted = similar.fuzzy and not similar.previous_msgid
    if not is_doubted and differ_in_marks_only(similar_text, entry.msgid):
        return KEPT
    entry.previous_msgid = similar_text
    entry.flags.insert(0, "fuzzy")
    return FUZZY


def differ_in_marks_only(one: str, other: str) -> bool:
    """Return whether two texts have the same words and end alike, whatever commas lie between.

    A translation of one then serves the other: each language has rules of its own for such marks.
    """
    return one[-1:] == other[-1:] and _without_marks(one) == _without_marks(other)


def _without_marks(text: str) -> str:
    """Return a text without the marks between its words; parts in backticks are unchanged."""
    parts = _IN_BACKTICKS.split(text)
    for number in range(0, len(parts), 2):  # every second part stands in backticks
        parts[number] = _MARKS.sub(lambda match: f" {match[1].lower()}", parts[number])
    return " ".join("".join(parts).split())


def _header(old: polib.POFile | None, template: polib.POFile, language: str) -> dict[str, str]:
    """Return the header fields of a catalog: those of its old version, completed by defaults."""
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
    if old is not None:
        for name, value in old.metadata.items():
            if name not in _DROPPED_FIELDS and name != "Content-Type":
                fields[name] = value.strip()
    return fields
