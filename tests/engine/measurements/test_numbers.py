"""How values are written."""

from babel import Locale

from sphinx_recorded_gallery.measurements.numbers import format_value, round_measurement
from tests.helpers.measured_recipe import figure


def test_very_small_plain_numbers_have_a_power_of_ten() -> None:
    english, german = Locale("en"), Locale("de")
    assert format_value(8.035e-8, "", english, -9, like=8.035e-8) == "8.0 × 10⁻⁸"
    assert format_value(8.035e-8, "", german, -9, like=8.035e-8) == "8,0 × 10⁻⁸"
    assert format_value(0.00012, "", english, -5, like=0.00012) == "0.00012"
    assert format_value(8.035e-8, "s", english, -9, like=8.035e-8) == "80\u00a0ns"
    assert format_value(0, "", english, 0, like=0) == "0"


def test_nothing_stands_without_a_unit() -> None:
    english = Locale("en")
    assert format_value(0, "B", english, -2, like=0) == "0"
    assert format_value(0.004, "s", english, -1, like=5) == "0"
    assert format_value(0, "share", english, -2, like=0) == "0%"


def test_a_rounded_measurement_is_what_readers_see() -> None:
    wide = figure("adam.100.fused.wall", unit="s", value=0.0146, low=0.011, high=0.019)
    assert round_measurement(wide) == 0.015
