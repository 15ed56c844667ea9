"""The `<head>` of a page: security policy, other languages, meta description, link previews.

The template is ``_templates/head.html``.
"""

import os
import posixpath
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from sphinx_recorded_gallery.api import Gallery, Language

from .labels import _


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
    if pagename == config.root_doc:
        # All languages have the first page of the site in common, which lets readers choose.
        default_address = f"{site_url.rstrip('/')}/"
    else:
        default_address = Language.source(config).address(site_url, short_address(page))
    context |= {
        "language": Language.current(config).tag,
        "alternates": _find_alternates(app, page),
        "theme_search_bar_text": _("Search this site"),
        "description": _first_paragraph(doctree) if doctree else "",
        "preview": _preview(app, doctree),
        "is_recipe": Gallery(app.env).load_page(pagename) is not None,
        "repository_url": config.recorded_gallery_repository_url,
        "noindex": doctree is None,  # such as the page of search results
        "default_address": default_address,
    }
    if config.html_baseurl:
        context["pageurl"] = full_address(app, pagename)


def full_address(app: Sphinx, docname: str) -> str:
    """Return where a page is published; nothing where no site is named."""
    page = short_address(app.builder.get_target_uri(docname))
    return Language.current(app.config).address(app.config.recorded_gallery_site_url, page)


def short_address(page: str) -> str:
    """Return the one address of a page: that of its folder for the first page there."""
    if PurePosixPath(page).name == "index.html":
        return page.removesuffix("index.html")
    return page


def apply_policy(
    app: Sphinx, _pagename: str, _template: str, context: dict[str, Any], _doctree: nodes.document
) -> None:
    """Leave out what the policy forbids or no page uses."""
    policy = app.config.second_call_content_security_policy
    context["content_security_policy"] = policy
    unused = app.config.second_call_unused_assets
    for kind in ("script_files", "css_files"):
        assets = []
        for asset in context[kind]:
            file = asset.filename or ""
            # The theme adds scripts without a file; a policy forbids them, and nothing misses them.
            is_forbidden = bool(policy) and not file
            if not is_forbidden and Path(file).name not in unused:
                assets.append(asset)
        context[kind] = assets


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
    config = app.config
    current = Language.current(config)
    folders = PurePosixPath(page if page.endswith("/") else posixpath.dirname(page)).parts
    way_up = "../" * (len(folders) + 1)  # out of the language's folder
    alternates = []
    for language in config.recorded_gallery_languages.values():
        if not language.published and language != current:
            continue
        alternate = {
            "name": language.name,
            "tag": language.tag,
            "href": f"{way_up}{language.code}/{page}",
            "address": language.address(config.recorded_gallery_site_url, short_address(page)),
            "current": language == current,
            "default": language == Language.source(config),
        }
        alternates.append(alternate)
    return alternates


def _first_paragraph(doctree: nodes.document) -> str:
    """Return the text below the title, in the language of the page."""
    title = next(iter(doctree.findall(nodes.title)), None)
    if not title:
        return ""
    for node in title.parent:
        if isinstance(node, nodes.paragraph):
            return " ".join(node.astext().split())
    return ""


def _preview(app: Sphinx, doctree: nodes.document | None) -> dict[str, str]:
    """Return the address of the picture that links to a page are shown with, and its text."""
    file = app.config.second_call_preview
    alt = ""
    image = _first_figure(app, doctree) if doctree else None
    if image:
        file = f"{app.builder.imagedir}/{Path(image['uri']).name}"
        alt = image.get("alt", "")
    site_url = app.config.html_baseurl.rstrip("/")
    if not file or not site_url:
        return {}
    return {"address": f"{site_url}/{file}", "alt": alt}


def _first_figure(app: Sphinx, doctree: nodes.document) -> nodes.image | None:
    """Return the first picture of a page that previews can show; None if there is none."""
    for image in doctree.findall(nodes.image):
        name = Path(image["uri"]).name
        if name.endswith(".png") and name in app.builder.images.values():
            return image
    return None
