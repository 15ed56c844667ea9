"""Advice on style: mistakes in translations that do not spoil a page.

The rules of a language follow from its script, which CLDR knows; rules that are only patterns are
in ``script_rules.toml``. Each check is a generator. Its advice can be excused at the message::

    # check-po: allow numbers (why)
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from babel import numbers

from ..measurements.keys import CLAIM, MEASURED
from .catalogs import Kind, is_wordless
from .checks import ALL, Check, Message
from .equivalents import code_of, is_named_by_project
from .hidden_characters import find_hidden, find_leftward
from .style_rules import load_script_rules, load_sentence_ends, load_style_rules

_HAN = "\u3400-\u9fff"
_WIDE = {"Hans", "Hant"}  # full-width punctuation
_EAST = {"Kore", "Jpan", *_WIDE}
_CHARSET = {
    "Hans": "gb2312",
    "Hant": "cp950",
}  # of one script only


# How a text ends

_SENTENCE = re.compile(r"[.?!](?=\s|$)|[。？！]")
_ENDS = {".": "full stop", "?": "question mark", ":": "colon", ";": "semicolon", ",": "comma"}
_HALF_WIDTH = str.maketrans("。！!？：；，、", "...?:;,,")
_CLOSING = "*\"'”’)）]」』》〉 "
_ABBREVIATIONS = (".m.", ".g.", ".e.")  # 3 p.m., e.g., i.e.


def check_final_punctuation(message: Message) -> Iterator[str]:
    """Texts that end otherwise than their source.

    Good: "It is fast." → "빠릅니다."
    Bad: "It is fast." → "빠릅니다,"
    """
    source = message.text.rstrip()
    target = message.translation.rstrip()
    end_of_source = _end_of(source)
    end_of_target = _end_of(target)
    if target.endswith("::") and not source.endswith("::"):
        yield "ends with ::, which starts a block of code; write one"
    elif end_of_source == end_of_target:
        return
    elif end_of_target in (",", ";", ":") or (end_of_target == "?" and end_of_source == "."):
        name = _ENDS[end_of_target]
        yield f"ends with a {name}, and the source does not; end it like the source"
    elif end_of_source and not end_of_target and _needs_end(message, end_of_source):
        name = _ENDS[end_of_source]
        yield f"the {name} at the end is missing; write it, and check whether more is missing"


def _end_of(text: str) -> str:
    """Return the mark at the end of a text, in half width; empty if there is none."""
    bare = text.rstrip(_CLOSING)
    if bare.endswith(_ABBREVIATIONS):
        return ""
    last = bare[-1:].translate(_HALF_WIDTH)
    if last not in _ENDS:
        return ""
    return last


def _needs_end(message: Message, end_of_source: str) -> bool:
    """Return whether a translation without a mark at its end should have one."""
    script = message.language.script
    text = message.translation.rstrip().rstrip(_CLOSING)
    sentence_end = load_sentence_ends().get(script)
    if sentence_end is not None:  # a noun ends a phrase without a mark
        has_sentences = len(_SENTENCE.findall(message.text)) > 1
        is_one_of_several = end_of_source == "." and has_sentences and _SENTENCE.search(text)
        return bool(sentence_end.search(text) or is_one_of_several)
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
    """Brackets and quotation marks without their other half.

    Good: "A word (one)." → "말(하나)."
    Bad: "A word (one)." → "말(하나."
    """
    # „…“ and ”…” are pairs, too, so these marks are counted together.
    source, target = message.plain_words
    source = re.sub("[„“”]", '"', source)
    target = re.sub("[„“”]", '"', target)
    for opening, closing in _PAIRS.items():
        if opening == closing:
            surplus = target.count(opening) % 2
            allowed = source.count(opening) % 2
            missing = "a quotation mark"
        else:
            surplus = target.count(opening) - target.count(closing)
            allowed = source.count(opening) - source.count(closing)
            missing = closing if surplus > 0 else opening
        if surplus and not allowed:
            yield f"{missing} is missing, the other half of a pair; write it"


def check_script(message: Message) -> Iterator[str]:
    """Characters of traditional Chinese in simplified, and the other way round.

    Good (zh_CN): "Compile." → "编译。"
    Bad (zh_CN): "Compile." → "編譯。"
    """
    characters = set(re.findall(f"[{_HAN}]", message.translation)) - set(message.text)
    charset = _CHARSET[message.language.script]
    foreign = [character for character in characters if not character.encode(charset, "ignore")]
    if foreign:
        text = " ".join(sorted(foreign))
        yield f"characters of the other Chinese script, or very rare: {text}; write others"


def check_character(message: Message) -> Iterator[str]:
    """Decomposed or lost characters, and special blanks.

    Good: "A kernel." → "커널."
    Bad: "A kernel." → "커\u00a0널."
    """
    text = message.translation
    if unicodedata.normalize("NFC", text) != text:
        yield "decomposed letters (NFD), as in names of files on macOS; save the text as NFC"
        return
    for character in dict.fromkeys(text):
        is_odd = unicodedata.category(character) in _ODD_CATEGORIES or character == "\ufffd"
        if not is_odd or character == " " or character in message.text or find_hidden(character):
            continue  # hidden characters are refused by another check
        code = f"U+{ord(character):04X}"
        yield f"{code} is a lost, invisible or special character; write a plain one"


def check_direction(message: Message) -> Iterator[str]:
    """Letters written from right to left, in a language that is not.

    Good: "A number." → "수."
    Bad: "A number." → "수 \u05d0."
    """
    script = message.language.script
    letters = find_leftward(message.translation, script=script, source=message.text)
    if letters:
        yield f"letters written from right to left: {letters}; check whether they belong here"


# Names and terms


def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says.

    Bad: "A kernel." → "알맹이."
    """
    for term, expected in message.glossary.missing(message.language.code, *message.plain_words):
        yield f"{term!r} is {expected!r} in the glossary; use that term"


def check_names(message: Message) -> Iterator[str]:
    """Names that are translated, misspelt, or written with lookalike letters.

    Good: "Run PyTorch." → "PyTorch를 실행합니다."
    Bad: "Run PyTorch." → "파이토치를 실행합니다."
    """
    source, target = message.plain_words
    if message.kind is Kind.PROSE:  # a name may be shown as code
        target = " ".join([target, *map(code_of, message.target.parts)])
    words = re.findall(r"(?<!\d )(?<![A-Za-z\d])[A-Za-z][A-Za-z0-9]{2,}", source)
    for word in sorted(set(words)):
        name = word
        if word.endswith("s") and word[:-1].isupper():  # a plural such as GPUs
            name = word[:-1]
        has_capital_inside = len(name) > 2 and any(letter.isupper() for letter in name[1:])
        is_name = has_capital_inside and source.strip() != name
        if (is_name or name in message.glossary.names) and name not in target:
            yield f"missing: the name {name}; names stay as they are, in Latin letters"


# Numbers

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
# Where a comma begins the decimals
_OTHER_DIGITS = re.compile(r"\d+(?:[.,\u00a0\u202f]\d+)*")
_OTHER_THOUSANDS = re.compile(r"[.\u00a0\u202f](?=\d{3}(?!\d))")
# Numbers in words, which another language may write in digits or with other words
_NUMBER_WORD = re.compile(
    r"\b(?:zero|none|one|once|two|twice|three|four|five|six|seven|eight|nine|ten|eleven|twelve|both"
    r"|first|second|third|fourth|\w+th|hal[fv]\w*|quarters?|doubl\w+|triple\w*|tenths?|dozen|pair"
    r"|few|some|several|\w+ty|hundred\w*|thousand\w*|million|billion"
    r"|January|February|March|April|May|June|July|August|\w+ber)\b",
    re.IGNORECASE,
)
# Numbers that another language writes otherwise: 3 million, 300만, 3 pm; 50 % is also half
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
    in_source = _count_numbers(source)
    written: dict[str, str] = {}  # in the translation, by the form of the source
    if numbers.get_decimal_symbol(message.language.locale) != ".":  # 1.000 Aufrufe, 1,5 ms
        source = _THOUSANDS.sub("", source)
        target, written = _write_decimal_points(target, in_source)
    in_target = _count_numbers(target)
    missing = in_source - in_target
    # "1" is an article in many languages
    added = [number for number in in_target - in_source if number != "1" and not in_source[number]]
    if missing.total() > len(_SCALED.findall(target)):
        for number in missing:
            instead = ""
            if added:
                instead = f", and there is {', '.join(written.get(each, each) for each in added)}"
            yield f"the number {number} is missing{instead}; numbers stay as they are"
    excused = 2 * len(_NUMBER_WORD.findall(source)) + len(_SCALED.findall(source))
    if len(added) > excused or any(len(number) > 8 for number in added):
        for number in added:
            name = written.get(number, number)
            yield f"the number {name} is not in the source; numbers stay as they are"
    for quantity, unit in dict.fromkeys(_QUANTITY.findall(source)):
        if not _keeps_unit(quantity, unit, target):
            yield f"{quantity} {unit}: the unit is missing or changed; keep it"


def _count_numbers(text: str) -> Counter[str]:
    """Return how often a text has each number, without separators of thousands."""
    digits = _DIGITS.findall(_SCALED.sub(" ", text))
    return Counter(_THOUSANDS.sub("", number) for number in digits)


def _write_decimal_points(text: str, in_source: Counter[str]) -> tuple[str, dict[str, str]]:
    """Return a text with decimal commas as if it had points, and how it had each number written.

    3,5 becomes 3.5, and 1.000 becomes 1000. A number that ``in_source`` only has with a point, such
    as a version, is as in the source.
    """
    left = in_source.copy()
    written = {}

    def write(match: re.Match[str]) -> str:
        number = _OTHER_THOUSANDS.sub("", match[0]).replace(",", ".")
        as_in_source = _THOUSANDS.sub("", match[0])
        if not left[number] and left[as_in_source]:
            number = as_in_source
        written[number] = match[0]
        left[number] -= 1
        return number

    return _OTHER_DIGITS.sub(write, text), written


def _keeps_unit(quantity: str, unit: str, target: str) -> bool:
    """Return whether a quantity has its unit somewhere in a translation, or is missing."""
    places = [target[match.end() :] for match in re.finditer(re.escape(quantity), target)]
    if not places or (unit == "%" and f"百分之{quantity}" in target.replace(" ", "")):
        return True
    kept = re.compile(rf"\s?{re.escape(unit)}(?![A-Za-z/])")
    return any(kept.match(place) or _UNIT_WORD.match(place) for place in places)


# A measurement in prose, and "from one to another" in several languages
_FIGURE = rf"(?:\{{[^{{}}]+\}}|:{MEASURED}:`[^`]+`)"
_FROM_TO = re.compile(
    rf"(?:\bfrom|\bvon|\bde|从|從)\s*(?::{CLAIM}:`)?({_FIGURE})[^{{}}:.。]*?(?:\bto|\bauf|\bà|[到为為至])\s*({_FIGURE})"
    rf"|({_FIGURE})\S{{0,3}}(?:에서|から)[^{{}}:.。]*?({_FIGURE})\S{{0,3}}?(?:로|へ|に)"
    rf"|({_FIGURE})\s*→\s*({_FIGURE})"
)
_KEEPS_ORDER = re.compile(r"[.;:!?]\s|\b(?:and|or|but|while)\b")
_NAMED = (r"``.+?``", r"<[^<>\s]+>`_|:(?:doc|ref):`[^`]+`")


def check_order(message: Message) -> Iterator[str]:
    """Measurements that are swapped, or literals and links of different sentences or items.

    Good: "Set ``a``. Then ``b``." → "``a`` 설정. 그다음 ``b``."
    Bad: "Set ``a``. Then ``b``." → "``b`` 설정. 그다음 ``a``."
    """
    turns = [tuple(filter(None, pair)) for pair in _FROM_TO.findall(message.text)]
    for pair in _FROM_TO.findall(message.translation):
        old, new = filter(None, pair)
        is_in_order = 0 <= message.text.find(old) < message.text.find(new)
        if (new, old) in turns or (is_in_order and (old, new) not in turns):
            yield f"reads from {old} to {new}, and the source the other way round; swap them"
    for pattern in _NAMED:
        in_source = re.findall(pattern, message.text)
        in_target = re.findall(pattern, message.translation)
        is_repeated = len(set(in_source)) < len(in_source)  # the repetition may be intended
        if is_repeated or sorted(in_source) != sorted(in_target):
            continue
        for first, second in pairwise(in_source):
            between = message.text.split(first)[1].split(second)[0]
            is_swapped = in_target.index(first) > in_target.index(second)
            if is_swapped and _KEEPS_ORDER.search(between):
                yield f"{first} comes after {second} here; check whether they are swapped"


# English

_FOUR_WORDS = re.compile(
    r"(?<![(（\"“A-Za-z])[A-Za-z][A-Za-z'’-]*(?:,?\s+[A-Za-z][A-Za-z'’-]*){3,}"
)
_TITLE = re.compile(r"`([^`<]+?)(?: <[^<>]*>)?`_|\"([^\"]+)\"|“([^”]+)”")


def check_untranslated(message: Message) -> Iterator[str]:
    """Sentences that are still English.

    Good: "Try the other versions." → "다른 버전도 써 봅니다."
    Bad: "Try the other versions." → "Try the other versions."
    """
    if message.translation.strip() == message.text.strip():
        words = re.findall(r"[A-Za-z]{2,}", message.words[0])
        has_lower_case = any(word.islower() for word in words)
        is_sentence = len(words) > 2 and has_lower_case
        if is_sentence and not is_wordless(message.text):
            yield "the translation is the English text; translate it"
        return
    if message.language.script not in _EAST:
        return
    titles = " ".join("".join(title) for title in _TITLE.findall(message.text))
    source, target = message.plain_words
    for words in _FOUR_WORDS.findall(target):
        lower_case_words = [word for word in words.split() if word.islower()]
        if len(lower_case_words) > 2 and words in source and words not in titles:
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
    """Code that the source does not have, if all code of the source is kept.

    Good: "It calls ``f()``." → "``f()`` 호출, ``f()``."
    Bad: "It calls ``f()``." → "``f()`` 호출, ``g()``."
    """
    if not _has_code_of_source(message):
        return
    known = {value for _kind, value in message.source.parts}
    known |= {value for _source, value in message.differences.equivalent}
    literals = {value for kind, value in message.target.parts if kind == "literal"}
    added = sorted(literals - known)
    if added:
        code = ", ".join(added)
        yield f"code that the source does not have: {code}; check whether it belongs here"


def check_changed_code(message: Message) -> Iterator[str]:
    """Code that is left out, or shown otherwise: in words of the translation, by another role.

    Good: "Call ``f()``." → "``f()`` 호출."
    Bad: "Pass a ``(key, value)``." → "``(키, 값)`` 전달."
    """
    if not _has_code_of_source(message):
        return
    for source, target in message.differences.equivalent:
        if is_named_by_project(source, target, message.language):
            continue  # nothing is left to decide
        yield f"{source} stands there as {target}; keep it if a program reads it"
    left_out = message.differences.left_out
    if left_out:
        code = ", ".join(left_out)
        yield f"code of the source that is left out: {code}; look whether it is missed"


def _has_code_of_source(message: Message) -> bool:
    """Tell whether markup is the same but for what is advice."""
    differences = message.differences
    return not (message.new_problems or differences.missing or differences.added)


_WORDS = ALL - {Kind.FORMULA}
_PROSE = frozenset({Kind.PROSE})
# Checks of words are skipped while markup is broken, since it separates words from the rest.
ADVICE = (
    Check(name="added-code", run=check_added_code, kinds=_PROSE),
    Check(name="changed-code", run=check_changed_code, kinds=_PROSE),
    Check(name="character", run=check_character, scripts=_EAST, needs_intact_markup=True),
    Check(name="direction", run=check_direction),
    Check(name="emphasis", run=check_emphasis, kinds=_PROSE, needs_intact_markup=True),
    Check(
        name="final-punctuation",
        run=check_final_punctuation,
        kinds=_WORDS,
        needs_intact_markup=True,
    ),
    Check(name="glossary", run=check_glossary, kinds=_WORDS),
    Check(name="names", run=check_names, kinds=_WORDS, needs_intact_markup=True),
    Check(name="numbers", run=check_numbers, kinds=_WORDS, needs_intact_markup=True),
    Check(name="order", run=check_order, kinds=_PROSE, needs_intact_markup=True),
    Check(name="pairs", run=check_pairs, kinds=_WORDS, needs_intact_markup=True),
    Check(name="script", run=check_script, scripts=_CHARSET, needs_intact_markup=True),
    Check(name="spaces", run=check_spaces),
    Check(name="untranslated", run=check_untranslated),
)


def find_advice(locale: Path, language: str) -> list[Check]:
    """Return the checks that advise in a language of a site whose catalogs are in ``locale``.

    Raises ``GalleryError`` if its rules of style are damaged.
    """
    rules = load_script_rules() + load_style_rules(locale, language)
    return [*ADVICE, *[rule.check for rule in rules]]
