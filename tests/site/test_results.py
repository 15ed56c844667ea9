import csv
import json
import re
import shutil

import nbformat
import pytest

from gallery import Gallery, write_recording
from recipe_gallery.recipes.figures.figures import Figure, Figures, figures_path, store_figures
from recipe_gallery.recipes.figures.sources import read_sources
from recipe_gallery.recipes.recipe import load_recipe
from second_call.figures.data import COLUMNS, format_csv

PUBLISHING = '''
"""
Publishing
==========

Text.
"""

from IPython.display import display


def figure(value):
    return {"value": value, "low": value * 0.9, "high": value * 1.1}


rows = [
    {
        "case": "a case <with markup>",
        "baseline": "eager",
        "speedup": figure(2.5),
        "share_of_limit": figure(0.5),
        "break_even_calls": figure(1234),
    },
    {
        "case": "slower",
        "baseline": "eager",
        "speedup": figure(0.8),
        "share_of_limit": None,
        "break_even_calls": None,
    },
]
display({"application/vnd.recipe-gallery.headline+json": {"rows": rows}}, raw=True)
'''


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    gallery.add("publishing", PUBLISHING)
    (gallery.root / "results.rst").write_text("Results\n=======\n\n.. recorded-results::\n")
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "   results\n")
    return gallery


def test_figures_of_a_changed_module_are_not_shown(site: Gallery) -> None:
    module, path = site.recipes / "_module.py", site.recordings / "publishing.ipynb"
    module.write_text("x = 1\n")
    site.write("publishing", f"{PUBLISHING}\n# %%\n\nfrom _module import x\n")
    notebook = json.loads(path.read_text())
    notebook["cells"].append({**notebook["cells"][0], "id": "cell-2", "outputs": []})
    cells = load_recipe(site.recipes / "publishing.py").cells
    notebook["metadata"]["recording"]["cells"] = [cell.fingerprint for cell in cells]
    write_recording(path, json.dumps(notebook))
    build = site.build()
    assert ("2.50×" in build.page("results"), build.warnings) == (True, "")
    module.write_text("x = 2.0\n")
    assert "2.50×" not in site.build().page("results")


def test_figures_come_from_the_recording_as_table_and_chart(site: Gallery) -> None:
    build = site.build()
    assert build.warnings == ""
    page = build.page("results")
    for text in ("2.50× (2.25–2.75)", "50.0% (45.0–55.0)", "1,234 (1,111–1,357)", "0.800×"):
        assert text in page
    assert "a case &lt;with markup&gt;" in page
    assert page.count('<rect class="arm') == 2
    assert 'class="arm slower"' in page
    assert 'href="recipes/publishing.html"' in page


def test_bars_show_the_spread_on_the_scale_of_the_longest_one(site: Gallery) -> None:
    page = site.build().page("recipes/publishing")
    spreads = re.findall(r'class="spread" x="([\d.]+)" y="6.5" width="([\d.]+)"', page)
    # from 1/2.75 to 1/2.25, and from 1/0.88 to 1/0.72, which is the longest
    assert spreads == [("26.18", "5.82"), ("81.82", "18.18")]
    assert page.index("Text.") < page.index("What came out") < page.index("spread")


def test_headline_figures_are_invisible_on_the_page_and_in_the_notebook(site: Gallery) -> None:
    build = site.build()
    assert "recorded-output" not in build.page("recipes/publishing")
    notebook = nbformat.read(build.out / "recipes/publishing.ipynb", as_version=4)
    assert notebook.cells[-1].outputs == []


def test_another_machine_adds_columns(site: Gallery) -> None:
    other = site.recordings / "other-machine" / "publishing.ipynb"
    assert "(Other GPU)" not in site.build().page("results")
    other.parent.mkdir()
    shutil.copyfile(site.recordings / "publishing.ipynb", other)
    notebook = nbformat.read(other, as_version=4)
    notebook.metadata.recording.device["gpu"] = "Other GPU"
    write_recording(other, nbformat.writes(notebook))
    build = site.build()
    assert build.read == ["results"]  # cards show the recording of the page alone
    page = build.page("results")
    assert "Speed-up (Other GPU)" in page
    assert page.count("2.50× (2.25–2.75)") == 2
    assert "Other GPU" not in build.page("recipes/publishing")


def test_a_part_of_the_gallery_is_no_other_machine(site: Gallery) -> None:
    part = site.recipes / "advanced"
    part.mkdir()
    part.joinpath("README.rst").write_text("Advanced\n========\n")
    site.write("advanced/publishing", PUBLISHING)
    recording = site.recordings / "advanced" / "publishing.ipynb"
    recording.parent.mkdir()
    text = (site.recordings / "publishing.ipynb").read_text()
    text = text.replace('"recipe": "publishing"', '"recipe": "advanced/publishing"')
    write_recording(recording, text)
    build = site.build()
    assert "holds the recording of" not in build.warnings
    assert "Speed-up (" not in build.page("results")


def test_a_changed_recording_changes_the_page(site: Gallery) -> None:
    site.build()
    site.write("publishing", PUBLISHING.replace("2.5)", "7.5)"))
    assert site.record("publishing")
    build = site.build()
    assert set(build.read) == {"recipes/index", "recipes/publishing", "results"}
    assert "7.50×" in build.page("results")
    assert site.build().read == []


def test_a_stale_recording_of_another_machine_is_left_out(site: Gallery) -> None:
    other = site.recordings / "other-machine" / "publishing.ipynb"
    other.parent.mkdir()
    shutil.copyfile(site.recordings / "publishing.ipynb", other)
    site.write("publishing", PUBLISHING.replace("2.5)", "7.5)"))
    assert site.record("publishing")
    build = site.build()
    assert "other-machine/publishing.ipynb: stale recording" in build.warnings
    assert "2.50×" not in build.page("results")


def test_a_broken_recipe_leaves_the_page_whole(site: Gallery) -> None:
    site.write("broken", '"""\nTitle\n=====\n\nText.\n"""\nx = = 1\n')
    build = site.build()
    assert "broken.py:7: syntax error" in build.warnings
    assert "2.50×" in build.page("results")


def test_a_damaged_recording_of_another_machine_is_a_warning(site: Gallery) -> None:
    other = site.recordings / "other-machine" / "publishing.ipynb"
    other.parent.mkdir()
    other.write_text("{")
    build = site.build()
    assert "not a whole notebook" in build.warnings
    assert "2.50×" in build.page("results")


def test_figures_lie_beside_the_page_as_json_and_csv(site: Gallery) -> None:
    build = site.build()
    page = build.page("results")
    for name in ("results.json", "results.csv"):
        assert f'href="{name}"' in page
    data = json.loads((build.out / "results.json").read_text())
    first, second, third, fourth = data["rows"]
    facts = site.recording("publishing").facts
    assert first == {
        "recipe": "publishing",
        "case": "a case <with markup>",
        "arm": "compared with eager",
        "size": None,
        "quantity": "speedup",
        "value": 2.5,
        "low": 2.25,
        "high": 2.75,
        "spread": "quartiles of one process",
        "unit": "",
        "processes": 1,
        "hosts": 1,
        "device": facts["device"]["cpu"],
        "recorded": facts["recorded"].replace("Z", "+00:00"),
        "versions": facts["versions"],
    }
    assert (second["quantity"], third["unit"], fourth["case"]) == (
        "share_of_limit",
        "calls",
        "slower",
    )
    assert list(first) == list(data["columns"])
    lines = list(csv.DictReader((build.out / "results.csv").open(newline="")))
    assert [line["value"] for line in lines] == ["2.5", "0.5", "1234", "0.8"]
    assert (lines[0]["case"], lines[0]["size"]) == ("a case <with markup>", "")
    assert lines[0]["versions"].startswith(f"python {facts['versions']['python']}")


def test_a_spreadsheet_takes_no_name_for_a_formula() -> None:
    row = dict.fromkeys(COLUMNS, "") | {"case": "=1+1", "arm": "a", "value": -1.5, "versions": {}}
    (line,) = csv.DictReader(format_csv([row]).splitlines())
    assert (line["case"], line["arm"], line["value"]) == ("'=1+1", "a", "-1.5")


def test_each_language_gets_the_same_data(site: Gallery) -> None:
    site.set_languages("ko")
    english = (site.build().out / "results.json").read_bytes()
    assert (site.build(language="ko").out / "results.json").read_bytes() == english


def test_figures_with_intervals_come_first(site: Gallery) -> None:
    site.build()
    figure = Figure(
        key="a.b.time",
        case="a",
        arm="b",
        size=10,
        quantity="time",
        unit="ms",
        spread_class="gpu",
        value=1.5,
        low=1.25,
        high=2.0,
        processes=6,
        hosts=2,
    )
    path = site.recordings / "publishing.ipynb"
    store_figures(path, Figures(figures={figure.key: figure}))
    expected = "not the figures of the process that was recorded; run: recipe-gallery figures"
    assert expected in site.build().warnings
    sources = read_sources(path, load_recipe(site.recipes / "publishing.py")).digest
    store_figures(path, Figures(figures={figure.key: figure}, sources=sources))
    build = site.build()
    assert build.warnings == ""
    assert "results" in build.read
    first, second, *_rest = json.loads((build.out / "results.json").read_text())["rows"]
    expected = {name: getattr(figure, name) for name in ("case", "arm", "size", "low", "processes")}
    assert expected.items() <= first.items()
    assert first["spread"] == "98 of 100 later recordings on another host"
    assert second["case"] == "a case <with markup>"
    figures_path(path).write_text("{")
    build = site.build()
    assert "publishing.figures.jsonl:1: not a whole line (invalid JSON); run: " in build.warnings
    assert "2.50×" in build.page("results")


def test_without_figures_there_are_no_files(gallery: Gallery, recipe: str) -> None:
    gallery.add("adding")
    (gallery.root / "results.rst").write_text(
        ":orphan:\n\nResults\n=======\n\n.. recorded-results::\n"
    )
    build = gallery.build()
    assert "results.json" not in build.page("results")
    assert not (build.out / "results.json").exists()
