"""A recipe and its recording as a page, a notebook and a script."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

from .. import Priority
from ..project import GalleryError


def skip(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Leave a node out."""
    raise nodes.SkipNode


# How a node that only HTML can show is written in other formats, for ``app.add_node``
ONLY_HTML: dict[str, Any] = dict.fromkeys(
    ("latex", "man", "markdown", "texinfo", "text"), (skip, None)
)


def setup(app: Sphinx) -> None:
    """Let Sphinx-Gallery's pages be made from recordings, and written in three forms."""
    from . import header, html, links, replay

    html.setup_math(app)
    app.connect("config-inited", replay.check_config, priority=Priority.CHECK_CONFIG)
    replay.take_over(app)
    app.add_transform(header.MarkCells)
    app.add_transform(header.AddRecipeHeader)
    app.add_node(links.page_links, html=(links.visit_links, None), **ONLY_HTML)
    app.add_node(header.provenance, html=(header.visit_provenance, None), **ONLY_HTML)
    app.add_node(nodes.image, override=True, html=(html.visit_image, None))
    app.connect("builder-inited", _add_style)
    app.connect("doctree-resolved", links.fill_links, priority=Priority.FILL_LINKS)
    app.connect("doctree-resolved", _write_downloads, priority=Priority.WRITE_DOWNLOADS)


def _add_style(app: Sphinx) -> None:
    if app.config.recipe_gallery_style and app.builder.format == "html":
        app.config.html_static_path.append(str(Path(__file__).with_name("recipe_gallery.css")))
        app.add_css_file("recipe_gallery.css")


def _write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    from .links import has_downloads

    if not has_downloads(app):
        return
    # Imported where a page is written: notebooks take longer to import than an unchanged site
    # takes to look at.
    from .notebook import write_downloads

    try:
        write_downloads(app, doctree, docname)
    except GalleryError as error:  # which Sphinx would show as a fault of this program
        raise ExtensionError(error.describe(Path(app.srcdir))) from None
