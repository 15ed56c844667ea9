"""What translators are told beside checks: how far catalogs are, and the glossary."""

from pathlib import Path

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.translate.glossary import load_glossary


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
    with pytest.raises(
        GalleryError, match=r"ko/glossary.csv:3: 'layer' is not a term of .*; add it"
    ):
        load_glossary(tmp_path)
