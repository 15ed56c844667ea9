from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.translate.catalogs import find_catalogs, read_catalog
from tests.helpers.gallery import ENGINE


def test_locks_copies_and_folders_are_no_catalogs(tmp_path: Path) -> None:
    folder = tmp_path / "ko/LC_MESSAGES"
    (folder / "part/of.po").mkdir(parents=True)
    for name in ("b.po", "a.po", "part/c.po", ".#a.po", ".a.po", "a.mo", "a.po~"):
        (folder / name).touch()
    (tmp_path / "conf.py").write_text(f"extensions = {[*ENGINE]}\nlocale_dirs = ['.']\n")
    project = load_project(tmp_path)
    assert [*find_catalogs(project, "ko")] == ["a", "b", "part/c"]
    assert find_catalogs(project, "ja") == {}


def test_a_device_is_told_and_not_read(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    path.symlink_to("/dev/null")  # another would be read without end
    with pytest.raises(GalleryError, match=r"page\.po: cannot be read: it is no file"):
        read_catalog(path)


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        ('msgid "a"\nmsgstr "b"\n\nnonsense\n', 4, "not a catalog from here on"),
        ('msgid "a"\n<<<<<<< HEAD\nmsgstr "b"\n', 2, "a conflict that git left here"),
        ('msgid "a"\nmsgstr b"\n', 2, "the text has to stand between two quotes"),
        ('msgid "a"\nmsgstr "b" c"\n', 2, "the text has to stand between two quotes"),
        ('msgid "a"\n\nmsgid "b"\nmsgstr "c"\n', 1, "no msgstr follows"),
        ('msgid "a"\nmsgstr "b"\n\nmsgid "c"\n', 4, "no msgstr follows"),
        ('msgid "a"\nmsgctxt "b"\nmsgstr "c"\n', 1, "no msgstr follows"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', 3, "a second msgstr"),
        ('msgid "a"\n=======\nmsgstr "b"\n', 2, "a conflict that git left here"),
    ],
)
def test_what_is_no_catalog_is_told_with_its_line(
    tmp_path: Path, content: str, line: int, told: str
) -> None:
    path = tmp_path / "page.po"
    path.write_text(content)
    with pytest.raises(GalleryError) as caught:
        read_catalog(path)
    assert str(caught.value).startswith(f"{path}:{line}: {told}; ")
