"""The messages of a page for `live`: which element shows which message, and its problems.

An element gets a class made from the source text, so that it stays right when lines of a catalog
move. Published pages have no such classes.
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
    """Mark elements with their messages before Sphinx translates them; code with its comments."""
    if not is_translated(env.config):
        return
    for node, text in extract_messages(document):
        shown = _find_block(node) if type(node) is code_comment else node
        if isinstance(shown, nodes.TextElement | nodes.image) and text:
            shown["classes"] = list(dict.fromkeys([*shown["classes"], mark_of(text)]))


def _find_block(comment: nodes.Element) -> nodes.Node | None:
    """Return the block of code with a comment; it follows the node of the comment."""
    siblings = comment.parent.children
    for node in siblings[comment.parent.index(comment) :]:
        if isinstance(node, nodes.literal_block) and not isinstance(node, code_comment):
            return node
    return None


def page_messages(project: Project, language: Language, page: str) -> list[dict[str, Any]]:
    """Return the messages of a page's catalog with their problems.

    Each is a dictionary with ``mark``, ``source``, ``translation``, ``left`` (whether it is left to
    translate), ``place`` (file and line) and ``texts`` (the problems). Problems of the file itself
    come first, without a mark.
    """
    path = catalog_of(project, page, language.code)
    if not path.exists():
        return []
    root = project.root.resolve()
    file = path
    if path.resolve().is_relative_to(root):
        file = path.resolve().relative_to(root)
    problems = _find_problems(project, language, page, path)
    entries, _unreadable = read_entries(path)
    messages = []
    for entry in entries:
        line = line_of(entry)
        message = {
            "mark": mark_of(entry.msgid),
            "source": entry.msgid,
            "translation": entry.msgstr,
            "left": not entry.translated(),
            "place": f"{file}:{line}",
            "texts": problems.pop(line, []),
        }
        messages.append(message)
    problems_of_file = []
    for line, texts in problems.items():
        problem = {
            "mark": "",
            "source": "",
            "translation": "",
            "left": False,
            "place": f"{file}:{line}",
            "texts": texts,
        }
        problems_of_file.append(problem)
    return problems_of_file + messages


def _find_problems(
    project: Project, language: Language, page: str, path: Path
) -> dict[int, list[str]]:
    """Return the problems of a catalog by line, each text once."""
    # Report untranslated messages in every language: whoever uses `live` translates it.
    language = replace(language, published=True)
    is_label = page in label_domains(project.config)
    problems: dict[int, dict[str, None]] = defaultdict(dict)
    try:
        for problem in check_file(path, language, is_label, project.locale):
            problems[problem.line][f"{problem.message} ({problem.check})"] = None
    except GalleryError as error:  # in the glossary, which the checks need
        return {1: [error.describe(project.root.resolve())]}
    return {line: list(texts) for line, texts in problems.items()}
