"""Examples are listed in the order in which Sphinx-Gallery lists them, and may lie anywhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.foreign_project import Stranger, make_project
from tests.helpers.gallery import ROOT, Gallery

STOCK = ("sphinx_gallery.gen_gallery",)
CORE = ("sphinx_recorded_gallery",)
# Settings of Sphinx-Gallery, and the titles in the order that they give
ORDERS: dict[str, dict[str, object]] = {
    "default": {},
    "lines": {"within_subsection_order": "NumberOfCodeLinesSortKey"},
    "size": {"within_subsection_order": "FileSizeSortKey"},
    "name": {"within_subsection_order": "FileNameSortKey"},
    "title": {"within_subsection_order": "ExampleTitleSortKey"},
    "sections": {"subsection_order": ["recipes_source/zoo", "*"]},
    "flat": {"nested_sections": False},
}
EXAMPLES = {
    "plot_b": ("Bees", ""),
    "plot_a": ("Zebras", "x = 1\ny = 2\n"),
    "art/plot_x": ("Xylo", ""),
    "art/plot_w": ("Wax", "x = 1\ny = 2\n"),
    "zoo/plot_ape": ("Ape", ""),
}


def orders() -> Iterator[Any]:
    """Yield names of orders: by day, titles stand for all that examples may be sorted by."""
    for name in ORDERS:
        marks = [pytest.mark.nightly] if name in ("lines", "size", "name") else []
        yield pytest.param(name, marks=marks)


def list_titles(root: Path, extensions: tuple[str, ...], settings: dict[str, object]) -> list[str]:
    """Build a gallery with two galleries below it; return the titles in the order of its list."""
    root.mkdir()
    gallery = Gallery(root, extensions)
    if extensions == STOCK:
        mine = [name for name in gallery.settings if name.startswith("recorded_gallery")]
        gallery.configure(**dict.fromkeys(mine))
    conf = {**gallery.settings["sphinx_gallery_conf"], "filename_pattern": "nothing", **settings}
    gallery.configure(sphinx_gallery_conf=conf, html_math_renderer=None)
    for folder in ("art", "zoo"):
        (gallery.recipes / folder).mkdir()
        header = gallery.recipes / folder / "GALLERY_HEADER.rst"
        header.write_text(f"{folder.title()}\n===\n\nSome.\n")
    for name, (title, code) in EXAMPLES.items():
        gallery.write(name, f'"""\n{title}\n==========\n\nWords.\n"""\nprint(1)\n{code}')
    build = gallery.build()
    return re.findall(r'sphx-glr-thumbnail-title">([^<]+)', build.page("recipes/index"))


@pytest.mark.slow
@pytest.mark.parametrize("order", list(orders()))
def test_examples_are_listed_in_the_order_that_is_chosen(tmp_path: Path, order: str) -> None:
    stock = list_titles(tmp_path / "stock", STOCK, ORDERS[order])
    assert sorted(stock) == sorted(title for title, _code in EXAMPLES.values())
    assert list_titles(tmp_path / "core", CORE, ORDERS[order]) == stock


GREEK = '''\
"""
Über é 한국어
==============

Words.
"""
Δx = 1
print("한국어", Δx)
'''


@pytest.mark.slow
def test_a_project_may_lie_in_a_folder_with_any_name(tmp_path: Path) -> None:
    project = make_project(tmp_path / "dir (ü) [x] #1 100%+'q" / "my project")
    project.write("examples/plot_greek.py", GREEK)
    run_without_utf8(project, "record", "--device", "cpu")
    [told] = run_without_utf8(project, "html", "--", "-q").splitlines()
    assert "Example file name(s) with spaces found" in told  # by Sphinx-Gallery
    page = project.docs / "_build/html/en/auto_examples/plot_greek.html"
    text = page.read_text(encoding="utf-8")
    assert "한국어 1" in text
    assert "Recorded on" in text


def run_without_utf8(project: Stranger, *arguments: str) -> str:
    """Run a command where the system's encoding is ASCII; return what was told."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        [sys.executable, "-m", "sphinx_recorded_gallery", *arguments],
        cwd=project.docs,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    return done.stderr


@pytest.mark.slow
def test_the_folder_of_examples_may_be_a_link(site: Gallery) -> None:
    real = site.root / "real"
    site.recipes.rename(real)
    site.recipes.symlink_to(real, target_is_directory=True)
    build = site.build(exclude_patterns="recipes_source,real,out,locale,_build")
    assert build.warnings == ""
    assert "Recorded on" in build.page("recipes/adding")
