"""What becomes of translated comments: they stand in the code, and summaries on folded cells."""

from types import SimpleNamespace

import pytest
from docutils import nodes
from docutils.frontend import get_default_settings
from docutils.parsers.rst import Parser
from docutils.utils import new_document

from recipe_gallery.cell_marks import DATA_CLASS, OUTPUT_CLASS, folded_cell
from recipe_gallery.languages import Language
from recipe_gallery.translate import transforms
from recipe_gallery.translate.catalogs import Kind
from recipe_gallery.translate.transforms import (
    code_comment,
    fold_summary,
    mark_untranslated,
    prepare_translation,
    write_comments,
)


def page() -> nodes.document:
    settings = get_default_settings(Parser)
    settings.env = SimpleNamespace(config=None)
    return new_document("page", settings)


def code_of(text: str, **marks: object) -> nodes.literal_block:
    return nodes.literal_block(text, text, language="python", **marks)


def test_the_summary_of_a_folded_cell_is_translated_or_english_and_marked_so() -> None:
    document = page()
    for translation, classes in (("도구", []), ("", ["language-en"])):
        folded = folded_cell("Helpers")
        summary = fold_summary("", "", original="Helpers", classes=classes)
        if translation:
            summary.apply_translated_message("Helpers", translation)
        folded += [summary, code_of("x = 1", recipe_cell=1, recipe_line=1)]
        document += folded
    write_comments(document.settings.env, document)
    shown = [(each["summary"], each["summary_classes"]) for each in document.children]
    assert shown == [("도구", []), ("Helpers", ["language-en"])]
    assert [len(each) for each in document.children] == [1, 1]


def test_comments_are_translated_in_code_of_texts_and_of_cells() -> None:
    document = page()
    code = "# Why.\nx = 1  # Here.\n"
    for comment, translation in (("Why.", "이유."), ("Here.", "")):
        helper = code_comment("", "", original=comment)
        assert helper.extract_original_messages() == [comment]
        if translation:
            helper.apply_translated_message(comment, translation)
        document += helper
    document += [code_of(code), code_of(code, recipe_cell=1), code_of("no Python at all # Why.")]
    write_comments(document.settings.env, document)
    changed = code.replace("Why.", "이유.")
    assert [each.astext() for each in document.children] == [
        changed,
        changed,
        "no Python at all # Why.",
    ]
    assert document[0].rawsource == changed


def test_what_is_not_translated_is_marked_and_told_on_top(monkeypatch: pytest.MonkeyPatch) -> None:
    document = page()
    korean = Language(code="ko", name="한국어", glue=True)
    languages = {"en": Language(code="en", name="English"), "ko": korean}
    config = SimpleNamespace(language="ko", recipe_gallery_languages=languages)
    settings, settings.env = document.settings, SimpleNamespace(config=config, docname="page")
    settings.raw_enabled, settings.file_insertion_enabled = True, False
    title, text = nodes.title("Head", "Head"), nodes.paragraph("Three words here.", "")
    text += nodes.Text("Three words here.")
    shown = [nodes.container(classes=[kind]) for kind in (DATA_CLASS, OUTPUT_CLASS, "other")]
    document += [title, text, code_comment("", "", original="Why."), *shown]
    for node in document.children:
        node.source, node.line = "page.rst", 1
    found: dict[str, object] = {}
    monkeypatch.setattr(transforms, "_", str)
    monkeypatch.setattr(transforms, "watch", lambda *_watched: None)
    monkeypatch.setattr(
        transforms, "keep_fit", lambda _env, name, kinds: found.update({name: kinds})
    )
    monkeypatch.setattr(
        transforms, "page_translations", lambda *_page: {"Head": "제목", "Why.": "왜"}
    )
    monkeypatch.setattr(transforms, "catalog_path", lambda _env, name: name)
    monkeypatch.setattr(transforms, "edit_address", lambda _env, name: f"https://a.example/{name}")
    monkeypatch.setattr(transforms, "tell_differences", lambda _env, *all_of: None)
    prepare_translation(settings.env, document)
    prose, comment = {Kind.PROSE}, {Kind.COMMENT}
    assert found == {"page": {"Head": prose, "Three words here.": prose, "Why.": comment}}
    assert settings.character_level_inline_markup is True
    assert (settings.raw_enabled, settings.file_insertion_enabled) == (False, False)
    mark_untranslated(settings.env, document)
    assert settings.character_level_inline_markup is False
    assert (settings.raw_enabled, settings.file_insertion_enabled) == (True, False)
    note = document[1]
    assert (type(note), note["classes"]) == (nodes.note, ["translation-note"])
    assert note.astext() == (
        "40% of this page is translated; the rest is in English. Help translating"
    )
    assert note[0][-1]["refuri"] == "https://a.example/page"
    assert (title["classes"], text["classes"]) == ([], ["language-en"])
    assert [each["classes"][1:] for each in shown] == [["language-en"], ["language-en"], []]
    before = len(document.children)
    mark_untranslated(settings.env, document)  # which has nothing to do now
    assert len(document.children) == before
    document["trusted"], document["untranslated"], document["percent"] = (False, False), [text], 100
    mark_untranslated(settings.env, document)
    assert (len(document.children), text["classes"]) == (before, ["language-en"])
