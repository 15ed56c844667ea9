"""The text of a page in sections, as the search has it."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from docutils import nodes
from sphinx import addnodes

from ..pages.header import provenance
from ..recipes.cell_marks import OUTPUT_CLASS, folded_cell
from .words import find_words

_LEFT_OUT = (
    *(nodes.Invisible, nodes.meta, nodes.system_message),
    *(addnodes.index, addnodes.toctree, provenance),
)
_SENTENCE = re.compile(
    r"[.!?:;。！？：；…][)\]”’\"'）】」』]*$"
)  # names and figures have no such end
_TAG = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
REST = 0.4  # what a word counts in code, tables and outputs, which no excerpt shows


@dataclass(kw_only=True)
class Section:
    """Part of a page with an address of its own, without the sections inside of it."""

    anchor: str = ""  # of the page itself: none
    title: str = ""
    name: str = ""  # counts as its title does
    prose: list[str] = field(default_factory=list)  # paragraphs, which excerpts are taken from
    rest: list[str] = field(default_factory=list)

    def as_data(self) -> list[Any]:
        """Return what is kept of it: anchor, title, prose, words of the title, counted words."""
        prose = [" ".join(text.split()) for text in self.prose]
        counts: dict[str, float] = defaultdict(float)
        for share, texts in ((1, [self.title, self.name, *prose]), (REST, self.rest)):
            for word in find_words("\n".join(texts)):
                counts[word] += share
        words = {word: math.ceil(count) for word, count in sorted(counts.items())}
        title = sorted(set(find_words(f"{self.title} {self.name}")))
        shown = [text for text in prose if _SENTENCE.search(text)]
        return [self.anchor, self.title, "\n".join(shown), title, words]


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
            inner = Section(anchor=node[0]["ids"][0], title=node[0].astext())
            yield inner
            yield from _read(node[-1], inner)
        elif isinstance(node, _LEFT_OUT):
            continue
        elif isinstance(node, nodes.title) and isinstance(parent, nodes.section):
            section.title = node.astext()
        elif isinstance(node, nodes.raw):
            if node.get("format") == "html":
                section.rest.append(_TAG.sub(" ", node.astext()))
        elif isinstance(node, nodes.image):
            section.rest.append(node.get("alt", ""))
        elif isinstance(node, nodes.literal_block | nodes.math_block):
            section.rest.append(node.astext())
        elif isinstance(node, nodes.TextElement):
            (section.prose if shown else section.rest).append(node.astext())
        elif isinstance(node, nodes.Element):
            prose = shown and not isinstance(node, nodes.table)
            yield from _read(node, section, shown=prose and OUTPUT_CLASS not in node["classes"])
