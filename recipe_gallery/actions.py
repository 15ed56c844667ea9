"""The buttons under a recipe's title: downloads, Colab, source, and a report of a problem."""

from pathlib import Path
from urllib.parse import urlencode, urlsplit

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util.osutil import relative_uri
from sphinx.writers.html5 import HTML5Translator

from .provenance import describe_versions
from .recipes import find_source
from .reuse import find_recording
from .translation import SOURCE_BRANCH, current_language

_ = get_translation("recipe_gallery")

# Colab opens notebooks from GitHub only; .github/workflows/pages.yml puts the built ones there.
NOTEBOOKS_BRANCH = "notebooks"


class recipe_actions(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The list of buttons; its children are references."""


def fill_actions(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put the links into the list: to files beside the page, and to the repository if it has one.

    ``notebooks.py`` writes the files.
    """
    for actions in doctree.findall(recipe_actions):
        page = app.builder.get_target_uri(docname)
        for label, suffix in ((_("Download notebook"), ".ipynb"), (_("Download script"), ".py")):
            link = _link(label, relative_uri(page, docname + suffix))
            link["download"] = Path(docname).name + suffix  # browsers save it instead of showing it
            actions += link
        source = find_source(app.config, Path(app.srcdir), docname)
        repository = app.config.repository_url.rstrip("/")
        if source is None or not repository:
            continue
        where = urlsplit(repository)
        if where.hostname == "github.com":
            language = app.config.language
            address = (
                f"https://colab.research.google.com/github{where.path}/blob/"
                f"{NOTEBOOKS_BRANCH}/{language}/{docname}.ipynb"
            )
            actions += _link(_("Open in Colab"), address)
        path = source.relative_to(app.srcdir).as_posix()
        actions += _link(_("View source"), f"{repository}/blob/{SOURCE_BRANCH}/{path}")
        actions += _link(_("Report a problem"), _report(app, repository, docname))


def _link(label: str, address: str) -> nodes.reference:
    return nodes.reference("", label, refuri=address, classes=["recipe-action"])


def _report(app: Sphinx, repository: str, docname: str) -> str:
    """Return the address of the form in .github/ISSUE_TEMPLATE/bug.yml, with what is known."""
    language = current_language(app.config)
    page = language.address(app.config.site_url, app.builder.get_target_uri(docname))
    known = {"template": "bug.yml", "page": page, "language": language.name}
    if recording := find_recording(app.env, Path(docname).name):
        known["commit"] = recording.facts["commit"] or ""
        known["gpu"] = recording.facts["device"].get("gpu") or ""
        known["versions"] = describe_versions(recording)
    return f"{repository}/issues/new?{urlencode({k: v for k, v in known.items() if v})}"


def visit_actions(self: HTML5Translator, node: recipe_actions) -> None:
    """Write the links as a list of buttons."""
    self.body.append('<ul class="recipe-actions">')
    for link in node.findall(nodes.reference):
        attributes = {"href": link["refuri"]}
        if "download" in link:
            attributes["download"] = link["download"]
        self.body.append(
            f"<li>{self.starttag(link, 'a', '', **attributes)}{link.astext()}</a></li>"
        )
    self.body.append("</ul>\n")
    raise nodes.SkipNode
