"""The index of the search: words, sections, files, synonyms; tests/site has what browsers find."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from docutils import nodes
from docutils.core import publish_doctree
from sphinx.application import Sphinx

from gallery import Build, Gallery
from recipe_gallery.errors import GalleryError
from recipe_gallery.languages import Language
from recipe_gallery.search import parts, synonyms
from recipe_gallery.search.page_text import read_sections
from recipe_gallery.search.words import find_words

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


def read_part(path: Path) -> Any:
    """Return what a file of the index holds."""
    text = path.read_text(encoding="utf-8")
    found = re.fullmatch(r'recipeGallerySearch\("(.*?)", (.*)\);\n', text, re.DOTALL)
    assert found
    assert found[1] == path.name
    return json.loads(found[2])


def texts(build: Build) -> str:
    folder = build.out / parts.FOLDER
    return "".join(path.read_text(encoding="utf-8") for path in folder.glob("texts-*"))


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
    lead, inner = (each.as_data() for each in read_sections(document, "a_name"))
    assert lead[:3] == ["", "Title", "A lead with torch.compile."]
    assert {"title", "name"} <= set(lead[3])
    assert {"torch.compile", "three", "four"} <= lead[4].keys()
    assert inner[:3] == ["inner", "Inner", "Prose of it."]
    assert "quokka" in inner[4]
    assert "comment" not in inner[4]


def test_a_term_of_a_glossary_is_a_place_of_its_own() -> None:
    document = publish_doctree("Title\n=====\n\ngranite\n   A hard stone.\n")
    document.next_node(nodes.term)["ids"] = ["term-granite"]  # as Sphinx's glossary does
    _page, term = (each.as_data() for each in read_sections(document))
    assert term[:4] == ["term-granite", "granite", "A hard stone.", ["granite"]]


def test_an_index_is_cut_into_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART", 20)
    names = ["basalt", "cobalt", "dolomite", "emerald"]
    pages = [
        [["", name, f"{name}.", [name], {name: 3, "stone": 1}], ["s", "", "", [], {}]]
        for name in names
    ]
    blocks = [parts.gather(pages[:3]), parts.gather(pages[3:])]
    synonyms = {"rock": ["stone"]}
    assert set(parts.write_parts(tmp_path, names, blocks, synonyms)) == {*names, "stone"}
    assert parts.write_parts(tmp_path / "whole", names, [parts.gather(pages)], synonyms)
    parted, whole = (
        {path.name: path.read_bytes() for path in Path(folder, parts.FOLDER).iterdir()}
        for folder in (tmp_path, tmp_path / "whole")
    )
    assert parted == whole
    index = read_part(tmp_path / parts.FOLDER / "index.js")
    assert index["starts"] == [0, 2, 4, 6, 8]
    assert index["synonyms"] == {"rock": ["stone"]}
    assert len(index["terms"]) > 1
    found = {}
    for first, name in index["terms"]:
        terms, lists = read_part(tmp_path / parts.FOLDER / name)
        assert terms[0] == first
        found |= dict(zip(terms, lists, strict=True))
    assert found["stone"] == [0, 2, 2, 2, 2, 2, 2, 2]
    assert found["cobalt"] == [2, 7]  # three times in the third section, and in its title
    before = {path.name for path in (tmp_path / parts.FOLDER).iterdir()}
    parts.write_parts(tmp_path, names[:1], [parts.gather(pages[:1])], {})
    after = {path.name for path in (tmp_path / parts.FOLDER).iterdir()}
    assert len(after) < len(before)  # what is no longer needed is gone


@pytest.fixture
def searched(gallery: Gallery) -> Gallery:
    (gallery.root / "alone.rst").write_text(":orphan:\n\nAlone\n=====\n")
    (gallery.root / "other.rst").write_text("Other\n=====\n\nA basalt here.\n")
    (gallery.root / "index.rst").write_text(
        "Site\n====\n\n.. toctree::\n\n   recipes/index\n   other\n"
    )
    gallery.configure(recipe_gallery_search=True)
    return gallery


def test_changed_pages_are_searched_anew_and_search_engines_leave_the_search_out(
    searched: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    build = searched.build()
    assert "A basalt here." in texts(build)
    page = build.page("search")
    assert '<meta name="robots" content="noindex"/>' in page
    assert "noindex" not in build.page("other")
    assert not (build.out / "searchindex.js").exists()
    (searched.root / "other.rst").write_text("Other\n=====\n\nA garnet here.\n")
    assert "basalt" in texts(searched.build(recipe_gallery_keep_search_index=True))
    (searched.root / "other.rst").touch()
    build = searched.build()
    assert "garnet" in texts(build)
    assert "basalt" not in texts(build)
    # A build of some pages, from nothing, knows only those.
    Path(build.out.parent / "doctrees/search/alone.json").unlink()
    (searched.root / "other.rst").write_text("Other\n=====\n\nA topaz here.\n")
    run, only = Sphinx.build, [str(searched.root / "other.rst")]
    monkeypatch.setattr(Sphinx, "build", lambda app: run(app, filenames=only))
    assert "garnet" in texts(searched.build())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("word,other\n", ":1: the first line has to name the columns; language,searched,meant"),
        ("{}en,a\n", ":2: 2 cells; write language,searched,meant"),
        ("{}xx,a,b\n", ":2: 'xx' is no language of this project; use one of en, ko"),
        ("{}en, ,b\n", ":2: no word that readers search; fill in the second column"),
        ("{}en,a,b\nen,c|A,d\n", ":3: 'A' stands in line 2, too; keep one of them"),
        ('{}en,"a,b\n', ": not a table in CSV and UTF-8: unexpected end of data"),
    ],
)
def test_a_table_of_synonyms_with_a_mistake_is_one_line(
    tmp_path: Path, text: str, told: str
) -> None:
    path = tmp_path / synonyms.FILE_NAME
    path.write_text(text.format("language,searched,meant\n"))
    with pytest.raises(GalleryError) as caught:
        synonyms.load_synonyms(tmp_path, ["en", "ko"])
    assert told in str(caught.value)


def test_synonyms_are_those_of_a_language_and_of_its_glossary(tmp_path: Path) -> None:
    assert synonyms.load_synonyms(tmp_path, ["en"]) == []
    (tmp_path / synonyms.FILE_NAME).write_text(
        "language,searched,meant\nen,card,GPU\nko,그래픽 카드|카드,GPU\nko,왜,\n"
    )
    (tmp_path / "glossary.csv").write_text(
        "term,ko,note\nkernel|kernels,커널|커널들,\nEager,eager,\n"
    )
    rows = synonyms.load_synonyms(tmp_path, ["en", "ko"])
    korean = Language(code="ko", name="한국어")
    assert synonyms.add_glossary(rows, tmp_path, korean) == {
        "그래픽 카드": ["gpu"],
        "카드": ["gpu"],
        "왜": [],
        "kernel": ["커널"],
        "kernels": ["커널"],
    }
    lost = [str(each) for each in synonyms.find_lost(rows, {"gp"}, tmp_path)]
    assert [line.rpartition("synonyms.csv")[2] for line in lost] == [
        ":2: 'GPU' stands on no page in en; name what the pages call it",
        ":3: 'GPU' stands on no page in ko; name what the pages call it",
    ]
    words = {"커널", "메모", "모리"}
    dense = synonyms.Synonym(language="ko", searched=("메모",), meant=("메모리", "커널"))
    assert list(synonyms.find_lost([dense], words, tmp_path)) == []


def test_a_synonym_that_leads_nowhere_is_a_warning_of_the_build(searched: Gallery) -> None:
    folder = searched.root / "locale"
    folder.mkdir()
    (folder / synonyms.FILE_NAME).write_text("language,searched,meant\nen,rock,granite|basalt\n")
    warnings = searched.build().warnings
    assert warnings.count("synonyms.csv:2: 'granite' stands on no page in en") == 1
    assert "basalt" not in warnings
