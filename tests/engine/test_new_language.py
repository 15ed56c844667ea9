"""What `new-language` writes beside catalogs: the columns and lines of others stay as they were."""

from pathlib import Path

import pytest

from recipe_gallery.commands.new_language import add_column, add_language
from recipe_gallery.errors import GalleryError


def test_the_glossary_gets_a_column_before_its_remarks(tmp_path: Path) -> None:
    path = tmp_path / "glossary.csv"
    path.write_text('term,ko,note\ncache,캐시,\ntime,"시간|때, 시","a ""note"", quoted"\n')
    assert add_column(path, "ja")
    assert path.read_text() == (
        'term,ko,ja,note\ncache,캐시,,\ntime,"시간|때, 시",,"a ""note"", quoted"\n'
    )
    assert not add_column(path, "ja")
    path.write_text("term,ko\ncache,캐시\n")
    assert add_column(path, "pt_BR")
    assert path.read_text() == "term,ko,pt_BR\ncache,캐시,\n"
    path.write_text("")
    assert not add_column(path, "ja")
    assert not add_column(tmp_path / "none.csv", "ja")


def test_the_language_of_the_recipes_is_not_one_to_translate_into(tmp_path: Path) -> None:
    for line in ('ko = { name = "한국어", published = false }', ""):  # new, and there already
        with pytest.raises(GalleryError, match="en is what the recipes are written in"):
            add_language(tmp_path, "en")
        assert add_language(tmp_path, "ko") == line
