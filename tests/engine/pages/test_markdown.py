"""Texts of a page as Markdown: pairs of reStructuredText and what a notebook holds."""

import re

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from sphinx_recorded_gallery.pages.markdown import (
    emphasize,
    escape,
    protect_lines,
    show_emphasis_by_signs,
)


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain, 3 > 2 - 1 + 4. snake_case", "plain, 3 > 2 - 1 + 4. snake_case"),
        ("a\n- b", "a\n\\- b"),
        ("12. b", "12\\. b"),
        ("12 b", "12 b"),
        ("# b", "\\# b"),
        ("-b #1", "-b #1"),
        ("a\n===", "a\n\\==="),
        ("x[0](1)", "x[0\\](1)"),
        ("R&D", "R&D"),
        ("&#60;", "\\&#60;"),
        ("a*b_", "a\\*b\\_"),
        ("a < b <c>", "a < b \\<c>"),
        ("$5", "\\$5"),
    ],
)
def test_text_means_itself(text: str, escaped: str) -> None:
    assert protect_lines(escape(text)) == escaped


SIGNS = st.text(st.sampled_from("ab 12\n\t*_`~<>[]()!#+-=|:.&;$\\\"'/?가é—"), max_size=30)


@settings(max_examples=300, deadline=None)
@given(SIGNS)
def test_whatever_the_text_a_reader_sees_it(text: str) -> None:
    text = re.sub(r"\s*\n\s*", "\n", text.strip())  # as in a paragraph of docutils
    markdown = protect_lines(escape(text, apart=True))
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown)
    soup = BeautifulSoup(html, "html.parser")
    assert [each.name for each in soup.find_all() if each.name != "span"] == ["p"] * bool(text)
    assert soup.get_text().strip("\n").split() == text.split()


@pytest.mark.parametrize(
    ("before", "text", "after", "expected"),
    [
        ("", "a", "", "*a*"),
        (" ", "(a)", ".", "*(a)*"),
        ("a", "b", "c", "*b*"),
        ("a", "(b)", "", "<em>(b)</em>"),
        ("", "“인용”", "은", "<em>“인용”</em>"),
        ("*", "a", "", "<em>a</em>"),
        ("", "a", "*", "<em>a</em>"),
        ("", "a ", "", "<em>a </em>"),  # Markdown shows "*a *" as it is
        ("", " a", "", "<em> a</em>"),
        ("", "", "", ""),
    ],
)
def test_emphasis_is_understood_beside_letters_and_signs(
    before: str, text: str, after: str, expected: str
) -> None:
    assert emphasize(text, "*", "em", before, after) == expected


@pytest.mark.parametrize(
    ("markdown", "comment"),
    [
        ("<strong>Fails。</strong>Then <em>“a”</em>b", "**Fails。**Then *“a”*b"),
        ("``<em>`` and ```\n<strong>\n```", "``<em>`` and ```\n<strong>\n```"),
        ("a \\<strong> tag", "a \\<strong> tag"),
    ],
)
def test_a_comment_shows_emphasis_by_signs(markdown: str, comment: str) -> None:
    assert show_emphasis_by_signs(markdown) == comment
