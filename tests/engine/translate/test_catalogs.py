import contextlib
from pathlib import Path

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gallery import ROOT
from recipe_gallery.errors import GalleryError
from recipe_gallery.translate.catalogs import (
    is_wordless,
    locale_folders,
    measure,
    read_catalog,
    write_catalog,
)
from recipe_gallery.translate.merge import update_catalog


def template(*texts: str) -> polib.POFile:
    catalog = polib.POFile()
    catalog.metadata = {
        "Project-Id-Version": "a site ",
        "POT-Creation-Date": "2026-01-01 00:00+0000",
    }
    for line, text in enumerate(texts, start=10):
        catalog.append(polib.POEntry(msgid=text, occurrences=[("page.rst", str(line))]))
    return catalog


def translated(*texts: str) -> polib.POFile:
    catalog = update_catalog(None, template(*texts), language="ko")
    for entry in catalog:
        entry.msgstr = f"번역: {entry.msgid}"
    return catalog


def test_a_new_catalog_has_a_header_and_no_line_numbers() -> None:
    text = str(update_catalog(None, template("A sentence to translate."), language="ko"))
    assert '"Project-Id-Version: a site\\n"' in text
    assert '"Language: ko\\n"' in text
    assert '"Last-Translator: The a site authors\\n"' in text
    assert '"Language-Team: none\\n"' in text
    assert '"Content-Type: text/plain; charset=UTF-8\\n"' in text
    assert "POT-Creation-Date" not in text
    assert "#: page.rst\n" in text


def test_an_update_from_the_same_source_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "page.po"
    texts = ("One sentence.", "Another one, which is longer. " * 9)
    assert write_catalog(path, translated(*texts))
    before = path.read_bytes()
    again = update_catalog(read_catalog(path), template(*texts), language="ko")
    assert not write_catalog(path, again)
    assert path.read_bytes() == before


def test_lines_that_move_change_nothing() -> None:
    old = translated("One sentence.")
    moved = template("One sentence.")
    moved[0].occurrences = [("page.rst", "99")]
    assert str(update_catalog(old, moved, language="ko")) == str(old)


def test_a_changed_source_is_fuzzy_with_the_previous_text(tmp_path: Path) -> None:
    old = translated("The first call compiles the model.")
    new = update_catalog(old, template("The first call compiles the whole model."), language="ko")
    assert new[0].fuzzy
    assert new[0].previous_msgid == "The first call compiles the model."
    assert new[0].msgstr == "번역: The first call compiles the model."
    again = update_catalog(new, template("The first call compiles the whole model."), language="ko")
    assert str(again) == str(new)
    assert '#| msgid "The first call compiles the model."' in str(again)


def test_a_removed_message_is_kept_and_revived() -> None:
    old = translated("This one stays here.", "Something entirely different.")
    new = update_catalog(old, template("This one stays here."), language="ko")
    assert [entry.obsolete for entry in new] == [False, True]
    assert '#~ msgstr "번역: Something entirely different."' in str(new)
    back = update_catalog(
        new, template("This one stays here.", "Something entirely different."), language="ko"
    )
    assert [(entry.obsolete, entry.msgstr) for entry in back] == [
        (False, "번역: This one stays here."),
        (False, "번역: Something entirely different."),
    ]


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
    new = update_catalog(old, template("One sentence."), language="ko")
    assert [entry.msgstr for entry in new] == ["번역: One sentence."]


def test_comments_of_translators_and_their_header_stay() -> None:
    old = translated("One sentence.")
    old.metadata["Last-Translator"] = "홍길동 <hong@example.org>"
    old.metadata["X-Generator"] = "Poedit 3.5"
    old[0].tcomment = "check-po: allow numbers (a date)"
    new = update_catalog(old, template("One sentence.", "Another."), language="ko")
    assert new.metadata["Last-Translator"] == "홍길동 <hong@example.org>"
    assert new.metadata["X-Generator"] == "Poedit 3.5"
    assert new[0].tcomment == "check-po: allow numbers (a date)"


@pytest.mark.parametrize(
    ("text", "wordless"),
    [
        ("``default``", True),
        (":doc:`/faq`", True),
        ("2.11", True),
        ("\\sum_j x_j\n", True),
        ("\\text{bytes}", False),
        ("``default`` with ``dynamic=True``", False),
        (":doc:`the page </faq>`", False),
        ("Why", False),
    ],
)
def test_only_messages_without_words_need_no_translation(text: str, wordless: bool) -> None:
    assert is_wordless(text) == wordless
    catalog = update_catalog(None, template(text), language="ko")
    assert (catalog[0].msgstr == text) == wordless


def test_progress_counts_words() -> None:
    catalog = translated("One two three.", "Four five.", "Six.")
    catalog[1].msgstr = ""
    catalog[2].flags.append("fuzzy")
    progress = measure(catalog)
    assert (progress.words, progress.words_left, progress.percent) == (6, 3, 50)
    assert (progress.fuzzy, progress.words_fuzzy) == (1, 1)


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b'msgid ""\nmsgstr ""\n"charset=klingon\\n"\n', 3, "unknown charset 'klingon'"),
        (b'msgid ""\nmsgstr ""\n"charset=utf-8\\n"\n\xff', 4, "not utf-8, which the header names"),
        (b'msgid "a"\nmsgstr "\x00"\n', 2, "a zero byte"),
    ],
)
def test_a_file_in_no_known_encoding_is_told_with_its_line(
    tmp_path: Path, content: bytes, line: int, problem: str
) -> None:
    path = tmp_path / "page.po"
    path.write_bytes(content)
    with pytest.raises(GalleryError) as caught:
        read_catalog(path)
    assert str(caught.value) == f"{path}:{line}: {problem}; save the file as UTF-8"


def test_the_engines_labels_are_translated_in_its_own_repository_only(tmp_path: Path) -> None:
    own = ROOT / "recipe_gallery/translate/locale"
    assert locale_folders(ROOT, ROOT / "locale") == [ROOT / "locale", own]
    assert locale_folders(tmp_path, tmp_path / "locale") == [tmp_path / "locale"]


@given(st.binary(max_size=400))
def test_no_content_of_a_file_is_a_traceback(tmp_path_factory: object, content: bytes) -> None:
    path = tmp_path_factory.mktemp("catalog") / "page.po"  # type: ignore[attr-defined]
    path.write_bytes(content)
    with contextlib.suppress(GalleryError):
        read_catalog(path)


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
