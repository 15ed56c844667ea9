"""Templates of all messages, and what an update makes of them in a project's catalogs."""

from pathlib import Path

import pytest

from gallery import ROOT, Gallery
from recipe_gallery.project import load_project
from recipe_gallery.translate import pot


def test_labels_are_found_wherever_they_stand(tmp_path: Path) -> None:
    package = tmp_path / "labels"
    (package / "part").mkdir(parents=True)
    (package / "part" / "a.py").write_text('x = _("third")\n')
    (package / "z.py").write_text('x = f"{_("{") if a else b}"\n'.replace('"{"', "'first'"))
    (package / "zz.py").write_text('x = [_("se" "cond"), _(name), other_("no"), a._("no"), _()]\n')
    assert list(pot.find_labels(tmp_path, "labels")) == [
        ("first", "labels/z.py"),
        ("second", "labels/zz.py"),
        ("third", "labels/part/a.py"),
    ]


def test_templates_are_of_the_pages_that_there_are_and_of_all_labels(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    gallery.add()
    package = gallery.root / "labels"
    package.mkdir()
    (package / "__init__.py").write_text(
        '_ = str\na = _("%(n)s of %s"), _("100 %"), _("One label")\nb = _("One label")\n'
    )
    (package / "other.py").write_text('_ = str\na = _("One label")\n')
    gallery.configure(
        project="A site", recipe_gallery_label_packages=["labels"], gettext_compact=False
    )
    folder = gallery.root / "_build/gettext"
    folder.mkdir(parents=True)
    (folder / "gone.pot").write_text("")
    made = pot.make_pots(load_project(gallery.root), folder)
    assert {"index", "recipes/index", "recipes/adding", "recipe_gallery", "labels", "sphinx"} == (
        set(made)
    )
    assert made["index"].find("Site").occurrences == [("index.rst", "")]
    title = made["recipes/adding"].find("Adding numbers")
    assert title.occurrences == [("recipes_source/adding.py", "")]
    assert {entry.msgid: (entry.flags, entry.occurrences) for entry in made["labels"]} == {
        "%(n)s of %s": (["python-format"], [("labels/__init__.py", "")]),
        "100 %": ([], [("labels/__init__.py", "")]),
        "One label": ([], [("labels/__init__.py", ""), ("labels/other.py", "")]),
    }
    assert made["recipe_gallery"].find("Notebook").occurrences[0][0].startswith("recipe_gallery/")
    assert made["sphinx"].find("Search").occurrences == [("sphinx", "")]
