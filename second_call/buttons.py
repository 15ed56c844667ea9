"""Buttons beside those of the downloads: Colab, source, and a report of a problem."""

from pathlib import Path
from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.languages import current_language
from recipe_gallery.pages.header import describe_versions
from recipe_gallery.pages.links import make_link, page_links
from recipe_gallery.pages.reuse import find_recording
from recipe_gallery.recipes.gallery import find_source

_ = get_translation("second_call")

# Colab opens notebooks from GitHub only; .github/workflows/pages.yml puts the built ones there.
NOTEBOOKS_BRANCH = "notebooks"


def add_buttons(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add links to the repository, if the site has one, to those of the downloads."""
    for actions in doctree.findall(page_links):
        source = find_source(app.config, Path(app.srcdir), docname)
        branch = app.config.recipe_gallery_repository_branch
        repository = app.config.recipe_gallery_repository_url.rstrip("/")
        if source is None or not repository:
            continue
        where = urlsplit(repository)
        if where.hostname == "github.com":
            language = app.config.language
            address = (
                f"https://colab.research.google.com/github{where.path}/blob/"
                f"{NOTEBOOKS_BRANCH}/{language}/{docname}.ipynb"
            )
            actions += make_link(_("Open in Colab"), address)
        path = source.relative_to(app.srcdir).as_posix()
        actions += make_link(_("View source"), f"{repository}/blob/{branch}/{path}")
        actions += make_link(_("Report a problem"), _report(app, repository, docname))


def _report(app: Sphinx, repository: str, docname: str) -> str:
    """Return the address of the form in .github/ISSUE_TEMPLATE/bug.yml, with what is known."""
    language = current_language(app.config)
    page = language.address(app.config.recipe_gallery_site_url, app.builder.get_target_uri(docname))
    known = {"template": "bug.yml", "page": page, "language": language.name}
    if recording := find_recording(app.env, Path(docname).name):
        known["commit"] = recording.facts["commit"] or ""
        known["gpu"] = recording.facts["device"].get("gpu") or ""
        known["versions"] = describe_versions(recording, app.config.recipe_gallery_package_names)
    return f"{repository}/issues/new?{urlencode({k: v for k, v in known.items() if v})}"
