"""Charts: scales, each form drawn from plain data, and each form on a page."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from babel import Locale
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser

from second_call.charts.bars import (
    draw_busy_bars,
    draw_overlaid_bars,
    draw_plain_bars,
)
from second_call.charts.chart_data import ChartData, ChartRow, Drawing, FormattedValue, Role
from second_call.charts.directive import put_whole_first
from second_call.charts.lines import draw_lines
from second_call.charts.parts import draw_parts
from second_call.charts.plot import spread, wrap
from second_call.charts.releases import ChangeRow, draw_changes
from second_call.charts.scales import Scale, format_rounded
from second_call.charts.scatter import draw_scatter, find_frontier
from second_call.charts.spans import Lane, SpansData, draw_spans, merge, sort_lanes
from sphinx_recorded_gallery.api import Typography
from sphinx_recorded_gallery.languages import find_locale
from sphinx_recorded_gallery.recipes.mime_types import PUBLISHED_MIME
from tests.helpers.gallery import ROOT, Gallery

ENGLISH = Typography(find_locale("en"))
# Why a variant is not recommended whose bar is the shortest
WHY_NOT = re.compile(r"compil|startup|setup|first three calls|takes longer", re.IGNORECASE)


def value(
    number: float, unit: str = "s", low: float = 0, high: float = 0, shown: float = 0
) -> FormattedValue:
    """Return a value whose range is only itself, if no ends are named."""
    words = format_rounded(number, unit, ENGLISH).replace("\u00a0", " ")
    return FormattedValue(
        number=number,
        shown=shown or number,
        low=low or number,
        high=high or number,
        unit=unit,
        words=words,
        full_words=f"{words} (range)" if low else words,
    )


def row(name: str, role: Role, gain: float = 0, **values: FormattedValue) -> ChartRow:
    return ChartRow(
        variant=name, name=name, role=role, values=values, gain=value(gain, "x") if gain else None
    )


def draw(drawing: Drawing | None) -> BeautifulSoup:
    assert drawing
    return BeautifulSoup(drawing.html, "html.parser")


def lengths(drawing: Tag, css: str) -> list[float]:
    """Return the lengths of parts of a drawing, in per cent."""
    return [float(part["width"].rstrip("%")) for part in drawing.select(css)]


BUSY = ChartData(
    typography=ENGLISH,
    quantities={"wall": "wall time", "gpu": "GPU time"},
    rows=[
        row("eager", Role.BEFORE, wall=value(4e-3, low=3e-3, high=5e-3), gpu=value(1e-3)),
        row("compiled", Role.OTHER, 2, wall=value(2e-3), gpu=value(1.5e-3)),
        row("graph", Role.BEST, 4, wall=value(1e-3), gpu=value(1.2e-3)),
    ],
)


def test_a_busy_bar_is_wall_time_with_the_part_in_which_the_gpu_works() -> None:
    drawing = draw_busy_bars(BUSY)
    bars = draw(drawing)
    assert lengths(bars, ".bars-bar > svg:has(.waiting)") == [80, 40, 20]  # 100 is the range's end
    assert lengths(bars, ".bars-bar > .solid") == [20, 30, 20]  # busy throughout, not beyond
    roles = [part["class"][-1] for part in bars.select(".bars-bar > .solid")]
    assert roles == ["before", "other", "best"]
    [whisker] = bars.select(".bars-bar > .whisker")
    assert whisker["y"] == "50%"  # an error bar on its bar
    ends = [(line["x1"], line["x2"]) for line in whisker.select("line:not(.strip)")]
    assert ends == [("60.0%", "100.0%"), ("60.0%", "60.0%"), ("100.0%", "100.0%")]
    [strip] = whisker.select("line.strip")  # sets it off from the bar
    assert (strip["x1"], strip["x2"]) == ("60.0%", "100.0%")
    words = [part.get_text() for part in bars.select(".bars-words")]
    assert words == ["4 ms", "2 ms · 2×", "1 ms · 4×"]
    assert bars.find(role="img")["aria-label"] == (
        "wall time: eager: 4 ms (range), GPU busy 25%; compiled: 2 ms, 2×, GPU busy 75%; "
        "graph (recommended): 1 ms, 4×, GPU busy 100%"
    )
    assert [part.get_text().strip() for part in bars.select(".bars-key li")] == [
        *("GPU waiting", "before", "other", "recommended", "range across machines"),
    ]
    samples = bars.select(".bars-key .solid")
    assert [sample["class"][-1] for sample in samples] == ["before", "other", "best"]  # once each
    assert drawing.table.rows[1] == ["compiled", "2 ms", "2×", "1.5 ms", "75%"]
    assert "longer than wall time" in drawing.notes[0]
    usual = replace(BUSY, rows=BUSY.rows[:2])
    assert draw_busy_bars(usual).notes == []


def test_the_key_of_bars_of_one_tone_names_no_tone() -> None:
    rows = [replace(row, role=Role.OTHER, gain=None) for row in BUSY.rows]
    bars = draw(draw_busy_bars(replace(BUSY, rows=rows)))
    assert words(bars)[:3] == ["GPU waiting", "range across machines", "eager"]


def test_a_variant_whose_gpu_time_is_unknown_is_an_outline_that_the_key_names() -> None:
    unknown = row("other", Role.OTHER, 2, wall=value(2e-3))
    bars = draw(draw_busy_bars(replace(BUSY, rows=[*BUSY.rows, unknown])))
    assert lengths(bars, ".bars-bar > .unknown") == [40]
    assert "GPU share not measured" in words(bars)
    assert not draw(draw_busy_bars(BUSY)).select(".unknown")


def test_a_range_that_would_be_a_smudge_is_left_out() -> None:
    def count(high: float) -> int:
        rows = [row("eager", Role.BEFORE, wall=value(4e-3, low=4e-3, high=high))]
        return len(draw(draw_plain_bars(replace(BUSY, rows=rows))).select(".bars-bar .end"))

    assert count(4.02e-3) == 0
    assert count(4.2e-3) > 0


def test_what_is_recommended_has_the_accent_where_nothing_was_before() -> None:
    rows = [
        row("blocks", Role.BEST, operations=value(5, "")),
        row("model", Role.OTHER, 0.02, operations=value(321, "")),
    ]
    data = ChartData(typography=ENGLISH, quantities={"operations": "operations"}, rows=rows)
    drawing = draw_plain_bars(data)
    bars = draw(drawing)
    assert [part["class"][-1] for part in bars.select(".bars-bar > .solid")] == ["best", "other"]
    assert words(bars)[:2] == ["other", "recommended"]
    assert drawing.table.head == ["", "operations"]  # no gains
    more = replace(rows[0], values={"operations": value(400, "")})
    bars = draw(draw_plain_bars(replace(data, rows=[more, rows[1]])))
    assert not bars.select(".best, .bars-key")  # nothing says what it gains


def test_a_speed_up_that_is_no_quotient_of_the_times_shown_is_explained() -> None:
    told = "Speed-ups are computed run by run"

    def remarks(gain: float, **more: object) -> list[str]:
        before = row("eager", Role.BEFORE, wall=value(14.6e-3, shown=15e-3))
        after = row("fused", Role.OTHER, gain, wall=value(11.3e-3, shown=11e-3))
        rows = [before, replace(after, **more)]
        quantities = {"wall": "wall time"}
        drawing = draw_plain_bars(ChartData(typography=ENGLISH, quantities=quantities, rows=rows))
        assert drawing
        return [remark.replace("\u00a0", " ") for remark in drawing.remarks]

    assert remarks(1.4) == remarks(1.36) == []  # 15 by 11
    for gain in (1.3, 1.17):
        [remark] = remarks(gain)
        assert remark.startswith(told)
    once = {"runs": "1 run", "paired_before": value(13e-3)}
    assert remarks(1.2, **once) == ["fused: 1 run (eager: 13 ms)."]
    first, second = remarks(1.5, **once)
    assert first.startswith(told)
    assert second == "fused: 1 run (eager: 13 ms)."
    assert remarks(1.4, **once) == []


def test_a_busy_bar_has_a_form_for_notebooks() -> None:
    drawing = draw_busy_bars(BUSY)
    assert drawing.notebook.rows == [
        ["eager", "█" * 5 + "░" * 14, "4 ms", "", "25%"],
        ["compiled", "█" * 8 + "░" * 2, "2 ms", "2×", "75%"],
        ["graph", "█" * 5, "1 ms", "4×", "100%"],
    ]


def test_a_compact_bar_keeps_its_names_for_those_who_do_not_see_it() -> None:
    bars = draw(draw_busy_bars(BUSY, compact=True))
    assert not bars.select(".bars-name, .bars-key")
    assert "; graph: 1 ms" in bars.find(role="img")["aria-label"]  # no advice


def test_the_longer_bar_of_each_row_of_a_list_is_as_long() -> None:
    narrow = [row("eager", Role.BEFORE, wall=value(4)), row("graph", Role.BEST, 4, wall=value(1))]
    wide = [
        row("eager", Role.BEFORE, wall=value(2, low=1, high=9)),
        row("graph", Role.BEST, 2, wall=value(1)),
    ]
    for rows, length in ((narrow, 15.6), (wide, 31.2)):
        bars = draw(draw_plain_bars(replace(BUSY, rows=rows), compact=True))
        assert lengths(bars, ".bars-bar > .unknown") == [62.5, length]
    assert len(bars.select(".end path")) == 1  # the range goes on


def test_a_bar_without_gpu_time_is_plain_and_a_long_range_is_cut_off() -> None:
    rows = [
        row("model", Role.BEFORE, first_call=value(4, low=3, high=40)),
        row("block", Role.BEST, 2, first_call=value(2)),
    ]
    data = ChartData(typography=ENGLISH, quantities={"first_call": "first call"}, rows=rows)
    bars = draw(draw_plain_bars(data))
    assert lengths(bars, ".bars-bar > .solid") == pytest.approx([62.5, 31.2])  # of 1.6 times 4
    assert not bars.select(".waiting")
    [arrow] = bars.select(".bars-bar .end path")
    assert arrow.parent["x"] == "100.0%"
    key = [" ".join(entry.get_text().split()) for entry in bars.select(".bars-key li")]
    assert key[-2:] == ["range across machines", "range goes on"]
    shorter = row("model", Role.BEFORE, first_call=value(4, low=3, high=6))
    bars = draw(draw_plain_bars(replace(data, rows=[shorter, rows[1]])))
    assert not bars.select(".end path")  # there is room for it
    assert "range goes on" not in words(bars)
    limited = replace(data, limits={None: value(1)})
    bars = draw(draw_plain_bars(limited))
    assert {line["x1"] for line in bars.select("line.limit")} == {"15.6%"}
    assert bars.select(".bars-words")[-1].get_text() == "1 s"


def test_a_quantity_is_laid_over_the_one_that_it_is_a_part_of() -> None:
    rows = [
        row("call 1", Role.BEFORE, padded=value(256, ""), tokens=value(64, "")),
        row("call 2", Role.OTHER, padded=value(640, ""), tokens=value(480, "")),
    ]
    quantities = {"tokens": "tokens", "padded": "with padding"}
    data, part = put_whole_first(ChartData(typography=ENGLISH, quantities=quantities, rows=rows))
    assert (data.main, part) == ("padded", "tokens")
    drawing = draw_overlaid_bars(data, part=part)
    bars = draw(drawing)
    assert lengths(bars, ".bars-bar > svg") == [40, 100]
    assert lengths(bars, ".bars-bar > .solid") == [10, 75]
    assert [part.get_text() for part in bars.select(".bars-key li")] == [
        " with padding",
        " tokens",
    ]
    assert {part["class"][-1] for part in bars.select(".solid")} == {"other"}
    assert drawing.table.rows[1] == ["call 2", "640", "480"]
    assert bars.find(role="img")["aria-label"].startswith("call 1: with padding 256, tokens 64;")


def test_parts_of_a_whole_stand_behind_each_other_in_shades() -> None:
    share = {"unit": "share"}
    rows = [
        row(
            "before", Role.BEFORE, data=value(0.6, **share), step=value(0.4, **share), wall=value(2)
        ),
        row("after", Role.OTHER, data=value(0.5, **share), step=value(0.5, **share), wall=value(1)),
    ]
    quantities = {"data": "data", "step": "step", "wall": "wall time"}
    data = ChartData(typography=ENGLISH, quantities=quantities, rows=rows)
    drawing = draw_parts(data, "wall", {"data": "waiting for data"})
    bars = draw(drawing)
    segments = bars.select(".bars-bar > svg")
    assert [part["x"] for part in segments] == ["0.0%", "60.0%", "0.0%", "25.0%"]
    assert lengths(bars, ".bars-bar > svg") == [60, 40, 25, 25]
    assert [part["class"] for part in segments[:2]] == [["shade-1"], ["shade-2"]]
    assert segments[0].title.get_text() == "waiting for data: 1.2\u00a0s"
    assert drawing.table.head == ["", "waiting for data", "step", "total"]


@pytest.mark.parametrize(("step", "total"), [(0.37, "2.05 s"), (0.2, "1.64 s")])
def test_the_total_of_all_parts_is_the_whole_as_it_was_measured(step: float, total: str) -> None:
    parts = {"data": value(0.6, unit="share"), "step": value(step, unit="share")}
    rows = [row("before", Role.BEFORE, **parts, wall=value(2.05))]
    quantities = {"data": "data", "step": "step", "wall": "wall time"}
    data = ChartData(typography=ENGLISH, quantities=quantities, rows=rows)
    drawing = draw_parts(data, "wall", {})
    drawn = draw(drawing).select_one(".bars-words").get_text()
    assert drawn == drawing.table.rows[0][-1]
    assert drawn.split() == total.split()


def lines_of(sizes: Sequence[object]) -> ChartData:
    rows = [
        replace(row(name, role, gpu=value(factor * (number + 1) * 1e-3)), size=size)
        for name, role, factor in (("plain", Role.BEFORE, 4), ("graph", Role.BEST, 1))
        for number, size in enumerate(sizes)
    ]
    return ChartData(
        typography=ENGLISH, quantities={"gpu": "GPU time"}, rows=rows, size_name="layers"
    )


def test_lines_go_over_sizes_and_are_named_where_they_end() -> None:
    plot = draw(draw_lines(lines_of([10, 100])))
    plain, graph = plot.select("polyline")
    assert plain["class"][:2] == ["curve", "before"]
    assert graph["class"][:2] == ["curve", "best"]

    def heights(line: Tag) -> list[float]:
        return [float(point.partition(",")[2]) for point in line["points"].split()]

    assert heights(plain)[1] < heights(plain)[0] < heights(graph)[0]  # more time is further up
    names = plot.select(".plot-labels text")
    assert [name.get_text() for name in names] == ["plain", "graph"]
    assert float(names[0]["y"].rstrip("%")) == pytest.approx(heights(plain)[1], abs=0.01)
    assert {"10", "100"} <= {text.get_text() for text in plot.select(".plot-area text")}
    with pytest.raises(ValueError, match="'many' is not a number above 0"):
        draw_lines(lines_of([1, "many"]))


def test_names_beside_a_plot_keep_a_distance() -> None:
    assert spread([10.0, 12.0, 50.0], 5.0) == [10.0, 15.0, 50.0]
    assert spread([98.0, 99.0], 5.0) == [95.0, 100.0]
    assert wrap("padded to eight sizes", 12) == ["padded to", "eight sizes"]
    assert wrap("填充 长度", 6) == ["填充", "长度"]  # each letter is two wide
    assert wrap("deja\N{COMBINING ACUTE ACCENT} vu", 7) == ["deja\N{COMBINING ACUTE ACCENT} vu"]


def test_a_scatter_shows_the_frontier_and_joins_a_budget() -> None:
    measured = {
        "eager": (0.12, 40e9),
        "checkpoint": (0.16, 22e9),
        "budget 0.1": (0.13, 16e9),
        "budget 0.5": (0.11, 20e9),
        "budget 1": (0.10, 30e9),
    }
    rows = [
        row(name, Role.BEST if name == "budget 0.5" else Role.OTHER, **named)
        for name, (time, memory) in measured.items()
        for named in [{"wall": value(time), "memory": value(memory, "B")}]
    ]
    quantities = {"wall": "wall time", "memory": "memory"}
    drawing = draw_scatter(
        ChartData(typography=ENGLISH, quantities=quantities, rows=rows), "budget"
    )
    assert [cells[0] for cells in drawing.table.rows if cells[-1]] == [
        "budget 0.1",
        "budget 0.5 (recommended)",
        "budget 1",
    ]
    plot = draw(drawing)
    frontier, curve = plot.select("polyline")
    assert frontier["points"] == curve["points"]
    dots = plot.select("circle.dot")
    assert len(dots) == len(measured)
    places = {dot.title.get_text().partition(":")[0]: dot for dot in dots}
    left = {name: float(dot["cx"].rstrip("%")) for name, dot in places.items()}
    assert left["budget 0.1"] < left["checkpoint"] < left["eager"]
    top = {name: float(dot["cy"].rstrip("%")) for name, dot in places.items()}
    assert top["checkpoint"] < top["eager"] < top["budget 1"]
    assert places["budget 0.5"]["class"] == ["dot", "best"]
    assert places["eager"].title.get_text() == "eager: 120 ms, 40 GB"


def test_on_the_frontier_nothing_is_both_faster_and_smaller() -> None:
    assert find_frontier([(5, 90), (10, 40), (20, 95), (30, 95)]) == [(5, 90), (20, 95)]


def test_a_picture_of_time_has_a_row_for_each_lane() -> None:
    lanes = [
        Lane(name="CPU", is_cpu=True, spans=[(0.0, 0.001), (0.002, 0.003), (0.003, 0.004)]),
        Lane(name="GPU", is_cpu=False, spans=[(0.001, 0.0015), (0.0014, 0.002)]),
    ]
    drawing = draw_spans(SpansData(typography=ENGLISH, lanes=lanes, case="a step"))
    picture = draw(drawing)
    cpu, gpu = picture.select("path")
    assert (cpu["class"], gpu["class"]) == (["cpu"], ["gpu"])
    assert cpu["d"] == "M0 .5h500m500 0h1000"
    assert gpu["d"] == "M500 .5h500"
    assert picture.find(role="img")["aria-label"] == (
        "CPU: spans 3, busy until its end 75%; GPU: spans 2, busy until its end 50%"
    )
    ticks = [(text["x"], text.get_text()) for text in picture.select(".spans-axis text")]
    assert ticks[0] == ("0.00%", "0")
    assert ticks[-1] == ("100.00%", "4\u00a0ms")
    name, characters, share = drawing.notebook.rows[0]
    assert (name, share) == ("CPU", "75%")
    assert characters == "█" * 12 + "·" * 12 + "█" * 24


def test_lanes_stand_in_the_order_in_which_they_begin() -> None:
    spans = {"first call": [(2.0, 3.0)], "import": [(0.0, 2.0)], "never": []}
    lanes = [Lane(name=name, is_cpu=False, spans=lane) for name, lane in spans.items()]
    assert [lane.name for lane in sort_lanes(lanes)] == ["import", "first call", "never"]


def test_lanes_of_a_variant_stand_together_and_the_longest_comes_first() -> None:
    spans = {
        "CPU, default": [(0.0, 0.7)],
        "CPU, eager": [(0.0, 0.7), (0.8, 0.9)],
        "GPU, default": [(0.01, 0.7)],
        "GPU, eager": [(0.02, 0.9)],
    }
    lanes = []
    for name, lane in spans.items():
        variant = name.partition(", ")[2]
        lanes.append(Lane(name=name, is_cpu=name < "D", spans=lane, variant=variant))
    names = ["CPU, eager", "GPU, eager", "CPU, default", "GPU, default"]
    assert [lane.name for lane in sort_lanes(lanes)] == names


def test_spans_beside_longer_ones_have_their_axis() -> None:
    lanes = [Lane(name="import", is_cpu=True, spans=[(0.0, 2.0)])]
    drawing = draw_spans(SpansData(typography=ENGLISH, lanes=lanes, least_end=4.0))
    path = BeautifulSoup(drawing.html, "html.parser").select_one(".spans-lane path")
    assert path["d"] == "M0 .5h1000"
    # A notebook has the same axis
    assert drawing.notebook.head[1] == "from 0 to 4\u00a0s"
    _name, characters, share = drawing.notebook.rows[0]
    assert characters == "█" * 24 + "·" * 24
    assert share == "2\u00a0s"


def test_lanes_of_a_span_each_say_when_it_was_and_not_how_busy() -> None:
    spans = {"import": [(0.0, 2.0)], "first call": [(2.0, 3.5)], "never": []}
    lanes = [Lane(name=name, is_cpu=False, spans=lane) for name, lane in spans.items()]
    drawing = draw_spans(SpansData(typography=ENGLISH, lanes=lanes))
    assert drawing.table.head == ["", "begins after", "takes"]
    assert drawing.table.rows == [
        ["import", "0", "2\u00a0s"],
        ["first call", "2\u00a0s", "1.5\u00a0s"],
        ["never", "", ""],
    ]
    label = draw(drawing).find(role="img")["aria-label"].replace("\u00a0", " ")
    assert label == (
        "import: begins after 0, takes 2 s; first call: begins after 2 s, takes 1.5 s; never"
    )


def test_spans_that_cannot_be_told_apart_are_drawn_as_one() -> None:
    spans = [(0.0, 1.0), (1.01, 2.0), (3.0, 4.0)]
    assert merge(spans) == spans
    assert merge(spans, 0.1) == [(0.0, 2.0), (3.0, 4.0)]


def test_changes_of_a_release_lie_around_one() -> None:
    changes = [
        ChangeRow(label="GPU time", ratio=1.5, low=1.4, high=1.6, hosts=4),
        ChangeRow(label="first call", ratio=0.8, low=0.7, high=0.9, hosts=4),
        ChangeRow(label="memory", ratio=1.01, low=0.99, high=1.02, hosts=1),
    ]
    drawing = draw_changes(changes, ENGLISH)
    plot = draw(drawing)
    dots = plot.select("circle")
    assert [dot["class"][-1] for dot in dots] == ["better", "worse", "unclear"]
    (one,) = {line["x1"] for line in plot.select("line.one")}
    better, worse, _unclear = [float(dot["cx"].rstrip("%")) for dot in dots]
    assert worse < float(one.rstrip("%")) < better
    ranges = [(line["x1"], line["x2"]) for line in plot.select("line.whisker")]
    assert [float(low.rstrip("%")) < better for low, _high in ranges[:1]] == [True]
    assert drawing.table.rows[0] == ["GPU time", "1.5× (1.4× to 1.6× on 4 machines)"]
    assert drawing.table.rows[2] == ["memory", "1.01× (one machine)"]
    assert draw_changes([], ENGLISH) is None


def test_an_axis_that_is_not_logarithmic_has_equal_steps() -> None:
    assert Scale(low=0, high=4e-3, start=0, end=100).ticks(6) == [0, 1e-3, 2e-3, 3e-3, 4e-3]


@pytest.mark.parametrize(
    ("number", "unit", "shown"),
    [
        (0.01424, "s", "14,2 ms"),
        (0.01, "s", "10 ms"),
        (1.68e10, "B", "16,8 GB"),
        (2.736, "x", "2,74×"),
        (105_000_000, "", "105.000.000"),
    ],
)
def test_values_have_their_unit_as_in_the_language(number: float, unit: str, shown: str) -> None:
    assert format_rounded(number, unit, Typography(Locale("de"))).replace("\u00a0", " ") == shown


RECIPE = """
'''
Steps
=====

What it is about.
'''

from base64 import b64decode

from IPython.display import Image, display


START = dict(case="process", size=None, variant="compiler", quantity="start_up")
ROWS = [START | dict(value=1.0, unit="s")]
for size in (10, 100):
    for variant, quantity, value, unit in (
        ("plain", "wall", 2e-4 * size, "s"),
        ("plain", "gpu", 1e-4 * size, "s"),
        ("plain", "share", 0.5, "share"),
        ("plain", "part", 0.5, "share"),
        ("CUDA graphs", "part", 1.0, "share"),
        ("CUDA graphs", "wall", 1e-4 * size, "s"),
        ("CUDA graphs", "gpu", 1e-4 * size, "s"),
        ("plain", "memory", 4e9 * size, "B"),
        ("CUDA graphs", "memory", 5e9 * size, "B"),
    ):
        figure = dict(case="Adam", size=size, sizes="number of layers")
        figure |= dict(variant=variant, quantity=quantity)
        ROWS.append(figure | dict(value=value, unit=unit))
display({"PUBLISHED_MIMErows+json": {"rows": ROWS}}, raw=True)
LANES = {"CPU": [[0, 0.001], [0.003, 0.004]], "GPU": [[0.001, 0.002]]}
SPANS = {"case": "Adam", "unit": "s", "lanes": LANES}
display({"PUBLISHED_MIMEspans+json": SPANS}, raw=True)

# %%
# It takes :measured:`adam.10.cuda-graphs.wall`, and :claim:`graphs take less
# <10.cuda-graphs.wall < 10.plain.wall>`.
#
# .. chart:: busy
#    :case: Adam.10
#    :best: CUDA graphs
#    :hero:
#
#    A step of Adam.
#
# .. chart:: part
#    :case: Adam.10
#    :whole: wall
#
#    What a step is made of.
#
# .. chart:: wall memory
#    :case: Adam.10
#
#    Time against memory.
#
# .. spans:: Adam
#
#    What CPU and GPU do.
#
# .. chart:: gpu
#    :best: CUDA graphs
#
#    Steps of models of two sizes.

# sphinx_gallery_fold = "Code of the figure"
# sphinx_gallery_alt = "A black square"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
Image(b64decode(PNG))

# %%
# The end.
"""
RECIPE = RECIPE.replace("PUBLISHED_MIME", PUBLISHED_MIME)
QUANTITIES = """\
# .. chart:: gpu
#    :case: Adam.10
#
#    Of one size.
#
# .. chart:: wall
#
#    Of all sizes.

"""
KOREAN = {
    "CUDA graphs": "CUDA 그래프",
    "number of layers": "층의 수",
    "GPU": "그래픽 카드",
    "A step of Adam.": "Adam의 한 걸음.",
}


@dataclass
class Pages:
    """What a build left of the recipe."""

    warnings: str
    html: str
    downloads: tuple[str, str]
    pictures: list[str]  # names of files, but for the thumbnail in the list of recipes

    @property
    def charts(self) -> list[Tag]:
        return BeautifulSoup(self.html, "html.parser").select("figure.chart")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pages]:
    """The recipe, built in two languages."""
    gallery = Gallery(tmp_path_factory.mktemp("charts"), ["sphinx_recorded_gallery", "second_call"])
    gallery.set_languages("ko")
    gallery.add("steps", RECIPE)
    gallery.translate("recipes/steps", KOREAN)
    found = {}
    for code in ("en", "ko"):
        build = gallery.build(language=code)
        files = (build.out / f"recipes/steps.{ending}" for ending in ("ipynb", "py"))
        downloads = tuple(file.read_text(encoding="utf-8") for file in files)
        files = [path.name for path in build.out.glob("_images/*")]
        pictures = [name for name in files if not name.endswith("_thumb.png")]
        found[code] = Pages(build.warnings, build.page("recipes/steps"), downloads, pictures)
    return found


def words(drawing: Tag) -> list[str]:
    """Return the words of a drawing, which have a line each."""
    parts = drawing.select("text, .bars-name, .bars-words, .bars-key li, .spans-name, .plot p")
    return [" ".join(part.get_text(" ").split()) for part in parts]


def cells(chart: Tag) -> list[list[str]]:
    """Return the figures that a page folds below a chart."""
    return [
        [cell.get_text().replace("\u00a0", " ") for cell in line.select("th, td")]
        for line in chart.select("tr")
    ]


def test_each_form_is_drawn(pages: dict[str, Pages]) -> None:
    assert not pages["en"].warnings
    busy, stacked, scatter, spans, lines = pages["en"].charts
    assert all(chart.find(role="img")["aria-label"] for chart in pages["en"].charts)
    assert busy["class"] == ["chart", "hero"]
    assert words(busy) == [
        *("GPU waiting", "before", "recommended"),
        *("plain", "2.0 ms", "CUDA graphs", "1.0 ms · 2.0×"),
    ]
    assert lengths(busy, ".bars-bar > svg") == [100, 50]
    assert lengths(busy, ".bars-bar > .solid") == [50, 50]
    assert [part["class"][-1] for part in busy.select(".bars-bar > .solid")] == ["before", "best"]
    assert cells(busy) == [
        ["", "wall time", "speed-up", "GPU time", "GPU busy"],
        ["plain", "2.0 ms", "", "1.0 ms", "50%"],
        ["CUDA graphs", "1.0 ms", "2.0×", "1.0 ms", "100%"],
    ]
    assert words(stacked) == ["part", "plain", "1 ms", "CUDA graphs", "1.0 ms"]
    assert [line[:3] for line in cells(scatter)[1:]] == [
        ["plain", "2.0 ms", "40 GB"],
        ["CUDA graphs", "1.0 ms", "50 GB"],
    ]
    assert words(spans)[:2] == ["CPU", "GPU"]
    assert cells(spans)[1:] == [["CPU", "2", "50%"], ["GPU", "1", "50%"]]
    assert {"plain", "CUDA graphs", "limit", "GPU time", "number of layers", "10", "100"} <= {
        *words(lines)
    }
    reached = [title.get_text() for title in lines.select(".reach title")]
    assert reached[1] == "plain: 10\u00a0ms"
    assert lines.select_one("polyline.limit")
    assert lines.select_one("polyline.best")


def test_a_caption_says_why_a_shorter_bar_is_not_recommended(languages_site: Path) -> None:
    """A stranger takes the shortest bar for the best."""
    unexplained = []
    explained = 0
    for path in sorted((languages_site / "en/recipes").glob("*.html")):
        page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for figure in page.select("figure.chart:has(.bars-name.best)"):
            names = [name.get_text() for name in figure.select(".bars-name")]
            if "tokens" in figure.figcaption.get_text():  # more of them is better
                continue
            bars = [bar for bar in figure.select(".bars-bar") if bar.select(":scope > .solid")]
            drawn = [bar.select(":scope > :is(svg[width], .solid)")[0]["width"] for bar in bars]
            by_name = dict(zip(names, (float(width.rstrip("%")) for width in drawn), strict=False))
            best = by_name[figure.select_one(".bars-name.best").get_text()]
            if min(by_name.values()) == best:
                continue
            explained += 1
            if not WHY_NOT.search(figure.figcaption.get_text(" ")):
                unexplained.append(f"{path.stem}: {figure.figcaption.get_text(' ')}")
    assert explained > 5
    assert not unexplained


@pytest.mark.slow
def test_a_chart_has_variants_of_other_cases_by_the_names_of_these(gallery: Gallery) -> None:
    start, end = RECIPE.index("# .. chart:: busy"), RECIPE.index("# sphinx_gallery_fold")
    chart = """\
# .. chart:: memory
#    :case: Adam.10
#    :only: CUDA graphs, adam.100.plain, plain
#    :best: adam.100.plain
#
#    Of two sizes.
"""
    recipe = RECIPE[:start] + chart + "\n" + RECIPE[end:]
    gallery.add("steps", recipe)
    build = gallery.build()
    assert not build.warnings
    drawn = BeautifulSoup(build.page("recipes/steps"), "html.parser").select_one("figure.chart")
    assert drawn
    assert words(drawn)[3:] == [
        *("CUDA graphs", "50 GB"),
        *("Adam · number of layers: 100", "400 GB · 0.12×"),
        *("plain", "40 GB · 1.2×"),
    ]
    [best] = drawn.select(".bars-name.best")
    assert best.get_text().endswith("100")
    gallery.write("steps", recipe.replace("adam.100.plain", "adam.1000.plain"))
    told = ":best: adam.1000.plain is not a variant; choose among: plain, cuda-graphs"
    assert gallery.build().warnings.count(told) == 1


@pytest.mark.slow
def test_a_chart_of_a_quantity_follows_its_rows(gallery: Gallery) -> None:
    start, end = RECIPE.index("# .. chart:: busy"), RECIPE.index("# sphinx_gallery_fold")
    recipe = RECIPE[:start] + QUANTITIES + RECIPE[end:]
    gallery.add("steps", recipe)
    build = gallery.build()
    assert not build.warnings
    drawn = BeautifulSoup(build.page("recipes/steps"), "html.parser").select("figure.chart")
    bars, lines = map(words, drawn)
    assert bars == [
        "before",
        "other",
        "plain",
        "1.0 ms",
        "CUDA graphs",
        "1.0 ms · 1.0×",
        "limit",
        "500 µs",
    ]
    assert {"wall time", "number of layers", "10", "100", "CUDA graphs"} <= {*lines}
    notebook = (build.out / "recipes/steps.ipynb").read_text(encoding="utf-8")
    assert "Of all sizes." in notebook
    for told, old, new in (
        ("wall was measured in 2 cases; name one by :case:", '"start_up"', '"wall"'),
        ("the size '0' is not a number above 0", "(10, 100)", "(0, 100)"),
    ):
        gallery.write("steps", recipe.replace(old, new))
        gallery.record("steps")
        assert told in gallery.build().warnings


def test_words_of_a_chart_are_translated(pages: dict[str, Pages]) -> None:
    busy, stacked, scatter, spans, lines = pages["ko"].charts
    assert "CUDA 그래프" in words(busy)
    assert "Adam의 한 걸음." in busy.figcaption.get_text()
    assert "CUDA 그래프" in words(stacked)
    assert "층의 수" in words(lines)
    assert "CUDA 그래프(recommended)" in busy.find(role="img")["aria-label"]
    assert "CUDA 그래프" in words(scatter)
    assert "그래픽 카드" in words(spans)
    assert not any("CUDA graphs" in chart.get_text() for chart in pages["ko"].charts)


def test_evidence_and_figures_have_the_names_of_charts(pages: dict[str, Pages]) -> None:
    page = BeautifulSoup(pages["ko"].html, "html.parser")
    evidence = page.find(class_="claim-measured")
    assert evidence.get_text() == "1.0\u00a0ms(CUDA 그래프) < 2.0\u00a0ms(plain)"
    assert [each.get_text() for each in evidence.find_all(class_="recorded-data")] == ["plain"]
    listed = page.find(class_="figure-list").li.get_text()
    assert listed.startswith("Adam · 층의 수: 10 · CUDA 그래프 · 경과 시간: ")


def test_tables_say_what_they_are_of(pages: dict[str, Pages]) -> None:
    device = pages["en"].html.partition("Recorded on ")[2].partition(",")[0].partition(" with")[0]
    for chart in pages["en"].charts[:3]:
        told = chart.find("caption").get_text()
        medians = f"medians on {device} (processes: 1, machines: 1)"
        assert told == f"Adam · number of layers: 10 · {medians}"


def test_notebook_and_script_have_bars_of_characters(pages: dict[str, Pages]) -> None:
    notebook, script = pages["en"].downloads
    text = "\n".join(
        "".join(cell["source"])
        for cell in json.loads(notebook)["cells"]
        if cell["cell_type"] == "markdown"
    )
    assert f"`{'█' * 12}{'░' * 12}`" in text
    assert "█ GPU working, ░ GPU waiting" in text
    assert f"`{'█' * 12}`" in text
    assert f"`{'█' * 12}{'·' * 24}{'█' * 12}`" in text  # spans
    assert f"`{'█' * 12}{'░' * 12}`" in script


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1440])
def test_charts_are_accessible_and_fit(
    browser: Browser, pages: dict[str, Pages], scheme: str, width: int
) -> None:
    with browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900}) as page:
        page.set_content(pages["en"].html)
        page.add_style_tag(path=ROOT / "_static/theme.css")
        page.add_style_tag(path=ROOT / "_static/site.css")
        charts = {"include": [["figure.chart"]]}
        results = Axe().run(page, context=charts, options={"resultTypes": ["violations"]})
        assert results.response["violations"] == []
        boxes = [chart.bounding_box() for chart in page.locator("figure.chart .bars-bar").all()]
        assert boxes
        assert all(0 <= box["x"] <= width - box["width"] for box in boxes if box)


def test_a_chart_stands_in_place_of_the_figure_behind_it(pages: dict[str, Pages]) -> None:
    page = pages["en"].html
    assert pages["en"].pictures == []
    assert "A black square" not in page
    assert "Code of the figure" not in page
    for text in pages["en"].downloads:
        assert "b64decode(PNG)" in text
        assert "A step of Adam." in text  # below its table


OTHERS = """
.. chart:: wall

   Text.

.. chart:: wall
   :case: Adam

.. chart::

   Text.

.. chart:: wall
   Text below.

.. spans:: Adam
   :beside SGD

   Text.

.. chart:: wall

   :best: once

   Text.

"""


EMPTY = '''
"""
Empty
=====

.. chart:: wall

   Nothing.
"""

x = 1
'''


@pytest.mark.slow
def test_a_wrong_chart_is_told_in_one_line(gallery: Gallery) -> None:
    gallery.add("steps", RECIPE)
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + OTHERS)
    warnings = gallery.build().warnings
    for told in (
        "chart: this page is not a recipe; name one by :recipe:",
        "chart: it needs a caption, a sentence below its options",
        "chart: it needs a quantity, for example: .. chart:: wall",
        "chart: 'Text below.' is neither an option nor the caption; write options as :name: value,",
        "chart: ':best: once' stands below an empty line, where the caption begins; write options",
        "spans: ':beside SGD' is neither an option nor the caption; write options as :name: value,",
    ):
        assert told in warnings
    for told, old, new in (
        ("its case has several sizes; choose one by :case:", "Adam.10", "Adam"),
        ("no quantity is called 'hole'; choose among: ", ":whole: wall", ":whole: hole"),
        ("no quantity is called 'wal'; similar: wall [", ":: gpu\n", ":: wal\n"),
        ("no quantity is called 'bsy'; similar: busy [", ":: gpu\n", ":: bsy\n"),
        ("'adam.10.plain.wall'; similar: wall [", ":: gpu\n", ":: adam.10.plain.wall\n"),
        ("no quantity is called 'wall@2.9'; similar: wall [", ":: gpu\n", ":: wall@2.9\n"),
        (
            ":best: graph is not a variant; choose among: plain, ",
            ":best: CUDA graphs",
            ":best: graph",
        ),
        (
            ":only: plan is not a variant; choose among: plain, ",
            ":hero:",
            ":only: plan, CUDA graphs",
        ),
        (
            ":best: plain is worse than the first variant (0.50×); recommend another one",
            ":best: CUDA graphs",
            ":only: CUDA graphs, plain\n#    :best: plain",
        ),
        ("is missing from :only:", ":hero:", ":only: plain"),
        ("name what they are parts of by :whole:", "wall memory", "wall, memory, gpu"),
        ("a chart of busy time has no parts; remove :whole:", ":hero:", ":whole: wall"),
        ("have a curve; remove :curve:", ":hero:", ":curve: plain"),
        ("have a curve; remove :curve:", ":whole: wall", ":whole: wall\n#    :curve: plain"),
        ("have a curve; remove :curve:", "chart:: wall memory", "chart:: gpu\n#    :curve: plain"),
        ("no spans are published of a case 'SGD'; published are: 'Adam'", ":: Adam", ":: SGD"),
    ):
        gallery.write("steps", RECIPE.replace(old, new, 1))
        warnings = gallery.build().warnings
        assert warnings.count(told) == 1
        assert "no measurement is called" not in warnings  # a chart takes no such keys
    gallery.write("steps", RECIPE.replace(":case: Adam.10\n", ":case: Adan.10\n", 1))
    warnings = gallery.build().warnings
    told = "'Adan.10' is not a case with wall; write :case: with one of: Adam.10, Adam.100"
    assert warnings.count(told) == 1
    assert "no measurement is called" not in warnings  # the case is told once, not each key of it
    gallery.add("empty", EMPTY)
    told = "no quantity is called 'wall'; this recipe publishes no rows: add display({"
    assert gallery.build().warnings.count(told) == 1
    gallery.write("steps", RECIPE + "\nsizes = {\n")
    warnings = gallery.build().warnings
    assert "'{' was never closed" in warnings
    assert "steps.rst" not in warnings  # a file that no author has
