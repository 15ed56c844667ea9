"""A recipe and its recording as a page, a notebook and a script."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx_gallery.gen_gallery import generate_gallery_rst

from ..hooks import Priority, add_recipe_transform, add_transform
from ..measurements import names, quantity_table, release_page, roles, tables
from ..page_nodes import DOWNLOADS_ONLY, PageParser, folded_cell, mark_cells
from . import folded_cells, formulas_and_images, outputs, page_header, write_pages
from .markdown import join_blocks, write_block


def skip(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Leave a node out."""
    raise nodes.SkipNode


def pass_through(self: nodes.NodeVisitor, node: nodes.Element) -> None:
    """Write what is in a node and nothing else."""


# How a node that only HTML can show is written in other formats, for ``app.add_node``
ONLY_HTML: dict[str, Any] = dict.fromkeys(
    ("latex", "man", "markdown", "texinfo", "text"), (skip, None)
)


def setup(app: Sphinx) -> None:
    """Let Sphinx-Gallery's pages be made from recordings, and written in three forms."""
    # MathML, which browsers draw themselves: ``html_math_renderer = "mathml"``
    app.add_html_math_renderer(
        "mathml",
        (formulas_and_images.visit_math, None),
        (formulas_and_images.visit_math_block, None),
    )
    app.connect("config-inited", write_pages.check_config, priority=Priority.CHECK_CONFIG)
    app.connect("config-inited", write_pages.unhide_matplotlib, priority=Priority.AFTER_GALLERY)
    # Sphinx-Gallery is called by ``make_pages``.
    for listener in list(app.events.listeners["builder-inited"]):
        if listener.handler is generate_gallery_rst:
            app.disconnect(listener.id)
    app.connect("builder-inited", write_pages.make_pages)
    app.connect("env-get-outdated", write_pages.remove_published)
    app.add_source_parser(PageParser, override=True)
    add_recipe_transform(app, mark_cells, Priority.MARK_CELLS)
    add_recipe_transform(app, outputs.add_outputs, Priority.ADD_OUTPUTS)
    add_recipe_transform(app, page_header.add_head, Priority.ADD_TO_PAGE)
    add_transform(app, folded_cells.fold_cells, Priority.ADD_TO_PAGE)
    app.add_event(names.EVENT)
    for name, node in roles.ROLES.items():
        app.add_role(name, roles.MeasuredRole())
        app.add_node(node, html=(roles.visit_measurement, roles.depart_measurement))
    app.add_directive("quantities", quantity_table.QuantityTable)
    app.add_directive("releases", release_page.Releases)
    inside: Any = dict.fromkeys(ONLY_HTML, (pass_through, pass_through))
    folded = release_page.visit_table, release_page.depart_table
    app.add_node(release_page.release_table, html=folded, **inside)
    write_block.register(
        release_page.release_table, lambda node, page: join_blocks(node.children, page)
    )
    app.add_node(roles.measurement_list, html=(roles.visit_measurement_list, None), **ONLY_HTML)
    write_block.register(roles.measurement_list, lambda _node, _page: "")
    app.add_node(page_header.page_links, html=(page_header.visit_links, None), **ONLY_HTML)
    app.add_node(page_header.provenance, html=(page_header.visit_provenance, None), **ONLY_HTML)
    app.add_node(nodes.image, override=True, html=(formulas_and_images.visit_image, None))
    app.add_node(folded_cell, html=(folded_cells.visit_cell, folded_cells.depart_cell))
    app.connect("builder-inited", _adapt_to_builder)
    app.connect("env-updated", roles.tell_problems)
    app.connect("html-page-context", folded_cells.load_script)
    app.connect("doctree-resolved", page_header.fill_links, priority=Priority.FILL_LINKS)
    app.connect("doctree-resolved", _write_downloads, priority=Priority.WRITE_DOWNLOADS)
    app.connect("doctree-resolved", _leave_out, priority=Priority.LEAVE_OUT)


def _adapt_to_builder(app: Sphinx) -> None:
    if app.builder.name != "gettext":  # templates hold the roles as they are written
        add_transform(app, tables.fill_tables, Priority.FILL_MEASUREMENTS)
        add_transform(app, release_page.fill_releases, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.fill_measurements, Priority.FILL_MEASUREMENTS)
        add_transform(app, roles.note_problems, Priority.NOTE_PROBLEMS)
    if app.builder.format == "html":
        files = ("recorded_gallery.css", folded_cells.SCRIPT)
        app.config.html_static_path += [str(Path(__file__).with_name(each)) for each in files]
        app.add_css_file("recorded_gallery.css")


def _write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if page_header.has_downloads(app):
        # Imported where a page is written: notebooks take longer to import than an unchanged site
        # takes to look at.
        from .downloads import write_downloads

        write_downloads(app, doctree, docname)


def _leave_out(app: Sphinx, doctree: nodes.document, _docname: str) -> None:
    """Remove what only downloads have; else its pictures would be published, too."""
    if app.builder.format == "html":
        found = doctree.findall(lambda n: DOWNLOADS_ONLY in getattr(n, "attributes", ()))
        for node in list(found):
            node.parent.remove(node)
