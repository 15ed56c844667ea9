"""The top of a recipe's page: the answer in a box, libraries as tabs, bold lines as headings.

The directive ``answer`` holds a verdict, the chart that shows it, code, and up to four facts. The
directive ``libraries`` shows a list, an item for each library, as tabs. A paragraph in bold such as
"What you need" becomes a heading. All parts are put in place after translation; the anchors of
headings are made before it, of the English text.
"""

from collections.abc import Sequence

from docutils import nodes
from docutils.parsers.rst import DirectiveError
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from sphinx_recorded_gallery.api import (
    NOTEBOOK_HEAD,
    NOTEBOOK_NOTE,
    GalleryError,
    RecipePage,
)

from .answer_text import ANSWER_REMEDY
from .charts.directive import chart
from .code_tabs import code_tab, code_tabs, has_caption, tab_name
from .labels import _

logger = logging.getLogger(__name__)

ANCHOR = "the-answer"
MOST_FACTS = 4
_MARK = "heading_id"  # the attribute of a line that becomes a heading: its anchor
_COLONS = (":", "：")
# A container is an answer, which gets a section beside this one, or what code has printed.
_ENDS_OF_SECTIONS = (nodes.section, nodes.container, nodes.transition)


class answer(nodes.container):  # noqa: N801 (docutils names nodes so)
    """The parts of an answer, until a section takes their place.

    With ``has_mistake`` it has no parts: its mistake was reported.
    """


class libraries(nodes.General, nodes.Element):  # noqa: N801
    """A list of libraries, until tabs take its place."""


class AnswerDirective(SphinxDirective):
    """Collect what a reader in a hurry needs: verdict, chart, code and facts."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the parts in the order in which a phone shows them, whatever the author's order.

        An answer with a mistake is reported and stays on the page, so that the page does not seem
        to have none.
        """
        try:
            return self._make_answer()
        except DirectiveError as error:
            reporter = self.state_machine.reporter
            return [
                reporter.system_message(error.level, error.msg, line=self.lineno),
                answer(has_mistake=True),
            ]

    def _make_answer(self) -> list[nodes.Node]:
        """Return the answer.

        Raises an error of the directive if a part is missing, has no place here or is one too many.
        A part that has a mistake of its own is reported already, and not missing.
        """
        verdict = nodes.container(classes=["verdict"])
        charts: list[chart] = []
        facts: list[nodes.bullet_list] = []
        code = nodes.container(classes=["answer-code"])
        problems: list[nodes.system_message] = []
        for node in self.parse_content_to_nodes():
            if isinstance(node, nodes.paragraph):
                verdict += node
            elif isinstance(node, chart):
                charts.append(node)
            elif isinstance(node, nodes.bullet_list):
                facts.append(node)
            elif isinstance(node, nodes.literal_block) or has_caption(node):
                code += node
            elif isinstance(node, nodes.system_message):
                problems.append(node)
            else:
                raise self.error(
                    f"answer: it has no place for a {type(node).__name__}; it holds paragraphs, a "
                    "chart, a list of facts and code-blocks, and the rest stands below it"
                )
        if not problems:
            self._require_all(verdict, charts, facts, code)
        for items in facts:
            items["classes"].append("facts")
        node = answer("", verdict, *charts, code, *facts)
        self.set_source_info(node)
        return [node, *problems]

    def _require_all(
        self,
        verdict: nodes.container,
        charts: Sequence[chart],
        facts: Sequence[nodes.bullet_list],
        code: nodes.container,
    ) -> None:
        """Raise an error of the directive for the first part that is missing or one too many.

        So is a fact that does not begin with its number.
        """
        if not len(verdict):
            raise self.error("answer: it needs a verdict, a paragraph that says what to do")
        if len(charts) != 1 or not charts[0]["hero"]:
            raise self.error("answer: it needs one chart with the option :hero:")
        if len(facts) != 1 or len(facts[0]) > MOST_FACTS:
            raise self.error(f"answer: it needs one list of at most {MOST_FACTS} facts")
        for item in facts[0]:
            if not _begins_with_number(item):
                words = " ".join(item.astext().split())[:40]
                raise self.error(
                    f"answer: a fact begins with its number, as in - :measured:`a.wall` per step; "
                    f"this one does not: {words}"
                )
        if not len(code):
            raise self.error("answer: it needs a code-block to copy")
        if len(code) > 1:
            self._require_captions(code)

    def _require_captions(self, code: nodes.container) -> None:
        """Raise an error of the directive for the first of several blocks that has no caption."""
        for block in code:
            if has_caption(block):
                continue
            first_line = block.astext().partition("\n")[0]
            raise self.error(
                "answer: several code-blocks are tabs, and each needs its name as :caption:; "
                f"this one has none: {first_line[:40]}"
            )


def _begins_with_number(item: nodes.Node) -> bool:
    """Return whether a fact begins with a digit, or with a role such as ``measured``."""
    first = next(iter(item.findall(nodes.paragraph)), None)
    if first is None or not len(first):
        return False
    # Roles of measurements are inline nodes, whose number stands there after translation.
    return isinstance(first[0], nodes.inline) or first[0].astext()[:1].isdigit()


class LibrariesDirective(SphinxDirective):
    """Show a list as tabs; each item begins with the name of a library in bold."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list, which becomes tabs after translation.

        Raises an error of the directive if the content is not a list, or an item has no name.
        """
        content = self.parse_content_to_nodes()
        if len(content) != 1 or not isinstance(content[0], nodes.bullet_list):
            raise self.error("libraries: it needs a list and nothing else")
        for item in content[0]:
            if _find_name(item) is None:
                raise self.error(
                    "libraries: each item begins with a bold name, as in - **Diffusers**: do this"
                )
        return [libraries("", *content)]


def make_answer(env: BuildEnvironment, document: nodes.document, page: RecipePage) -> None:
    """Put the answer into a section of its own, after translation.

    Warns if the page has no answer and ``second_call_answer_required`` is set.
    """
    answers = list(document.findall(answer))
    for later in answers[1:]:
        text = f"answer: a second one, below the docstring; {ANSWER_REMEDY}"
        logger.warning("%s", text, location=later, type="second_call", subtype="answer")
        later.parent.remove(later)
    if not answers:
        if env.config.second_call_answer_required:
            _warn_of_missing_answer(page)
        return
    parts = answers[0]
    if parts.get("has_mistake"):
        parts.parent.remove(parts)
        return
    section = nodes.section(ids=[ANCHOR], names=[ANCHOR], classes=["answer"])
    section += nodes.title("", _("The answer"), translatable=False)
    section += parts.children
    _run_in_notebook(section)
    top = parts.parent
    parts.replace_self(section)
    top["classes"].append("answered")  # browsers style the top before the answer has loaded


def _run_in_notebook(section: nodes.section) -> None:
    """Let a notebook run the code to copy, each block in a process of its own.

    What such code sets, compiles or keeps would change what the recipe measures below it. The first
    cell of a notebook (conf.py) imports ``sys``. A sentence before the first block says that such
    code needs a GPU, unlike the recipe (CONTRIBUTING.md).
    """
    comment = _("Runs in a separate process. Remove the first line to keep its variables.")
    head = f"%%script --no-raise-error {{sys.executable}}\n# {comment}"
    note = _("These examples need a CUDA GPU. The rest of the notebook also runs on a CPU.")
    blocks = section.findall(nodes.literal_block)
    examples = [block for block in blocks if block.get("language") == "python"]
    for example in examples:
        example[NOTEBOOK_HEAD] = head
    if any('"cuda"' in example.astext() or ".cuda" in example.astext() for example in examples):
        examples[0][NOTEBOOK_NOTE] = note


def _warn_of_missing_answer(page: RecipePage) -> None:
    error = GalleryError(
        "the page has no answer",
        path=page.recipe.path,
        line=1,
        remedy="write the directive answer into the docstring, as CONTRIBUTING.md shows",
    )
    logger.warning("%s", error, type="second_call", subtype="answer")


def make_tabs(_env: BuildEnvironment, document: nodes.document) -> None:
    """Show each list of libraries as tabs, after translation.

    The list stays a list if the translation of an item no longer begins with a bold name.
    """
    for node in list(document.findall(libraries)):
        [items] = node.children
        names = [_find_name(item) for item in items]
        if any(name is None for name in names):
            node.replace_self(items)
            continue
        tabs = code_tabs(legend=_("Your library"))
        for item in items:
            tabs += [*_make_tab(item)]
        node.replace_self(tabs)


def _make_tab(item: nodes.list_item) -> tuple[tab_name, code_tab]:
    """Return the name of the library of an item, and a tab that says what to do.

    A colon after the name is removed, and the name with it. Without a colon, the name is part of
    the sentence and stays in it.
    """
    paragraph, *other_blocks = item.children
    strong, *words = paragraph.children
    name = tab_name("", "", *(child.deepcopy() for child in strong.children))
    if words and isinstance(words[0], nodes.Text) and words[0].startswith(_COLONS):
        text, *further_words = words
        sentence = text.lstrip("".join(_COLONS)).lstrip()
        capitalized = nodes.Text(sentence[:1].upper() + sentence[1:])
        paragraph = nodes.paragraph("", "", capitalized, *further_words)
    return name, code_tab("", paragraph, *other_blocks)


def _find_name(item: nodes.Node) -> nodes.strong | None:
    """Return the bold name with which an item of a list begins; None if there is none."""
    if not isinstance(item, nodes.list_item) or not len(item):
        return None
    paragraph = item[0]
    if not isinstance(paragraph, nodes.paragraph) or not len(paragraph):
        return None
    first = paragraph[0]
    if not isinstance(first, nodes.strong):
        return None
    return first


def mark_headings(_env: BuildEnvironment, document: nodes.document, _page: RecipePage) -> None:
    """Mark each paragraph in bold above the first section as a heading, before translation.

    The mark is the anchor, made of the English text. Translation keeps attributes, so that the
    anchor is the same in every language.
    """
    title = next(iter(document.findall(nodes.title)), None)
    if title is None:
        return
    for node in title.parent.children:
        if isinstance(node, nodes.section):
            break
        if isinstance(node, nodes.paragraph) and _is_bold(node):
            node[_MARK] = nodes.make_id(node.astext())


def make_headings(_env: BuildEnvironment, document: nodes.document) -> None:
    """Make a section of each marked line and the nodes below it, after translation."""
    lines = [line for line in document.findall(nodes.paragraph) if line.get(_MARK)]
    for line in lines:
        parent = line.parent
        start = parent.index(line)
        content = _nodes_until_end(parent.children[start + 1 :], lines)
        section = nodes.section(ids=[line[_MARK]], names=[line[_MARK]])
        # A translation may have punctuation beside the bold words.
        words = line[0].children if _is_bold(line) else line.children
        section += nodes.title("", "", *words)
        section += content
        parent[start : start + 1 + len(content)] = [section]


def _nodes_until_end(
    below: Sequence[nodes.Node], lines: Sequence[nodes.paragraph]
) -> list[nodes.Node]:
    """Return the nodes before the next line that becomes a heading, or another end of a section."""
    content: list[nodes.Node] = []
    for node in below:
        if isinstance(node, _ENDS_OF_SECTIONS) or node in lines:
            break
        content.append(node)
    return content


def _is_bold(line: nodes.paragraph) -> bool:
    return len(line) == 1 and isinstance(line[0], nodes.strong)
