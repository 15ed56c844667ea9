"""The same page in other languages: for the language switcher and for search engines."""

from pathlib import PurePosixPath
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.languages import Language, current_language, source_language

_ = get_translation("second_call")


def add_alternates(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Give templates ``alternates``, one dictionary for each published language, in their order.

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
        for language in linked_languages(app.config.recipe_gallery_languages, current)
    ]


def linked_languages(languages: dict[str, Language], current: Language) -> list[Language]:
    """Return what a page links to: published languages, and its own."""
    return [each for each in languages.values() if each.published or each == current]


def write_style(app: Sphinx, exception: Exception | None) -> None:
    """Write ``_static/language.css``, the style that ``languages.toml`` asks for."""
    if exception or app.builder.format != "html":
        return
    style = current_language(app.config).style
    lines = [f"  {name}: {value};" for name, value in style.items()]
    path = app.outdir / "_static/language.css"
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(["html {", *lines, "}", ""]), encoding="utf-8")


def write_sitemap(app: Sphinx, exception: Exception | None) -> None:
    """Write ``sitemap.xml`` of this language: every page with its alternates."""
    if exception or app.builder.format != "html" or not app.config.recipe_gallery_site_url:
        return
    current = current_language(app.config)
    languages = linked_languages(app.config.recipe_gallery_languages, current)
    default = source_language(app.config)
    site_url = app.config.recipe_gallery_site_url
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
        'xmlns:xhtml="http://www.w3.org/1999/xhtml">',
    ]
    for docname in sorted(app.env.found_docs):
        page = app.builder.get_target_uri(docname)
        lines.append(
            f"<url><loc>{escape(current.address(app.config.recipe_gallery_site_url, page))}</loc>"
        )
        for tag, language in [
            *((each.tag, each) for each in languages),
            ("x-default", default),
        ]:
            address = quoteattr(language.address(site_url, page))
            lines.append(f'<xhtml:link rel="alternate" hreflang="{tag}" href={address}/>')
        lines.append("</url>")
    lines.append("</urlset>")
    (app.outdir / "sitemap.xml").write_text("\n".join(lines) + "\n", encoding="utf-8")
