"""A recipe and its recording as a page, a notebook and a script."""

from docutils import nodes
from sphinx.application import Sphinx

from .. import Priority


def setup(app: Sphinx) -> None:
    """Let Sphinx-Gallery's pages be made from recordings, and written in three forms."""
    from . import formulas, header, images, links, provenance, replay

    formulas.setup_math(app)
    app.connect("config-inited", replay.check_config, priority=Priority.CHECK_CONFIG)
    replay.take_over(app)
    app.add_transform(header.AddRecipeHeader)
    skip = (provenance.skip, None)
    app.add_node(links.page_links, html=(links.visit_links, None), latex=skip, text=skip)
    app.add_node(
        provenance.provenance,
        html=(provenance.visit_provenance, provenance.depart_provenance),
        latex=skip,
        text=skip,
    )
    app.add_node(nodes.image, override=True, html=(images.visit_image, None))
    app.connect("doctree-resolved", links.fill_links, priority=Priority.FILL_LINKS)
    app.connect("doctree-resolved", _write_downloads, priority=Priority.WRITE_DOWNLOADS)


def _write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.format != "html":
        return
    # Imported where a page is written: notebooks take longer to import than an unchanged site
    # takes to look at.
    from .notebook import write_downloads

    write_downloads(app, doctree, docname)
