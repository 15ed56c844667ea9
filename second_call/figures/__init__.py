"""Recipes as cards, and their figures as data for programs."""

from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from recipe_gallery import Priority, add_transform


def setup(app: Sphinx) -> None:
    """Add what shows recipes and their figures."""
    from recipe_gallery.pages import ONLY_HTML

    from . import cards, data

    visit = HTML5Translator.visit_paragraph, HTML5Translator.depart_paragraph
    app.add_node(data.results_data, html=visit, **ONLY_HTML)
    app.connect("doctree-resolved", data.write_data, priority=Priority.READ_DOWNLOADS)
    app.add_config_value("second_call_recipes", [], "env", list)
    app.connect("source-read", cards.leave_out_thumbnails)
    add_transform(app, cards.replace_thumbnails, Priority.ADD_TO_PAGE)
