"""The files of an index: what browsers load for a query is a few of them, however large a site is.

``index.js`` names the pages and the other files; ``terms-*.js`` say in which sections a word is,
``texts-*.js`` hold titles and texts of sections for what results show, and ``words-*.js`` what
misspelt words are compared with. They are scripts, which browsers load from a folder, too.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from .words import find_runs

FOLDER = "search-index"
PART = 25_000  # characters of a file, about
MANY = 20_000  # words after which misspelt ones are not compared with those of a single page


@dataclass(kw_only=True)
class Block:
    """What some neighbouring pages put into the index; their sections are counted from 0."""

    sections: list[int]  # how many each page has
    lengths: list[int]  # words of each section
    texts: list[str]  # of each page: anchors, titles and texts of its sections
    titles: list[str]  # words of titles that have no spaces between them
    having: dict[str, int]  # on how many pages a word is
    # First and last section that has a word, and what the index says of it but for the first number
    terms: dict[str, tuple[int, int, str]]


def gather(pages: Sequence[list[list[Any]]]) -> Block:
    """Return what pages, each a list of sections, put into the index.

    Its list for a word has two numbers for a section: how many sections after the one before it
    comes, and how often it has the word, doubled, and one more if its title has it.
    """
    found: dict[str, list[int]] = {}
    last: dict[str, int] = {}  # section that has the word
    having: dict[str, int] = {}
    number = 0
    for page in pages:
        before = number
        for _anchor, _title, _prose, heading, counts in page:
            in_title = set(heading)
            for word, count in counts.items():
                weight = 2 * min(count, 50) + (word in in_title)
                found.setdefault(word, []).extend((number - last.get(word, 0), weight))
                if word not in last or last[word] < before:
                    having[word] = having.get(word, 0) + 1
                last[word] = number
            number += 1
    sections = [section for page in pages for section in page]
    return Block(
        sections=[*map(len, pages)],
        lengths=[sum(counts.values()) for *_others, counts in sections],
        texts=[_pack([section[:3] for section in page]) for page in pages],
        titles=[word for section in sections for word in section[1].split() if word[0] >= "\uac00"],
        having=having,
        terms={
            word: (first, last[word], ",".join(map(str, numbers)))
            for word, (first, *numbers) in found.items()
        },
    )


def write_parts(
    out: Path,
    addresses: Sequence[str],
    blocks: Sequence[Block],
    synonyms: Mapping[str, Sequence[str]],
) -> Collection[str]:
    """Write the index of pages, each with an address; remove files of an earlier one.

    Returns the words that pages have.
    """
    terms, having = _join(blocks)
    # the order in which JavaScript compares texts
    ordered = sorted(terms, key=lambda word: word.encode("utf-16-be"))
    listed = [(_pack(word), f"[{terms[word]}]") for word in ordered]
    meant = [each for forms in synonyms.values() for each in forms]
    titles = [word for block in blocks for word in block.titles]
    runs = sorted(set(find_runs(" ".join([*meant, *titles]))))
    files: dict[str, str] = {}  # by name what they hold

    def name(kind: str, text: str) -> str:
        """Name a file after what it holds, so that browsers can keep it."""
        found = f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.js"
        files[found] = text
        return found

    index = {
        "pages": addresses,
        "starts": [*accumulate((each for block in blocks for each in block.sections), initial=0)],
        "lengths": [each for block in blocks for each in block.lengths],
        "synonyms": synonyms,
        "terms": [
            [ordered[at], name("terms", f"[[{','.join(words)}],[{','.join(lists)}]]")]
            for at, part in _cut(listed)
            for words, lists in [zip(*part, strict=True)]
        ],
        "texts": [
            [at, name("texts", f"[{','.join(part)}]")]
            for at, part in _cut([each for block in blocks for each in block.texts])
        ],
        "words": name("words", _pack({"letters": _to_compare(having), "runs": runs})),
    }
    files["index.js"] = _pack(index)
    folder = out / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.iterdir():
        if path.name not in files:
            path.unlink()
    for path, text in ((folder / each, text) for each, text in files.items()):
        if path.name == "index.js" or not path.exists():
            path.write_text(f"recipeGallerySearch({_pack(path.name)}, {text});\n", encoding="utf-8")
    return terms


def _join(blocks: Iterable[Block]) -> tuple[dict[str, str], dict[str, int]]:
    """Return the list of each word, and on how many pages it is."""
    lists: dict[str, list[str]] = defaultdict(list)
    last: dict[str, int] = defaultdict(int)
    having: dict[str, int] = defaultdict(int)
    start = 0
    for block in blocks:
        for word, (first, end, rest) in block.terms.items():
            lists[word].append(f"{start + first - last[word]},{rest}")
            last[word] = start + end
            having[word] += block.having[word]
        start += len(block.lengths)
    return {word: ",".join(found) for word, found in lists.items()}, having


def _to_compare(having: dict[str, int]) -> list[Any]:
    """Return words of letters that a misspelt one may be, and on how many pages each is, flat."""
    least = 1 if len(having) < MANY else 2
    words = (word for word in having if len(word) > 3 and word.isalpha() and word[0] < "\u3000")
    return [
        each for word in sorted(words) if having[word] >= least for each in (word, having[word])
    ]


def _cut(items: Sequence[Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    """Cut a list into parts of about the same size; give the place of each, and the part."""
    first, size = 0, 0
    for place, item in enumerate(items, 1):
        size += len(item) if isinstance(item, str) else sum(map(len, item))
        if size >= PART or place == len(items):
            yield first, items[first:place]
            first, size = place, 0


def _pack(data: Any) -> str:
    """Return a value as JavaScript."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
