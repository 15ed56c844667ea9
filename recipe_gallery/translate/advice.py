"""Advice on style: what a translation may get wrong though its page is whole.

What a language asks for follows from its script, which CLDR knows. Each check is a generator; what
it yields can be excused at the message (``# check-po: allow numbers (why)``).
"""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from itertools import pairwise

from babel import Locale, numbers

from .catalogs import Kind, is_wordless
from .checks import ALL, CHECKS, Message, advice, check
from .comments import HIDDEN  # which is refused

__all__ = ["CHECKS"]  # with these

HAN, HANGUL, KANA = "\u3400-\u9fff", "\uac00-\ud7a3\u3131-\u318e", "\u3041-\u30fa"
_LETTERS = {"Korean": HANGUL, "Chinese": HAN, "Japanese": KANA, "Cyrillic": "\u0400-\u052f"}
_OWN = {"Kore": "Korean", "Hans": "Chinese", "Hant": "Chinese", "Jpan": "Chinese Japanese"}
_CHARSET = {"Hans": "gb2312", "Hant": "cp950"}  # has the script's characters, not its sister's
_WIDE = ("Hans", "Hant")  # full-width punctuation
_EAST = ("Kore", "Jpan", *_WIDE)
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
    """Texts that end in another way than their source.

    Bad: It is fast. -> 빠릅니다  Good: It is fast. -> 빠릅니다.
    """
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
    elif now == "." and (
        (was == ":" and script in _WIDE)
        or (was == "?" and script in _WIDE and sentences == 1)
        or (
            not was
            and script == "Kore"
            and not _KOREAN_SENTENCE.search(target.rstrip(f"{_CLOSING}.!"))
        )
    ):
        yield "ends with a full stop, and the source does not; end it as the source"


def _end_of(text: str) -> str:
    bare = text.rstrip(_CLOSING)
    last = bare[-1:].translate(_HALF_WIDTH)
    return last if last in _ENDS and not bare.endswith((".m.", ".g.", ".e.")) else ""


def _needs_end(script: str, text: str, words: int, was: str, sentences: int) -> bool:
    if script == "Kore":  # a noun ends a phrase without a mark
        inside = was == "." and sentences > 1 and _SENTENCE.search(text)
        return bool(_KOREAN_SENTENCE.search(text) or inside)
    return script in (*_WIDE, "Cyrl", "Grek") and words > 3


@advice(scripts={"Kore", *_WIDE})
def check_width(message: Message) -> Iterator[str]:
    """Punctuation of the wrong width: half in Chinese sentences, full in Korean ones.

    Bad: 빠릅니다。  Good: 빠릅니다.
    """
    text = message.wording[1]
    if message.language.script == "Kore":
        wide = "[\uff01-\uff0f\uff1a-\uff3f\uff41-\uff5e、。]"
        if not text.isascii() and (found := _new(message, wide, text)):
            yield f"full-width punctuation: {found}; write it in half width"
    elif re.search(f"[{HAN}]", text):
        narrow = (
            rf"[,;!?](?!\d)|(?<=[{HAN}])\s*:(?![a-z:])|(?<!:):(?=\s*[{HAN}]|\s*$)|\.$"
            rf"|(?<=[{HAN}])\.(?=\s|$|[{HAN}])|\((?=[^()]*[{HAN}])|(?<=[{HAN}])\("
        )
        narrow += "" if message.kind is Kind.COMMENT else rf"|\"(?=[{HAN}])|(?<=[{HAN}])\""
        if found := _new(message, narrow, text):
            yield f"half-width punctuation: {found}; write it in full width"


@advice(scripts={"Kore", *_WIDE})
def check_spacing(message: Message) -> Iterator[str]:
    """Spaces beside Latin words in Chinese, and before particles in Korean.

    Bad: ``fit`` 은 빠릅니다.  Good: ``fit``은 빠릅니다.
    """
    text = message.translation
    if message.language.script == "Kore":
        particle = r"(?<=[\w`)%]) (?:은|는|을|를|과|와|의|에서|으로|에게)(?=[\s.,]|$)"
        if found := _new(message, particle, text):
            yield f"a space before a particle: {found}; remove it"
        return
    missing = rf"[{HAN}][A-Za-z0-9]|[A-Za-z0-9][{HAN}]|[{HAN}](?=``)|(?<=``)[{HAN}]"
    if found := _new(message, missing, text):
        yield f"no space between Chinese and Latin text: {found}; put one there"
    if found := _new(
        message, rf"[{HAN}] (?=[，。：；？！）、」》”])|[，。：；？！（、「《“] (?=[\w`])", text
    ):
        yield f"a space beside full-width punctuation: {found}; remove it"


@check()
def check_spaces(message: Message) -> Iterator[str]:
    """Spaces at the start or the end, or two in a row, where the source has none.

    Bad: "빠릅니다.  다음은"  Good: "빠릅니다. 다음은"
    """
    places = {"at the start": "^[ \xa0\u3000]", "at the end": "[ \xa0\u3000]$"}
    for place, pattern in (places | {"doubled": r"\S[ \xa0\u3000]{2,}\S"}).items():
        if re.search(pattern, message.translation) and not re.search(pattern, message.text):
            yield f"space {place}; remove it"


@advice()
def check_pairs(message: Message) -> Iterator[str]:
    """Brackets and quotation marks of which one is missing.

    Bad: 경과 시간(wall을 봅니다.  Good: 경과 시간(wall)을 봅니다.
    """
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


@advice(of=ALL)
def check_script(message: Message) -> Iterator[str]:
    """Letters of another language's script, and characters of traditional Chinese in simplified.

    Bad: 커널을 融合합니다  Good: 커널을 융합합니다
    """
    script, text = message.language.script, message.translation
    if script not in _OWN or text.isascii():
        return
    for name, letters in _LETTERS.items():
        if name not in _OWN[script] and (found := _new(message, f"[{letters}]+", text, 0)):
            yield f"{name} letters: {found}; write the text in {message.language.name}"
    if charset := _CHARSET.get(script):
        others = set(re.findall(f"[{HAN}]", text)) - set(message.text)
        if found := " ".join(sorted(c for c in others if not c.encode(charset, "ignore"))):
            yield f"characters of the other Chinese script, or very rare: {found}; write others"


@advice(of=ALL)
def check_character(message: Message) -> Iterator[str]:
    """Characters in pieces, lost, private or unseen, and blanks that are not the plain one.

    Bad: 커널을<U+00A0>융합  Good: 커널을 융합
    """
    text = message.translation
    if message.language.script not in _OWN or text.isascii():
        return
    if unicodedata.normalize("NFC", text) != text:
        yield "letters in pieces (NFD), as macOS names files; save the text as NFC"
        return
    for each in dict.fromkeys(text):
        odd = unicodedata.category(each) in ("Co", "Cf", "Mn", "Me", "Zs") or each in "\ufffd\u2028"
        if odd and each != " " and each not in message.text and not HIDDEN.match(each):
            yield f"U+{ord(each):04X} is lost, unseen or a special blank; write a plain character"


# Letters that look like Latin ones
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕԁһԛԝкмтАВЕКМНОРСТХУІЈЅοαρνυικτΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijsdhqwkmtABEKMHOPCTXYIJSoapvuiktABEZHIKMNOPTYX",
)


@advice()
def check_names(message: Message) -> Iterator[str]:
    """Names that are translated, misspelt, or written with letters that only look like theirs.

    Bad: 파이토치  Good: PyTorch
    """
    source, target = message.wording
    words = set(re.findall(r"(?<!\d )(?<![A-Za-z\d])[A-Za-z][A-Za-z0-9]{2,}", source))
    for word in sorted(words):
        name = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
        is_name = any(map(str.isupper, name[1:])) and len(name) > 2 and source.strip() != name
        if not (is_name or name in message.glossary.names) or name in target:
            continue
        if name in target.translate(_LOOKALIKES):
            yield f"{name} is written with letters that only look like it; type it anew"
            continue
        spelt = {
            w.lower(): w for w in re.findall(r"[A-Za-z][A-Za-z0-9]*", target) if w not in words
        }
        similar = get_close_matches(name.lower(), spelt, 1, 0.7)
        wrong = f"{spelt[similar[0]]}: the name is spelt" if similar else "missing: the name"
        yield f"{wrong} {name}; names stay as they are, in Latin letters"


_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
# What a measured figure looks like in prose, and "from one to another" as languages say it
_FIGURE = r"(?:\{[^{}]+\}|:measured:`[^`]+`)"
_FROM_TO = re.compile(
    rf"(?:\bfrom|\bvon|\bde|从|從)\s*({_FIGURE})[^{{}}:.。]*?(?:\bto|\bauf|\bà|[到为為至])\s*({_FIGURE})"
    rf"|({_FIGURE})\S{{0,3}}(?:에서|から)[^{{}}:.。]*?({_FIGURE})\S{{0,3}}?(?:로|へ|に)"
)
# Where one of these stands between two things, other languages often name the second one first
_TURNS = re.compile(
    r"\b(?:in|of|with|within|without|under|on|from|by|for|than|instead|rather|before|after|unless"
    r"|if|when|where|which|that|because|below|above|beside|to|into|as|at|per|like|not|unlike|times)\b"
)
_KEEPS = re.compile(r"[.;:!?]\s|\b(?:and|or|but|while)\b")
_SCALES = {
    "만": 4,
    "천": 3,
    "백만": 6,
    "억": 8,
    "万": 4,
    "千": 3,
    "百万": 6,
    "亿": 8,
    "萬": 4,
    "億": 8,
}
_SCALES |= {"thousand": 3, "million": 6, "billion": 9}
_SCALED = re.compile(rf"(\d+(?:[.,]\d+)*) ?({'|'.join(sorted(_SCALES, key=len, reverse=True))})")
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve"
_WORDS = {word: str(number) for number, word in enumerate(_UNITS.split())}
_SAYS_NUMBER = re.compile(
    r"\b(?:zero|none|one|once|two|twice|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both"
    r"|first|second|third|fourth|\w+th|hal[fv]\w*|quarters?|doubl\w+|triple\w*|tenths?|dozen|pair"
    r"|few|some|several|\w+ty|hundred\w*|thousand\w*|million|billion"
    r"|January|February|March|April|May|June|July|August|\w+ber)\b",
    re.IGNORECASE,
)
_UNIT = r"%|°C|[kMGT]i?B(?:/s)?|(?<=\s)[nµm]?s\b|[nµm]s\b|[kMG]?Hz|[GT]?FLOPS|W\b"
_UNIT_WORD = re.compile(
    r"\s?(?:퍼센트|밀리초|마이크로초|나노초|초|도|毫秒|微秒|纳秒|秒|摄氏度|度|瓦|[가-힣]*(?:바이트|헤르츠|와트)|.?(?:字节|赫))"
)


@advice()
def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change.

    Bad: 2.11 -> 2.12  Good: 2.11 -> 2.11
    """
    source, target = message.words
    was = Counter(re.sub(r",(?=\d{3}\b)", "", each) for each in _DIGITS.findall(source))
    target = _in_english(target, was, message.language.locale)
    now = Counter(re.sub(r",(?=\d{3}\b)", "", each) for each in _DIGITS.findall(target))
    said, given = _values(source), _values(target)
    values = {value for each in said.values() for value in each}
    missing = [n for n in was - now if n in now or not any(said[n] & v for v in given.values())]
    afternoon = {
        str(12 + int(hour)) for hour in re.findall(r"\b(\d{1,2})(?::\d\d)? ?p\.?m\b", source)
    }
    for number in missing:
        if not afternoon & now.keys() and not (number == "50" and re.search("반|半", target)):
            yield f"the number {number} is missing; numbers stay as they are"
    for number in now - was:
        is_said = _SAYS_NUMBER.search(source) or number == "1"  # an, each, per
        may_count = number.isdigit() and _value(number) <= 100 and is_said and not missing
        in_words = _value(number) in values or _value(number) * 100 in values
        if number not in was and not (
            may_count or in_words or given[number] & values or number in afternoon
        ):
            yield f"the number {number} is not in the source; numbers stay as they are"
    for quantity, unit in dict.fromkeys(
        re.findall(rf"(?<![A-Za-z\d.])({_DIGITS.pattern})\s?({_UNIT})", source)
    ):
        places = [target[found.end() :] for found in re.finditer(re.escape(quantity), target)]
        kept = re.compile(rf"\s?{re.escape(unit)}(?![A-Za-z/])")
        percent = unit == "%" and f"百分之{quantity}" in target.replace(" ", "")
        if places and not percent and not any(kept.match(p) or _UNIT_WORD.match(p) for p in places):
            yield f"{quantity} {unit}: the unit is missing or another; keep it"


def _in_english(text: str, known: Collection[str], locale: Locale) -> str:
    """Return a text with its numbers in English form, if they are in that of its language.

    What the source has stays: 2.11 is a version in every language.
    """
    group, point = numbers.get_group_symbol(locale), numbers.get_decimal_symbol(locale)
    if group.isspace():
        text = re.sub(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))", "", text)
    if (group, point) == (",", "."):
        return text

    def convert(found: re.Match[str]) -> str:
        plain = re.sub(rf"{re.escape(group)}(?=\d{{3}}(?!\d))", "", found[0]).replace(point, ".")
        return found[0] if found[0] in known else plain

    return _DIGITS.sub(convert, text)


def _value(number: str) -> float:
    plain = number.replace(",", "")
    return float(plain) if plain.isascii() and plain.count(".") < 2 else -1.0


def _values(text: str) -> dict[str, set[float]]:
    """Return what each number of a text may mean, with a word behind it, too: 300만, 3 million."""
    text = re.sub("[a-z]+", lambda word: _WORDS.get(word[0], word[0]), text.lower())
    found: dict[str, set[float]] = defaultdict(set)
    for each in _DIGITS.finditer(text):
        value = _value(each[0])
        names = {each[0], re.sub(r",(?=\d{3}\b)", "", each[0])}
        scaled = value < 1e15 and _SCALED.match(text, each.start())
        for name in names:
            found[name] |= {value} | (
                {round(value * 10 ** _SCALES[scaled[2]])} if scaled else set()
            )
    return found


@advice(of={Kind.PROSE})
def check_order(message: Message) -> Iterator[str]:
    """Figures, literals or links that were swapped.

    Bad: in {b} instead of {a} -> {b}에서 {a}로  Good: in {b} instead of {a} -> {a}에서 {b}로
    """
    turns = [tuple(filter(None, each)) for each in _FROM_TO.findall(message.text)]
    for pair in _FROM_TO.findall(message.translation):
        old, new = filter(None, pair)
        at, then = message.text.find(old), message.text.find(new)
        if (new, old) in turns or (0 <= at < then and (old, new) not in turns):
            yield f"reads from {old} to {new}, and the source the other way; swap the two"
    for kind in (r"``.+?``", r"<[^<>\s]+>`_|:(?:doc|ref):`[^`]+`"):
        was = list(re.finditer(kind, message.text))
        names, now = [each[0] for each in was], re.findall(kind, message.translation)
        if len(set(names)) < len(names) or sorted(names) != sorted(now):
            continue  # one that stands there twice may be meant twice
        for one, other in pairwise(was):
            between = message.text[one.end() : other.start()]
            turned = now.index(one[0]) > now.index(other[0])
            if turned and (_KEEPS.search(between) or not _TURNS.search(between)):
                yield f"{one[0]} stands behind {other[0]} here; look whether they are swapped"
                break


@check()
def check_untranslated(message: Message) -> Iterator[str]:
    """Sentences that are still the English ones.

    Bad: Measure with your own inputs. -> Measure with your own inputs.
    Good: Measure with your own inputs. -> 직접 쓰는 입력으로 측정합니다.
    """
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
    """Bold or italics of the source that are lost, and stars or backticks that readers would see.

    Bad: ** 주의 ** 실행 전  Good: **주의** 실행 전
    """
    source, target = message.source, message.target
    if target.plain.count("*") > source.plain.count("*"):
        yield "a star that readers would see; close what it opens, with no space inside: **words**"
    elif (target.strong, target.emphasized) < (source.strong, source.emphasized):
        yield "emphasis of the source is lost; put the words between the same stars"
    if source.parts == target.parts and target.plain.count("`") > source.plain.count("`"):
        yield "a backtick that readers would see; leave it out, or close what it opens"
    if _new(message, r"\.\. [\w-]+::", message.translation, 0):
        yield "a directive, which readers would see as it is; leave it out"


@advice()
def check_doubled_word(message: Message) -> Iterator[str]:
    """Words that stand twice in a row.

    Bad: 커널을 커널을 융합합니다.  Good: 커널을 융합합니다.
    """
    source, target = message.wording
    patterns = [r"(?<![\w.])([^\W\d_]\w*)\s+\1(?!\w)"]
    if message.language.script in ("Hans", "Hant"):
        patterns.append(rf"(?!一)([{HAN}]{{2,6}})\1|(?<!目)的的(?!确)|把把|被被")
    for pattern in patterns:
        if (found := re.search(pattern, target)) and found[0] not in source:
            yield f"written twice: {found[0]}; remove one"


@advice(scripts={"Kore"})
def check_register(message: Message) -> Iterator[str]:
    """Sentences of another style than 합니다.

    Bad: 커널을 융합한다.  Good: 커널을 융합합니다.
    """
    text, end = message.wording[1].rstrip(), r"(?=[.!](?:[\s)\"'”’*]|$)|$)"
    for pattern in (
        rf"(?:(?<![니보마])다|(?<=아니)다){end}",
        rf"(?:(?<![세필개중주수소강])요|죠){end}",
    ):
        if found := re.search(pattern, text):
            yield f"another style: ...{text[: found.end()][-8:]}; write 합니다, as all pages do"
