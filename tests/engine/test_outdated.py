"""Pages are read again when something that they show of another file has changed."""

import shutil
import warnings
from pathlib import Path

import pytest

from tests.helpers.gallery import Gallery

EXTENSION = """
import sys
from pathlib import Path

from sphinx_recorded_gallery.store import watch

def first_word(env, name):
    with Path(env.srcdir, "asked.txt").open("a") as asked:
        asked.write(f"{name}\\n")
    return Path(env.srcdir, name).read_text().split()[0]

def read(app, docname, text):
    if docname == "index":
        for _ in range(3):
            watch(app.env, first_word, "shown.txt")

def setup(app):
    sys.path.remove(app.confdir.as_posix())
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
"""


def test_a_page_is_read_again_only_when_what_it_watches_is_another(gallery: Gallery) -> None:
    (gallery.root / "watching.py").write_text(EXTENSION)
    conf = gallery.root / "conf.py"
    gallery.add_extension("watching")
    conf.write_text(f"import sys\nsys.path.insert(0, {str(gallery.root)!r})\n{conf.read_text()}")
    shown = gallery.root / "shown.txt"
    shown.write_text("one two")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "index" in gallery.build().read
        shown.write_text("one three")
        assert gallery.build().read == []
        shown.write_text("four")
        assert gallery.build().read == ["index"]
    assert (gallery.root / "asked.txt").read_text() == "shown.txt\n" * 3  # once in each build
    # Sphinx 11 removes env.app, so that nothing may be found by it.
    assert not [each for each in told if "BuildEnvironment.app" in str(each.message)]


def published(out: Path) -> dict[Path, bytes]:
    """Return what a build published."""
    files = [path for path in out.rglob("*") if path.is_file() and path.name != ".buildinfo"]
    return {path.relative_to(out): path.read_bytes() for path in files}


@pytest.mark.slow
def test_several_processes_make_the_same(gallery: Gallery) -> None:
    gallery.add_extension("sphinx_recorded_gallery.search")
    for name in ("adding", "fifth", "other", "sixth", "seventh", "unrecorded"):
        gallery.add(name)
    (gallery.recordings / "unrecorded.ipynb").unlink()
    alone = gallery.build()
    expected = published(alone.out)
    for folder in ("out", "recipes"):
        shutil.rmtree(gallery.root / folder)
    shared = gallery.build(parallel=2)
    assert "recipes/adding" not in shared.read  # by this process
    assert shared.warnings == alone.warnings
    assert shared.warnings.count("no recording") == 1
    assert published(shared.out) == expected
    assert gallery.build(parallel=2).warnings == alone.warnings  # told in each build
    gallery.add("unrecorded")
    again = gallery.build(parallel=2)
    assert "no recording" not in again.warnings
    assert "the total is 3" in again.page("recipes/unrecorded")


def test_an_entry_of_the_first_page_that_is_renamed_is_so_on_all_pages(gallery: Gallery) -> None:
    """It stands at the top of each, and may have a title for that place alone."""
    index, faq = gallery.root / "index.rst", gallery.root / "faq.rst"
    faq.write_text("Questions\n=========\n")
    for title in ("Asked often", "Answers"):
        index.write_text(f"Site\n====\n\n.. toctree::\n\n   {title} <faq>\n   recipes/index\n")
        build = gallery.build(html_theme="pydata_sphinx_theme")
        assert title in build.page("recipes/index")
        assert title in build.page("faq")


def test_a_link_shows_the_new_title_of_a_section(gallery: Gallery) -> None:
    faq, serving = gallery.root / "faq.rst", gallery.root / "serving.rst"
    contents = ".. toctree::\n\n   faq\n   serving\n   recipes/index\n"
    (gallery.root / "index.rst").write_text(f"Site\n====\n\n{contents}")
    serving.write_text("Serving\n=======\n\nSee :ref:`results-differ`.\n")
    for title in ("Results differ", "Other bits"):
        faq.write_text(f"Questions\n=========\n\n.. _results-differ:\n\n{title}\n{'-' * 20}\n")
        build = gallery.build()
        assert f">{title}</span></a>" in build.page("serving")
    assert "serving" not in build.read
