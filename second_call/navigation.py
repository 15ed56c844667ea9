"""What leads to other pages: the menus of the header and the footer, and the other recipes."""

import posixpath
from collections.abc import Collection
from functools import lru_cache
from html import escape
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.config import Config
from sphinx.environment import BuildEnvironment
from sphinx.environment.adapters.toctree import TocTree
from sphinx.util import logging

from sphinx_recorded_gallery.api import Gallery, GalleryError, note_link, once

from .labels import _
from .near_names import find_near
from .short_titles import short_title

logger = logging.getLogger(__name__)


def list_recipes(env: BuildEnvironment) -> tuple[str, ...]:
    """Return the pages of all recipes, those first that ``second_call_recipes`` names."""
    pages = {file.name: docname for docname, file in Gallery(env).files.items()}
    ordered = []
    for name in env.config.second_call_recipes:
        if name in pages:
            ordered.append(pages.pop(name))
    return (*ordered, *pages.values())


def warn_of_unknown_recipes(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each name in ``second_call_recipes`` that no recipe has, or that is there twice.

    Also of each recipe that it lacks, which menus would not show, unless it is empty.
    """
    names = [file.name for file in Gallery(env).files.values()]
    named = app.config.second_call_recipes
    for name in dict.fromkeys(named):
        if name not in names:
            text = f"second_call_recipes names {name!r}, which is no recipe"
            _warn_of_conf(app, text, _suggest_correction(name, names))
        elif named.count(name) > 1:
            text = f"second_call_recipes names {name!r} twice"
            _warn_of_conf(app, text, "remove one of the lines")
    if not named:
        return
    for name in names:
        if name not in named:
            text = f"second_call_recipes lacks {name!r}, so that menus do not show it"
            _warn_of_conf(app, text, "add it where it belongs in their order")


def warn_of_lost_redirects(app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of each address in ``redirects`` that leads to a page of this site that is not there."""
    for docname, target in find_redirects(app.config).items():
        page = _find_moved(docname, target)
        if page and page not in env.found_docs:
            last_part = page.rpartition("/")[2]
            pages = {name.rpartition("/")[2]: name for name in env.found_docs}
            near_part = find_near(last_part, pages)
            remedy = f"name a page that is there, as seen from {docname}"
            if near_part:
                remedy = f"did you mean the one of {pages[near_part]}?"
            _warn_of_conf(app, f"redirects leads {docname!r} to {target!r}, no page", remedy)


def _warn_of_conf(app: Sphinx, text: str, remedy: str) -> None:
    error = GalleryError(text, path=Path(app.confdir, "conf.py"), remedy=remedy)
    logger.warning("%s", error, type="second_call", subtype="recipes")


def _suggest_correction(name: str, names: Collection[str]) -> str:
    """Return what may be meant by a name that no recipe has; Python joins two without a comma."""
    for first in names:
        second = name.removeprefix(first)
        if second != name and second in names:
            return f"write a comma between {first!r} and {second!r}"
    near_name = find_near(name, names)
    if near_name:
        return f"did you mean {near_name!r}?"
    return f"remove it, or choose among: {', '.join(names)}"


def describe_navigation(
    app: Sphinx, pagename: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Give templates ``menus``, one a toctree of the first page, and ``neighbours`` of a recipe.

    ``recipe_links`` leads from a recipe to all that ``second_call_recipes`` names. A recipe that
    cannot be read has no page to lead to.
    """
    context["menus"] = _make_menus(app, pagename)
    context["parents"] = _leave_out_moved(app, pagename, context.get("parents", []))
    context["neighbours"] = []
    context["recipe_links"] = []
    recipes = _list_pages(app.env)
    if pagename not in recipes:
        return
    for docname in _find_named(app.env):
        link = _make_link(app, pagename, docname)
        context["recipe_links"].append({**link, "current": docname == pagename})
    place = recipes.index(pagename)
    if place > 0:
        link = _make_link(app, pagename, recipes[place - 1])
        context["neighbours"].append(("prev", _("Previous recipe"), link))
    if place + 1 < len(recipes):
        link = _make_link(app, pagename, recipes[place + 1])
        context["neighbours"].append(("next", _("Next recipe"), link))


def _leave_out_moved(
    app: Sphinx, pagename: str, parents: list[dict[str, str]]
) -> list[dict[str, str]]:
    """Return the pages above a page, without those that moved: they have no place there."""
    addresses = set()
    for docname in find_redirects(app.config):
        addresses.add(app.builder.get_relative_uri(pagename, docname))
    return [parent for parent in parents if parent["link"] not in addresses]


def _make_menus(app: Sphinx, pagename: str) -> list[list[dict[str, str]]]:
    """Return the entries of each menu: title, address, and whether the page is it or below it."""
    ancestors = TocTree(app.env).get_toctree_ancestors(pagename)
    menus = []
    for entries in _find_menus(app):
        menu = []
        for title, docname in entries:
            entry = {
                "title": title,
                "href": _find_address(app, pagename, docname),
                "current": "",
            }
            if docname == pagename:
                entry["current"] = "page"
            elif docname in ancestors:
                entry["current"] = "true"
            menu.append(entry)
        menus.append(menu)
    return menus


def _make_link(app: Sphinx, pagename: str, docname: str) -> dict[str, Any]:
    """Return title and address of a recipe for a link on the page ``pagename``."""
    return {"title": _title(app, docname), "link": _find_address(app, pagename, docname)}


def find_redirects(config: Config) -> dict[str, str]:
    """Return where pages that moved lead to, by page; the extension that does so may be missing."""
    if "redirects" not in config:
        return {}
    redirects: dict[str, str] = config.redirects
    return redirects


def remove_thumbnails(env: BuildEnvironment, document: nodes.document) -> None:
    """Take Sphinx-Gallery's thumbnails off a list of recipes that is redirected to another page.

    Nobody sees them there, and each would add a message to the catalogs of the list.
    """
    if env.docname not in find_redirects(env.config):
        return
    thumbnails = list(document.findall(lambda node: isinstance(node, nodes.raw | addnodes.only)))
    for node in thumbnails:
        node.parent.remove(node)


def _find_address(app: Sphinx, pagename: str, docname: str) -> str:
    """Return the address of a page from another one; of a page that moved, where it leads."""
    target = find_redirects(app.config).get(docname, "")
    page = _find_moved(docname, target)
    if not page:
        return app.builder.get_relative_uri(pagename, docname)
    address = app.builder.get_relative_uri(pagename, page)
    _file, hash_sign, anchor = target.partition("#")
    return f"{address}{hash_sign}{anchor}"


def _find_moved(docname: str, target: str) -> str:
    """Return the page to which a redirection leads; empty if it leads to another site or file."""
    file = target.partition("#")[0]
    if "://" in file or not file.endswith(".html"):
        return ""
    path = posixpath.normpath(posixpath.join(posixpath.dirname(docname), file))
    return path.removesuffix(".html")


def note_neighbours(app: Sphinx, env: BuildEnvironment) -> None:
    """Note the recipes to which each one leads as pages whose titles it shows."""
    recipes = _list_pages(env)
    linked = [*pairwise(recipes), *permutations(_find_named(env), 2)]
    for first, second in linked:
        note_link(env, first, second)
        note_link(env, second, first)


def _list_pages(env: BuildEnvironment) -> list[str]:
    """Return the pages of the recipes that can be read, in the order of the site."""
    return [docname for docname in once(env, list_recipes) if docname in env.all_docs]


def _find_named(env: BuildEnvironment) -> list[str]:
    """Return the pages of the recipes that ``second_call_recipes`` names."""
    count = len(env.config.second_call_recipes)
    named = once(env, list_recipes)[:count]
    return [docname for docname in named if docname in env.all_docs]


@lru_cache(maxsize=1)  # the same for all pages of a build
def _find_menus(app: Sphinx) -> list[list[tuple[str, str]]]:
    """Return title and page of each entry of each toctree of the first page."""
    env = app.env
    if env.config.root_doc not in env.all_docs:
        return []
    menus = []
    for toctree in env.get_doctree(env.config.root_doc).findall(addnodes.toctree):
        entries = []
        for title, docname in toctree["entries"]:
            if docname in env.titles:  # else it is an address of another site
                entries.append((title or env.titles[docname].astext(), docname))
        menus.append(entries)
    return menus


def _title(app: Sphinx, docname: str) -> str:
    """Return a page's short title, or else its title, as HTML."""
    name = short_title(docname)
    if name:
        return escape(name)
    assert isinstance(app.builder, StandaloneHTMLBuilder)
    title = app.env.titles.get(docname, nodes.title("", docname))
    return str(app.builder.render_partial(title)["title"])


def shorten_links(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Give links that show the title of a page the shorter name that it has in menus, if any."""
    names = {}
    for menu in _find_menus(app):
        for name, page in menu:
            names[page] = name
    for recipe in once(app.env, list_recipes):
        names[recipe] = short_title(recipe)
    pages = {app.builder.get_relative_uri(docname, page): page for page in names}
    for link in doctree.findall(nodes.reference):
        page = pages.get(link.get("refuri"), "")
        if page and names[page] and link.astext() == app.env.titles[page].astext():
            link.clear()
            link += nodes.inline("", names[page])
