"""What a page's ``<head>`` tells: search engines, previews of links, and the browser's guard.

The template is ``_templates/layout.html``.
"""

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util import logging

from recipe_gallery.languages import current_language
from recipe_gallery.pages.reuse import find_recording
from recipe_gallery.recipes.gallery import find_source

_ = get_translation("second_call")
logger = logging.getLogger(__name__)


def describe_page(
    app: Sphinx,
    pagename: str,
    _template: str,
    context: dict[str, Any],
    doctree: nodes.document | None,
) -> None:
    """Give templates what the head of a page needs.

    ``description`` is the first paragraph of the page, ``preview`` the absolute address of its
    first recorded figure or of the site's own picture, ``structured_data`` a recipe as JSON-LD
    (https://schema.org/TechArticle).
    """
    policy = context["content_security_policy"] = app.config.second_call_content_security_policy
    for files in ("script_files", "css_files"):
        context[files] = [
            asset
            for asset in context[files]
            # The theme adds scripts without a file; a policy forbids them, and nothing misses them.
            if (asset.filename or not policy)
            and Path(asset.filename or "").name not in app.config.second_call_unused_assets
        ]
    context["repository_url"] = app.config.recipe_gallery_repository_url
    if policy and (
        found := re.search(r"<style\b|<[^>]+\sstyle=\"[^\"]*\"", context.get("body", ""))
    ):
        logger.warning(
            "the policy of the site forbids a style inside of a page, so that browsers leave out "
            "%r; give the element a class, and a rule in _static/site.css",
            found[0],
            location=pagename,
            type="recipe_gallery",
            subtype="style",
        )
    site = f"{app.config.html_baseurl.rstrip('/')}/"
    description = _first_paragraph(doctree) if doctree else ""
    preview = _first_figure(app, doctree) if doctree else ""
    context["description"] = description
    context["preview"] = f"{site}{preview or '_static/preview.png'}"
    context["structured_data"] = ""
    source = find_source(app.config, Path(app.srcdir), pagename)
    if source is None or doctree is None:
        return
    language = current_language(app.config)
    data: dict[str, Any] = {
        "@context": "https://schema.org",
        "@type": ["TechArticle", "LearningResource"],
        "headline": next(iter(doctree.findall(nodes.title))).astext(),
        "description": description,
        "inLanguage": language.tag,
        "url": site + app.builder.get_target_uri(pagename),
        "image": context["preview"],
        "isAccessibleForFree": True,
        "learningResourceType": str(_("Tutorial")),
        "teaches": _learning_goals(doctree),
        "license": "https://creativecommons.org/licenses/by/4.0/",
        "author": {"@type": "Organization", "name": app.config.author},
        "isPartOf": {"@type": "WebSite", "name": app.config.project, "url": site},
    }
    if recording := find_recording(app.env, source.stem):
        data["dateModified"] = recording.recorded.date().isoformat()
        data["dependencies"] = ", ".join(
            f"{name} {version}" for name, version in recording.facts["versions"].items() if version
        )
    # "<" could end the script that holds the data
    context["structured_data"] = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")


def _title_section(doctree: nodes.document) -> nodes.Element | None:
    title = next(iter(doctree.findall(nodes.title)), None)
    return title.parent if title is not None else None


def _first_paragraph(doctree: nodes.document) -> str:
    section = _title_section(doctree)
    for child in section or ():
        if isinstance(child, nodes.paragraph):
            return " ".join(child.astext().split())
    return ""


def _first_figure(app: Sphinx, doctree: nodes.document) -> str:
    for image in doctree.findall(nodes.image):
        name = Path(image["uri"]).name
        if name.endswith(".png") and name in app.builder.images.values():
            return f"{app.builder.imagedir}/{name}"
    return ""


def _learning_goals(doctree: nodes.document) -> list[str]:
    """Return the items of the first list before the first heading: what one will learn."""
    for child in _title_section(doctree) or ():
        if isinstance(child, nodes.bullet_list):
            return [" ".join(item.astext().split()).rstrip(".;。；") for item in child]
    return []
