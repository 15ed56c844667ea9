"""Write a page again when a title of another page that it shows has changed.

Sphinx itself only does so for tables of contents.
"""

from collections.abc import Mapping, Sequence

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join

from .store import digest_of, get_store

# By page: its parent, the page before and the page after it
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


def _find_neighbours(relations: Relations, docname: str) -> list[str]:
    """Return the page before and the page after one, as far as there are such pages."""
    if docname not in relations:
        return []
    _parent, *neighbours = relations[docname]
    return [neighbour for neighbour in neighbours if neighbour is not None]


def _note_links(app: Sphinx, doctree: nodes.document) -> None:
    """Note the links that show the title of what they lead to: a page, or a label of a section."""
    page = get_store(app.env).pages[app.env.docname]  # every page has a record
    for link in doctree.findall(addnodes.pending_xref):
        if link.get("refexplicit"):
            continue
        if link.get("reftype") == "doc":
            page.linked.add(docname_join(link["refdoc"], link["reftarget"]))
        elif link.get("reftype") == "ref":
            page.labels.add(link["reftarget"])


def _find_pages_with_old_titles(_app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to write again because a title that they show has changed.

    A page shows the titles of linked pages and sections, of its neighbours and of the pages above
    it. Every page shows the list of the first page, which may give titles of its own.
    """
    store = get_store(env)
    relations = env.collect_relations()
    titles = {docname: title.astext() for docname, title in env.titles.items()}
    labels = env.domains.standard_domain.labels
    titles_of_labels = {label: title for label, (_docname, _id, title) in labels.items()}
    shared_titles = _find_titles_of_first_page(env, titles)
    digests = {}
    for docname, page in store.pages.items():
        shown = set(page.linked)
        shown.update(pages_above(relations, docname))
        shown.update(_find_neighbours(relations, docname))
        own_titles = [(name, titles.get(name)) for name in sorted(shown)]
        own_labels = [(label, titles_of_labels.get(label)) for label in sorted(page.labels)]
        digests[docname] = digest_of((shared_titles, own_titles, own_labels))
    former_digests = store.title_digests
    store.title_digests = digests
    changed = []
    for docname, digest in digests.items():
        is_new = docname not in former_digests  # it is written anyway
        if not is_new and former_digests[docname] != digest:
            changed.append(docname)
    return changed


def _find_titles_of_first_page(
    env: BuildEnvironment, titles: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the pages that the first page lists, with the titles that it gives them."""
    contents = env.tocs.get(env.config.root_doc, nodes.bullet_list())
    listed = []
    for toctree in contents.findall(addnodes.toctree):
        for title, docname in toctree["entries"]:
            listed.append((docname, title or titles.get(docname, "")))
    return listed
