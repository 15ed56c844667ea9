"""Which files are recordings, and what is said of others."""

import json
from pathlib import Path
from typing import Any

import pytest

from gallery import Gallery, write_recording
from recipe_gallery.errors import GalleryError
from recipe_gallery.recipes.recording import SCHEMA, read_recording


def write(gallery: Gallery, **facts: Any) -> Path:
    """Write a recording with other facts than it had."""
    gallery.add("deep", '"""\nDeep\n====\n"""\nx = 1\n')
    path = gallery.recordings / "deep.ipynb"
    notebook = json.loads(path.read_text())
    notebook["metadata"]["recording"] |= facts
    write_recording(path, json.dumps(notebook))
    return path


def test_a_recording_is_known_by_the_name_of_its_recipe_whatever_folder_it_is_in(
    gallery: Gallery,
) -> None:
    path = write(gallery, recipe="advanced/deep")
    assert read_recording(path).path == read_recording(path, "guides/deep").path == path
    with pytest.raises(GalleryError) as caught:
        read_recording(path.rename(path.with_name("other.ipynb")))
    assert str(caught.value).endswith(
        ": holds the recording of 'advanced/deep'; "
        "name it advanced/deep.ipynb or run: recipe-gallery record other --force"
    )


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"schema": 99}, f"recorded in format 99, this version reads {SCHEMA}"),
        ({"cells": []}, "cells are missing from this recording"),
        ({"recipe": None}, "not a recording made here"),
    ],
)
def test_what_is_no_recording_is_told(gallery: Gallery, facts: dict[str, Any], text: str) -> None:
    path = write(gallery, **facts)
    with pytest.raises(GalleryError) as caught:
        read_recording(path)
    assert (caught.value.text, caught.value.path) == (text, path)
    assert caught.value.remedy.endswith("run: recipe-gallery record deep --force")


def test_a_conflict_of_two_branches_is_told_with_the_way_out(gallery: Gallery) -> None:
    path = write(gallery)
    path.write_text(f"<<<<<<< HEAD\n{path.read_text()}\n=======\n{{}}\n>>>>>>> other\n")
    with pytest.raises(GalleryError, match="a conflict that git left here; keep that of one side"):
        read_recording(path)
