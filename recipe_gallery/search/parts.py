"""The files of an index: what browsers load for a query is a few of them, however large a site is.

``index.js`` names the pages and the other files; ``terms-*.js`` say in which sections a word is,
``texts-*.js`` hold titles and texts of sections for what results show, and ``words-*.js`` what
misspelt words are compared with. They are scripts, which browsers load from a folder, too.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from .words import find_runs

FOLDER = "search-index"
PART = 25_000  # characters of a file, about
MANY = 20_000  # words after which misspelt ones are not compared with those of a single page


def write_parts(
    out: Path, pages: Sequence[tuple[str, list[list[Any]]]], synonyms: Mapping[str, Sequence[str]]
) -> Collection[str]:
    """Write the index of pages, each its address and sections; remove files of an earlier one.

    Returns the words that pages have.
    """
    of_pages = [sections for _address, sections in pages]
    sections = [section for of_page in of_pages for section in of_page]
    terms, having = _list_terms(of_pages)
    # the order in which JavaScript compares texts
    ordered = sorted(terms, key=lambda word: word.encode("utf-16-be"))
    listed = [(_pack(word), _pack(terms[word])) for word in ordered]
    texts = [_pack([section[:3] for section in of_page]) for of_page in of_pages]
    meant = [each for forms in synonyms.values() for each in forms]
    titles = [word for section in sections for word in section[1].split() if word[0] >= "\uac00"]
    runs = sorted(set(find_runs(" ".join([*meant, *titles]))))
    files: dict[str, str] = {}  # by name what they hold

    def name(kind: str, text: str) -> str:
        """Name a file after what it holds, so that browsers can keep it."""
        found = f"{kind}-{hashlib.sha256(text.encode()).hexdigest()[:10]}.js"
        files[found] = text
        return found

    index = {
        "pages": [address for address, _sections in pages],
        "starts": [*accumulate((len(of_page) for of_page in of_pages), initial=0)],
        "lengths": [sum(counts.values()) for *_others, counts in sections],
        "synonyms": synonyms,
        "terms": [
            [ordered[at], name("terms", f"[[{','.join(words)}],[{','.join(lists)}]]")]
            for at, part in _cut(listed)
            for words, lists in [zip(*part, strict=True)]
        ],
        "texts": [[at, name("texts", f"[{','.join(part)}]")] for at, part in _cut(texts)],
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


def _list_terms(pages: Iterable[list[list[Any]]]) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return for each word the sections that have it, and the number of pages.

    The list has two numbers for a section: how many sections after the one before it comes, and how
    often it has the word, doubled, and one more if its title has it.
    """
    terms: dict[str, list[int]] = {}
    last: dict[str, int] = {}  # section that has the word
    having: dict[str, int] = {}
    number = 0
    for page in pages:
        before = number
        for _anchor, _title, _prose, heading, counts in page:
            in_title = set(heading)
            for word, count in counts.items():
                weight = 2 * min(count, 50) + (word in in_title)
                terms.setdefault(word, []).extend((number - last.get(word, 0), weight))
                if word not in last or last[word] < before:
                    having[word] = having.get(word, 0) + 1
                last[word] = number
            number += 1
    return terms, having


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
