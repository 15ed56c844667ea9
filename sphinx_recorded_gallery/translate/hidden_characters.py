"""Invisible characters, by their properties in Unicode."""

import re
import unicodedata

# Control, format, private, unassigned, surrogates, separators of lines and paragraphs
_HIDDEN_CATEGORIES = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
# Further characters with the property Default_Ignorable_Code_Point (fillers of Hangul, variation
# selectors, a joiner of graphemes), and the blanks of Braille, Khitan and notes
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U00016fe4\U0001d159\U000e0000-\U000e0fff]"
)
# Scripts that regularly use characters to join letters, or to keep them apart
_JOINING = {"Arab", "Beng", "Deva", "Gujr", "Guru", "Knda", "Mlym", "Orya", "Sinh", "Taml", "Telu"}
_LETTER = r"[^\s!-~]"  # of any script but the Latin one
_VIRAMA = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]"
_JOINER = re.compile(rf"(?<={_LETTER})\u200c{{1,2}}(?!\u200c)|(?<={_VIRAMA})\u200d(?!\u200d)")
_LEFTWARD = {"Arab", "Hebr", "Syrc", "Thaa", "Nkoo"}


def find_hidden(text: str, *, script: str = "", source: str = "") -> list[str]:
    """Return the invisible characters of a text, each once, except those of its source.

    A joiner between two letters is allowed in a ``script`` that needs it, and so is the selector of
    a colored symbol.
    """
    if text.isascii() and text.isprintable():
        return []
    if script in _JOINING:
        text = _JOINER.sub("", text)
    hidden: dict[str, None] = {}
    former = ""
    for character in text:
        is_invisible = unicodedata.category(character) in _HIDDEN_CATEGORIES or _IGNORABLE.match(
            character
        )
        follows_symbol = former != "" and unicodedata.category(former) == "So"
        is_selector = character == "\ufe0f" and follows_symbol
        if is_invisible and not is_selector and character not in source:
            hidden[character] = None
        former = character
    return list(hidden)


def find_leftward(text: str, *, script: str, source: str = "") -> str:
    """Return the letters that are written from right to left, in a script that is not."""
    if script in _LEFTWARD:
        return ""
    letters = {}
    for character in text:
        is_letter = unicodedata.category(character).startswith("L")
        is_leftward = unicodedata.bidirectional(character) in ("R", "AL")
        if is_letter and is_leftward and character not in source:
            letters[character] = True
    return "".join(letters)
