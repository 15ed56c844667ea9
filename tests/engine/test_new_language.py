"""What `new-language` writes beside catalogs: what others wrote stays as it was."""

from pathlib import Path

import pytest

from recipe_gallery.commands.new_language import add_language
from recipe_gallery.errors import GalleryError
from recipe_gallery.translate.glossary import begin_glossary


def test_a_language_gets_all_terms_and_its_words_stay(tmp_path: Path) -> None:
    (tmp_path / "glossary.csv").write_text("term,note\ncache|caches,\nGPU,name\n")
    path = begin_glossary(tmp_path, "ja")
    assert path
    assert path.read_text() == "term,translation\ncache,\n"
    assert begin_glossary(tmp_path, "ja") is None
    assert begin_glossary(tmp_path / "none", "ja") is None


def test_the_language_of_the_recipes_is_not_one_to_translate_into(tmp_path: Path) -> None:
    for line in ('ko = { name = "한국어", published = false }', ""):  # new, and there already
        with pytest.raises(GalleryError, match="en is what the recipes are written in"):
            add_language(tmp_path, "en")
        assert add_language(tmp_path, "ko") == line
