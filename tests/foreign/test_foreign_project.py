"""Somebody's gallery, recorded, rendered and translated with five lines of conf.py."""

import re
import shutil
from pathlib import Path

import pytest

from sphinx_recorded_gallery.project import load_project
from tests.helpers.foreign_project import Stranger, make_project
from tests.helpers.gallery import ROOT
from tests.helpers.pseudo import make_pseudo_catalogs


def page(out: Path, name: str) -> str:
    return (out / f"auto_examples/{name}.html").read_text(encoding="utf-8")


@pytest.fixture
def stranger(tmp_path: Path) -> Stranger:
    """A project without examples."""
    return make_project(tmp_path)


@pytest.fixture(scope="module")
def recorded_once(tmp_path_factory: pytest.TempPathFactory) -> Stranger:
    """A project with two examples, of which one is in a sub-gallery, recorded."""
    project = make_project(tmp_path_factory.mktemp("stranger"))
    project.example("examples/plot_line.py")
    head = "Advanced\n--------\n\nFor later.\n"
    project.write("examples/advanced/GALLERY_HEADER.rst", head)
    project.example("examples/advanced/plot_deep.py", title="A line that is deeper", number=3)
    project.record()
    return project


@pytest.fixture
def recorded(recorded_once: Stranger, tmp_path: Path) -> Stranger:
    """A copy of that project for one test."""
    copy = tmp_path / "copy"
    shutil.copytree(recorded_once.root, copy)
    return Stranger(copy)


@pytest.fixture(scope="module")
def built(recorded_once: Stranger, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the project as it is, for tests that only read them."""
    copy = tmp_path_factory.mktemp("built") / "copy"
    shutil.copytree(recorded_once.root, copy)
    return Stranger(copy).sphinx("html", "-n")


def test_pages_show_what_was_recorded(built: Path) -> None:
    for name, number in (("plot_line", 2), ("advanced/plot_deep", 3)):
        html = page(built, name)
        assert f"sum {number}" in html
        assert len(re.findall(r"<img[^>]*sphx-glr-single-img", html)) == 1
        assert "Recorded on" in html
        assert "has not been recorded" not in html
    assert "plot_line.html" in page(built, "index")
    assert "advanced/plot_deep.html" in page(built, "index")


def test_all_words_of_a_page_can_be_translated(
    recorded: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    recorded.configure(
        'extensions += ["sphinx_recorded_gallery.translate"]\ngettext_compact = False\n'
    )
    made = recorded.docs / "_build"
    make_pseudo_catalogs(load_project(recorded.docs), made / "gettext", made / "locale")
    out = recorded.sphinx("html", "-D", "language=en_XA", "-D", "locale_dirs=_build/locale")
    for name in ("plot_line", "advanced/plot_deep"):
        html = page(out, name)
        assert "Þåŕţ" in html or "Ǫ" in html or "ļîñé" in html
        assert "Ŵĥý îţ îš šö šĥöŕţ." in html
        without_code = re.sub(r'<div class="highlight.*?</pre>', "", html, flags=re.DOTALL)
        text = re.sub(r"<[^>]+>", "", without_code)
        for english in ("A sentence about", "The line goes up", "Recorded on", "Download"):
            assert english not in text, english


def test_other_formats_are_made(recorded: Stranger) -> None:
    for builder in ("text", "man", "latex", "epub", "dirhtml"):
        # Sphinx wants to know these two of a book.
        out = recorded.sphinx(builder, "-j", "2", "-D", "copyright=me", "-D", "version=1")
        assert any(out.iterdir()), builder
    text = (recorded.docs / "_build/text/auto_examples/plot_line.txt").read_text()
    assert "sum 2" in text
    html = recorded.docs / "_build/dirhtml/auto_examples/plot_line/index.html"
    (address,) = re.findall(r'href="([^"]*plot_line\.ipynb)"', html.read_text(encoding="utf-8"))
    assert (html.parent / address).is_file()


def test_settings_of_other_extensions_do_not_clash(recorded: Stranger) -> None:
    recorded.write(
        "docs/mine.py",
        "def setup(app):\n    for name in NAMES:\n"
        "        app.add_config_value(name, '', 'env')\n\n"
        "NAMES = ['repository_url', 'languages', 'unused_assets']\n",
    )
    recorded.configure(
        'extensions += ["sphinx_sitemap", "mine"]\n'
        'site_url = html_baseurl = "https://library.example/"\n'
        "import sys\nsys.path.insert(0, '.')\n"
    )
    out = recorded.sphinx("html")
    assert "auto_examples/plot_line.html" in (out / "sitemap.xml").read_text()


def test_two_galleries_may_have_files_of_the_same_name(stranger: Stranger) -> None:
    stranger.write(
        "docs/conf.py",
        """\
        extensions = ["sphinx_recorded_gallery"]
        sphinx_gallery_conf = {
            "examples_dirs": ["../examples", "../tutorials/"],
            "gallery_dirs": ["auto_examples/", "learn"],
        }
        """,
    )
    stranger.write("docs/more.rst", ":orphan:\n\nMore\n====\n\n.. toctree::\n\n   learn/index\n")
    stranger.write("tutorials/GALLERY_HEADER.rst", "Tutorials\n=========\n\nLonger.\n")
    stranger.write("tutorials/two/GALLERY_HEADER.rst", "Two\n---\n\nLonger.\n")
    for number, folder in enumerate(("examples", "tutorials", "tutorials/two"), 1):
        stranger.example(f"{folder}/plot_a.py", number=number)
    stranger.record()
    out = stranger.sphinx("html")
    for number, folder in enumerate(("auto_examples", "learn", "learn/two"), 1):
        html = (out / folder / "plot_a.html").read_text(encoding="utf-8")
        assert f"sum {number}" in html
        notebook = (out / folder / "plot_a.ipynb").read_text(encoding="utf-8")
        assert f"sum {number}" in notebook
    told = stranger.command("check").stdout
    names = ["auto_examples/plot_a", "learn/plot_a", "learn/two/plot_a"]
    assert sorted(re.findall(r"^(\S+) +current", told, re.MULTILINE)) == names


def test_some_examples_can_be_left_out_by_the_patterns_of_sphinx_gallery(
    stranger: Stranger,
) -> None:
    stranger.configure('sphinx_gallery_conf["ignore_pattern"] = r"skip|__init__"\n')
    stranger.example("examples/plot_a.py")
    stranger.write("examples/skip_me.py", "raise SystemExit\n")
    assert "skip_me" not in stranger.record()
    out = stranger.sphinx("html")
    assert not (out / "auto_examples/skip_me.html").exists()
