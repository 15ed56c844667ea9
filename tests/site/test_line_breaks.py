"""Where lines do not break, and text that is folded."""

import pytest
from bs4 import BeautifulSoup

from second_call.line_breaks import keep_words_whole
from tests.helpers.gallery import Gallery

PAGE = """
A speed-up of :doc:`warm-up <index>` costs
==========================================

Here a speed-up · and ``reduce-overhead`` and ``max-autotune-no-cudagraphs``.

.. list-table::
   :header-rows: 1

   * - warm-up
   * - no warm-up

.. folded:: How to *read* it

   Slowly.
"""


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Modes · reduce-overhead", 'Modes\u00a0· <span class="unbroken">reduce-overhead</span>'),
        ("a < b - c", "a &lt; b - c"),
        ("max-autotune-no-cudagraphs", "max-autotune-no-cudagraphs"),  # wider than its column
    ],
)
def test_short_words_of_a_name_stay_on_a_line(text: str, html: str) -> None:
    assert keep_words_whole(text) == html


def test_words_of_titles_and_short_code_stay_on_a_line(site: Gallery) -> None:
    site.root.joinpath("index.rst").write_text(PAGE)
    page = BeautifulSoup(site.build().page("index"), "html.parser")
    assert [part.get_text() for part in page.select(".unbroken")] == [
        "speed-up",
        "warm-up",
        "reduce-overhead",
    ]
    assert "a speed-up\u00a0· and" in page.get_text()


def test_folded_text_opens_below_its_title_which_is_translated(site: Gallery) -> None:
    site.root.joinpath("index.rst").write_text(PAGE)
    site.set_languages("ko")
    site.translate("index", {"How to *read* it": "*읽는* 법", "Slowly.": "천천히."})
    for code, title, text in (("en", "How to read it", "Slowly."), ("ko", "읽는 법", "천천히.")):
        build = site.build(language=code)
        folded = BeautifulSoup(build.page("index"), "html.parser").select_one("details.folded-text")
        assert folded.summary.get_text() == title
        assert folded.p.get_text() == text
