"""Words: written twice, and in Korean the style of sentences and the particle behind a name."""

import re
from collections.abc import Iterator

from ..message import Message, advice
from ..scripts import HAN

_TWICE = re.compile(r"(?<![\w.])([^\W\d_]\w*)\s+\1(?!\w)")
# Chinese has no spaces. 一步一步 and 实实在在 are meant so, and 目的的 is a word and another.
_TWICE_HAN = re.compile(
    rf"(?!一)([{HAN}]{{2,6}})\1|(?<!目)的的(?!确)|(?<![存现所正自实])在在|(?<![于还就])是是(?!非)"
    r"|(?<![共和])和和|把把|被被"
)
# Plain style (한다), and polite speech (해요); 필요 and the like are nouns.
_PLAIN = re.compile(r"(?:(?<![니보마])다|(?<=아니)다)(?=[.!](?:[\s)\"'”’*]|$)|$)")
_SPOKEN = re.compile(r"(?:(?<![세필개중주수소강])요|죠)(?=[.!](?:[\s)\"'”’*]|$)|$)")

_AFTER_NAME = re.compile(
    r"([A-Za-z0-9_]*[A-Za-z0-9])(?:\(\)|[\"'])?(?:``)?(은|는|이|가|을|를|과|와|으로|로)(?![가-힣])"
)
_CLOSED = {"은": "는", "이": "가", "을": "를", "과": "와", "으로": "로"}
_OPEN = {open_: closed for closed, open_ in _CLOSED.items()}
# How the name of a thing ends when a Korean says it; None where people differ.
_SAYS_CONSONANT = {**dict.fromkeys("036", "closed"), **dict.fromkeys("178", "l")}
_SAYS_VOWEL = dict.fromkeys("2459", "open")


@advice()
def check_doubled_word(message: Message) -> Iterator[str]:
    """Words that stand twice in a row.

    Bad: 커널을 커널을 융합합니다.  Good: 커널을 융합합니다.
    """
    source, target = message.wording
    script = message.script
    pattern = _TWICE_HAN if script and "Chinese" in script.letters else None
    for each in filter(None, (_TWICE, pattern)):
        if (found := each.search(target)) and found[0] not in source:
            yield f"written twice: {found[0]}; remove one"


@advice(scripts={"Kore"})
def check_register(message: Message) -> Iterator[str]:
    """Sentences of another style than 합니다.

    Bad: 커널을 융합한다.  Good: 커널을 융합합니다.
    """
    text = message.wording[1].rstrip()
    if found := _PLAIN.search(text):
        yield f"plain style: ...{text[: found.end()][-8:]}; write 합니다 style, as all pages do"
    if found := _SPOKEN.search(text):
        yield f"해요 style: ...{text[: found.end()][-8:]}; write 합니다 style, as all pages do"


@advice(scripts={"Kore"})
def check_particle(message: Message) -> Iterator[str]:
    """Korean particles of the other form than the name before asks for.

    Bad: ``model``는  Good: ``model``은
    """
    for name, particle in _AFTER_NAME.findall(message.translation):
        ending = _spoken_end(name)
        right = _OPEN if ending == "closed" else _CLOSED if ending == "open" else {}
        if ending == "l":
            right = {"으로": "로", **{k: v for k, v in _OPEN.items() if k != "로"}}
        if particle in right:
            yield f"{name}{particle}: the particle is {right[particle]} after this name"


def _spoken_end(name: str) -> str:
    """Tell how the name ends in Korean: closed, l or open; nothing where people differ."""
    last, word = name[-1].lower(), re.split(r"[_\d]", name)[-1].lower()
    if last.isdigit():
        return _SAYS_CONSONANT.get(last) or _SAYS_VOWEL.get(last, "")
    if name[-2:].isupper():  # said letter by letter, or not
        return "l" if last == "l" else "closed" if last in "mn" else "" if last == "r" else "open"
    if len(word) < 3 and last not in "aiouy":
        return ""
    if last == "l" or word.endswith("le"):
        return "l"
    if last in "nm" or word.endswith(("ng", "ne")):
        return "closed"
    return "open" if last in "aiouydsfvzhr" or word.endswith(("se", "ze", "ce", "te", "de")) else ""
