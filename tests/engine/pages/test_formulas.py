import re

import pytest
from docutils import nodes

from sphinx_recorded_gallery.pages.formulas_and_images import can_convert
from tests.helpers.gallery import Gallery


def test_a_formula_that_cannot_be_drawn_is_told_and_shown_as_it_was_written(
    gallery: Gallery,
) -> None:
    gallery.add()
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "\n:math:`x^2` and :math:`a < \\nothing`.\n")
    build = gallery.build()
    assert "index.rst:8: WARNING: formula 'a < \\\\nothing': " in build.warnings
    assert build.warnings.count("WARNING") == 1
    page = build.page("index")
    assert "<msup>" in page
    assert "<code>a &lt; \\nothing</code>" in page


@pytest.mark.parametrize("tex", [r"^\circ", "_2", r"\limits", r"^\top", r"\frac12"])
def test_what_the_converter_did_not_expect_ends_no_build(gallery: Gallery, tex: str) -> None:
    gallery.add()
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\nWater at 30 :math:`{tex}`\\ C.\n")
    build = gallery.build()
    assert "index.rst:8: WARNING: formula " in build.warnings
    assert f"<code>{tex}</code>" in build.page("index")


@pytest.mark.parametrize(
    ("tex", "is_drawn"), [("a\n\nb", True), ("a\n\n^b", False), ("a < \\nothing", False)]
)
def test_what_can_be_converted_is_asked_of_the_formula_that_is_drawn(
    tex: str, is_drawn: bool
) -> None:
    assert can_convert(nodes.math_block(tex, tex)) == is_drawn


def test_a_numbered_formula_shows_its_number_where_links_lead(gallery: Gallery) -> None:
    gallery.add()
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "\nSee :eq:`one`.\n\n.. math:: x < 1\n   :label: one\n")
    build = gallery.build("html")
    assert build.warnings == ""
    page = build.page("index")
    [target] = re.findall(r'href="#([^"]*)">\(1\)</a>', page)
    assert (
        f'<div class="math" id="{target}" tabindex="0"><span class="eqno">(1)</span><math' in page
    )


def test_an_empty_line_divides_two_equations(gallery: Gallery) -> None:
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "\n.. math::\n\n   a = b\n\n   c &= d\n")
    gallery.add()
    build = gallery.build()
    assert build.warnings == ""
    assert build.page("index").count("<mtr>") == 2
