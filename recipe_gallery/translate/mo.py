"""Compiled catalogs: made of messages that were checked, and what gettext has loaded of them."""

import gettext
import os
from collections.abc import Iterable
from pathlib import Path

import polib


def to_binary(entries: Iterable[polib.POEntry]) -> bytes:
    """Return the messages as they were read and checked, and nothing else of their catalog.

    What it says of charsets and plural forms would be read anew, by other programs and otherwise.
    """
    plain = polib.POFile(encoding="utf-8")
    plain.metadata = {"Content-Type": "text/plain; charset=UTF-8"}
    plain.extend(
        polib.POEntry(msgctxt=entry.msgctxt, msgid=entry.msgid, msgstr=entry.msgstr)
        for entry in entries
        if entry.msgid and entry.msgstr and entry.translated()
    )
    return bytes(plain.to_binary())


def loaded_messages(catalog: gettext.NullTranslations) -> dict[str, str]:
    """Return the messages of a compiled catalog that gettext has loaded, by their source texts.

    They are removed from the catalog by removing them from this dictionary. gettext has no public
    way to them.
    """
    if not isinstance(catalog, gettext.GNUTranslations):
        return {}  # there is no catalog
    messages: dict[str, str] = catalog._catalog  # type: ignore[attr-defined]
    return messages


def replace_loaded(path: Path, usable: bool) -> None:
    """Let all who have loaded a ``.mo`` see what it holds now, or nothing.

    gettext keeps one dictionary of messages for each file, for the life of the process.
    """
    kept = gettext._translations.get(  # type: ignore[attr-defined]
        (gettext.GNUTranslations, os.path.abspath(path))
    )
    if kept is not None:
        messages = loaded_messages(kept)
        messages.clear()
        if usable and path.exists():
            with path.open("rb") as file:
                messages |= loaded_messages(gettext.GNUTranslations(file))
