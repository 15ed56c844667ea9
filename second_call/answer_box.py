"""The top of a recipe's page as sections: the answer, and what stands below bold lines.

The answer is what stands between the first paragraph, which tells for whom the page is, and the
first heading, if that holds a paragraph and code to copy. It has a box of its own. A bold line such
as "What you need" becomes a heading.
"""

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util import logging

from sphinx_recorded_gallery.api import GalleryError, RecipePage

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

ANCHOR = "the-answer"
_MARK = "heading_id"
_ENDS = (nodes.section, nodes.transition, nodes.comment)  # a comment begins the next block


def make_answer(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put the answer into a section of its own, after translation.

    Warns if there is none and ``conf.py`` wants one.
    """
    title = next(iter(document.findall(nodes.title)), None)
    if title is None:
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
        top["classes"].append("answered")  # style sheets know it before the answer arrives
    elif env.config.second_call_answer_required:
        error = GalleryError(
            "the page has no answer",
            path=page.recipe.path,
            line=1,
            remedy="after its first paragraph the docstring needs one with the answer, and "
            "below it a code-block to copy",
        )
        logger.warning("%s", error, type="second_call", subtype="answer")


def mark_headings(_env: BuildEnvironment, document: nodes.document, _page: RecipePage) -> None:
    """Give each of these lines the anchor that its English text makes, in every language.

    It is an attribute, which a translation keeps.
    """
    title = next(iter(document.findall(nodes.title)), None)
    for line in title.parent.children if title else ():
        if isinstance(line, nodes.section):
            break
        if isinstance(line, nodes.paragraph) and _is_bold(line):
            line[_MARK] = nodes.make_id(line.astext())


def make_headings(_env: BuildEnvironment, document: nodes.document) -> None:
    """Put each line and what stands below it into a section of its own, after translation."""
    lines = [each for each in document.findall(nodes.paragraph) if each.get(_MARK)]
    for line in lines:
        parent = line.parent
        start = parent.index(line)
        below = parent.children[start + 1 :]
        ends = (nodes.section, nodes.container, nodes.transition)
        found = (at for at, each in enumerate(below) if isinstance(each, ends) or each in lines)
        count = next(found, len(below))
        section = nodes.section(ids=[line[_MARK]], names=[line[_MARK]])
        # A translation may have a sign beside the bold words.
        words = line[0].children if _is_bold(line) else line.children
        section += nodes.title("", "", *words)
        section += below[:count]
        parent[start : start + 1 + count] = [section]


def _is_bold(line: nodes.paragraph) -> bool:
    return len(line) == 1 and isinstance(line[0], nodes.strong)
