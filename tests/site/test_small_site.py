"""What the site adds to the pages of a small gallery: a page for translators, languages."""

import re
import shutil
from urllib.parse import parse_qsl, urlsplit

import polib
import pytest
import yaml
from bs4 import BeautifulSoup
from sphinx.highlighting import PygmentsBridge

from tests.helpers.gallery import ROOT, Gallery

PAGE = "recipes/adding"
MESSAGES = {
    "Adding numbers": "수 더하기",
    "A first sentence with ``code``.": "``code``가 있는 첫 문장입니다.",
    "A paragraph.": "문단입니다.",
}


@pytest.fixture
def site(site: Gallery) -> Gallery:
    site.set_languages("ko")
    site.configure(recorded_gallery_repository_url="https://example.org/repo")
    site.translate("index", {"Site": "사이트"})
    site.translate("recipes/index", {"Recipes": "레시피", "All.": "전부."})
    site.translate(PAGE, MESSAGES)
    return site


def test_status_and_glossary_are_on_a_page(site: Gallery) -> None:
    shutil.rmtree(site.root / "locale/ko")
    path = site.translate("index", {"Site": "사이트", "Two more words.": "", "Old.": "옛."})
    catalog = polib.pofile(str(path))
    catalog.header = "홍길동 <gildong@example.org>, 2026."
    catalog.metadata["Last-Translator"] = "김아무개 <kim@example.org>"
    catalog.find("Old.").flags.append("fuzzy")
    catalog.save()
    (site.root / "locale/glossary.csv").write_text("term,note\nkernel,of a GPU\nbatch,\n")
    (site.root / "locale/ko/glossary.csv").write_text(
        "term,translation\nkernel,커널|알맹이\nbatch,배치\n"
    )
    index = site.root / "index.rst"
    index.write_text(index.read_text() + "\n.. translation-status::\n\n.. translation-glossary::\n")
    build = site.build()
    page = build.page("index")
    for text in ("한국어", "20%", "홍길동", "김아무개", "커널", "of a GPU"):
        assert text in page, text
    assert "알맹이" not in page
    assert "https://example.org/repo/edit/main/locale/ko/LC_MESSAGES/index.po" in page
    assert 'aria-label="20% of 한국어 translated"' in page
    assert site.build().read == []
    site.translate("index", {"Site": "사이트"})
    assert site.build().read == ["index"]


def test_a_translated_page_leads_to_the_form_and_the_catalog(site: Gallery) -> None:
    built = site.build(language="ko")
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/translation.yml").read_text())
    fields = {field.get("id") for field in form["body"]}
    for name in (PAGE, "index"):
        page = BeautifulSoup(built.page(name), "html.parser")
        improve, edit = page.select(".improve-translation a")
        assert edit["href"] == f"https://example.org/repo/edit/main/locale/ko/LC_MESSAGES/{name}.po"
        address = urlsplit(improve["href"])
        assert address.geturl().startswith("https://example.org/repo/issues/new?")
        known = dict(parse_qsl(address.query))
        assert known.pop("template") == "translation.yml"
        assert known == {"page": f"https://example.org/site/ko/{name}.html", "language": "한국어"}
        assert {*known, "sentence"} <= fields  # the script adds the last one
        assert page.find("script", src=re.compile("improve-translation.js"))
    page = BeautifulSoup(site.build(language="en").page(PAGE), "html.parser")
    assert not page.select(".improve-translation, script[src*=improve]")
    assert "Adding numbers" in page.get_text()


def test_marks_of_code_are_short_in_this_build_alone(site: Gallery) -> None:
    before = PygmentsBridge.html_formatter
    page = site.build().page(PAGE)
    assert re.search(r'<div class="highlight"><pre>.*<i class=\w+>', page)
    assert PygmentsBridge.html_formatter is before
    assert before.__module__.startswith("pygments.")
