"""What a page is made from: the recipe, its recording, or the reason why there is none."""

import os
from pathlib import Path

import nbformat
import pytest

from gallery import Gallery, write_recording
from recipe_gallery import recorded_page
from recipe_gallery.recipes.gallery import GalleryFile
from recipe_gallery.recorded_page import (
    Reason,
    RecordedPage,
    Unrecorded,
    load_recorded,
)


def load(site: Gallery) -> RecordedPage | Unrecorded:
    path = site.recipes / "adding.py"
    file = GalleryFile(path=path, gallery=site.recipes, docname="recipes/adding", name="adding")
    return load_recorded(file, site.recordings)


def test_a_recording_is_parsed_once_until_it_changes(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []
    parse = recorded_page.read_recording
    monkeypatch.setattr(
        recorded_page,
        "read_recording",
        lambda path, *names, trusted: (read.append(path), parse(path, *names, trusted=trusted))[1],
    )
    first = load(site)
    assert isinstance(first, RecordedPage)
    assert load(site).recording is first.recording
    assert len(read) == 1
    path = site.recordings / "adding.ipynb"
    write_recording(path, path.read_text().replace("the total is 3", "the total was 3"))
    assert "the total was 3" in str(load(site).recording.notebook)
    os.utime(path, ns=(1, 1))  # another file of the same length
    load(site)
    assert len(read) == 3


def test_a_missing_recording_is_told_apart_from_a_damaged_one(site: Gallery) -> None:
    path = site.recordings / "adding.ipynb"
    path.write_bytes(path.read_bytes()[:200])
    damaged = load(site)
    assert isinstance(damaged, Unrecorded)
    assert (damaged.reason, damaged.recipe.name) == (Reason.DAMAGED, "adding")
    path.unlink()
    missing = load(site)
    assert isinstance(missing, Unrecorded)
    assert (missing.reason, missing.recipe.name) == (Reason.MISSING, "adding")
    assert "no recording" in str(missing.error)


@pytest.mark.parametrize("mistake", ["x = = 1", "# sphinx_gallery_inputs = ['absent.csv']\nx = 1"])
def test_a_mistake_of_the_recipe_is_not_blamed_on_its_recording(
    site: Gallery, mistake: str
) -> None:
    site.write("adding", f'"""\nTitle\n=====\n\nText.\n"""\n{mistake}\n')
    broken = load(site)
    assert isinstance(broken, Unrecorded)
    assert (broken.reason, broken.recipe) == (Reason.BROKEN, None)


def test_a_changed_recipe_is_compared_anew(site: Gallery, recipe: str) -> None:
    assert load(site).comparison.is_current
    site.write("adding", recipe.replace("1 + 2", "5 + 2"))
    assert [cell.number for cell in load(site).comparison.changed] == [1]


def test_a_whole_build_parses_a_recording_once(
    site: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed: list[str] = []
    parse = nbformat.v4.reads_json
    monkeypatch.setattr(
        nbformat.v4, "reads_json", lambda text: (parsed.append(text), parse(text))[1]
    )
    assert site.build().warnings == ""
    assert len(parsed) == 1


@pytest.mark.parametrize("trusted", [True, False])
def test_html_is_as_the_author_made_it_where_recordings_are_trusted(
    site: Gallery, trusted: bool
) -> None:
    html = '<b style="color: red" onclick="x()">fitted</b><script>draw()</script>'
    path = site.recordings / "adding.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].outputs[0].data["text/html"] = html
    write_recording(path, nbformat.writes(notebook))
    site.configure(recipe_gallery_trust_outputs=None if trusted else False)
    build = site.build()
    downloaded = nbformat.read(build.out / "recipes/adding.ipynb", as_version=4)
    assert (html in build.page("recipes/adding")) == trusted
    assert (html in str(downloaded)) == trusted
    assert "<b>fitted</b>" in build.page("recipes/adding") or trusted
