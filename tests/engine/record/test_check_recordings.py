import re
import shutil
import sys
from collections.abc import Callable
from types import ModuleType

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.gallery import load_recipes
from tests.helpers.gallery import RECIPE, Gallery

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
        "/orphan.ipynb: no example of this name; if its example was renamed, rename this file, "
        "too, and record the example again; else restore the example, or remove the file"
    )
    assert "/o.jsonl: no recording of this name; rename it" in lines[10]
    assert lines[-1] == "1 of 6 recordings current"


def test_the_remedies_for_a_renamed_recipe_lead_to_a_current_recording(
    gallery: Gallery, check: Check
) -> None:
    gallery.add("adding")
    (gallery.recipes / "adding.py").rename(gallery.recipes / "summing.py")
    told = check()[1]
    assert "if its example was renamed, rename this file, too, and record the example" in told
    (gallery.recordings / "adding.ipynb").rename(gallery.recordings / "summing.ipynb")
    told = check()[1]
    command = "recorded-gallery record summing --force"
    assert f"holds the recording of 'adding'; if the example was renamed, run: {command} " in told
    assert gallery.record("summing", force=True)
    assert check()[0] == 0


def test_a_gallery_without_measurements_is_checked_as_well(gallery: Gallery, check: Check) -> None:
    gallery.configure(extensions=["sphinx_recorded_gallery"])
    gallery.add("adding")
    assert check()[0] == 0


def test_what_a_site_asks_of_its_texts_is_told(
    gallery: Gallery, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("own_checks")
    module.find = lambda root: [GalleryError("it guesses", path=root / "index.rst", line=3)]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_checks", module)
    gallery.configure(recorded_gallery_text_checks="own_checks:find")
    gallery.add("adding")
    status, text = check()
    assert status == 1
    first, second = text.splitlines()[-2:]
    assert first.endswith("index.rst:3: it guesses")
    assert second == "1 text to correct"


def test_a_recipe_that_cannot_be_read_is_told_once(
    gallery: Gallery, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("own_checks")
    module.find = lambda root: list(load_recipes(root / "recipes_source"))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_checks", module)
    gallery.configure(recorded_gallery_text_checks="own_checks:find")
    gallery.write("adding", '"""\nTitle\n=====\n"""\nx = = 1\n')
    status, text = check()
    assert status == 1
    assert text.count("adding.py:5: syntax error") == 1


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
