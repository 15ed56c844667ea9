"""Headlines: which figures a page shows in its own words, and how they are drawn."""

import csv
import json
import platform
import re
import shutil
from pathlib import Path

import nbformat
import pytest
from babel import Locale
from bs4 import BeautifulSoup, Tag
from playwright.sync_api import Browser, expect

from second_call.headlines.does_it_pay import (
    calls_to_pay,
    describe_fields,
    format_calls,
    round_cost,
)
from sphinx_recorded_gallery.api import Typography
from sphinx_recorded_gallery.languages import Language
from sphinx_recorded_gallery.measurements.ranges import Measurement
from tests.helpers.chromium import serve
from tests.helpers.gallery import ROOT, Gallery, write_recording
from tests.helpers.measured_recipe import add, figure, store
from tests.helpers.site_pages import LANGUAGES, read

NAMED = """
.. results::

   steps against foreach
      adam.100.fused.wall (fused): Ten layers: ``fused=True``
      adam.100.compiled.wall (compiled): Ten layers: compiled
      adam.100.for-loop.wall: Ten layers: one by one
      adam.100.graph.wall (graph) against slow: Ten layers: one CUDA graph
      adam.100.cached.first_call against adam.100.compiled.first_call: Cache kept
"""
ROWS = """
Front
=====

.. gains:: results

.. measured-on::

.. recipe-rows::

   steps against slow: It waits
      adam.100.graph.wall: Capture it
   steps against foreach: ``step()`` is slow
      adam.100.fused.wall: Pass ``fused=True``
   steps against compiled: The start is slow
      adam.100.cached.first_call: Keep the cache

.. does-it-pay:: results

.. evidence:: steps: 2 * fused.step < foreach.step

   Half the time.

.. toctree::

   recipes/index
   results
"""
US = Typography(Locale("en"))


def timed(key: str, value: float, spread: float = 1.01, unit: str = "s") -> Measurement:
    return figure(key, unit=unit, value=value, low=value / spread, high=value * spread)


FIGURES = [
    timed("adam.100.foreach.gpu", 0.010),
    timed("adam.100.foreach.wall", 0.010),
    timed("adam.100.fused.gpu", 0.004),
    timed("adam.100.fused.wall", 0.004),
    timed("adam.100.fused.speedup", 2.4, unit="x"),  # of each round, not of medians
    timed("adam.100.fused.share", 0.8, unit="share"),
    timed("adam.100.fused.ready", 0.04),  # its first calls: it captures no graph
    timed("adam.100.fused.graphs", 0, unit=""),
    timed("adam.100.compiled.gpu", 0.0025),
    timed("adam.100.compiled.wall", 0.012),
    timed("adam.100.compiled.speedup", 0.83, unit="x"),
    timed("adam.100.compiled.first_call", 12.5),
    timed("adam.100.cached.first_call", 5),
    timed("adam.100.for-loop.wall", 0.02),
    timed("adam.100.slow.gpu", 0.002),
    timed("adam.100.slow.wall", 0.02),
    timed("adam.100.graph.gpu", 0.002),
    timed("adam.100.graph.wall", 0.0025),
    timed("adam.100.graph.ready", 0.1),
    timed("process.compiler.start_up", 7.5),
]


@pytest.fixture
def site(gallery: Gallery) -> Gallery:
    add(gallery, "Text.")
    store(gallery, *FIGURES)
    write_page(gallery, NAMED)
    index = gallery.root / "index.rst"
    index.write_text(index.read_text() + "   results\n")
    static = gallery.root / "_static"
    static.mkdir()
    for name in ("does_it_pay.js", "overview.css"):
        shutil.copy(ROOT / "_static" / name, static)
    gallery.configure(html_static_path=["_static"])
    return gallery


@pytest.fixture
def front(site: Gallery) -> Gallery:
    site.root.joinpath("index.rst").write_text(ROWS)
    return site


def write_page(gallery: Gallery, text: str) -> None:
    gallery.root.joinpath("results.rst").write_text(f"Results\n=======\n{text}")


def parse(page: str) -> BeautifulSoup:
    return BeautifulSoup(page, "html.parser")


def words(tag: Tag) -> str:
    return " ".join(tag.get_text(" ").split())


def find_groups(page: str) -> dict[str, list[str]]:
    """Return the names of the cases of each group, in order."""
    return {
        str(group["id"]): [words(name) for name in group.select(".headline-case")]
        for group in parse(page).select(".headline-group")
    }


def find_row(page: str, name: str) -> Tag:
    rows = parse(page).select(".headline")
    [row] = [row for row in rows if name in words(row.select_one(".headline-case"))]
    return row


def find_values(row: Tag) -> dict[str, str]:
    """Return what stands in the cells of a row, by the titles of columns."""
    cells = row.select("td[data-label]:not(.headline-bars)")
    return {str(cell["data-label"]): words(cell) for cell in cells}


def test_cases_stand_in_groups_by_what_they_wait_for_and_in_order_of_gain(site: Gallery) -> None:
    build = site.build()
    assert build.warnings == ""
    assert find_groups(build.page("results")) == {
        "gpu-waits": ["Ten layers: one CUDA graph"],
        "gpu-busy": ["Ten layers: fused=True", "Ten layers: compiled", "Ten layers: one by one"],
        "startup": ["Cache kept"],
    }


def test_a_case_says_speed_up_startup_and_break_even(site: Gallery) -> None:
    page = site.build().page("results")
    assert find_values(find_row(page, "fused")) == {
        "Speed-up": "2.40×",
        "Up-front cost": "none",
        "Breaks even after": "at once",
    }
    compiled = find_values(find_row(page, "compiled"))
    assert compiled["Up-front cost"] == "20 s"  # the start of the compiler and the first call
    assert find_values(find_row(page, "CUDA graph"))["Up-front cost"] == "100 ms"
    assert find_row(page, "fused").select_one("a")["href"] == "recipes/steps.html"


def test_memory_is_a_group_of_its_own_whose_ratio_is_no_speed_up(site: Gallery) -> None:
    peaks = {"foreach": 4e9, "fused": 1e9}
    memory = [timed(f"adam.100.{name}.memory", peak, unit="B") for name, peak in peaks.items()]
    store(site, *FIGURES, *memory)
    write_page(site, f"{NAMED}      adam.100.fused.memory: Less is kept\n")
    build = site.build()
    assert build.warnings == ""
    page = build.page("results")
    assert find_groups(page)["memory"] == ["Less is kept"]
    assert find_values(find_row(page, "Less is kept")) == {
        "Memory reduction": "4.00×",
        "Time per call": "10.0 ms → 4.0 ms",
    }
    bars = find_row(page, "Less is kept").select_one(".bars")["aria-label"]
    assert "foreach: 4.0\N{NO-BREAK SPACE}GB" in bars
    assert "GPU busy" not in bars


def test_a_graph_whose_capture_was_not_timed_says_so_and_has_no_startup_of_none(
    site: Gallery,
) -> None:
    row = find_row(site.build().page("results"), "CUDA graph")
    assert find_values(row)["Up-front cost"] == "100 ms"
    store(site, *[figure for figure in FIGURES if figure.key != "adam.100.graph.ready"])
    row = find_row(site.build().page("results"), "CUDA graph")
    assert find_values(row)["Up-front cost"] == "not measured"


def test_what_has_no_measured_break_even_says_why(site: Gallery) -> None:
    def find_break_even(name: str) -> str:
        return find_values(find_row(site.build().page("results"), name))["Breaks even after"]

    assert find_break_even("fused") == "at once"
    assert find_break_even(": compiled") == "never"
    assert find_break_even("CUDA graph") == "not measured"  # nor the first calls before
    # The capture takes 40 ms more than three calls before; each call saves 17.5 ms
    store(site, *FIGURES, timed("adam.100.slow.ready", 0.06))
    assert find_break_even("CUDA graph") == "6 calls"
    hardly = timed("adam.100.fused.speedup", 1.01, spread=1.02, unit="x")
    others = [figure for figure in FIGURES if figure.key != hardly.key]
    store(site, *others, hardly)
    assert find_break_even("fused") == "not certain"


def test_bars_show_the_share_of_the_gpu_and_two_colours_before_and_after(site: Gallery) -> None:
    page = site.build().page("results")
    graph = find_row(page, "CUDA graph").select_one(".bars")
    before, after = graph["aria-label"].split(";")
    assert "slow: 20.0" in before
    assert "GPU busy 10%" in before
    assert after.strip().startswith("graph: 2.50")  # results show gains and give no advice
    assert "GPU busy 80%" in after
    roles = [bar["class"][-1] for bar in find_row(page, "compiled").select(".bars-words")]
    assert roles == ["before", "best"]  # the same where it is slower
    plain = find_row(page, "Cache kept")
    assert plain.select(".solid.unknown")
    assert not plain.select(".waiting")


def test_a_speed_up_that_is_no_quotient_of_its_times_is_explained(front: Gallery) -> None:
    told = "Speed-ups are computed run by run"
    write_page(front, NAMED)
    even = timed("adam.100.fused.speedup", 2.5, unit="x")  # of 10 and 4 ms
    store(front, *[even if known.key == even.key else known for known in FIGURES])
    build = front.build()
    assert told not in build.page("results")
    assert told not in build.page("index")
    store(front, *FIGURES)
    build = front.build()
    for page in ("results", "index"):
        assert told in words(parse(build.page(page)).select_one(".bars-legend"))


def test_the_legend_has_what_is_drawn_and_no_more(front: Gallery) -> None:
    write_page(front, NAMED)
    legend = parse(front.build().page("results")).select(".bars-legend li")
    assert [words(entry) for entry in legend] == [
        *("GPU waiting", "before", "after", "GPU share not measured"),
        *("range across machines", "each row has its own scale"),
    ]
    write_page(front, NAMED[: NAMED.index("      adam.100.compiled")])
    legend = parse(front.build().page("results")).select(".bars-legend li")
    assert [words(entry) for entry in legend] == [
        *("GPU waiting", "before", "after"),
        *("range across machines", "each row has its own scale"),
    ]
    legend = parse(front.build().page("index")).select(".bars-legend li")
    assert "GPU share not measured" in [words(entry) for entry in legend]


def test_each_group_of_outlines_says_what_they_are(site: Gallery) -> None:
    for group in parse(site.build().page("results")).select(".headline-group"):
        has_outlines_alone = not group.select(".bars-bar .waiting")
        assert has_outlines_alone == ("outlines" in words(group.p))


def test_a_group_has_the_cases_of_each_recipe_below_its_name(site: Gallery) -> None:
    add(site, "Text.", name="stairs")
    store(site, *FIGURES, name="stairs")
    path = site.root / "results.rst"
    more = """
   stairs against foreach
      adam.100.fused.wall: Stairs: ``fused=True``
"""
    path.write_text(path.read_text() + more)
    group = parse(site.build().page("results")).select_one("#gpu-busy")
    headings = group.select(".headline-recipe")
    assert [words(row) for row in headings] == [
        "Recipe: steps compared with foreach",
        "Recipe: stairs compared with foreach",
    ]
    assert [row.a["href"] for row in headings] == ["recipes/steps.html", "recipes/stairs.html"]
    names = [words(row.th) for row in group.select("tr.headline")]
    assert names[-1] == "Stairs: fused=True"
    assert [len(body.select("tr.headline")) for body in group.select("tbody.headlines")] == [3, 1]
    figures = words(group.select_one("details"))
    assert "2.40× (2.38 to 2.42" in figures
    assert "foreach: 10.0 ms" in figures
    assert "80%" in figures  # of the limit


def test_a_recipe_of_many_cases_shows_the_best_and_folds_the_others(site: Gallery) -> None:
    more = [f"      adam.100.fused.wall: Case {number}" for number in range(4)]
    path = site.root / "results.rst"
    path.write_text("\n".join([path.read_text().rstrip(), *more, ""]))
    group = parse(site.build().page("results")).select_one("#gpu-busy")
    rows = group.select("tr.headline")
    assert len(rows) == 7
    folded = group.select("details.more-cases tr.headline")
    assert folded == rows[3:]
    summary = group.select_one("details.more-cases > summary")
    assert words(summary) == "4 more of this recipe: 0.500 to 2.40×"
    heads = [[words(cell) for cell in head.select("th")] for head in group.select("table > thead")]
    assert heads[0] == heads[1]  # those who hear a folded table know its columns


def test_a_row_names_its_baseline_where_its_recipe_has_another(site: Gallery) -> None:
    path = site.root / "results.rst"
    path.write_text(path.read_text() + "      adam.100.graph.wall against fused: Captured\n")
    page = site.build().page("results")
    group = parse(page).select_one("#gpu-busy")
    named = {
        words(row.th): bool(row.select(".headline-baseline"))
        for row in group.select("tr:has(th[scope=row])")
    }
    assert named.pop("Captured compared with fused")
    assert named
    assert not any(named.values())


def test_a_baseline_has_a_name_for_who_has_not_read_its_recipe(languages_site: Path) -> None:
    baselines = read(languages_site / "en/results.html").select(".headline-baseline")
    names = {words(baseline).removeprefix("compared with ") for baseline in baselines}
    assert {"eager", "the unchanged job", "the whole model compiled"} <= names
    assert not names & {"before", "model"}  # what only a recipe explains


def test_links_lead_to_the_groups_and_tell_what_readers_see(site: Gallery) -> None:
    soup = parse(site.build().page("results"))
    links = {link["href"]: words(link) for link in soup.select(".group-links a")}
    groups = soup.select(".headline-group")
    assert links == {f"#{group['id']}": words(group.h2) for group in groups}
    assert len(links) > 1
    entries = [words(entry) for entry in soup.select(".group-links li")]
    assert "The GPU is busy GPU busy 80% or more 0.500 to 2.40× Speed-up" in entries


def test_a_single_run_says_so_where_it_stands(site: Gallery) -> None:
    page = site.build().page("results")
    assert not parse(page).select(".headline-mark")
    replicates = site.recordings / "steps.jsonl"
    lines = replicates.read_text().splitlines(keepends=True)
    replicates.write_text("".join(lines[:2]))  # both are of one machine
    page = site.build().page("results")
    assert find_values(find_row(page, "fused"))["Speed-up"].endswith(" 1 machine")
    replicates.write_text(lines[0])
    page = site.build().page("results")
    assert find_values(find_row(page, "CUDA graph"))["Speed-up"].endswith(" 1 run")


def test_a_mark_of_few_runs_stands_behind_what_a_ratio_is_of(front: Gallery) -> None:
    replicates = front.recordings / "steps.jsonl"
    lines = replicates.read_text().splitlines(keepends=True)
    replicates.write_text("".join(lines[:2]))  # both are of one machine
    gain = parse(front.build().page("index")).select_one(".recipe-row-gain")
    assert words(gain) == "8.00× Speed-up 1 machine"


def test_the_words_of_headlines_are_translated(site: Gallery) -> None:
    site.set_languages("ko")
    messages = site.build("gettext")
    shutil.rmtree(site.root / "out/doctrees")
    assert 'msgid "Ten layers: compiled"' in (messages.out / "results.pot").read_text()
    site.translate("results", {"Ten layers: compiled": "열 개"})
    assert "열 개" in find_groups(site.build(language="ko").page("results"))["gpu-busy"]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("steps\n      no words at all", "write a line such as"),
        ("steps\n      adam.100.fused.wall: words", "say against what"),
        ("stairs against a: words", "no example is called 'stairs'"),
        ("steps against a\n      b.wall (grpah): words", "'grpah' is not a kind; choose among"),
    ],
)
def test_a_line_that_cannot_be_read_is_told(gallery: Gallery, lines: str, told: str) -> None:
    add(gallery, "Text.")
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\n.. results::\n\n   {lines}\n")
    warnings = gallery.build().warnings
    assert told in warnings
    assert re.search(r"index.rst:\d+: ERROR", warnings)


def test_a_headline_without_a_ratio_is_told_with_its_line(site: Gallery) -> None:
    write_page(site, NAMED.replace("adam.100.fused.wall", "adam.100.fusd.wall"))
    build = site.build()
    told = "results.rst:7: no measurement is called 'adam.100.fusd.wall'; similar:"
    assert told in build.warnings
    assert find_groups(build.page("results"))["not-measured"] == ["Ten layers: fused=True"]
    write_page(site, NAMED)
    timed_figures = [figure for figure in FIGURES if figure.variant != "for-loop"]
    store(site, *timed_figures, timed("adam.100.for-loop.wall", 0.0))
    build = site.build()
    told = "results.rst:9: 'adam.100.for-loop.wall' and 'adam.100.foreach.wall' have no ratio"
    assert build.warnings.count(told) == 1
    assert find_groups(build.page("results"))["not-measured"] == ["Ten layers: one by one"]


def test_another_machine_adds_rows_that_name_it(site: Gallery) -> None:
    other = site.recordings / "other-machine" / "steps.ipynb"
    other.parent.mkdir()
    shutil.copyfile(site.recordings / "steps.ipynb", other)
    notebook = nbformat.read(other, as_version=4)
    notebook.metadata.recording.device["gpu"] = "Other GPU"
    write_recording(other, nbformat.writes(notebook))
    store(site, *FIGURES, name="other-machine/steps")
    page = site.build().page("results")
    assert "Ten layers: compiled Other GPU" in find_groups(page)["gpu-busy"]
    assert len(parse(page).select(".headline")) == 10
    other.write_text("{")
    build = site.build()
    assert "not a whole notebook" in build.warnings
    assert len(parse(build.page("results")).select(".headline")) == 5


def test_the_front_page_answers_with_ranges_of_the_results(front: Gallery) -> None:
    build = front.build()
    assert build.warnings == ""
    soup = parse(build.page("index"))
    assert [words(line) for line in soup.select(".gains-line")] == [
        "In 1 cases on the GPU, code compiled without CUDA graphs ran at 0.830× the original "
        "speed, not counting up-front costs.",
        "In 1 cases where the GPU was waiting on the CPU, CUDA graphs gave speed-ups of 8.00× ; "
        "1 of them needed no compiler. fused=True made training iterations 2.40× as fast at no "
        "up-front cost.",
    ]
    assert [part.get_text() for part in soup.select(".gains-line .unbroken")] == [
        "up-front",
        "speed-ups",
        "up-front",
    ]
    assert words(soup.select_one(".measured-on")).startswith("Measured on ")


def test_a_plain_case_has_no_cost_and_an_unknown_one_says_so(site: Gallery) -> None:
    figures = [timed("sgd.100.slow.wall", 0.02), timed("sgd.100.quick.wall", 0.01)]
    store(site, *FIGURES, *figures)
    line = "\n   steps against slow\n      sgd.100.quick.wall{}: Quick\n"
    costs = []
    for mark in ("", " (plain)"):
        write_page(site, f".. results::\n{line.format(mark)}")
        build = site.build()
        assert build.warnings == ""
        costs.append(words(parse(build.page("results")).select_one(".headline-startup")))
    assert costs == ["not measured", "none"]


def test_a_draft_of_a_cpu_is_not_what_all_was_measured_on(front: Gallery) -> None:
    front.add("draft")
    on_cpu = words(parse(front.build().page("index")).select_one(".measured-on"))
    path = front.recordings / "steps.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.recording.device["gpu"] = "Some GPU"
    write_recording(path, nbformat.writes(notebook))
    on_gpu = words(parse(front.build().page("index")).select_one(".measured-on"))
    assert "Some GPU" not in on_cpu
    assert on_gpu.startswith("Measured on Some GPU")
    assert "CPU:" not in on_gpu


def test_a_recipe_is_a_row_of_symptom_fix_ratio_and_costs(front: Gallery) -> None:
    soup = parse(front.build().page("index"))
    rows = soup.select(".recipe-row")
    assert [row.select_one("a")["href"] for row in rows] == 3 * ["recipes/steps.html"]
    parts = ("symptom", "fix", "ratio", "quantity", "facts")
    assert [[words(row.select_one(f".recipe-row-{part}")) for part in parts] for row in rows] == [
        ["It waits", "Capture it", "8.00×", "Speed-up", "100 ms up front, nothing compiled"],
        [
            "step() is slow",
            "Pass fused=True",
            "2.40×",
            "Speed-up",
            "no up-front cost, nothing compiled",
        ],
        [
            "The start is slow",
            "Keep the cache",
            "2.50×",
            "first call",
            "plus 7.5 s of compiler startup, before and after saves 7.5 s in each new process",
        ],
    ]


def test_a_changed_list_of_results_changes_the_answer(front: Gallery) -> None:
    front.build()
    write_page(front, NAMED.replace(" (graph)", ""))
    build = front.build()
    assert "CUDA graphs gave" not in build.page("index")
    front.root.joinpath("index.rst").write_text(ROWS.replace("gains:: results", "gains:: reslts"))
    assert "'reslts' is not a page; name the one with the results" in front.build().warnings


def test_the_table_of_what_pays_has_the_measured_startup(front: Gallery) -> None:
    soup = parse(front.build().page("index"))
    rows = [words(row) for row in soup.select(".pays-table tr")]
    assert rows[:2] == ["A call takes Speed-up", "1.1× 1.5× 2× 5× 10×"]
    # 20 s: the start of the compiler and the first call
    assert rows[2] == "1 ms 220,000 60,000 40,000 25,000 22,000"
    assert soup.find("script", src=re.compile("does_it_pay.js"))


def test_the_parts_of_the_up_front_cost_add_up() -> None:
    cost = round_cost(11.56, 3.87)  # as 15, 12 and 3.9 they did not
    assert (cost.total, cost.start_up, cost.first_call) == (15.5, 11.6, 3.9)
    assert round_cost(0.04, 12).total == 12.04


def test_calls_to_pay_are_startup_by_time_saved() -> None:
    assert calls_to_pay(12, 0.01, 1.5) == pytest.approx(3600)
    assert format_calls(3612.4, US) == "3,600"
    assert format_calls(0.02, US) == "1"
    halves = [15.6 / (seconds * 0.8) for seconds in (0.001, 0.01, 0.1, 1)]
    assert [format_calls(half, US) for half in halves] == ["20,000", "2,000", "200", "20"]
    assert describe_fields(12, 10, 1200, US).startswith("Compiling cannot pay off")
    told = describe_fields(12, 10, 2400, US)
    assert told.startswith("In a run of 2,400 calls of 10")
    assert "more than 2×. At 1.5×, it breaks even after 3,600" in told


def test_fields_tell_the_same_as_the_build(front: Gallery, browser: Browser) -> None:
    page = browser.new_page()
    page.goto((front.build().out / "index.html").as_uri())
    output = page.locator(".pays-fields output")
    at_first = output.inner_text()
    page.add_script_tag(path=str(ROOT / "_static/does_it_pay.js"))
    expect(output).to_have_text(at_first)
    page.locator("[name=calls]").fill("4000")
    expect(output).to_have_text(describe_fields(20, 10, 4000, US))
    page.locator("[name=milliseconds]").fill("1")
    expect(output).to_have_text(describe_fields(20, 1, 4000, US))


def test_evidence_is_open_and_a_refuted_claim_is_told(front: Gallery) -> None:
    build = front.build()
    example = words(parse(build.page("index")).select_one(".evidence-example"))
    assert example == (
        "Half the time. 2 × 14.0 ms (fused) < 39.0 ms (foreach). "
        "Held in 5 of 5 processes on 3 machines."
    )
    front.root.joinpath("index.rst").write_text(ROWS.replace("2 * fused", "3 * fused"))
    build = front.build()
    assert "index.rst:" in build.warnings
    assert "does not hold in 5 of 5 processes" in build.warnings
    assert not parse(build.page("index")).select(".evidence-line")


def test_figures_lie_beside_the_page_as_json_and_csv(site: Gallery) -> None:
    build = site.build()
    for name in ("results.json", "results.csv"):
        assert f'href="{name}"' in build.page("results")
    data = json.loads((build.out / "results.json").read_text())
    first = next(
        row for row in data["rows"] if row["variant"] == "fused" and row["quantity"] == "gpu"
    )
    assert list(first) == list(data["columns"])
    known = {"recipe": "steps", "value": 0.004, "unit": "s", "processes": 4, "hosts": 3}
    assert known.items() <= first.items()
    assert {row["range"] for row in data["rows"]} == {"expected", "seen"}
    lines = list(csv.DictReader((build.out / "results.csv").open(newline="")))
    assert len(lines) == len(data["rows"]) == len(FIGURES) + 4  # of the page alone


def test_figures_as_data_name_their_release_and_have_no_other(site: Gallery) -> None:
    settings = site.recipes / "recording.toml"
    settings.write_text('[provenance]\nrelease = "python"\n')
    build = site.build()
    data = json.loads((build.out / "results.json").read_text())
    here = ".".join(platform.python_version_tuple()[:2])
    named = {(row["package"], row["release"], row["processes"]) for row in data["rows"]}
    assert named == {("python", here, 1)}  # replicates that do not tell their version are left out


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.code)
def test_every_ratio_of_the_front_page_is_one_of_the_results(
    languages_site: Path, language: Language
) -> None:
    folder = languages_site / language.code
    results = read(folder / "results.html").select(".headline-ratio strong")
    known = {words(ratio).rstrip("×") for ratio in results}
    front = read(folder / "index.html")
    ratios = front.select(".recipe-row-ratio strong, .gains-line strong, .hero .bars-words.best")
    shown = [ratio for text in ratios for ratio in re.findall(r"[\d.,]+(?=×)", words(text))]
    for line in front.select(".gains-line strong"):
        shown.append(re.findall(r"[\d.,]+", words(line))[0])
    assert len(shown) > 10
    assert set(shown) <= known


@pytest.mark.parametrize(
    ("width", "name"), [(1280, ".results-table thead"), (390, ".headline-group > h2")]
)
def test_the_header_of_a_table_stays_in_sight(
    languages_site: Path, browser: Browser, width: int, name: str
) -> None:
    with serve(languages_site) as address:
        page = browser.new_page(viewport={"width": width, "height": 700})
        page.goto(f"{address}en/results.html")
        page.locator(".headline").nth(12).evaluate("row => row.scrollIntoView({block: 'center'})")
        header = page.locator(".bd-header").bounding_box()
        head = page.locator(name).first.bounding_box()
        assert header
        assert head
        assert header["y"] + header["height"] <= head["y"] + 1
        assert head["y"] < 200
        page.close()
