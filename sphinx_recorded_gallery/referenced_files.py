"""The files that finished pages refer to: pictures, downloads, other pages; and missing ones."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:  # slow to import, and the command line comes through here
    from sphinx.application import Sphinx

# By page, in the folder of the site: the state of the page, and the files it refers to
Names = dict[str, tuple[list[int], list[str]]]

_ADDRESSES = {"href", "src", "poster", "xlink:href"}


class _Addresses(HTMLParser):
    """Collects the addresses on a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, None] = {}  # in order, each once

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the addresses of an element."""
        for name, value in attrs:
            if not value:
                continue
            if name in _ADDRESSES or (tag, name) == ("object", "data"):
                self.found[value] = None
            elif name == "srcset":
                self._keep_pictures(value)

    def _keep_pictures(self, srcset: str) -> None:
        """Keep the addresses of a picture in several sizes: "a.png 1x, b.png 2x"."""
        for picture in srcset.split(","):
            words = picture.split()
            if words:
                self.found[words[0]] = None


def local_names(page: str, html: str) -> list[str]:
    """Return the paths of the files of the same site that a page refers to.

    ``page`` is the path of the page. Addresses of other sites, and those from the root of a server,
    are left out.
    """
    parser = _Addresses()
    parser.feed(html)
    names = []
    for address in parser.found:
        try:
            parts = urlsplit(address.strip())
        except ValueError:  # not an address, such as http://[
            continue
        if parts.scheme or parts.netloc or not parts.path or parts.path.startswith("/"):
            continue
        folder = posixpath.dirname(page)
        name = posixpath.normpath(posixpath.join(folder, unquote(parts.path)))
        if name != ".." and not name.startswith("../"):
            names.append(name)
    return list(dict.fromkeys(names))


def read_names(app: Sphinx, files: Mapping[str, list[int]], known: object) -> Names:
    """Return the files that each page of a build refers to.

    ``known`` is the result of an earlier build. A page whose state in ``files`` has not changed is
    not read again.
    """
    names: Names = {}
    earlier = known if isinstance(known, dict) else {}
    for page in _pages(app):
        if page not in files:
            continue
        state, found = earlier.get(page, (None, []))
        if state != files[page]:
            text = Path(app.outdir, page).read_text(encoding="utf-8", errors="replace")
            found = local_names(page, text)
        names[page] = files[page], found
    return names


def find_missing(
    app: Sphinx, files: Mapping[str, list[int]], names: Names
) -> Iterator[tuple[str, str]]:
    """Yield documents that refer to a missing file of the site, each with the file.

    Pages that this build did not have to write are not missing. A picture that is missing among the
    sources is left out: Sphinx reads its page again in each build, and tells it with the line.
    """
    folders = {"."}
    for name in files:
        folders.update(parent.as_posix() for parent in Path(name).parents)
    documents = _pages(app)
    for page, (_state, found) in names.items():
        told = set(_missing_sources(app, page, documents[page]))
        for name in found:
            if not any(name in known for known in (files, folders, documents, told)):
                yield documents[page], name


def _missing_sources(app: Sphinx, page: str, docname: str) -> Iterator[str]:
    """Yield what a page makes of the names of missing sources, such as pictures.

    Sphinx leaves them as they are, from the folder of conf.py.
    """
    for source in app.env.dependencies.get(docname, ()):
        path = Path(app.srcdir, source)
        if not path.exists():
            name = Path(os.path.relpath(path, app.srcdir)).as_posix()
            yield posixpath.normpath(posixpath.join(posixpath.dirname(page), name))


def _pages(app: Sphinx) -> dict[str, str]:
    """Return the documents of a build by the paths of their pages."""
    pages: dict[str, str] = {}
    for docname in sorted(app.env.found_docs):
        path = Path(app.builder.get_outfilename(docname))  # type: ignore[attr-defined]
        pages[path.relative_to(app.outdir).as_posix()] = docname
    return pages
