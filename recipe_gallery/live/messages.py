"""The messages of a language as `live` tells of them: which one a sentence is, and what is wrong.

A mark on a page is a class of an element, made from the source text, so that it stays right when
lines of a catalog move. Pages that are published have none.
"""

import hashlib
import threading
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.transforms import SphinxTransform
from sphinx.util.nodes import extract_messages

from .. import Priority
from ..errors import GalleryError
from ..languages import Language, is_translated
from ..project import Project, file_state
from ..translate.catalogs import (
    all_catalogs,
    label_domains,
    line_of,
    split_path,
)
from ..translate.check import check_file
from ..translate.glossary import find_glossaries
from ..translate.transforms import code_comment
from ..translate.translations import read_entries

PREFIX = "live-message-"


def mark_of(text: str) -> str:
    """Return the class of elements that show the message ``text``."""
    return PREFIX + hashlib.sha256(text.encode()).hexdigest()[:10]


class MarkMessages(SphinxTransform):
    """Mark what has a message, before Sphinx translates it; a block of code for each comment."""

    default_priority = Priority.MARK_MESSAGES

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place."""
        if not is_translated(self.config):
            return
        for node, text in extract_messages(self.document):
            shown: nodes.Node | None = node
            if type(node) is code_comment:  # the block that it is from stands behind it
                rest = node.parent.children[node.parent.index(node) :]
                blocks = (each for each in rest if isinstance(each, nodes.literal_block))
                shown = next((each for each in blocks if not isinstance(each, code_comment)), None)
            if isinstance(shown, nodes.TextElement | nodes.image) and text:
                _mark(shown, text)


def _mark(node: nodes.Element, text: str) -> None:
    mark = mark_of(text)
    if mark not in node["classes"]:
        node["classes"].append(mark)


class Messages:
    """The catalogs of one language, each read again when it changes."""

    def __init__(self, project: Project, language: Language) -> None:
        self._project = project
        # What is not translated yet is told in every language: whoever asks translates it.
        self._language = replace(language, published=True)
        self._read: dict[Path, tuple[object, list[dict[str, Any]]]] = {}
        self._lock = threading.Lock()  # several pages may ask at once

    def advise(self, page: str) -> list[dict[str, Any]]:
        """Return the messages of a page's catalog of which something is wrong."""
        rows = [row for path in self._catalogs(page)[:1] for row in self._rows(path)]
        return [row for row in rows if row["texts"]]

    def find(self, page: str, marks: Collection[str]) -> list[dict[str, Any]]:
        """Return the messages with these marks: of a page's own catalog, or else of another."""
        found: dict[str, dict[str, Any]] = {}
        for path in self._catalogs(page):
            for row in self._rows(path):
                if row["mark"] in marks:
                    found.setdefault(row["mark"], row)
            if len(found) == len(set(marks)):
                break
        return list(found.values())

    def _catalogs(self, page: str) -> list[Path]:
        """Return the catalogs, that of a page first."""
        paths = all_catalogs(self._project, self._language.code)
        return sorted(paths, key=lambda path: split_path(path)[2] != page)

    def _rows(self, path: Path) -> list[dict[str, Any]]:
        """Return the messages of a catalog; what is wrong with the file itself is one more."""
        with self._lock:
            terms = find_glossaries(self._project.locale)
            state = [file_state(each) for each in (path, *terms)]
            if path not in self._read or self._read[path][0] != state:
                self._read[path] = state, self._check(path)
            return self._read[path][1]

    def _check(self, path: Path) -> list[dict[str, Any]]:
        root = self._project.root.resolve()
        shown = path.resolve().relative_to(root) if path.resolve().is_relative_to(root) else path
        told: dict[int, dict[str, None]] = defaultdict(dict)  # by line, in order and once

        def row(line: int, mark: str = "", source: str = "", said: str = "") -> dict[str, Any]:
            texts, place = [*told.pop(line, ())], f"{shown}:{line}"
            message = {"mark": mark, "source": source, "translation": said}
            return message | {"place": place, "texts": texts}

        try:
            labels, locale = label_domains(self._project.config), self._project.locale
            for problem in check_file(path, self._language, labels, locale):
                told[problem.line][f"{problem.message} ({problem.check})"] = None
        except GalleryError as error:  # of the glossary, without which nothing can be said
            told[1] = {error.describe(root): None}
        entries = read_entries(path)[0]
        rows = [row(line_of(e), mark_of(e.msgid), e.msgid, e.msgstr) for e in entries]
        return [*map(row, list(told)), *rows]
