"""Writes pages again that show the title of another page, when that has changed.

Sphinx does this for tables of contents alone.
"""

from collections.abc import Mapping, Sequence

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join

from .store import digest_of, get_store

# By page: the page above it, the one before and the one behind
Relations = Mapping[str, Sequence[str | None]]


def setup(app: Sphinx) -> None:
    """Note which titles each page shows, and compare them with those of the last build."""
    app.connect("doctree-read", _note_links)
    app.connect("env-updated", _find_pages_with_old_titles)


def note_link(env: BuildEnvironment, docname: str, shown: str) -> None:
    """Let the page ``docname`` be written again when the title of the page ``shown`` changes."""
    get_store(env).pages[docname].linked.add(shown)


def pages_above(relations: Relations, docname: str) -> list[str]:
    """Return the pages above one, nearest first; ``relations`` are those of Sphinx."""
    above: list[str] = []
    while docname in relations:
        parent = relations[docname][0]
        if parent is None or parent in above:
            break
        above.append(parent)
        docname = parent
    return above


def _note_links(app: Sphinx, doctree: nodes.document) -> None:
    """Note the links that show the title of the page they lead to."""
    page = get_store(app.env).pages[app.env.docname]  # every page has a record
    for link in doctree.findall(addnodes.pending_xref):
        if link.get("reftype") == "doc" and not link.get("refexplicit"):
            page.linked.add(docname_join(link["refdoc"], link["reftarget"]))


def _find_pages_with_old_titles(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to write again, because a title that they show has changed.

    A page shows the titles of those it links to, of its neighbours and of those above it. All pages
    show what the first page lists, which may have titles for that list alone.
    """
    store = get_store(env)
    relations = env.collect_relations()
    titles = {docname: title.astext() for docname, title in env.titles.items()}
    everywhere = _find_titles_of_first_page(env, titles)
    digests = {}
    for docname, page in store.pages.items():
        _parent, *neighbours = relations.get(docname, [None])
        shown = page.linked | {*pages_above(relations, docname)}
        shown |= {neighbour for neighbour in neighbours if neighbour}
        own = [(name, titles.get(name)) for name in sorted(shown)]
        digests[docname] = digest_of((everywhere, own))
    former, store.titles = store.titles, digests
    return [
        docname
        for docname, digest in digests.items()
        if docname in former and former[docname] != digest
    ]


def _find_titles_of_first_page(
    env: BuildEnvironment, titles: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the pages that the first page lists, with the titles that it gives them."""
    contents = env.tocs.get(env.config.root_doc, nodes.bullet_list())
    return [
        (docname, title or titles.get(docname, ""))
        for toctree in contents.findall(addnodes.toctree)
        for title, docname in toctree["entries"]
    ]
