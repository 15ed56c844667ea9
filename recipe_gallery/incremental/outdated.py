"""Which pages Sphinx has to read again: those that show something of a file that is another now.

A page that shows something of another file *watches* it: ``watch`` returns the value now and keeps
a digest of it in the page's record; in the next build a page is read again if a value that it
watches has another.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join

from ..project import gallery_folders
from .kept import PackedTocs, PageRecord, Source, digest_of, find_new, store_of
from .processes import can_share, share, share_writing, writes_anywhere

Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])
State = Callable[[BuildEnvironment, str], bytes]

_STATES: dict[Callable[..., Any], State] = {}
_AHEAD: list[Callable[[BuildEnvironment, str], object]] = []


def has_state(state: State) -> Callable[[Function], Function]:
    """Let a function be watched by the state of what it reads, which its first argument names.

    While ``state(env, first)`` is the same, no value of it is another, and it is not asked.
    """

    def mark(function: Function) -> Function:
        _STATES[function] = state
        return function

    return mark


def keep_ahead(function: Function) -> Function:
    """Let ``function(env, docname)`` be called for each page, before many are made or read.

    What it keeps is known to all processes then; else each that lists recipes would read them all.
    """
    _AHEAD.append(function)
    return function


def watch(env: BuildEnvironment, function: Callable[..., Value], *key: str) -> Value:
    """Return ``function(env, *key)``, and read the page at hand again when the value is another.

    The function is kept by its name, so it is one of a module; the ``repr`` of a value tells all.
    """
    page = store_of(env).pages[env.docname]
    if function in _STATES:
        source: Source = (function, key[0])
        # before the value: a file that is saved meanwhile is for the next build
        if source not in page.states:  # a page asks hundreds of times
            page.states[source] = _state(env, source)
        value = function(env, *key)
        page.unpack().setdefault(source, {})[key[1:]] = digest_of(value)
    else:
        value = function(env, *key)
        page.states[function, *key] = digest_of(value)
    return value


def _state(env: BuildEnvironment, source: Source) -> bytes:
    function, *key = source
    return _STATES[function](env, *key) if function in _STATES else digest_of(function(env, *key))


def setup(app: Sphinx) -> None:
    """Keep the records with the environment."""
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _outdated_pages)
    app.connect("env-before-read-docs", _share_work)
    app.connect("doctree-read", _note_links)
    app.connect("write-started", share_writing)
    app.connect("doctree-resolved", _forget_document)
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
    if not isinstance(env.tocs, PackedTocs):
        env.tocs = PackedTocs(env.tocs)  # type: ignore[assignment]
    now = cache(lambda *source: _state(env, source))
    return [
        docname for docname, page in store_of(env).pages.items() if _is_outdated(env, page, now)
    ]


def _is_outdated(env: BuildEnvironment, page: PageRecord, now: Callable[..., bytes]) -> bool:
    for source, state in page.states.items():
        if state and now(*source) == state:
            continue
        function, *key = source
        if function not in _STATES:
            return True
        seen = page.unpack()[source].items()
        if any(digest_of(function(env, *key, *rest)) != value for rest, value in seen):
            return True
        page.states[source] = now(*source)
    return False


def _share_work(app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Let several processes (``-j``) read many pages only, and where all extensions allow it."""
    all_known, wanted = app.extensions.values(), app.parallel
    safe = all(each.parallel_read_safe and each.parallel_write_safe for each in all_known)
    if not can_share(app, docnames) or not safe:
        app.parallel = 1
        if safe and writes_anywhere(app):  # of few that are read, many may have to be written
            app.connect("env-updated", lambda *_: setattr(app, "parallel", wanted))
        return
    # What lists all recipes takes longest: nobody should wait for it in the end.
    folders = tuple(f"{pages}/" for pages, _examples in gallery_folders(app.config))
    docnames.sort(key=lambda name: name.startswith(folders) and not name.endswith("/index"))
    kept = store_of(env).kept["values"]

    def read(part: Sequence[str]) -> dict[Any, Any]:
        before = {**kept}
        for docname in part:
            read_ahead(env, docname)
        return find_new(kept, before)

    share(app, docnames, read, kept.update, "reading recordings")
    store_of(env).begin(docnames)


def read_ahead(env: BuildEnvironment, docname: str) -> None:
    """Let builds keep what others will ask of a page."""
    for function in _AHEAD:
        with suppress(Exception):  # whoever asks for it gets it again
            function(env, docname)


def _forget_document(app: Sphinx, _doctree: nodes.document, docname: str) -> None:
    """Take the packed document out of Sphinx's memory, which would hold all in the end."""
    app.env._pickled_doctree_cache.pop(docname, None)


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
