"""Headlines: measurements that a page names in its own words, as a table or as a plot."""

from docutils import nodes
from sphinx.environment import BuildEnvironment

from recipe_gallery.languages import current_language

from . import results, wait_and_gain
from .lines import headline_list


def draw_headlines(env: BuildEnvironment, document: nodes.document) -> None:
    """Draw the headlines of a page, once it is translated."""
    locale = current_language(env.config).locale
    for listed in list(document.findall(headline_list)):
        is_trade = listed["kind"] == wait_and_gain.KIND
        draw = wait_and_gain.draw_plot if is_trade else results.draw_results
        at = listed.parent.index(listed)
        listed.parent[at : at + 1] = draw(env, listed, locale)
