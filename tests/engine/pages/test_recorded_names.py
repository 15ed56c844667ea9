"""Code links and mini-galleries know the types of objects, as if the build ran the example."""

import importlib
import json
import sys
from collections.abc import Iterator

import pytest

from sphinx_recorded_gallery.pages.recorded_names import read_names
from tests.helpers.gallery import SETTINGS, Gallery

MODULE = '''
"""A small library."""


class Box:
    """A box."""

    @property
    def size(self):
        """How much it holds."""
        return 3

    def fill(self, count):
        """Fill it."""
        return count


def open_box():
    """Return a box."""
    return Box()
'''
EXAMPLE = '''
"""
A box
=====

It is filled.
"""
import small

box = small.open_box()
print(box.fill(box.size))
'''
INDEX = """
Site
====

.. toctree::

   recipes/index

.. automodule:: small
   :members:

Mini
----

.. minigallery:: small.Box.fill
"""


@pytest.fixture
def library(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gallery]:
    """A project that documents a library and shows it in an example."""
    source = gallery.root / "src"
    source.mkdir()
    (source / "small.py").write_text(MODULE)
    monkeypatch.syspath_prepend(source)
    importlib.invalidate_caches()
    settings = '[environment]\nPYTHONPATH = "{recipes}/../src"\n'
    (gallery.recipes / "recording.toml").write_text(settings)
    conf = {"backreferences_dir": "gen", "doc_module": ("small",)}
    conf |= {"reference_url": {"small": None}}
    gallery.add_extension(
        "sphinx.ext.autodoc", sphinx_gallery_conf=SETTINGS["sphinx_gallery_conf"] | conf
    )
    (gallery.root / "index.rst").write_text(INDEX)
    gallery.write("box", EXAMPLE)
    assert gallery.record("box"), gallery.messages
    yield gallery
    sys.modules.pop("small", None)


def test_methods_and_objects_are_linked(library: Gallery) -> None:
    build = library.build()
    assert build.warnings == ""
    for name in ("small.open_box", "small.Box", "small.Box.fill", "small.Box.size"):
        assert f'title="{name}"' in build.page("recipes/box")
    assert "sphx-glr-thumbcontainer" in build.page("index")


@pytest.mark.slow
def test_a_new_recording_has_new_links(library: Gallery) -> None:
    path = library.recordings / "box.ipynb"
    notebook = json.loads(path.read_text())
    assert "small.Box.fill" in str(notebook["metadata"]["recording"]["names"]["box.fill"])
    path.unlink()
    assert 'title="small.Box.fill"' not in library.build().page("recipes/box")
    assert library.record("box"), library.messages
    assert 'title="small.Box.fill"' in library.build().page("recipes/box")


@pytest.mark.parametrize(
    "name",
    ["small.Box/../../../../file.x", "small.a\n.. raw:: html", "small..Box", "small.<locals>.Box"],
)
def test_a_forged_name_is_no_file_and_no_markup(gallery: Gallery, name: str) -> None:
    """Sphinx-Gallery writes a file for each name, and the name into it."""
    gallery.add()
    recording = gallery.recording("adding")
    recording.notebook.metadata.recording["names"] = {"Table": [[name, False, True]]}
    assert read_names(recording) == []
