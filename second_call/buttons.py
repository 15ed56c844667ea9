"""Buttons beside those of the downloads: Colab, source, and a report of a problem."""

from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.languages import current_language
from recipe_gallery.pages.header import describe_versions, make_link, page_links
from recipe_gallery.recipes.page import RecordedPage, Unrecorded, load_page

_ = get_translation("second_call")

# Colab opens notebooks from GitHub only; .github/workflows/pages.yml puts the built ones there.
NOTEBOOKS_BRANCH = "notebooks"


def add_buttons(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add links to the repository, if the site has one, to those of the downloads."""
    repository = app.config.recipe_gallery_repository_url.rstrip("/")
    page = load_page(app.env, docname)
    if page is None or not repository:
        return
    for links in doctree.findall(page_links):
        where = urlsplit(repository)
        if where.hostname == "github.com":
            language = app.config.language
            address = (
                f"https://colab.research.google.com/github{where.path}/blob/"
                f"{NOTEBOOKS_BRANCH}/{language}/{docname}.ipynb"
            )
            links += make_link(_("Open in Colab"), address)
        source = page.source.resolve()
        if source.is_relative_to(app.srcdir):  # else nobody knows where the repository has it
            branch = app.config.recipe_gallery_repository_branch
            path = source.relative_to(app.srcdir).as_posix()
            links += make_link(_("View source"), f"{repository}/blob/{branch}/{path}")
        links += make_link(_("Report a problem"), _report_address(app, repository, docname, page))


def _report_address(
    app: Sphinx, repository: str, docname: str, page: RecordedPage | Unrecorded
) -> str:
    """Return the address of the form in .github/ISSUE_TEMPLATE/bug.yml, with what is known."""
    language = current_language(app.config)
    uri = app.builder.get_target_uri(docname)
    address = language.address(app.config.recipe_gallery_site_url, uri)
    known = {"template": "bug.yml", "page": address, "language": language.name}
    if isinstance(page, RecordedPage):
        facts = page.recording.facts
        known["commit"] = facts["commit"] or ""
        known["gpu"] = facts["device"].get("gpu") or ""
        known["versions"] = describe_versions(
            page.recording, app.config.recipe_gallery_package_names
        )
    return f"{repository}/issues/new?{urlencode({k: v for k, v in known.items() if v})}"
