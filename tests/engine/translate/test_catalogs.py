from pathlib import Path

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe_gallery.errors import GalleryError
from recipe_gallery.project import load_project
from recipe_gallery.translate.catalogs import (
    find_catalogs,
    read_catalog,
)
from recipe_gallery.translate.update import (
    FUZZY,
    KEPT,
    NEW,
    REUSED,
    differ_in_marks_only,
    merge,
    remember,
)


def update_catalog(
    old: polib.POFile | None, template: polib.POFile, *, language: str
) -> polib.POFile:
    """Return a catalog with the messages of ``template`` and the translations of ``old``."""
    in_use = {entry.msgid for entry in template}
    return merge(old, template, remember(old or ()), in_use, language=language)[0]


def template(*texts: str) -> polib.POFile:
    catalog = polib.POFile()
    catalog.metadata = {
        "Project-Id-Version": "a site ",
        "POT-Creation-Date": "2026-01-01 00:00+0000",
    }
    for text in texts:
        catalog.append(polib.POEntry(msgid=text, occurrences=[("page.rst", "")]))
    return catalog


def translated(*texts: str) -> polib.POFile:
    catalog = update_catalog(None, template(*texts), language="ko")
    for entry in catalog:
        entry.msgstr = f"번역: {entry.msgid}"
    return catalog


def test_a_changed_source_is_fuzzy_with_the_previous_text(tmp_path: Path) -> None:
    old = translated("The first call compiles the model.")
    new = update_catalog(old, template("The first call compiles the whole model."), language="ko")
    assert new[0].fuzzy
    assert new[0].previous_msgid == "The first call compiles the model."
    assert new[0].msgstr == "번역: The first call compiles the model."
    again = update_catalog(new, template("The first call compiles the whole model."), language="ko")
    assert str(again) == str(new)
    assert '#| msgid "The first call compiles the model."' in str(again)


def test_a_text_that_changed_twice_keeps_the_one_its_translation_belongs_to() -> None:
    first, second, third = (f"The first call compiles {what}." for what in ("it", "all", "this"))
    twice = translated(first)
    for text in (second, third):
        twice = update_catalog(twice, template(text), language="ko")
    assert (twice[0].fuzzy, twice[0].previous_msgid) == (True, first)
    back = update_catalog(twice, template(first), language="ko")
    assert (back[0].fuzzy, back[0].msgstr) == (False, f"번역: {first}")
    assert not back[0].previous_msgid


def test_of_a_message_that_a_merge_doubled_the_translated_one_stays() -> None:
    old = translated("One sentence.")
    old.append(polib.POEntry(msgid="One sentence.", msgstr=""))
    old.append(polib.POEntry(msgid="One sentence.", msgstr="옛.", obsolete=True))
    new, outcomes = merge(old, template("One sentence."), remember(old), (), language="ko")
    assert [entry.msgstr for entry in new] == ["번역: One sentence."]
    assert outcomes == {}


def test_what_became_of_each_message_is_told() -> None:
    first, second = "The first text of all is here.", "The second text of all is there."
    old = translated("It compiles; then it runs.", "A call compiles it.")
    old[0].tcomment = "ask Kim"
    old.append(polib.POEntry(msgid=second, msgstr="첫", flags=["fuzzy"], previous_msgid=first))
    old += [polib.POEntry(msgid=text, msgstr="") for text in ("A call compiles this.", "Waits.")]
    moved = translated("Moved here.")
    moved[0].tcomment = "ask Lee"
    texts = ["It compiles. Then it runs.", first, "Moved here.", "New!"]
    new = template(*texts, "A call compiles this.", "Waits.")
    made, outcomes = merge(old, new, remember([*old, *moved]), (), language="ko")
    kinds = (KEPT, KEPT, REUSED, NEW)
    assert outcomes == {**dict(zip(texts, kinds, strict=True)), new[4].msgid: FUZZY}
    assert [entry.tcomment for entry in made[:3]] == ["ask Kim", "", "ask Lee"]


def test_only_messages_without_words_need_no_translation() -> None:
    without = ["``default``", ":doc:`/faq`", "2.11", "\\sum_j x_j\n"]
    words = ["\\text{bytes}", "``default`` with ``dynamic=True``", ":doc:`page </faq>`", "Why"]
    for text in [*without, *words]:
        (entry,) = update_catalog(None, template(text), language="ko")
        assert (entry.msgstr == text) == (text in without), text


@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=60), st.text(max_size=60)), max_size=6),
    st.lists(st.text(min_size=1, max_size=60), max_size=6),
)
def test_updating_twice_is_updating_once(old: list[tuple[str, str]], new: list[str]) -> None:
    catalog = template()
    for text, translation in dict(old).items():
        catalog.append(polib.POEntry(msgid=text, msgstr=translation))
    once = update_catalog(catalog, template(*dict.fromkeys(new)), language="ko")
    text = str(once)
    assert str(update_catalog(once, template(*dict.fromkeys(new)), language="ko")) == text


def test_locks_copies_and_folders_are_no_catalogs(tmp_path: Path) -> None:
    folder = tmp_path / "ko/LC_MESSAGES"
    (folder / "part/of.po").mkdir(parents=True)
    for name in ("b.po", "a.po", "part/c.po", ".#a.po", ".a.po", "a.mo", "a.po~"):
        (folder / name).touch()
    (tmp_path / "conf.py").write_text("locale_dirs = ['.']\n")
    project = load_project(tmp_path)
    assert [*find_catalogs(project, "ko")] == ["a", "b", "part/c"]
    assert find_catalogs(project, "ja") == {}


@pytest.mark.parametrize(
    ("content", "line", "told"),
    [
        ('msgid "a"\nmsgstr "b"\n\nnonsense\n', 4, "not a catalog from here on"),
        ('msgid "a"\n<<<<<<< HEAD\nmsgstr "b"\n', 2, "a conflict that git left here"),
        ('msgid "a"\nmsgstr b"\n', 2, "the text has to stand between two quotes"),
        ('msgid "a"\nmsgstr "b" c"\n', 2, "the text has to stand between two quotes"),
        ('msgid "a"\n\nmsgid "b"\nmsgstr "c"\n', 1, "no msgstr follows"),
        ('msgid "a"\nmsgstr "b"\n\nmsgid "c"\n', 4, "no msgstr follows"),
        ('msgid "a"\nmsgctxt "b"\nmsgstr "c"\n', 1, "no msgstr follows"),
        ('msgid "a"\nmsgstr "b"\nmsgstr "c"\n', 3, "a second msgstr"),
        ('msgid "a"\n=======\nmsgstr "b"\n', 2, "a conflict that git left here"),
    ],
)
def test_what_is_no_catalog_is_told_with_its_line(
    tmp_path: Path, content: str, line: int, told: str
) -> None:
    path = tmp_path / "page.po"
    path.write_text(content)
    with pytest.raises(GalleryError) as caught:
        read_catalog(path)
    assert str(caught.value).startswith(f"{path}:{line}: {told}; ")


def test_the_work_of_a_translator_is_kept_when_its_message_goes() -> None:
    old = translated("Something entirely different.")
    old[0].comment, old[0].tcomment, old[0].flags = "Title", "ask Kim", ["python-format"]
    old.append(polib.POEntry(msgid="1 2 3 4 5 6 7 8", msgstr=""))
    old.append(polib.POEntry(msgid="?? !! ?? !!", msgstr="", tcomment="why?"))
    new = update_catalog(old, template("One sentence."), language="ko")
    _new, commented, gone = new
    assert (gone.obsolete, gone.comment, gone.tcomment) == (True, "Title", "ask Kim")
    assert gone.flags == ["python-format"]
    assert (commented.obsolete, commented.msgid) == (True, "?? !! ?? !!")


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("It compiles; then it runs.", "It compiles. Then it runs.", True),
        ("First, it runs.", "First it runs.", True),
        ("It runs – once.", "It runs, once.", True),
        ("It runs.", "It runs", False),
        ("Use ``a, b`` now.", "Use ``a b`` now.", False),
        ("It takes 1.5 s.", "It takes 15 s.", False),
        ("It runs: fast.", "It runs fast.", False),
    ],
)
def test_a_text_with_other_marks_between_its_words_says_the_same(
    one: str, other: str, same: bool
) -> None:
    assert differ_in_marks_only(one, other) == differ_in_marks_only(other, one) == same


def test_a_tool_s_context_and_plural_forms_lose_no_translation() -> None:
    old = translated("One sentence.")
    old.append(polib.POEntry(msgid="Two.", msgctxt="page", msgstr="둘."))
    old.append(polib.POEntry(msgid="Three.", msgid_plural="Threes.", msgstr_plural={0: "셋."}))
    new = update_catalog(old, template("Two.", "Three."), language="ko")
    live = [(entry.msgid, entry.msgctxt, entry.msgstr) for entry in new if not entry.obsolete]
    assert live == [("Two.", None, "둘."), ("Three.", None, "셋.")]


def test_a_header_names_the_language_and_keeps_what_people_wrote() -> None:
    made = update_catalog(None, template("One."), language="ko").metadata
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
    kept = update_catalog(old, template("One."), language="ko")
    assert kept.header == "Somebody"
    assert list(kept.metadata) == [*made, "X-Own"]  # whatever order a tool left
    assert kept.metadata["Last-Translator"] == "홍길동 <hong@example.org>"
    assert kept.metadata["Content-Type"] == "text/plain; charset=UTF-8"
