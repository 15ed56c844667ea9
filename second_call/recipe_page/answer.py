"""The answer of a recipe: what its docstring says before anything else, as a box of its own.

It is what stands between the first paragraph, which tells for whom the page is, and the first
heading, if that holds a paragraph and code to copy.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util import logging

from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recorded_page import load_page

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

ANCHOR = "the-answer"
_END = re.compile(r"[.!?](?=\s|$)|[。！？]")  # of a sentence
_CLAUSE = re.compile(r"[:;](?=\s|$)|[：；]")
_ENDS = (nodes.section, nodes.transition, nodes.comment)  # a comment begins the next block


def make_answer(env: BuildEnvironment, document: nodes.document) -> None:
    """Put the answer into a section of its own, after translation.

    Warns if there is none and ``conf.py`` wants one.
    """
    page = load_page(env, env.docname)
    title = next(iter(document.findall(nodes.title)), None)
    if page is None or page.recipe is None or title is None:
        return
    top = title.parent
    first = top.first_child_matching_class(nodes.paragraph)
    start = len(top) if first is None else first + 1
    end = top.first_child_matching_class(_ENDS, start)
    found = top[start:end]
    kinds = {type(each) for block in found for each in block.findall(nodes.Element)}
    if {nodes.paragraph, nodes.literal_block} <= kinds:
        answer = nodes.section(ids=[ANCHOR], names=[ANCHOR], classes=["answer"])
        answer += nodes.title("", _("The answer"), translatable=False)
        answer += found
        top[start:end] = [answer]
    elif env.config.second_call_answer_required:
        error = GalleryError(
            "the page has no answer",
            path=page.source,
            line=1,
            remedy="after its first paragraph the docstring needs one with the answer, and "
            "below it a code-block to copy",
        )
        logger.warning("%s", error, type="second_call", subtype="answer")


def find_rules(doctree: nodes.document) -> list[nodes.paragraph]:
    """Return what a page's answer advises, a paragraph each: its sentences with bold words.

    Without such a sentence it is the first one. Of a page without an answer there are none.
    """
    boxes = (each for each in doctree.findall(nodes.section) if ANCHOR in each["ids"])
    lead = next((each for box in boxes for each in box.findall(nodes.paragraph)), None)
    if lead is None:
        return []
    sentences = list(_split_sentences(lead))
    rules = [each for each in sentences if _has_bold(each)] or sentences[:1]
    return [nodes.paragraph("", "", *_shorten(rule), classes=lead["classes"]) for rule in rules]


def _split_sentences(lead: nodes.paragraph) -> Iterator[list[nodes.Node]]:
    sentence: list[nodes.Node] = []
    for node in lead.children:
        ends = isinstance(node, nodes.strong) and _END.match(node.astext()[-1:])
        if isinstance(node, nodes.Text):
            *texts, rest = _END.split(str(node))
            for text in texts:
                yield [*sentence, nodes.Text(text)]
                sentence = []
            node = nodes.Text(rest)
        sentence.append(node)
        if ends:
            yield sentence
            sentence = []
    yield sentence


def _has_bold(sentence: Sequence[nodes.Node]) -> bool:
    return any(isinstance(node, nodes.strong) for node in sentence)


def _shorten(sentence: Sequence[nodes.Node]) -> Iterator[nodes.Node]:
    """Yield copies of the nodes of a rule, up to the colon or the figure behind its bold words."""
    may_end = not _has_bold(sentence)
    for node in sentence:
        if isinstance(node, nodes.Text):
            clause, *rest = _CLAUSE.split(str(node)) if may_end else [str(node)]
            yield nodes.Text(clause)
            if rest:
                return
        elif isinstance(node, nodes.strong):
            yield nodes.strong("", node.astext().rstrip(".。"))  # a line of its own needs none
            may_end = True
        elif isinstance(node, nodes.emphasis | nodes.literal):
            yield node.deepcopy()
        elif may_end:
            return
        else:
            yield nodes.Text(node.astext())


def describe_answer(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give templates ``rules`` as HTML, and ``answer_anchor``."""
    rules = find_rules(doctree) if doctree else []
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    context["rules"] = [app.builder.render_partial(rule)["fragment"] for rule in rules]
    context["answer_anchor"] = ANCHOR
