"""The numbers of a translation: the same as in its source, with the same units."""

import re
from collections import Counter
from collections.abc import Iterator

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_UNIT = r"%|°C|[kMGT]i?B(?:/s)?|(?<=\s)[nµm]?s\b|[nµm]s\b|[kMG]?Hz|[GT]?FLOPS|W\b"
_QUANTITY = re.compile(rf"(?<![A-Za-z\d.])(\d+(?:[.,]\d+)*)\s?({_UNIT})")
# Numbers that may stand for a word: "half" is 절반, 2분의 1 or 50 %.
_NUMBER_WORDS = {
    "0": "zero none",
    "1": "one once single first half halves third thirds quarter quarters fourth fifth "
    "tenth tenths hundredth hundredths thousandth january",
    "2": "two twice second both half halves halve halved double doubles doubled pair february",
    "3": "three third thirds triple triples tripled march",
    "4": "four fourth quarter quarters april",
    "5": "five fifth may",
    "6": "six sixth june",
    "7": "seven seventh july",
    "8": "eight eighth august",
    "9": "nine ninth september",
    "10": "ten tenth tenths october billion",
    "11": "eleven november",
    "12": "twelve dozen december",
    "20": "twenty",
    "50": "fifty half",
    "100": "hundred hundredth hundredths million",
    "1000": "thousand thousandth",
}


def compare_numbers(source: str, target: str) -> Iterator[str]:
    """Yield what is wrong with the numbers of a translation; their order may change."""
    numbers, translated = (
        Counter(_plain_number(n) for n in _NUMBER.findall(text)) for text in (source, target)
    )
    in_source = set(re.findall(r"[a-z]+", source.lower()))
    words = {number for number, names in _NUMBER_WORDS.items() if in_source & set(names.split())}
    for number in numbers - translated:
        yield f"the number {number} is missing; numbers stay as they are"
    for number in translated:
        if number not in words and number not in numbers:
            yield f"the number {number} is not in the source; numbers stay as they are"
    for quantity, unit in dict.fromkeys(_QUANTITY.findall(source)):
        if _plain_number(quantity) in translated and not re.search(
            rf"{re.escape(quantity)}\s?{re.escape(unit)}(?![A-Za-z/])", target
        ):
            yield f"{quantity} {unit}: the unit is missing or another; keep it"


def _plain_number(number: str) -> str:
    return re.sub(r",(?=\d{3}\b)", "", number)
