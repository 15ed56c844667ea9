"""Characters that do not belong into a text: of another script, or not what they look like."""

import re
import unicodedata
from collections.abc import Iterator

from ..message import ALL, Message, advice
from ..scripts import HAN, foreign_letters, known_ideographs

_IDEOGRAPH = re.compile(f"[{HAN}]")
_OFTEN_TOLD = 5
# Letters that are composed of pieces, as some systems save them, blanks that are not the plain one,
# and what is not seen. Scripts that need joiners and marks are left out below.
_LOST = "\ufffd"
_PRIVATE = "\ue000-\uf8ff\U000f0000-\U0010fffd"
_PIECES = (
    "\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb"
    "\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a\ufe20-\ufe2f"
)
_BLANKS = "\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000"
_UNSEEN = "\u17b4\u17b5\u200c\u200d\ufe00-\ufe0f\U0001d173-\U0001d17a"
_ODD_ANYWHERE = re.compile(f"[{_LOST}{_PRIVATE}\U0001d173-\U0001d17a]")
_ODD = re.compile(f"[{_LOST}{_PRIVATE}{_PIECES}{_BLANKS}{_UNSEEN}]")
_JAMO = re.compile("[\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]")


@advice(of=ALL)
def check_script(message: Message) -> Iterator[str]:
    """Letters of another language's script, and characters of traditional Chinese in simplified.

    Bad: 커널을 融合합니다  Good: 커널을 융합합니다
    """
    script = message.script
    if not script or message.translation.isascii():
        return
    any_of_them, foreign = foreign_letters(script)
    for name, pattern in foreign.items() if any_of_them.search(message.translation) else ():
        found = [text for text in pattern.findall(message.translation) if text not in message.text]
        # one Greek letter is a symbol; within a Latin word another check tells it
        if found := [text for text in found if name not in ("Cyrillic", "Greek") or len(text) > 1]:
            yield f"{name} letters: {_shorten(found)}; write the text in {message.language.name}"
    if script.charset:
        others = set(message.translation) - known_ideographs(script.charset) - set(message.text)
        if found := sorted(each for each in others if _IDEOGRAPH.match(each)):
            form = "traditional" if script.charset == "gb2312" else "simplified"
            yield (
                f"{form} or very rare characters: {_shorten(found)}; "
                f"write those of {message.language.name}"
            )


@advice(of=ALL)
def check_character(message: Message) -> Iterator[str]:
    """Characters in pieces, lost, private or unseen, and blanks that are not the plain one.

    Bad: 커널을<U+00A0>융합  Good: 커널을 융합
    """
    if message.translation.isascii() or not (script := message.script):
        return
    pattern = _ODD if script.is_east_asian else _ODD_ANYWHERE
    found = dict.fromkeys(pattern.findall(message.translation))
    odd = [each for each in found if each not in message.text]
    if any(_JAMO.match(each) for each in odd):
        yield "letters in pieces (NFD), as macOS names files; type the text anew, or save it as NFC"
        odd = [each for each in odd if not _JAMO.match(each)]
    for each in odd[:_OFTEN_TOLD]:
        code = f"U+{ord(each):04X}"
        if each == _LOST:
            yield f"{code} stands where a character was lost; write that character"
        elif unicodedata.category(each) == "Co":
            yield f"private character {code}, which other fonts do not have; write another"
        elif unicodedata.category(each) in ("Mn", "Me"):
            if re.match(f"[{_UNSEEN}]", each):
                yield f"invisible character {code}; remove it"
            else:
                yield f"{code} is a mark upon the character before; write one character, or none"
        elif unicodedata.category(each) == "Zs":
            yield f"{code} is a special blank; write a plain space, or none"
        else:
            yield f"invisible character {code}; remove it"


def _shorten(found: list[str]) -> str:
    """Return what was found, once each, and not too much of it."""
    texts = list(dict.fromkeys(found))
    more = ", ..." if len(texts) > _OFTEN_TOLD else ""
    return ", ".join(text[:20] for text in texts[:_OFTEN_TOLD]) + more
