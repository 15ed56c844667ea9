"""When hooks and transforms run, and how a function becomes one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from .recipes.recorded_recipe import RecipePage


class Priority:
    """When hooks and transforms of one event run, lower first; Sphinx's own stand in comments.

    These are numbers, and two of different events may be equal.
    """

    # config-inited
    REFUSE_LINKS = 0  #: before anything is read
    BEGIN_ANEW = 1  #: Sphinx reads its environment behind all of these
    READ_LANGUAGES = 2
    TAKE_OVER_CATALOGS = 3
    LOAD_LABELS = 4  #: needs the languages and the catalogs
    CHECK_CONFIG = 5  #: needs html_baseurl, which the languages give
    AFTER_GALLERY = 11  #: Sphinx-Gallery completes its settings at 10
    # transforms of a page that was read
    MARK_CELLS = 2  #: all that show something of a cell ask the marks
    ADD_OUTPUTS = 3  #: before whatever looks for them
    MARK_TABLES = 3  #: among the outputs, whose transform was added before
    ADD_TO_PAGE = 4  #: header and cards: before whatever looks at texts to translate
    ADD_COMMENTS = 5  #: Sphinx keeps the messages at 10
    MARK_MESSAGES = 18  #: of a page that `live` shows: while each node has its source text
    PREPARE_TRANSLATION = 19  #: Sphinx translates at 20
    TAKE_OUT = 21  #: of a page that is translated: what its source has not
    FILL_MEASUREMENTS = 22  #: into the translation
    MAKE_HEADINGS = 23  #: of lines that were translated
    MARK_UNTRANSLATED = 24  #: Sphinx counts at 25
    WRITE_COMMENTS = 26
    NOTE_PROBLEMS = 999  #: after whatever makes or moves nodes
    # env-updated
    NOTE_LINKS = 400  #: the engine finds pages that show old titles at 500
    # doctree-resolved: what is done to a page just before it is written
    FILL_LINKS = 500  #: Sphinx's default for hooks
    ADD_LINKS = 510  #: what a site adds to the engine's links
    WRITE_DOWNLOADS = 550  #: of the page with all its links
    LEAVE_OUT = 560  #: what downloads have and pages do not
    KEEP_TEXT = 900  #: for the search: figures and links are filled in
    # html-page-context
    DESCRIBE_HEAD = 900  #: when the theme has added its scripts
    # build-finished
    TIDY_UP = 910  #: what others have written
    NOTE_FINISHED = 990  #: after whatever writes


def _skip(_self: nodes.NodeVisitor, _node: nodes.Element) -> None:
    from docutils import nodes

    raise nodes.SkipNode


# How a node that only HTML can show is written in other formats, for ``app.add_node``
ONLY_HTML: dict[str, Any] = dict.fromkeys(
    ("latex", "man", "markdown", "texinfo", "text"), (_skip, None)
)


def add_transform(
    app: Sphinx, change: Callable[[BuildEnvironment, nodes.document], None], priority: int
) -> None:
    """Call ``change(env, document)`` for each page that was read; it changes the page in place."""
    from sphinx.transforms import SphinxTransform

    class Transform(SphinxTransform):
        default_priority = priority

        def apply(self, **_unused: Any) -> None:
            change(self.env, self.document)

    app.add_transform(Transform)


def add_recipe_transform(
    app: Sphinx,
    change: Callable[[BuildEnvironment, nodes.document, RecipePage], None],
    priority: int,
) -> None:
    """Call ``change(env, document, page)`` for each page of a recipe that was read.

    ``page`` is the recipe with its recording: loaded here once, so that no transform looks it up.
    """
    from .recipes.recorded_recipe import load_page

    def change_recipe(env: BuildEnvironment, document: nodes.document) -> None:
        page = load_page(env, env.docname)
        if page is not None:
            change(env, document, page)

    add_transform(app, change_recipe, priority)
