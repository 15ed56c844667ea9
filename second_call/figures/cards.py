"""Cards that lead to the recipes: picture, title, one sentence, headline figure and its origin.

They stand where a page says ``.. recipe-cards::``, and on Sphinx-Gallery's own page of a gallery in
place of its thumbnails, whose texts cannot be translated.
"""

from functools import cache
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation
from sphinx.transforms import SphinxTransform
from sphinx.util.docutils import SphinxDirective
from sphinx.writers.html5 import HTML5Translator

from recipe_gallery import Priority
from recipe_gallery.languages import current_language, format_date, format_times, source_language
from recipe_gallery.pages.reuse import find_recording, watch_recordings
from recipe_gallery.project import GalleryError, gallery_folders
from recipe_gallery.recipes.cells import DATA_CLASS
from recipe_gallery.recipes.gallery import gallery_pages
from recipe_gallery.recipes.recipe import load_recipe
from recipe_gallery.recipes.recording import Recording
from recipe_gallery.translate.checks.markup import inline_nodes
from recipe_gallery.translate.translation import translate

from ..nodes import link_to_page
from .bars import draw_pair
from .headline import headline

_ = get_translation("second_call")


class recipe_cards(nodes.General, nodes.Element):  # noqa: N801 (docutils names nodes so)
    """The list of cards."""


class recipe_card(nodes.General, nodes.Element):  # noqa: N801
    """One of them."""


class RecipeCards(SphinxDirective):
    """Write a card for each recipe of the project, in the order of the option ``recipes``."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the list; the content of the directive may name recipes, those to come first."""
        names = [line.strip() for line in self.content if line.strip()]
        return [make_cards(self.env, first=names)]


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
        parent.insert(index, make_cards(self.env, gallery=pages))


def make_cards(
    env: BuildEnvironment, *, gallery: str = "", first: list[str] | None = None
) -> nodes.Node:
    """Return the cards of one gallery, or of all; recipes called ``first`` come first."""
    order = first or []
    found = [
        (docname, source)
        for docname, source in gallery_pages(env.config, Path(env.srcdir))
        if docname.startswith(f"{gallery}/" if gallery else "")
    ]
    found.sort(key=lambda pair: order.index(pair[1].stem) if pair[1].stem in order else len(order))
    watch_recordings(env)
    cards = recipe_cards()
    for docname, source in found:
        env.note_dependency(str(source))
        try:
            cards += _make_card(env, docname, source)
        except GalleryError:
            continue  # replaying has said what is wrong
    return cards


def _make_card(env: BuildEnvironment, docname: str, source: Path) -> nodes.Node:
    recipe = load_recipe(source)
    recording = find_recording(env, recipe.name)
    card = recipe_card()
    card += _picture(env, docname, recipe.name, recording)
    link = link_to_page(env, docname, *translated_nodes(env, docname, recipe.title))
    card += nodes.paragraph("", "", link, classes=["recipe-card-title"])
    if recipe.summary:
        texts = translated_nodes(env, docname, recipe.summary)
        card += nodes.paragraph("", "", *texts, classes=["recipe-card-summary"])
    if recording:
        card += _headline(env, recording)
    return card


def _picture(
    env: BuildEnvironment, docname: str, name: str, recording: Recording | None
) -> list[nodes.Node]:
    """Return a picture of the headline figure, or else Sphinx-Gallery's thumbnail.

    Text beside it says what it shows; a reader who cannot see misses nothing.
    """
    if recording and (rows := headline(recording)):
        return [nodes.raw("", draw_pair(rows[0]), format="html")]
    folder = docname.rpartition("/")[0]
    thumbnail = f"{folder}/images/thumb/sphx_glr_{name}_thumb.png"
    if Path(env.srcdir, thumbnail).exists():
        return [nodes.image(uri=f"/{thumbnail}", alt="", classes=["recipe-card-picture"])]
    return []


def translated_nodes(env: BuildEnvironment, docname: str, text: str) -> list[nodes.Node]:
    """Return a message of another page in the language of this build, English marked as such."""
    language = current_language(env.config)
    translation = translate(env.config, Path(env.srcdir), docname, text)
    borrowed = env.metadata[env.docname].setdefault("borrowed", {})
    borrowed[docname, text] = translation
    children = inline_nodes(translation, glue=language.glue)
    source = source_language(env.config)
    if translation == text and language != source:
        return [nodes.inline("", "", *children, classes=[f"language-{source.tag}"])]
    return children


def outdated_pages(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Return the pages that show messages of other pages which are translated otherwise by now."""
    now = cache(lambda docname, text: translate(app.config, Path(app.srcdir), docname, text))
    return [
        docname
        for docname, metadata in env.metadata.items()
        if any(now(*key) != text for key, text in metadata.get("borrowed", {}).items())
    ]


def _headline(env: BuildEnvironment, recording: Recording) -> list[nodes.Node]:
    """Return the first of a recording's headline figures, and where and when it was measured."""
    language = current_language(env.config)
    lines = []
    if rows := headline(recording):
        figure = nodes.strong("", format_times(rows[0].speedup.value, language.locale))
        case = nodes.inline("", rows[0].case, classes=["recipe-card-case", DATA_CLASS])
        lines.append(
            nodes.paragraph("", "", figure, nodes.Text(" "), case, classes=["recipe-card-figure"])
        )
    origin = _("%(device)s, %(date)s") % {
        "device": recording.device_name,
        "date": format_date(recording.recorded, language.locale),
    }
    return [*lines, nodes.paragraph("", origin, classes=["recipe-card-origin"])]


def visit_cards(self: HTML5Translator, node: recipe_cards) -> None:
    """Open the list."""
    self.body.append('<ul class="recipe-cards">\n')


def depart_cards(self: HTML5Translator, node: recipe_cards) -> None:
    """Close the list."""
    self.body.append("</ul>\n")


def visit_card(self: HTML5Translator, node: recipe_card) -> None:
    """Open a card."""
    self.body.append('<li class="recipe-card">\n')


def depart_card(self: HTML5Translator, node: recipe_card) -> None:
    """Close a card."""
    self.body.append("</li>\n")
