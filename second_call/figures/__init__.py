"""Headline figures: as cards, as bars on a recipe's page, and as tables."""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from recipe_gallery.pages import ONLY_HTML


def setup(app: Sphinx) -> None:
    """Add what shows figures."""
    from . import bars, cards, outcome, results

    app.add_node(bars.time_bars, html=(bars.visit_bars, None), **ONLY_HTML)
    for node in (cards.recipe_cards, cards.recipe_list, cards.recipe_card):
        app.add_node(node, html=(_open, _close), **ONLY_HTML)
    app.add_transform(cards.ReplaceThumbnails)
    app.add_transform(outcome.AddOutcome)
    app.add_directive("recipe-cards", cards.RecipeCards)
    app.add_directive("recorded-results", results.RecordedResults)


def _open(self: HTML5Translator, node: nodes.Element) -> None:
    """Write the tag that a node names, with its own name as class: ``<li class="recipe-card">``."""
    self.body.append(f'<{node.html_tag} class="{node.tagname.replace("_", "-")}">\n')


def _close(self: HTML5Translator, node: nodes.Element) -> None:
    self.body.append(f"</{node.html_tag}>\n")
