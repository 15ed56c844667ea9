"""The messages of one page, checked as what the page says they are, before they are shown.

A catalog may say anything of its messages, and be compiled by another program. What a message is
only its page knows.
"""

import gettext
from collections.abc import Iterator, Mapping

from docutils import nodes

from ...languages import Language
from ..catalogs import Kind
from ..mo import loaded_messages
from .message import Message, describe_length
from .run import BREAKING

# Kinds of what a page has, None for what no catalog may say: with gettext_additional_targets
# Sphinx would also take HTML and the files of pictures from there.
Kinds = Mapping[str, set[Kind | None]]


def kind_of_node(node: nodes.Element, text: str) -> Kind | None:
    """Return what a message of a node is, other than a comment in code."""
    if isinstance(node, nodes.raw) or (isinstance(node, nodes.image) and node.get("alt") != text):
        return None
    if isinstance(node, nodes.math_block):
        return Kind.FORMULA
    is_code = isinstance(node, nodes.literal_block | nodes.doctest_block)
    return Kind.LABEL if is_code else Kind.PROSE


def drop_unfit(
    catalog: gettext.NullTranslations, kinds: Kinds, language: Language
) -> Iterator[tuple[str, str]]:
    """Remove the messages of a loaded catalog that would break a page; yield them with why."""
    for messages in _loaded(catalog):
        for text, of in kinds.items():
            translation = messages.get(text)
            if translation is None or translation == text:
                continue
            if problem := _find_problem(text, translation, of, language):
                del messages[text]
                yield text, problem


def _loaded(catalog: gettext.NullTranslations | None) -> Iterator[dict[str, str]]:
    """Yield the messages of a catalog and of those that are asked where it has none."""
    while catalog is not None:
        yield loaded_messages(catalog)
        catalog = catalog._fallback  # type: ignore[attr-defined]


def _find_problem(text: str, translation: str, of: set[Kind | None], language: Language) -> str:
    if None in of:
        return "HTML and files of pictures are not translated"
    if excess := describe_length(text, translation):
        return f"{excess} (size)"
    for kind in filter(None, of):
        message = Message(text=text, translation=translation, kind=kind, language=language)
        for each in BREAKING:
            if kind in each.of:
                for problem in each.run(message):
                    return f"{problem} ({each.name})"
    return ""
