"""Checks that advise: numbers, terms, spaces, texts left in English or to be revised."""

import re
from collections import Counter
from collections.abc import Iterator

from ..catalogs import Kind, is_wordless
from .message import ALL, Message, check
from .structure import ADDRESS, PLACEHOLDER, TAG

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
_NAME = re.compile(r"`[^`]+`")


@check(of=ALL - {Kind.FORMULA})
def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change.

    Bad: 2.11 -> 2.12
    Good: 2.11 -> 2.11
    """
    source, target = message.words
    numbers, translated = (
        Counter(_plain_number(n) for n in _NUMBER.findall(text)) for text in (source, target)
    )
    in_source = set(re.findall(r"[a-z]+", source.lower()))
    words = {number for number, names in _NUMBER_WORDS.items() if in_source & set(names.split())}
    for number in numbers - translated:
        yield f"the number {number} is missing; numbers stay as they are"
    for number in translated - numbers:
        if number not in words and number not in numbers:
            yield f"the number {number} is not in the source; numbers stay as they are"
    for quantity, unit in dict.fromkeys(_QUANTITY.findall(source)):
        if _plain_number(quantity) in translated and not re.search(
            rf"{re.escape(quantity)}\s?{re.escape(unit)}(?![A-Za-z/])", target
        ):
            yield f"{quantity} {unit}: the unit is missing or another; keep it"


def _drop_names(text: str) -> str:
    """Leave out what only looks like words: placeholders, tags, addresses, names in backticks."""
    for pattern in (TAG, ADDRESS, PLACEHOLDER, _NAME):
        text = pattern.sub(" ", text)
    return text


def _plain_number(number: str) -> str:
    return re.sub(r",(?=\d{3}\b)", "", number).rstrip(".,")


@check()
def check_untranslated(message: Message) -> Iterator[str]:
    """Sentences that are still the English ones.

    Bad: Measure with your own inputs. -> Measure with your own inputs.
    Good: Measure with your own inputs. -> 직접 쓰는 입력으로 측정합니다.
    """
    words = re.findall(r"[A-Za-z]{2,}", message.words[0])
    names_only = not any(word.islower() for word in words)
    same = message.translation.strip() == message.text.strip()
    if same and len(words) > 2 and not names_only and not is_wordless(message.text):
        yield "the translation is the English text; translate it"


@check()
def check_spaces(message: Message) -> Iterator[str]:
    """Spaces at the start or the end, or two in a row, where the source has none.

    Bad: "빠릅니다.  다음은"
    Good: "빠릅니다. 다음은"
    """
    for place, pattern in (
        ("at the start", r"^[ \u00a0\u3000]"),
        ("at the end", r"[ \u00a0\u3000]$"),
        ("doubled", r"\S[ \u00a0\u3000]{2,}\S"),
    ):
        if re.search(pattern, message.translation) and not re.search(pattern, message.text):
            yield f"space {place}; remove it"
    ends = {text.endswith("\n") for text in (message.text, message.translation)}
    if "\n" in message.text and len(ends) > 1:
        yield "source and translation do not both end with \\n; add or remove it"


@check(of=ALL - {Kind.FORMULA})
def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says.

    Bad: kernel -> 핵
    Good: kernel -> 커널
    """
    source, target = map(_drop_names, message.words)
    for term, expected in message.glossary.missing(message.language, source, target):
        yield f"{term!r} is {expected!r} in the glossary; use that term"


@check()
def check_fuzzy(message: Message) -> Iterator[str]:
    """Take no translation that waits to be revised because the source changed.

    Bad: #, fuzzy
    Good: the translation revised, the line "#, fuzzy" removed
    """
    if message.fuzzy:
        yield "fuzzy: the source has changed (see #|); revise it and remove the flag"
