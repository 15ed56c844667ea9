"""What is known of scripts: their letters, their punctuation, how long their texts are."""

import re
from dataclasses import dataclass
from functools import cache

HANGUL = "\uac00-\ud7a3\u3131-\u318e"
HAN = "\u3400-\u9fff"  # one range is found fastest
KANA = "\u3041-\u30fa"
_LETTERS = {
    "Korean": HANGUL,
    "Chinese": HAN,
    "Japanese": KANA,
    "Cyrillic": "\u0400-\u052f",
    "Greek": "\u0370-\u03ff",
    "Arabic": "\u0620-\u064a\u0671-\u06d3",
    "Hebrew": "\u05d0-\u05ea",
    "Devanagari": "\u0904-\u0939",
    "Thai": "\u0e01-\u0e2e",
}


@dataclass(frozen=True, kw_only=True, eq=False)
class Script:
    """How a language is written."""

    letters: frozenset[str]  # of the table above, beside Latin ones
    full_width: bool = False  # punctuation; without spaces between words
    charset: str = ""  # of Python, that has its characters and not those of a sister
    # Letters for one of English: by the length of the English text from which on it counts, the
    # least and the most. They lie outside of what good translations have.
    density: tuple[tuple[int, float, float], ...] = ()

    @property
    def is_east_asian(self) -> bool:
        """Tell whether English words stand out from it."""
        return bool(self.letters & {"Korean", "Chinese"})


_HAN_DENSITY = ((150, 0.26, 0.95), (80, 0.23, 1.1), (40, 0.19, 1.2))
# What is known of scripts, by codes of ISO 15924, as Babel tells them
SCRIPTS = {
    "Kore": Script(
        letters=frozenset({"Korean"}),
        density=((150, 0.34, 1.0), (80, 0.3, 1.2), (40, 0.24, 1.3)),
    ),
    "Hans": Script(
        letters=frozenset({"Chinese"}), full_width=True, charset="gb2312", density=_HAN_DENSITY
    ),
    "Hant": Script(
        letters=frozenset({"Chinese"}), full_width=True, charset="cp950", density=_HAN_DENSITY
    ),
    "Jpan": Script(letters=frozenset({"Chinese", "Japanese"}), full_width=True),
    "Latn": Script(letters=frozenset()),
    "Cyrl": Script(letters=frozenset({"Cyrillic"})),
    "Grek": Script(letters=frozenset({"Greek"})),
    "Arab": Script(letters=frozenset({"Arabic"})),
    "Hebr": Script(letters=frozenset({"Hebrew"})),
    "Deva": Script(letters=frozenset({"Devanagari"})),
    "Thai": Script(letters=frozenset({"Thai"})),
}


@cache
def foreign_letters(script: Script) -> tuple[re.Pattern[str], dict[str, re.Pattern[str]]]:
    """Return how text in any script of others is found, and in each of them, by its name."""
    foreign = {name: each for name, each in _LETTERS.items() if name not in script.letters}
    patterns = {name: re.compile(f"[{letters}]+") for name, letters in foreign.items()}
    return re.compile(f"[{''.join(foreign.values())}]"), patterns


@cache
def known_ideographs(charset: str) -> frozenset[str]:
    """Return the characters of a charset, such as those of GB 2312, where Chinese is simplified."""
    characters = "".join(map(chr, range(0x10000)))
    return frozenset(characters.encode(charset, "ignore").decode(charset))
