"""What `live` knows of the messages of a language, without a build."""

from typing import Any

import pytest

from gallery import Gallery
from recipe_gallery.languages import load_languages
from recipe_gallery.live.messages import Messages, mark_of
from recipe_gallery.project import load_project

FOUR = "In ``a.py`` of :doc:`the page </index>`, *4* times."
PAGE = {FOUR: "*네* 번, :doc:`페이지 </index>`의 ``a.py``에서.", "Empty.": "", "Site": "사이트"}


@pytest.fixture
def messages(gallery: Gallery) -> Messages:
    gallery.set_languages("ko")
    gallery.translate("index", PAGE)
    gallery.translate("other", {"Site": "곳"})
    return Messages(load_project(gallery.root), load_languages(gallery.root)["ko"])


def sources(found: list[dict[str, Any]]) -> list[str]:
    return [each["source"] for each in found]


def test_a_message_is_found_by_its_mark_first_in_the_catalog_of_the_page(
    messages: Messages,
) -> None:
    [found] = messages.find("index", [mark_of("Site")])
    assert found["translation"] == "사이트"
    assert found["place"].startswith("locale/ko/LC_MESSAGES/index.po:")
    [found] = messages.find("other", [mark_of("Site")])
    assert found["translation"] == "곳"
    marks = [mark_of("Site"), mark_of(FOUR)]  # of a block of code with two comments
    assert set(sources(messages.find("index", marks))) == {"Site", FOUR}


def test_advice_is_told_by_message_and_says_what_to_do(
    messages: Messages, gallery: Gallery
) -> None:
    path = gallery.translate("index", PAGE | {"Site": "사이트  3"})
    advice = messages.advise("index")
    rows = {row["mark"]: row["texts"] for row in advice}
    assert rows == {
        mark_of(FOUR): ["the number 4 is missing; numbers stay as they are (numbers)"],
        mark_of("Empty."): ["not translated: readers get English; translate it (empty)"],
        mark_of("Site"): [
            "space doubled; remove it (spaces)",
            "the number 3 is not in the source; numbers stay as they are (numbers)",
        ],
    }
    path.write_text("no catalog")
    (row,) = messages.advise("index")
    assert row["texts"][0].startswith("not a catalog from here on")


def test_a_glossary_that_cannot_be_read_is_told(messages: Messages, gallery: Gallery) -> None:
    (gallery.root / "locale/glossary.csv").write_text("term,note\n,kernel\n")
    row = messages.advise("index")[0]
    assert row["texts"][0].startswith("locale/glossary.csv:")
