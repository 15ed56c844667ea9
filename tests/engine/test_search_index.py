"""The index of the search, without Pagefind itself."""

from pathlib import Path

import pytest
from sphinx.application import Sphinx

from gallery import Gallery
from recipe_gallery import search


def test_a_build_of_some_pages_leaves_the_index_as_it_is(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    monkeypatch.setattr(search, "_write_part", lambda out, folder, pages: written.append(pages))
    monkeypatch.setattr(search, "replace_search", lambda app: None)  # needs a template
    monkeypatch.setattr(search, "PART_PAGES", 1)
    gallery.configure(recipe_gallery_pagefind=True)
    removed = Path(gallery.build().out, "recipes/index.html")
    assert written
    written.clear()
    removed.unlink()
    build = Sphinx.build
    pages = [str(gallery.root / "index.rst")]
    monkeypatch.setattr(Sphinx, "build", lambda app: build(app, filenames=pages))
    gallery.build()
    assert written == []
