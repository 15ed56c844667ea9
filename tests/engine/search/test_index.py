"""The index of the search: words, sections, files, synonyms; tests/site has what browsers find."""

from pathlib import Path

import pytest
from docutils.core import publish_doctree

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.search import synonyms
from sphinx_recorded_gallery.search.index import FILE_NAME, find_words, read_sections
from tests.helpers.gallery import Build, Gallery

PAGE = """
Title
=====

A lead with ``torch.compile``.

===== =====
one   two
===== =====
three four
===== =====

Inner
-----

Prose of it.

.. code:: python

   total = quokka

.. comment, not shown
"""


def texts(build: Build) -> str:
    return (build.out / FILE_NAME).read_text(encoding="utf-8")


def test_words_are_names_with_their_parts_and_pairs_of_characters() -> None:
    cases = {
        "Torch.Compile": {"torch.compile", "torch", "compile"},
        "state_dict": {"state_dict", "state", "dict", "statedict"},
        "torch._dynamo": {"torch._dynamo", "torch", "_dynamo", "dynamo"},
        "speed-up!": {"speed-up", "speed", "up", "speedup"},
        "fused=True,": {"fused=true", "fused", "true"},
        "100 % (fast)": {"100", "fast"},
        "컴파일을": {"컴파", "파일", "일을", "을"},
        "GPU의 值": {"gpu", "의", "值"},
        "ＧＰＵ": {"gpu"},
    }
    assert {text: set(find_words(text)) for text in cases} == cases


def test_a_page_is_read_in_sections_and_excerpts_are_prose() -> None:
    document = publish_doctree(PAGE, settings_overrides={"doctitle_xform": False})
    lead, inner = (each.make_entry() for each in read_sections(document, "a_name"))
    assert (lead.anchor, lead.title, lead.prose) == ("", "Title", "A lead with torch.compile.")
    assert {"title", "name"} <= {word for word, weight in lead.weights.items() if weight % 2}
    assert {"torch.compile", "three", "four"} <= lead.weights.keys()
    assert (inner.anchor, inner.title, inner.prose) == ("inner", "Inner", "Prose of it.")
    assert "quokka" in inner.weights
    assert "comment" not in inner.weights


@pytest.fixture
def searched(gallery: Gallery) -> Gallery:
    (gallery.root / "other.rst").write_text("Other\n=====\n\nA basalt here.\n")
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "   other\n")
    gallery.add_extension("sphinx_recorded_gallery.search")
    return gallery


def test_changed_pages_are_searched_anew_and_search_engines_leave_the_search_out(
    searched: Gallery,
) -> None:
    build = searched.build()
    assert "A basalt here." in texts(build)
    page = build.page("search")
    assert '<meta name="robots" content="noindex"/>' in page
    assert "noindex" not in build.page("other")
    assert not (build.out / "searchindex.js").exists()
    (searched.root / "other.rst").write_text("Other\n=====\n\nA garnet here.\n")
    build = searched.build()
    assert "garnet" in texts(build)
    assert "basalt" not in texts(build)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("word,other\n", ":1: the first line has to name the columns: language,searched,meant"),
        ("{}en,a,b,c\n", ":2: more cells than columns; quote a cell with commas"),
        ("{}en, ,b\n", ":2: no word that readers search; fill in the second column"),
        ("{}en,a,b\nen,c|A,d\n", ":3: 'A' is also in line 2; keep one of them"),
        ('{}en,"a,b\n', ": not a table in CSV and UTF-8: unexpected end of data"),
    ],
)
def test_a_table_of_synonyms_with_a_mistake_is_one_line(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / synonyms.FILE_NAME
    path.write_text(text.format("language,searched,meant\n"))
    with pytest.raises(GalleryError) as caught:
        synonyms.load_synonyms(tmp_path, ["en", "ko"], "en")
    assert told in str(caught.value)


def test_synonyms_are_those_of_a_language_and_of_its_glossary(tmp_path: Path) -> None:
    assert synonyms.load_synonyms(tmp_path, ["en"], "en") == {}
    (tmp_path / synonyms.FILE_NAME).write_text(
        "language,searched,meant\nen,card,GPU\nko,그래픽 카드|카드,GPU\nko,왜,\n"
        "ko,첫 실행,첫 호출|콜드 스타트\n"
    )
    (tmp_path / "glossary.csv").write_text("term,note\nkernel|kernels,\nEager,\n")
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko/glossary.csv").write_text("term,translation\nkernel,커널|커널들\nEager,eager\n")
    assert synonyms.load_synonyms(tmp_path, ["en", "ko"], "ko") == {
        "그래픽 카드": ["gpu"],
        "카드": ["gpu"],
        "왜": [],
        "첫 실행": ["첫 호출", "콜드 스타트"],
        "첫 호출": ["콜드 스타트"],
        "콜드 스타트": ["첫 호출"],
        "kernel": ["커널"],
        "kernels": ["커널"],
    }


def test_a_table_of_synonyms_with_a_mistake_is_a_warning_of_every_build(searched: Gallery) -> None:
    folder = searched.root / "locale"
    folder.mkdir()
    (folder / synonyms.FILE_NAME).write_text("language,searched,meant\nxx,rock,basalt\n")
    for _build in range(2):
        build = searched.build()
        assert build.warnings.count("synonyms.csv:2: 'xx' is not a language of this project") == 1
        assert "A basalt here." in texts(build)
