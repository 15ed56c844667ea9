"""Which texts are alike, as a translation memory asks: an old sentence for a new one."""

import difflib
import heapq
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable

ALIKE = 0.6  # of an old text that is offered for a new one
_CANDIDATES = 8  # old texts that are looked at closely, for each new one
_SHORT = 40  # characters of a text that may share no word with one like it
_MANY_SHORT = 2_000  # short texts of which those behind are not compared with each new one
_LONG = 5_000  # characters above which nothing is compared: time grows with their square
_PARTS = re.compile(r"(``.*?``|`[^`]*`)", re.DOTALL)
# Between words, marks that a writer may exchange and say the same
_MARKS = re.compile(r"[,;.–—](?=\s)|(?<=\s)-{1,3}(?=\s)")

# What a link leads to: a page, or what stands behind its title
_TARGET = re.compile(r"(?<=<)[^<>`]+(?=>`)|(?<=:(?:doc|ref):`)[^<>`]+(?=`)")


class Texts:
    """Texts among which to look for those that are like another."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = [text for text in dict.fromkeys(texts) if len(text) <= _LONG]
        self._words: dict[str, list[int]] = defaultdict(list)
        for number, text in enumerate(self._texts):
            for word in _words(text):
                self._words[word].append(number)
        self._short = [text for text in self._texts if len(text) <= _SHORT][:_MANY_SHORT]

    def find(self, text: str, cutoff: float = ALIKE) -> list[tuple[float, str]]:
        """Return those like a text, with how much they are; the most alike first."""
        if len(text) > _LONG:
            return []
        shared: dict[int, float] = defaultdict(float)  # words that few texts have count most
        for word in _words(text):
            holders = self._words.get(word, ())
            for number in holders:
                shared[number] += 1 / len(holders)
        best = heapq.nlargest(_CANDIDATES, shared, key=lambda number: (shared[number], -number))
        near = [self._texts[number] for number in best]
        if len(text) <= _SHORT:
            near += difflib.get_close_matches(text, self._short, 3, cutoff)
        found = [(likeness(text, each), each) for each in dict.fromkeys(near)]
        return sorted((each for each in found if each[0] >= cutoff), key=lambda each: -each[0])


def likeness(one: str, other: str) -> float:
    """Return how alike two texts are, from 0 to 1; a part of the other is rather alike."""
    plain = _ratio(one, other)
    if plain < ALIKE:
        short, long = sorted((one, other), key=len)
        if len(short.split()) > 3 and short.rstrip(".") in long:
            return 0.7
        # the same words in another order
        plain = max(plain, 0.95 * _ratio(*(" ".join(sorted(_words(t))) for t in (one, other))))
    return plain


def _ratio(one: str, other: str) -> float:
    matcher = difflib.SequenceMatcher(None, one, other)
    return matcher.ratio() if matcher.quick_ratio() >= ALIKE else 0.0


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def pair_similar(
    texts: Iterable[str],
    old: Texts | Collection[str],
    weigh: Callable[[str, float], float] = lambda _old, value: value,
) -> dict[str, str]:
    """Return, for each of the texts that resembles an old one, the one that suits it best.

    An old text is given to the text that it is most like, and to others only if nothing else is
    like them, such as both halves of a paragraph. ``weigh`` may change how alike an old text
    counts as; below ``ALIKE`` it is not taken.
    """
    pool = old if isinstance(old, Texts) else Texts(old)
    texts = list(texts)
    found = [
        (value, -number, each)
        for number, text in enumerate(texts)
        for likeness_, each in pool.find(text)
        if (value := weigh(each, likeness_)) >= ALIKE
    ]
    pairs: dict[str, str] = {}
    taken: set[str] = set()
    for shared in (False, True):
        for _value, number, each in sorted(found, reverse=True):
            text = texts[-number]
            if text not in pairs and (shared or each not in taken):
                pairs[text] = each
                taken.add(each)
    return pairs


def differ_in_marks_only(one: str, other: str) -> bool:
    """Tell whether two texts have the same words, and other commas, semicolons, dashes or stops.

    What they end with, and what stands in backticks, has to be the same. A translation of one is
    one of the other then: languages set these marks by rules of their own.
    """
    return one != other and one[-1:] == other[-1:] and _unmarked(one) == _unmarked(other) != ""


def follow_targets(old: str, new: str, translation: str) -> str:
    """Return a translation of ``old`` as one of ``new``, if only pages and addresses were renamed.

    Readers see nothing of them. Nothing is returned if more differs.
    """
    before, after = _TARGET.findall(old), _TARGET.findall(new)
    renamed = dict(zip(before, after, strict=False))
    plain = [_TARGET.sub("\0", text) for text in (old, new)]
    is_same = len(before) == len(after) and plain[0] == plain[1] and before != after
    one_way = all(renamed[each] == target for each, target in zip(before, after, strict=False))
    if not is_same or not one_way or sorted(_TARGET.findall(translation)) != sorted(before):
        return ""
    return _TARGET.sub(lambda found: renamed[found[0]], translation)


def _unmarked(text: str) -> str:
    parts = _PARTS.split(text)
    parts[::2] = [_MARKS.sub("\0", part) for part in parts[::2]]
    # behind a full stop a sentence begins with a capital
    flat = re.sub(r"\0\s*(\w?)", lambda found: f" {found[1].lower()}", "".join(parts))
    return " ".join(flat.split()) if re.search(r"\w", flat) else ""
