"""Cached values of a build, and the dependencies that make Sphinx read a page again.

Which of these to use:

- ``watch`` for a value that a page shows and that comes from another file. Sphinx reads the page
  again when the *value* changes, whatever happened to the file. Prefer it to
  ``env.note_dependency``, which compares times and cannot watch a file that does not exist yet.
- ``once`` for a value that many pages need, such as the list of all recipes. It is computed once in
  a build and forgotten afterwards; files are assumed not to change meanwhile.
- ``cached`` for what takes long to compute from files, such as measurements. The cache survives
  builds and is dropped when a file's size or time changes. Watch the value as well if a page shows
  it.
- ``note_problem`` for a mistake on a page. Sphinx warns only while it reads a page; this warns in
  every build until the page is read again.
- ``note_link`` (``old_titles.py``) where a page shows the title of another.
- ``functools.cache`` only for what can never change in a process, such as a compiled pattern.

Everything is stored in Sphinx's environment, so builds of different languages share nothing.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from .errors import GalleryError, not_utf8
from .project import file_state

logger = logging.getLogger(__name__)

Value = TypeVar("Value")


@dataclass(kw_only=True)
class PageRecord:
    """Dependencies and problems of one page."""

    watched: dict[tuple[Any, ...], bytes] = field(
        default_factory=dict
    )  # digest by function and key
    linked: set[str] = field(default_factory=set)  # pages whose titles it shows
    labels: set[str] = field(default_factory=set)  # of sections whose titles it shows
    problems: list[str] = field(default_factory=list)  # warnings of every build


@dataclass(kw_only=True)
class Store:
    """The records of all pages, and cached values."""

    pages: dict[str, PageRecord] = field(default_factory=lambda: defaultdict(PageRecord))
    cache: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # of all builds
    title_digests: dict[str, bytes] = field(default_factory=dict)  # by page, of titles it shows
    once: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # of the current build

    def __getstate__(self) -> dict[str, Any]:
        """Return what is saved with the environment."""
        return {**self.__dict__, "once": {}}


def get_store(env: BuildEnvironment) -> Store:
    """Return the store of a build."""
    if not isinstance(getattr(env, "sphinx_recorded_gallery", None), Store):
        env.sphinx_recorded_gallery = Store()  # type: ignore[attr-defined]
    store: Store = env.sphinx_recorded_gallery  # type: ignore[attr-defined]
    return store


def once(env: BuildEnvironment, function: Callable[..., Value], *key: Any) -> Value:
    """Return ``function(env, *key)``, calling it only once in a build."""
    values = get_store(env).once
    call = (function, *key)
    if call not in values:
        values[call] = function(env, *key)
    value: Value = values[call]
    return value


def cached(
    env: BuildEnvironment,
    key: tuple[str, ...],
    files: Sequence[Path],
    read: Callable[[], tuple[Sequence[Path] | None, Any]],
) -> Any:
    """Return the cached result of ``read()``.

    The cache survives builds and is dropped when the size or the time of a file changes: of
    ``files``, or of those that ``read`` returned with the value. If ``read`` cannot know them, it
    returns None in their place, and nothing is cached.
    """
    cache = get_store(env).cache
    names = [str(path) for path in files]
    if key in cache:
        states, value = cache[key]
        is_complete = all(name in states for name in names)
        is_unchanged = all(file_state(name) == state for name, state in states.items())
        if is_complete and is_unchanged:
            return value
    states = {name: file_state(name) for name in names}
    began = time.time_ns()
    further_files, value = read()
    if further_files is None:
        return value
    for path in further_files:
        states.setdefault(str(path), file_state(str(path)))
    # A file that was saved while it was read may have been read only in part.
    was_saved_meanwhile = any(state and state[0] >= began for state in states.values())
    if not was_saved_meanwhile:
        cache[key] = states, value
    return value


def watch(env: BuildEnvironment, function: Callable[..., Value], *key: str) -> Value:
    """Return ``function(env, *key)``; the current page is read again when the value changes.

    The function is stored by its name, so it must be defined at the top level of a module. Values
    are compared by their ``repr``.
    """
    watched = get_store(env).pages[env.docname].watched
    watched[function, *key] = once(env, _current_digest, function, *key)
    return once(env, function, *key)


def note_problem(env: BuildEnvironment, problem: str | GalleryError) -> None:
    """Warn of a problem of the current page in each build until the page is read again.

    An error with a path and a line is reported with them.
    """
    get_store(env).pages[env.docname].problems.append(str(problem))


def _current_digest(env: BuildEnvironment, function: Callable[..., object], *key: str) -> bytes:
    return digest_of(once(env, function, *key))


def digest_of(value: object) -> bytes:
    """Return a short digest of the ``repr`` of a value."""
    return hashlib.blake2b(repr(value).encode(errors="backslashreplace"), digest_size=12).digest()


def hash_file(_env: BuildEnvironment, name: str) -> str:
    """Return the hash of a file, for a page to watch; empty if it cannot be read."""
    path = Path(name)
    with suppress(OSError):
        if path.is_file():
            return hashlib.sha256(path.read_bytes()).hexdigest()
    return ""


def setup(app: Sphinx) -> None:
    """Keep the records in step with the pages of the environment."""
    app.connect("env-before-read-docs", _refuse_pages_that_are_not_text)
    app.connect("env-purge-doc", lambda _app, env, name: get_store(env).pages.pop(name, None))
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _find_outdated_pages)
    app.connect("env-updated", _warn_of_problems)


def _refuse_pages_that_are_not_text(
    _app: Sphinx, env: BuildEnvironment, docnames: list[str]
) -> None:
    """Raise ``GalleryError`` for a page that is not UTF-8; Python names neither file nor line."""
    for docname in docnames:
        path = Path(env.doc2path(docname))
        error = not_utf8(path, path.read_bytes())
        if error:
            raise error


def _merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over the records of pages that another process (``-j``) read."""
    store, other_store = get_store(env), get_store(other)
    for docname in docnames:
        if docname in other_store.pages:
            store.pages[docname] = other_store.pages[docname]
    store.cache |= other_store.cache


def _find_outdated_pages(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    """Return the pages that show a value which has changed."""
    store = get_store(env)
    store.once.clear()

    outdated = []
    for docname, page in store.pages.items():
        for call, digest in page.watched.items():
            if once(env, _current_digest, *call) != digest:
                outdated.append(docname)
                break
    return outdated


def _warn_of_problems(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of problems of all pages, including those that this build did not read."""
    pages = get_store(env).pages
    problems: dict[str, None] = {}
    for docname in sorted(pages):
        problems.update(dict.fromkeys(pages[docname].problems))
    for problem in problems:
        logger.warning("%s", problem, type="recorded_gallery", subtype="page")
