"""The `<head>` of a page: security policy, other languages, meta description, link previews.

The template is ``_templates/head.html``.
"""

import os
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import Gallery, current_language, source_language

_ = get_translation("second_call")


def describe_page(
    app: Sphinx,
    pagename: str,
    _template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give templates what the head of a page needs.

    ``description`` is the first paragraph of the page, ``preview`` the absolute address of its
    first recorded figure, or else of ``second_call_preview``, and what the figure shows.
    """
    config = app.config
    page = app.builder.get_target_uri(pagename)
    site_url = config.recorded_gallery_site_url
    context |= {
        "language": current_language(config).tag,
        "alternates": _find_alternates(app, page),
        "theme_search_bar_text": _("Search this site"),
        "description": _first_paragraph(doctree) if doctree else "",
        "preview": _preview(app, doctree),
        "is_recipe": Gallery(app.env).load_page(pagename) is not None,
        "repository_url": config.recorded_gallery_repository_url,
        "noindex": doctree is None,  # such as the page of search results
        # All languages have the first page of the site in common, which lets readers choose.
        "default_address": source_language(config).address(site_url, short_address(page))
        if pagename != config.root_doc
        else f"{site_url.rstrip('/')}/",
    }
    if config.html_baseurl:
        context["pageurl"] = full_address(app, pagename)


def full_address(app: Sphinx, docname: str) -> str:
    """Return where a page is published; nothing where no site is named."""
    page = short_address(app.builder.get_target_uri(docname))
    return current_language(app.config).address(app.config.recorded_gallery_site_url, page)


def short_address(page: str) -> str:
    """Return the one address of a page: that of its folder for the first page there."""
    return page.removesuffix("index.html") if PurePosixPath(page).name == "index.html" else page


def apply_policy(
    app: Sphinx, _pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Leave out what the policy forbids or no page uses."""
    policy = context["content_security_policy"] = app.config.second_call_content_security_policy
    unused = app.config.second_call_unused_assets
    for files in ("script_files", "css_files"):
        context[files] = [
            asset
            for asset in context[files]
            # The theme adds scripts without a file; a policy forbids them, and nothing misses them.
            if (asset.filename or not policy) and Path(asset.filename or "").name not in unused
        ]


def remove_unused(app: Sphinx, exception: Exception | None) -> None:
    """Publish only what pages load."""
    if exception or app.builder.name != "html":
        return
    for pattern in app.config.second_call_unused_assets:
        for path in Path(app.outdir, "_static").glob(pattern):
            path.unlink()
    for folder, _folders, _files in os.walk(app.outdir, topdown=False):
        if not os.listdir(folder):
            os.rmdir(folder)


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
            "address": language.address(app.config.recorded_gallery_site_url, short_address(page)),
            "current": language == current,
            "default": language == source_language(app.config),
        }
        for language in app.config.recorded_gallery_languages.values()
        if language.published or language == current
    ]


def _first_paragraph(doctree: nodes.document) -> str:
    """Return the text below the title, in the language of the page."""
    title = next(iter(doctree.findall(nodes.title)), None)
    below = title.parent if title else ()
    texts = [each.astext() for each in below if isinstance(each, nodes.paragraph)]
    return " ".join(texts[0].split()) if texts else ""


def _preview(app: Sphinx, doctree: nodes.document | None) -> dict[str, str]:
    """Return the address of the picture that links to a page are shown with, and its text."""
    file, alt = app.config.second_call_preview, ""
    for image in doctree.findall(nodes.image) if doctree else ():
        name = Path(image["uri"]).name
        if name.endswith(".png") and name in app.builder.images.values():
            file, alt = f"{app.builder.imagedir}/{name}", image.get("alt", "")
            break
    if not file or not app.config.html_baseurl:
        return {}
    return {"address": f"{app.config.html_baseurl.rstrip('/')}/{file}", "alt": alt}
