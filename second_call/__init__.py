"""What only this site has: pages of recipes, charts, results, heads, pages for translators."""

from typing import Any

from docutils.nodes import Element, NodeVisitor
from docutils.nodes import entry as table_cell
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator

from sphinx_recorded_gallery.api import (
    ONLY_HTML,
    Priority,
    add_recipe_transform,
    add_transform,
    code_digest,
    write_block,
)

from . import (
    answer_box,
    code_colours,
    code_tabs,
    folded_text,
    for_translators,
    html_head,
    light_assets,
    line_breaks,
    navigation,
    offline_copy,
    page_foot,
    renamed_variants,
    results_as_data,
    root_pages,
    tables_as_cards,
)
from .charts import directive, release_directive
from .headlines import does_it_pay, evidence, front_page, headline_directive_lines, results_page
from .make_nodes import depart_element, html_element, visit_element


def setup(app: Sphinx) -> dict[str, Any]:
    """Set up the parts of the site, and those of the engine that are not there yet."""
    app.setup_extension("sphinx_recorded_gallery.measurements")
    app.setup_extension("sphinx_recorded_gallery.translate")
    _add_settings(app)
    _add_nodes(app)
    _add_directives(app)
    _change_pages(app)
    _describe_pages(app)
    code_tabs.add_code_tabs(app)
    for_translators.setup(app)
    return {
        "version": app.config.release,
        "env_version": int.from_bytes(code_digest(__name__)[:6], "big"),
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


def _add_settings(app: Sphinx) -> None:
    app.add_config_value("second_call_recipes", [], "env", list)
    # By package the current release, and the label of the text that says what has changed
    app.add_config_value("second_call_releases", {}, "env", dict)
    # Whether it is a warning if a recipe's docstring has no answer
    app.add_config_value("second_call_answer_required", False, "env", bool)
    app.add_config_value("second_call_content_security_policy", "", "html", str)
    app.add_config_value("second_call_unused_assets", [], "html", list)
    app.add_config_value("second_call_preview", "", "html", str)


def _add_nodes(app: Sphinx) -> None:
    """Add nodes of the site, and what writes them; and the colours of code."""
    app.add_lexer("python", code_colours.FewColours)
    app.add_lexer("Python", code_colours.FewColours)  # Sphinx-Gallery writes it so
    cell = tables_as_cards.visit_entry, HTML5Translator.depart_entry
    app.add_node(table_cell, override=True, html=cell)
    app.add_node(html_element, html=(visit_element, depart_element), **ONLY_HTML)
    paragraph = HTML5Translator.visit_paragraph, HTML5Translator.depart_paragraph
    app.add_node(results_as_data.results_data, html=paragraph, **ONLY_HTML)
    fold = folded_text.visit_folded, folded_text.depart_folded
    inside: Any = dict.fromkeys(ONLY_HTML, (_show_inside, _show_inside))
    app.add_node(folded_text.folded_text, html=fold, **inside)
    title = folded_text.visit_title, folded_text.depart_title
    app.add_node(folded_text.fold_title, html=title, **inside)
    drawing = directive.visit_chart, directive.depart_chart
    app.add_node(directive.chart, html=drawing, **ONLY_HTML)
    write_block.register(directive.chart, directive.write_chart)
    app.add_node(directive.cell_behind_chart, **inside)


def _add_directives(app: Sphinx) -> None:
    app.add_directive("answer", answer_box.AnswerDirective)
    app.add_directive("libraries", answer_box.LibrariesDirective)
    app.add_directive("folded", folded_text.Folded)
    app.add_directive("chart", directive.ChartDirective)
    app.add_directive("spans", directive.SpansDirective)
    app.add_directive("release-chart", release_directive.ReleaseChart)
    app.add_directive("results", results_page.Results)
    app.add_directive("measured-on", front_page.MeasuredOn)
    app.add_directive("gains", front_page.Gains)
    app.add_directive("recipe-rows", front_page.RecipeRows)
    app.add_directive("does-it-pay", does_it_pay.DoesItPay)
    app.add_directive("evidence", evidence.Evidence)


def _change_pages(app: Sphinx) -> None:
    """Change pages when they have been read, and just before they are written."""
    add_transform(app, navigation.remove_thumbnails, Priority.ADD_TO_PAGE)
    add_recipe_transform(app, page_foot.add_release_notices, Priority.ADD_TO_PAGE)
    add_recipe_transform(app, answer_box.mark_headings, Priority.ADD_TO_PAGE)
    add_transform(app, directive.finish_charts, Priority.NOTE_PROBLEMS)
    app.connect("recorded-gallery-name", renamed_variants.name_in_english)
    app.connect("builder-inited", code_colours.shorten_marks)
    app.connect("builder-inited", _change_translated_pages)
    app.connect("env-updated", navigation.warn_of_unknown_recipes)
    app.connect("env-updated", navigation.warn_of_lost_redirects)
    app.connect("env-updated", navigation.note_neighbours, priority=Priority.NOTE_LINKS)
    app.connect("doctree-resolved", navigation.shorten_links, priority=Priority.ADD_LINKS)
    app.connect("doctree-resolved", page_foot.add_colab_link, priority=Priority.ADD_LINKS)
    app.connect("doctree-resolved", page_foot.add_changes_link, priority=Priority.ADD_LINKS)
    app.connect("env-updated", page_foot.note_changes_link, priority=Priority.NOTE_LINKS)
    app.connect("doctree-resolved", page_foot.add_origin, priority=Priority.ADD_LINKS)
    app.connect("doctree-resolved", tables_as_cards.label_cells, priority=Priority.ADD_LINKS)
    app.connect("doctree-resolved", results_as_data.write_data, priority=Priority.WRITE_DOWNLOADS)
    app.connect("doctree-resolved", line_breaks.keep_together, priority=Priority.BREAK_LINES)


def _describe_pages(app: Sphinx) -> None:
    """Give templates what they need of each page; write what lies beside the pages."""
    app.connect("builder-inited", light_assets.shorten_templates)
    # behind the engine, which adds its style sheet in the same way
    app.connect("builder-inited", light_assets.join_styles, priority=Priority.JOIN_STYLES)
    app.connect("html-page-context", page_foot.describe_foot)
    app.connect("html-page-context", navigation.describe_navigation)
    app.connect("html-page-context", offline_copy.describe_copy)
    app.connect("html-page-context", _add_assets)
    app.connect("html-page-context", html_head.describe_page)
    app.connect("html-page-context", html_head.apply_policy, priority=Priority.DESCRIBE_HEAD)
    app.connect("build-finished", root_pages.write_root_pages)
    app.connect("build-finished", html_head.remove_unused, priority=Priority.TIDY_UP)
    app.connect("build-finished", light_assets.lighten_assets, priority=Priority.TIDY_UP)
    app.connect("build-finished", offline_copy.write_copy, priority=Priority.PACK)


def _show_inside(self: NodeVisitor, _node: Element) -> None:
    """Show what is inside of a node, and nothing else."""


def _change_translated_pages(app: Sphinx) -> None:
    """Change pages after translation, but for templates, whose messages are the author's lines."""
    if app.builder.name != "gettext":
        add_transform(app, answer_box.make_headings, Priority.MAKE_HEADINGS)
        add_transform(app, answer_box.make_tabs, Priority.MAKE_HEADINGS)
        add_recipe_transform(app, answer_box.make_answer, Priority.MAKE_HEADINGS)
        add_transform(app, headline_directive_lines.draw_headlines, Priority.WRITE_COMMENTS)


def _add_assets(
    app: Sphinx, _page: str, _template: str, context: dict[str, Any], _tree: Any
) -> None:
    """Load what only some pages have: the look of the overviews, the script of ``does-it-pay``."""
    body = context.get("body", "")
    if 'class="recipe-rows"' in body or 'class="results"' in body:
        app.add_css_file("overview.css", priority=900)  # behind the style of all pages
    if 'class="pays-fields"' in body:
        app.add_js_file("does_it_pay.js", loading_method="defer")
