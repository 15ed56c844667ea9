"""The order of listeners and transforms, functions that add transforms, and nodes of HTML only."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

    from .recipes.recorded_recipe import RecipePage


class Priority:
    """The order of listeners and transforms, lower first; comments name those of Sphinx.

    These are plain numbers, and equal ones of different events have nothing to do with each other.
    Of equal ones of one event, the listener or transform that was added first comes first.
    """

    # config-inited
    REFUSE_LINKS = 0  #: before anything is read
    BEGIN_ANEW = 1  #: Sphinx reads its environment after all of these
    READ_LANGUAGES = 2
    TAKE_OVER_CATALOGS = 3
    LOAD_LABELS = 4  #: needs the languages and the catalogs
    CHECK_CONFIG = 5  #: needs html_baseurl, which the languages give
    AFTER_GALLERY = 11  #: Sphinx-Gallery completes its settings at 10
    # builder-inited
    JOIN_STYLES = 510  #: after the engine has added its style sheet
    # transforms of a page that was read
    MARK_CELLS = 2  #: later transforms use the marks
    ADD_OUTPUTS = 3  #: before transforms that look for outputs
    MARK_TABLES = 4  #: after ADD_OUTPUTS
    ADD_TO_PAGE = 5  #: header and cards, before transforms of texts to translate
    ADD_COMMENTS = 6  #: Sphinx keeps the messages at 10
    MARK_MESSAGES = 18  #: for `live`, while each node has its source text
    PREPARE_TRANSLATION = 19  #: Sphinx translates at 20
    TAKE_OUT = 21  #: remove nodes that a translation added
    FILL_MEASUREMENTS = 22  #: after the translation
    MAKE_HEADINGS = 23  #: from translated lines
    MARK_UNTRANSLATED = 24  #: Sphinx counts at 25
    WRITE_COMMENTS = 26
    NOTE_PROBLEMS = 999  #: after all that makes or moves nodes
    # env-updated
    NOTE_LINKS = 400  #: the engine finds pages that show old titles at 500
    # doctree-resolved, just before a page is written
    FILL_LINKS = 500  #: Sphinx's default
    ADD_LINKS = 510  #: links of a site, after those of the engine
    WRITE_DOWNLOADS = 550  #: after all links of the page
    LEAVE_OUT = 560  #: nodes that only downloads have
    KEEP_TEXT = 900  #: for the search, after measurements and links
    BREAK_LINES = 910  #: in HTML alone, after all that reads texts
    # html-page-context
    DESCRIBE_HEAD = 900  #: after the theme has added its scripts
    # build-finished
    TIDY_UP = 910  #: after other listeners have written files
    PACK = 950  #: what holds all files of a build
    NOTE_FINISHED = 990  #: after everything that writes


def _skip(_self: nodes.NodeVisitor, _node: nodes.Element) -> None:
    from docutils import nodes

    raise nodes.SkipNode


# Visitors of formats that skip a node which only HTML can show, for ``app.add_node``: functions
# called when a node begins and, if there is one, when it ends
ONLY_HTML: dict[str, Any] = {
    "latex": (_skip, None),
    "man": (_skip, None),
    "markdown": (_skip, None),
    "texinfo": (_skip, None),
    "text": (_skip, None),
}


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

    ``page`` is the recipe with its recording, loaded here so that no transform has to look it up.
    """
    from .recipes.recorded_recipe import load_page

    def change_recipe(env: BuildEnvironment, document: nodes.document) -> None:
        page = load_page(env, env.docname)
        if page is not None:
            change(env, document, page)

    add_transform(app, change_recipe, priority)
