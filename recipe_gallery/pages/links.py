"""The links under a recipe's title: to the notebook and the script beside its page."""

from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import get_translation
from sphinx.util.osutil import relative_uri
from sphinx.writers.html5 import HTML5Translator

_ = get_translation("recipe_gallery")


class page_links(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The list of links; its children are references, to which a site may add its own."""


def has_downloads(app: Sphinx) -> bool:
    """Tell whether this build makes a site, beside whose pages files can lie; a book is none."""
    return bool(app.builder.format == "html" and app.builder.name != "epub")


def fill_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put links to the downloads into the list; ``notebook.py`` writes the files."""
    for links in list(doctree.findall(page_links)):
        if not has_downloads(app):
            links.parent.remove(links)
            continue
        page = app.builder.get_target_uri(docname)
        for label, suffix in ((_("Download notebook"), ".ipynb"), (_("Download script"), ".py")):
            link = make_link(label, relative_uri(page, docname + suffix))
            link["download"] = Path(docname).name + suffix  # browsers save it instead of showing it
            links += link


def make_link(label: str, address: str) -> nodes.reference:
    """Return one link of the list."""
    return nodes.reference("", label, refuri=address, classes=["recipe-action"])


def visit_links(self: HTML5Translator, node: page_links) -> None:
    """Write the links as a list."""
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
