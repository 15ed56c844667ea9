"""What builds keep for later ones, in ``env.recipe_gallery``: records of pages, values of files.

All of it is read in every build and written in most, so it is packed: what nobody asks for stays
bytes. ``outdated.py`` tells by the records which pages Sphinx has to read again.
"""

import hashlib
import os
import pickle
import time
from collections import UserDict, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from sphinx.environment import BuildEnvironment

from ..project import file_state

Value = TypeVar("Value")
# What a page watches: a function and what it is called with; where it has a state, only the first
Source = tuple[Any, ...]

# Of values that are asked for again and again, as those of one page are
_unpack = lru_cache(maxsize=100)(pickle.loads)


@dataclass(kw_only=True)
class PageRecord:
    """What is remembered of one page."""

    states: dict[Source, bytes] = field(default_factory=dict)  # of what it watches
    # Digests of the values of a source that has a state, by the rest of what they were asked with
    seen: dict[Source, dict[tuple[str, ...], bytes]] | bytes = field(default_factory=dict)
    linked: set[str] = field(default_factory=set)  # pages whose titles it shows
    problems: list[str] = field(default_factory=list)  # told in every build, also if it is not read

    def __getstate__(self) -> dict[str, Any]:
        """Return it with ``seen`` packed."""
        seen = self.seen if isinstance(self.seen, bytes) else pickle.dumps(self.seen)
        return {**self.__dict__, "seen": seen}

    def unpack(self) -> dict[Source, dict[tuple[str, ...], bytes]]:
        """Return ``seen``, as it can be changed."""
        if isinstance(self.seen, bytes):
            self.seen = pickle.loads(self.seen)
        assert isinstance(self.seen, dict)
        return self.seen


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A value that was read from files, packed."""

    files: tuple[str, ...]  # that were found while it was read
    state: bytes  # digest of all files and facts; empty if it is not known which files matter
    packed: bytes

    @property
    def value(self) -> Any:
        """The value; whoever asks for it leaves it as it is."""
        return _unpack(self.packed)


class PackedTocs(UserDict[str, Any]):
    """Tables of contents, ``env.tocs``, packed: unpickling all their nodes takes longest."""

    def __getitem__(self, docname: str) -> Any:
        found = self.data[docname]
        if isinstance(found, bytes):
            found = self.data[docname] = pickle.loads(found)
        return found

    def __getstate__(self) -> dict[str, Any]:
        new = {name: pickle.dumps(toc) for name, toc in self.data.items() if type(toc) is not bytes}
        return {"data": self.data | new}


@dataclass(kw_only=True)
class Store:
    """The records of all pages, and what watched functions keep for later builds."""

    pages: dict[str, PageRecord] = field(default_factory=lambda: defaultdict(PageRecord))
    kept: dict[str, dict[Any, Any]] = field(default_factory=lambda: defaultdict(dict))
    once: dict[tuple[Any, ...], Any] = field(default_factory=dict)  # of this build
    # Of the process that forks others, which need not tell it: number, kept values and pages
    known: tuple[int, dict[str, dict[Any, Any]], dict[str, PageRecord]] = (0, {}, {})

    def begin(self, docnames: Iterable[str]) -> None:
        """Remember what is known before other processes read some pages."""
        pages = {name: page for name, page in self.pages.items() if name not in {*docnames}}
        kept = {name: {**values} for name, values in self.kept.items()}
        self.known = os.getpid(), kept, pages

    def __getstate__(self) -> dict[str, Any]:
        """Return what is kept for later builds, or what a forked process has found besides."""
        process, before, pages = self.known
        state = {**self.__dict__, "once": {}, "known": (0, {}, {})}
        if process not in (0, os.getpid()):
            found = {name: find_new(now, before.get(name, {})) for name, now in self.kept.items()}
            state["kept"] = found
            state["pages"] = find_new(self.pages, pages)
        return state


def find_new(now: Mapping[Any, Any], before: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return the items that were not there before, or are others now."""
    return {key: value for key, value in now.items() if before.get(key) is not value}


def store_of(env: BuildEnvironment) -> Store:
    """Return the store of a build."""
    if not isinstance(getattr(env, "recipe_gallery", None), Store):
        env.recipe_gallery = Store()  # type: ignore[attr-defined]
    store: Store = env.recipe_gallery  # type: ignore[attr-defined]
    return store


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
    read: Callable[[], tuple[Sequence[Path] | None, Any]],
    *facts: object,
) -> Kept:
    """Keep what ``read`` returns; it is not asked again, in later builds either, without need.

    That is when ``facts`` or a file is another: of ``files``, or of those that it returned with the
    value. None in their place says that it cannot tell which files matter: it is asked again.
    """
    kept = store_of(env).kept["values"]
    known = digest_of(([*map(str, files)], [*map(file_state, files)], facts))
    if key in kept and kept[key].state == _state_of(env, known, kept[key].files):
        found: Kept = kept[key]
        return found
    began = time.time_ns()
    more, value = read()
    names = tuple(map(str, more or ()))
    state = b"" if more is None else _state_of(env, known, names)
    if any((file_state(name) or (0, 0))[0] >= began for name in names):
        state = b""  # saved meanwhile: nobody knows what was read
    found = kept[key] = Kept(files=names, state=state, packed=pickle.dumps(value))
    return found


def _state_of(env: BuildEnvironment, known: bytes, files: Iterable[str]) -> bytes:
    state = once(env, _look_once)
    return digest_of((known, [state(name) for name in files]))


def _look_once(_env: BuildEnvironment) -> Callable[[str], object]:
    return cache(file_state)  # recipes share most of their inputs


def digest_of(value: object) -> bytes:
    """Return a short digest of a value whose ``repr`` tells all."""
    return hashlib.blake2b(repr(value).encode(errors="backslashreplace"), digest_size=12).digest()
