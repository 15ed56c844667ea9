import re
import shutil

import pytest

from gallery import RECIPE, Gallery
from recipe_gallery.__main__ import main


def check(gallery: Gallery, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    folders = ["--root", str(gallery.root)]
    folders += ["--recordings-folder", str(gallery.recordings)]
    status = main(["check", *folders])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


@pytest.mark.usefixtures("_run_here")
def test_each_state_is_told(
    gallery: Gallery, recipe: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("current", "missing", "stale", "unusable"):
        gallery.write(name, recipe)
    assert gallery.record("current", "stale")
    gallery.write("stale", recipe.replace("1 + 2", "1 + 3"))
    (gallery.recordings / "unusable.ipynb").write_text("{")
    (gallery.recordings / "orphan.ipynb").write_text("{}")
    (gallery.recordings / "orphan.jsonl").touch()
    (gallery.recordings / "o.jsonl").touch()
    status, text = check(gallery, capsys)
    assert status == 1
    lines = text.splitlines()
    assert re.fullmatch(
        r"current   current   CPU: .+, \d{4}-\d\d-\d\d, commit unknown, \d+ s", lines[0]
    )
    assert lines[1] == "missing   missing"
    again = f"run: recipe-gallery record {{}} --root {gallery.root}"
    assert lines[2] == f"          {again.format('missing')}"
    assert lines[3].startswith("stale     stale     CPU: ")
    assert lines[4] == f"          changed code in cell 1 (line 22); {again.format('stale')}"
    assert lines[5] == "unusable  unusable"
    assert "not a whole notebook" in lines[6]
    assert lines[7] == "orphan    unusable"
    assert lines[8].endswith(
        "/orphan.ipynb: no recipe of this name; "
        "move it to where one is missing, restore what it is of, or remove the file"
    )
    assert "/o.jsonl: no recording of this name; move it to" in lines[10]
    assert lines[-1] == "1 of 6 recordings current"


def test_an_empty_folder_is_told(gallery: Gallery, capsys: pytest.CaptureFixture[str]) -> None:
    status, text = check(gallery, capsys)
    assert status == 1
    told = f"error: no recipes in {gallery.recipes}; "
    assert text == f"{told}compare sphinx_gallery_conf['examples_dirs'] in conf.py\n"


def test_other_machines_are_told_apart_from_parts_of_the_gallery(
    gallery: Gallery, capsys: pytest.CaptureFixture[str]
) -> None:
    gallery.add("adding")
    for folder in ("advanced", "h100"):
        (gallery.recordings / folder).mkdir()
        shutil.copy(gallery.recordings / "adding.ipynb", gallery.recordings / folder)
    status, text = check(gallery, capsys)
    assert (status, text.splitlines()[-1]) == (0, "3 of 3 recordings current")
    assert [line.split()[0] for line in text.splitlines()[:3]] == [
        "adding",
        "advanced/adding",
        "h100/adding",
    ]
    (gallery.recipes / "advanced").mkdir()
    (gallery.recipes / "advanced/README.rst").write_text("Advanced\n========\n")
    gallery.write("advanced/adding", RECIPE)
    status, text = check(gallery, capsys)
    assert status == 0  # what lies in advanced is now that of the recipe there, of the same code
    gallery.write("advanced/adding", RECIPE.replace("1 + 2", "1 + 3"))
    status, text = check(gallery, capsys)
    assert status == 1
    assert "advanced/adding  stale" in text
