"""What a build remembers, and what makes Sphinx read a page again.

Which of these to use:

- ``watch`` for a value that a page shows and that comes from another file. Sphinx reads the page
  again when the *value* is another, whatever happened to the file. Prefer it to
  ``env.note_dependency``, which goes by times and cannot watch a file that is not there yet.
- ``once`` for a value that many pages ask for, such as the list of all recipes. It is forgotten
  after the build; files are taken not to change meanwhile.
- ``keep`` for what takes long to compute from files, such as measurements. It survives builds, and
  is dropped when a file's size or time changes. Watch it as well if a page shows it.
- ``note_problem`` for a mistake on a page: Sphinx warns only while it reads a page, and this in
  every build until the page is read again.
- ``note_link`` (``old_titles.py``) where a page shows the title of another.
- ``functools.cache`` only for what can never change in a process, such as a compiled pattern.

All of it lies with Sphinx's environment, so a build of another language knows nothing of it.
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

from .errors import GalleryError
from .project import file_state

logger = logging.getLogger(__name__)

Value = TypeVar("Value")


@dataclass(kw_only=True)
class PageRecord:
    """What is remembered of one page."""

    watched: dict[tuple[Any, ...], bytes] = field(default_factory=dict)  # function and key: digest
    linked: set[str] = field(default_factory=set)  # pages whose titles it shows
    problems: list[str] = field(default_factory=list)  # warnings of every build


@dataclass(kw_only=True)
class Store:
    """The records of all pages, and values that are kept for later builds."""

    pages: dict[str, PageRecord] = field(default_factory=lambda: defaultdict(PageRecord))
    kept: dict[tuple[Any, ...], Any] = field(default_factory=dict)
    titles: dict[str, bytes] = field(default_factory=dict)  # digests of those that each page shows
    once: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # of this build

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "once": {}}


def store_of(env: BuildEnvironment) -> Store:
    """Return the store of a build."""
    if not isinstance(getattr(env, "sphinx_recorded_gallery", None), Store):
        env.sphinx_recorded_gallery = Store()  # type: ignore[attr-defined]
    store: Store = env.sphinx_recorded_gallery  # type: ignore[attr-defined]
    return store


def once(env: BuildEnvironment, function: Callable[..., Value], *key: Any) -> Value:
    """Return ``function(env, *key)``, which is called once in a build."""
    values = store_of(env).once
    if (function, *key) not in values:
        values[function, *key] = function(env, *key)
    value: Value = values[function, *key]
    return value


def keep(
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
    kept = store_of(env).kept
    names = [str(path) for path in files]
    if key in kept:
        states, value = kept[key]
        is_complete = all(name in states for name in names)
        if is_complete and all(file_state(name) == state for name, state in states.items()):
            return value
    states = {name: file_state(name) for name in names}
    began = time.time_ns()
    further_files, value = read()
    if further_files is None:
        return value
    for path in further_files:
        states.setdefault(str(path), file_state(str(path)))
    # What is saved while it is read may have been read half.
    was_saved_meanwhile = any(state and state[0] >= began for state in states.values())
    if not was_saved_meanwhile:
        kept[key] = states, value
    return value


def watch(env: BuildEnvironment, function: Callable[..., Value], *key: str) -> Value:
    """Return ``function(env, *key)``; the page at hand is read again when that is another value.

    The function is stored by its name, so it has to be one of a module. Values are compared by
    their ``repr``.
    """
    watched = store_of(env).pages[env.docname].watched
    watched[function, *key] = once(env, _digest_now, function, *key)
    return once(env, function, *key)


def note_problem(env: BuildEnvironment, problem: str | GalleryError) -> None:
    """Warn of what is wrong with the page at hand, in each build until the page is read again.

    An error that has a path and a line is told with them.
    """
    store_of(env).pages[env.docname].problems.append(str(problem))


def _digest_now(env: BuildEnvironment, function: Callable[..., object], *key: str) -> bytes:
    return digest_of(once(env, function, *key))


def digest_of(value: object) -> bytes:
    """Return a short digest of a value, by its ``repr``."""
    return hashlib.blake2b(repr(value).encode(errors="backslashreplace"), digest_size=12).digest()


def hash_file(_env: BuildEnvironment, name: str) -> str:
    """Return a hash of a file for a page to watch; empty if it cannot be read."""
    path = Path(name)
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return ""


def setup(app: Sphinx) -> None:
    """Keep the records with the environment."""
    app.connect("env-before-read-docs", _refuse_pages_that_are_not_text)
    app.connect("env-purge-doc", lambda _app, env, name: store_of(env).pages.pop(name, None))
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _find_outdated_pages)
    app.connect("env-updated", _warn_of_problems)


def _refuse_pages_that_are_not_text(
    _app: Sphinx, env: BuildEnvironment, docnames: list[str]
) -> None:
    """Refuse a page that is not UTF-8; Python would name neither the file nor the line."""
    for docname in docnames:
        path = Path(env.doc2path(docname))
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            text = f"byte 0x{error.object[error.start]:02x} is not text in UTF-8"
            line = error.object.count(b"\n", 0, error.start) + 1
            raise GalleryError(text, path=path, line=line, remedy="save the file so") from None


def _merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over what another process (``-j``) noted of the pages that it read."""
    store, other_store = store_of(env), store_of(other)
    for docname in docnames:
        if docname in other_store.pages:
            store.pages[docname] = other_store.pages[docname]
    store.kept |= other_store.kept


def _find_outdated_pages(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    """Return the pages of which a watched value has changed."""
    store = store_of(env)
    store.once.clear()

    def is_outdated(page: PageRecord) -> bool:
        return any(
            once(env, _digest_now, *source) != digest for source, digest in page.watched.items()
        )

    return [docname for docname, page in store.pages.items() if is_outdated(page)]


def _warn_of_problems(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of what is wrong with pages, also with those that this build did not read."""
    pages = store_of(env).pages
    problems = [problem for docname in sorted(pages) for problem in pages[docname].problems]
    for problem in dict.fromkeys(problems):
        logger.warning("%s", problem, type="recorded_gallery", subtype="page")
