"""Bring a catalog up to date with a template, without losing a translation."""

from enum import Enum

import polib

from ..catalogs import WIDTH, is_wordless
from ..similar import differ_in_marks_only, follow_targets
from .memory import Memory

# What programs write about themselves, and plural forms, which no message has: with them, a file
# would change with each program that saves it.
_NOT_KEPT = (
    "POT-Creation-Date",
    "X-Generator",
    "Report-Msgid-Bugs-To",
    "Generated-By",
    "Plural-Forms",
)


class Outcome(Enum):
    """What became of a message that had no finished translation in its catalog."""

    REUSED = "taken from other catalogs"
    KEPT = "kept, since only punctuation or targets of links changed"
    FUZZY = "to revise (fuzzy)"
    NEW = "new"


def merge(
    old: polib.POFile | None, template: polib.POFile, memory: Memory, *, language: str
) -> tuple[polib.POFile, dict[str, Outcome]]:
    """Return a catalog with the messages of ``template`` and the translations that there are.

    With it stands what became of the messages that it did not translate before.

    A message that its catalog does not translate takes the translation that another one has of the
    same text; of a similar text, and of its own one before it changed, as fuzzy, with that text
    beside it. One that was removed is kept as obsolete, and revived if its text comes back.
    """
    before: dict[str, polib.POEntry] = {}
    # A merge may leave a message twice: the one in use goes before an obsolete one, a finished one
    # before a fuzzy one, a translated one before an empty one.
    for entry in sorted(old or (), key=lambda e: (bool(e.obsolete), e.fuzzy, not e.msgstr)):
        before.setdefault(entry.msgid, entry)
    new = polib.POFile(wrapwidth=WIDTH)
    new.header = old.header if old is not None else ""
    new.metadata = _header(old, template, language)
    messages = {each.msgid: _carry_over(each, before.get(each.msgid)) for each in template}
    removed = {text: entry for text, entry in before.items() if text not in messages}
    outcomes = _fill(messages, memory, removed)
    for text in [text for text in outcomes if outcomes[text] is Outcome.NEW and text in before]:
        del outcomes[text]  # it waits since an earlier update
    new.extend(messages.values())
    new.extend(
        polib.POEntry(
            msgid=entry.msgid,
            msgstr=entry.msgstr,
            comment=entry.comment,
            tcomment=entry.tcomment,
            flags=entry.flags,
            obsolete=True,
        )
        # in one order, whatever a tool has made of it
        for _text, entry in sorted(removed.items())
        if entry.msgstr or entry.tcomment  # the work of a translator
    )
    return new, outcomes


def _fill(
    messages: dict[str, polib.POEntry], memory: Memory, removed: dict[str, polib.POEntry]
) -> dict[str, Outcome]:
    """Give messages without a finished translation what is known; tell what became of each.

    What is used of ``removed``, the messages that their page has no longer, is taken from there.
    """
    outcomes: dict[str, Outcome] = {}
    waiting = []
    for text, message in messages.items():
        # Fuzzy without an older text is what a person doubts.
        if message.msgstr and not (message.fuzzy and message.previous_msgid):
            continue
        found = memory.find(text)
        if found:
            message.msgstr, message.tcomment = found.msgstr, message.tcomment or found.tcomment
            message.previous_msgid = None
            message.flags = [flag for flag in message.flags if flag != "fuzzy"]
            outcomes[text] = Outcome.REUSED
        elif not message.msgstr:
            waiting.append(text)
    offers = memory.offer(waiting, removed.keys())
    for text in waiting:
        outcomes[text] = _offer(messages[text], offers[text]) if text in offers else Outcome.NEW
    for entry in offers.values():
        removed.pop(entry.msgid, None)
    return outcomes


def _carry_over(message: polib.POEntry, found: polib.POEntry | None) -> polib.POEntry:
    """Return a message of the template with the translation that it has had so far, if any."""
    made = polib.POEntry(
        msgid=message.msgid,
        comment=message.comment,
        flags=[flag for flag in message.flags if flag != "fuzzy"],
        # No line numbers: they would change with every edit above.
        occurrences=[(file, "") for file in dict.fromkeys(f for f, _ in message.occurrences)],
    )
    if found:
        # Plural forms, which no message has, may be a tool's; the first is what was written.
        made.msgstr = found.msgstr or found.msgstr_plural.get(0, "")
        made.tcomment = found.tcomment
        made.previous_msgid = found.previous_msgid if found.fuzzy else None
        made.flags = ["fuzzy", *made.flags] if found.fuzzy else made.flags
    elif is_wordless(message.msgid):
        made.msgstr = message.msgid
    return made


def _offer(message: polib.POEntry, similar: polib.POEntry) -> Outcome:
    """Give a message the translation of a similar one, which a person has to revise.

    Not if they differ in marks between words only, or in pages that were renamed: readers would
    lose a sentence that is right.
    """
    message.msgstr, message.tcomment = similar.msgstr, message.tcomment or similar.tcomment
    # If the text changed twice, the translation still belongs to the first one.
    previous = (similar.previous_msgid if similar.fuzzy else None) or similar.msgid
    doubted = similar.fuzzy and not similar.previous_msgid
    if previous == message.msgid and not doubted:  # it has become the first text again
        return Outcome.REUSED
    if differ_in_marks_only(previous, message.msgid) and not doubted:
        return Outcome.KEPT
    followed = follow_targets(previous, message.msgid, message.msgstr)
    if followed and not doubted:
        message.msgstr = followed
        return Outcome.KEPT
    message.previous_msgid = previous if previous != message.msgid else None
    message.flags = ["fuzzy", *message.flags]
    return Outcome.FUZZY


def _header(old: polib.POFile | None, template: polib.POFile, language: str) -> dict[str, str]:
    project = template.metadata.get("Project-Id-Version", "").strip() or "PACKAGE"
    fields = {
        "Project-Id-Version": project,
        # as msginit leaves them: nobody has translated anything yet
        "PO-Revision-Date": "YEAR-MO-DA HO:MI+ZONE",
        "Last-Translator": "FULL NAME <EMAIL@ADDRESS>",
        "Language-Team": "none",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
    }
    if old is not None:  # one without messages has a header still
        kept = {name: value.strip() for name, value in old.metadata.items()}
        kept = {name: value for name, value in kept.items() if name not in _NOT_KEPT}
        # What it says stays, in one order, but it is written as UTF-8.
        fields = {**fields, **kept, "Content-Type": fields["Content-Type"]}
    return fields
