"""At the end of each translated page: a form for a better sentence, and the page's catalog."""

from typing import Any
from urllib.parse import urlencode

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.languages import current_language, is_translated
from recipe_gallery.pages.header import has_downloads
from recipe_gallery.translate.translations import catalog_path, edit_address

from ..nodes import render

_ = get_translation("second_call")

SCRIPT = "improve-translation.js"  # adds the selected sentence


def add_improve_links(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], doctree: nodes.document
) -> None:
    """Add the links to a page, if the site has a repository to which they can lead."""
    config = app.config
    repository = config.recipe_gallery_repository_url.rstrip("/")
    if not (repository and doctree and is_translated(config) and has_downloads(app)):
        return
    language = current_language(config)
    uri = app.builder.get_target_uri(pagename)
    # what .github/ISSUE_TEMPLATE/translation.yml asks for
    known = {"template": "translation.yml", "language": language.name}
    if address := language.address(config.recipe_gallery_site_url, uri):
        known["page"] = address
    form = f"{repository}/issues/new?{urlencode(known)}"
    links = render(
        "improve_translation.html",
        form=form,
        label=_("Improve this translation"),
        hint=_("Select a sentence first, and the form quotes it."),
        edit=edit_address(app.env, catalog_path(app.env, pagename)),
        edit_label=_("Edit it on GitHub"),
    )
    context["body"] += links.astext()
    app.add_js_file(SCRIPT, loading_method="defer")
