"""Texts of a page as Markdown: pairs of reStructuredText and what a notebook holds."""

import io
import re
from collections.abc import Callable, Iterator
from textwrap import dedent
from unittest import mock

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from sphinx import locale
from sphinx.application import Sphinx
from sphinx.testing.restructuredtext import parse
from sphinx.util.docutils import docutils_namespace, patch_docutils

from gallery import Gallery
from recipe_gallery.pages.markdown import Page, join_blocks
from recipe_gallery.pages.markdown_text import emphasize, escape, protect_lines

Convert = Callable[[str], str]


@pytest.fixture(scope="module")
def convert(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Convert]:
    gallery = Gallery(tmp_path_factory.mktemp("markdown"))
    warnings = io.StringIO()
    # without the words of a build in another language, which Sphinx keeps
    translators = mock.patch.dict(locale.translators, clear=True)
    with translators, patch_docutils(), docutils_namespace():
        out = gallery.root / "out"
        app = Sphinx(
            gallery.root, gallery.root, out, out, "html", status=io.StringIO(), warning=warnings
        )

        def write(text: str) -> str:
            doctree = parse(app, dedent(text), "index")
            markdown = join_blocks(doctree.children, Page(app.builder, "index"))
            assert warnings.getvalue() == ""
            return markdown

        yield write


CONSTRUCTS = {
    "figure": (
        """
        .. figure:: https://example.org/a.png
           :alt: A plot

           How it *grows*.

           More below.
        """,
        "![A plot](https://example.org/a.png)\n\nHow it *grows*.\n\nMore below.",
    ),
    "admonition": (
        """
        .. admonition:: On speed

           Measure.
        """,
        "> **On speed**\n>\n> Measure.",
    ),
    "note": (
        """
        .. note:: Measure.
        """,
        "> **Note**\n>\n> Measure.",
    ),
    "citation": (
        """
        See [Knuth]_.

        .. [Knuth] The book.
        """,
        "See [Knuth].\n\n**[Knuth]** The book.",
    ),
    "classifier": (
        """
        size : int
           How many.
        """,
        "* **size** : *int*\n\n  How many.",
    ),
    "attribution": (
        """
        Text.

            Make it right.

            -- Somebody
        """,
        "Text.\n\n> Make it right.\n>\n> — Somebody",
    ),
    "caption of code": (
        """
        .. code-block:: python
           :caption: a.py

           x = 1
        """,
        "a.py\n\n```python\nx = 1\n```",
    ),
    "centered": (".. centered:: All of it", "**All of it**"),
    "meta": (
        """
        .. meta::
           :description: For search engines

        Text.
        """,
        "Text.",
    ),
    "superscript": (r"mc\ :sup:`2` and H\ :sub:`2`\ O", "mc<sup>2</sup> and H<sub>2</sub>O"),
    "version": (
        """
        .. versionadded:: 2.0
           It is there.
        """,
        "Added in version 2.0: It is there.",
    ),
    "target": ("An _`inline target` here", "An inline target here"),
    "types": ("a std::vector<int> and &lt; here", r"a std::vector\<int> and \&lt; here"),
    "money": ("costs $5 and $6", r"costs <span>\$</span>5 and <span>\$</span>6"),
    "code with signs": ("``$x <a> | b``", "`$x <a> | b`"),
    "code with backticks": ("```a`, b``", "`` `a`, b ``"),
    "formula": (":math:`|x| < 1`", "$|x| < 1$"),
    "html": (
        """
        .. raw:: html

           <b>bold</b>

        .. raw:: latex

           \\bfseries
        """,
        "<div>\n<b>bold</b>\n</div>",
    ),
    "table with lines in cells": (
        """
        .. list-table::
           :header-rows: 1

           * - a|b
             - ``c|d``
           * - :math:`|x|` and :math:`\\|y\\|`
             - 1.50
        """,
        "| a\\|b                                | `c\\|d`   |\n"
        "|-------------------------------------|----------|\n"
        "| $\\vert x\\vert $ and $\\Vert y\\Vert $ | 1.50     |",
    ),
    "code beside code": (r"``a``\ ``b`` and ``c``\ d", "`a`<span></span>`b` and `c`d"),
    "tilde behind a mark": (r"~5 *a*\ ~b~", r"\~5 *a*\~b\~"),
    "address that is none": ("`here <https://[a>`_", "here"),
    "html that starts with a comment": (
        """
        .. raw:: html

           <!-- why -->
           <b>*a*</b>
        """,
        "<div>\n<!-- why -->\n<b>*a*</b>\n</div>",
    ),
    "equations": (
        """
        .. math::

           a = b

           c &= d
        """,
        "$$\n\\begin{split}\na = b \\\\\nc &= d\n\\end{split}\n$$",
    ),
    "equations with a matrix": (
        r"""
        .. math::

           x &= \begin{pmatrix}1\\2\end{pmatrix} \\
           y &= 3
        """,
        "$$\n\\begin{split}\nx &= \\begin{pmatrix}1\\\\2\\end{pmatrix} \\\\\ny &= 3\n"
        "\\end{split}\n$$",
    ),
    "equations in an environment": (
        r"""
        .. math::
           :nowrap:

           \begin{gather}
           a \\

           b
           \end{gather}
        """,
        "$$\n\\begin{gather}\na \\\\\nb\n\\end{gather}\n$$",
    ),
    "table in Korean": (
        """
        ====  ====
        이름  크기
        ====  ====
        가    1
        ====  ====
        """,
        "| 이름   | 크기   |\n|--------|--------|\n| 가     | 1      |",
    ),
}


@pytest.mark.parametrize("name", CONSTRUCTS)
def test_a_construct_is_shown_in_a_notebook(convert: Convert, name: str) -> None:
    text, expected = CONSTRUCTS[name]
    markdown = convert(text)
    assert markdown == expected


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


@settings(max_examples=1000, deadline=None)
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
        ("", "", "", ""),
    ],
)
def test_emphasis_is_understood_beside_letters_and_signs(
    before: str, text: str, after: str, expected: str
) -> None:
    assert emphasize(text, "*", "em", before, after) == expected
