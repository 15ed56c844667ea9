"""The answer of a recipe: what its docstring says before anything else, as a box of its own.

It is what stands between the first paragraph, which tells for whom the page is, and the first
heading, if that holds a paragraph and code to copy.
"""

from docutils import nodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.util import logging

from recipe_gallery.errors import GalleryError
from recipe_gallery.recorded_page import load_page

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

ANCHOR = "the-answer"
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
