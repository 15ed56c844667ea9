"""The same page in other languages, for the language switcher; all pages of one, for crawlers."""

from pathlib import PurePosixPath
from typing import Any
from xml.sax.saxutils import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.languages import current_language, source_language

_ = get_translation("second_call")


def add_alternates(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Give templates ``alternates``, one dictionary for each language linked to, in their order.

    ``href`` is relative, so that it leads to the same page also where the site is not published.
    """
    current = current_language(app.config)
    page = app.builder.get_target_uri(pagename)
    depth = len(PurePosixPath(page).parts) - (page != "" and not page.endswith("/"))
    up = "../" * (depth + 1)
    context["language"] = current.tag
    context["theme_search_bar_text"] = _("Search this site")
    context["alternates"] = [
        {
            "name": language.name,
            "tag": language.tag,
            "href": f"{up}{language.code}/{page}",
            "address": language.address(app.config.recipe_gallery_site_url, page),
            "current": language == current,
            "default": language == source_language(app.config),
        }
        for language in app.config.recipe_gallery_languages.values()
        if language.published or language == current
    ]


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write ``sitemap.xml``: all pages of this language; each names the other languages itself."""
    site_url = app.config.recipe_gallery_site_url
    if exception or app.builder.format != "html" or not site_url:
        return
    language = current_language(app.config)
    pages = [app.builder.get_target_uri(docname) for docname in sorted(app.env.found_docs)]
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
        *(f"<url><loc>{escape(language.address(site_url, page))}</loc></url>" for page in pages),
        "</urlset>",
    ]
    (app.outdir / "sitemap.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")
