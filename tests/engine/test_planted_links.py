"""Links, pipes and devices in a pull request: no command reads or writes through one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from sphinx_recorded_gallery.__main__ import main
from sphinx_recorded_gallery.atomic_files import atomic_write, unfinished_path, write_synced
from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.planted_links import refuse_links
from tests.helpers.gallery import Gallery

CATALOGS = "locale/ko/LC_MESSAGES"
PRECIOUS = "echo my own settings\n"


@pytest.fixture
def site(gallery: Gallery, tmp_path_factory: pytest.TempPathFactory) -> Gallery:
    """A gallery with a language, and a file of its builder's beside it."""
    gallery.write("tiny", '"""\nTiny\n====\n\nText.\n"""\n\nprint(1)\n')
    gallery.set_languages("ko")
    gallery.configure(recorded_gallery_device="cpu")
    gallery.translate("index", {"Site": "사이트"})
    gallery.translate("sphinx", {"Search": "검색"})
    return gallery


@pytest.fixture
def victim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that no command has any business with."""
    path = tmp_path_factory.mktemp("home") / "profile"
    path.write_text(PRECIOUS)
    return path


def test_commands_look_into_all_folders_of_catalogs(
    site: Gallery, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.configure(locale_dirs=["locale", "more"])
    plant(site, "more/ko/LC_MESSAGES/index.po", victim)
    assert run(site, "check") == 1
    assert "more/ko/LC_MESSAGES/index.po: is a link; remove it" in capsys.readouterr().err


def test_a_folder_of_mini_galleries_is_no_link(
    site: Gallery, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery = {"examples_dirs": "recipes_source", "gallery_dirs": "recipes"}
    site.configure(sphinx_gallery_conf=gallery | {"backreferences_dir": "backreferences"})
    plant(site, "backreferences", victim.parent)
    for command in ("check", "html"):
        assert run(site, command) == 1
        assert "backreferences: is a link; " in capsys.readouterr().err


def test_the_text_above_a_gallery_is_no_file_of_another_folder(
    site: Gallery, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = site.recipes / "GALLERY_HEADER.rst"
    text = header.rename(site.recipes / "text.rst")
    plant(site, "recipes_source/GALLERY_HEADER.rst", victim)
    for command in ("check", "html"):
        assert run(site, command) == 1
        assert "GALLERY_HEADER.rst: is a link; put the file itself" in capsys.readouterr().err
    header.unlink()
    header.symlink_to(text)
    plant(site, "recipes_source/README.md", victim)  # no page shows it
    run(site, "check")
    assert "is a link" not in capsys.readouterr().err


@pytest.mark.parametrize("setting", ["html_static_path", "html_extra_path", "templates_path"])
def test_what_a_build_copies_is_no_link(
    site: Gallery, victim: Path, setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.configure(**{setting: ["_files"]})
    plant(site, "_files/profile.txt", victim)
    for command in ("check", "html"):
        assert run(site, command) == 1
        assert "_files/profile.txt: is a link; remove it" in capsys.readouterr().err


def test_files_beside_conf_py_are_no_links_where_pages_lie_elsewhere(
    site: Gallery, victim: Path, tmp_path: Path
) -> None:
    site.configure(html_static_path=["_files"])
    conf = tmp_path / "conf"
    conf.mkdir()
    (site.root / "conf.py").rename(conf / "conf.py")
    plant(site, conf / "_files/profile.txt", victim)
    with docutils_namespace(), pytest.raises(GalleryError, match=r"_files/profile\.txt: is a link"):
        Sphinx(site.root, conf, tmp_path / "out", tmp_path / "doctrees", "html", status=None)


def plant(site: Gallery, name: str | Path, target: Path) -> None:
    """Put a link into the gallery, in the place of whatever is there."""
    path = site.root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    path.symlink_to(target)


def run(site: Gallery, *arguments: str) -> int:
    return main([*arguments, "--root", str(site.root)])


@pytest.mark.parametrize(
    "name",
    [
        f"{CATALOGS}/sphinx.mo",
        f"{CATALOGS}/sphinx.po",
        f"{CATALOGS}/sphinx.js",
        f"{CATALOGS}/index.po",
        f"{CATALOGS}/.index.po.new",
        "locale/ko/glossary.csv",
        "locale/templates",
        "locale/zh_CN",
        "recordings",
        "recordings/tiny.ipynb",
        "recordings/tiny.jsonl",
        "recordings/.tiny.ipynb.new",
        "recordings/.lock",
        "recordings/machine",
        "recipes",
        "recipes/tiny.rst",
        "recipes/.made",
        "recipes/images/sphx_glr_tiny_001.png",
        "languages.toml",
    ],
)
@pytest.mark.parametrize("command", ["html", "check", "check-po", "update-po", "record"])
def test_no_command_goes_on_where_a_link_is_planted(
    site: Gallery, victim: Path, name: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(site, name, victim)
    assert run(site, command) == 1
    told = capsys.readouterr().err
    assert f"{name}: is a link; " in told
    assert len(told.splitlines()) == 1
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize("name", ["_build", "_build/html", "_build/html/en", "_build/html/a.html"])
def test_html_builds_into_no_link(site: Gallery, victim: Path, name: str) -> None:
    plant(site, name, victim.parent)
    assert run(site, "html", "en", "--build", str(site.root / "_build")) == 1
    assert [*victim.parent.iterdir()] == [victim]


def test_live_builds_into_no_link(
    site: Gallery, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(site, "_build/live/html/ko/index.html", victim)
    assert run(site, "live", "ko", "--build", str(site.root / "_build/live")) == 1
    assert "index.html: is a link" in capsys.readouterr().err


def test_templates_are_written_through_no_link(
    site: Gallery, victim: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plant(site, "_build/gettext/index.pot", victim)
    assert run(site, "update-po", "--templates", str(site.root / "_build/gettext")) == 1
    assert "index.pot: is a link" in capsys.readouterr().err
    assert victim.read_text() == PRECIOUS


@pytest.mark.parametrize(
    ("name", "builder"), [("out/html/index.html", "html"), ("out/doctrees/index.doctree", "text")]
)
def test_sphinx_build_writes_through_no_link(
    site: Gallery, victim: Path, name: str, builder: str
) -> None:
    plant(site, name, victim)
    with pytest.raises(GalleryError, match="is a link"):
        site.build(builder)
    assert victim.read_text() == PRECIOUS


def test_a_pipe_in_the_place_of_a_catalog_keeps_no_build_waiting(site: Gallery) -> None:
    path = site.root / CATALOGS / "sphinx.po"
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(GalleryError, match=r"sphinx\.po: is neither a file nor a folder"):
        refuse_links(site.root, site.root / "locale")


@pytest.mark.slow
def test_sphinx_compiles_no_catalog_by_itself(site: Gallery) -> None:
    assert run(site, "html", "ko", "--build", str(site.root / "_build")) == 0
    assert not [*site.root.rglob("locale/**/*.mo")]
    assert "사이트" in (site.root / "_build/html/ko/index.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_what_lies_beside_a_catalog_is_not_published(site: Gallery) -> None:
    (site.root / CATALOGS / "sphinx.js").write_text("alert('of a translator')")
    assert run(site, "html", "ko", "--build", str(site.root / "_build")) == 0
    texts = [path.read_bytes() for path in (site.root / "_build/html").rglob("*.*")]
    assert not any(b"of a translator" in text for text in texts)


@pytest.mark.slow
def test_locale_dirs_of_the_command_line_hold_the_catalogs(site: Gallery) -> None:
    (site.root / "locale").rename(site.root / "words")
    command = ["html", "ko", "--root", str(site.root), "--build", str(site.root / "_build")]
    assert main([*command, "--", "-D", "locale_dirs=words"]) == 0
    assert "사이트" in (site.root / "_build/html/ko/index.html").read_text(encoding="utf-8")


def test_the_link_that_emacs_makes_while_it_edits_is_let_be(site: Gallery) -> None:
    (site.root / CATALOGS / ".#index.po").symlink_to("user@host.123:456")
    refuse_links(site.root, site.root / "locale")


def test_a_folder_outside_that_is_named_may_be_a_link(site: Gallery, victim: Path) -> None:
    outside = victim.parent / "build"
    outside.symlink_to(site.root / "recipes_source")
    refuse_links(site.root, outside)


def test_links_beside_recordings_that_lie_in_the_project_folder_are_let_be(
    site: Gallery, victim: Path
) -> None:
    plant(site, "notes/elsewhere", victim)
    refuse_links(site.root, site.root)
    linked = victim.parent / "project"
    linked.symlink_to(site.root)
    refuse_links(linked, linked, linked / "locale")


def test_a_folder_of_catalogs_beside_the_project_is_no_link(site: Gallery, victim: Path) -> None:
    root = site.root / "recipes_source"  # the folder of conf.py of another project
    plant(site, "words", victim.parent)
    with pytest.raises(GalleryError, match="words: is a link; name the folder"):
        refuse_links(root, root / "../words")


def test_writing_follows_no_link(tmp_path: Path, victim: Path) -> None:
    path = tmp_path / "index.po"
    unfinished_path(path).symlink_to(victim)
    with pytest.raises(OSError, match=r"\.index\.po\.new is in the way \(it is a link\)"):
        atomic_write(path, b"new")
    unfinished_path(path).unlink()
    path.symlink_to(victim)
    with pytest.raises(OSError, match="it is a link"):
        atomic_write(path, b"new")
    assert victim.read_text() == PRECIOUS


def test_what_a_killed_process_left_is_written_anew(tmp_path: Path) -> None:
    path = tmp_path / "index.po"
    unfinished_path(path).write_text("half")
    atomic_write(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert not unfinished_path(path).exists()


def test_a_file_that_cannot_be_finished_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="No space"):
        write_synced(tmp_path / "file", b"data")
    assert [*tmp_path.iterdir()] == []


def test_a_build_does_not_print_the_environment_of_its_builder(site: Gallery) -> None:
    plant(site, f"{CATALOGS}/sphinx.po", Path("/proc/self/environ"))
    command = [sys.executable, "-m", "sphinx_recorded_gallery", "html", "ko"]
    done = subprocess.run(
        [*command, "--root", str(site.root)],
        capture_output=True,
        text=True,
        env={**os.environ, "MY_TOKEN": "secret-of-the-builder"},
    )
    assert "secret-of-the-builder" not in done.stdout + done.stderr
    assert done.stderr.startswith("error: ")
