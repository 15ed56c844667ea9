"""Cards that lead to the recipes: title, one sentence, where it was measured, and the downloads.

They stand on Sphinx-Gallery's own page of a gallery in place of its thumbnails, whose texts cannot
be translated.
"""

from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import (
    RecipeResults,
    current_language,
    format_date,
    gallery_folders,
    load_results,
    watch,
)

from .make_nodes import html_element, link_to_page, translated_nodes
from .navigation import list_recipes

_ = get_translation("second_call")


def replace_thumbnails(env: BuildEnvironment, document: nodes.document) -> None:
    """Put cards on Sphinx-Gallery's page of a gallery, in place of its thumbnails."""
    if env.docname not in {f"{pages}/index" for pages, _examples in gallery_folders(env.config)}:
        return
    replaced = [
        node
        for node in document.findall(lambda n: isinstance(n, nodes.raw | addnodes.only))
        if isinstance(node, addnodes.only)
        or any(mark in node.astext() for mark in ("sphx-glr-", "sg-tag-list", "</div>"))
    ]
    if not replaced:
        return
    cards = html_element(tag="ul", classes=["recipe-cards"])
    for docname in watch(env, list_recipes):
        known = watch(env, load_results, docname)
        if known and docname.startswith(env.docname.removesuffix("index")):
            cards += _make_card(env, docname, known)
    parent, index = replaced[0].parent, replaced[0].parent.index(replaced[0])
    for node in replaced:
        node.parent.remove(node)
    parent.insert(index, cards)


def introduce(env: BuildEnvironment, docname: str) -> tuple[str, str]:
    """Return title and first paragraph of a recipe, for a page to watch."""
    known = load_results(env, docname)
    return (known.title, known.text) if known else ("", "")


def _make_card(env: BuildEnvironment, docname: str, known: RecipeResults) -> nodes.Node:
    card = html_element(tag="li", classes=["recipe-card"])
    title, text = watch(env, introduce, docname)
    link = link_to_page(env, docname, *translated_nodes(env, docname, title))
    card += nodes.paragraph("", "", link, classes=["recipe-card-title"])
    if text:
        texts = translated_nodes(env, docname, text)
        card += nodes.paragraph("", "", *texts, classes=["recipe-card-summary"])
    card += nodes.paragraph("", "", *_origin(env, docname, known), classes=["recipe-card-origin"])
    return card


def _origin(env: BuildEnvironment, docname: str, known: RecipeResults) -> Iterator[nodes.Node]:
    """Yield where and when a recipe was measured, and its downloads."""
    if known.recorded:
        moment = format_date(known.recorded, current_language(env.config).locale)
        facts = {"device": known.device, "date": moment}
        yield nodes.Text(_("%(device)s, %(date)s") % facts)
    page = docname.rpartition("/")[2]  # downloads lie beside it, and the list, too
    for label, suffix in ((_("Notebook"), ".ipynb"), (_("Script"), ".py")):
        yield nodes.Text(" · " if known.recorded or suffix == ".py" else "")
        yield nodes.reference("", label, refuri=page + suffix, internal=True)
