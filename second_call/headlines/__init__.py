"""Headline figures: a dot plot with tables, and wait against gain."""

from typing import Any

from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

from recipe_gallery import Priority
from recipe_gallery.languages import current_language

SCRIPT = "results.js"


def setup(app: Sphinx) -> None:
    """Add the directives."""
    from . import results, trade

    app.connect("builder-inited", _draw_headlines)
    app.connect("html-page-context", _add_script)
    app.connect("doctree-resolved", trade.resolve_links)
    app.add_directive("results", results.Results)
    app.add_directive("measured-on", trade.MeasuredOn)
    app.add_directive("wait-and-gain", trade.WaitAndGain)


def _draw_headlines(app: Sphinx) -> None:
    if app.builder.name != "gettext":  # templates hold the words as they are written
        app.add_transform(DrawHeadlines)


class DrawHeadlines(SphinxTransform):
    """Draw the headlines of a page, once it is translated."""

    default_priority = Priority.WRITE_COMMENTS

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place."""
        from . import lines, results, trade

        locale = current_language(self.config).locale
        for listed in list(self.document.findall(lines.headline_list)):
            if listed["kind"] == trade.KIND:
                drawn = trade.draw_trade(self.env, listed, locale)
            else:
                drawn = results.Plot(self.env, listed, locale).draw()
            listed.parent[listed.parent.index(listed) : listed.parent.index(listed) + 1] = drawn


def _add_script(
    app: Sphinx, _name: str, _template: str, context: dict[str, Any], tree: Any
) -> None:
    if tree and "results-controls" in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")
