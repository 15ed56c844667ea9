"""Inlined modules on the page, in its downloads, while recording, and in catalogs."""

import subprocess
import sys

import nbformat
import polib
import pytest

from sphinx_recorded_gallery.languages import load_languages
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.translate.update_po import update_catalogs
from tests.helpers.gallery import ROOT, Gallery

MODULE = '''"""What all recipes share."""

# Why it is measured.
import time


def measure(x: int) -> int:
    """Return a figure."""
    return x + 0 * time.time_ns()  # behind code
'''
FIRST = '''"""
First
=====
"""

# sphinx_gallery_fold = "The harness"

from _bench import measure

# %%
# Text.

# Why in the recipe.
print("measured", measure(40) + 2)
'''
SECOND = FIRST.replace("First\n=====", "Second\n======").replace("in the recipe", "elsewhere")
INLINED = MODULE.partition('"""\n\n')[2].strip()


@pytest.fixture
def inlined(gallery: Gallery) -> Gallery:
    """A gallery with two recorded recipes that inline the same module."""
    (gallery.recipes / "_bench.py").write_text(MODULE)
    for name, text in (("first", FIRST), ("second", SECOND)):
        gallery.write(name, text)
    assert gallery.record(), gallery.messages
    return gallery


@pytest.mark.slow
def test_page_notebook_script_and_recording_are_one_truth(inlined: Gallery) -> None:
    build = inlined.build()
    assert build.warnings == ""
    page = build.page("recipes/first")
    assert "from _bench" not in page
    assert "time_ns" in page
    assert "measured 42" in page
    notebook = nbformat.read(build.out / "recipes/first.ipynb", as_version=4)
    codes = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    title, _line, code = codes[0].partition("\n")
    assert title.startswith("# @title Run and skip: ")  # which Colab shows in place of the code
    assert code == INLINED
    assert inlined.recording("first").notebook.cells[0].source == INLINED
    assert inlined.recording("first").facts["inputs"] == {}
    script = build.out / "recipes/first.py"
    assert not (build.out / "recipes/_bench.py").exists()
    for path in (script, inlined.recipes / "first.py"):
        done = subprocess.run([sys.executable, path], capture_output=True, text=True)
        assert done.stdout == "measured 42\n", done.stderr

    assert inlined.build().read == []
    inlined.recipes.joinpath("_bench.py").write_text(MODULE.replace("Why it is", "How it is"))
    again = inlined.build()
    assert sorted(again.read) == ["recipes/first", "recipes/second"]
    assert again.warnings == ""
    assert "How it is measured." in again.page("recipes/second")
    inlined.recipes.joinpath("_bench.py").write_text(MODULE.replace("x + 0", "x + 1"))
    again = inlined.build()
    told = "changed code in _bench.py, imported in cell 1 (line 8)"
    assert told in again.warnings
    inlined.recipes.joinpath("_bench.py").write_text("x = (\n")
    assert "_bench.py:1: syntax error: '(' was never closed" in inlined.build().warnings
    inlined.recipes.joinpath("_bench.py").unlink()
    assert "first.py: stale recording: changed code in cell 1" in inlined.build().warnings
    inlined.recipes.joinpath("_bench.py").write_text(MODULE)
    assert inlined.build().warnings == ""


@pytest.mark.slow
def test_an_error_in_a_module_names_its_line(gallery: Gallery) -> None:
    module = '"""Words."""\n\n\nx = 1\n\n\ndef measure(x):\n    return x / 0\n'
    (gallery.recipes / "_bench.py").write_text(module)
    gallery.write("failing", FIRST)
    assert not gallery.record("failing")
    assert "failing.py:14: cell 2 of 2 failed: ZeroDivisionError" in gallery.messages, (
        gallery.messages
    )
    assert "(raised in _bench.py:8, which it calls)" in gallery.messages


@pytest.mark.slow
def test_comments_of_a_module_are_messages_of_the_pages_that_show_it(
    inlined: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    inlined.set_languages("ko")
    languages, folder = load_languages(inlined.root), inlined.root / "out/gettext"
    update_catalogs(load_project(inlined.root), [languages["ko"]], folder)
    path = inlined.root / "locale/ko/LC_MESSAGES/recipes/first.po"
    catalog = polib.pofile(str(path))
    behind = catalog.find("behind code")
    assert behind.comment.startswith("Comment in code")
    assert behind.occurrences == [("recipes_source/_bench.py", "")]
    catalog.find("Why it is measured.").msgstr = "무엇을 재는지."
    catalog.find("Return a figure.").msgstr = '"값"을 돌려준다.'
    behind.msgstr = "# 코드"
    catalog.save()
    # translated once: the next update takes it to the other page
    update_catalogs(load_project(inlined.root), [languages["ko"]], folder)
    build = inlined.build(language="ko")
    assert "recipes/first.po" in build.warnings
    for name in ("first", "second"):
        page = build.page(f"recipes/{name}")
        assert "무엇을 재는지." in page
        assert "behind code" in page
        for suffix in (".ipynb", ".py"):
            text = (build.out / f"recipes/{name}{suffix}").read_text("utf-8")
            assert "무엇을 재는지." in text
            assert "을 돌려준다." in text
    script = build.out / "recipes/first.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True)
    assert done.stdout == "measured 42\n", done.stderr
    assert "무엇을" not in inlined.build(language="en").page("recipes/first")
