"""What translators and maintainers are told: status, glossary files, impact."""

import subprocess
from datetime import date
from pathlib import Path

import polib
import pytest

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import Project, load_project
from recipe_gallery.translate.glossary import load_glossary
from recipe_gallery.translate.impact import find_impact, format_impact
from recipe_gallery.translate.status import Status, add_up, language_status


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    site.configure(recipe_gallery_repository_url="https://example.org/repo", gettext_compact=False)
    path = site.translate("index", {"Site": "사이트", "Two more words.": "", "Old.": "옛."})
    catalog = polib.pofile(str(path))
    catalog.header = "Labels of a site\n홍길동 <gildong@example.org>, 2026."
    catalog.metadata["Last-Translator"] = "김아무개 <kim@example.org>"
    catalog.metadata["PO-Revision-Date"] = "2026-11-20 10:00+0900"
    catalog.find("Old.").flags.append("fuzzy")
    catalog.save()
    (site.root / "locale/glossary.csv").write_text("term,note\nkernel,of a GPU\nbatch,\n")
    (site.root / "locale/ko/glossary.csv").write_text(
        "term,translation\nkernel,커널|알맹이\nbatch,배치\n"
    )
    return site


def project(site: Gallery) -> Project:
    return load_project(site.root)


def measured(site: Gallery) -> list[Status]:
    return language_status(project(site), "ko")


def test_the_status_counts_words_and_names_translators(site: Gallery) -> None:
    (status,) = measured(site)
    assert status.fuzzy == 1
    assert (status.words, status.words_left) == (5, 4)
    assert status.revised == date(2026, 11, 20)
    assert status.translators == ("홍길동", "김아무개")
    assert add_up([status]).percent == 20


def test_an_edited_text_is_a_change_and_a_moved_one_costs_nothing() -> None:
    before = {"page": ["Stays.", "The first call compiles.", "Goes away entirely.", "Moves."]}
    after = {"page": ["Stays.", "The first call compiles it.", "Quite new."], "new": ["Moves."]}
    lines = format_impact(before, after).splitlines()
    assert lines[2:] == [
        "| `page` | 1 | 1 | 1 | 7 |",
        "",
        "7 words to translate in each language.",
        "",
        "- page: 'The first call compiles it.', was 'The first call compiles.'",
    ]
    marks = format_impact({"page": ["It runs; fast."]}, {"page": ["It runs, fast."]})
    assert marks == "No message that translators see has changed."


def test_the_impact_is_that_on_the_templates_of_a_commit(tmp_path: Path) -> None:
    root = tmp_path / "repository/docs"
    path = root / "locale/templates/page.pot"
    path.parent.mkdir(parents=True)
    (root / "conf.py").write_text('locale_dirs = ["locale"]\n')
    path.write_text('msgid "The first call compiles."\nmsgstr ""\n')
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "before"]):
        subprocess.run(["git", *identity, *command], cwd=root.parent, check=True)
    path.write_text('msgid "The first call compiles it."\nmsgstr ""\n')
    assert "| `page` | 0 | 1 | 0 | 5 |" in find_impact(load_project(root), "main")
    with pytest.raises(GalleryError, match=r"no commit 'nowhere' here .*; name a commit"):
        find_impact(load_project(root), "nowhere")


def test_terms_are_found_as_whole_words_the_longest_first(tmp_path: Path) -> None:
    (tmp_path / "glossary.csv").write_text(
        "term,note\ngraph,\ngraph break| break of a graph ,\nclass,\nonly English,none\n"
        "PyTorch|Torch,name\n"
    )
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko/glossary.csv").write_text(
        "term,translation\ngraph,그래프\ngraph break,그래프 단절|단절\nclass,클래스\n"
    )
    glossary = load_glossary(tmp_path)
    assert glossary.names == {"PyTorch", "Torch"}
    in_korean = [term.translation("ko") for term in glossary.terms]
    assert in_korean == ["그래프", "그래프 단절", "클래스", "", "PyTorch"]
    for source, translation, missing in (
        ("Graphs and a break of a graph", "", ["graph", "graph break"]),
        ("the classes, a Class", "", ["class"]),
        ("subgraph, my-graph, a.graph, graph-like, graphic, only English", "", []),
        ("A graph break", "그래프단절", []),
        ("A graph break", "단 절", []),
    ):
        found = glossary.missing("ko", source, translation)
        assert [term for term, _expected in found] == missing, source
    assert glossary.missing("ko", "A graph break", "") == [("graph break", "그래프 단절")]


def test_a_language_translates_terms_that_there_are(tmp_path: Path) -> None:
    (tmp_path / "glossary.csv").write_text("term,note\nkernel,\n")
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko/glossary.csv").write_text("term,translation\nkernel,커널\nlayer,계층\n")
    with pytest.raises(GalleryError, match=r"ko/glossary.csv:3: 'layer' is no term of .*; add it"):
        load_glossary(tmp_path)
