"""What `live` knows of the messages of a page, without a build."""

from typing import Any

import pytest

from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.live.messages import mark_of, page_messages
from sphinx_recorded_gallery.project import load_project
from tests.helpers.gallery import Gallery

FOUR = "In ``a.py`` of :doc:`the page </index>`, *4* times."
PAGE = {FOUR: "*네* 번, :doc:`페이지 </index>`의 ``a.py``에서.", "Empty.": "", "Site": "사이트  3"}


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    gallery.set_languages("ko")
    gallery.translate("index", PAGE)
    return gallery


def messages(site: Gallery) -> list[dict[str, Any]]:
    language = Language(code="ko", name="한국어", published=False)
    return page_messages(load_project(site.root), language, "index")


def test_each_message_has_its_place_and_what_to_do(site: Gallery) -> None:
    rows = messages(site)
    assert {row["source"]: row["translation"] for row in rows} == PAGE
    assert all(row["place"].startswith("locale/ko/LC_MESSAGES/index.po:") for row in rows)
    assert [row["source"] for row in rows if row["left"]] == ["Empty."]
    assert {row["mark"]: row["texts"] for row in rows} == {
        mark_of(FOUR): ["the number 4 is missing; numbers stay as they are (numbers)"],
        mark_of("Empty."): ["not translated: readers get English; translate it (empty)"],
        mark_of("Site"): [
            "the number 3 is not in the source; numbers stay as they are (numbers)",
            "space doubled; remove it (spaces)",
        ],
    }


def test_a_file_that_cannot_be_read_is_told(site: Gallery) -> None:
    (site.root / "locale/glossary.csv").write_text("term,note\n,kernel\n")
    assert messages(site)[0]["texts"][0].startswith("locale/glossary.csv:")
    site.translate("index", {}).write_text("no catalog")
    (row,) = messages(site)
    assert row["texts"][0].startswith("not a catalog from here on")
