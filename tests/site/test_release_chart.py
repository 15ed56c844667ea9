"""The directive ``release-chart``: what changed most between two releases; links to its page."""

import platform

import pytest
from bs4 import BeautifulSoup, Tag

from sphinx_recorded_gallery.measurements.rows import Row
from tests.helpers.gallery import Gallery
from tests.helpers.measured_recipe import add, add_replicate

HERE = ".".join(platform.python_version_tuple()[:2])  # of the run that a page shows
CHART = f".. release-chart:: {HERE} 2.11\n\n   Above 1× is better."
UNITS = {"gpu": "s", "memory": "B", "speedup": "x", "first_call": "s", "cpu": "s"}


@pytest.fixture
def released(gallery: Gallery) -> Gallery:
    """Tells releases of Python apart, as if it were what recipes measure."""
    gallery.recipes.joinpath("recording.toml").write_text('[provenance]\nrelease = "python"\n')
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n{CHART}\n")
    add(gallery, "Text.")
    return gallery


def measure(gallery: Gallery, host: str, version: str, **values: float) -> None:
    """Let a host measure a variant with a version."""
    rows = [
        Row(case="Adam", variant="fused", size=None, quantity=name, unit=UNITS[name], value=value)
        for name, value in values.items()
    ]
    add_replicate(gallery, rows=rows, host=host, versions={"python": f"{version}.0"})


def chart_of(gallery: Gallery) -> Tag | None:
    build = gallery.build()
    assert build.warnings == ""
    return BeautifulSoup(build.page("index"), "html.parser").find("figure")


def lines(chart: Tag) -> list[tuple[str, str]]:
    names = [name.get_text() for name in chart.select(".bars-name")]
    return list(
        zip(names, [words.get_text() for words in chart.select(".bars-words")], strict=True)
    )


def test_without_a_machine_of_both_releases_there_is_no_chart(released: Gallery) -> None:
    measure(released, "a", HERE, gpu=1)
    measure(released, "b", "2.11", gpu=2)
    assert chart_of(released) is None


def test_one_machine_tells_what_the_gpu_bounds_alone(released: Gallery) -> None:
    measure(released, "a", HERE, gpu=1, memory=3e9, first_call=1)
    measure(released, "a", "2.11", gpu=2, memory=2e9, first_call=9)
    chart = chart_of(released)
    assert lines(chart) == [
        ("GPU time: steps\u00a0· Adam\u00a0· fused", "2×"),
        ("memory: steps\u00a0· Adam\u00a0· fused", "0.667×"),
    ]
    assert chart.find("figcaption").get_text().strip() == "Above 1× is better."


def test_several_machines_tell_more_and_above_one_is_better(released: Gallery) -> None:
    for host, luck in (("a", 1.0), ("b", 1.01), ("c", 0.99)):
        measure(released, host, HERE, speedup=4 * luck, first_call=4, cpu=1)
        measure(released, host, "2.11", speedup=2, first_call=2 * luck, cpu=2)
    chart = chart_of(released)
    assert lines(chart) == [
        ("speed-up: steps\u00a0· Adam\u00a0· fused", "2×"),
        ("first call: steps\u00a0· Adam\u00a0· fused", "0.5×"),
    ]
    assert "2× (1.98× to 2.02× on 3 machines)" in chart.get_text()
    classes = [dot["class"][-1] for dot in chart.select("circle")]
    assert classes == ["better", "worse"]


def test_a_chart_needs_a_caption(released: Gallery) -> None:
    add(released, f"Text.\n\n.. release-chart:: {HERE} 2.11")
    assert "release-chart: it needs a caption" in released.build().warnings


def test_recipes_link_to_what_changed_beside_their_downloads(released: Gallery) -> None:
    changed = released.root / "changed.rst"
    changed.write_text(":orphan:\n\n.. _changed:\n\nWhat changed\n============\n")
    settings = {"second_call_releases": {"python": (HERE, "changed")}}
    page = BeautifulSoup(released.build(**settings).page("recipes/steps"), "html.parser")
    [link] = [a for a in page.select(".recipe-actions a") if a.get_text() == "What changed"]
    assert link["href"] == "../changed.html#changed"
    changed.write_text(changed.read_text().replace("What changed\n", "What is new\n"))
    page = BeautifulSoup(released.build(**settings).page("recipes/steps"), "html.parser")
    assert "What is new" in page.select_one(".recipe-actions").get_text()
