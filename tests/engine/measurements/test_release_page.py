"""The directive ``releases``: sentences and a table of what moved between two releases."""

import platform
import re
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup, Tag

from sphinx_recorded_gallery.measurements.rows import Row
from tests.helpers.gallery import Gallery
from tests.helpers.measured_recipe import WINS, add, add_replicate, steps

HERE = ".".join(platform.python_version_tuple()[:2])  # of the run that a page shows
OLD = {"python": "2.11.4"}
DIRECTIVE = f".. releases:: {HERE} 2.11"


@pytest.fixture
def released(gallery: Gallery) -> Gallery:
    """Tells releases of Python apart, as if it were what recipes measure."""
    gallery.recipes.joinpath("recording.toml").write_text('[provenance]\nrelease = "python"\n')
    gallery.configure(recorded_gallery_package_names={"python": "Python"})
    return gallery


def kernels(value: float) -> Row:
    known = {"case": "Adam", "variant": "fused", "size": None, "quantity": "kernels", "unit": ""}
    return Row(**known, value=value)  # type: ignore[arg-type]


def measure_both(gallery: Gallery, *, hosts: int = 1) -> None:
    """Let hosts measure both releases: the steps of fused took 50 ms, and fewer kernels."""
    here = str(gallery.recording("steps").facts["host"])
    for host in [here, "b", "c"][:hosts]:
        new = [*steps(), kernels(1234)]
        add_replicate(gallery, rows=new, host=host, versions={"python": f"{HERE}.0"})
        old = [*steps(0.05), kernels(1000)]
        add_replicate(gallery, rows=old, host=host, versions=OLD)


def read_page(gallery: Gallery, name: str = "recipes/steps") -> Tag:
    build = gallery.build()
    assert build.warnings == ""
    return BeautifulSoup(build.page(name), "html.parser")


def sentences(page: Tag) -> list[str]:
    folded = page.find("details", class_="release-changes")
    listed = folded.find_previous("ul")
    return [item.get_text(" ", strip=True) for item in listed("li")]


def test_a_recipes_page_tells_what_moved_in_it(released: Gallery) -> None:
    add(released, f"Text, :claim:`it wins <{WINS}>`.\n\n{DIRECTIVE}")
    measure_both(released)
    page = read_page(released)
    assert (
        f"Python {HERE} compared with 2.11 on 1 machine: the spread between machines is unknown."
        in str(page)
    )
    claim, moved, unknown = sentences(page)
    fused = (
        "14.0\u00a0ms ( fused ) < 39.0\u00a0ms ( foreach ); "
        "2.11: 50\u00a0ms ( fused ) · 39\u00a0ms ( foreach )"
    )
    assert re.sub(" +", " ", claim) == f"Holds with {HERE} but not with 2.11: {fused}"
    assert moved == "kernels: up by 23% in the only measurement"
    assert unknown == "Unknown, because they depend on the CPU of the only machine: step"
    table = page.select_one("details.release-changes table")
    lines = [[cell.get_text(strip=True) for cell in row.select("th, td")] for row in table("tr")]
    assert lines == [
        ["", "2.11", HERE, "change"],
        ["Adam·fused· kernels", "1,000", "1,234", "1.23× on 1 machine"],
    ]


def test_several_machines_have_a_range(released: Gallery) -> None:
    add(released, f"Text.\n\n{DIRECTIVE}")
    measure_both(released, hosts=3)
    page = read_page(released)
    assert (
        f"Python {HERE} compared with 2.11 on the 3 machines where both were measured."
        in page.get_text()
    )
    relative = "(relative to the baseline)"
    assert f"step: down by 72% in 1 of 2 measurements {relative}" in sentences(page)
    cells = page.select_one("details.release-changes table")("td")
    assert cells[2].get_text(strip=True) == "0.28× on each of 3 machines"


def test_another_page_tells_it_of_all_recipes(released: Gallery) -> None:
    index = released.root / "index.rst"
    index.write_text(f"{index.read_text()}\n{DIRECTIVE}\n")
    add(released, "Text.")
    add(released, "Text.", "others")
    add_replicate(released, rows=steps(), host="b", versions=OLD)
    add_replicate(released, rows=steps(), name="others", host="b", versions=OLD)
    page = read_page(released, "index")
    none = f"No machine has measured any example with both {HERE} and 2.11 yet."
    assert page.find("p", string=none)
    measure_both(released)
    page = read_page(released, "index")
    assert "All pages together" not in page.get_text()  # there is only one
    assert page.find("p", class_="rubric").a["href"] == "recipes/steps.html"
    folded = page.select_one("details.release-changes")
    assert "kernels: up by 23% in the only measurement" in folded.get_text()
    told = page.find(string=re.compile("No machine has measured both")).parent
    assert told.a["href"] == "recipes/others.html"
    here = str(released.recording("others").facts["host"])
    for versions, rows in (({"python": f"{HERE}.0"}, [kernels(1234)]), (OLD, [kernels(1000)])):
        add_replicate(released, rows=rows, name="others", host=here, versions=versions)
    page = read_page(released, "index")
    together = page.find("p", string="All pages together").find_next("ul")
    assert "kernels: up by 23% in 2 of 2 measurements" in together.get_text()
    machines = (
        f"Python {HERE} compared with 2.11 on 1 machine: the spread between machines is unknown."
    )
    assert page.get_text().count(machines) == 1
    summaries = [folded.summary.get_text() for folded in page.select("details.release-changes")]
    assert summaries == 2 * ["Moved: the only measurement (kernels)"]


def test_a_release_that_no_recipe_was_measured_with_is_told(released: Gallery) -> None:
    add(released, f"Text.\n\n.. releases:: {HERE} 2.99")
    measure_both(released)
    told = f"steps.py:7: releases: nothing was measured with 2.99; choose among: {HERE}, 2.11"
    assert told in released.build().warnings
    released.write("others", '"""\nTitle\n=====\n"""\n')
    assert "nothing was measured" not in released.build().warnings  # it may be of any release


def test_bytes_are_compared_by_their_difference(released: Gallery) -> None:
    add(released, f"Text.\n\n{DIRECTIVE}")
    here = str(released.recording("steps").facts["host"])
    for versions, memory in (({"python": f"{HERE}.0"}, 34_000_000), (OLD, 16_000)):
        rows = [*steps(), replace(kernels(memory), quantity="memory", unit="B")]
        add_replicate(released, rows=rows, host=here, versions=versions)
    page = read_page(released)
    assert "memory: up by 34 MB in the only measurement" in page.get_text().replace("\u00a0", " ")
    cells = page.select_one("details.release-changes table")("td")
    assert cells[2].get_text(strip=True).replace("\u00a0", " ") == "+34 MB"


@pytest.mark.parametrize(
    ("releases", "told"),
    [
        ("2.11 2.11", "releases: both releases are 2.11; name another one"),
        ("2.11 new", "releases: 'new' is not a release; write it like 2.15"),
    ],
)
def test_what_is_no_pair_of_releases_is_told(gallery: Gallery, releases: str, told: str) -> None:
    add(gallery, f"Text.\n\n.. releases:: {releases}")
    assert told in gallery.build().warnings


@pytest.mark.parametrize("builder", ["text", "latex", "man"])
def test_other_formats_have_sentences_and_table(released: Gallery, builder: str) -> None:
    add(released, f"Text.\n\n{DIRECTIVE}")
    measure_both(released)
    released.configure(man_pages=[("recipes/steps", "steps", "Steps", [], 1)])
    build = released.build(builder)
    assert "unknown node" not in build.warnings
    text = "\n".join(path.read_text() for path in build.out.rglob("*.[t1]*") if path.is_file())
    assert "up by 23" in text
    assert "1,234" in text, text
