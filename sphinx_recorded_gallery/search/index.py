"""What the index of a search holds: sections of pages, and the words that each of them has.

Words are in small letters; ``recipe_rank.js`` does the same to queries. A name such as
``torch._dynamo`` is one, and so are its parts; one with a hyphen or an underscore counts as written
without it, too. Chinese, Japanese and Korean are cut into pairs of neighbouring characters, because
words have no spaces between them, or a particle at their end; the last of a run stands alone.
"""

import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes

from ..page_nodes import OUTPUT_CLASS, folded_cell
from ..pages.page_header import provenance

FILE_NAME = "search-index.js"
_LEFT_OUT = (nodes.Invisible, nodes.meta, nodes.system_message, addnodes.toctree, provenance)
# Names and numbers have no such end.
_SENTENCE = re.compile(r"[.!?:;。！？：；…][)\]”’\"'）】」』]*$")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
REST = 0.4  # what a word counts in code, tables and outputs, which no excerpt shows
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_LETTERS = rf"[^\W{_DENSE}]+"
_JOINT = r"[.\-/=@:]"
_WORDS = re.compile(rf"{_LETTERS}(?:{_JOINT}{_LETTERS})*|[{_DENSE}]+")
_IS_DENSE = re.compile(f"[{_DENSE}]")
_PART = re.compile(r"[^.\-/=@:]+")
_NAME = re.compile(r"[^.\-/=@:_]+")


@dataclass(kw_only=True)
class Section:
    """Part of a page with an address of its own, without the sections inside of it."""

    anchor: str = ""  # of the page itself: none
    title: str = ""
    name: str = ""  # counts as its title does
    prose: list[str] = field(default_factory=list)  # paragraphs, which excerpts are taken from
    rest: list[str] = field(default_factory=list)

    def as_data(self) -> list[Any]:
        """Return what is kept of it: anchor, title, prose, number of words, and weight of each.

        It is how often the section has the word, doubled, and one more if its title has it.
        """
        prose = [" ".join(text.split()) for text in self.prose]
        counts: dict[str, float] = defaultdict(float)
        for share, texts in ((1, [self.title, self.name, *prose]), (REST, self.rest)):
            for word in find_words("\n".join(texts)):
                counts[word] += share
        words = {word: math.ceil(count) for word, count in sorted(counts.items())}
        heading = {*find_words(f"{self.title} {self.name}")}
        weights = {word: 2 * min(count, 50) + (word in heading) for word, count in words.items()}
        shown = [text for text in prose if _SENTENCE.search(text)]
        return [self.anchor, self.title, "\n".join(shown), sum(words.values()), weights]


def read_sections(document: nodes.document, name: str = "") -> list[Section]:
    """Return the sections of a page in their order; the first is the page itself, with its name."""
    page = Section(name=name)
    return [page, *_read(document, page)]


def _read(parent: nodes.Element, section: Section, *, shown: bool = True) -> Iterator[Section]:
    for node in parent.children:
        if isinstance(node, nodes.section) and not (section.title or section.anchor):
            yield from _read(node, section)  # the section of the page's title
        elif isinstance(node, nodes.section | folded_cell) and node["ids"]:
            inner = Section(anchor=node["ids"][0], title=node.get("summary", ""))
            yield inner
            yield from _read(node, inner)
        elif isinstance(node, nodes.definition_list_item) and node[0]["ids"]:  # of a glossary
            inner = Section(anchor=node[0]["ids"][0], title=node[0].astext(), name="definition")
            yield inner
            yield from _read(node[-1], inner)
        elif isinstance(node, _LEFT_OUT):
            continue
        elif isinstance(node, nodes.title) and isinstance(parent, nodes.section):
            section.title = node.astext()
        elif isinstance(node, nodes.raw):
            if node.get("format") == "html":
                section.rest.append(_TAG.sub(" ", node.astext()))
        elif isinstance(node, nodes.image | nodes.literal_block | nodes.math_block):
            section.rest.append(node.get("alt", node.astext()))
        elif isinstance(node, nodes.TextElement):
            (section.prose if shown else section.rest).append(node.astext())
        elif isinstance(node, nodes.Element):
            prose = shown and not isinstance(node, nodes.table)
            yield from _read(node, section, shown=prose and OUTPUT_CLASS not in node["classes"])


def find_words(text: str) -> Iterator[str]:
    """Give the words of a text, one that occurs again each time."""
    for match in _WORDS.finditer(unicodedata.normalize("NFKC", text).lower()):
        word = match[0]
        if _IS_DENSE.match(word):
            yield from (word[at : at + 2] for at in range(len(word)))
        elif word.isalnum():
            yield word
        else:  # a name, with its parts
            joined = re.sub("[-_]", "", word)
            as_one = [joined] if _PART.fullmatch(joined) else []
            yield from {word, *_PART.findall(word), *_NAME.findall(word), *as_one}


def write_index(
    path: Path,
    pages: Mapping[str, Sequence[Sequence[Any]]],
    synonyms: Mapping[str, Sequence[str]],
) -> None:
    """Write the index of pages: by the address of each its sections (``Section.as_data``).

    A word's list has two numbers for each section that has it: how many sections after the one
    before it comes, and the weight there.
    """
    sections = [section for page in pages.values() for section in page]
    terms: dict[str, list[int]] = {}
    last: dict[str, int] = {}  # section that has the word
    for number, (*_shown, weights) in enumerate(sections):
        for word, weight in weights.items():
            terms.setdefault(word, []).extend((number - last.get(word, 0), weight))
            last[word] = number
    index = {
        "pages": [[address, [each[:3] for each in page]] for address, page in pages.items()],
        "lengths": [section[3] for section in sections],
        "synonyms": [*synonyms.items()],
        "terms": sorted(terms.items()),
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f'recipeGallerySearch("index", {text});\n', encoding="utf-8")
