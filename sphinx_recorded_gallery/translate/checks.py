"""Checks of translations: what a message is, how a function becomes a check, what breaks a page.

A check is a generator that yields what is wrong with one message; its decorator tells to which
kinds of messages it applies, and tests/engine/translate/messages.jsonl has what each tells of which
translation. Advice is excused at the message itself, by a translator's comment with a reason::

    # check-po: allow glossary (here "layer" is a layer of abstraction)
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any
from unicodedata import normalize

import polib

from ..errors import GalleryError, suggest
from ..languages import Language
from .catalogs import Kind, is_wordless, line_of, shorten
from .code_comments import HIDDEN, find_problem
from .glossary import Glossary
from .markup import FREE_ROLES, TOUCHES, Markup, parse

PLACEHOLDER = re.compile(
    r"%(?:\(\w+\))?[-#0+]*[\d.]*[hlL]?[diouxXeEfFgGcrsa%]|\{[\w.]*(?:![rsa])?(?::[^{}]*)?\}"
)
TAG = re.compile(r"</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>|<!--|&(?:[a-zA-Z]+|#\d+);")
ADDRESS = re.compile(r"https?://[^\s<>\"'`)]+")
# What only looks like words: beside these, names in backticks.
NO_WORDS = re.compile("|".join(each.pattern for each in (TAG, ADDRESS, PLACEHOLDER)) + "|`[^`]+`")

_LONGEST = 5_000  # characters of a source text
_LONG_WORD = re.compile(r"\w{1000}")


@dataclass(frozen=True, kw_only=True)
class Message:
    """A message with its translation."""

    text: str
    translation: str
    kind: Kind = Kind.PROSE
    language: Language
    glossary: Glossary = field(default_factory=Glossary)

    @cached_property
    def source(self) -> Markup:
        """Markup of the source text."""
        return parse(self.text)

    @cached_property
    def target(self) -> Markup:
        """Markup of the translation."""
        return parse(self.translation, glue=self.language.words_touch_markup)

    @cached_property
    def new_problems(self) -> list[str]:
        """What does not parse in the translation alone; in the source it may be meant so."""
        found = self.target.problems.items()
        return [told for problem, told in found if problem not in self.source.problems]

    @cached_property
    def comment_problem(self) -> str:
        """Why the translation may not stand in code as a comment; nothing for another kind."""
        return find_problem(self.text, self.translation) if self.kind is Kind.COMMENT else ""

    @cached_property
    def broken(self) -> bool:
        """Tell whether words cannot be told from what is around them."""
        return bool(self.new_problems if self.kind is Kind.PROSE else self.comment_problem)

    @cached_property
    def words(self) -> tuple[str, str]:
        """Source text and translation; of prose without what is compared as markup."""
        if self.kind is Kind.PROSE:
            return self.source.plain, normalize("NFC", self.target.plain)
        return self.text, normalize("NFC", self.translation)

    @cached_property
    def wording(self) -> tuple[str, str]:
        """Source text and translation without what only looks like words: tags, placeholders."""
        source, target = self.words
        return NO_WORDS.sub(" ", source), NO_WORDS.sub(" ", target)


def describe_length(text: str, translation: str) -> str:
    """Say that a message is too long to be looked at; nothing if it is not.

    No language needs that much more room, and the time of some checks grows with its square.
    """
    if len(text) > _LONGEST:
        return f"a message of {len(text)} characters; split the text of the page"
    if len(translation) > min(4 * len(text) + 200, 2 * len(text) + 2_000):
        return f"{len(translation)} characters for {len(text)} of English; translate that alone"
    if len(translation) > 1_000 and _LONG_WORD.search(translation) and not _LONG_WORD.search(text):
        return "a word of 1,000 characters; write words"
    return ""


CheckFunction = Callable[[Message], Iterator[str]]
ALL = frozenset(Kind)


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of messages."""

    name: str
    run: CheckFunction
    of: Collection[Kind] = ALL  # to which messages it applies
    breaks: bool = False  # it would mislead a reader or spoil a page: the build shows English
    scripts: Collection[str] = ()  # to which languages, by how they are written; none: to all
    whole: bool = False  # it has no say while markup or a comment is broken


CHECKS: list[Check] = []
Kinds = Mapping[str, set[Kind]]  # of messages


def check(**options: Any) -> Callable[[CheckFunction], CheckFunction]:
    """Add a function to the checks, under its own name; ``options`` are those of a ``Check``."""

    def register(function: CheckFunction) -> CheckFunction:
        name = function.__name__.removeprefix("check_").replace("_", "-")
        CHECKS.append(Check(name=name, run=function, **options))
        return function

    return register


# Adds a function that advises on words
advice = partial(check, of=ALL - {Kind.FORMULA}, whole=True)


_ALLOW = re.compile(r"check-po: allow ([\w-]+)(.*\w\w)")  # the name of a check, and why
_MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
_REFERENCE = re.compile(r"`[^`<]+`__?(?!\w)|(?<![\w`])\w+__?(?![\w`])")
Part = tuple[str, str]  # kind and value


def _added(message: Message, pattern: re.Pattern[str], translation: str) -> str:
    """Return what the pattern finds in a translation and the source does not have."""
    found = dict.fromkeys(pattern.findall(translation))
    return " ".join(text for text in found if text not in message.text)


@check(breaks=True)
def check_hidden_character(message: Message) -> Iterator[str]:
    """Control, direction-changing and zero-width characters, which nobody sees."""
    for character in dict.fromkeys(HIDDEN.findall(message.translation)):
        if character not in f"\n{message.text}":
            yield f"invisible character U+{ord(character):04X}; remove it"


@check(of={Kind.COMMENT}, breaks=True)
def check_comment(message: Message) -> Iterator[str]:
    """Comments that would end the comment, or that a tool would read."""
    if message.comment_problem:
        yield message.comment_problem


@check(of=ALL - {Kind.COMMENT}, breaks=True)
def check_line_break(message: Message) -> Iterator[str]:
    r"""Line breaks inside a text that is one paragraph."""
    if "\n" in message.translation and "\n" not in message.text:
        yield "a line break that the source does not have; write one paragraph"


@check(of={Kind.PROSE}, breaks=True)
def check_markup(message: Message) -> Iterator[str]:
    """Markup that does not parse, or that makes something else than a paragraph."""
    for problem in message.new_problems[:1]:  # others may come of it
        remedy = "" if message.language.words_touch_markup else f"; {TOUCHES}"
        yield f"markup: {problem}{remedy if 'not closed' in problem else ''}"


@check(of={Kind.PROSE}, breaks=True)
def check_markup_changed(message: Message) -> Iterator[str]:
    """Literals, roles, links, formulas, footnotes, figures, claims: the same as in the source."""
    if message.new_problems:
        return  # told already
    source, target = message.source, message.target
    missing, added = _lost(source.parts, target.parts), _lost(target.parts, source.parts)
    differences = []
    if missing:
        names = ", ".join(_name_part(part, message.text) for part in missing)
        remedy = "keep it" if message.language.words_touch_markup else f"keep it, and {TOUCHES}"
        differences.append(f"missing from the translation: {names}; {remedy}")
    if added:
        is_word = ("link", "reference") in added
        word = "a word that ends in _ is a link; write \\_ for the character"
        told = ", ".join(value for _kind, value in added)
        differences.append(f"not in the source: {told}; {word if is_word else 'leave it out'}")
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


@check(of={Kind.FORMULA}, breaks=True)
def check_formula(message: Message) -> Iterator[str]:
    r"""Formulas that differ in more than the words inside \text{...}."""
    source, target = (
        re.sub(r"\s+", "", re.sub(r"\\text\{[^{}]*\}", r"\\text{}", text))
        for text in (message.text, message.translation)
    )
    if source != target or re.search(r"[$`]", message.translation):
        yield "the formula changed; translate only what stands in \\text{...}"


@check(of={Kind.LABEL}, breaks=True)
def check_placeholder(message: Message) -> Iterator[str]:
    """Placeholders and HTML tags of labels: the same as in the source."""
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
    """Addresses of the web or of mail that the source does not have."""
    # an address of the web in prose is compared as the link that it becomes
    patterns = (_MAIL,) if message.kind is Kind.PROSE else (ADDRESS, _MAIL)
    for added in filter(None, (_added(message, each, message.translation) for each in patterns)):
        yield f"an address that the source does not have: {added}; leave it out"


@check(of=ALL - {Kind.LABEL}, breaks=True)
def check_raw_html(message: Message) -> Iterator[str]:
    """HTML that the source does not have."""
    if added := _added(message, TAG, message.target.plain):
        yield f"HTML that the source does not have: {added}; leave it out"


@check(of=ALL - {Kind.FORMULA})
def check_glossary(message: Message) -> Iterator[str]:
    """Terms that are not translated as the glossary says."""
    for term, expected in message.glossary.missing(message.language.code, *message.wording):
        yield f"{term!r} is {expected!r} in the glossary; use that term"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """What is wrong at one line of a catalog."""

    path: Path
    line: int
    message: str
    check: str
    breaks: bool = False  # readers get English

    def __str__(self) -> str:
        text = f"{' '.join(self.message.split(chr(10)))} ({self.check})"
        return str(GalleryError(text, path=self.path, line=self.line))


def examine(
    path: Path,
    entries: Iterable[polib.POEntry],
    kinds: Kinds,
    language: Language,
    glossary: Glossary | None = None,
    style: Iterable[Check] = (),
) -> Iterator[Problem]:
    """Yield what is wrong with messages in use, ``kinds`` telling what each is.

    With a glossary, advice is given as well, also that of the site's ``style``. Without one, only
    what would hurt a reader or spoil a page is told.
    """
    checks = [each for each in CHECKS if each.breaks or glossary is not None]
    checks += style
    lines: dict[str, int] = {}
    terms = glossary or Glossary()
    for entry in entries:
        line, allowed = line_of(entry), dict(_ALLOW.findall(entry.tcomment))
        tell = partial(Problem, path=path, line=line)
        if (first := lines.setdefault(entry.msgid, line)) != line:
            text = f"the message of line {first} again; keep one of the two"
            yield tell(message=text, check="duplicate", breaks=True)
        if entry.msgid_plural or entry.msgstr_plural:
            # gettext would show the forms for msgid, too
            text = "plural forms, which no message has; write msgid and msgstr alone"
            yield tell(message=text, check="plural", breaks=True)
        elif excess := entry.msgstr and describe_length(entry.msgid, entry.msgstr):
            yield tell(message=excess, check="size", breaks=True)
        elif entry.fuzzy and glossary is not None:
            text = "fuzzy: readers get English; revise it (#| is the former text), remove the flag"
            yield tell(message=text, check="fuzzy")
        elif not entry.msgstr and glossary is not None and language.published:
            text = "not translated: readers get English; translate it"
            yield tell(message=text, check="empty")
        elif entry.msgstr and not entry.fuzzy:
            for kind in kinds[entry.msgid]:
                message = Message(
                    text=entry.msgid,
                    translation=entry.msgstr,
                    kind=kind,
                    language=language,
                    glossary=terms,
                )
                for check, text in run_checks(message, checks):
                    # a catalog does not say what harms no reader
                    if check.breaks or check.name not in allowed:
                        yield tell(message=text, check=check.name, breaks=check.breaks)


def run_checks(message: Message, checks: Iterable[Check]) -> Iterator[tuple[Check, str]]:
    """Yield what checks that apply find wrong with a message."""
    for each in checks:
        is_asked = message.kind in each.of and not (each.whole and message.broken)
        if is_asked and (not each.scripts or message.language.script in each.scripts):
            yield from ((each, problem) for problem in each.run(message))


def compare(
    path: Path, entries: Iterable[polib.POEntry], wanted: Sequence[str], language: str
) -> Iterator[Problem]:
    """Yield where a catalog has other messages than its page, whose texts are ``wanted``."""
    entries = list(entries)
    lines = {entry.msgid: line_of(entry) for entry in entries}
    live = [entry.msgid for entry in entries if not entry.obsolete]
    unknown = [text for text in live if text not in wanted]
    missing = [text for text in wanted if text not in live and not is_wordless(text)]
    run = suggest("update-po", language)
    if unknown:
        text = f"messages that the page does not have: {len(unknown)}, as {shorten(unknown[0])}"
        yield Problem(
            path=path, line=lines[unknown[0]], message=f"{text}; run: {run}", check="unknown"
        )
    if missing:
        before = [lines[text] for text in wanted[: wanted.index(missing[0])] if text in live]
        line = lines.get(missing[0]) or max(before, default=1)  # it may be there as obsolete (#~)
        text = f"messages of the page that are missing: {len(missing)}, as {shorten(missing[0])}"
        yield Problem(path=path, line=line, message=f"{text}; run: {run}", check="missing")
