"""Where recordings are written: whole or not at all, and nothing that took minutes is lost."""

import errno
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.validator import NotebookValidationError

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.record import storage

RECIPE = '"""\nTitle\n=====\n"""\nprint(1)\n'


def fail_to_write(where: Callable[[Path], bool]) -> Callable[[Path, bytes], None]:
    """Return a writer for a disk that is full where ``where`` says so."""

    def write(path: Path, data: bytes) -> None:
        if where(path):
            path.write_bytes(data[:10])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        path.write_bytes(data)

    return write


@pytest.mark.usefixtures("_run_here")
def test_a_full_disk_keeps_the_old_recording_and_the_new_one_elsewhere(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery.write("one", RECIPE)
    gallery.write("two", RECIPE)
    assert gallery.record()
    path = gallery.recordings / "one.ipynb"
    before = path.read_bytes()
    gallery.write("one", RECIPE.replace("1", "2"))
    full = fail_to_write(lambda each: each.name == ".one.ipynb.new")
    monkeypatch.setattr(storage, "require_place", lambda path: None)
    monkeypatch.setattr(storage.files, "write_through", full)
    assert not gallery.record(force=True)
    assert path.read_bytes() == before
    (line,) = {line for line in gallery.messages.splitlines() if "No space left" in line}
    start = f"error: {path}: cannot be written: No space left on device; the recording is kept: "
    assert line.startswith(f"{start}make room, then move ")
    assert line.endswith(f" to {path}")
    assert "two: recorded in " in gallery.messages
    kept = Path(line.split()[-3])
    kept.rename(path)
    assert gallery.recording("one").notebook.cells[0].outputs[0].text == "2\n"
    assert [each.name for each in gallery.recordings.iterdir() if each.name.endswith("new")] == []


def test_where_there_is_no_room_at_all_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(folder))
    monkeypatch.setattr(storage.files, "write_through", fail_to_write(lambda path: True))
    with pytest.raises(GalleryError) as caught:
        storage.write_whole(nbformat.v4.new_notebook(), tmp_path / "a.ipynb")
    assert caught.value.remedy == "make room and record again; there was none for it elsewhere"
    assert list(tmp_path.rglob("*")) == [folder]


def test_a_recording_is_written_whole_where_it_belongs(tmp_path: Path) -> None:
    path = tmp_path / "recordings" / "machine" / "a.ipynb"
    for source in ("1", "2"):
        cell = nbformat.v4.new_code_cell(source)
        storage.write_whole(nbformat.v4.new_notebook(cells=[cell]), path)
        assert path.read_bytes().endswith(b"}\n")
        assert nbformat.read(path, as_version=4).cells[0].source == source
        assert [each.name for each in path.parent.iterdir()] == ["a.ipynb"]
    broken = nbformat.v4.new_notebook(cells=[cell])
    broken.cells[0].cell_type = "none"
    with pytest.raises(NotebookValidationError):
        storage.write_whole(broken, path)
    assert nbformat.read(path, as_version=4).cells[0].source == "2"


@pytest.mark.usefixtures("_run_here")
def test_one_recording_that_cannot_be_written_does_not_run_and_leaves_the_others(
    gallery: Gallery,
) -> None:
    long = "a" * 245
    gallery.write(long, RECIPE)
    gallery.write("taken", RECIPE)
    gallery.write("fine", RECIPE)
    (gallery.recordings / "taken.ipynb").mkdir(parents=True)
    assert not gallery.record(replace_gpu=True)
    assert f"{long}.ipynb: cannot" not in gallery.messages
    assert f"error: {gallery.recordings}: cannot be written: File name too long" in gallery.messages
    taken = gallery.recordings / "taken.ipynb"
    assert f"error: {taken}: cannot be written: a folder is in its place" in gallery.messages
    assert "fine: recorded in " in gallery.messages
    assert "taken (" not in gallery.messages


def test_what_a_killed_run_left_is_removed(gallery: Gallery) -> None:
    gallery.add("adding")
    left = gallery.recordings / ".adding.ipynb.new"
    left.touch()
    # of a recorder for another machine, which may be writing just now
    other = gallery.recordings / "machine" / ".adding.ipynb.new"
    other.parent.mkdir()
    other.touch()
    assert gallery.record()
    assert not left.exists()
    assert other.exists()
