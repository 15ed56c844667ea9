"""Advice on style: what a translation may get wrong though its page is whole.

What a language asks for follows from its script, which CLDR knows. Each check is a generator; what
it yields can be excused at the message (``# check-po: allow numbers (why)``).
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise

from babel import numbers

from .catalogs import Kind, is_wordless
from .checks import ALL, CHECKS, Check, Message, advice, check
from .code_comments import HIDDEN  # which is refused

HAN, HANGUL, KANA = "\u3400-\u9fff", "\uac00-\ud7a3\u3131-\u318e", "\u3041-\u30fa"
_LETTERS = {"Korean": HANGUL, "Chinese": HAN, "Japanese": KANA, "Cyrillic": "\u0400-\u052f"}
_OWN = {"Kore": "Korean", "Hans": "Chinese", "Hant": "Chinese", "Jpan": "Chinese Japanese"}
_CHARSET = {"Hans": "gb2312", "Hant": "cp950"}  # has the script's characters, not its sister's
_WIDE = {"Hans", "Hant"}  # full-width punctuation
_EAST = {"Kore", "Jpan", *_WIDE}
_SENTENCE = re.compile(r"[.?!](?=\s|$)|[。？！]")
_ENDS = {".": "full stop", "?": "question mark", ":": "colon", ";": "semicolon", ",": "comma"}
_HALF_WIDTH = str.maketrans("。！!？：；，、", "...?:;,,")
_CLOSING = "*\"'”’)）]」』》〉 "
_KOREAN_SENTENCE = re.compile(r"(?:[가-힣]다|세요|십시오|[까죠])$")


def _new(message: Message, pattern: str, text: str, around: int = 2) -> str:
    """Return what is found in a translation and not in its source, each with its neighbours."""
    found = {
        text[max(0, each.start() - around) : each.end() + around].strip(): None
        for each in re.finditer(pattern, text)
    }
    return " ".join([each for each in found if each not in message.text][:5])


@advice()
def check_final_punctuation(message: Message) -> Iterator[str]:
    """Texts that end in another way than their source."""
    source, target = message.text.rstrip(), message.translation.rstrip()
    was, now = (_end_of(each) for each in (source, target))
    script, words = message.language.script, len(source.split())
    sentences = len(_SENTENCE.findall(source))
    if target.endswith("::") and not source.endswith("::"):
        yield "ends with ::, which starts a block of code; write one"
    elif was == now:
        return
    elif now in (",", ";", ":") or (now == "?" and was == "."):
        yield f"ends with a {_ENDS[now]}, and the source does not; end it as the source"
    elif was and not now and _needs_end(script, target.rstrip(_CLOSING), words, was, sentences):
        yield f"the {_ENDS[was]} at the end is missing; write it, and look whether more is missing"


def _end_of(text: str) -> str:
    bare = text.rstrip(_CLOSING)
    last = bare[-1:].translate(_HALF_WIDTH)
    return last if last in _ENDS and not bare.endswith((".m.", ".g.", ".e.")) else ""


def _needs_end(script: str, text: str, words: int, was: str, sentences: int) -> bool:
    if script == "Kore":  # a noun ends a phrase without a mark
        inside = was == "." and sentences > 1 and _SENTENCE.search(text)
        return bool(_KOREAN_SENTENCE.search(text) or inside)
    return script in (*_WIDE, "Cyrl", "Grek") and words > 3


def _tell(
    name: str,
    pattern: str,
    told: str,
    scripts: Collection[str] = (),
    of: Collection[Kind] = ALL - {Kind.FORMULA},
    around: int = 2,
    words: bool = False,
) -> None:
    """Add a check of what a translation may not have unless its source does."""

    def run(message: Message) -> Iterator[str]:
        text = message.wording[1] if words else message.translation
        if found := _new(message, pattern, text, around):
            yield told.format(found)

    CHECKS.append(Check(name=name, run=run, of=of, scripts=scripts, whole=True))


_FULL = "[\uff01-\uff0f\uff1a-\uff3f\uff41-\uff5e、。]"
_HALF = (
    rf"[,;!?](?!\d)|(?<=[{HAN}])\s*:(?![a-z:])|(?<!:):(?=\s*[{HAN}]|\s*$)|\.$"
    rf"|(?<=[{HAN}])\.(?=\s|$|[{HAN}])|\((?=[^()]*[{HAN}])|(?<=[{HAN}])\("
)
_QUOTE = rf"\"(?=[{HAN}])|(?<=[{HAN}])\""
_TO_FULL = "half-width punctuation: {}; write it in full width"
_PARTICLE = r"(?<=[\w`)%]) (?:은|는|을|를|과|와|의|에서|으로|에게)(?=[\s.,]|$)"
_NO_SPACE = rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]|[{HAN}](?=``)|(?<=``)[{HAN}]"
_SPACE = rf"[{HAN}] (?=[，。：；？！）、」》”])|[，。：；？！（、「《“] (?=[\w`])"
_KOREAN, _CODE = {"Kore"}, {Kind.COMMENT, Kind.FORMULA}
_tell("width", _FULL, "full-width punctuation: {}; write it in half width", _KOREAN, words=True)
_tell("width", "[\uff10-\uff19]", "full-width digits: {}; write them in half width", _EAST)
_tell("width", _HALF, _TO_FULL, _WIDE, words=True)
_tell("width", _QUOTE, _TO_FULL, _WIDE, ALL - _CODE, words=True)
_tell("spacing", _PARTICLE, "a space before a particle: {}; remove it", _KOREAN)
_tell("spacing", _NO_SPACE, "no space between Chinese and Latin text: {}; put one there", _WIDE)
_tell("spacing", _SPACE, "a space beside full-width punctuation: {}; remove it", _WIDE)
for _name, _letters in _LETTERS.items():
    _others = [script for script in _OWN if _name not in _OWN[script]]
    _found = f"{_name} letters: {{}}; write the text in those of the language"
    _tell("script", f"[{_letters}]+", _found, _others, ALL, 0)
_twice, _TWICE = "written twice: {}; remove one", r"(?<![\w.])([^\W\d_]\w*)\s+\1(?!\w)"
_tell("doubled-word", _TWICE, _twice, around=0, words=True)
_TWICE = rf"(?!一)([{HAN}]{{2,6}})\1|(?<!目)的的(?!确)|把把|被被"
_tell("doubled-word", _TWICE, _twice, _WIDE, around=0, words=True)
_directive = "a directive, which readers would see as it is: {}; leave it out"
_tell("emphasis", r"\.\. [\w-]+::", _directive, of={Kind.PROSE}, around=0)


@check()
def check_spaces(message: Message) -> Iterator[str]:
    """Spaces at the start or the end, or two in a row, where the source has none."""
    places = {"at the start": "^[ \xa0\u3000]", "at the end": "[ \xa0\u3000]$"}
    for place, pattern in (places | {"doubled": r"\S[ \xa0\u3000]{2,}\S"}).items():
        if re.search(pattern, message.translation) and not re.search(pattern, message.text):
            yield f"space {place}; remove it"


@advice()
def check_pairs(message: Message) -> Iterator[str]:
    """Brackets and quotation marks of which one is missing."""
    source, target = message.wording
    # „…“ and ”…” are pairs, too: these are counted together
    source, target = (re.sub("[„“”]", '"', text) for text in (source, target))
    for one, other in ("()", "[]", "{}", "（）", "［］", "「」", "『』", "《》", "〈〉", '""'):
        more, allowed = (
            text.count(one) % 2 if one == other else text.count(one) - text.count(other)
            for text in (target, source)
        )
        if more and not allowed:
            lost = "a quotation mark" if one == other else other if more > 0 else one
            yield f"{lost} is missing, the other half of a pair; write it"


@advice(of=ALL, scripts=_CHARSET)
def check_script(message: Message) -> Iterator[str]:
    """Characters of traditional Chinese in simplified, and the other way round."""
    others = set(re.findall(f"[{HAN}]", message.translation)) - set(message.text)
    charset = _CHARSET[message.language.script]
    if found := " ".join(sorted(c for c in others if not c.encode(charset, "ignore"))):
        yield f"characters of the other Chinese script, or very rare: {found}; write others"


@advice(of=ALL, scripts=_OWN)
def check_character(message: Message) -> Iterator[str]:
    """Characters in pieces, lost, private or unseen, and blanks that are not the plain one."""
    text = message.translation
    if unicodedata.normalize("NFC", text) != text:
        yield "letters in pieces (NFD), as macOS names files; save the text as NFC"
        return
    for each in dict.fromkeys(text):
        odd = unicodedata.category(each) in ("Co", "Cf", "Mn", "Me", "Zs") or each in "\ufffd\u2028"
        if odd and each != " " and each not in message.text and not HIDDEN.match(each):
            yield f"U+{ord(each):04X} is lost, unseen or a special blank; write a plain character"


@advice()
def check_names(message: Message) -> Iterator[str]:
    """Names that are translated, misspelt, or written with letters that only look like theirs."""
    source, target = message.wording
    for word in sorted(set(re.findall(r"(?<!\d )(?<![A-Za-z\d])[A-Za-z][A-Za-z0-9]{2,}", source))):
        name = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
        is_name = any(map(str.isupper, name[1:])) and len(name) > 2 and source.strip() != name
        if (is_name or name in message.glossary.names) and name not in target:
            yield f"missing: the name {name}; names stay as they are, in Latin letters"


_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
# What a measured figure looks like in prose, and "from one to another" as languages say it
_FIGURE = r"(?:\{[^{}]+\}|:measured:`[^`]+`)"
_FROM_TO = re.compile(
    rf"(?:\bfrom|\bvon|\bde|从|從)\s*({_FIGURE})[^{{}}:.。]*?(?:\bto|\bauf|\bà|[到为為至])\s*({_FIGURE})"
    rf"|({_FIGURE})\S{{0,3}}(?:에서|から)[^{{}}:.。]*?({_FIGURE})\S{{0,3}}?(?:로|へ|に)"
)
_KEEPS = re.compile(r"[.;:!?]\s|\b(?:and|or|but|while)\b")
# Where words say a number, another language may need digits, or other words
_SAYS_NUMBER = re.compile(
    r"\b(?:zero|none|one|once|two|twice|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both"
    r"|first|second|third|fourth|\w+th|hal[fv]\w*|quarters?|doubl\w+|triple\w*|tenths?|dozen|pair"
    r"|few|some|several|\w+ty|hundred\w*|thousand\w*|million|billion"
    r"|January|February|March|April|May|June|July|August|\w+ber)\b",
    re.IGNORECASE,
)
# One that another language writes otherwise: 3 million, 300만, 3 pm; 50 % is also half
_SCALED = re.compile(
    r"\d[\d.,]* ?(?:thousand|million|billion|[천만억千万萬亿億]|[ap]\.?m\b)|절반|一半"
)
_UNIT = r"%|°C|[kMGT]i?B(?:/s)?|(?<=\s)[nµm]?s\b|[nµm]s\b|[kMG]?Hz|[GT]?FLOPS|W\b"
_UNIT_WORD = re.compile(
    r"\s?(?:퍼센트|밀리초|마이크로초|나노초|초|도|毫秒|微秒|纳秒|秒|摄氏度|度|瓦|[가-힣]*(?:바이트|헤르츠|와트)|.?(?:字节|赫))"
)


@advice()
def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change."""
    source, target = message.words
    if numbers.get_decimal_symbol(message.language.locale) != ".":  # 1.000 Aufrufe, 1,5 ms
        source, target = (re.sub(r"(?<=\d)[.,\u00a0\u202f](?=\d)", "", t) for t in (source, target))
    was, now = (
        Counter(
            re.sub(r",(?=\d{3}\b)", "", each) for each in _DIGITS.findall(_SCALED.sub(" ", text))
        )
        for text in (source, target)
    )
    missing, added = was - now, [each for each in now - was if each != "1" and each not in was]
    if missing.total() > len(_SCALED.findall(target)):
        for number in missing:
            yield f"the number {number} is missing; numbers stay as they are"
    excused = 2 * len(_SAYS_NUMBER.findall(source)) + len(_SCALED.findall(source))
    if len(added) > excused or any(len(number) > 8 for number in added):
        for number in added:
            yield f"the number {number} is not in the source; numbers stay as they are"
    for quantity, unit in dict.fromkeys(
        re.findall(rf"(?<![A-Za-z\d.])({_DIGITS.pattern})\s?({_UNIT})", source)
    ):
        places = [target[found.end() :] for found in re.finditer(re.escape(quantity), target)]
        kept = re.compile(rf"\s?{re.escape(unit)}(?![A-Za-z/])")
        percent = unit == "%" and f"百分之{quantity}" in target.replace(" ", "")
        if places and not percent and not any(kept.match(p) or _UNIT_WORD.match(p) for p in places):
            yield f"{quantity} {unit}: the unit is missing or another; keep it"


@advice(of={Kind.PROSE})
def check_order(message: Message) -> Iterator[str]:
    """Figures that were swapped, or literals and links between which a list or a sentence ends."""
    turns = [tuple(filter(None, each)) for each in _FROM_TO.findall(message.text)]
    for pair in _FROM_TO.findall(message.translation):
        old, new = filter(None, pair)
        at, then = message.text.find(old), message.text.find(new)
        if (new, old) in turns or (0 <= at < then and (old, new) not in turns):
            yield f"reads from {old} to {new}, and the source the other way; swap the two"
    for kind in (r"``.+?``", r"<[^<>\s]+>`_|:(?:doc|ref):`[^`]+`"):
        was, now = (re.findall(kind, text) for text in (message.text, message.translation))
        if len(set(was)) < len(was) or sorted(was) != sorted(now):
            continue  # one that stands there twice may be meant twice
        for one, other in pairwise(was):
            between = message.text.split(one)[1].split(other)[0]
            if now.index(one) > now.index(other) and _KEEPS.search(between):
                yield f"{one} stands behind {other} here; look whether they are swapped"


@check()
def check_untranslated(message: Message) -> Iterator[str]:
    """Sentences that are still the English ones."""
    words = re.findall(r"[A-Za-z]{2,}", message.words[0])
    if message.translation.strip() == message.text.strip():
        if len(words) > 2 and any(map(str.islower, words)) and not is_wordless(message.text):
            yield "the translation is the English text; translate it"
        return
    if message.language.script not in _EAST:
        return
    four = r"(?<![(（\"“A-Za-z])[A-Za-z][A-Za-z'’-]*(?:,?\s+[A-Za-z][A-Za-z'’-]*){3,}"
    titles = " ".join(
        map("".join, re.findall(r"`([^`<]+?)(?: <[^<>]*>)?`_|\"([^\"]+)\"|“([^”]+)”", message.text))
    )
    for found in re.findall(four, message.wording[1]):
        lower = sum(map(str.islower, found.split()))
        if lower > 2 and found in message.wording[0] and found not in titles:
            yield f"still English: {found[:60]}; translate it"


@advice(of={Kind.PROSE})
def check_emphasis(message: Message) -> Iterator[str]:
    """Emphasis of the source that is lost, and stars or backticks that readers would see."""
    source, target = message.source, message.target
    if target.plain.count("*") > source.plain.count("*"):
        yield "a star that readers would see; close what it opens, with no space inside: **words**"
    elif (target.strong, target.emphasized) < (source.strong, source.emphasized):
        yield "emphasis of the source is lost; put the words between the same stars"
    if source.parts == target.parts and target.plain.count("`") > source.plain.count("`"):
        yield "a backtick that readers would see; leave it out, or close what it opens"
