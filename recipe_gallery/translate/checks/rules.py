"""Checks of messages: what breaks a page, then what advises; those of style are in ``style/``."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import zip_longest

from ...direction import marks_of
from ..catalogs import Kind
from ..comments import HIDDEN
from .markup import FREE_ROLES, TOUCHES, explain
from .message import ADDRESS, ALL, PLACEHOLDER, TAG, Message, check

_FULL_WIDTH = re.compile(r"：[a-z][a-z+-]*[：:]`(?!`)|:[a-z+-]+：`(?!`)|｀+")
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_NO_SPACE_IN_LINK = re.compile(r"`[^`<]*[^\s`<]<[^<>`]+>`_")
_REFERENCE = re.compile(r"`[^`<]+`__?(?!\w)|(?<![\w`])\w+__?(?![\w`])")
_TOUCHING = re.compile(r"[`*|]\w", re.UNICODE)
Part = tuple[str, str]  # kind and value
_NOQA = re.compile(r"#\s*noqa\s*$")  # keeps Sphinx from telling that references changed


def _added(message: Message, pattern: re.Pattern[str], translation: str) -> str:
    """Return what the pattern finds in a translation and the source does not have."""
    found = dict.fromkeys(pattern.findall(translation))
    return " ".join(text for text in found if text not in message.text)


@check(breaks=True)
def check_hidden_character(message: Message) -> Iterator[str]:
    """Control, direction-changing and zero-width characters, which nobody sees.

    Bad: 커널<U+200B>을  Good: 커널을
    """
    for character in dict.fromkeys(HIDDEN.findall(message.translation)):
        allowed = f"\n{message.text}{marks_of(message.language)}"
        if character not in allowed:
            yield f"invisible character U+{ord(character):04X}; remove it"


@check(of={Kind.COMMENT}, breaks=True)
def check_comment(message: Message) -> Iterator[str]:
    """Comments that would end the comment, or that a tool would read.

    Bad: 캐시를 비웁니다<line break>import os  Good: 캐시를 비웁니다
    """
    if message.comment_problem:
        yield message.comment_problem
    added = sorted(message.target.parts - message.source.parts)
    if roles := ", ".join(value for kind, value in added if kind == "role"):
        yield f"not in the source: {roles}; a comment is plain text"


@check(of=ALL - {Kind.COMMENT}, breaks=True)
def check_line_break(message: Message) -> Iterator[str]:
    r"""Line breaks inside a text that is one paragraph.

    Bad: "첫 문장.\n둘째 문장."  Good: "첫 문장. 둘째 문장."
    """
    if "\n" in message.translation and "\n" not in message.text:
        yield "a line break that the source does not have; write one paragraph"


@check(of={Kind.PROSE}, breaks=True)
def check_markup(message: Message) -> Iterator[str]:
    """Markup that does not parse, or that makes something else than a paragraph.

    Bad: ``torch.compile`은  Good: ``torch.compile``은
    """
    target, known = message.target, set(message.source.problems)
    touches = not message.language.words_touch_markup and bool(
        _TOUCHING.search(message.translation)
    )
    told: set[str] = set()
    for problem, place in zip_longest(target.problems, target.places, fillvalue=""):
        if problem and problem not in known:
            if problem.startswith("Inline interpreted") and any(
                "Inline literal" in e for e in told
            ):
                continue  # what is left of the literal's backticks
            if problem in told:
                continue
            told.add(problem)
            yield f"markup: {explain(problem, place, touches=touches)}"
    if _NOQA.search(message.translation) and not _NOQA.search(message.text):
        yield "# noqa at the end is for Sphinx and not for readers; leave it out"


@check(of={Kind.PROSE}, breaks=True)
def check_markup_changed(message: Message) -> Iterator[str]:
    """Literals, roles and their targets, links, formulas, footnotes: the same as in the source.

    Bad: ``torch.compile`` -> ``torch.export``  Good: ``torch.compile`` -> ``torch.compile``
    """
    if message.new_problems:
        return  # told already
    source, target = message.source, message.target
    if source.parts == target.parts and target.emphasized <= source.emphasized:
        return
    if _NO_SPACE_IN_LINK.search(message.translation) and not _NO_SPACE_IN_LINK.search(message.text):
        yield "no space before < in a link; put one between its title and its address"
        return
    missing, added = _lost(source.parts, target.parts), _lost(target.parts, source.parts)
    if unclosed := [text for kind, text in added if kind == "literal" and "`" in text[2:-2]]:
        yield f"{unclosed[0][:30]!r} is not closed; close it with two backticks"
        return
    differences = []
    if missing:
        names = [_name_part(part, message.text) for part in missing]
        told = f"missing from the translation: {', '.join(names)}"
        is_there = not any(part in target.parts or "`" not in part[1] for part in missing)
        is_there = is_there and all(name in message.translation for name in names)
        differences.append(f"{told}; {TOUCHES if is_there else 'keep it'}")
    if added:
        is_word = target.parts["link", "reference"] > source.parts["link", "reference"]
        word = "a word that ends in _ is a link; write \\_ for the character"
        values = ", ".join(value for _kind, value in added)
        differences.append(f"not in the source: {values}; {word if is_word else 'leave it out'}")
    if target.emphasized > source.emphasized:
        differences.append("emphasis that the source does not have; write \\* for a star")
    if differences:
        yield "; ".join(differences)


def _lost(parts: Counter[Part], others: Counter[Part]) -> list[Part]:
    """Return what is fewer among the others; of names that lead nowhere, what is not there."""
    lost = (parts - others).elements()
    return sorted(part for part in lost if not (others[part] and _is_free(part)))


def _is_free(part: Part) -> bool:
    """Tell what may be repeated where the source says "it", or the other way round."""
    kind, value = part
    return kind == "literal" or (kind == "role" and value.startswith(FREE_ROLES))


def _name_part(part: Part, text: str) -> str:
    if part != ("link", "reference"):
        return part[1]
    return " or ".join(dict.fromkeys(_REFERENCE.findall(text))) or part[1]


@check(of={Kind.PROSE}, breaks=True)
def check_figures(message: Message) -> Iterator[str]:
    """Measured figures and claims: the same keys as in the source; words around them are free.

    Bad: :claim:`{a.time} 걸립니다 <b>`  Good: :claim:`{a.time}이 걸립니다 <a>`
    """
    if message.new_problems:
        return  # told already
    source, target = message.source.figures, message.target.figures
    if source == target:
        return
    missing, added = (
        ", ".join(sorted(each.elements())) for each in (source - target, target - source)
    )
    if missing:
        yield f"missing from the translation: {missing}; copy the keys from the source"
    elif added:
        yield f"not in the source: {added}; copy the keys from there"


@check(of={Kind.PROSE}, breaks=True)
def check_full_width_markup(message: Message) -> Iterator[str]:
    """Full-width colons or backticks where markup needs half-width ones.

    Bad: ：doc:`/faq`  Good: :doc:`/faq`
    """
    if found := _added(message, _FULL_WIDTH, message.translation):
        yield f"full-width character in markup: {found}; use the half-width one"


@check(of={Kind.FORMULA}, breaks=True)
def check_formula(message: Message) -> Iterator[str]:
    r"""Formulas that differ in more than the words inside \text{...}.

    Bad: \frac{비용}{절감}  Good: \frac{\text{비용}}{\text{절감}}
    """
    source, target = (
        re.sub(r"\s+", "", re.sub(r"\\text\{[^{}]*\}", r"\\text{}", text))
        for text in (message.text, message.translation)
    )
    if source != target or re.search(r"[$`]", message.translation):
        yield "the formula changed; translate only what stands in \\text{...}"


@check(of={Kind.LABEL}, breaks=True)
def check_placeholder(message: Message) -> Iterator[str]:
    """Placeholders and HTML tags of labels: the same as in the source.

    Bad: %(날짜)s에 기록  Good: %(date)s에 기록
    """
    for pattern, name in ((PLACEHOLDER, "placeholder"), (TAG, "tag")):
        source = Counter(pattern.findall(message.text))
        target = Counter(pattern.findall(message.translation))
        for text in dict.fromkeys([*(source - target), *(target - source)]):
            yield f"{name} {text} is not the same as in the source; copy it from there"
    if re.search(r"%[(sd]", message.text) and "%" in PLACEHOLDER.sub("", message.translation):
        yield "a % that belongs to no placeholder; write %%"
    for character in ('"', "<", ">"):
        if message.translation.count(character) != message.text.count(character):
            yield f"{character} is not as often there as in the source; it is part of HTML"


@check(breaks=True)
def check_address(message: Message) -> Iterator[str]:
    """Addresses of the web or of mail that the source does not have.

    Bad: 난수 https://spam.example  Good: 난수
    """
    # an address of the web in prose is compared as the link that it becomes
    added = ""
    if message.kind is not Kind.PROSE:
        added = _added(message, ADDRESS, message.translation)
    if "@" in message.translation:
        added = added or _added(message, _MAIL, message.translation)
    if added:
        yield f"an address that the source does not have: {added}; leave it out"


@check(of=ALL - {Kind.LABEL}, breaks=True)
def check_raw_html(message: Message) -> Iterator[str]:
    """HTML that the source does not have.

    Bad: <b>빠릅니다</b>  Good: **빠릅니다**
    """
    if added := _added(message, TAG, message.target.plain):
        yield f"HTML that the source does not have: {added}; leave it out"


@check(of=ALL - {Kind.FORMULA})
def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says.

    Bad: kernel -> 핵  Good: kernel -> 커널
    """
    for term, expected in message.glossary.missing(message.language.code, *message.wording):
        yield f"{term!r} is {expected!r} in the glossary; use that term"


@check()
def check_fuzzy(message: Message) -> Iterator[str]:
    """Take no translation that waits to be revised because the source changed.

    Bad: #, fuzzy  Good: the translation revised, the line "#, fuzzy" removed
    """
    if message.fuzzy:
        yield "fuzzy: readers get English; revise it (#| is the former text) and remove the flag"
