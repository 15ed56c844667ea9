"""What translators are told beside checks: how far catalogs are, and the glossary."""

from pathlib import Path

import polib
import pytest

from gallery import Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.translate.glossary import load_glossary
from recipe_gallery.translate.translation_status import add_up, language_status


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    site.configure(recipe_gallery_repository_url="https://example.org/repo", gettext_compact=False)
    path = site.translate("index", {"Site": "사이트", "Two more words.": "", "Old.": "옛."})
    catalog = polib.pofile(str(path))
    catalog.header = "Labels of a site\n홍길동 <gildong@example.org>, 2026."
    catalog.metadata["Last-Translator"] = "김아무개 <kim@example.org>"
    catalog.find("Old.").flags.append("fuzzy")
    catalog.save()
    (site.root / "locale/glossary.csv").write_text("term,note\nkernel,of a GPU\nbatch,\n")
    (site.root / "locale/ko/glossary.csv").write_text(
        "term,translation\nkernel,커널|알맹이\nbatch,배치\n"
    )
    return site


def test_the_status_counts_words_and_names_translators(site: Gallery) -> None:
    (status,) = language_status(load_project(site.root), "ko")
    assert (status.words, status.words_left, status.words_fuzzy) == (5, 4, 1)
    assert status.translators == ("홍길동", "김아무개")
    assert add_up([status]).percent == 20


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
