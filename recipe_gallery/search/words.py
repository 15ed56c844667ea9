"""The words of a text, as the index has them; ``recipe_find.js`` does the same to queries.

Words are in small letters. A name such as ``torch._dynamo`` is one, and so are its parts; one with
a hyphen or an underscore counts as written without it, too. Chinese, Japanese and Korean are cut
into pairs of neighbouring characters, because words have no spaces between them, or a particle at
their end; the last character of a run stands alone.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_LETTERS = rf"[^\W{_DENSE}]+"
_JOINT = r"[.\-/=@:]"
_WORDS = re.compile(rf"{_LETTERS}(?:{_JOINT}{_LETTERS})*|[{_DENSE}]+")
_IS_DENSE = re.compile(f"[{_DENSE}]")
_RUN = re.compile(f"[{_DENSE}]{{2,}}")
_PART = re.compile(r"[^.\-/=@:]+")
_NAME = re.compile(r"[^.\-/=@:_]+")


def find_words(text: str) -> Iterator[str]:
    """Give the words of a text, one that occurs again each time."""
    for match in _WORDS.finditer(unicodedata.normalize("NFKC", text).lower()):
        word = match[0]
        if _IS_DENSE.match(word):
            yield from (word[at : at + 2] for at in range(len(word)))
        else:
            yield from split_name(word)


def find_runs(text: str) -> list[str]:
    """Return the runs of two characters or more of Chinese, Japanese and Korean."""
    return _RUN.findall(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=50_000)
def split_name(word: str) -> frozenset[str]:
    """Return a word of letters with its parts."""
    if word.isalnum():
        return frozenset([word])
    joined = re.sub("[-_]", "", word)
    forms = frozenset([word, *_PART.findall(word), *_NAME.findall(word)])
    return forms | {joined} if _PART.fullmatch(joined) else forms
