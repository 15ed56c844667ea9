"""Bring a catalog up to date with a template, without losing a translation."""

import copy
import difflib
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime

import polib

from .catalogs import WIDTH, is_wordless

# How alike an old and a new source text have to be for the old translation to be offered.
_ALIKE = 0.6

_Key = tuple[str | None, str]  # context and text of a message


def update_catalog(
    old: polib.POFile | None, template: polib.POFile, *, language: str
) -> polib.POFile:
    """Return a catalog with the messages of ``template`` and the translations of ``old``.

    A message whose text changed keeps its translation as fuzzy, with the old text beside it. One
    that was removed is kept as obsolete, and revived if its text comes back.
    """
    before = _index(old or ())
    wanted = {_key(entry) for entry in template}
    removed = {key: entry for key, entry in before.items() if key not in wanted}
    carried = [_carry_over(entry, before.get(_key(entry))) for entry in template]
    new_texts = [
        entry for entry in carried if _key(entry) not in before and not _is_translated(entry)
    ]
    revived = _revive_similar(new_texts, removed)
    used = {_key(similar) for similar in revived.values()}
    new = polib.POFile(wrapwidth=WIDTH)
    new.header = old.header if old else ""
    new.metadata = _header(old, template, language)
    for entry in carried:
        similar = revived.get(_key(entry))
        new.append(_offer(entry, similar) if similar else entry)
    new.extend(_keep_obsolete(entry for key, entry in removed.items() if key not in used))
    return new


def _key(entry: polib.POEntry) -> _Key:
    return (entry.msgctxt, entry.msgid)


def _is_translated(entry: polib.POEntry) -> bool:
    return bool(entry.msgstr or any(entry.msgstr_plural.values()))


def _index(entries: Iterable[polib.POEntry]) -> dict[_Key, polib.POEntry]:
    """Return entries by their messages.

    A merge may leave a message twice: the one in use goes before an obsolete one, a finished one
    before a fuzzy one, a translated one before an empty one.
    """
    ordered = sorted(entries, key=lambda e: (bool(e.obsolete), e.fuzzy, not _is_translated(e)))
    index: dict[_Key, polib.POEntry] = {}
    for entry in ordered:
        index.setdefault(_key(entry), entry)
    return index


def _carry_over(message: polib.POEntry, found: polib.POEntry | None) -> polib.POEntry:
    """Return a message of the template with the translation that it has had so far, if any."""
    made = polib.POEntry(
        msgid=message.msgid,
        msgctxt=message.msgctxt,
        msgid_plural=message.msgid_plural,
        comment=message.comment,
        flags=[flag for flag in message.flags if flag != "fuzzy"],
        # No line numbers: they would change with every edit above.
        occurrences=[(file, "") for file in dict.fromkeys(f for f, _ in message.occurrences)],
    )
    if found:
        made = _with_translation(made, found)
        made.previous_msgid = found.previous_msgid
        made.flags = ["fuzzy", *made.flags] if found.fuzzy else made.flags
    elif is_wordless(message.msgid) and not message.msgid_plural:
        made.msgstr = message.msgid
    return made


def _revive_similar(
    messages: Sequence[polib.POEntry], removed: Mapping[_Key, polib.POEntry]
) -> dict[_Key, polib.POEntry]:
    """Return for messages the translated entry that was removed and is most like each.

    Each removed entry is given to one message only, the first one that it is like.
    """
    free = {entry.msgid: entry for entry in removed.values() if _is_translated(entry)}
    pairs = {}
    for message in messages:
        alike = difflib.get_close_matches(message.msgid, free, n=1, cutoff=_ALIKE)
        if alike:
            pairs[_key(message)] = free.pop(alike[0])
    return pairs


def _offer(message: polib.POEntry, similar: polib.POEntry) -> polib.POEntry:
    """Return the message with the translation of a similar one, which a person has to revise."""
    # If the text changed twice, the translation still belongs to the first one.
    previous = (similar.previous_msgid if similar.fuzzy else None) or similar.msgid
    made = _with_translation(message, similar)
    if previous != message.msgid:  # otherwise it has become the first text again
        made.previous_msgid = previous
        made.flags = ["fuzzy", *made.flags]
    return made


def _with_translation(message: polib.POEntry, found: polib.POEntry) -> polib.POEntry:
    made = copy.copy(message)
    made.msgstr = found.msgstr
    made.msgstr_plural = dict(found.msgstr_plural)
    made.tcomment = found.tcomment
    return made


def _keep_obsolete(removed: Iterable[polib.POEntry]) -> list[polib.POEntry]:
    """Return removed entries as obsolete ones, but those that hold no work of a translator."""
    kept = [copy.copy(each) for each in removed if _is_translated(each) or each.tcomment]
    for entry in kept:
        entry.obsolete = True
        entry.previous_msgid = None  # it would not be read back
        entry.occurrences = []
    return kept


def _header(old: polib.POFile | None, template: polib.POFile, language: str) -> dict[str, str]:
    project = template.metadata.get("Project-Id-Version", "").strip() or "PACKAGE"
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M+0000")
    fields = {
        "Project-Id-Version": project,
        "PO-Revision-Date": now,
        "Last-Translator": f"The {project} authors",
        "Language-Team": "none",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    if old:
        # Its date changes with every template, which makes every update a change.
        kept = {name: value.strip() for name, value in old.metadata.items()}
        kept.pop("POT-Creation-Date", None)
        fields = {**kept, **{name: kept.get(name, value) for name, value in fields.items()}}
        fields["Content-Type"] = "text/plain; charset=UTF-8"  # it is written so
    return fields
