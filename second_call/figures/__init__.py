"""Headline figures: as cards, as bars on a recipe's page, and as tables."""

from sphinx.application import Sphinx

from recipe_gallery.pages import ONLY_HTML


def setup(app: Sphinx) -> None:
    """Add what shows figures."""
    from . import bars, cards, results, summary

    app.add_node(bars.time_bars, html=(bars.visit_bars, None), **ONLY_HTML)
    for node, visit, depart in (
        (cards.recipe_cards, cards.visit_cards, cards.depart_cards),
        (cards.recipe_card, cards.visit_card, cards.depart_card),
    ):
        app.add_node(node, html=(visit, depart), **ONLY_HTML)
    app.add_transform(cards.ReplaceThumbnails)
    app.add_transform(summary.AddSummary)
    app.add_directive("recipe-cards", cards.RecipeCards)
    app.add_directive("recorded-results", results.RecordedResults)
    app.connect("env-get-outdated", results.outdated_pages)
    app.connect("env-get-outdated", cards.outdated_pages)
