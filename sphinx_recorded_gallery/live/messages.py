"""The messages of a language as `live` tells of them: which one a sentence is, and what is wrong.

A mark on a page is a class of an element, made from the source text, so that it stays right when
lines of a catalog move. Pages that are published have none.
"""

import hashlib
from collections import defaultdict
from dataclasses import replace
from typing import Any

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import extract_messages

from ..errors import GalleryError
from ..languages import Language, is_translated
from ..project import Project
from ..translate.catalogs import catalog_of, label_domains, line_of
from ..translate.check_po import check_file
from ..translate.loading import read_entries
from ..translate.transforms import code_comment

PREFIX = "live-message-"


def mark_of(text: str) -> str:
    """Return the class of elements that show the message ``text``."""
    return PREFIX + hashlib.sha256(text.encode()).hexdigest()[:10]


def mark_messages(env: BuildEnvironment, document: nodes.document) -> None:
    """Mark what has a message, before Sphinx translates it; a block of code for each comment."""
    for node, text in extract_messages(document) if is_translated(env.config) else ():
        shown: nodes.Node | None = node
        if type(node) is code_comment:  # the block that it is from stands behind it
            rest = node.parent.children[node.parent.index(node) :]
            blocks = (each for each in rest if isinstance(each, nodes.literal_block))
            shown = next((each for each in blocks if not isinstance(each, code_comment)), None)
        if isinstance(shown, nodes.TextElement | nodes.image) and text:
            shown["classes"] = list(dict.fromkeys([*shown["classes"], mark_of(text)]))


def page_messages(project: Project, language: Language, page: str) -> list[dict[str, Any]]:
    """Return the messages of a page's catalog, with what is wrong with each.

    What is wrong with the file itself is one more, without a mark.
    """
    path = catalog_of(project, page, language.code)
    if not path.exists():
        return []
    root, told = project.root.resolve(), defaultdict[int, dict[str, None]](dict)  # in order, once
    shown = path.resolve().relative_to(root) if path.resolve().is_relative_to(root) else path

    def row(
        line: int, mark: str = "", source: str = "", said: str = "", left: bool = False
    ) -> dict[str, Any]:
        message = {"mark": mark, "source": source, "translation": said, "left": left}
        return message | {"place": f"{shown}:{line}", "texts": [*told.pop(line, ())]}

    try:
        # What is not translated yet is told in every language: whoever asks translates it.
        asked, label = replace(language, published=True), page in label_domains(project.config)
        for problem in check_file(path, asked, label, project.locale):
            told[problem.line][f"{problem.message} ({problem.check})"] = None
    except GalleryError as error:  # of the glossary, without which nothing can be said
        told[1] = {error.describe(root): None}
    entries = read_entries(path)[0]
    rows = [
        row(line_of(e), mark_of(e.msgid), e.msgid, e.msgstr, not e.translated()) for e in entries
    ]
    return [*map(row, list(told)), *rows]
