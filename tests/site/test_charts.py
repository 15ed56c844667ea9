"""Charts: scales, words that fit, and each form on a page."""

import pytest
from babel import Locale

from gallery import Gallery
from second_call.charts.scales import Scale, find_ticks, format_value, round_out
from second_call.charts.svg import Drawing, spread_out, text_width, wrap


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 72, [0, 20, 40, 60]),
        (0, 0.0023, [0, 0.0005, 0.001, 0.0015, 0.002]),
        (0.95, 1.02, [0.96, 0.98, 1.0, 1.02]),
        (3, 3, [3]),
    ],
)
def test_ticks_are_round(low: float, high: float, ticks: list[float]) -> None:
    assert find_ticks(low, high) == pytest.approx(ticks)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1, 20, [1, 2, 5, 10, 20]),
        (1e-4, 5e-3, [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3]),
        (10, 1e6, [10, 100, 1e3, 1e4, 1e5, 1e6]),
        (1e-9, 1e9, [1e-8, 1e-4, 1, 1e4, 1e8]),
        (3, 4, [3, 3.2, 3.4, 3.6, 3.8, 4]),
    ],
)
def test_ticks_of_a_log_axis(low: float, high: float, ticks: list[float]) -> None:
    assert find_ticks(low, high, is_log=True) == pytest.approx(ticks)


def test_a_scale_keeps_what_is_outside_at_its_ends() -> None:
    scale = Scale(low=1, high=100, start=0, end=300, is_log=True)
    assert [scale(value) for value in (1, 10, 100, 0.1, 1000)] == pytest.approx(
        [0, 150, 300, 0, 300]
    )
    upright = Scale(low=0, high=10, start=200, end=0)
    assert upright(2.5) == 150
    assert round_out(0.3, 2233) == pytest.approx((0.2, 5000))
    assert round_out(0.3, 2233, is_log=False) == (0, 5000)


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.01424, "s", "14.2 ms"),
        (0.01, "s", "10 ms"),
        (1.68e10, "B", "16.8 GB"),
        (2.736, "x", "2.74×"),
        (0.634, "share", "63%"),
        (105_000_000, "", "105,000,000"),
        (0, "s", "0"),
    ],
)
def test_values_have_their_unit(value: float, unit: str, shown: str) -> None:
    assert format_value(value, unit, Locale("en")).replace("\u00a0", " ") == shown


def test_values_are_written_as_in_the_language() -> None:
    assert format_value(0.01424, "s", Locale("de")) == "14,2\u00a0ms"


def test_lines_break_where_a_language_lets_them() -> None:
    assert wrap("square root of all", 60) == ["square", "root of", "all"]
    assert wrap("平方根和加法", 45) == ["平方根", "和加法"]
    assert wrap("제곱근을 더함", 60) == ["제곱근을", "더함"]
    assert text_width("平方根") > text_width("abc") > text_width("ili")


def test_labels_are_moved_apart_and_stay_inside() -> None:
    assert spread_out([30, 31, 90], 14, 0, 100) == pytest.approx([23.5, 37.5, 90], abs=0.1)
    first, second = spread_out([1, 2], 14, 0, 100)
    assert first >= 0
    assert second - first >= 13.9


def test_a_drawing_has_no_style_of_its_own_and_escapes_words() -> None:
    drawing = Drawing(100, 20)
    drawing.rect(0, 0, 33.333, 5, "bar")
    drawing.text(0, 12, "a < b & c")
    svg = drawing.close('say "a"')
    assert 'width="33.3"' in svg
    assert '<text x="0" y="12">a &lt; b &amp; c</text>' in svg
    assert 'aria-label="say &quot;a&quot;"' in svg
    assert "style" not in svg


RECIPE = """
'''
Steps
=====

What it is about.

.. names::

   :graphs: CUDA graphs
   :as it is: as it
     is now
'''
print(1)
"""


def test_names_are_messages_and_show_nothing(gallery: Gallery) -> None:
    gallery.add("steps", RECIPE)
    gallery.set_languages("ko")
    gallery.translate(
        "recipes/steps", {"CUDA graphs": "CUDA 그래프", "as it is now": "지금 그대로"}
    )
    build = gallery.build(language="ko")
    assert "steps" not in build.warnings.replace("names_are_messages", "")
    for name in ("recipes/steps.html", "recipes/steps.ipynb", "recipes/steps.py"):
        text = (build.out / name).read_text(encoding="utf-8")
        assert "CUDA" not in text
        assert "as it" not in text
