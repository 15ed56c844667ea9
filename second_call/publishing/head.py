"""The `<head>` of a page: security policy, other languages, meta description, link previews.

The template is ``_templates/layout.html``.
"""

import re
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util import logging

from recipe_gallery.languages import current_language, source_language
from recipe_gallery.recipes.gallery import find_file

_ = get_translation("second_call")
logger = logging.getLogger(__name__)

_STYLE = re.compile(r"<style\b|<[^>]+\sstyle=\"[^\"]*\"")


def describe_page(
    app: Sphinx,
    pagename: str,
    _template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give templates what the head of a page needs.

    ``description`` is the first paragraph of the page, ``preview`` the absolute address of its
    first recorded figure or else of ``second_call_preview``.
    """
    config = app.config
    picture = (_first_figure(app, doctree) if doctree else "") or config.second_call_preview
    context |= {
        "language": current_language(config).tag,
        "alternates": _find_alternates(app, app.builder.get_target_uri(pagename)),
        "theme_search_bar_text": _("Search this site"),
        "description": _first_paragraph(doctree) if doctree else "",
        "preview": f"{config.html_baseurl.rstrip('/')}/{picture}" if picture else "",
        "is_recipe": find_file(config, Path(app.srcdir), pagename) is not None,
        "repository_url": config.recipe_gallery_repository_url,
    }


def apply_policy(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Leave out what the policy forbids or no page uses; warn of a style that would be left out."""
    policy = context["content_security_policy"] = app.config.second_call_content_security_policy
    for files in ("script_files", "css_files"):
        context[files] = [
            asset
            for asset in context[files]
            # The theme adds scripts without a file; a policy forbids them, and nothing misses them.
            if (asset.filename or not policy)
            and Path(asset.filename or "").name not in app.config.second_call_unused_assets
        ]
    if policy and (found := _STYLE.search(context.get("body", ""))):
        logger.warning(
            "the policy of the site forbids a style inside of a page, so that browsers leave out "
            "%r; give the element a class, and a rule in _static/site.css",
            found[0],
            location=pagename,
            type="second_call",
            subtype="style",
        )


def _find_alternates(app: Sphinx, page: str) -> list[dict[str, Any]]:
    """Return one dictionary for each language that has the page, in their order.

    ``href`` is relative, so that it leads to the same page also where the site is not published.
    """
    current = current_language(app.config)
    depth = len(PurePosixPath(page).parts) - (page != "" and not page.endswith("/"))
    return [
        {
            "name": language.name,
            "tag": language.tag,
            "href": f"{'../' * (depth + 1)}{language.code}/{page}",
            "address": language.address(app.config.recipe_gallery_site_url, page),
            "current": language == current,
            "default": language == source_language(app.config),
        }
        for language in app.config.recipe_gallery_languages.values()
        if language.published or language == current
    ]


def _first_paragraph(doctree: nodes.document) -> str:
    """Return the text below the title, in the language of the page."""
    title = next(iter(doctree.findall(nodes.title)), None)
    below = title.parent if title else ()
    texts = [each.astext() for each in below if isinstance(each, nodes.paragraph)]
    return " ".join(texts[0].split()) if texts else ""


def _first_figure(app: Sphinx, doctree: nodes.document) -> str:
    for image in doctree.findall(nodes.image):
        name = Path(image["uri"]).name
        if name.endswith(".png") and name in app.builder.images.values():
            return f"{app.builder.imagedir}/{name}"
    return ""
