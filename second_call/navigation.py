"""What leads to other pages: the menus of the header and the footer, and the other recipes."""

import posixpath
from functools import lru_cache, partial
from html import escape
from itertools import pairwise, permutations
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.locale import get_translation

from sphinx_recorded_gallery.api import all_files, note_link, once, pages_above

from .short_names import short_name

_ = get_translation("second_call")


def list_recipes(env: BuildEnvironment) -> tuple[str, ...]:
    """Return the pages of all recipes, those first that ``second_call_recipes`` names."""
    first = {name: place for place, name in enumerate(env.config.second_call_recipes)}
    files = sorted(once(env, all_files).values(), key=lambda file: first.get(file.name, len(first)))
    return tuple(file.docname for file in files)


def describe_navigation(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Give templates ``menus``, one a toctree of the first page, and ``neighbours`` of a recipe.

    ``recipe_links`` leads from a recipe to all that ``second_call_recipes`` names.
    """
    address = partial(_find_address, app, pagename)
    relations = app.builder.relations if isinstance(app.builder, StandaloneHTMLBuilder) else {}
    above = [pagename, *pages_above(relations, pagename)]
    context["menus"] = [
        [
            {
                "title": title,
                "href": address(docname),
                "current": "page" if docname == pagename else docname in above and "true",
            }
            for title, docname in entries
        ]
        for entries in _find_menus(app)
    ]
    recipes = once(app.env, list_recipes)
    context["neighbours"], context["recipe_links"] = [], []
    context["parents"] = [  # what moved has no place above a page
        parent for parent in context.get("parents", []) if not _has_moved(app, pagename, parent)
    ]
    if pagename in recipes:
        context["recipe_links"] = [
            {"title": _title(app, name), "link": address(name), "current": name == pagename}
            for name in _find_named(app.env)
        ]
        at = recipes.index(pagename)
        context["neighbours"] = [
            (kind, label, {"title": _title(app, recipes[number]), "link": address(recipes[number])})
            for kind, label, number in (
                ("prev", _("Previous recipe"), at - 1),
                ("next", _("Next recipe"), at + 1),
            )
            if 0 <= number < len(recipes)
        ]


def remove_thumbnails(env: BuildEnvironment, document: nodes.document) -> None:
    """Take Sphinx-Gallery's thumbnails off a list of recipes that is redirected to another page.

    Nobody sees them there, and each would add a message to the catalogs of the list.
    """
    redirects = env.config.redirects if "redirects" in env.config else {}
    if env.docname not in redirects:
        return
    thumbnails = list(document.findall(lambda node: isinstance(node, nodes.raw | addnodes.only)))
    for node in thumbnails:
        node.parent.remove(node)


def _has_moved(app: Sphinx, pagename: str, parent: Any) -> bool:
    redirects = app.config.redirects if "redirects" in app.config else {}
    addresses = {app.builder.get_relative_uri(pagename, docname) for docname in redirects}
    return parent["link"] in addresses


def _find_address(app: Sphinx, pagename: str, docname: str) -> str:
    """Return the address of a page from another one; of a page that moved, where it leads."""
    target = app.config.redirects.get(docname, "") if "redirects" in app.config else ""
    moved = posixpath.normpath(posixpath.join(posixpath.dirname(docname), target))
    if target and moved.endswith(".html"):
        return app.builder.get_relative_uri(pagename, moved.removesuffix(".html"))
    return app.builder.get_relative_uri(pagename, docname)


def note_neighbours(app: Sphinx, env: BuildEnvironment) -> None:
    """Note the recipes to which each one leads as pages whose titles it shows."""
    neighbours = pairwise(name for name in once(env, list_recipes) if name in env.all_docs)
    for first, second in [*neighbours, *permutations(_find_named(env), 2)]:
        note_link(env, first, second)
        note_link(env, second, first)


def _find_named(env: BuildEnvironment) -> list[str]:
    """Return the pages of the recipes that ``second_call_recipes`` names."""
    return [
        name
        for name in once(env, list_recipes)[: len(env.config.second_call_recipes)]
        if name in env.all_docs
    ]


@lru_cache(maxsize=1)  # the same for all pages of a build
def _find_menus(app: Sphinx) -> list[list[tuple[str, str]]]:
    """Return title and page of each entry of each toctree of the first page."""
    env = app.env
    if env.config.root_doc not in env.all_docs:
        return []
    return [
        [
            (title or env.titles[docname].astext(), docname)
            for title, docname in tree["entries"]
            if docname in env.titles  # else it is an address of another site
        ]
        for tree in env.get_doctree(env.config.root_doc).findall(addnodes.toctree)
    ]


def _title(app: Sphinx, docname: str) -> str:
    """Return a page's short name, or else its title, as HTML."""
    if name := short_name(docname):
        return escape(name)
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    title = app.env.titles.get(docname, nodes.title("", docname))
    return str(app.builder.render_partial(title)["title"])
