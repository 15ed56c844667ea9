import re
import shutil
from collections.abc import Callable

import pytest

from gallery import RECIPE, Gallery

Check = Callable[[], tuple[int, str]]


@pytest.mark.usefixtures("_run_here")
def test_each_state_is_told(gallery: Gallery, check: Check) -> None:
    gallery.configure(recorded_gallery_device="cpu")
    for name in ("current", "missing", "stale", "unusable"):
        gallery.write(name, RECIPE)
    assert gallery.record("current", "stale")
    gallery.write("stale", RECIPE.replace("1 + 2", "1 + 3"))
    (gallery.recordings / "unusable.ipynb").write_text("{")
    (gallery.recordings / "orphan.ipynb").write_text("{}")
    (gallery.recordings / "orphan.jsonl").touch()
    (gallery.recordings / "o.jsonl").touch()
    status, text = check()
    assert status == 1
    lines = text.splitlines()
    assert re.fullmatch(
        r"current   current   CPU: .+, \d{4}-\d\d-\d\d, commit unknown, \d+ s", lines[0]
    )
    assert lines[1] == "missing   missing"
    again = f"run: recorded-gallery record {{}} --root {gallery.root}"
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


def test_other_machines_are_told_apart_from_parts_of_the_gallery(
    gallery: Gallery, check: Check
) -> None:
    gallery.add("adding")
    for folder in ("advanced", "h100"):
        (gallery.recordings / folder).mkdir()
        shutil.copy(gallery.recordings / "adding.ipynb", gallery.recordings / folder)
    status, text = check()
    assert (status, text.splitlines()[-1]) == (0, "3 of 3 recordings current")
    assert [line.split()[0] for line in text.splitlines()[:3]] == [
        "adding",
        "advanced/adding",
        "h100/adding",
    ]
    (gallery.recipes / "advanced").mkdir()
    (gallery.recipes / "advanced/README.rst").write_text("Advanced\n========\n")
    gallery.write("advanced/adding", RECIPE)
    status, text = check()
    assert status == 0  # what lies in advanced is now that of the recipe there, of the same code
    gallery.write("advanced/adding", RECIPE.replace("1 + 2", "1 + 3"))
    status, text = check()
    assert status == 1
    assert "advanced/adding  stale" in text
