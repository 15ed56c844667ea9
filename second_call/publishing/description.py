"""What search engines and previews of links show of a page; the template is ``layout.html``."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from recipe_gallery.recipes.gallery import find_file


def describe(
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
    picture = _first_figure(app, doctree) if doctree else ""
    picture = picture or app.config.second_call_preview
    site = app.config.html_baseurl.rstrip("/")
    context["description"] = _first_paragraph(doctree) if doctree else ""
    context["preview"] = f"{site}/{picture}" if picture else ""
    context["is_recipe"] = find_file(app.config, Path(app.srcdir), pagename) is not None
    context["repository_url"] = app.config.recipe_gallery_repository_url


def _first_paragraph(doctree: nodes.document) -> str:
    """Return the text below the title, in the language of the page."""
    title = next(iter(doctree.findall(nodes.title)), None)
    paragraphs = [
        each for each in (title.parent if title else ()) if isinstance(each, nodes.paragraph)
    ]
    return " ".join(paragraphs[0].astext().split()) if paragraphs else ""


def _first_figure(app: Sphinx, doctree: nodes.document) -> str:
    for image in doctree.findall(nodes.image):
        name = Path(image["uri"]).name
        if name.endswith(".png") and name in app.builder.images.values():
            return f"{app.builder.imagedir}/{name}"
    return ""
