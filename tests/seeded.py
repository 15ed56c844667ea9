"""Seeded defects: what may go wrong in a translation, put into the real ones, and what is told.

``python tests/seeded.py`` puts defects of every kind into the catalogs of the site and writes
benchmarks/seeded_defects.md; ``--missed`` shows those that nothing told.
"""

import argparse
import random
import re
import tempfile
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polib

from gallery import ROOT
from recipe_gallery.languages import Language, load_languages
from recipe_gallery.project import load_project
from recipe_gallery.translate.catalogs import (
    Kind,
    find_catalogs,
    kind_of,
    label_domains,
    locale_folders,
    split_path,
)
from recipe_gallery.translate.check import Problem, check_file

REWRITTEN = Path(__file__).parent / "engine/translate/rewritten"
HAN = "\u4e00-\u9fff"
LITERAL = re.compile(r"``.+?``")
NUMBER = re.compile(r"(?<![\w.`-])\d+(?:[.,]\d+)*")
BOLD = re.compile(r"\*\*(.+?)\*\*")
LINK = re.compile(r"<https?://[^<>]+>`_|:doc:`[^`<]+`")
SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])\s*")
MARKUP = re.compile(r"``.+?``|:\w+:`[^`]*`|`[^`]*`__?|%\(\w+\)s|<[^<>]*>")

TRADITIONAL = dict(
    zip(
        "体学图编译时间过进动开关数据结构内应对个调用层显会实现运行测试话说读写该类型条启发处",
        "體學圖編譯時間過進動開關數據結構內應對個調用層顯會實現運行測試話說讀寫該類型條啟發處",
        strict=True,
    )
)
TRADITIONAL = {one: other for one, other in TRADITIONAL.items() if one != other}
HOMOGLYPHS = dict(zip("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ", strict=True))
NAMES = {
    "ko": {
        **{"PyTorch": "파이토치", "CUDA": "쿠다", "NumPy": "넘파이", "Python": "파이썬"},
        **{
            "Triton": "트라이턴",
            "Jupyter": "주피터",
            "GPU": "그래픽 처리 장치",
            "CPU": "중앙 처리 장치",
        },
    },
    "zh_CN": {
        **{"PyTorch": "派火炬", "CUDA": "酷达", "NumPy": "数派", "Python": "蟒蛇"},
        **{"Triton": "海神", "Jupyter": "朱庇特", "GPU": "图形处理器", "CPU": "中央处理器"},
    },
}
OTHER_WORDS = {
    "ko": {
        "결과": "結果",
        "시간": "時間",
        "사용": "使用",
        "경우": "境遇",
        "입력": "輸入",
        "함수": "函數",
    },
    "zh_CN": {
        "结果": "결과",
        "时间": "시간",
        "使用": "사용",
        "输入": "입력",
        "函数": "함수",
        "编译": "컴파일",
    },
}
NUMBER_WORDS = {
    "ko": ["두", "세", "네", "다섯", "여섯", "일곱", "여덟", "아홉", "열두"],
    "zh_CN": ["两", "三", "四", "五", "六", "七", "八", "九", "十"],
}
PLAIN = {"합니다": "한다", "입니다": "이다", "됩니다": "된다", "습니다": "다", "줍니다": "준다"}
SPOKEN = {
    "합니다": "해요",
    "입니다": "이에요",
    "됩니다": "돼요",
    "있습니다": "있어요",
    "습니다": "어요",
}
PARTICLES = dict(zip("은는이가을를과와", "는은가이를을와과", strict=True))


@dataclass(frozen=True, kw_only=True)
class Case:
    """A message of a catalog, with what may be put into it."""

    path: Path
    language: Language
    text: str
    translation: str
    kind: Kind
    comment: str
    neighbours: tuple[tuple[str, str], ...]  # source and translation
    other: str = ""  # its translation into another language

    @property
    def code(self) -> str:
        return self.language.code


Mutation = Callable[[Case, random.Random], str | None]


@dataclass(frozen=True, kw_only=True)
class Defect:
    """A kind of defect, how it is made, and which alarms give the right reason."""

    name: str
    make: Mutation
    right: str  # alternatives: check, or check and part of its message
    kinds: frozenset[Kind]
    languages: str

    def is_right(self, problem: Problem) -> bool:
        """Tell whether an alarm gives the reason."""
        for each in self.right.split(" | "):
            name, _, part = each.partition(": ")
            if problem.check == name and part in problem.message:
                return True
        return False


DEFECTS: list[Defect] = []
WORDS = (Kind.PROSE, Kind.COMMENT, Kind.LABEL)


def defect(
    name: str, right: str, *, kinds: Sequence[Kind] = (Kind.PROSE,), languages: str = "ko zh_CN"
) -> Callable[[Mutation], Mutation]:
    """Add a function to the kinds of defects; it returns None where there is nothing to spoil."""

    def register(make: Mutation) -> Mutation:
        DEFECTS.append(
            Defect(name=name, make=make, right=right, kinds=frozenset(kinds), languages=languages)
        )
        return make

    return register


def pick(pattern: str | re.Pattern[str], text: str, rng: random.Random) -> re.Match[str] | None:
    """Return one of the places where a pattern is found outside of markup."""
    inside = [found.span() for found in MARKUP.finditer(text)]
    found = [
        each
        for each in re.finditer(pattern, text)
        if not any(start < each.end() and each.start() < end for start, end in inside)
    ]
    return rng.choice(found) if found else None


def put(text: str, found: re.Match[str] | None, new: str | None) -> str | None:
    """Return the text with other words where something was found."""
    if not found or new is None:
        return None
    return text[: found.start()] + new + text[found.end() :]


def swap(text: str, one: re.Match[str], other: re.Match[str]) -> str:
    first, second = sorted((one, other), key=lambda each: each.start())
    between = text[first.end() : second.start()]
    return text[: first.start()] + second[0] + between + first[0] + text[second.end() :]


def swap_two(pattern: re.Pattern[str], case: Case, rng: random.Random) -> str | None:
    found = list(pattern.finditer(case.translation))
    pairs = [(a, b) for a in found for b in found if a.start() < b.start() and a[0] != b[0]]
    return swap(case.translation, *rng.choice(pairs)) if pairs else None


def change_end(case: Case, marks: Sequence[str], rng: random.Random, of: str = ".。") -> str | None:
    text = case.translation
    return text[:-1] + rng.choice(marks) if text[-1] in of else None


def insert(case: Case, character: str, rng: random.Random) -> str | None:
    found = pick(rf"[가-힣{HAN}](?=[가-힣{HAN}])", case.translation, rng)
    return put(case.translation, found, found[0] + character) if found else None


def map_word(case: Case, words: dict[str, str], rng: random.Random, *, all_of: bool) -> str | None:
    """Replace a word, or each of them, outside of markup."""
    present = [each for each in words if pick(_bounded(each), case.translation, rng)]
    if not present:
        return None
    word = rng.choice(present)
    text = case.translation
    while found := pick(_bounded(word), text, rng):
        text = put(text, found, words[word]) or ""
        if not all_of:
            break
    return text


def _bounded(word: str) -> str:
    return rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])" if word.isascii() else re.escape(word)


# Punctuation and spaces


@defect("full stop lost", "final-punctuation", kinds=(Kind.PROSE, Kind.COMMENT))
def _(case: Case, rng: random.Random) -> str | None:
    return change_end(case, [""], rng)


@defect("full stop changed", "final-punctuation")
def _(case: Case, rng: random.Random) -> str | None:
    return change_end(case, "?,;:" if case.code == "ko" else "？，；：", rng)


@defect("two colons at the end", "final-punctuation: ::")
def _(case: Case, rng: random.Random) -> str | None:
    return change_end(case, ["::"], rng, ".。:：")


@defect("punctuation of the wrong width", "width")
def _(case: Case, rng: random.Random) -> str | None:
    half, full = ",.?!:()", "，。？！：（）"
    marks = (
        dict(zip(half, full, strict=True))
        if case.code == "ko"
        else dict(zip(full, half, strict=True))
    )
    found = pick(f"[{re.escape(''.join(marks))}](?!\\d)", case.translation, rng)
    return put(case.translation, found, marks[found[0]]) if found else None


@defect("space lost beside Latin text", "spacing", languages="zh_CN")
def _(case: Case, rng: random.Random) -> str | None:
    found = pick(
        rf"(?<=[{HAN}]) (?=[A-Za-z0-9`])|(?<=[A-Za-z0-9`]) (?=[{HAN}])", case.translation, rng
    )
    return put(case.translation, found, "")


@defect("space before a particle", "spacing", languages="ko")
def _(case: Case, rng: random.Random) -> str | None:
    found = pick(
        r"(?<=[A-Za-z0-9`])(?=(?:은|는|을|를|과|와|의|에서|으로)\s)", case.translation, rng
    )
    return put(case.translation, found, " ")


@defect("space at the end, at the start, or doubled", "spaces")
def _(case: Case, rng: random.Random) -> str | None:
    text = case.translation
    return rng.choice([text + " ", text.replace(" ", "  ", 1) if " " in text else text + " "])


@defect("bracket lost", "pairs", kinds=(Kind.PROSE, Kind.COMMENT))
def _(case: Case, rng: random.Random) -> str | None:
    return put(case.translation, pick(r"[()（）]", case.translation, rng), "")


@defect("quotation mark lost", "pairs", kinds=(Kind.PROSE, Kind.COMMENT))
def _(case: Case, rng: random.Random) -> str | None:
    return put(case.translation, pick(r"[\"“”]", case.translation, rng), "")


# Words


@defect("plain style (한다)", "register", kinds=(Kind.PROSE, Kind.COMMENT), languages="ko")
def _(case: Case, rng: random.Random) -> str | None:
    return map_word(case, {f"{a}.": f"{b}." for a, b in PLAIN.items()}, rng, all_of=False)


@defect("해요 style", "register", kinds=(Kind.PROSE, Kind.COMMENT), languages="ko")
def _(case: Case, rng: random.Random) -> str | None:
    return map_word(case, {f"{a}.": f"{b}." for a, b in SPOKEN.items()}, rng, all_of=False)


@defect("wrong particle after a name", "none", languages="ko")
def _(case: Case, rng: random.Random) -> str | None:
    found = pick(r"(?<=[A-Za-z0-9])[은는이가을를과와](?=\s)", case.translation, rng)
    if found is None:  # behind a literal
        behind = list(re.finditer(r"(?<=``)[은는이가을를과와](?=\s)", case.translation))
        found = rng.choice(behind) if behind else None
    return put(case.translation, found, PARTICLES[found[0]]) if found else None


@defect("word doubled", "doubled-word", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    words = (
        r"(?<!\S)[가-힣]{2,}(?=\s)"
        if case.code == "ko"
        else r"(?:编译|时间|内核|调用|模型|优化器|内存|版本|结果)"
    )
    found = pick(words, case.translation, rng)
    between = " " if case.code == "ko" else ""
    return put(case.translation, found, f"{found[0]}{between}{found[0]}") if found else None


@defect("glossary term replaced", "glossary", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    terms = {
        "ko": {
            **{"커널": ("kernel", "핵"), "컴파일": ("compil", "편찬"), "텐서": ("tensor", "장량")},
            **{"캐시": ("cache", "은닉처"), "옵티마이저": ("optimizer", "최적화기")},
        },
        "zh_CN": {
            **{
                "内核": ("kernel", "核函数"),
                "编译": ("compil", "编纂"),
                "张量": ("tensor", "矢量"),
            },
            **{"缓存": ("cache", "快取"), "优化器": ("optimizer", "最佳化器")},
        },
    }
    wrong = {
        own: other
        for own, (english, other) in terms[case.code].items()
        if re.search(rf"\b{english}", LITERAL.sub("", case.text))
    }
    return map_word(case, wrong, rng, all_of=True)


@defect("name translated", "names: missing", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return map_word(case, NAMES[case.code], rng, all_of=True)


@defect("name misspelt", "names: is spelt", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    wrong = {"PyTorch": "Pytorch", "CUDA": "Cuda", "NumPy": "Numpy", "Python": "Pyhton"}
    wrong |= {"Triton": "Tritan", "Jupyter": "Jupiter", "Matplotlib": "MatPlotLib"}
    return map_word(case, wrong, rng, all_of=True)


@defect("name with a letter that looks like another", "names: look like", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    names = ["PyTorch", "CUDA", "NumPy", "Python", "Triton", "Jupyter", "GPU", "CPU", "Adam"]
    looks = {}
    for name in names:
        letter = rng.choice([each for each in name if each in HOMOGLYPHS])
        looks[name] = name.replace(letter, HOMOGLYPHS[letter], 1)
    return map_word(case, looks, rng, all_of=True)


# Letters and characters


@defect("text of another language", "script")
def _(case: Case, _rng: random.Random) -> str | None:
    return case.other


@defect("word of another language", "script", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return map_word(case, OTHER_WORDS[case.code], rng, all_of=False)


@defect("kana", "script: Japanese")
def _(case: Case, rng: random.Random) -> str | None:
    found = pick("의(?= )" if case.code == "ko" else "的", case.translation, rng)
    return put(case.translation, found, "の")


@defect("traditional characters throughout", "script: other Chinese script", languages="zh_CN")
def _(case: Case, _rng: random.Random) -> str | None:
    text = "".join(TRADITIONAL.get(each, each) for each in case.translation)
    return text if text != case.translation else None


@defect("one traditional character", "script: other Chinese script", languages="zh_CN", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return map_word(case, TRADITIONAL, rng, all_of=False)


@defect("Hangul in pieces (NFD)", "character: NFD", languages="ko", kinds=WORDS)
def _(case: Case, _rng: random.Random) -> str | None:
    text = unicodedata.normalize("NFD", case.translation)
    return text if text != case.translation else None


def _add_character(name: str, characters: str, right: str) -> None:
    @defect(name, right, kinds=WORDS)
    def _(case: Case, rng: random.Random) -> str | None:
        return insert(case, rng.choice(characters), rng)


_add_character("lost character (U+FFFD)", "\ufffd", "character: lost")
_add_character("private character", "\ue000\uf8ff\U000f0001", "character: private")
_add_character("variation selector (U+FE0F)", "\ufe0f\ufe0e", "character: invisible")
_add_character("joiner (U+200C, U+200D)", "\u200c\u200d", "character: invisible")
_add_character("sign for music (U+1D173)", "\U0001d173\U0001d17a", "character: invisible")
_add_character("special blank", "\u00a0\u2009\u202f", "character: blank")
_add_character("ideographic space", "\u3000", "character: blank")
_add_character("mark upon a character", "\u0301\u0300\u20dd", "character: mark")
_add_character(
    "zero width or direction", "\u200b\ufeff\u202e\u2060\u3164", "hidden-character | comment"
)


@defect("line that ends with U+2028", "hidden-character | comment | line-break", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return insert(case, "\u2028", rng)


# Numbers


@defect("number changed", "numbers", kinds=(Kind.PROSE, Kind.COMMENT))
def _(case: Case, rng: random.Random) -> str | None:
    found = pick(NUMBER, case.translation, rng)
    return (
        put(case.translation, found, found[0][:-1] + str((int(found[0][-1]) + 3) % 10))
        if found
        else None
    )


@defect("number dropped", "numbers", kinds=(Kind.PROSE, Kind.COMMENT))
def _(case: Case, rng: random.Random) -> str | None:
    found = pick(NUMBER, case.translation, rng)
    return put(case.translation, found, "") if found and found[0] in case.text else None


@defect("number in full width", "numbers", kinds=(Kind.PROSE, Kind.COMMENT))
def _(case: Case, rng: random.Random) -> str | None:
    found = pick(NUMBER, case.translation, rng)
    return (
        put(
            case.translation,
            found,
            "".join(chr(ord(each) + 0xFEE0) if each.isdigit() else each for each in found[0]),
        )
        if found
        else None
    )


@defect("number word changed", "none")
def _(case: Case, rng: random.Random) -> str | None:
    words = NUMBER_WORDS[case.code]
    english = ["two", "three", "four", "five", "six", "seven", "eight", "nine"]
    said = [
        own
        for own, word in zip(words, english, strict=False)
        if re.search(rf"\b{word}\b", case.text, re.I)
    ]
    behind = (
        "(?= ?(?:가지|개|번|배|부분|종류|단계|스텝))"
        if case.code == "ko"
        else "(?=[个种次类步条轮倍层份])"
    )
    found = (
        pick(rf"(?<![가-힣几第十一])(?:{'|'.join(said)}){behind}", case.translation, rng)
        if said
        else None
    )
    new = rng.choice([each for each in words if each not in said])
    return put(case.translation, found, new)


# Order


@defect("two literals swapped", "order")
def _(case: Case, rng: random.Random) -> str | None:
    return swap_two(LITERAL, case, rng)


@defect("two links swapped", "order")
def _(case: Case, rng: random.Random) -> str | None:
    return swap_two(LINK, case, rng)


@defect("two numbers swapped", "order | numbers")
def _(case: Case, rng: random.Random) -> str | None:
    return swap_two(NUMBER, case, rng)


# Markup


@defect("bold lost", "emphasis: is lost")
def _(case: Case, rng: random.Random) -> str | None:
    return BOLD.sub(r"\1", case.translation) if "**" in case.translation else None


@defect("bold became italics", "emphasis: is lost")
def _(case: Case, rng: random.Random) -> str | None:
    return BOLD.sub(r"*\1*", case.translation) if "**" in case.translation else None


@defect("bold with spaces inside", "emphasis: no space inside | markup: without a space before")
def _(case: Case, rng: random.Random) -> str | None:
    return BOLD.sub(r"** \1 **", case.translation) if "**" in case.translation else None


@defect("end of bold lost", "markup: two stars | emphasis: close what it opens")
def _(case: Case, rng: random.Random) -> str | None:
    return BOLD.sub(r"**\1", case.translation, 1) if "**" in case.translation else None


@defect("one backtick for two", "markup: two backticks | markup-changed: two backticks")
def _(case: Case, rng: random.Random) -> str | None:
    found = list(LITERAL.finditer(case.translation))
    one = rng.choice(found) if found else None
    return put(case.translation, one, one[0][:-1]) if one else None


@defect("one backtick on both sides", "markup-changed")
def _(case: Case, rng: random.Random) -> str | None:
    found = list(LITERAL.finditer(case.translation))
    one = rng.choice(found) if found else None
    return put(case.translation, one, one[0][1:-1]) if one else None


@defect("literal changed", "markup-changed")
def _(case: Case, rng: random.Random) -> str | None:
    found = [each for each in LITERAL.finditer(case.translation) if re.search("[a-z]{3}", each[0])]
    one = rng.choice(found) if found else None
    return (
        put(case.translation, one, one[0].replace(one[0][2:-2], one[0][2:-2] + "s"))
        if one
        else None
    )


@defect("literal dropped", "markup-changed: missing")
def _(case: Case, rng: random.Random) -> str | None:
    found = [
        each for each in LITERAL.finditer(case.translation) if case.translation.count(each[0]) == 1
    ]
    return put(case.translation, rng.choice(found), "") if found else None


@defect("role with a full-width colon", "markup-changed")
def _(case: Case, rng: random.Random) -> str | None:
    text = re.sub(r":(doc|math):`", r"：\1：`", case.translation)
    return text if text != case.translation else None


@defect("page of a link changed", "markup-changed")
def _(case: Case, rng: random.Random) -> str | None:
    text = re.sub(r":doc:`/(\w+)", r":doc:`/\1s", case.translation)
    return text if text != case.translation else None


@defect("mail address", "address | markup-changed: mailto", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return put(case.translation, pick(r"(?<=\S) ", case.translation, rng), " someone@example.org ")


@defect("foreign link", "markup-changed: not in the source | address", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return put(
        case.translation, pick(r"(?<=\S) ", case.translation, rng), " https://example.org/x "
    )


@defect("HTML", "raw-html | placeholder", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return insert(case, "<b>!</b>", rng)


@defect("placeholder changed", "placeholder", kinds=(Kind.LABEL,))
def _(case: Case, rng: random.Random) -> str | None:
    found = list(re.finditer(r"%\((\w+)\)s", case.translation))
    one = rng.choice(found) if found else None
    return put(case.translation, one, f"%({one[1]}x)s") if one else None


@defect("line break", "line-break | comment", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return put(case.translation, pick(r"(?<=[.。,，]) ?(?=\S)", case.translation, rng), "\n")


PRAGMAS = [
    "noqa",
    "type: ignore",
    "fmt: skip",
    "pylint: disable=all",
    "nosec",
    "mypy: ignore-errors",
]


@defect("instruction to a tool at the end of a comment", "comment: tool", kinds=(Kind.COMMENT,))
def _(case: Case, rng: random.Random) -> str | None:
    return f"{case.translation}  # {rng.choice(PRAGMAS)}"


@defect("instruction to a tool at the start of a comment", "comment: tool", kinds=(Kind.COMMENT,))
def _(case: Case, rng: random.Random) -> str | None:
    return f"{rng.choice(PRAGMAS)} {case.translation}"


# What is left out, or is another's


@defect("all still English", "untranslated", kinds=WORDS)
def _(case: Case, rng: random.Random) -> str | None:
    return case.text if len(case.text.split()) > 4 else None


@defect("last sentence still English", "untranslated: still English")
def _(case: Case, rng: random.Random) -> str | None:
    english, own = (
        SENTENCES.split(case.text),
        [each for each in SENTENCES.split(case.translation) if each],
    )
    if (
        len(english) < 2
        or len(english) != len(own)
        or len(LITERAL.sub("", english[-1]).split()) < 6
    ):
        return None
    return (" " if case.code == "ko" else "").join([*own[:-1], english[-1]])


LESS = "markup-changed: missing | numbers: missing | names: missing"


@defect("sentence left out", LESS)
def _(case: Case, rng: random.Random) -> str | None:
    own = [each for each in SENTENCES.split(case.translation) if each]
    if not 2 <= len(own) <= 3:
        return None
    del own[rng.randrange(len(own))]
    return (" " if case.code == "ko" else "").join(own)


@defect("cut in half", f"{LESS} | final-punctuation: missing | markup: not closed")
def _(case: Case, rng: random.Random) -> str | None:
    text = case.translation
    return text[: len(text) // 2].rstrip() if len(text) > 30 else None


@defect("text of the neighbour", f"{LESS} | markup-changed | glossary | numbers")
def _(case: Case, rng: random.Random) -> str | None:
    source, translation = rng.choice(case.neighbours) if case.neighbours else ("", "")
    return translation if len(source.split()) > 6 else None


@defect("sentence of the neighbour behind it", "markup-changed | numbers | glossary")
def _(case: Case, rng: random.Random) -> str | None:
    source, translation = rng.choice(case.neighbours) if case.neighbours else ("", "")
    own = [each for each in SENTENCES.split(translation) if each]
    return f"{case.translation} {own[-1]}" if own and len(source.split()) > 6 else None


# Trying them


def load_cases(folder: Path | None = None) -> list[Case]:
    """Return the messages of the site's catalogs, or of those in a folder."""
    project, languages = load_project(ROOT), load_languages(ROOT)
    labels = label_domains(project.config)
    own = [languages[code] for code in ("ko", "zh_CN")]
    translations: dict[str, dict[str, str]] = {each.code: {} for each in own}
    found = []
    for language in own:
        locales = [folder] if folder else locale_folders(project)
        for path in (each for locale in locales for each in find_catalogs(locale, language.code)):
            entries = [
                each for each in polib.pofile(str(path)) if each.msgstr and not each.obsolete
            ]
            for number, entry in enumerate(entries):
                translations[language.code][entry.msgid] = entry.msgstr
                near = (
                    entries[each] for each in (number - 1, number + 1) if 0 <= each < len(entries)
                )
                found.append(
                    Case(
                        path=path,
                        language=language,
                        text=entry.msgid,
                        translation=entry.msgstr,
                        kind=kind_of(entry, label=split_path(path)[2] in labels),
                        comment=entry.comment,
                        neighbours=tuple((each.msgid, each.msgstr) for each in near),
                    )
                )
    others = {"ko": translations["zh_CN"], "zh_CN": translations["ko"]}
    return [replace(each, other=others[each.code].get(each.text, "")) for each in found]


def tell(case: Case, translation: str, folder: Path) -> list[Problem]:
    """Return what check-po says of a message with this translation, between its neighbours."""
    path = folder / case.code / "LC_MESSAGES" / f"{split_path(case.path)[2]}.po"
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog = polib.POFile(wrapwidth=0)
    catalog.metadata = {"Language": case.code, "Content-Type": "text/plain; charset=UTF-8"}
    for source, own in case.neighbours[:1]:
        catalog.append(polib.POEntry(msgid=source, msgstr=own, comment=case.comment))
    catalog.append(polib.POEntry(msgid=case.text, msgstr=translation, comment=case.comment))
    for source, own in case.neighbours[1:]:
        catalog.append(polib.POEntry(msgid=source, msgstr=own, comment=case.comment))
    catalog.save(str(path))
    labels = [split_path(case.path)[2]] if case.kind is Kind.LABEL else []
    return check_file(path, case.language, labels, ROOT / "locale")


@dataclass(frozen=True, kw_only=True)
class Trial:
    """A defect in a message, and what was told of it."""

    defect: Defect
    case: Case
    translation: str
    told: tuple[Problem, ...]

    @property
    def right(self) -> bool:
        return any(self.defect.is_right(each) for each in self.told)


def seed(each: int, folder: Path, cases: Sequence[Case], number: str = "") -> Iterator[Trial]:
    """Try so many defects of each kind in each language, always the same ones."""
    for kind in DEFECTS:
        for code in kind.languages.split():
            rng = random.Random(f"{kind.name} {code}{number}")
            fitting = [one for one in cases if one.code == code and one.kind in kind.kinds]
            rng.shuffle(fitting)
            made = 0
            for case in fitting:
                translation = kind.make(case, rng) if made < each else None
                if translation and translation != case.translation:
                    made += 1
                    told = set(tell(case, translation, folder)) - set(
                        tell(case, case.translation, folder)
                    )
                    yield Trial(defect=kind, case=case, translation=translation, told=tuple(told))


DOCUMENT = ROOT / "benchmarks/seeded_defects.md"
TEXT = """# Seeded defects, and what check-po tells of them

How much does `make check-po` find? `tests/seeded.py` puts defects of {kinds} kinds into the Korean
and Chinese catalogs of the site, at most {each} of each kind and language, and looks at what is
told that was not told before. It writes this file.

    PYTHONPATH=.:tests .venv/bin/python tests/seeded.py --seed {seed} --each {each}   # --missed

Of {trials} defects at places that nobody had looked at before, **{told} are told ({share:.1f} %)**,
{right} of them with the reason that stands beside the kind in the program. On what is committed
there is no alarm.

| Defect that is not always told | Seeded | Told |
|---|---:|---:|
{rows}
"""


def main() -> int:
    """Write the document, and show on demand what was missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=20, help="defects of a kind and language")
    parser.add_argument("--seed", default="", help="for another set of defects")
    parser.add_argument("--missed", action="store_true", help="show what was not told")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        trials = list(seed(options.each, Path(folder), load_cases(), options.seed))
    kinds: dict[str, list[Trial]] = {}
    for each in trials:
        kinds.setdefault(each.defect.name, []).append(each)
    rows = [
        f"| {name} | {len(found)} | {told} |"
        for name, found in kinds.items()
        if (told := sum(bool(each.told) for each in found)) < len(found)
    ]
    told = sum(bool(each.told) for each in trials)
    text = TEXT.format(
        kinds=len(kinds),
        each=options.each,
        seed=options.seed,
        trials=len(trials),
        told=told,
        share=100 * told / len(trials),
        right=sum(each.right for each in trials),
        rows="\n".join(rows),
    )
    DOCUMENT.write_text(text, encoding="utf-8")
    print(text)
    for each in trials if options.missed else ():
        if not each.told:
            print(f"\n{each.defect.name} ({each.case.code}, {each.case.path.name})")
            print(f"  {each.case.text}\n  {each.case.translation}\n  {each.translation}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
