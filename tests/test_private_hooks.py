"""What the packages use of libraries that those do not promise, in one list, and nothing else.

Whether a new version of a library still has it is seen on the pages that the other tests build. The
recorder's hooks into Jupyter are no part of this: they are looked at by the fault suite.
"""

import ast
from collections.abc import Iterator
from typing import NamedTuple

from gallery import ROOT

MOST = 13


class Hook(NamedTuple):
    """One thing that a library may change without a word."""

    names: tuple[str, ...]  # as the code has them; those with an underscore stand nowhere else
    library: str
    why: str
    without: str  # what breaks


HOOKS = [
    Hook(
        ("events.listeners",),
        "Sphinx",
        "Sphinx-Gallery connects generate_gallery_rst itself; pages/write_pages.py calls it, once "
        "for all languages and only when a recipe has changed",
        "each build writes all pages again, languages at the same time in each other's way",
    ),
    Hook(
        ("_write_doc_doctree_cache", "_pickled_doctree_cache"),
        "Sphinx",
        "they hold the documents of a whole build",
        "a first build of 300 recipes takes more than 1 GB of memory, nothing else",
    ),
    Hook(
        ("WarningLogRecordTranslator",),
        "Sphinx",
        "behind this filter a warning has its place; docutils knows the made page alone",
        "warnings of a recipe's text name recipes/x.rst instead of recipes_source/x.py",
    ),
    Hook(
        ("HTML5Translator.visit_image", "HTML5Translator.visit_entry"),
        "Sphinx",
        "formulas_and_images.py adds width, height and loading to the tag that it writes last, "
        "second_call/tables.py the heading of its column to a cell",
        "pages jump while pictures load, and tables on a phone lack their headings",
    ),
    Hook(
        ("builder.search",),
        "Sphinx",
        "the search of the engine takes the place of Sphinx's",
        "Sphinx's index is written as well",
    ),
    Hook(
        ("search_dialog", "scripts_end", "pst-search-dialog", "pst-page-toc-nav"),
        "pydata-sphinx-theme",
        "_templates/layout.html and site.js put what the site has in their place",
        "the search opens no dialog, the contents of a page do not follow the reader",
    ),
    Hook(
        ("_doctree_links",),
        "Sphinx-Gallery",
        "its code_links_block takes the place of code that has links",
        "notebooks and scripts lack such code, and no build with code links ends well",
    ),
    Hook(
        ("_get_gallery_header", "DEFAULT_GALLERY_CONF"),
        "Sphinx-Gallery",
        "find_recipes.py finds the recipes of sub-galleries as it does, by its defaults",
        "recipes of sub-galleries are neither recorded nor checked",
    ),
    Hook(
        ("GENERATED FROM PYTHON SOURCE LINES",),
        "Sphinx-Gallery",
        "this comment before each block says which cell it is (cell_numbers.py)",
        "no page shows an output, has a notebook, or names lines of its recipe",
    ),
    Hook(
        ("sphx-glr-footer", "sphx-glr-download-link-note", "sg-tag-list"),
        "Sphinx-Gallery",
        "recorded_line.py has links of its own in the place of its footer, recipe_cards.py cards "
        "in that of its thumbnails and tags",
        "pages have two lists of downloads, the gallery has thumbnails beside its cards",
    ),
    Hook(
        (".py.md5", "images/sphx_glr_{}_001.png", ".codeobj.json"),
        "Sphinx-Gallery",
        "it leaves out recipes marked by a hash, makes thumbnails of pictures that lie where its "
        "own would, and notes names in code, which is removed where no link can follow",
        "each edit makes all pages again, galleries show no pictures",
    ),
    Hook(
        ("_translations", "_catalog", "_fallback"),
        "Python's gettext",
        "check-po asks which labels a library has translated; a build empties the catalogs that "
        "Sphinx loaded unchecked, and fills our own class with the messages that are fit",
        "labels of the interface stay English, or check-po does not know them",
    ),
    Hook(
        ("inliner.interpreted",),
        "docutils",
        "check-po compares the roles of a translation with those of its source",
        "roles that a translation lost are not told",
    ),
]


def private_names(source: str) -> Iterator[str]:
    """Yield the names with an underscore that a module takes from others."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom(module=str(module), names=names, level=0):
                yield from (each for each in module.split(".") if each.startswith("_"))
                yield from (each.name for each in names if each.name.startswith("_"))
            case ast.Attribute(value=value, attr=name) if name.startswith("_"):
                own = isinstance(value, ast.Name) and value.id in ("self", "cls")
                if not own and not name.endswith("__") and name != "_exit":
                    yield name
            case ast.Call(
                func=ast.Name(id="getattr" | "setattr"), args=[_, ast.Constant(value=name), *_]
            ):
                if str(name).startswith("_") and not str(name).endswith("__"):
                    yield str(name)


def test_the_list_of_hooks_is_whole_and_short() -> None:
    known = {name for hook in HOOKS for name in hook.names if name.startswith("_")}
    found = set()
    for package in ("recipe_gallery", "second_call"):
        for path in (ROOT / package).rglob("*.py"):
            if "record" not in path.relative_to(ROOT).parts:
                found |= set(private_names(path.read_text(encoding="utf-8")))
    found -= {"__future__", "__version__"}
    assert found == known
    assert len(HOOKS) <= MOST
