"""What `live` knows of the messages of a language, without a build."""

from pathlib import Path
from typing import Any

import pytest

from gallery import Gallery
from recipe_gallery.languages import load_languages
from recipe_gallery.live.marks import mark_of
from recipe_gallery.live.messages import Messages
from recipe_gallery.live.server import default_editor
from recipe_gallery.project import load_project

FOUR = "In ``a.py`` of :doc:`the page </index>`, *4* times."
PAGE = {FOUR: "*네* 번, :doc:`페이지 </index>`의 ``a.py``에서.", "Empty.": "", "Site": "사이트"}
LABELS = {"%s pages on %(day)s": "%(day)s, %s쪽", "%s": "%s", "Copy": "복사"}


@pytest.fixture
def messages(gallery: Gallery) -> Messages:
    gallery.set_languages("ko")
    gallery.translate("index", PAGE)
    gallery.translate("other", {"Site": "곳"})
    gallery.translate("sphinx", LABELS)
    return Messages(load_project(gallery.root), load_languages(gallery.root)["ko"])


def sources(found: list[dict[str, Any]]) -> list[str]:
    return [each["source"] for each in found]


def test_a_message_is_found_by_its_mark_first_in_the_catalog_of_the_page(
    messages: Messages,
) -> None:
    [found] = messages.find("index", [mark_of("Site")], [])
    assert found["translation"] == "사이트"
    assert found["place"].startswith("locale/ko/LC_MESSAGES/index.po:")
    [found] = messages.find("other", [mark_of("Site")], [])
    assert found["translation"] == "곳"
    marks = [mark_of("Site"), mark_of(FOUR)]  # of a block of code with two comments
    assert set(sources(messages.find("index", marks, []))) == {"Site", FOUR}


def test_a_text_without_mark_is_found_by_what_a_reader_sees(messages: Messages) -> None:
    def find(*texts: str) -> list[str]:
        return sources(messages.find("index", [], texts))

    assert find("네 번, 페이지의 a.py에서.") == [FOUR]
    assert find("Empty.") == ["Empty."]  # shown in English
    assert find(" 복사 ") == ["Copy"]
    assert find("11월 22일, 3쪽") == ["%s pages on %(day)s"]
    assert find("print()", "복사") == ["Copy"]
    assert find("print()", "–", "") == []


def test_advice_is_told_by_message_and_says_what_to_do(
    messages: Messages, gallery: Gallery
) -> None:
    path = gallery.translate("index", PAGE | {"Site": "사이트  3"})
    advice = messages.advise("index")
    rows = {row["mark"]: row["texts"] for row in advice["here"]}
    assert rows == {
        mark_of(FOUR): ["the number 4 is missing; numbers stay as they are (numbers)"],
        mark_of("Empty."): ["not translated: readers get English; translate it (empty)"],
        mark_of("Site"): [
            "the number 3 is not in the source; numbers stay as they are (numbers)",
            "space doubled; remove it (spaces)",
        ],
    }
    assert messages.advise("other")["elsewhere"] == advice["here"]
    path.write_text("no catalog")
    assert messages.advise("index")["here"] == []  # what breaks a page is no advice


def test_only_catalogs_that_would_break_their_page_are_held_back(
    messages: Messages, gallery: Gallery
) -> None:
    bad = gallery.translate("index", PAGE | {"Site": "``사이트"})
    good = gallery.translate("other", {"Site": "곳"})
    assert not messages.note([])
    assert messages.note([bad])
    assert not messages.note([good, Path("conf.py")])
    assert messages.broken == [bad]
    assert messages.describe_broken()[0].startswith("locale/ko/LC_MESSAGES/index.po:")
    assert not messages.note([gallery.translate("index", PAGE)])
    assert messages.broken == []


def test_a_glossary_that_cannot_be_read_is_told(messages: Messages, gallery: Gallery) -> None:
    (gallery.root / "locale/glossary.csv").write_text("term,ko,note\n,커널,\n")
    [row] = messages.advise("index")["here"]
    assert row["texts"][0].startswith("locale/glossary.csv:")


def test_in_wsl_a_link_leads_to_the_editor_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WSL_DISTRO_NAME", raising=False)
    assert default_editor() == "vscode://file{path}:{line}"
    monkeypatch.setenv("WSL_DISTRO_NAME", "My Ubuntu")
    assert default_editor() == "vscode://vscode-remote/wsl+My%20Ubuntu{path}:{line}"
