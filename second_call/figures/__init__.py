"""Headline figures: as cards, as bars on a recipe's page, and as tables."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Add what shows figures."""
    from . import cards, on_recipe_page, results

    app.add_transform(cards.ReplaceThumbnails)
    app.add_transform(on_recipe_page.AddOutcome)
    app.add_directive("recipe-cards", cards.RecipeCards)
    app.add_directive("recorded-results", results.RecordedResults)
