"""What was translated so far in one language: a message may be on any page by now."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

import polib

from ..similar import Texts, pair_similar

_OWN = 0.1  # how much more a removed message of the same page counts as alike
_IN_USE = 0.2  # how much less one does that another page shows; it was not edited, but is like it


class Memory:
    """The translations in the catalogs of a language, those put away as obsolete included."""

    def __init__(
        self, catalogs: Mapping[str, Iterable[polib.POEntry]], in_use: Collection[str] = ()
    ) -> None:
        """Remember what catalogs hold; ``in_use`` are the messages that pages have now."""
        self._in_use = in_use
        self._known: dict[str, polib.POEntry] = {}  # by the text that the translation is of
        entries = [entry for catalog in catalogs.values() for entry in catalog if _usable(entry)]
        # A finished translation goes before one to be revised, one in use before an obsolete one.
        for entry in sorted(entries, key=lambda each: (each.fuzzy, bool(each.obsolete))):
            text = (entry.previous_msgid if entry.fuzzy else None) or entry.msgid
            self._known.setdefault(text, entry)

    def find(self, text: str) -> polib.POEntry | None:
        """Return the finished translation of a text."""
        entry = self._known.get(text)
        return entry if entry and not entry.fuzzy and entry.msgid == text else None

    def offer(self, texts: Iterable[str], own: Collection[str]) -> dict[str, polib.POEntry]:
        """Return translations of texts like these; ``own`` are the removed ones of their page."""

        def weigh(old: str, value: float) -> float:
            return value + (_OWN if old in own else -_IN_USE if old in self._in_use else 0)

        pairs = pair_similar(texts, self._texts, weigh)
        return {text: self._known[old] for text, old in pairs.items()}

    @cached_property
    def _texts(self) -> Texts:
        return Texts(self._known)


def _usable(entry: polib.POEntry) -> bool:
    return bool(entry.msgid and entry.msgstr and entry.msgctxt is None and not entry.msgid_plural)
