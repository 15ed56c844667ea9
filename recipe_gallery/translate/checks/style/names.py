"""Names that stay English: those of the glossary, and what is written like a name."""

import re
import unicodedata
from collections.abc import Iterator
from difflib import get_close_matches
from functools import lru_cache

from ..message import Message, advice

_WORD = re.compile(r"(?<!\d )(?<![A-Za-z\d])[A-Za-z][A-Za-z0-9]*")  # behind a number it is a unit
# Letters that look like Latin ones
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝкмтАВЕКМНОРСТХУІЈЅοαρνυικτΑΒΕΖΗΙΚΜΝΟΡΤΥΧıɑɡ",
    "aeopcyxijsdhqwkmtABEKMHOPCTXYIJSoapvuiktABEZHIKMNOPTYXiag",
)
_LOOKALIKE = "\u0370-\u052fıɑɡ\uff21-\uff3a\uff41-\uff5a"
_HAS_LOOKALIKE = re.compile(f"[{_LOOKALIKE}]")
_MIXED = re.compile(rf"(?=\w*[A-Za-z])(?=\w*[{_LOOKALIKE}])[A-Za-z0-9{_LOOKALIKE}]{{2,}}")


@advice()
def check_names(message: Message) -> Iterator[str]:
    """Names that are translated, misspelt, or written with letters that only look like theirs.

    Bad: 파이토치  Good: PyTorch
    """
    source, target = message.wording
    looks = {}
    if _HAS_LOOKALIKE.search(target):
        looks = {_look_of(each): each for each in _MIXED.findall(target) if each not in source}
    for look, each in looks.items():
        others = " ".join(f"U+{ord(one):04X}" for one in each if not one.isascii())
        yield f"{look} is written with letters that only look like it: {others}; type it anew"
    known = message.glossary.names
    for name, has_capitals in _find_names(source).items():
        # FAQ alone may have a name in other languages
        is_name = name in known or (has_capitals and source.strip() != name)
        if not is_name or name in target or name in looks:
            continue
        spelt = {each.lower(): each for each in set(_WORD.findall(target)) if each not in source}
        if similar := get_close_matches(name.lower(), spelt, 1, 0.7):
            yield f"{spelt[similar[0]]}: the name is spelt {name}"
        else:
            yield f"the name {name} is missing; names stay as they are, in Latin letters"


@lru_cache(maxsize=4096)
def _find_names(source: str) -> dict[str, bool]:
    """Return the words that may be names, GPU for GPUs, and whether they have capitals inside."""
    words = (
        word[:-1] if word.endswith("s") and word[:-1].isupper() else word
        for word in _WORD.findall(source)
    )
    return {word: any(map(str.isupper, word[1:])) for word in words if len(word) > 2}


def _look_of(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_LOOKALIKES))
