"""Checks of one message and its translation.

A check is a generator that yields what is wrong with one message; its docstring shows a bad and a
good translation. A translation for which a check with ``breaks=True`` yields anything would mislead
a reader or spoil a page, so the build shows English in its place.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...recipes.comments import HIDDEN, find_problem
from ..catalogs import is_wordless
from ..glossary import Glossary
from .markup import Markup, parse

# How what templates.py tells a translator about a message begins.
COMMENT, FORMULA = "Comment in code", "Formula"

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
_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-#0+]*[\d.]*[hlL]?[diouxXeEfFgGcrsa%]|\{[\w.]*(?:![rsa])?(?::[^{}]*)?\}"
)
_PERCENT = re.compile(r"%[(sd]")
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-zA-Z]+|#\d+);")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`)]+")
_NAME = re.compile(r"`[^`]+`")
_DOCUTILS = re.compile(r"^message:1: \(\w+/\d\) ")


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message with its translation, as the checks see it."""

    text: str
    translation: str
    kind: str = ""
    interface: bool = False  # of recipe_gallery.po or sphinx.po, which hold HTML and placeholders
    fuzzy: bool = False
    glue: bool = False
    language: str = ""
    glossary: Glossary = field(default_factory=Glossary)

    @cached_property
    def source(self) -> Markup:
        """Markup of the source text."""
        return parse(self.text)

    @cached_property
    def target(self) -> Markup:
        """Markup of the translation."""
        return parse(self.translation, glue=self.glue)

    @property
    def is_prose(self) -> bool:
        """Tell whether the message is parsed as reStructuredText."""
        return not self.interface and self.kind not in (COMMENT, FORMULA)


CheckFunction = Callable[[Message], Iterator[str]]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check with its name."""

    name: str
    run: CheckFunction
    breaks: bool


CHECKS: list[Check] = []


def check(*, breaks: bool = False) -> Callable[[CheckFunction], CheckFunction]:
    """Add a function to the checks, under its own name."""

    def register(function: CheckFunction) -> CheckFunction:
        name = function.__name__.removeprefix("check_").replace("_", "-")
        CHECKS.append(Check(name=name, run=function, breaks=breaks))
        return function

    return register


@check(breaks=True)
def check_hidden_character(message: Message) -> Iterator[str]:
    """Control, direction-changing and zero-width characters, which nobody sees.

    Bad: 커널<U+200B>을
    Good: 커널을
    """
    allowed = set(message.text) | {"\n"}
    for character in dict.fromkeys(HIDDEN.findall(message.translation)):
        if character not in allowed:
            yield f"invisible character U+{ord(character):04X}; remove it"


@check(breaks=True)
def check_comment(message: Message) -> Iterator[str]:
    """Comments that would end the comment, or that a tool would read.

    Bad: 캐시를 비웁니다<line break>import os
    Good: 캐시를 비웁니다
    """
    if message.kind == COMMENT and (problem := find_problem(message.text, message.translation)):
        yield problem


@check(breaks=True)
def check_line_break(message: Message) -> Iterator[str]:
    r"""Line breaks inside a text that is one paragraph.

    Bad: "첫 문장.\n둘째 문장."
    Good: "첫 문장. 둘째 문장."
    """
    if message.kind != COMMENT and "\n" in message.translation and "\n" not in message.text:
        yield "a line break that the source does not have; write one paragraph"


@check(breaks=True)
def check_markup(message: Message) -> Iterator[str]:
    """Markup that does not parse, or that makes something else than a paragraph.

    Bad: ``torch.compile`은
    Good: ``torch.compile``은
    """
    if message.is_prose and not message.source.problems:
        for problem in message.target.problems:
            yield f"markup: {_DOCUTILS.sub('', problem)}"


@check(breaks=True)
def check_markup_changed(message: Message) -> Iterator[str]:
    """Literals, roles and their targets, links, formulas, footnotes: the same as in the source.

    Bad: ``torch.compile`` -> ``torch.export``
    Good: ``torch.compile`` -> ``torch.compile``
    """
    if not message.is_prose or message.target.problems:
        return
    kinds = ("literal", "role", "link", "footnote", "substitution")
    source, target = (
        Counter({part: n for part, n in markup.parts.items() if part[0] in kinds})
        for markup in (message.source, message.target)
    )
    missing, added = source - target, target - source
    differences = []
    if missing:
        differences.append(f"missing from the translation: {_name_parts(missing)}; keep it")
    if added:
        differences.append(f"not in the source: {_name_parts(added)}; {_advice(added)}")
    if _stars(message.target) > _stars(message.source):
        differences.append("emphasis that the source does not have; write \\* for a star")
    if differences:
        yield "; ".join(differences)


def _stars(markup: Markup) -> int:
    """Return how many parts are emphasized, of either kind."""
    return markup.parts["emphasis", ""] + markup.parts["strong", ""]


def _name_parts(parts: Counter[tuple[str, str]]) -> str:
    return ", ".join(value for _kind, value in sorted(parts.elements()))


def _advice(added: Counter[tuple[str, str]]) -> str:
    if any(kind == "link" and value == "reference" for kind, value in added):
        return "a word that ends in _ is a link; write \\_ for the character"
    return "leave it out"


@check(breaks=True)
def check_full_width_markup(message: Message) -> Iterator[str]:
    """Full-width colons or backticks where markup needs half-width ones.

    Bad: ：doc:`/faq`
    Good: :doc:`/faq`
    """
    if message.is_prose:
        for found in re.findall(
            r"：[a-z][a-z+-]*[：:]`(?!`)|:[a-z+-]+：`(?!`)|｀+", message.translation
        ):
            yield f"full-width character in markup: {found}; use the half-width one"


@check(breaks=True)
def check_formula(message: Message) -> Iterator[str]:
    r"""Formulas that differ in more than the words inside \text{...}.

    Bad: \frac{비용}{절감}
    Good: \frac{\text{비용}}{\text{절감}}
    """
    if message.kind == FORMULA:
        source, target = (
            re.sub(r"\s+", "", re.sub(r"\\text\{[^{}]*\}", r"\\text{}", text))
            for text in (message.text, message.translation)
        )
        if source != target or "$" in message.translation:
            yield "the formula changed; translate only what stands in \\text{...}"


@check(breaks=True)
def check_placeholder(message: Message) -> Iterator[str]:
    """Placeholders and HTML tags of the interface's texts: the same as in the source.

    Bad: %(날짜)s에 기록
    Good: %(date)s에 기록
    """
    if not message.interface:
        return
    for pattern, name in ((_PLACEHOLDER, "placeholder"), (_TAG, "tag")):
        source = Counter(pattern.findall(message.text))
        target = Counter(pattern.findall(message.translation))
        for text in dict.fromkeys([*(source - target), *(target - source)]):
            yield f"{name} {text} is not the same as in the source; copy it from there"
    if _PERCENT.search(message.text) and "%" in _PLACEHOLDER.sub("", message.translation):
        yield "a % that belongs to no placeholder; write %%"
    for character in '"<>':
        if message.translation.count(character) != message.text.count(character):
            yield f"{character} is not as often there as in the source; it is part of HTML"


@check(breaks=True)
def check_raw_html(message: Message) -> Iterator[str]:
    """HTML, and addresses outside of links, that the source does not have.

    Bad: <b>빠릅니다</b>
    Good: **빠릅니다**
    """
    addresses = [] if message.is_prose else _ADDRESS.findall(message.translation)
    if added := [text for text in addresses if text not in message.text]:
        yield f"an address that the source does not have: {' '.join(added)}; leave it out"
    if message.interface:
        return
    found = dict.fromkeys(_TAG.findall(message.target.plain))
    if added := [text for text in found if text not in message.text]:
        yield f"HTML that the source does not have: {' '.join(added)}; leave it out"


@check()
def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change.

    Bad: 2.11 -> 2.12
    Good: 2.11 -> 2.11
    """
    if message.kind == FORMULA:
        return
    source, target = _words_of(message)
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


def _words_of(message: Message) -> tuple[str, str]:
    """Return both texts without what is compared as markup."""
    if message.is_prose:
        return message.source.plain, message.target.plain
    return message.text, message.translation


def _drop_names(text: str) -> str:
    """Leave out what only looks like words: placeholders, tags, addresses, names in backticks."""
    for pattern in (_TAG, _ADDRESS, _PLACEHOLDER, _NAME):
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
    words = re.findall(r"[A-Za-z]{2,}", _words_of(message)[0])
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


@check()
def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says.

    Bad: kernel -> 핵
    Good: kernel -> 커널
    """
    if message.kind != FORMULA:
        source, target = (_drop_names(text) for text in _words_of(message))
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
