"""A recipe and its recording as a page, a notebook and a script."""

import re
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_gallery.gen_gallery import generate_gallery_rst

from ..hooks import ONLY_HTML, Priority, add_recipe_transform, add_transform
from ..page_nodes import DOWNLOADS_ONLY, NOT_IN_HTML, folded_cell, mark_cells, read_lines_of_recipes
from . import folded_cells, formulas_and_images, outputs, page_header, write_pages

_LONG_WORD = re.compile(r"\w{500}")


def setup(app: Sphinx) -> None:
    """Make Sphinx-Gallery's pages from recordings, and write them in three forms."""
    app.connect("config-inited", formulas_and_images.add_mathml)
    app.connect("config-inited", write_pages.check_config, priority=Priority.CHECK_CONFIG)
    app.connect("config-inited", write_pages.exclude_notebooks)
    app.connect("config-inited", write_pages.unhide_matplotlib, priority=Priority.AFTER_GALLERY)
    # Sphinx-Gallery is called by ``make_pages``.
    for listener in list(app.events.listeners["builder-inited"]):
        if listener.handler is generate_gallery_rst:
            app.disconnect(listener.id)
    app.connect("builder-inited", write_pages.make_pages)
    app.connect("env-get-outdated", write_pages.remove_published)
    add_recipe_transform(app, mark_cells, Priority.MARK_CELLS)
    add_recipe_transform(app, outputs.add_outputs, Priority.ADD_OUTPUTS)
    add_recipe_transform(app, page_header.add_head, Priority.ADD_TO_PAGE)
    add_transform(app, folded_cells.fold_cells, Priority.ADD_TO_PAGE)
    app.add_node(page_header.page_links, html=(page_header.visit_links, None), **ONLY_HTML)
    app.add_node(page_header.provenance, html=(page_header.visit_provenance, None), **ONLY_HTML)
    app.add_node(formulas_and_images.recipe_image, html=(formulas_and_images.visit_image, None))
    app.add_node(folded_cell, html=(folded_cells.visit_cell, folded_cells.depart_cell))
    app.connect("builder-inited", read_lines_of_recipes)
    app.connect("builder-inited", _add_assets)
    app.connect("html-page-context", folded_cells.load_script)
    app.connect("doctree-resolved", page_header.fill_links, priority=Priority.FILL_LINKS)
    app.connect("doctree-resolved", page_header.add_facts, priority=Priority.FILL_LINKS)
    app.connect("doctree-resolved", formulas_and_images.mark_images, priority=Priority.FILL_LINKS)
    app.connect("doctree-resolved", _write_downloads, priority=Priority.WRITE_DOWNLOADS)
    app.connect("doctree-resolved", _leave_out, priority=Priority.LEAVE_OUT)


def _add_assets(app: Sphinx) -> None:
    if app.builder.format == "html":
        for name in ("recorded_gallery.css", folded_cells.SCRIPT):
            app.config.html_static_path.append(str(Path(__file__).with_name(name)))
        app.add_css_file("recorded_gallery.css")


def _write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if page_header.has_downloads(app):
        # Imported only when a page is written: importing notebooks takes longer than building a
        # site in which nothing has changed.
        from .downloads import write_downloads

        write_downloads(app, doctree, docname)


def _leave_out(app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Remove nodes that only downloads or other formats have; Sphinx would publish their pictures.

    Blocks with very long words are hidden from Sphinx's search: the time of its stemmer grows with
    the square of a word's length, 40 s for half a megabyte.
    """
    if app.builder.format == "html":
        for node in list(doctree.findall(nodes.Element)):
            if node.parent and (DOWNLOADS_ONLY in node or NOT_IN_HTML in node):
                node.parent.remove(node)
        for block in doctree.findall(nodes.literal_block):
            if _LONG_WORD.search(block.astext()):
                block["classes"].append("no-search")
