"""Builds that were interrupted or whose files were damaged, and what the next one makes of them."""

import os
import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from sphinx.builders.html import StandaloneHTMLBuilder

from sphinx_recorded_gallery.finished_builds import FILE_NAME
from sphinx_recorded_gallery.referenced_files import local_names
from tests.helpers.gallery import Gallery

# What Sphinx writes in each build, and its time or a hash of its settings
VOLATILE = {".buildinfo", "objects.inv", "searchindex.js"}


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    """A gallery with a recorded recipe that draws a figure and has an input."""
    gallery.add()
    return gallery


def files(folder: Path) -> dict[str, bytes]:
    paths = [path for path in folder.rglob("*") if path.is_file()]
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in paths
        if path.name not in VOLATILE
    }


@pytest.mark.parametrize("method", ["copy_image_files", "copy_static_files", "dump_inventory"])
def test_what_an_interrupted_build_did_not_finish_the_next_one_does(
    site: Gallery, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    def interrupt(_builder: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(StandaloneHTMLBuilder, method, interrupt)
        with pytest.raises(KeyboardInterrupt):
            site.build()
    build = site.build()
    assert build.warnings == ""
    assert (build.out / "_images/sphx_glr_adding_001.png").exists()


def test_cut_files_are_written_anew(site: Gallery) -> None:
    whole = files(site.build().out)
    for folder in ("out/html", "out/doctrees"):
        for path in (site.root / folder).rglob("*"):
            if path.is_file():
                os.truncate(path, path.stat().st_size // 2)
    build = site.build()
    assert build.warnings == ""
    assert files(build.out) == whole


@pytest.mark.parametrize(
    "name",
    [
        "html/recipes/adding.html",
        "html/recipes/adding.ipynb",
        "html/recipes/adding.py",
        "html/_images/sphx_glr_adding_001.png",
        "doctrees/recipes/adding.doctree",
        "doctrees/environment.pickle",
    ],
)
def test_one_file_that_was_cut_or_removed_is_made_again(site: Gallery, name: str) -> None:
    out = site.build().out
    whole = files(out)
    path = site.root / "out" / name
    os.truncate(path, 10)
    site.build()
    assert files(out) == whole
    path.unlink()
    site.build()
    assert files(out) == whole


def test_a_build_that_ended_is_not_repeated(site: Gallery) -> None:
    site.build()
    (site.root / "out/html/CNAME").write_text("of whoever publishes it")
    assert site.build().read == []
    # which shares the folder of doctrees
    assert site.build("text").read == []
    assert site.build().read == []


def test_a_build_with_an_error_has_not_ended(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.build()

    def fail(_builder: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(StandaloneHTMLBuilder, "copy_image_files", fail)
        with pytest.raises(OSError, match="No space"):
            site.build()
    assert "recipes/adding" in site.build().read


@pytest.mark.parametrize("text", ["", "[]", '{"outputs": 1}', '{"outputs": {"../html": {}}}'])
def test_damaged_notes_end_no_build(site: Gallery, text: str) -> None:
    site.build()
    (site.root / "out/doctrees" / FILE_NAME).write_text(text)
    assert "recipes/adding" in site.build().read
    assert site.build().read == []


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.path,)


@pytest.mark.parametrize("name", ["environment.pickle", "index.doctree"])
def test_a_build_folder_that_came_with_a_commit_runs_no_code(site: Gallery, name: str) -> None:
    site.build()
    path, proof = site.root / "out/doctrees" / name, site.root / "CODE_RAN"
    path.unlink()  # as git has it: the file is another, with the time of the checkout
    path.write_bytes(pickle.dumps(Touch(proof)))
    site.build()
    assert not proof.exists()


@pytest.mark.parametrize(
    "text",
    [
        '<a href="missing.zip">all files</a>',
        '<img src="_images/missing.png" alt="">',
        '<img srcset="missing.png 2x" alt="">',
        '<a href="recipes/missing.ipynb?raw#1">notebook</a>',
        '<object data="missing.pdf"></object>',
    ],
)
def test_a_page_that_names_a_file_which_is_not_there_is_told_in_each_build(
    site: Gallery, text: str
) -> None:
    index = site.root / "index.rst"
    index.write_text(f"{index.read_text()}\n.. raw:: html\n\n   {text}\n")
    for _time in range(2):
        warnings = site.build().warnings
        assert "index.rst: WARNING: refers to " in warnings
        assert "missing" in warnings


@pytest.mark.parametrize("setting", ["html_css_files", "html_js_files"])
def test_a_file_that_a_setting_names_and_that_is_missing_is_told_once(
    site: Gallery, setting: str
) -> None:
    warnings = site.build(**{setting: ["mine.css"]}).warnings
    told = f"WARNING: {setting} in conf.py names mine.css, which is missing; correct the name, or"
    assert warnings.count("mine.css") == 1
    assert told in warnings


def test_a_recipe_that_cannot_be_read_is_told_without_the_links_to_its_page(site: Gallery) -> None:
    index = site.root / "index.rst"
    link = (
        ':doc:`/recipes/adding`\n\n.. raw:: html\n\n   <a href="recipes/adding.html">adding</a>\n'
    )
    index.write_text(f"{index.read_text()}\n{link}")
    site.write("adding", '"""\nTitle\n=====\n"""\nx = = 1\n')
    warnings = site.build(nitpicky=True).warnings
    assert "adding.py:5: syntax error" in warnings
    assert "refers to" not in warnings
    assert "unknown document" not in warnings


def test_a_missing_picture_is_told_once_in_each_build(site: Gallery) -> None:
    path = site.recipes / "adding.py"
    path.write_text(path.read_text().replace("A remark.", "A remark.\n#\n# .. image:: nope.png"))
    for _time in range(2):
        warnings = site.build().warnings
        assert "adding.py:22: WARNING: image file not readable: recipes/nope.png" in warnings
        assert "refers to" not in warnings


def test_what_lies_elsewhere_is_no_file_of_the_site() -> None:
    html = """
    <a href="https://example.org/a">a</a> <a href="//example.org/a">b</a> <a href="#c">c</a>
    <a href="/root">d</a> <a href="mailto:a@b.c">e</a> <a href="../../ko/index.html">f</a>
    <a href="http://[">g</a> <img src="data:image/png;base64,aaaa">
    <script>"<a href='in a script'>"</script>
    <a href="../other%20page.html#part">h</a> <a href="./">i</a>
    """
    assert local_names("recipes/page.html", html) == ["other page.html", "recipes"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "first"),
    [
        (signal.SIGTERM, ""),
        (signal.SIGINT, ""),
        (signal.SIGINT, "signal.signal(signal.SIGTERM, signal.SIG_IGN); "),  # as if it were lost
    ],
)
def test_the_builds_of_a_command_end_with_it(site: Gallery, number: int, first: str) -> None:
    site.set_languages("ko")
    conf = site.root / "conf.py"
    sleep = f"if 'run_sphinx' in sys.argv[0]:\n    {first}time.sleep(300)\n"
    conf.write_text(f"{conf.read_text()}\nimport signal, sys, time\n{sleep}")
    command = [sys.executable, "-m", "sphinx_recorded_gallery", "html", "--root", str(site.root)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    started: list[psutil.Process] = []
    deadline = time.monotonic() + 60
    while len(started) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
        started = psutil.Process(process.pid).children()
    if first:
        time.sleep(5)  # until the builds have read conf.py
    process.send_signal(number)
    _output, told = process.communicate(timeout=30)
    assert process.returncode == 130
    assert told == "interrupted; what was finished is kept\n"
    assert len(started) == 2
    assert not any(child.is_running() for child in started)
