"""What the packages use of libraries that those do not promise: why, and what breaks without it.

A new version of a library is tried by ``pytest tests/test_private_hooks.py``. The recorder's hooks
into Jupyter are no part of this: they are looked at by the fault suite.
"""

import gettext
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pydata_sphinx_theme
from docutils.parsers.rst import states
from sphinx.builders.html import StandaloneHTMLBuilder
from sphinx.environment import BuildEnvironment
from sphinx.events import EventListener
from sphinx.util import logging
from sphinx.writers.html5 import HTML5Translator
from sphinx_gallery import gen_gallery, gen_rst


@dataclass(frozen=True, kw_only=True)
class Hook:
    """One thing that a library may change without a word."""

    names: tuple[str, ...]  # as the code has them; those with an underscore stand nowhere else
    library: str
    why: str
    without: str  # what breaks
    is_there: Callable[[], bool]


def _has(module: str, name: str) -> bool:
    try:
        return hasattr(importlib.import_module(module), name)
    except ImportError:
        return False


def _says(thing: object, *texts: str) -> bool:
    """Tell whether the source of a module, a class or a function holds some texts."""
    source = inspect.getsource(thing)  # type: ignore[arg-type]
    return all(text in source for text in texts)


def _catalog_is_known() -> bool:
    catalog = gettext.NullTranslations()
    return hasattr(catalog, "_fallback") and isinstance(gettext._translations, dict)  # type: ignore[attr-defined]


def _theme_is_known() -> bool:
    folder = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme"
    text = "".join(each.read_text(encoding="utf-8") for each in sorted(folder.rglob("*.html")))
    texts = ("block search_dialog", "block scripts_end", "pst-search-dialog", "pst-page-toc-nav")
    return all(each in text for each in texts)


HOOKS = [
    Hook(
        names=("events.listeners",),
        library="Sphinx",
        why="Sphinx-Gallery connects generate_gallery_rst itself; pages/write_pages.py calls it, "
        "once for all languages and only when a recipe has changed",
        without="each build writes all pages again, languages at the same time in each other's way",
        is_there=lambda: {"id", "handler"} <= {*EventListener._fields},
    ),
    Hook(
        names=("_write_doc_doctree_cache", "_pickled_doctree_cache"),
        library="Sphinx",
        why="they hold the documents of a whole build",
        without="a first build of 300 recipes takes more than 1 GB of memory, nothing else",
        is_there=lambda: _says(
            BuildEnvironment, "_write_doc_doctree_cache", "_pickled_doctree_cache"
        ),
    ),
    Hook(
        names=("WarningLogRecordTranslator",),
        library="Sphinx",
        why="behind this filter a warning has its place; docutils knows the made page alone",
        without="warnings of a recipe's text name recipes/x.rst instead of recipes_source/x.py",
        is_there=lambda: _says(logging.WarningLogRecordTranslator, "class WarningLogRecord"),
    ),
    Hook(
        names=("HTML5Translator.visit_image", "HTML5Translator.visit_entry"),
        library="Sphinx",
        why="formulas_and_images.py adds width, height and loading to the tag that it writes last, "
        "second_call/tables.py the heading of its column to a cell",
        without="pages jump while pictures load, and tables on a phone lack their headings",
        is_there=lambda: (
            hasattr(HTML5Translator, "visit_image")
            and _says(HTML5Translator.visit_entry, "self.context.append")
        ),
    ),
    Hook(
        names=("builder.search",),
        library="Sphinx",
        why="the search of the engine takes the place of Sphinx's",
        without="Sphinx's index is written as well",
        is_there=lambda: _says(StandaloneHTMLBuilder, "self.search"),
    ),
    Hook(
        names=("search_dialog", "scripts_end", "pst-search-dialog", "pst-page-toc-nav"),
        library="pydata-sphinx-theme",
        why="_templates/layout.html and site.js put what the site has in their place",
        without="the search opens no dialog, the contents of a page do not follow the reader",
        is_there=_theme_is_known,
    ),
    Hook(
        names=("_doctree_links",),
        library="Sphinx-Gallery",
        why="its code_links_block takes the place of code that has links",
        without="notebooks and scripts lack such code, and no build with code links ends well",
        is_there=lambda: _has("sphinx_gallery._doctree_links", "code_links_block"),
    ),
    Hook(
        names=("_get_gallery_header", "DEFAULT_GALLERY_CONF"),
        library="Sphinx-Gallery",
        why="find_recipes.py finds the recipes of sub-galleries as it does, by its defaults",
        without="recipes of sub-galleries are neither recorded nor checked",
        is_there=lambda: (
            hasattr(gen_rst, "_get_gallery_header") and hasattr(gen_gallery, "DEFAULT_GALLERY_CONF")
        ),
    ),
    Hook(
        names=("GENERATED FROM PYTHON SOURCE LINES",),
        library="Sphinx-Gallery",
        why="this comment before each block says which cell it is (cell_numbers.py)",
        without="no page shows an output, has a notebook, or names lines of its recipe",
        is_there=lambda: _says(gen_rst, "GENERATED FROM PYTHON SOURCE LINES"),
    ),
    Hook(
        names=("sphx-glr-footer", "sphx-glr-download-link-note", "sg-tag-list"),
        library="Sphinx-Gallery",
        why="recorded_line.py has links of its own in the place of its footer, cards.py cards "
        "in that of its thumbnails and tags",
        without="pages have two lists of downloads, the gallery has thumbnails beside its cards",
        is_there=lambda: _says(
            gen_rst, "sphx-glr-footer", "sphx-glr-download-link-note", "sg-tag-list"
        ),
    ),
    Hook(
        names=(".py.md5", "images/sphx_glr_{}_001.png", ".codeobj.json"),
        library="Sphinx-Gallery",
        why="it leaves out recipes marked by a hash, makes thumbnails of pictures that lie where "
        "its own would, and notes names in code, which is removed where no link can follow",
        without="each edit makes all pages again, galleries show no pictures",
        is_there=lambda: (
            _says(gen_rst, '.md5"', '"sphx_glr_"', '"_{0:03}.png"')
            and _says(gen_rst, ".codeobj.json")
        ),
    ),
    Hook(
        names=("_translations", "_catalog", "_fallback"),
        library="Python's gettext",
        why="check-po asks which labels a library has translated; a build empties the catalogs "
        "that Sphinx loaded unchecked, and fills our own class with the messages that are fit",
        without="labels of the interface stay English, or check-po does not know them",
        is_there=_catalog_is_known,
    ),
    Hook(
        names=("inliner.interpreted",),
        library="docutils",
        why="check-po compares the roles of a translation with those of its source",
        without="roles that a translation lost are not told",
        is_there=lambda: hasattr(states.Inliner, "interpreted"),
    ),
]
