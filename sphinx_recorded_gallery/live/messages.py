"""The messages of a language as `live` tells of them: which one a sentence is, and what is wrong.

A mark on a page is a class of an element, made from the source text, so that it stays right when
lines of a catalog move. Pages that are published have none.
"""

import hashlib
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
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
    if not is_translated(env.config):
        return
    for node, text in extract_messages(document):
        shown = _find_block(node) if type(node) is code_comment else node
        if isinstance(shown, nodes.TextElement | nodes.image) and text:
            shown["classes"] = list(dict.fromkeys([*shown["classes"], mark_of(text)]))


def _find_block(comment: nodes.Element) -> nodes.Node | None:
    """Return the block of code that a comment is from, which stands behind it."""
    siblings = comment.parent.children
    for node in siblings[comment.parent.index(comment) :]:
        if isinstance(node, nodes.literal_block) and not isinstance(node, code_comment):
            return node
    return None


def page_messages(project: Project, language: Language, page: str) -> list[dict[str, Any]]:
    """Return the messages of a page's catalog, with what is wrong with each.

    Each is a dictionary with ``mark``, ``source``, ``translation``, ``left`` (whether it is to be
    translated), ``place`` (file and line) and ``texts`` (what is wrong). What is wrong with the
    file itself is one more, without a mark.
    """
    path = catalog_of(project, page, language.code)
    if not path.exists():
        return []
    root = project.root.resolve()
    file = path.resolve().relative_to(root) if path.resolve().is_relative_to(root) else path
    problems = _find_problems(project, language, page, path)
    entries, _unreadable = read_entries(path)
    messages = [
        {
            "mark": mark_of(entry.msgid),
            "source": entry.msgid,
            "translation": entry.msgstr,
            "left": not entry.translated(),
            "place": f"{file}:{line_of(entry)}",
            "texts": problems.pop(line_of(entry), []),
        }
        for entry in entries
    ]
    of_file = [
        {
            "mark": "",
            "source": "",
            "translation": "",
            "left": False,
            "place": f"{file}:{line}",
            "texts": texts,
        }
        for line, texts in problems.items()
    ]
    return of_file + messages


def _find_problems(
    project: Project, language: Language, page: str, path: Path
) -> dict[int, list[str]]:
    """Return what is wrong with a catalog, by line, each text once."""
    # What is not translated yet is told in every language: whoever asks translates it.
    language = replace(language, published=True)
    is_label = page in label_domains(project.config)
    problems: dict[int, dict[str, None]] = defaultdict(dict)
    try:
        for problem in check_file(path, language, is_label, project.locale):
            problems[problem.line][f"{problem.message} ({problem.check})"] = None
    except GalleryError as error:  # of the glossary, without which nothing can be said
        return {1: [error.describe(project.root.resolve())]}
    return {line: list(texts) for line, texts in problems.items()}
