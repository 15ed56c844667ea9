"""Headline figures: as cards, as bars on a recipe's page, and as tables."""

from sphinx.application import Sphinx


def setup(app: Sphinx) -> None:
    """Add what shows figures."""
    from . import cards, outcome, results

    app.add_transform(cards.ReplaceThumbnails)
    app.add_transform(outcome.AddOutcome)
    app.add_directive("recipe-cards", cards.RecipeCards)
    app.add_directive("recorded-results", results.RecordedResults)
