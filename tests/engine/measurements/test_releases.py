"""Releases: processes that measured different ones are never pooled, and pages can name another."""

import platform
import re

import pytest

from sphinx_recorded_gallery.measurements.keys import parse_claim, parse_reference, parse_role
from sphinx_recorded_gallery.measurements.processes import has_size
from sphinx_recorded_gallery.measurements.rows import Row
from sphinx_recorded_gallery.recipes.releases import find_release, sort_releases
from tests.helpers.gallery import Build, Gallery
from tests.helpers.measured_recipe import SPEEDUP, WINS, add, add_replicate, figure, row_of, steps

HERE = ".".join(platform.python_version_tuple()[:2])  # of the run that a page shows
OLD = {"python": "2.11.4"}


@pytest.mark.parametrize(
    ("version", "release"),
    [("2.15.0", "2.15"), ("2.15.1+cu132", "2.15"), ("2.16.0a0", "2.16"), ("3", "3"), ("x", "")],
)
def test_a_release_is_the_first_two_components_of_a_version(version: str, release: str) -> None:
    assert find_release({"torch": version}, "torch") == release
    assert find_release({"torch": version}, "") == ""
    assert find_release({"numpy": version}, "torch") == ""


def test_releases_are_sorted_as_numbers() -> None:
    assert sort_releases(["2.9", "2.11", "", "2.9", "10"]) == ["10", "2.11", "2.9", ""]


def test_a_key_may_name_a_release() -> None:
    reference = parse_reference("others:adam.wall@2.11")
    assert (reference.recipe, reference.key, reference.release) == ("others", "adam.wall", "2.11")
    assert reference.name == "others:adam.wall@2.11"
    claim = parse_claim("so {a.wall} and {b.wall@2.9} <others:a.wall < b.wall@2.11>")
    assert (claim.claim.key, claim.claim.release) == ("a.wall < b.wall", "2.11")
    told = ":claim:`{others:a.wall@2.11} {others:b.wall@2.9} <others:a.wall < b.wall@2.11>`"
    assert claim.signature == told


def test_only_a_claim_is_read_as_one() -> None:
    assert parse_role("claim", "so <a < b>") == parse_claim("so <a < b>")
    assert parse_role("measured", "a.wall") == parse_reference("a.wall")
    with pytest.raises(ValueError, match="no role is called 'assumed'"):
        parse_role("assumed", "so <a < b>")


@pytest.mark.parametrize("target", ["a@2.11 < b@2.11", "a@2.11 < b"])
def test_a_claim_is_of_one_release(target: str) -> None:
    with pytest.raises(ValueError, match=r"write it once at the end, such as @2\.11"):
        parse_claim(f"so <{target}>")


@pytest.mark.parametrize("target", ["a < b @ 2.11", "a < b@", "a < b@2.11 beta"])
def test_a_release_stands_right_behind_its_sign(target: str) -> None:
    told = f"<{target}> needs a release right behind the @, such as @2.11"
    with pytest.raises(ValueError, match=re.escape(told)):
        parse_claim(f"so <{target}>")


@pytest.mark.parametrize("target", ["first_call: 2 < ", "first_call: 2 < < 4"])
def test_a_size_may_not_be_missing(target: str) -> None:
    with pytest.raises(ValueError, match="a size is missing in the claim <first_call: 2"):
        parse_claim(f"so <{target}>")


@pytest.mark.parametrize(
    ("size", "wanted", "fits"),
    [
        (8, "8", True),
        ("2^20", "2-20", True),
        (8, "", True),
        (None, "", True),
        (None, "None", False),
    ],
)
def test_a_claim_over_sizes_needs_a_size(size: str | None, wanted: str, *, fits: bool) -> None:
    assert has_size(size, wanted) == fits


@pytest.fixture
def released(gallery: Gallery) -> Gallery:
    """Tells releases of Python apart, as if it were what recipes measure."""
    gallery.recipes.joinpath("recording.toml").write_text(
        f'[provenance]\nrelease = "python"\ncurrent = "{HERE}"\n'
    )
    gallery.configure(recorded_gallery_package_names={"python": "Python"})
    return gallery


def speedup(value: float) -> Row:
    return row_of(figure(value=value))


def shown(build: Build) -> str:
    return re.sub(r"<[^>]+>", "", build.page("recipes/steps"))


def test_a_page_shows_the_release_of_its_run_and_others_by_name(released: Gallery) -> None:
    add(released, f"It is :measured:`{SPEEDUP}`; it was :measured:`{SPEEDUP}@2.11`.")
    for host in "abc":
        add_replicate(released, rows=[speedup(9.1)], host=host, versions=OLD)
    build = released.build()
    assert build.warnings == ""
    assert "It is 2.7×; it was 9.10×." in shown(build)
    assert "fused · speed-up · Python 2.11: 9.10×" in shown(build)
    add_replicate(released, rows=[speedup(2.6)], host="d", versions={"python": f"{HERE}.0"})
    assert "It is 2.67×; it was 9.10×." in shown(released.build())


def test_without_a_setting_all_processes_are_of_one_release(gallery: Gallery) -> None:
    add(gallery, f"It is :measured:`{SPEEDUP}`; :measured:`{SPEEDUP}@2.11`.")
    for host in "abc":
        add_replicate(gallery, rows=[speedup(9.1)], host=host, versions=OLD)
    build = gallery.build()
    assert "It is 9.1×" in shown(build)
    told = "steps.py:5: releases are not told apart, so there is no 2.11; name the package in "
    assert told + "recording.toml: [provenance] release" in build.warnings


def test_a_claim_holds_in_its_release(released: Gallery) -> None:
    add(released, f":claim:`It wins <{WINS}>`, :claim:`as it did <{WINS}@2.11>`.")
    slow, fast = 0.05, 0.01
    add_replicate(released, rows=steps(slow), host="a", versions=OLD)
    told = f'the claim "as it did" ({WINS}@2.11) does not hold in 1 of 1 processes'
    assert told in released.build().warnings
    # What a page showed before it was recorded with the current release is a line, too.
    released.recordings.joinpath("steps.jsonl").unlink()
    add_replicate(released, rows=steps(slow), host="a", versions=OLD, replicate=0)
    told = "in 1 of 1 processes: the page's run with 2.11 on host a: 0.05 s against 0.039 s"
    assert told in released.build().warnings
    released.recordings.joinpath("steps.jsonl").unlink()
    add_replicate(released, rows=steps(fast), host="a", versions=OLD)
    build = released.build()
    assert build.warnings == ""
    assert "Python 2.11: 10\u00a0ms (fused) &lt; 39\u00a0ms (foreach)" in shown(build)


def test_an_unknown_release_is_one_line_that_names_those_there_are(released: Gallery) -> None:
    add(released, f"It is :measured:`{SPEEDUP}@2.9`.")
    add_replicate(released, rows=steps(), versions=OLD)
    told = released.build().warnings
    line = f"steps.py:5: nothing was measured with python 2.9; measured releases: {HERE}, 2.11"
    assert line in told
    assert told.count("WARNING") == 1


def test_a_cpu_may_lack_a_release_only_if_some_process_measured_it(released: Gallery) -> None:
    released.configure(recorded_gallery_gpu_figures=True)
    add(released, f"It was :measured:`{SPEEDUP}@2.11`.\n\n:claim:`It wins <{WINS}@2.99>`.")
    gpu = {"gpu": "Some GPU", "cpu": "CPU", "cores": 2}
    add_replicate(released, rows=steps(), versions=OLD, device=gpu, fingerprint="of other code")
    build = released.build()
    assert "It was [not measured here]." in shown(build)
    line = f"steps.py:7: nothing was measured with python 2.99; measured releases: {HERE}"
    assert line in build.warnings
    assert build.warnings.count("WARNING") == 1


def test_measurements_that_a_page_names_by_release_are_read_again(released: Gallery) -> None:
    add(released, f"It was :measured:`{SPEEDUP}@2.11`.")
    add_replicate(released, rows=[speedup(9.1)], host="a", versions=OLD)
    assert "It was 9.1×." in shown(released.build())
    add_replicate(released, rows=[speedup(8.1)], host="b", versions=OLD)
    build = released.build()
    assert (build.read, "It was 8.6×." in shown(build)) == (["recipes/steps"], True)
