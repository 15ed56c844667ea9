"""What an update makes of the catalogs of a language: nothing that somebody wrote is lost."""

from pathlib import Path

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.project import load_project
from sphinx_recorded_gallery.translate import update_po
from sphinx_recorded_gallery.translate.catalogs import read_catalog
from sphinx_recorded_gallery.translate.pot import shipped_translations
from sphinx_recorded_gallery.translate.update_po import (
    describe_update,
    plan_update,
    update_catalogs,
)
from tests.helpers.gallery import ENGINE

Catalogs = dict[str, polib.POFile]
PAGE = [
    "A title",
    "The first call compiles the function.",
    "Later calls run what the first one made.",
    "A last remark about nothing in particular.",
]
OTHER = ["Another title", "Whoever has a question asks it."]


def update(catalogs: Catalogs, **pages: list[str]) -> tuple[Catalogs, list[str]]:
    """Update catalogs to the texts of pages; return them, and what is told of them."""
    templates = {}
    for name, texts in pages.items():
        templates[name] = polib.POFile()
        templates[name].metadata = {"Project-Id-Version": "a site "}
        templates[name].extend(polib.POEntry(msgid=text) for text in texts)
    made, outcomes = plan_update(catalogs, templates, language="ko")
    return made, describe_update(outcomes)


def translated(**pages: list[str]) -> Catalogs:
    """Return catalogs of pages that are translated."""
    made, _told = update({}, **pages)
    for entry in (entry for catalog in made.values() for entry in catalog):
        entry.msgstr = entry.msgstr or f"번역: {entry.msgid}"
    return made


def left(catalogs: Catalogs) -> list[str]:
    every = [entry for catalog in catalogs.values() for entry in catalog]
    return [entry.msgid for entry in every if not entry.obsolete and not entry.translated()]


@pytest.fixture
def catalogs() -> Catalogs:
    return translated(page=PAGE, other=OTHER)


def test_a_changed_text_is_fuzzy_with_the_one_its_translation_belongs_to() -> None:
    first, second, third = (f"The first call compiles {what}." for what in ("it", "all", "this"))
    made, _ = update(translated(page=[first]), page=[second])
    assert f'#| msgid "{first}"' in str(made["page"])
    again, _ = update(made, page=[second])
    assert str(again["page"]) == str(made["page"])
    made, _ = update(made, page=[third])
    (entry,) = made["page"]
    assert (entry.fuzzy, entry.previous_msgid, entry.msgstr) == (True, first, f"번역: {first}")
    back, _ = update(made, page=[first])
    (entry,) = back["page"]
    assert (entry.fuzzy, entry.previous_msgid, entry.msgstr) == (False, None, f"번역: {first}")


def test_of_a_message_that_a_merge_doubled_the_translated_one_stays() -> None:
    old = translated(page=["One sentence."])
    old["page"].append(polib.POEntry(msgid="One sentence.", msgstr=""))
    old["page"].append(polib.POEntry(msgid="One sentence.", msgstr="옛.", obsolete=True))
    made, told = update(old, page=["One sentence."])
    assert [entry.msgstr for entry in made["page"]] == ["번역: One sentence."]
    assert told == []


def test_what_became_of_messages_is_told() -> None:
    first, second = "The first text of all is here.", "The second text of all is there."
    old = translated(page=["It compiles; then it runs.", "A call compiles it."], gone=["Moved."])
    old["page"][0].tcomment, old["gone"][0].tcomment = "ask Kim", "ask Lee"
    fuzzy = polib.POEntry(msgid=second, msgstr="첫", flags=["fuzzy"], previous_msgid=first)
    old["page"] += [fuzzy, polib.POEntry(msgid="Waits.", msgstr="")]
    texts = [
        "It compiles. Then it runs.",
        "Moved.",
        first,
        "A call compiles this.",
        "New!",
        "Waits.",
    ]
    made, told = update(old, page=texts)
    assert told == [
        "page: 1 taken from other catalogs, 2 kept, since only punctuation changed, "
        "1 to revise (fuzzy), 1 new; 5 words to translate"
    ]
    assert [entry.tcomment for entry in made["page"][:3]] == ["ask Kim", "ask Lee", ""]


def test_only_messages_without_words_need_no_translation() -> None:
    without = ["``default``", ":doc:`/faq`", "2.11", "\\sum_j x_j\n"]
    words = ["\\text{bytes}", "``default`` with ``dynamic=True``", ":doc:`page </faq>`", "Why"]
    made, _ = update({}, page=[*without, *words])
    assert left(made) == words
    again, told = update(made, page=[*without, *words, "``default``, or see it"])
    assert told == ["page: 1 new; 4 words to translate"]
    assert not [entry for entry in again["page"] if entry.fuzzy]  # it is offered to nobody


TEXTS = st.text(min_size=1, max_size=60)


@given(st.dictionaries(TEXTS, st.text(max_size=60), max_size=6), st.sets(TEXTS, max_size=6))
def test_updating_twice_is_updating_once(old: dict[str, str], new: set[str]) -> None:
    catalog = polib.POFile()
    catalog.extend(polib.POEntry(msgid=text, msgstr=said) for text, said in old.items())
    once, _ = update({"page": catalog}, page=sorted(new))
    text = str(once["page"])
    assert str(update(once, page=sorted(new))[0]["page"]) == text


def test_the_work_of_a_translator_is_kept_when_its_message_goes() -> None:
    old = translated(page=["Something entirely different.", "1 2 3 4 5 6 7 8", "Empty."])
    entry, commented, empty = old["page"]
    entry.comment, entry.tcomment, entry.flags = "Title", "ask Kim", ["python-format"]
    commented.msgstr, commented.tcomment, empty.msgstr = "", "why?", ""
    made, _ = update(old, page=["One sentence."])
    _new, commented, gone = made["page"]
    assert (gone.obsolete, gone.comment, gone.tcomment) == (True, "Title", "ask Kim")
    assert gone.flags == ["python-format"]
    assert (commented.obsolete, commented.msgid) == (True, "1 2 3 4 5 6 7 8")
    assert '#~ msgstr "번역: Something entirely different."' in str(made["page"])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It compiles; then it runs.", "It compiles. Then it runs.", True),
        ("First, it runs.", "First it runs.", True),
        ("Then all of it runs – once.", "Then all of it runs, once.", True),
        ("It runs here.", "It runs here", False),
        ("Use ``a, b`` for it now.", "Use ``a b`` for it now.", False),
        ("It takes 1.5 s.", "It takes 15 s.", False),
        ("It all runs: fast.", "It all runs fast.", False),
    ],
)
def test_a_text_with_other_marks_between_its_words_says_the_same(
    one: str, other: str, same: bool
) -> None:
    assert (left(update(translated(page=[one]), page=[other])[0]) == []) == same


def test_a_tool_s_context_and_plural_forms_lose_no_translation() -> None:
    old = translated(page=["One."])
    old["page"].append(polib.POEntry(msgid="Two.", msgctxt="page", msgstr="둘."))
    plural = polib.POEntry(msgid="Three.", msgid_plural="Threes.", msgstr_plural={0: "셋."})
    old["page"].append(plural)
    made, _ = update(old, page=["Two.", "Three."])
    live = [(entry.msgid, entry.msgctxt, entry.msgstr) for entry in made["page"][:2]]
    assert live == [("Two.", None, "둘."), ("Three.", None, "셋.")]


def test_a_header_names_the_language_and_keeps_what_people_wrote() -> None:
    made = update({}, page=["One."])[0]["page"].metadata
    assert (made["Language"], made["Project-Id-Version"]) == ("ko", "a site")
    old = polib.POFile()
    old.header = "Somebody"
    old.metadata = {
        "X-Own": " kept ",
        "Last-Translator": "홍길동 <hong@example.org>",
        "X-Generator": "Poedit 3.5",
        "Plural-Forms": "nplurals=1; plural=0;",
        "POT-Creation-Date": "2026-01-01",
        "Content-Type": "text/plain; charset=EUC-KR",
    }
    kept = update({"page": old}, page=["One."])[0]["page"]
    assert kept.header == "Somebody"
    assert list(kept.metadata) == [*made, "X-Own"]  # whatever order a tool left
    assert kept.metadata["Last-Translator"] == "홍길동 <hong@example.org>"
    assert kept.metadata["Content-Type"] == "text/plain; charset=UTF-8"


def test_a_renamed_page_costs_no_word(catalogs: Catalogs) -> None:
    made, told = update(catalogs, fresh=[*PAGE[:3], "A last remark about it all."], other=OTHER)
    assert left(made) == ["A last remark about it all."]
    assert made["fresh"][3].previous_msgid == PAGE[3]
    assert told == ["fresh: 3 taken from other catalogs, 1 to revise (fuzzy); 6 words to translate"]


def test_the_catalog_of_a_page_that_is_gone_keeps_its_translations(catalogs: Catalogs) -> None:
    made, _ = update(catalogs, page=PAGE)
    assert [(e.msgid, e.obsolete) for e in made["other"]] == [(text, 1) for text in sorted(OTHER)]
    made, _ = update(made, page=[*PAGE, *OTHER])  # which has them now
    assert (left(made), [*made["other"]]) == ([], [])


def test_a_paragraph_that_moved_costs_no_word(catalogs: Catalogs) -> None:
    after = {"page": [PAGE[0], *PAGE[2:]], "other": [*OTHER, PAGE[1]]}
    made, told = update(catalogs, **after)
    assert left(made) == []
    assert made["other"][-1].msgstr == f"번역: {PAGE[1]}"
    assert not [entry for each in made.values() for entry in each if entry.obsolete]
    assert told == ["other: 1 taken from other catalogs"]
    again, told = update(made, **after)
    assert (told, [*map(str, again.values())]) == ([], [*map(str, made.values())])


def test_what_a_person_doubts_stays_doubted(catalogs: Catalogs) -> None:
    catalogs["page"][0].flags = ["fuzzy"]
    both = {"page": PAGE, "other": [*OTHER, PAGE[0]]}
    made, _ = update(catalogs, **both)
    assert made["page"][0].fuzzy
    assert left(made) == [PAGE[0]] * 2
    catalogs["other"].append(polib.POEntry(msgid=PAGE[0], msgstr="번역"))
    assert left(update(catalogs, **both)[0]) == [PAGE[0]]


def test_labels_that_others_have_translated_are_filled_in(tmp_path: Path) -> None:
    (tmp_path / "conf.py").write_text(f"extensions = {[*ENGINE]}\n")
    korean = Language(code="ko", name="한국어")
    shipped = shipped_translations(load_project(tmp_path), korean)
    known = {entry.msgid: entry.msgstr for entry in shipped}
    assert known["Notebook"] == "노트북"  # the engine's
    pots = {"sphinx": polib.POFile()}
    pots["sphinx"].extend(polib.POEntry(msgid=text) for text in ("Search", "Only here"))
    made, _ = plan_update({}, pots, language="ko", shipped=shipped)
    assert [entry.msgstr for entry in made["sphinx"]] == [known["Search"], ""]
    made["sphinx"][0].msgstr = "찾아보기"  # somebody has a better word
    again, _ = plan_update(made, pots, language="ko", shipped=shipped)
    assert again["sphinx"][0].msgstr == "찾아보기"


def test_labels_that_check_po_would_refuse_are_left_to_translators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "conf.py").write_text(f"extensions = {[*ENGINE]}\nlocale_dirs = ['locale']\n")
    labels = {"Search": "찾기\u00a0", "Index": "색인", "Use JavaScript": "자바스크립트 사용"}
    shipped = [polib.POEntry(msgid=text, msgstr=label) for text, label in labels.items()]
    monkeypatch.setattr(update_po, "shipped_translations", lambda _project, _language: shipped)
    pots = {"sphinx": polib.POFile()}
    pots["sphinx"].extend(polib.POEntry(msgid=text) for text in labels)
    monkeypatch.setattr(update_po, "make_pots", lambda _project, _folder: pots)
    korean = Language(code="ko", name="한국어")
    update_catalogs(load_project(tmp_path), [korean], tmp_path / "gettext")
    catalog = read_catalog(tmp_path / "locale/ko/LC_MESSAGES/sphinx.po")
    assert [entry.msgstr for entry in catalog] == ["", "색인", ""]


def test_a_label_that_pages_translate_differently_is_for_a_person_to_choose() -> None:
    old = translated(one=["compiled"], two=["compiled"], three=["eager"])
    old["one"][0].msgstr, old["two"][0].msgstr = "컴파일", "컴파일된 스텝"
    pages = {"one": ["compiled"], "two": ["compiled"], "three": ["eager"]}
    made, told = update(old, **pages, four=["compiled", "eager"])
    compiled, eager = made["four"]
    assert (compiled.fuzzy, compiled.msgstr in ("컴파일", "컴파일된 스텝")) == (True, True)
    assert (eager.fuzzy, eager.msgstr) == (False, "번역: eager")
    assert told == ["four: 1 taken from other catalogs, 1 to revise (fuzzy); 1 words to translate"]
    again, told = update(made, **pages, four=["compiled", "eager"])
    assert told == []
    assert again["four"][0].fuzzy
