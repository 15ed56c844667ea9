"""The numbers of a translation: the same as in its source, with the same units."""

import re
from collections import Counter
from collections.abc import Iterator

from ..message import Message, advice
from .number_words import SCALES, find_english, find_words, is_count, may_say, says_half

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_SCALE = re.compile(rf" ?({'|'.join(sorted(SCALES, key=len, reverse=True))})")
_HOUR = re.compile(r"\b(\d{1,2})(?::\d\d)? ?p\.?m\b", re.IGNORECASE)
_UNIT = r"%|°C|[kMGT]i?B(?:/s)?|(?<=\s)[nµm]?s\b|[nµm]s\b|[kMG]?Hz|[GT]?FLOPS|W\b"
_QUANTITY = re.compile(rf"(?<![A-Za-z\d.])(\d+(?:[.,]\d+)*)\s?({_UNIT})")
_FRACTION = re.compile(r"(\d+) ?(?:분의|分之) ?(\d+)")
# Units that may be written in words
_IN_WORDS = {
    "%": "퍼센트|프로",
    "°C": "도|摄氏度|度",
    "s": "초|秒",
    "ms": "밀리초|毫秒",
    "µs": "마이크로초|微秒",
    "ns": "나노초|纳秒",
    "kB": "킬로바이트|千字节",
    "MB": "메가바이트|兆字节",
    "GB": "기가바이트|吉字节",
    "TB": "테라바이트|太字节",
    "Hz": "헤르츠|赫兹",
    "kHz": "킬로헤르츠|千赫",
    "MHz": "메가헤르츠|兆赫",
    "GHz": "기가헤르츠|吉赫",
    "W": "와트|瓦",
}
_STAY = "numbers stay as they are"


@advice()
def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change.

    Bad: 2.11 -> 2.12  Good: 2.11 -> 2.11
    """
    yield from _compare_numbers(*message.words)


def _compare_numbers(source: str, target: str) -> Iterator[str]:
    """Yield what is wrong with the numbers of a translation; their order may change."""
    english = find_english(source)
    if not (english or _DIGIT.search(source) or _DIGIT.search(target)):
        return
    numbers, translated = (
        Counter(_plain_number(n) for n in _NUMBER.findall(text)) for text in (source, target)
    )
    if numbers != translated:
        words = set(re.findall(r"[a-z]+", source.lower()))
        yield from _compare_digits(source, target, (numbers, translated), words)
    if english:
        yield from _compare_words(english, source, target)
    for whole, part in _FRACTION.findall(target):
        if float(whole) <= float(part):
            yield f"{part}/{whole} is upside down; the larger number stands first"
    for quantity, unit in dict.fromkeys(_QUANTITY.findall(source)):
        names = _IN_WORDS.get(unit)
        said = rf"{re.escape(unit)}(?![A-Za-z/])" + (f"|{names}" if names else "")
        if (
            _plain_number(quantity) in translated
            and not re.search(rf"{re.escape(quantity)}\s?(?:{said})", target)
            and not (unit == "%" and re.search(rf"百分之 ?{re.escape(quantity)}", target))
        ):
            yield f"{quantity} {unit}: the unit is missing or another; keep it"


def _compare_digits(
    source: str, target: str, numbers: tuple[Counter[str], Counter[str]], words: set[str]
) -> Iterator[str]:
    expected, translated = numbers
    # 300만 is three million, and 15 点 is 3 pm
    said, given = _values(source), _values(target)
    said += [value for _words, value in find_english(source)]
    said += [12 + int(hour) for hour in _HOUR.findall(source)]
    missing = [
        number
        for number in expected - translated
        if (number in translated or not {*_values(source, number)} & {*given})
        and not (number in _HOUR.findall(source) and 12 + int(number) in given)
        and not (number == "50" and says_half(target))
    ]
    for number in missing:
        yield f"the number {number} is missing; {_STAY}"
    for found in _NUMBER.finditer(target):
        number, behind = _plain_number(found[0]), target[found.end() :]
        scale = _SCALE.match(behind)
        value = round(_value(number) * SCALES[scale[1]]) if scale else _value(number)
        if number in expected or value in said or may_say(number, words):
            continue
        if missing or not is_count(number, behind):
            yield f"the number {number} is not in the source; {_STAY}"


def _compare_words(english: list[tuple[str, int]], source: str, target: str) -> Iterator[str]:
    """Yield a number in words that the source does not have, where one of its own is missing."""
    in_words = find_words(target)
    given = Counter([*_values(target), *(value for _text, value in in_words)])
    wanted = Counter(value for _text, value in english)
    missing = {text: value for text, value in english if value > 1 and given[value] < wanted[value]}
    words = set(re.findall(r"[a-z]+", source.lower()))
    said = {*_values(source), *wanted}
    for text, value in dict(in_words).items() if missing else ():
        if value not in said and not may_say(str(value), words):
            yield f"{text} is {value}, and the source says {' and '.join(missing)}"


def _values(text: str, number: str | None = None) -> list[float]:
    """Return the values of all numbers in digits, or of one, also with what multiplies them."""
    found: list[float] = []
    for each in _NUMBER.finditer(text):
        if number not in (None, plain := _plain_number(each[0])):
            continue
        found.append(value := _value(plain))
        if scale := _SCALE.match(text, each.end()):
            found.append(round(value * SCALES[scale[1]]))
    return found


def _value(number: str) -> float:
    is_plain = number.isascii() and number.count(".") < 2 and "," not in number
    return float(number) if is_plain else -1.0


def _plain_number(number: str) -> str:
    return re.sub(r",(?=\d{3}\b)", "", number)
