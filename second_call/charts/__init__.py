"""Charts of measured figures: SVG drawn at build time, with words of the reader's language."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Add the directives."""
    from recipe_gallery.pages import ONLY_HTML, skip
    from recipe_gallery.pages.markdown import write_block

    from . import names

    app.add_node(names.names, html=(skip, None), **ONLY_HTML)
    write_block.register(names.names, lambda _node, _page: "")
    app.add_directive("names", names.Names)
