"""What `new-language` writes beside catalogs: the columns and lines of others stay as they were."""

from pathlib import Path

import pytest

from recipe_gallery.commands.new_language import add_column, add_language, add_owners
from recipe_gallery.errors import GalleryError

OWNERS = """\
# Who reviews
*                @all

/locale/         @translators # all of them
/locale/ko/      @korean
/engine/locale/ko/  @korean
/locale/glossary.csv  @translators @korean
"""


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


def test_whoever_reviews_a_folder_now_is_named_for_the_language(tmp_path: Path) -> None:
    path = tmp_path / "CODEOWNERS"
    path.write_text(OWNERS)
    added = ["/locale/ja/      @translators", "/engine/locale/ja/  @all"]
    assert add_owners(path, "ja", ["en", "ko", "ja"]) == added
    lines = path.read_text().splitlines()
    assert lines[4:8] == [
        "/locale/ko/      @korean",
        added[0],
        "/engine/locale/ko/  @korean",
        added[1],
    ]
    assert [line for line in lines if line not in added] == OWNERS.splitlines()
    assert add_owners(path, "ja", ["en", "ko", "ja"]) == []


def test_the_language_of_the_recipes_is_not_one_to_translate_into(tmp_path: Path) -> None:
    for line in ('ko = { name = "한국어", published = false }', ""):  # new, and there already
        with pytest.raises(GalleryError, match="en is what the recipes are written in"):
            add_language(tmp_path, "en")
        assert add_language(tmp_path, "ko") == line


@pytest.mark.parametrize("text", ["", "* @all\n", "/docs/ko.md @korean\n"])
def test_a_file_that_names_no_language_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "CODEOWNERS"
    path.write_text(text)
    assert add_owners(path, "ja", ["en", "ko", "ja"]) == []
    assert path.read_text() == text
    assert add_owners(tmp_path / "none", "ja", ["en", "ko", "ja"]) == []
