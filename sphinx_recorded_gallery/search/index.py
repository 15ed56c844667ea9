"""The index of the search: the sections of pages, and the words of each section.

Words are in lower case; ``recipe_rank.js`` does the same to queries. A dotted name such as
``package._module`` is a word, and so are its parts; a word with hyphens or underscores is also
indexed without them. Chinese and Japanese have no spaces between words, and Korean adds particles
to them. So a run of their characters is cut into pairs of neighbours; the last character of a run
stands alone.
"""

import json
import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes

from ..page_nodes import OUTPUT_CLASS, folded_cell
from ..pages.page_header import provenance

FILE_NAME = "search-index.js"
_LEFT_OUT = (nodes.Invisible, nodes.meta, nodes.system_message, addnodes.toctree, provenance)
# The end of a sentence; names and numbers have none
_SENTENCE_END = re.compile(r"[.!?:;。！？：；…][)\]”’\"'）】」』]*$")
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
# Weight of a word in code, tables and outputs, which excerpts do not show; in prose it is 1
_WEIGHT_OF_REST = 0.4
_MOST_COUNTED = 50  # occurrences of a word in a section
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_LETTERS = rf"[^\W{_DENSE}]+"
_JOINT = r"[.\-/=@:]"
_WORDS = re.compile(rf"{_LETTERS}(?:{_JOINT}{_LETTERS})*|[{_DENSE}]+")
_IS_DENSE = re.compile(f"[{_DENSE}]")
_PART = re.compile(r"[^.\-/=@:]+")
_NAME = re.compile(r"[^.\-/=@:_]+")


class Entry(NamedTuple):
    """A section in the index."""

    anchor: str
    title: str
    prose: str  # paragraphs that end like a sentence
    length: int  # number of words
    weights: dict[str, int]  # by word; odd where a heading has the word, see ``make_entry``


@dataclass(kw_only=True)
class Section:
    """A part of a page with an address of its own, without the sections inside it."""

    anchor: str = ""  # empty for the page itself
    title: str = ""
    name: str = ""  # counts as much as the title
    prose: list[str] = field(default_factory=list)  # paragraphs, which excerpts are taken from
    rest: list[str] = field(default_factory=list)  # code, tables and outputs

    def make_entry(self) -> Entry:
        """Return the section as the index has it.

        The weight of a word is twice the number of its occurrences, plus one if the title or the
        name has it. So one number tells both, which keeps the index small: the lowest bit says
        whether a heading has the word.
        """
        paragraphs = [" ".join(text.split()) for text in self.prose]
        counts = self._count_words(paragraphs)
        heading_words = set(find_words(f"{self.title} {self.name}"))
        weights = {}
        for word, count in counts.items():
            weights[word] = 2 * min(count, _MOST_COUNTED)
            if word in heading_words:
                weights[word] += 1
        sentences = [text for text in paragraphs if _SENTENCE_END.search(text)]
        return Entry(
            anchor=self.anchor,
            title=self.title,
            prose="\n".join(sentences),
            length=sum(counts.values()),
            weights=weights,
        )

    def _count_words(self, paragraphs: Sequence[str]) -> dict[str, int]:
        """Return how often each word occurs, weighted and rounded up, in alphabetical order."""
        counts: dict[str, float] = defaultdict(float)
        for word in find_words("\n".join([self.title, self.name, *paragraphs])):
            counts[word] += 1
        for word in find_words("\n".join(self.rest)):
            counts[word] += _WEIGHT_OF_REST
        return {word: math.ceil(count) for word, count in sorted(counts.items())}


def read_sections(document: nodes.document, name: str = "") -> list[Section]:
    """Return the sections of a page in their order.

    The first one is the page itself, with ``name`` as its name.
    """
    page = Section(name=name)
    return [page, *_read(document, page)]


def _read(parent: nodes.Element, section: Section, *, as_prose: bool = True) -> Iterator[Section]:
    """Read the children of a node into a section; yield the sections that begin among them.

    Paragraphs are prose, or the rest if ``as_prose`` is false.
    """
    for node in parent.children:
        if isinstance(node, nodes.section) and not (section.title or section.anchor):
            yield from _read(node, section)  # the section of the page's title
        elif isinstance(node, nodes.section | folded_cell) and node["ids"]:
            inner = Section(anchor=node["ids"][0], title=node.get("summary", ""))
            yield inner
            yield from _read(node, inner)
        elif isinstance(node, nodes.definition_list_item) and node[0]["ids"]:  # in a glossary
            term, definition = node[0], node[-1]
            inner = Section(anchor=term["ids"][0], title=term.astext(), name="definition")
            yield inner
            yield from _read(definition, inner)
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
            texts = section.prose if as_prose else section.rest
            texts.append(node.astext())
        elif isinstance(node, nodes.Element):
            is_data = isinstance(node, nodes.table) or OUTPUT_CLASS in node["classes"]
            yield from _read(node, section, as_prose=as_prose and not is_data)


def find_words(text: str) -> Iterator[str]:
    """Yield the words of a text, each as often as it occurs."""
    for match in _WORDS.finditer(unicodedata.normalize("NFKC", text).lower()):
        word = match[0]
        if _IS_DENSE.match(word):
            for start in range(len(word)):
                yield word[start : start + 2]
        elif word.isalnum():
            yield word
        else:
            yield from _forms_of_name(word)


def _forms_of_name(name: str) -> set[str]:
    """Return a name with punctuation, its parts, and the name without hyphens and underscores."""
    forms = {name, *_PART.findall(name), *_NAME.findall(name)}
    joined = re.sub("[-_]", "", name)
    if _PART.fullmatch(joined):
        forms.add(joined)
    return forms


def write_index(
    path: Path,
    pages: Mapping[str, Sequence[Entry]],
    synonyms: Mapping[str, Sequence[str]],
) -> None:
    """Write the index: a script with the sections of pages, their words, and synonyms.

    ``pages`` holds the sections of each page by its address. A word's list
    has two numbers for each section with that word: the distance from the section before (from the
    first section of all, at the start), counted in sections, and the word's weight.
    """
    sections = list(chain.from_iterable(pages.values()))
    terms: dict[str, list[int]] = defaultdict(list)
    last_sections: dict[str, int] = {}  # by word, the number of the last section that has it
    for number, section in enumerate(sections):
        for word, weight in section.weights.items():
            distance = number - last_sections.get(word, 0)
            terms[word] += [distance, weight]
            last_sections[word] = number
    page_list = []
    for address, page in pages.items():
        # Word counts and weights are in lists of their own below.
        shown = [(section.anchor, section.title, section.prose) for section in page]
        page_list.append([address, shown])
    index = {
        "pages": page_list,
        "lengths": [section.length for section in sections],
        "synonyms": list(synonyms.items()),
        "terms": sorted(terms.items()),
    }
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    path.write_text(f'recipeGallerySearch("index", {text});\n', encoding="utf-8")
