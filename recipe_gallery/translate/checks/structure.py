"""Checks of what breaks a page: markup, placeholders, formulas, comments, hidden characters."""

import re
from collections import Counter
from collections.abc import Iterator

from ...recipes.comments import HIDDEN, find_problem
from ..catalogs import Kind
from .markup import Markup
from .message import ALL, Message, check

PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-#0+]*[\d.]*[hlL]?[diouxXeEfFgGcrsa%]|\{[\w.]*(?:![rsa])?(?::[^{}]*)?\}"
)
TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-zA-Z]+|#\d+);")
ADDRESS = re.compile(r"https?://[^\s<>\"'`)]+")
_PERCENT = re.compile(r"%[(sd]")
_DOCUTILS = re.compile(r"^message:1: \(\w+/\d\) ")


@check(breaks=True, excusable=False)
def check_hidden_character(message: Message) -> Iterator[str]:
    """Control, direction-changing and zero-width characters, which nobody sees.

    Bad: 커널<U+200B>을
    Good: 커널을
    """
    allowed = set(message.text) | {"\n"}
    for character in dict.fromkeys(HIDDEN.findall(message.translation)):
        if character not in allowed:
            yield f"invisible character U+{ord(character):04X}; remove it"


@check(of={Kind.COMMENT}, breaks=True, excusable=False)
def check_comment(message: Message) -> Iterator[str]:
    """Comments that would end the comment, or that a tool would read.

    Bad: 캐시를 비웁니다<line break>import os
    Good: 캐시를 비웁니다
    """
    if problem := find_problem(message.text, message.translation):
        yield problem


@check(of=ALL - {Kind.COMMENT}, breaks=True)
def check_line_break(message: Message) -> Iterator[str]:
    r"""Line breaks inside a text that is one paragraph.

    Bad: "첫 문장.\n둘째 문장."
    Good: "첫 문장. 둘째 문장."
    """
    if "\n" in message.translation and "\n" not in message.text:
        yield "a line break that the source does not have; write one paragraph"


@check(of={Kind.PROSE}, breaks=True, excusable=False)
def check_markup(message: Message) -> Iterator[str]:
    """Markup that does not parse, or that makes something else than a paragraph.

    Bad: ``torch.compile`은
    Good: ``torch.compile``은
    """
    if not message.source.problems:
        for problem in message.target.problems:
            yield f"markup: {_DOCUTILS.sub('', problem)}"


@check(of={Kind.PROSE}, breaks=True)
def check_markup_changed(message: Message) -> Iterator[str]:
    """Literals, roles and their targets, links, formulas, footnotes: the same as in the source.

    Bad: ``torch.compile`` -> ``torch.export``
    Good: ``torch.compile`` -> ``torch.compile``
    """
    if message.target.problems:
        return  # told already
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


@check(of={Kind.PROSE}, breaks=True)
def check_full_width_markup(message: Message) -> Iterator[str]:
    """Full-width colons or backticks where markup needs half-width ones.

    Bad: ：doc:`/faq`
    Good: :doc:`/faq`
    """
    full_width = r"：[a-z][a-z+-]*[：:]`(?!`)|:[a-z+-]+：`(?!`)|｀+"
    for found in re.findall(full_width, message.translation):
        yield f"full-width character in markup: {found}; use the half-width one"


@check(of={Kind.FORMULA}, breaks=True)
def check_formula(message: Message) -> Iterator[str]:
    r"""Formulas that differ in more than the words inside \text{...}.

    Bad: \frac{비용}{절감}
    Good: \frac{\text{비용}}{\text{절감}}
    """
    source, target = (
        re.sub(r"\s+", "", re.sub(r"\\text\{[^{}]*\}", r"\\text{}", text))
        for text in (message.text, message.translation)
    )
    if source != target or "$" in message.translation:
        yield "the formula changed; translate only what stands in \\text{...}"


@check(of={Kind.LABEL}, breaks=True, excusable=False)
def check_placeholder(message: Message) -> Iterator[str]:
    """Placeholders and HTML tags of labels: the same as in the source.

    Bad: %(날짜)s에 기록
    Good: %(date)s에 기록
    """
    for pattern, name in ((PLACEHOLDER, "placeholder"), (TAG, "tag")):
        source = Counter(pattern.findall(message.text))
        target = Counter(pattern.findall(message.translation))
        for text in dict.fromkeys([*(source - target), *(target - source)]):
            yield f"{name} {text} is not the same as in the source; copy it from there"
    if _PERCENT.search(message.text) and "%" in PLACEHOLDER.sub("", message.translation):
        yield "a % that belongs to no placeholder; write %%"
    for character in '"<>':
        if message.translation.count(character) != message.text.count(character):
            yield f"{character} is not as often there as in the source; it is part of HTML"


@check(of=ALL - {Kind.PROSE}, breaks=True, excusable=False)
def check_address(message: Message) -> Iterator[str]:
    """Addresses that the source does not have.

    Bad: 난수 https://spam.example
    Good: 난수
    """
    found = dict.fromkeys(ADDRESS.findall(message.translation))
    if added := [text for text in found if text not in message.text]:
        yield f"an address that the source does not have: {' '.join(added)}; leave it out"


@check(of=ALL - {Kind.LABEL}, breaks=True, excusable=False)
def check_raw_html(message: Message) -> Iterator[str]:
    """HTML that the source does not have.

    Bad: <b>빠릅니다</b>
    Good: **빠릅니다**
    """
    found = dict.fromkeys(TAG.findall(message.target.plain))
    if added := [text for text in found if text not in message.text]:
        yield f"HTML that the source does not have: {' '.join(added)}; leave it out"
