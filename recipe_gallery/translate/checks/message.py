"""A message as checks see it, and how a function becomes a check.

A check is a generator that yields what is wrong with one message; its docstring shows a bad and a
good translation, and its decorator tells to which kinds of messages it applies. Advice is excused
at the message itself, by a translator's comment with a reason::

    # check-po: allow glossary (here "layer" is a layer of abstraction)
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any
from unicodedata import normalize

from ...languages import Language
from ..catalogs import Kind
from ..comments import find_problem
from ..glossary import Glossary
from .markup import Markup, parse
from .scripts import SCRIPTS, Script

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
    fuzzy: bool = False
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
    def script(self) -> Script | None:
        """How the language is written, as far as that is known."""
        return SCRIPTS.get(self.language.script)

    @cached_property
    def new_problems(self) -> list[str]:
        """What does not parse in the translation alone; in the source it may be meant so."""
        return [each for each in self.target.problems if each not in self.source.problems]

    @cached_property
    def comment_problem(self) -> str | None:
        """Why the translation may not stand in code as a comment; None for another kind."""
        return find_problem(self.text, self.translation) if self.kind is Kind.COMMENT else None

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
        return _strip(source), _strip(target)


@lru_cache(maxsize=4096)
def _strip(text: str) -> str:
    return NO_WORDS.sub(" ", text)


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

    def applies(self, kind: Kind, language: Language) -> bool:
        """Tell whether it has a say on messages of a kind in a language."""
        return kind in self.of and (not self.scripts or language.script in self.scripts)


CHECKS: list[Check] = []


def check(**options: Any) -> Callable[[CheckFunction], CheckFunction]:
    """Add a function to the checks, under its own name; ``options`` are those of a ``Check``."""

    def register(function: CheckFunction) -> CheckFunction:
        name = function.__name__.removeprefix("check_").replace("_", "-")
        CHECKS.append(Check(name=name, run=function, **options))
        return function

    return register


# Adds a function that advises on words
advice = partial(check, of=ALL - {Kind.FORMULA}, whole=True)


def run_checks(message: Message, checks: Iterable[Check]) -> Iterator[tuple[Check, str]]:
    """Yield what checks that apply find wrong with a message."""
    for each in checks:
        if not (each.whole and message.broken):
            for problem in each.run(message):
                yield each, problem


_ALLOW = re.compile(r"check-po: allow (?P<name>[\w-]+)(?P<reason>.*)")
PASTED = "pasted"  # advice that is no check of one message


def find_allowed(comment: str) -> set[str]:
    """Return the checks that a translator's comment excuses."""
    found = _ALLOW.finditer(comment) if comment else ()
    return {each["name"] for each in found if _has_reason(each)}


def find_misused(comment: str) -> Iterator[str]:
    """Yield what a translator's comment cannot excuse."""
    # a catalog does not say what is good for readers
    excusable = {each.name: not each.breaks for each in CHECKS} | {PASTED: True}
    for found in _ALLOW.finditer(comment):
        name = found["name"]
        if name not in excusable:
            yield f"no check that can be allowed is called {name!r}; take the name from its message"
        elif not excusable[name]:
            yield f"{name} cannot be allowed, because readers would be harmed; mend the translation"
        elif not _has_reason(found):
            yield f'a reason is missing; write "check-po: allow {name} (why)"'


def _has_reason(found: re.Match[str]) -> bool:
    return len(re.sub(r"\W", "", found["reason"])) > 1
