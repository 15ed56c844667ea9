"""Texts of a page as Markdown: pairs of reStructuredText and what a notebook holds."""

import io
from collections.abc import Callable, Iterator
from textwrap import dedent

import pytest
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.testing.restructuredtext import parse
from sphinx.util.docutils import docutils_namespace, patch_docutils

from gallery import Gallery
from recipe_gallery.pages.markdown import escape, fill_spans, write_markdown

Convert = Callable[[str], str]


@pytest.fixture(scope="module")
def convert(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Convert]:
    gallery = Gallery(tmp_path_factory.mktemp("markdown"))
    warnings = io.StringIO()
    with patch_docutils(), docutils_namespace():
        out = gallery.root / "out"
        app = Sphinx(
            gallery.root, gallery.root, out, out, "html", status=io.StringIO(), warning=warnings
        )

        def write(text: str) -> str:
            doctree = parse(app, dedent(text), "index")
            markdown = write_markdown(doctree, app.builder)
            assert "unknown node" not in warnings.getvalue()
            return markdown.strip()

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
        "**[Knuth]**",
    ),
    "options": (
        """
        -f FILE, --file=FILE  reads a file
        -v                    tells more
        """,
        "* `-f FILE, --file=FILE`:\n\n  reads a file\n* `-v`:\n\n  tells more",
    ),
    "classifier": (
        """
        size : int
           How many.
        """,
        "size : *int*\n: How many.",
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
    "sidebar": (
        """
        .. sidebar:: Aside
           :subtitle: Not needed

           Text.
        """,
        "> **Aside**\n>\n> **Not needed**\n>\n> Text.",
    ),
    "centered": (".. centered:: All of it", "**All of it**"),
    "hlist": (
        """
        .. hlist::

           * a
           * b
        """,
        "* a\n\n* b",
    ),
    "abbreviation": (":abbr:`LIFO (last in, first out)`", "LIFO (last in, first out)"),
    "grammar": (
        """
        .. productionlist::
           sum: term "+" term
        """,
        '```\nsum ::= term "+" term\n```',
    ),
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
    "money": ("costs $5 and $6", r"costs \$5 and \$6"),
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
        "<b>bold</b>",
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
    "table with wide cells": (
        """
        +---+---+---+
        | a | b | c |
        +===+===+===+
        | d     | e |
        +---+---+   |
        | f | g |   |
        +---+---+---+
        """,
        "| a   | b   | c   |\n|-----|-----|-----|\n| d   |     | e   |\n| f   | g   |     |",
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
    if name == "citation":
        assert expected in markdown
    else:
        assert markdown == expected


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain, 3 > 2 - 1 + 4.", "plain, 3 > 2 - 1 + 4."),
        ("a\n- b", "a\n\\- b"),
        ("a\n12. b", "a\n12\\. b"),
        ("a\n12 b", "a\n12 b"),
        ("a\n# b", "a\n\\# b"),
        ("a\n-b", "a\n-b"),
        ("x[0](1)", "x[0\\](1)"),
        ("R&D", "R&D"),
        ("&#60;", "\\&#60;"),
        ("a*b_", "a\\*b_"),
    ],
)
def test_text_means_itself(text: str, escaped: str) -> None:
    assert escape(text) == escaped


def make_rows(*rows: list[tuple[str, int, int]]) -> nodes.tbody:
    body = nodes.tbody()
    for row in rows:
        body += nodes.row(
            "",
            *(
                nodes.entry("", nodes.paragraph("", text), morecols=columns, morerows=further)
                for text, columns, further in row
            ),
        )
    return body


def texts(body: nodes.tbody) -> list[list[str]]:
    return [[cell.astext() for cell in row] for row in body]


def test_a_cell_over_rows_and_columns_leaves_no_hole() -> None:
    body = make_rows([("a", 1, 1), ("b", 0, 0)], [("c", 0, 0)], [("d", 0, 0), ("e", 1, 0)])
    fill_spans(body)
    assert texts(body) == [["a", "", "b"], ["", "", "c"], ["d", "e", ""]]


def test_a_cell_over_all_further_rows_fills_the_last_column() -> None:
    body = make_rows([("a", 0, 0), ("b", 0, 2)], [("c", 0, 0)], [("d", 0, 0)])
    fill_spans(body)
    assert texts(body) == [["a", "b"], ["c", ""], ["d", ""]]
