"""Recorded recipes: a Sphinx extension that renders galleries from recordings, and a command line.

Name ``recipe_gallery`` in the ``extensions`` of a Sphinx-Gallery project; ``using.rst`` tells how.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from docutils import nodes
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

__version__ = "1.0.0"


class Priority(IntEnum):
    """When hooks and transforms of one event run, lower first; Sphinx's own stand in comments."""

    # config-inited
    READ_LANGUAGES = 3
    LOAD_LABELS = 4  # needs the languages
    CHECK_CONFIG = 5  # needs html_baseurl, which the languages give
    AFTER_GALLERY = 11  # Sphinx-Gallery completes its settings at 10
    # transforms of a page that was read
    MARK_CELLS = 2  # all that show something of a cell ask the marks
    ADD_OUTPUTS = 3  # before whatever looks for them
    ADD_TO_PAGE = 4  # header and cards: before whatever looks at texts to translate
    ADD_COMMENTS = 5  # Sphinx keeps the messages at 10
    MARK_MESSAGES = 18  # of a page that `live` shows: while each node has its source text
    PREPARE_TRANSLATION = 19  # Sphinx translates at 20
    TAKE_OUT = 21  # of a page that is translated: what its source has not
    FILL_MEASUREMENTS = 22  # into the translation
    MAKE_HEADINGS = 23  # of lines that were translated
    MARK_UNTRANSLATED = 24  # Sphinx counts at 25
    WRITE_COMMENTS = 26
    NOTE_PROBLEMS = 999  # after whatever makes or moves nodes
    # env-updated
    NOTE_LINKS = 400  # the engine finds pages that show old titles at 500
    # doctree-resolved: what is done to a page just before it is written
    FILL_LINKS = 500  # Sphinx's default for hooks
    ADD_LINKS = 510  # what a site adds to the engine's links
    WRITE_DOWNLOADS = 550  # of the page with all its links
    LEAVE_OUT = 560  # what downloads have and pages do not
    KEEP_TEXT = 900  # for the search: figures and links are filled in
    # html-page-context
    DESCRIBE_HEAD = 900  # when the theme has added its scripts
    # build-finished
    TIDY_UP = 910  # what others have written


def add_transform(
    app: Sphinx, change: Callable[[BuildEnvironment, nodes.document], None], priority: Priority
) -> None:
    """Let a function change each page that was read, in place."""
    from sphinx.transforms import SphinxTransform

    class Transform(SphinxTransform):
        default_priority = priority

        def apply(self, **_unused: Any) -> None:
            change(self.env, self.document)

    app.add_transform(Transform)


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the parts of the engine."""
    # Imported here so that the command line works where Sphinx's HTML part does not.
    from . import page_dependencies, pages, search, translate
    from .project import SETTINGS, code_digest

    app.setup_extension("sphinx_gallery.gen_gallery")
    for name, (default, rebuild, kind) in SETTINGS.items():
        app.add_config_value(name, default, rebuild, kind)  # type: ignore[arg-type]
    page_dependencies.setup(app)
    translate.setup(app)
    pages.setup(app)
    search.setup(app)
    return {
        "version": __version__,
        # Pages made by other code than this are read again.
        "env_version": int.from_bytes(code_digest()[:6], "big"),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
