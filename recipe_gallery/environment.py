"""What a build remembers of each page, in ``env.recipe_gallery``.

A page that shows something of another file *watches* it: ``watch`` returns the value now and keeps
it in the page's record; in the next build a page is read again if a value it watches is another.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

# Returns the value of a key now; it must compare equal while nothing has changed, and be picklable.
Watcher = Callable[..., Any]


@dataclass(kw_only=True)
class PageRecord:
    """What is remembered of one page."""

    watched: dict[tuple[str, ...], Any] = field(default_factory=dict)  # by watcher and key
    # Which kinds of text each message is, while templates of catalogs are made
    kinds: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))


@dataclass(kw_only=True)
class Store:
    """The records of all pages, and what watchers keep for later builds."""

    pages: dict[str, PageRecord] = field(default_factory=dict)
    kept: dict[str, dict[Any, Any]] = field(default_factory=dict)  # by name of the watcher

    def page(self, docname: str) -> PageRecord:
        """Return the record of a page, an empty one if it has none yet."""
        return self.pages.setdefault(docname, PageRecord())


def store_of(env: BuildEnvironment) -> Store:
    """Return the store of a build."""
    if not isinstance(getattr(env, "recipe_gallery", None), Store):
        env.recipe_gallery = Store()  # type: ignore[attr-defined]
    store: Store = env.recipe_gallery  # type: ignore[attr-defined]
    return store


def add_watcher(app: Sphinx, name: str, watcher: Watcher) -> None:
    """Let pages watch under ``name``; ``watcher(env, *key)`` returns the value of a key."""
    _watchers(app)[name] = watcher


def watch(env: BuildEnvironment, name: str, *key: str) -> Any:
    """Return the value of a key, and read the page at hand again when it is another."""
    value = _watchers(env.app)[name](env, *key)
    store_of(env).page(env.docname).watched[name, *key] = value
    return value


def setup(app: Sphinx) -> None:
    """Keep the records with the environment."""
    app.connect("env-purge-doc", _purge)
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _outdated_pages)


def _watchers(app: Sphinx) -> dict[str, Watcher]:
    watchers: dict[str, Watcher] = app.__dict__.setdefault("recipe_gallery_watchers", {})
    return watchers


def _purge(app: Sphinx, env: BuildEnvironment, docname: str) -> None:
    store_of(env).pages.pop(docname, None)


def _merge(
    app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    store, theirs = store_of(env), store_of(other)
    for docname in docnames:
        if docname in theirs.pages:
            store.pages[docname] = theirs.pages[docname]
    for name, kept in theirs.kept.items():
        store.kept.setdefault(name, {}).update(kept)


def _outdated_pages(app: Sphinx, env: BuildEnvironment, *changes: set[str]) -> list[str]:
    """Return the pages of which a watched value is another by now."""
    watchers = _watchers(app)
    now = cache(lambda key: watchers[key[0]](env, *key[1:]) if key[0] in watchers else None)
    return [
        docname
        for docname, page in store_of(env).pages.items()
        if any(now(key) != value for key, value in page.watched.items())
    ]
