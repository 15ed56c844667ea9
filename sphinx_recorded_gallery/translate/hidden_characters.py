"""Characters that nobody sees, by their properties in Unicode."""

import re
import unicodedata

# Control, format, private, unassigned, halves that UTF-8 cannot write, separators of lines
_UNSEEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
# Beside those, what has the property Default_Ignorable_Code_Point, and the blank of Braille: blanks
# that look like Hangul, selectors of variants, a joiner of graphemes.
_IGNORABLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# Scripts that join letters, or keep them apart, by a character, as all who write them do
_JOINING = {"Arab", "Beng", "Deva", "Gujr", "Guru", "Knda", "Mlym", "Orya", "Sinh", "Taml", "Telu"}
_LETTER = r"[^\s!-~]"  # of any script but the Latin one
_VIRAMA = "[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d4d\u0dca]"
_JOINER = re.compile(rf"(?<={_LETTER})\u200c{{1,2}}(?!\u200c)|(?<={_VIRAMA})\u200d(?!\u200d)")
_LEFTWARD = {"Arab", "Hebr", "Syrc", "Thaa", "Nkoo"}


def find_hidden(text: str, *, script: str = "", source: str = "") -> list[str]:
    """Return the characters of a text that nobody sees, each once, but those of its source.

    A joiner between two letters is seen in a ``script`` that needs it, and so is the selector of a
    colored sign.
    """
    if text.isascii() and text.isprintable():
        return []
    if script in _JOINING:
        text = _JOINER.sub("", text)
    found = []
    for index, character in enumerate(text):
        is_unseen = unicodedata.category(character) in _UNSEEN or _IGNORABLE.match(character)
        is_of_sign = (
            character == "\ufe0f" and index and unicodedata.category(text[index - 1]) == "So"
        )
        if is_unseen and not is_of_sign and character not in source:
            found.append(character)
    return [*dict.fromkeys(found)]


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
