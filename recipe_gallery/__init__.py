"""Recorded recipes: a Sphinx extension that renders galleries from recordings, and a command line.

See the design in README.md; the modules are named for what they do or hold.
"""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, Any]:
    """Wire the extension into Sphinx."""
    # Imported here so that the command line works where Sphinx's HTML part does not.
    from . import (
        actions,
        alternates,
        bars,
        cards,
        comment_nodes,
        figures,
        head,
        header,
        mathml,
        provenance,
        redirects,
        replay,
        results,
        reuse,
        search,
        templates,
        translation,
        translator_pages,
    )

    app.setup_extension("sphinx_gallery.gen_gallery")
    app.setup_extension("sphinx_markdown_builder")
    app.add_config_value("recordings_dir", "recordings", "env", str)
    app.add_config_value("site_url", "", "env", str)
    app.add_config_value("repository_url", "", "env", str)
    app.add_config_value("content_security_policy", "", "html", str)
    app.add_config_value("unused_assets", [], "html", list)
    app.add_config_value("search_with_pagefind", False, "html", bool)
    app.add_config_value("search_index_stays", False, "", bool)
    app.add_config_value("languages", {}, "env", dict)  # filled in from languages.toml
    mathml.setup_math(app)
    app.connect("config-inited", translation.set_languages, priority=3)
    app.connect("config-inited", translation.compile_catalogs, priority=4)
    app.connect("config-inited", replay.check_config, priority=5)
    app.connect("env-get-outdated", translation.pages_with_lost_catalogs)
    app.connect("env-get-outdated", translation.pages_with_old_labels)
    app.connect("env-check-consistency", translation.report_missing)
    app.connect("env-check-consistency", redirects.check_redirects)
    app.connect("builder-inited", _add_builders_transforms)
    replay.take_over(app)
    app.add_transform(header.AddRecipeHeader)
    app.add_transform(comment_nodes.AddComments)
    skip = (provenance.skip, None)
    app.add_node(
        actions.recipe_actions,
        html=(actions.visit_actions, None),
        latex=skip,
        text=skip,
    )
    app.add_node(
        provenance.provenance,
        html=(provenance.visit_provenance, provenance.depart_provenance),
        latex=skip,
        text=skip,
    )
    app.add_node(bars.time_bars, html=(bars.visit_bars, None), latex=skip, text=skip, markdown=skip)
    app.add_node(nodes.image, override=True, html=(figures.visit_image, None))
    app.add_transform(cards.ReplaceThumbnails)
    app.add_directive("recipe-cards", cards.RecipeCards)
    app.add_node(
        cards.recipe_cards,
        html=(cards.visit_cards, cards.depart_cards),
        latex=skip,
        text=skip,
        markdown=skip,
    )
    app.add_node(
        cards.recipe_card,
        html=(cards.visit_card, cards.depart_card),
        latex=skip,
        text=skip,
        markdown=skip,
    )
    app.add_directive("translation-status", translator_pages.TranslationStatus)
    app.add_directive("translation-glossary", translator_pages.TranslationGlossary)
    app.connect("env-get-outdated", translator_pages.outdated_pages)
    app.connect("build-finished", translator_pages.write_glossary_files)
    app.add_directive("recorded-results", results.RecordedResults)
    app.connect("env-get-outdated", results.outdated_pages)
    app.connect("env-get-outdated", cards.outdated_pages)
    app.connect("html-page-context", alternates.add_alternates)
    # late, when the theme has added its scripts
    app.connect("html-page-context", head.describe_page, priority=900)
    app.connect("builder-inited", search.replace_search)
    app.connect("build-finished", alternates.write_sitemap)
    app.connect("build-finished", alternates.write_style)
    app.connect("build-finished", search.write_index)
    app.add_css_file("language.css", priority=900)
    app.connect("doctree-resolved", actions.fill_actions)
    app.connect("doctree-resolved", templates.note_kinds)
    app.connect("build-finished", templates.write_kinds)
    app.connect("doctree-resolved", _write_downloads, priority=550)
    # Pages made by other code than this are read again.
    version = int.from_bytes(reuse.code_digest()[:6], "big")
    return {
        "version": "0.1.0",
        "env_version": version,
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }


def _add_builders_transforms(app: Sphinx) -> None:
    from . import comment_nodes, templates, translation

    if app.builder.name == "gettext":  # catalogs keep the helpers of comments
        app.add_transform(templates.LocateInRecipes)
    else:
        app.add_transform(translation.PrepareTranslation)
        app.add_transform(translation.MarkUntranslated)
        app.add_transform(comment_nodes.WriteComments)


def _write_downloads(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    if app.builder.format != "html":
        return
    # Imported where a page is written: notebooks take longer to import than an unchanged site
    # takes to look at.
    from .notebooks import write_downloads

    write_downloads(app, doctree, docname)
