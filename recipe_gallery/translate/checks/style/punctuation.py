"""Punctuation: how a text ends, full and half width, spaces beside Latin words, pairs."""

import re
from collections.abc import Iterator

from ...catalogs import Kind
from ..message import Message, advice, check
from ..scripts import HAN

_CLOSING = "*\"'”’)）]」』》〉 "
_ENDS = {".": "full stop", "?": "question mark", ":": "colon", ";": "semicolon", ",": "comma"}
_MARKS = {"。": ".", "！": ".", "!": ".", "？": "?", "：": ":", "；": ";", "，": ",", "、": ","}
_QUESTION = re.compile(r"(?:why|how|what|when|which|where|who|whether)\b|.*\?", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.?!](?=\s|$)|[。？！]")
_KOREAN_SENTENCE = re.compile(r"(?:[가-힣]다|세요|십시오|[까죠])$")
_WIDE = re.compile("[\uff01-\uff0f\uff1a-\uff3f\uff41-\uff5e、。]")
_WIDE_MARKUP = re.compile("：[a-z+-]*[：:]?`|[:：][a-z+-]+：")
_NARROW = re.compile(
    rf"[,;!?](?!\d)|(?<=[{HAN}])\s*:(?![a-z:])|(?<!:):(?=\s*[{HAN}]|\s*$)"
    rf"|(?<=[{HAN}])\.(?=\s|$|[{HAN}])|\.$|\((?=[^()]*[{HAN}])|(?<=[{HAN}])\("
)
_NARROW_QUOTES = re.compile(rf"\"(?=[{HAN}])|(?<=[{HAN}])\"")
_UNSPACED = re.compile(rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]|[{HAN}](?=``)|(?<=``)[{HAN}]")
_SPACED = re.compile(rf"[{HAN}] (?=[，。：；？！）、」》”])|[，。：；？！（、「《“] (?=[\w`])")
_LONE_PARTICLE = re.compile(r"(?<=[\w`)%]) (?:은|는|을|를|과|와|의|에서|으로|에게)(?=[\s.,]|$)")
_HAS_HAN = re.compile(f"[{HAN}]")
_PAIRS = [*map(tuple, ("()", "[]", "{}", "（）", "［］", "「」", "『』", "《》", "〈〉", "“”"))]
_HALF_OF_PAIR = re.compile("[][(){}（）［］「」『』《》〈〉“”]")
_SPACE = "[ \u00a0\u3000]"
_SPACES = {
    "at the start": re.compile(f"^{_SPACE}"),
    "at the end": re.compile(f"{_SPACE}$"),
    "doubled": re.compile(rf"\S{_SPACE}{{2,}}\S"),
}


def _end_of(text: str) -> str:
    """Return the mark that a text ends with, in its half-width form; nothing if there is none."""
    bare = text.rstrip(_CLOSING)
    last = "" if bare.endswith((".m.", ".g.", ".e.")) else bare[-1:]  # p.m.
    mark = _MARKS.get(last, last)
    return mark if mark in _ENDS else ""


@advice()
def check_final_punctuation(message: Message) -> Iterator[str]:
    """Texts that end in another way than their source.

    Bad: It is fast. -> 빠릅니다  Good: It is fast. -> 빠릅니다.
    """
    source, target = message.text.rstrip(), message.translation.rstrip()
    if target.endswith("::") and not source.endswith("::"):
        yield "ends with ::, which starts a block of code and of which a page shows one; write one"
        return
    was, now = _end_of(source), _end_of(target)
    if was == now:
        return
    if now == "?" and (was == "." or not _QUESTION.match(source)):
        yield "ends with a question mark, and the source does not; end it as the source"
    elif now in (",", ";", ":"):
        yield f"ends with a {_ENDS[now]}, and the source does not; end it as the source"
    elif not now and _wants_end(message, was, target):
        yield f"the {_ENDS[was]} at the end is missing; write it, and look whether more is missing"
    elif now == "." and _changed_to_full_stop(message, was, target):
        said = f"with a {_ENDS[was]}" if was else "without"
        yield f"ends with a full stop, and the source {said}; end it as the source"


def _wants_end(message: Message, was: str, target: str) -> bool:
    """Tell whether a text that ends without a mark needs one."""
    script = message.script
    if not script:
        return False
    if script.full_width:
        return len(message.text.split()) > 3
    bare = target.rstrip(_CLOSING)
    if script.letters == {"Korean"}:  # a noun ends a phrase without a mark
        inside = len(_SENTENCE_END.findall(message.text)) > 1 and _SENTENCE_END.search(bare)
        return bool(_KOREAN_SENTENCE.search(bare) or (inside and was == "."))
    return script.letters <= {"Cyrillic", "Greek"} and len(message.text.split()) > 3


def _changed_to_full_stop(message: Message, was: str, target: str) -> bool:
    script = message.script
    if not script or not script.is_east_asian:
        return False
    if script.full_width:
        return was == ":" or (was == "?" and len(_SENTENCE_END.findall(message.text)) == 1)
    return not was and not _KOREAN_SENTENCE.search(target.rstrip(_CLOSING + ".!"))


@advice(scripts={"Kore", "Hans", "Hant", "Jpan"})
def check_width(message: Message) -> Iterator[str]:
    """Punctuation of the wrong width: half in Chinese sentences, full in Korean ones.

    Bad: 빠릅니다。  Good: 빠릅니다.
    """
    text = message.wording[1]
    if not message.script or not message.script.full_width:
        if not text.isascii() and (found := _not_copied(message, _WIDE, text)):
            yield f"full-width punctuation: {found}; write it in half width"
    elif _HAS_HAN.search(text):
        found = _not_copied(message, _NARROW, text)
        if message.kind is not Kind.COMMENT:
            found = found or _not_copied(message, _NARROW_QUOTES, text)
        if found:
            yield f"half-width punctuation: {found}; write it in full width"


def _not_copied(message: Message, pattern: re.Pattern[str], text: str) -> str:
    """Return what is found, with its neighbours, unless it stands so in the source or is markup."""
    found: dict[str, None] = {}
    matches = list(pattern.finditer(text))
    for each in matches if matches and not _WIDE_MARKUP.search(message.translation) else ():
        context = text[max(0, each.start() - 2) : each.end() + 2].strip()
        if context not in message.text or each.end() == len(text.rstrip()):
            found[context] = None
    return " ".join(list(found)[:5])


@advice(scripts={"Kore", "Hans", "Hant"})
def check_spacing(message: Message) -> Iterator[str]:
    """Spaces beside Latin words in Chinese, and before particles in Korean.

    Bad: ``fit`` 은 빠릅니다.  Good: ``fit``은 빠릅니다.
    """
    text = message.translation
    if message.script and message.script.full_width:
        if found := _not_copied(message, _UNSPACED, text):
            yield f"no space between Chinese and Latin text: {found}; put one there"
        if found := _not_copied(message, _SPACED, text):
            yield f"a space beside full-width punctuation: {found}; remove it"
    elif found := _not_copied(message, _LONE_PARTICLE, text):
        yield f"a space before a particle: {found}; remove it"


@advice()
def check_pairs(message: Message) -> Iterator[str]:
    """Brackets and quotation marks of which one is missing.

    Bad: 경과 시간(wall을 봅니다.  Good: 경과 시간(wall)을 봅니다.
    """
    source, target = message.wording
    for opening, closing in _PAIRS if _HALF_OF_PAIR.search(target) else ():
        more = target.count(opening) - target.count(closing)
        if more and source.count(opening) == source.count(closing):
            lost = closing if more > 0 else opening
            yield f"{lost} is missing, the other half of a pair; write it, or leave both out"
    if target.count('"') % 2 and source.count('"') % 2 == 0:
        yield '" is missing, the other half of a pair; write it, or leave both out'


@check()
def check_spaces(message: Message) -> Iterator[str]:
    """Spaces at the start or the end, or two in a row, where the source has none.

    Bad: "빠릅니다.  다음은"  Good: "빠릅니다. 다음은"
    """
    for place, pattern in _SPACES.items():
        if pattern.search(message.translation) and not pattern.search(message.text):
            yield f"space {place}; remove it"
    ends = {text.endswith("\n") for text in (message.text, message.translation)}
    if "\n" in message.text and len(ends) > 1:
        yield "source and translation do not both end with \\n; add or remove it"
