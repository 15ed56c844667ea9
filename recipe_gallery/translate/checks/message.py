"""A message as checks see it, and how a function becomes a check.

A check is a generator that yields what is wrong with one message; its docstring shows a bad and a
good translation, and its decorator tells to which kinds of messages it applies.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from ...languages import Language
from ..catalogs import Kind
from ..glossary import Glossary
from .markup import Markup, parse


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

    @property
    def new_problems(self) -> list[str]:
        """What does not parse in the translation alone; in the source it may be meant so."""
        return [each for each in self.target.problems if each not in self.source.problems]

    @property
    def words(self) -> tuple[str, str]:
        """Source text and translation; of prose without what is compared as markup."""
        if self.kind is Kind.PROSE:
            return self.source.plain, self.target.plain
        return self.text, self.translation


CheckFunction = Callable[[Message], Iterator[str]]


@dataclass(frozen=True, kw_only=True)
class Check:
    """A check of messages."""

    name: str
    run: CheckFunction
    of: frozenset[Kind]  # to which messages it applies
    breaks: bool  # what it finds would mislead a reader or spoil a page: the build shows English

    @property
    def excusable(self) -> bool:
        """Tell whether a translator may accept what it finds, with a reason."""
        return not self.breaks  # a catalog does not say what is good for readers


CHECKS: list[Check] = []
ALL = frozenset(Kind)


def check(
    *, of: Collection[Kind] = ALL, breaks: bool = False
) -> Callable[[CheckFunction], CheckFunction]:
    """Add a function to the checks, under its own name."""

    def register(function: CheckFunction) -> CheckFunction:
        name = function.__name__.removeprefix("check_").replace("_", "-")
        CHECKS.append(Check(name=name, run=function, of=frozenset(of), breaks=breaks))
        return function

    return register
