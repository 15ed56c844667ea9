"""Literals, links and numbers that may have been swapped."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...catalogs import Kind
from ..message import Message, advice
from .number_words import find_numbers

_LITERAL = re.compile(r"``(.+?)``")
_LINK = re.compile(r"<([^<>\s]+)>`_|:\w+:`(?:[^`<]*<)?([^`<>]+)>?`")
# Where one of these stands between two things, other languages often name the second one first.
_TURNS = re.compile(
    r"\b(?:in|of|with|within|without|under|on|from|by|for|than|instead|rather|before|after|unless"
    r"|if|when|where|which|that|because|below|above|beside|to|into|as|at|per|like|not|unlike|times)\b"
)
_KEEPS = re.compile(r"[.;:!?]\s|\b(?:and|or|but|while)\b")
Places = Sequence[tuple[str, int, int]]  # what stands in a text, from where to where


@advice(of={Kind.PROSE})
def check_order(message: Message) -> Iterator[str]:
    """Literals, links or numbers in another order, as if two of them were swapped.

    Bad: ``a`` and ``b`` -> ``b`` 및 ``a``  Good: ``a`` and ``b`` -> ``a`` 및 ``b``
    """
    text, translation = message.text, message.translation
    for pattern in (_LITERAL, _LINK):
        yield from _find_swapped(text, _find(pattern, text), _find(pattern, translation))
    source, target = message.words
    yield from _find_swapped(source, find_numbers(source), find_numbers(target))


@lru_cache(maxsize=8192)
def _find(pattern: re.Pattern[str], text: str) -> Places:
    return [
        (next(filter(None, each.groups())), each.start(), each.end())
        for each in pattern.finditer(text)
    ]


def _find_swapped(source: str, found: Places, translated: Places) -> Iterator[str]:
    """Yield two neighbours whose order changed without a reason in the words between them."""
    names, there = (_count([each[0] for each in places]) for places in (found, translated))
    if names == there or sorted(names) != sorted(there):
        return
    for number in range(len(names) - 1):
        between = source[found[number][2] : found[number + 1][1]]
        turned = there.index(names[number]) > there.index(names[number + 1])
        first, second = found[number][0], found[number + 1][0]
        # two numbers in words are subject and object as often as not
        is_said = first in source or second in source
        if turned and is_said and (_KEEPS.search(between) or not _TURNS.search(between)):
            yield (
                f"{first} stands before {second} in the source and behind it here; "
                "look whether they are swapped"
            )
            return


def _count(names: Sequence[str]) -> list[tuple[str, int]]:
    """Tell apart what stands there more than once."""
    seen: Counter[str] = Counter()
    counted = []
    for name in names:
        seen[name] += 1
        counted.append((name, seen[name]))
    return counted
