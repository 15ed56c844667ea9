"""Where lines do not break, and text that is folded."""

from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from docutils import nodes

from second_call.line_breaks import keep_together, keep_words_whole
from second_call.make_nodes import make_table
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


def test_a_long_name_in_code_breaks_behind_dots_and_underscores() -> None:
    short = nodes.literal("", "", nodes.Text("torch.compiler.set_stance"))
    long = nodes.literal("", "", nodes.Text("torch._inductor.config.some_limit = 1.5"))
    app = SimpleNamespace(builder=SimpleNamespace(format="html"))
    keep_together(app, nodes.paragraph("", "", short, long), "index")
    assert not list(short.findall(nodes.raw))
    parts = [node.astext() for node in long.findall(nodes.Text) if node.astext() != "<wbr>"]
    assert parts == ["torch.", "_inductor.", "config.", "some_", "limit = 1.5"]


def test_names_of_measurements_break_behind_underscores_and_headings_do_not() -> None:
    table = make_table(
        ["", "speed-up"], [[nodes.Text("a_b"), nodes.Text("x_y")]], classes=["measured-table"]
    )
    next(table.findall(nodes.colspec))["stub"] = True
    app = SimpleNamespace(builder=SimpleNamespace(format="html"))
    keep_together(app, table, "index")
    head, line = table.findall(nodes.row)
    assert [node.astext() for node in line[0].findall(nodes.raw)] == ["<wbr>"]
    assert not list(line[1].findall(nodes.raw))
    assert [node.astext() for node in head.findall(nodes.inline)] == ["speed-up"]


def test_folded_text_opens_below_its_title_which_is_translated(site: Gallery) -> None:
    site.root.joinpath("index.rst").write_text(PAGE)
    site.set_languages("ko")
    site.translate("index", {"How to *read* it": "*읽는* 법", "Slowly.": "천천히."})
    for code, title, text in (("en", "How to read it", "Slowly."), ("ko", "읽는 법", "천천히.")):
        build = site.build(language=code)
        folded = BeautifulSoup(build.page("index"), "html.parser").select_one("details.folded-text")
        assert folded.summary.get_text() == title
        assert folded.p.get_text() == text
