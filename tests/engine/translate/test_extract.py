"""Templates of all messages, and what an update makes of them in a project's catalogs."""

from pathlib import Path

import polib
import pseudo
import pytest

from gallery import ROOT, Gallery
from recipe_gallery.languages import Language
from recipe_gallery.project import Project, load_project
from recipe_gallery.translate import pot
from recipe_gallery.translate import update as updating
from recipe_gallery.translate.catalogs import read_catalog
from recipe_gallery.translate.update import update_catalogs

KOREAN = Language(code="ko", name="한국어")


def template(**messages: str) -> polib.POFile:
    """Return a template of messages, each with the file that it is from."""
    made = polib.POFile()
    made.metadata = {"Project-Id-Version": "a site"}
    for text, file in messages.items():
        made.append(polib.POEntry(msgid=text.replace("_", " "), occurrences=[(file, "")]))
    return made


@pytest.fixture
def templates(monkeypatch: pytest.MonkeyPatch) -> dict[str, polib.POFile]:
    """What is extracted, by name of the catalog, instead of what is in the pages."""
    made: dict[str, polib.POFile] = {"index": template(One="index.rst")}
    for module in (updating, pseudo):
        monkeypatch.setattr(module, "make_pots", lambda project, folder: made)
    return made


def update(project: Project, *languages: Language) -> dict[str, list[str]]:
    """Update the catalogs; return the messages of those that changed."""
    done, _told = update_catalogs(project, languages or [KOREAN], project.root / "templates")
    changed = [path for path in done if path.suffix == ".po"]
    return {
        path.relative_to(project.locale).as_posix(): [entry.msgid for entry in read_catalog(path)]
        for path in changed
    }


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


def test_each_language_gets_a_catalog_of_each_page_and_only_changes_are_told(
    gallery: Gallery, templates: dict[str, polib.POFile]
) -> None:
    project = load_project(gallery.root)
    templates["part/page"] = template(Two="part/page.rst")
    both = (KOREAN, Language(code="pt_BR", name="Português"))
    assert update(project, *both) == {
        "ko/LC_MESSAGES/index.po": ["One"],
        "ko/LC_MESSAGES/part/page.po": ["Two"],
        "pt_BR/LC_MESSAGES/index.po": ["One"],
        "pt_BR/LC_MESSAGES/part/page.po": ["Two"],
    }
    assert read_catalog(project.locale / "pt_BR/LC_MESSAGES/index.po").metadata["Language"] == (
        "pt_BR"
    )
    assert update(project, *both) == {}
    templates["index"] = template(One="index.rst", Three="index.rst")
    assert update(project) == {"ko/LC_MESSAGES/index.po": ["One", "Three"]}


def test_the_catalog_of_a_page_that_is_gone_keeps_its_translations(
    gallery: Gallery, templates: dict[str, polib.POFile]
) -> None:
    project = load_project(gallery.root)
    gallery.translate("index", {"One": "하나"})
    path = gallery.translate("gone", {"One": "일", "Old": "옛", "Two": ""})
    update(project)
    live = [(entry.msgid, entry.msgstr, entry.obsolete) for entry in read_catalog(path)]
    assert live == [("Old", "옛", 1), ("One", "일", 1)]
    assert update(project) == {}
    gallery.translate("gone", {"One": "하나", "Two": ""})  # which the other one has, too
    assert update(project) == {"ko/LC_MESSAGES/gone.po": []}


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
