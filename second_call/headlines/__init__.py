"""Headline figures: a dot plot with tables, and wait against gain."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from recipe_gallery import Priority, add_transform
from recipe_gallery.languages import current_language

SCRIPT = "results.js"


def setup(app: Sphinx) -> None:
    """Add the directives."""
    from . import results, trade

    app.connect("builder-inited", _add_transform)
    app.connect("html-page-context", _add_script)
    app.connect("doctree-resolved", trade.resolve_links)
    app.add_directive("results", results.Results)
    app.add_directive("measured-on", trade.MeasuredOn)
    app.add_directive("wait-and-gain", trade.WaitAndGain)


def _add_transform(app: Sphinx) -> None:
    if app.builder.name != "gettext":  # templates hold the words as they are written
        add_transform(app, draw_headlines, Priority.WRITE_COMMENTS)


def draw_headlines(env: BuildEnvironment, document: nodes.document) -> None:
    """Draw the headlines of a page, once it is translated."""
    from . import lines, results, trade

    locale = current_language(env.config).locale
    for listed in list(document.findall(lines.headline_list)):
        if listed["kind"] == trade.KIND:
            drawn = trade.draw_trade(env, listed, locale)
        else:
            drawn = results.draw_results(env, listed, locale)
        listed.parent[listed.parent.index(listed) : listed.parent.index(listed) + 1] = drawn


def _add_script(
    app: Sphinx, _name: str, _template: str, context: dict[str, Any], tree: Any
) -> None:
    if tree and "results-controls" in context.get("body", ""):
        app.add_js_file(SCRIPT, loading_method="defer")
