"""Catalogs that would hurt somebody: what each of them once did, and that it does it no more.

Whoever finds another one adds it here. Its author changes nothing but a ``.po``.
"""

import ast
import re

import jupytext
import nbformat
import polib
import pytest
from markdown_it import MarkdownIt

from gallery import Build, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.pages.notebook import check_program
from recipe_gallery.recipes.recipe import load_recipe

PAGE = "recipes/adding"
PROSE = "A paragraph."
COMMENT = "Why this is here."


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    site.configure(recipe_gallery_repository_url="https://example.org/repo", gettext_compact=False)
    return site


def attack(site: Gallery, *entries: polib.POEntry, domain: str = PAGE) -> Build:
    """Build the site with a catalog of these messages."""
    path = site.translate(domain, {})
    catalog = polib.pofile(str(path))
    catalog.extend(entries)
    catalog.save()
    return site.build(language="ko")


def say(text: str, translation: str, **fields: object) -> polib.POEntry:
    return polib.POEntry(msgid=text, msgstr=translation, **fields)


def program(site: Gallery) -> str:
    """Return what the script does, as Python reads it from the bytes that were written."""
    return ast.dump(ast.parse((site.root / f"out/html/{PAGE}.py").read_bytes()))


def cells(site: Gallery) -> list[nbformat.NotebookNode]:
    return nbformat.read(site.root / f"out/html/{PAGE}.ipynb", as_version=4).cells


def texts(site: Gallery) -> str:
    return "\n".join(cell.source for cell in cells(site) if cell.cell_type == "markdown")


@pytest.fixture
def harmless(site: Gallery) -> str:
    """What the script does without a catalog."""
    site.build(language="ko")
    return program(site)


# S1 and S2: a line of text that Python reads


@pytest.mark.parametrize(
    "title",
    [
        "수 더하기 (coding: x)",
        "수 더하기 (encoding=latin-1)",
        "수 더하기 vim: fileencoding=utf-7",
    ],
)
def test_a_title_declares_no_encoding(site: Gallery, harmless: str, title: str) -> None:
    attack(site, say("Adding numbers", title))
    assert title in texts(site)  # words are words
    assert program(site) == harmless


@pytest.mark.parametrize("encoding", ["raw-unicode-escape", "unicode_escape", "utf-7", "hz"])
def test_no_code_hides_in_a_comment(site: Gallery, harmless: str, encoding: str) -> None:
    attack(
        site,
        say("Adding numbers", f"수 더하기 (encoding: {encoding})"),
        say(COMMENT, r"까닭 \u000aimport os; os._exit(7) #+AAo-import os"),
    )
    assert program(site) == harmless


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (b"import os", "does something else than the recipe"),
        (b"# coding: x", "is no Python (unknown encoding: x), unlike the recipe"),
        (b"\xff", "is no Python"),
    ],
)
def test_no_script_is_written_that_does_something_else(
    site: Gallery, script: bytes, told: str
) -> None:
    with pytest.raises(GalleryError, match=re.escape(told)):
        check_program(script, load_recipe(site.recipes / "adding.py"))


# S8 and S9: text that other programs take for something else


@pytest.mark.parametrize(
    "evil",
    [
        "![x](//evil.example/t.png)",
        "[x](//evil.example)",
        "<svg/onload=alert()>",
        "<//evil.example>",
        "www.evil.example",
        "문단www.evil.example/x",
        "a@evil.example",
        "[x]: //evil.example",
        "[x][evil]",
        "https\\://evil.example",
        "ftp\\://evil.example",
    ],
)
def test_text_is_text_in_a_notebook(site: Gallery, evil: str) -> None:
    attack(site, say(PROSE, f"문단 {evil}"), say("A remark.", evil))
    markdown = texts(site)
    html = MarkdownIt("gfm-like", {"linkify": False}).render(markdown)
    assert "<svg" not in html
    assert "<img" not in html
    assert not re.search(r'(?:href|src)="[^"]*evil', html)
    # what GitHub, Jupyter and Colab make a link of, though no markup says so
    assert not re.search(r"(?:https?|ftp)://\S*evil|www\.evil|\w@evil\.", markdown)


@pytest.mark.parametrize("evil", ["%% [markdown]", "%%", "%% 문단", "In[1]:", "<codecell>"])
def test_text_begins_no_cell_of_a_script(site: Gallery, evil: str) -> None:
    attack(site, say(PROSE, evil), say("A remark.", evil), say("Text", evil))
    script = (site.root / f"out/html/{PAGE}.py").read_text()
    again = jupytext.reads(script, fmt="py:percent").cells
    assert [cell.cell_type for cell in again] == [cell.cell_type for cell in cells(site)]
    assert not re.search(r"(?m)^# (?:In ?\[|<codecell>)", script)
