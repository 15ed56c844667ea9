"""Which pages Sphinx has to read again: what each one watches, kept in ``env.recipe_gallery``.

A page that shows something of another file *watches* it: ``watch`` returns the value now and keeps
it in the page's record; in the next build a page is read again if a value it watches is another.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join

from .project import file_state

Value = TypeVar("Value")
MANY = 40  # pages; handing the environment from process to process takes longer than reading fewer


@dataclass(kw_only=True)
class PageRecord:
    """What is remembered of one page."""

    # Values by the function that returned them, and what it was called with
    watched: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)  # pages whose titles it shows
    problems: list[str] = field(default_factory=list)  # told in every build, also if it is not read


@dataclass(kw_only=True)
class Store:
    """The records of all pages, and what watched functions keep for later builds."""

    pages: dict[str, PageRecord] = field(default_factory=lambda: defaultdict(PageRecord))
    kept: dict[str, dict[Any, Any]] = field(default_factory=lambda: defaultdict(dict))
    once: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # of this build

    def __getstate__(self) -> dict[str, Any]:
        """Return what is kept for later builds."""
        return {**self.__dict__, "once": {}}


def store_of(env: BuildEnvironment) -> Store:
    """Return the store of a build."""
    if not isinstance(getattr(env, "recipe_gallery", None), Store):
        env.recipe_gallery = Store()  # type: ignore[attr-defined]
    store: Store = env.recipe_gallery  # type: ignore[attr-defined]
    return store


def watch(env: BuildEnvironment, function: Callable[..., Value], *key: str) -> Value:
    """Return ``function(env, *key)``, and read the page at hand again when the value is another.

    Function and value are kept with the environment: it is one of a module, and the value can be
    pickled and compares equal while nothing has changed.
    """
    value = function(env, *key)
    store_of(env).pages[env.docname].watched[function, *key] = value
    return value


def once(env: BuildEnvironment, function: Callable[..., Value], *key: str) -> Value:
    """Return ``function(env, *key)``, called once in a build: files do not change meanwhile."""
    values = store_of(env).once
    if (function, *key) not in values:
        values[function, *key] = function(env, *key)
    found: Value = values[function, *key]
    return found


def keep(
    env: BuildEnvironment,
    key: tuple[str, ...],
    files: Sequence[Path],
    read: Callable[[], tuple[Sequence[Path] | None, Value]],
    *facts: object,
) -> Value:
    """Return what ``read`` returns; it is not asked again, in later builds either, without need.

    That is when ``facts`` or the state of a file is another: of ``files``, or of those that it
    returned with the value. None in their place says that it cannot tell which files matter.
    """
    kept = store_of(env).kept["values"]
    now = [*files], [*map(file_state, files)], facts
    if key in kept:
        before, more, states, value = kept.pop(key)
        if before == now and states == [*map(file_state, more)]:
            kept[key] = before, more, states, value
            return value
    found, value = read()
    if found is not None:
        kept[key] = now, found, [*map(file_state, found)], value
    return value


def setup(app: Sphinx) -> None:
    """Keep the records with the environment."""
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _outdated_pages)
    app.connect("env-before-read-docs", _share_work)
    app.connect("doctree-read", _note_links)
    app.connect("env-updated", _pages_with_old_titles)


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    store_of(env).pages.pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    store, theirs = store_of(env), store_of(other)
    store.pages |= {name: theirs.pages[name] for name in docnames if name in theirs.pages}
    for name, kept in theirs.kept.items():
        store.kept[name] |= kept


def _outdated_pages(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Return the pages of which a watched value is another by now."""
    store_of(env).once.clear()
    now = cache(lambda function, *key: function(env, *key))
    return [
        docname
        for docname, page in store_of(env).pages.items()
        if any(now(*key) != value for key, value in page.watched.items())
    ]


def _share_work(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Let several processes (``-j``) work on many pages only, and where all extensions allow it."""
    all_known = app.extensions.values()
    safe = (each.parallel_read_safe and each.parallel_write_safe for each in all_known)
    if len(docnames) < MANY or not all(safe):
        app.parallel = 1


def _note_links(app: Sphinx, doctree: nodes.document) -> None:
    """Note the links that show the title of the page they lead to."""
    page = store_of(app.env).pages[app.env.docname]  # every page has a record
    for link in doctree.findall(addnodes.pending_xref):
        if link.get("reftype") == "doc" and not link.get("refexplicit"):
            page.linked.add(docname_join(link["refdoc"], link["reftarget"]))


def _pages_with_old_titles(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Return the pages to write again because a title of another page that they show has changed.

    Sphinx does this for tables of contents alone. A page also shows the titles of those it links
    to, of its neighbours and of those above it, and all pages show what the first page lists, which
    may have titles for that list alone.
    """
    store = store_of(env)
    relations = env.collect_relations()  # page above, page before and page behind
    titles = {docname: title.astext() for docname, title in env.titles.items()}
    first = env.tocs.get(env.config.root_doc, nodes.bullet_list())
    lists = [entry for toctree in first.findall(addnodes.toctree) for entry in toctree["entries"]]
    everywhere = [(name, title or titles.get(name, "")) for title, name in lists]
    now = {}
    for docname, page in store.pages.items():
        above, *neighbours = relations.get(docname, [None])
        shown = page.linked | {name for name in neighbours if name}
        while above and above not in shown:
            shown.add(above)
            above = relations.get(above, [None])[0]
        now[docname] = everywhere + sorted((name, titles.get(name, "")) for name in shown)
    before, store.kept["titles"] = store.kept["titles"], now
    return [docname for docname in now if before.get(docname, now[docname]) != now[docname]]
