"""Numbers in words: of English, and as Korean and Chinese write them."""

import re
from collections.abc import Iterator
from functools import lru_cache

# Numbers that may stand for a word: "half" is 절반, 2분의 1 or 50 %.
_MAY_SAY = {
    "0": "zero none",
    "1": "one once single first half halves third thirds quarter quarters fourth fifth "
    "tenth tenths hundredth hundredths thousandth january a an each every per whole",
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
_VAGUE = {"several", "few", "couple", "some"}  # which a range may stand for: 2~3
_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL = {word: number for number, word in enumerate(_UNITS.split())} | {
    word: 10 * number for number, word in enumerate(_TENS.split(), start=2)
}
_SMALL |= {"both": 2, "twice": 2}
_LARGE = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_ENGLISH_WORDS = {*_SMALL, *_LARGE}
_ENGLISH = re.compile(r"\b(?:{0})(?:[- ](?:{0}))*\b".format("|".join(_ENGLISH_WORDS)))
_LETTERS = re.compile("[a-z]+")
# Behind digits: what they are multiplied with
SCALES = {
    **{"만": 10**4, "천": 10**3, "백만": 10**6, "억": 10**8, "조": 10**12},
    **{"万": 10**4, "千": 10**3, "百万": 10**6, "亿": 10**8, "萬": 10**4, "億": 10**8},
    **{"thousand": 10**3, "million": 10**6, "billion": 10**9},
}
_NATIVE = {
    **{"두": 2, "둘": 2, "세": 3, "셋": 3, "네": 4, "넷": 4, "다섯": 5, "여섯": 6, "일곱": 7},
    **{"여덟": 8, "아홉": 9, "열": 10, "열한": 11, "열하나": 11, "열두": 12, "열둘": 12},
    **{"스무": 20, "스물": 20},
}
_COUNTERS = "가지|개|번|회|차례|단계|부분|종류|배|줄|곳|쪽|대|명|사람|시간|달|스텝|계층|블록"
_HAN_COUNTERS = "个種种次类類步条條轮輪倍层層份项項张張台遍行列节節天年位段块塊组組批处页页件篇秒者"
_KOREAN = re.compile(
    r"(?<![가-힣])(열하나|열[두둘한]|다섯|여섯|일곱|여덟|아홉|스무|스물|둘|셋|넷"
    rf"|[두세네](?= |{_COUNTERS})|열(?= ?(?:{_COUNTERS})))"
)
_CHINESE = re.compile(rf"(?<![几百千万分之])([一二两三四五六七八九十]{{1,3}})(?=[{_HAN_COUNTERS}])")
_HAN_DIGITS = {each: number for number, each in enumerate("一二三四五六七八九", start=1)} | {
    "两": 2
}
_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_FEW = set(map(str, range(11)))
_COUNTED = re.compile(rf" ?(?:{_COUNTERS}|[{_HAN_COUNTERS}])")
_HALF = re.compile("반|半")


@lru_cache(maxsize=4096)
def find_english(text: str) -> list[tuple[str, int]]:
    """Return English words that say numbers, with these numbers."""
    return [(text[start:end], value) for value, start, end in _search_english(text)]


def _search_english(text: str) -> Iterator[tuple[int, int, int]]:
    lower = text.lower()
    if not _ENGLISH_WORDS.isdisjoint(_LETTERS.findall(lower)):  # quicker than the pattern
        for found in _ENGLISH.finditer(lower):
            yield _read_english(found[0]), found.start(), found.end()


def _read_english(words: str) -> int:
    total = part = 0
    for word in _LETTERS.findall(words):
        if word in _SMALL:
            part += _SMALL[word]
        elif _LARGE[word] == 100:
            part = (part or 1) * 100
        else:
            total, part = total + (part or 1) * _LARGE[word], 0
    return total + part


def find_words(text: str) -> list[tuple[str, int]]:
    """Return the numbers from 2 on that Korean or Chinese words say, with these words."""
    return [(text[start:end], value) for value, start, end in _search_words(text) if value > 1]


def _search_words(text: str) -> Iterator[tuple[int, int, int]]:
    if not text.isascii():
        for found in _KOREAN.finditer(text):
            yield _NATIVE[found[0]], found.start(), found.end()
        for found in _CHINESE.finditer(text):
            yield _read_han(found[1]), found.start(), found.end()


def _read_han(text: str) -> int:
    tens, ten, units = text.rpartition("十")
    return (_HAN_DIGITS.get(tens, 1) * 10 if ten else 0) + _HAN_DIGITS.get(units, 0)


@lru_cache(maxsize=4096)
def find_numbers(text: str) -> list[tuple[str, int, int]]:
    """Return the numbers of a text, in digits or words, as digits, with where they stand."""
    found = [(each[0], each.start(), each.end()) for each in _DIGITS.finditer(text)]
    for search in (_search_english, _search_words):
        found += [(str(value), start, end) for value, start, end in search(text)]
    return sorted((each for each in found if each[0] != "1"), key=lambda each: each[1])


def may_say(number: str, source_words: set[str]) -> bool:
    """Tell whether a number may stand for one of the words of the source."""
    if source_words & _VAGUE and len(number) == 1 and 1 < int(number) < 10:
        return True
    return bool(source_words & set(_MAY_SAY.get(number, "").split()))


def is_count(number: str, behind: str) -> bool:
    """Tell a small number of things, which a translator may count where the source names them."""
    return number in _FEW and bool(_COUNTED.match(behind))


def says_half(text: str) -> bool:
    """Tell whether a text has a word for half."""
    return bool(_HALF.search(text))
