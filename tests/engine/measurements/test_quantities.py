"""The table of quantities: one place that a site extends."""

import sys
from types import ModuleType

import pytest
from bs4 import BeautifulSoup

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.measurements.processes import measure_all
from sphinx_recorded_gallery.measurements.quantities import (
    Quantity,
    list_quantities,
    name_own_list,
    standard_quantities,
)
from sphinx_recorded_gallery.measurements.replicates import Process
from sphinx_recorded_gallery.measurements.rows import Row
from sphinx_recorded_gallery.project import load_project
from tests.helpers.gallery import Gallery
from tests.helpers.measured_recipe import add, add_replicate

ENERGY = Quantity(name="energy", label="energy drawn", unit="J", gpu_only=True, gpu_bound=True)


@pytest.fixture
def own(gallery: Gallery, monkeypatch: pytest.MonkeyPatch) -> Gallery:
    """A gallery that measures a quantity of its own."""
    module = ModuleType("own_quantities")
    module.list_all = lambda: [ENERGY]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_quantities", module)
    gallery.configure(recorded_gallery_quantities="own_quantities:list_all")
    return gallery


def energy(joules: float) -> Row:
    known = {"case": "Adam", "variant": "fused", "size": 100, "quantity": "energy", "unit": "J"}
    return Row(**known, value=joules)  # type: ignore[arg-type]


def test_a_site_adds_quantities_to_those_of_every_gallery(own: Gallery) -> None:
    quantities = list_quantities(load_project(own.root).config)
    assert [*quantities] == [*standard_quantities(), "energy"]
    assert name_own_list(load_project(own.root).config) == "own_quantities:list_all"
    processes = [Process(replicate=n, host=str(n), rows=(energy(3 + n / 100),)) for n in range(3)]
    assert measure_all(processes, quantities).by_key["adam.100.fused.energy"].is_predicted
    assert not measure_all(processes).by_key["adam.100.fused.energy"].is_predicted


def test_a_hint_names_the_list_to_which_a_quantity_is_added(own: Gallery) -> None:
    row = energy(3).as_json | {"quantity": "frobs"}
    published = "{'application/vnd.recorded-gallery.rows+json': {'rows': [ROW]}}"
    code = f"from IPython.display import display\n\nROW = {row}\ndisplay({published}, raw=True)\n"
    own.write("measuring", f'"""\nTitle\n=====\n"""\n\n{code}')
    assert own.record("measuring")
    assert "add it with its label and unit to own_quantities:list_all\n" in own.messages


def test_readers_are_told_its_label_and_a_cpu_may_lack_it(own: Gallery) -> None:
    own.configure(recorded_gallery_gpu_figures=True)
    add(own, "It takes :measured:`100.fused.energy`.")
    build = own.build()
    assert (build.warnings, "[not measured here]" in build.page("recipes/steps")) == ("", True)
    add_replicate(own, rows=[energy(3)])
    assert "energy drawn: " in own.build().page("recipes/steps")


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ("no_such_module:list_all", "No module named 'no_such_module'"),
        ("math:no_such", "module 'math' has no attribute 'no_such'"),
        ("math:pi", "pi is not a function"),
    ],
)
def test_a_setting_that_names_no_function_is_told(
    gallery: Gallery, setting: str, told: str
) -> None:
    gallery.configure(recorded_gallery_quantities=setting)
    with pytest.raises(GalleryError) as caught:
        list_quantities(load_project(gallery.root).config)
    assert str(caught.value).startswith(
        f"recorded_gallery_quantities = {setting!r} in conf.py: {told}"
    )


def test_a_page_lists_all_quantities(own: Gallery) -> None:
    index = own.root / "index.rst"
    index.write_text(f"{index.read_text()}\n.. quantities::\n")
    table = BeautifulSoup(own.build().page("index"), "html.parser").table
    lines = [[cell.get_text(strip=True) for cell in row.select("td")] for row in table("tr")]
    assert ["wall", "s", "Time per call, until the device is done"] in lines
    assert lines[-1] == ["energy", "J", "energy drawn; GPU only"]
    assert len(lines) == 1 + len(standard_quantities()) + 1
