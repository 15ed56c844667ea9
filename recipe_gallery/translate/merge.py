"""Bring a catalog up to date with a template, without losing a translation."""

import difflib
from collections.abc import Iterable

import polib

from .catalogs import WIDTH, is_wordless

# How alike an old and a new source text have to be for the old translation to be offered.
_ALIKE = 0.6


def update_catalog(
    old: polib.POFile | None, template: polib.POFile, *, language: str
) -> polib.POFile:
    """Return a catalog with the messages of ``template`` and the translations of ``old``.

    A message whose text changed keeps its translation as fuzzy, with the old text beside it. One
    that was removed is kept as obsolete, and revived if its text comes back.
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
    similar = pair_similar(
        (text for text, entry in messages.items() if text not in before and not entry.msgstr),
        (text for text, entry in removed.items() if entry.msgstr),
    )
    for text, old_text in similar.items():
        _offer(messages[text], removed.pop(old_text))
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
        for entry in removed.values()
        if entry.msgstr or entry.tcomment  # the work of a translator
    )
    return new


def pair_similar(texts: Iterable[str], old_texts: Iterable[str]) -> dict[str, str]:
    """Return, for each of the texts that resembles an old one, the one it is most like.

    Each old text is given to one text only, the first one that it is like.
    """
    free = list(old_texts)
    pairs = {}
    for text in texts:
        if alike := difflib.get_close_matches(text, free, n=1, cutoff=_ALIKE):
            pairs[text] = alike[0]
            free.remove(alike[0])
    return pairs


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
        made.msgstr, made.tcomment = found.msgstr, found.tcomment
        made.previous_msgid = found.previous_msgid
        made.flags = ["fuzzy", *made.flags] if found.fuzzy else made.flags
    elif is_wordless(message.msgid):
        made.msgstr = message.msgid
    return made


def _offer(message: polib.POEntry, similar: polib.POEntry) -> None:
    """Give a message the translation of a similar one, which a person has to revise."""
    message.msgstr, message.tcomment = similar.msgstr, similar.tcomment
    # If the text changed twice, the translation still belongs to the first one.
    previous = (similar.previous_msgid if similar.fuzzy else None) or similar.msgid
    if previous != message.msgid:  # otherwise it has become the first text again
        message.previous_msgid = previous
        message.flags = ["fuzzy", *message.flags]


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
        # Its date changes with every template, which makes every update a change.
        kept = {name: value.strip() for name, value in old.metadata.items()}
        kept.pop("POT-Creation-Date", None)
        # What it says goes first, in its order; but it is written as UTF-8.
        fields = {**kept, **fields, **kept, "Content-Type": fields["Content-Type"]}
    return fields
