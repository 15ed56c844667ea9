"""What only this site has: pages of recipes, charts, results, heads, pages for translators."""

from typing import Any

from sphinx.application import Sphinx

from recipe_gallery import __version__


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the parts of the site, and the engine if it is not there yet."""
    from recipe_gallery.pages import ONLY_HTML
    from recipe_gallery.project import code_digest

    from . import charts, figures, headlines, nodes, publishing, recipe_page, theme, translators

    app.setup_extension("recipe_gallery")
    element = nodes.visit_element, nodes.depart_element
    app.add_node(nodes.html_element, html=element, **ONLY_HTML)
    charts.setup(app)
    figures.setup(app)
    headlines.setup(app)
    publishing.setup(app)
    recipe_page.setup(app)
    theme.setup(app)
    translators.setup(app)
    return {
        "version": __version__,
        "env_version": int.from_bytes(code_digest(__name__)[:6], "big"),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
