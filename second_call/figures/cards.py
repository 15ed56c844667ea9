"""Cards that lead to the recipes: picture, title, one sentence, headline figure and its origin.

They stand where a page says ``.. recipe-cards::``, and on Sphinx-Gallery's own page of a gallery in
place of its thumbnails, whose texts cannot be translated.
"""

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective

from recipe_gallery import Priority
from recipe_gallery.languages import current_language, format_date, format_times
from recipe_gallery.outdated import watch
from recipe_gallery.project import gallery_folders
from recipe_gallery.recipes.cell_marks import DATA_CLASS

from ..nodes import html_element, link_to_page, render, translated_nodes
from .summary import Measured, Summary, list_recipes, summarize, title_of

_ = get_translation("second_call")

MOST_CARDS = 60  # of a page; what comes after them is a plain list of links


class RecipeCards(SphinxDirective):
    """Write a card for each recipe of the project."""

    def run(self) -> list[nodes.Node]:
        """Return the list of cards."""
        return make_cards(self.env)


class ReplaceThumbnails(SphinxTransform):
    """Put cards on Sphinx-Gallery's page of a gallery, in place of its thumbnails."""

    default_priority = Priority.ADD_TO_PAGE

    def apply(self, **kwargs: Any) -> None:
        """Change the page in place if it is a gallery's."""
        pages, _separator, name = self.env.docname.rpartition("/")
        if name != "index" or pages not in dict(gallery_folders(self.config)):
            return
        replaced = [
            node
            for node in self.document.findall(lambda n: isinstance(n, nodes.raw | addnodes.only))
            if isinstance(node, addnodes.only)
            or any(mark in node.astext() for mark in ("sphx-glr-", "sg-tag-list", "</div>"))
        ]
        if not replaced:
            return
        parent, index = replaced[0].parent, replaced[0].parent.index(replaced[0])
        for node in replaced:
            node.parent.remove(node)
        parent[index:index] = make_cards(self.env, pages)


def make_cards(env: BuildEnvironment, gallery: str = "") -> list[nodes.Node]:
    """Return the cards of one gallery, or of all.

    A page with hundreds of cards would be slow to make and to read: after ``MOST_CARDS`` of them
    comes a list of links.
    """
    within = f"{gallery}/" if gallery else ""
    names = [name for name in watch(env, list_recipes) if name.startswith(within)]
    cards = html_element(tag="ul", classes=["recipe-cards"])
    for docname in names[:MOST_CARDS]:
        summary = watch(env, summarize, docname)
        if summary:
            cards += _make_card(env, docname, summary)
    return [cards, *make_links(env, names[MOST_CARDS:])]


def make_links(env: BuildEnvironment, docnames: Sequence[str]) -> list[nodes.Node]:
    """Return a list of links to recipes, for those that come after the first ones."""
    links = html_element(tag="ul", classes=["recipe-list"])
    for docname in docnames:
        title = watch(env, title_of, docname)
        if title:
            links += nodes.list_item("", nodes.paragraph("", "", _link(env, docname, title)))
    return [links] if len(links) else []


def _link(env: BuildEnvironment, docname: str, title: str) -> nodes.Node:
    return link_to_page(env, docname, *translated_nodes(env, docname, title))


def _make_card(env: BuildEnvironment, docname: str, summary: Summary) -> nodes.Node:
    card = html_element(tag="li", classes=["recipe-card"])
    card += _picture(env, docname, summary.measured)
    card += nodes.paragraph(
        "", "", _link(env, docname, summary.title), classes=["recipe-card-title"]
    )
    if summary.text:
        texts = translated_nodes(env, docname, summary.text)
        card += nodes.paragraph("", "", *texts, classes=["recipe-card-summary"])
    if summary.measured:
        card += _figure(env, summary.measured)
    return card


def _picture(env: BuildEnvironment, docname: str, measured: Measured | None) -> list[nodes.Node]:
    """Return a picture of the headline figure, or else Sphinx-Gallery's thumbnail.

    Text beside it says what it shows; a reader who cannot see misses nothing.
    """
    if measured and measured.rows:
        return [render("card_picture.html", row=measured.rows[0])]
    page = PurePosixPath(docname)
    thumbnail = page.parent / f"images/thumb/sphx_glr_{page.name}_thumb.png"
    if Path(env.srcdir, thumbnail).exists():
        return [nodes.image(uri=f"/{thumbnail}", alt="", classes=["recipe-card-picture"])]
    return []


def _figure(env: BuildEnvironment, measured: Measured) -> list[nodes.Node]:
    """Return the first of a recording's headline figures, and where and when it was measured."""
    locale = current_language(env.config).locale
    lines = []
    if measured.rows:
        row = measured.rows[0]
        figure = nodes.strong("", format_times(row.speedup.value, locale))
        case = nodes.inline("", row.case, classes=["recipe-card-case", DATA_CLASS])
        lines.append(
            nodes.paragraph("", "", figure, nodes.Text(" "), case, classes=["recipe-card-figure"])
        )
    origin = _("%(device)s, %(date)s") % {
        "device": measured.device,
        "date": format_date(measured.recorded, locale),
    }
    return [*lines, nodes.paragraph("", origin, classes=["recipe-card-origin"])]
