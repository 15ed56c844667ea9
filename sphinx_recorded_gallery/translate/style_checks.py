"""Advice on style: what a translation may get wrong though its page is whole.

What a language asks for follows from its script, which CLDR knows; what is a pattern alone stands
in ``script_rules.toml``. Each check is a generator. What it yields can be excused at the message::

    # check-po: allow numbers (why)
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from babel import numbers

from .catalogs import Kind, is_wordless
from .checks import ALL, Check, Message
from .hidden_characters import find_hidden, find_leftward
from .style_rules import load_script_rules, load_style_rules

_HAN = "\u3400-\u9fff"
_WIDE = {"Hans", "Hant"}  # full-width punctuation
_EAST = {"Kore", "Jpan", *_WIDE}
_CHARSET = {"Hans": "gb2312", "Hant": "cp950"}  # has the script's characters, not its sister's


# How a text ends

_SENTENCE = re.compile(r"[.?!](?=\s|$)|[。？！]")
_ENDS = {".": "full stop", "?": "question mark", ":": "colon", ";": "semicolon", ",": "comma"}
_HALF_WIDTH = str.maketrans("。！!？：；，、", "...?:;,,")
_CLOSING = "*\"'”’)）]」』》〉 "
_ABBREVIATIONS = (".m.", ".g.", ".e.")  # 3 p.m., e.g., i.e.
_KOREAN_SENTENCE = re.compile(r"(?:[가-힣]다|세요|십시오|[까죠])$")


def check_final_punctuation(message: Message) -> Iterator[str]:
    """Texts that end in another way than their source.

    Good: "It is fast." → "빠릅니다."
    Bad: "It is fast." → "빠릅니다,"
    """
    source, target = message.text.rstrip(), message.translation.rstrip()
    end_of_source, end_of_target = _end_of(source), _end_of(target)
    if target.endswith("::") and not source.endswith("::"):
        yield "ends with ::, which starts a block of code; write one"
    elif end_of_source == end_of_target:
        return
    elif end_of_target in (",", ";", ":") or (end_of_target == "?" and end_of_source == "."):
        name = _ENDS[end_of_target]
        yield f"ends with a {name}, and the source does not; end it as the source"
    elif end_of_source and not end_of_target and _needs_end(message, end_of_source):
        name = _ENDS[end_of_source]
        yield f"the {name} at the end is missing; write it, and look whether more is missing"


def _end_of(text: str) -> str:
    bare = text.rstrip(_CLOSING)
    last = bare[-1:].translate(_HALF_WIDTH)
    return last if last in _ENDS and not bare.endswith(_ABBREVIATIONS) else ""


def _needs_end(message: Message, end_of_source: str) -> bool:
    """Tell whether a translation without a mark at its end lacks one."""
    script = message.language.script
    text = message.translation.rstrip().rstrip(_CLOSING)
    if script == "Kore":  # a noun ends a phrase without a mark
        has_sentences = len(_SENTENCE.findall(message.text)) > 1
        is_one_of_several = end_of_source == "." and has_sentences and _SENTENCE.search(text)
        return bool(_KOREAN_SENTENCE.search(text) or is_one_of_several)
    return script in (*_WIDE, "Cyrl", "Grek") and len(message.text.split()) > 3


# Characters

_SPACES = {
    "at the start": "^[ \xa0\u3000]",
    "at the end": "[ \xa0\u3000]$",
    "doubled": r"\S[ \xa0\u3000]{2,}\S",
}
_PAIRS = {
    "(": ")",
    "[": "]",
    "{": "}",
    "（": "）",
    "［": "］",
    "「": "」",
    "『": "』",
    "《": "》",
    "〈": "〉",
    '"': '"',
}
_ODD_CATEGORIES = ("Mn", "Me", "Zs")


def check_spaces(message: Message) -> Iterator[str]:
    """Spaces at the start or the end, or two in a row, where the source has none.

    Good: "A word." → "말 하나."
    Bad: "A word." → "말  하나."
    """
    for place, pattern in _SPACES.items():
        if re.search(pattern, message.translation) and not re.search(pattern, message.text):
            yield f"space {place}; remove it"


def check_pairs(message: Message) -> Iterator[str]:
    """Brackets and quotation marks of which one is missing.

    Good: "A word (one)." → "말(하나)."
    Bad: "A word (one)." → "말(하나."
    """
    # „…“ and ”…” are pairs, too: these are counted together
    source, target = (re.sub("[„“”]", '"', text) for text in message.wording)
    for opening, closing in _PAIRS.items():
        if opening == closing:
            surplus, allowed = target.count(opening) % 2, source.count(opening) % 2
            lost = "a quotation mark"
        else:
            surplus = target.count(opening) - target.count(closing)
            allowed = source.count(opening) - source.count(closing)
            lost = closing if surplus > 0 else opening
        if surplus and not allowed:
            yield f"{lost} is missing, the other half of a pair; write it"


def check_script(message: Message) -> Iterator[str]:
    """Characters of traditional Chinese in simplified, and the other way round.

    Good (zh_CN): "Compile." → "编译。"
    Bad (zh_CN): "Compile." → "編譯。"
    """
    characters = set(re.findall(f"[{_HAN}]", message.translation)) - set(message.text)
    charset = _CHARSET[message.language.script]
    foreign = sorted(c for c in characters if not c.encode(charset, "ignore"))
    if foreign:
        text = " ".join(foreign)
        yield f"characters of the other Chinese script, or very rare: {text}; write others"


def check_character(message: Message) -> Iterator[str]:
    """Characters in pieces or lost, and blanks that are not the plain one.

    Good: "A kernel." → "커널."
    Bad: "A kernel." → "커\u00a0널."
    """
    text = message.translation
    if unicodedata.normalize("NFC", text) != text:
        yield "letters in pieces (NFD), as macOS names files; save the text as NFC"
        return
    for character in dict.fromkeys(text):
        is_odd = unicodedata.category(character) in _ODD_CATEGORIES or character == "\ufffd"
        if not is_odd or character == " " or character in message.text or find_hidden(character):
            continue  # what is hidden is refused
        code = f"U+{ord(character):04X}"
        yield f"{code} is lost, unseen or a special blank; write a plain character"


def check_direction(message: Message) -> Iterator[str]:
    """Letters that turn the direction of a line, in a language that is written to the right.

    Good: "A number." → "수."
    Bad: "A number." → "수 \u05d0."
    """
    script = message.language.script
    if letters := find_leftward(message.translation, script=script, source=message.text):
        yield f"letters written from right to left: {letters}; look whether they belong here"


# Names and terms


def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says.

    Bad: "A kernel." → "알맹이."
    """
    for term, expected in message.glossary.missing(message.language.code, *message.wording):
        yield f"{term!r} is {expected!r} in the glossary; use that term"


def check_names(message: Message) -> Iterator[str]:
    """Names that are translated, misspelt, or written with letters that only look like theirs.

    Good: "Run PyTorch." → "PyTorch를 실행합니다."
    Bad: "Run PyTorch." → "파이토치를 실행합니다."
    """
    source, target = message.wording
    for word in sorted(set(re.findall(r"(?<!\d )(?<![A-Za-z\d])[A-Za-z][A-Za-z0-9]{2,}", source))):
        name = word[:-1] if word.endswith("s") and word[:-1].isupper() else word
        has_capital_inside = any(map(str.isupper, name[1:])) and len(name) > 2
        is_name = has_capital_inside and source.strip() != name
        if (is_name or name in message.glossary.names) and name not in target:
            yield f"missing: the name {name}; names stay as they are, in Latin letters"


# Numbers

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
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
_QUANTITY = re.compile(rf"(?<![A-Za-z\d.])({_DIGITS.pattern})\s?({_UNIT})")
_UNIT_WORD = re.compile(
    r"\s?(?:퍼센트|밀리초|마이크로초|나노초|초|도|毫秒|微秒|纳秒|秒|摄氏度|度|瓦|[가-힣]*(?:바이트|헤르츠|와트)|.?(?:字节|赫))"
)


def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change.

    Good: "It takes 12 ms." → "12 ms가 걸립니다."
    Bad: "It takes 12 ms." → "21 ms가 걸립니다."
    """
    source, target = message.words
    if numbers.get_decimal_symbol(message.language.locale) != ".":  # 1.000 Aufrufe, 1,5 ms
        source, target = (re.sub(r"(?<=\d)[.,\u00a0\u202f](?=\d)", "", t) for t in (source, target))
    in_source, in_target = _count_numbers(source), _count_numbers(target)
    missing = in_source - in_target
    # "1" is an article in many languages
    added = [number for number in in_target - in_source if number != "1" and not in_source[number]]
    if missing.total() > len(_SCALED.findall(target)):
        for number in missing:
            instead = f", and there is {', '.join(added)}" if added else ""
            yield f"the number {number} is missing{instead}; numbers stay as they are"
    excused = 2 * len(_SAYS_NUMBER.findall(source)) + len(_SCALED.findall(source))
    if len(added) > excused or any(len(number) > 8 for number in added):
        for number in added:
            yield f"the number {number} is not in the source; numbers stay as they are"
    for quantity, unit in dict.fromkeys(_QUANTITY.findall(source)):
        if not _keeps_unit(quantity, unit, target):
            yield f"{quantity} {unit}: the unit is missing or another; keep it"


def _count_numbers(text: str) -> Counter[str]:
    """Return how often a text has each number, without separators of thousands."""
    digits = _DIGITS.findall(_SCALED.sub(" ", text))
    return Counter(re.sub(r",(?=\d{3}\b)", "", number) for number in digits)


def _keeps_unit(quantity: str, unit: str, target: str) -> bool:
    """Tell whether a quantity has its unit somewhere in a translation, or is not there at all."""
    places = [target[match.end() :] for match in re.finditer(re.escape(quantity), target)]
    if not places or (unit == "%" and f"百分之{quantity}" in target.replace(" ", "")):
        return True
    kept = re.compile(rf"\s?{re.escape(unit)}(?![A-Za-z/])")
    return any(kept.match(place) or _UNIT_WORD.match(place) for place in places)


# What a measured figure looks like in prose, and "from one to another" as languages say it
_FIGURE = r"(?:\{[^{}]+\}|:measured:`[^`]+`)"
_FROM_TO = re.compile(
    rf"(?:\bfrom|\bvon|\bde|从|從)\s*({_FIGURE})[^{{}}:.。]*?(?:\bto|\bauf|\bà|[到为為至])\s*({_FIGURE})"
    rf"|({_FIGURE})\S{{0,3}}(?:에서|から)[^{{}}:.。]*?({_FIGURE})\S{{0,3}}?(?:로|へ|に)"
)
_KEEPS_ORDER = re.compile(r"[.;:!?]\s|\b(?:and|or|but|while)\b")
_NAMED = (r"``.+?``", r"<[^<>\s]+>`_|:(?:doc|ref):`[^`]+`")


def check_order(message: Message) -> Iterator[str]:
    """Figures that were swapped, or literals and links between which a list or a sentence ends.

    Good: "Set ``a``. Then ``b``." → "``a`` 설정. 그다음 ``b``."
    Bad: "Set ``a``. Then ``b``." → "``b`` 설정. 그다음 ``a``."
    """
    turns = [tuple(filter(None, pair)) for pair in _FROM_TO.findall(message.text)]
    for pair in _FROM_TO.findall(message.translation):
        old, new = filter(None, pair)
        is_in_order = 0 <= message.text.find(old) < message.text.find(new)
        if (new, old) in turns or (is_in_order and (old, new) not in turns):
            yield f"reads from {old} to {new}, and the source the other way; swap the two"
    for pattern in _NAMED:
        in_source = re.findall(pattern, message.text)
        in_target = re.findall(pattern, message.translation)
        is_repeated = len(set(in_source)) < len(in_source)  # it may be meant twice
        if is_repeated or sorted(in_source) != sorted(in_target):
            continue
        for first, second in pairwise(in_source):
            between = message.text.split(first)[1].split(second)[0]
            is_swapped = in_target.index(first) > in_target.index(second)
            if is_swapped and _KEEPS_ORDER.search(between):
                yield f"{first} stands behind {second} here; look whether they are swapped"


# English

_FOUR_WORDS = re.compile(
    r"(?<![(（\"“A-Za-z])[A-Za-z][A-Za-z'’-]*(?:,?\s+[A-Za-z][A-Za-z'’-]*){3,}"
)
_TITLE = re.compile(r"`([^`<]+?)(?: <[^<>]*>)?`_|\"([^\"]+)\"|“([^”]+)”")


def check_untranslated(message: Message) -> Iterator[str]:
    """Sentences that are still the English ones.

    Good: "Try the other versions." → "다른 버전도 써 봅니다."
    Bad: "Try the other versions." → "Try the other versions."
    """
    if message.translation.strip() == message.text.strip():
        words = re.findall(r"[A-Za-z]{2,}", message.words[0])
        is_sentence = len(words) > 2 and any(map(str.islower, words))
        if is_sentence and not is_wordless(message.text):
            yield "the translation is the English text; translate it"
        return
    if message.language.script not in _EAST:
        return
    titles = " ".join("".join(title) for title in _TITLE.findall(message.text))
    source, target = message.wording
    for words in _FOUR_WORDS.findall(target):
        lower = sum(map(str.islower, words.split()))
        if lower > 2 and words in source and words not in titles:
            yield f"still English: {words[:60]}; translate it"


# Markup


def check_emphasis(message: Message) -> Iterator[str]:
    """Emphasis of the source that is lost, and stars or backticks that readers would see.

    Good: "A **bold** word." → "**굵은** 말."
    Bad: "A **bold** word." → "굵은 말."
    """
    source, target = message.source, message.target
    if target.plain.count("*") > source.plain.count("*"):
        yield "a star that readers would see; close what it opens, with no space inside: **words**"
    elif (target.strong, target.emphasized) < (source.strong, source.emphasized):
        yield "emphasis of the source is lost; put the words between the same stars"
    if source.parts == target.parts and target.plain.count("`") > source.plain.count("`"):
        yield "a backtick that readers would see; leave it out, or close what it opens"


def check_added_code(message: Message) -> Iterator[str]:
    """Code that the source does not have, where all of its code is kept.

    Good: "It calls ``f()``." → "``f()`` 호출, ``f()``."
    Bad: "It calls ``f()``." → "``f()`` 호출, ``g()``."
    """
    if not _has_code_of_source(message):
        return
    known = {value for _kind, value in message.source.parts}
    known |= {value for _source, value in message.differences.equivalent}
    literals = {value for kind, value in message.target.parts if kind == "literal"}
    if added := sorted(literals - known):
        code = ", ".join(added)
        yield f"code that the source does not have: {code}; look whether it belongs here"


def check_changed_code(message: Message) -> Iterator[str]:
    """Code that is left out, or shown otherwise: in words of the translation, by another role.

    Good: "Call ``f()``." → "``f()`` 호출."
    Bad: "Pass a ``(key, value)``." → "``(키, 값)`` 전달."
    """
    if not _has_code_of_source(message):
        return
    for source, target in message.differences.equivalent:
        yield f"{source} stands there as {target}; keep it if a program reads it"
    if left_out := message.differences.left_out:
        code = ", ".join(left_out)
        yield f"code of the source that is left out: {code}; look whether it is missed"


def _has_code_of_source(message: Message) -> bool:
    """Tell whether markup is the same but for what is advice."""
    differences = message.differences
    return not (message.new_problems or differences.missing or differences.added)


_WORDS = ALL - {Kind.FORMULA}
_PROSE = frozenset({Kind.PROSE})
# What is told of words has no say while markup is broken, since it tells one from the other.
ADVICE = (
    Check(name="added-code", run=check_added_code, of=_PROSE),
    Check(name="changed-code", run=check_changed_code, of=_PROSE),
    Check(name="character", run=check_character, scripts=_EAST, whole=True),
    Check(name="direction", run=check_direction),
    Check(name="emphasis", run=check_emphasis, of=_PROSE, whole=True),
    Check(name="final-punctuation", run=check_final_punctuation, of=_WORDS, whole=True),
    Check(name="glossary", run=check_glossary, of=_WORDS),
    Check(name="names", run=check_names, of=_WORDS, whole=True),
    Check(name="numbers", run=check_numbers, of=_WORDS, whole=True),
    Check(name="order", run=check_order, of=_PROSE, whole=True),
    Check(name="pairs", run=check_pairs, of=_WORDS, whole=True),
    Check(name="script", run=check_script, scripts=_CHARSET, whole=True),
    Check(name="spaces", run=check_spaces),
    Check(name="untranslated", run=check_untranslated),
)


def find_advice(locale: Path, language: str) -> list[Check]:
    """Return the checks that advise in a language of a site whose catalogs are in ``locale``.

    Raises ``GalleryError`` if its rules of style are damaged.
    """
    rules = [*load_script_rules(), *load_style_rules(locale, language)]
    return [*ADVICE, *(rule.check for rule in rules)]
