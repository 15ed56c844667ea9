"""Buttons beside those of the downloads: Colab, source, and a report of a problem."""

from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation

from recipe_gallery.languages import current_language
from recipe_gallery.pages.header import describe_versions, make_link, page_links
from recipe_gallery.recipes.recorded_page import RecordedPage, Unrecorded, load_page

_ = get_translation("second_call")

# Colab opens notebooks from GitHub only; .github/workflows/pages.yml puts the built ones there.
NOTEBOOKS_BRANCH = "notebooks"


def add_buttons(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add links to the repository, if the site has one, to those of the downloads."""
    config = app.config
    repository = config.recipe_gallery_repository_url.rstrip("/")
    page = load_page(app.env, docname)
    if page is None or not repository:
        return
    source, branch = page.source.resolve(), config.recipe_gallery_repository_branch
    where = urlsplit(repository)
    for links in doctree.findall(page_links):
        if where.hostname == "github.com":
            notebook = f"{where.path}/blob/{NOTEBOOKS_BRANCH}/{config.language}/{docname}.ipynb"
            address = f"https://colab.research.google.com/github{notebook}"
            links += make_link(_("Open in Colab"), address)
        if source.is_relative_to(app.srcdir):  # else nobody knows where the repository has it
            path = source.relative_to(app.srcdir).as_posix()
            links += make_link(_("View source"), f"{repository}/blob/{branch}/{path}")
        report = f"{repository}/issues/new?{urlencode(_fill_in_report(app, docname, page))}"
        links += make_link(_("Report a problem"), report)


def _fill_in_report(app: Sphinx, docname: str, page: RecordedPage | Unrecorded) -> dict[str, str]:
    """Return what is known for the form in .github/ISSUE_TEMPLATE/bug.yml."""
    language = current_language(app.config)
    uri = app.builder.get_target_uri(docname)
    address = language.address(app.config.recipe_gallery_site_url, uri)
    known = {"template": "bug.yml", "page": address, "language": language.name}
    if isinstance(page, RecordedPage):
        facts = page.recording.facts
        known["commit"] = facts["commit"]
        known["gpu"] = facts["device"].get("gpu")
        known["versions"] = describe_versions(
            page.recording, app.config.recipe_gallery_package_names
        )
    return {field: value for field, value in known.items() if value}
