"""The checks of messages: first those of what breaks a page, then those that advise."""

import re
from collections import Counter
from collections.abc import Iterator

from ...direction import marks_of
from ...recipes.comments import HIDDEN, find_problem
from ..catalogs import Kind, is_wordless
from .message import ALL, Message, check
from .numbers import compare_numbers

_PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-#0+]*[\d.]*[hlL]?[diouxXeEfFgGcrsa%]|\{[\w.]*(?:![rsa])?(?::[^{}]*)?\}"
)
_TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-zA-Z]+|#\d+);")
_ADDRESS = re.compile(r"https?://[^\s<>\"'`)]+")
# What only looks like words: beside these, names in backticks.
_NO_WORDS = re.compile(
    "|".join(each.pattern for each in (_TAG, _ADDRESS, _PLACEHOLDER)) + "|`[^`]+`"
)
_FULL_WIDTH = re.compile(r"：[a-z][a-z+-]*[：:]`(?!`)|:[a-z+-]+：`(?!`)|｀+")
_DOCUTILS = re.compile(r"^message:1: \(\w+/\d\) ")
_NOQA = re.compile(r"#\s*noqa\s*$")  # keeps Sphinx from telling that references changed
_SPACE = "[ \u00a0\u3000]"
_SPACES = {
    "at the start": re.compile(f"^{_SPACE}"),
    "at the end": re.compile(f"{_SPACE}$"),
    "doubled": re.compile(rf"\S{_SPACE}{{2,}}\S"),
}


def _added(message: Message, pattern: re.Pattern[str], translation: str) -> str:
    """Return what the pattern finds in a translation and the source does not have."""
    found = dict.fromkeys(pattern.findall(translation))
    return " ".join(text for text in found if text not in message.text)


@check(breaks=True)
def check_hidden_character(message: Message) -> Iterator[str]:
    """Control, direction-changing and zero-width characters, which nobody sees.

    Bad: 커널<U+200B>을  Good: 커널을
    """
    allowed = set(message.text) | {"\n", *marks_of(message.language)}
    for character in dict.fromkeys(HIDDEN.findall(message.translation)):
        if character not in allowed:
            yield f"invisible character U+{ord(character):04X}; remove it"


@check(of={Kind.COMMENT}, breaks=True)
def check_comment(message: Message) -> Iterator[str]:
    """Comments that would end the comment, or that a tool would read.

    Bad: 캐시를 비웁니다<line break>import os  Good: 캐시를 비웁니다
    """
    if problem := find_problem(message.text, message.translation):
        yield problem
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
    for problem in message.new_problems:
        yield f"markup: {_DOCUTILS.sub('', problem)}"
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
    missing, added = (
        ", ".join(value for _kind, value in sorted(difference.elements()))
        for difference in (source.parts - target.parts, target.parts - source.parts)
    )
    differences = []
    if missing:
        differences.append(f"missing from the translation: {missing}; keep it")
    if added:
        is_word = target.parts["link", "reference"] > source.parts["link", "reference"]
        word = "a word that ends in _ is a link; write \\_ for the character"
        differences.append(f"not in the source: {added}; {word if is_word else 'leave it out'}")
    if target.emphasized > source.emphasized:
        differences.append("emphasis that the source does not have; write \\* for a star")
    if differences:
        yield "; ".join(differences)


@check(of={Kind.PROSE}, breaks=True)
def check_figures(message: Message) -> Iterator[str]:
    """Measured figures and claims: the same keys as in the source; words around them are free.

    Bad: :claim:`{a.time} 걸립니다 <b>`  Good: :claim:`{a.time}이 걸립니다 <a>`
    """
    if message.new_problems:
        return  # told already
    source, target = message.source.figures, message.target.figures
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
    for pattern, name in ((_PLACEHOLDER, "placeholder"), (_TAG, "tag")):
        source = Counter(pattern.findall(message.text))
        target = Counter(pattern.findall(message.translation))
        for text in dict.fromkeys([*(source - target), *(target - source)]):
            yield f"{name} {text} is not the same as in the source; copy it from there"
    if re.search(r"%[(sd]", message.text) and "%" in _PLACEHOLDER.sub("", message.translation):
        yield "a % that belongs to no placeholder; write %%"
    for character in ('"', "<", ">"):
        if message.translation.count(character) != message.text.count(character):
            yield f"{character} is not as often there as in the source; it is part of HTML"


@check(of=ALL - {Kind.PROSE}, breaks=True)
def check_address(message: Message) -> Iterator[str]:
    """Addresses that the source does not have.

    Bad: 난수 https://spam.example  Good: 난수
    """
    if added := _added(message, _ADDRESS, message.translation):
        yield f"an address that the source does not have: {added}; leave it out"


@check(of=ALL - {Kind.LABEL}, breaks=True)
def check_raw_html(message: Message) -> Iterator[str]:
    """HTML that the source does not have.

    Bad: <b>빠릅니다</b>  Good: **빠릅니다**
    """
    if added := _added(message, _TAG, message.target.plain):
        yield f"HTML that the source does not have: {added}; leave it out"


@check(of=ALL - {Kind.FORMULA})
def check_numbers(message: Message) -> Iterator[str]:
    """Numbers and their units; their order may change.

    Bad: 2.11 -> 2.12  Good: 2.11 -> 2.11
    """
    yield from compare_numbers(*message.words)


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

    Bad: "빠릅니다.  다음은"  Good: "빠릅니다. 다음은"
    """
    for place, pattern in _SPACES.items():
        if pattern.search(message.translation) and not pattern.search(message.text):
            yield f"space {place}; remove it"
    ends = {text.endswith("\n") for text in (message.text, message.translation)}
    if "\n" in message.text and len(ends) > 1:
        yield "source and translation do not both end with \\n; add or remove it"


@check(of=ALL - {Kind.FORMULA})
def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says.

    Bad: kernel -> 핵  Good: kernel -> 커널
    """
    source, target = (_NO_WORDS.sub(" ", text) for text in message.words)
    for term, expected in message.glossary.missing(message.language.code, source, target):
        yield f"{term!r} is {expected!r} in the glossary; use that term"


@check()
def check_fuzzy(message: Message) -> Iterator[str]:
    """Take no translation that waits to be revised because the source changed.

    Bad: #, fuzzy  Good: the translation revised, the line "#, fuzzy" removed
    """
    if message.fuzzy:
        yield "fuzzy: the source has changed (see #|); revise it and remove the flag"
