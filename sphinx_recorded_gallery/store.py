"""What pages show of other files, so that Sphinx reads them again when it changes.

``watch(env, function, *key)`` returns the value now and keeps a digest of it with the page; the
next build asks again, and reads the page again where the answer is another. ``keep`` remembers what
was read of files while their times and sizes are the same, ``once`` for one build.
"""

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import docname_join, logging

from .errors import GalleryError
from .project import file_state

logger = logging.getLogger(__name__)

Value = TypeVar("Value")
MOST_DOCUMENTS = 40  # in memory


@dataclass(kw_only=True)
class PageRecord:
    """What is remembered of one page."""

    watched: dict[tuple[Any, ...], bytes] = field(default_factory=dict)  # function and key: digest
    linked: set[str] = field(default_factory=set)  # pages whose titles it shows
    problems: list[str] = field(default_factory=list)  # told in every build, also if it is not read


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
    """Return the store of a build, which lies with Sphinx's environment."""
    if not isinstance(getattr(env, "sphinx_recorded_gallery", None), Store):
        env.sphinx_recorded_gallery = Store()  # type: ignore[attr-defined]
    store: Store = env.sphinx_recorded_gallery  # type: ignore[attr-defined]
    return store


def once(env: BuildEnvironment, function: Callable[..., Value], *key: Any) -> Value:
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
    read: Callable[[], tuple[Sequence[Path] | None, Any]],
) -> Any:
    """Return the value of ``read``; it is not asked again, in later builds either, without need.

    That is when a file is another: of ``files``, or of those that it returned with the value. None
    in their place says that it cannot tell which files matter: it is asked again.
    """
    kept = store_of(env).kept
    names = [*map(str, files)]
    if key in kept:
        state, value = kept[key]
        if state.keys() >= {*names} and all(file_state(name) == state[name] for name in state):
            return value
    state = {name: file_state(name) for name in names}
    began = time.time_ns()
    more, value = read()
    state |= {name: file_state(name) for name in map(str, more or ()) if name not in state}
    saved_meanwhile = any(known and known[0] >= began for known in state.values())
    if more is not None and not saved_meanwhile:
        kept[key] = state, value
    return value


def watch(env: BuildEnvironment, function: Callable[..., Value], *key: str) -> Value:
    """Return ``function(env, *key)``, and read the page at hand again when the value is another.

    The function is kept by its name, so it is one of a module; the ``repr`` of a value tells all.
    """
    watched = store_of(env).pages[env.docname].watched
    watched[function, *key] = once(env, _digest_now, function, *key)
    return once(env, function, *key)


def note_problem(env: BuildEnvironment, problem: str) -> None:
    """Warn of what is wrong with the page at hand, in each build until the page is read again."""
    store_of(env).pages[env.docname].problems.append(problem)


def note_link(env: BuildEnvironment, docname: str, shown: str) -> None:
    """Let the page ``docname`` be written again when the title of the page ``shown`` changes."""
    store_of(env).pages[docname].linked.add(shown)


def _digest_now(env: BuildEnvironment, function: Callable[..., object], *key: str) -> bytes:
    return digest_of(once(env, function, *key))


def digest_of(value: object) -> bytes:
    """Return a short digest of a value whose ``repr`` tells all."""
    return hashlib.blake2b(repr(value).encode(errors="backslashreplace"), digest_size=12).digest()


def hash_file(_env: BuildEnvironment, name: str) -> str:
    """Return a hash of a file for a page to watch; it is empty where none can be read."""
    path = Path(name)
    with suppress(OSError):
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
    return ""


def setup(app: Sphinx) -> None:
    """Keep the records with the environment."""
    app.connect("env-before-read-docs", _refuse_what_is_no_text)
    app.connect("env-purge-doc", lambda _app, env, name: store_of(env).pages.pop(name, None))
    app.connect("env-merge-info", _merge)
    app.connect("env-get-outdated", _outdated_pages)
    app.connect("doctree-read", _note_links)
    app.connect("env-updated", _pages_with_old_titles)
    app.connect("env-updated", _warn_of_problems)
    app.connect("source-read", _forget_read_documents)


def _refuse_what_is_no_text(_app: Sphinx, env: BuildEnvironment, docnames: list[str]) -> None:
    """Refuse a page that is not UTF-8; Python would name neither the file nor the line."""
    for path in (Path(env.doc2path(docname)) for docname in docnames):
        try:
            path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            text = f"byte 0x{error.object[error.start]:02x} is no text in UTF-8"
            line = error.object.count(b"\n", 0, error.start) + 1
            raise GalleryError(text, path=path, line=line, remedy="save the file so") from None


def _merge(
    _app: Sphinx, env: BuildEnvironment, docnames: Iterable[str], other: BuildEnvironment
) -> None:
    """Take over what another process (``-j``) found on the pages that it read."""
    store, theirs = store_of(env), store_of(other)
    store.pages |= {name: theirs.pages[name] for name in docnames if name in theirs.pages}
    store.kept |= theirs.kept


def _outdated_pages(_app: Sphinx, env: BuildEnvironment, *_changes: set[str]) -> list[str]:
    """Return the pages of which a watched value is another by now."""
    store = store_of(env)
    store.once.clear()
    return [
        docname
        for docname, page in store.pages.items()
        if any(once(env, _digest_now, *source) != seen for source, seen in page.watched.items())
    ]


def _warn_of_problems(_app: Sphinx, env: BuildEnvironment) -> None:
    """Warn of what is wrong with pages, also with those that this build did not read."""
    records = [record for _docname, record in sorted(store_of(env).pages.items())]
    for problem in dict.fromkeys(problem for record in records for problem in record.problems):
        logger.warning("%s", problem, type="recorded_gallery", subtype="page")


def _note_links(app: Sphinx, doctree: nodes.document) -> None:
    """Note the links that show the title of the page they lead to."""
    page = store_of(app.env).pages[app.env.docname]  # every page has a record
    for link in doctree.findall(addnodes.pending_xref):
        if link.get("reftype") == "doc" and not link.get("refexplicit"):
            page.linked.add(docname_join(link["refdoc"], link["reftarget"]))


def _pages_with_old_titles(_app: Sphinx, env: BuildEnvironment) -> list[str]:
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
        neighbours = filter(None, relations.get(docname, [])[1:])
        shown = page.linked | {*neighbours, *pages_above(relations, docname)}
        now[docname] = digest_of((everywhere, [(name, titles.get(name)) for name in sorted(shown)]))
    before, store.titles = store.titles, now
    return [docname for docname in now if before.get(docname, now[docname]) != now[docname]]


def pages_above(relations: Mapping[str, Sequence[str | None]], docname: str) -> list[str]:
    """Return the pages above one, nearest first; ``relations`` are those of Sphinx."""
    found: list[str] = []
    while (above := relations.get(docname, [None])[0]) and above not in found:
        found.append(above)
        docname = above
    return found


def _forget_read_documents(app: Sphinx, _docname: str, _source: list[str]) -> None:
    """Take documents that were read out of Sphinx's memory, which holds all until it writes.

    They lie in files, too. 3 MB each: a first build of 300 recipes would need more than 1 GB.
    """
    documents: dict[str, object] = getattr(app.env, "_write_doc_doctree_cache", {})
    if len(documents) >= MOST_DOCUMENTS:
        documents.clear()
