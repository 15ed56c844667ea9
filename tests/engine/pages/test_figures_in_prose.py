"""The roles ``measured`` and ``claim``: what a page and its downloads say, and what is told."""

import json
import re
import shutil
from dataclasses import replace
from unittest.mock import patch

import nbformat
import polib
import pytest
from babel import Locale
from sphinx.locale import translators

from sphinx_recorded_gallery.languages import find_locale
from sphinx_recorded_gallery.measurements.numbers import describe_spread, format_measurement
from sphinx_recorded_gallery.measurements.replicates import replicates_path
from sphinx_recorded_gallery.measurements.rows import MIME, Row, read_rows
from sphinx_recorded_gallery.page_nodes import DATA_CLASS
from tests.helpers.gallery import Build, Gallery, write_recording
from tests.helpers.measured_recipe import (
    RECIPE,
    SPEEDUP,
    WINS,
    add,
    add_replicate,
    figure,
    steps,
    store,
)


def without_tags(html: str) -> str:
    return re.sub(r"<[^>]+>", "", html)


def words(build: Build, page: str = "recipes/steps") -> str:
    """The text of a page as it is read, without what is opened only on demand."""
    html = build.page(page)
    html = re.sub(r'<span class="claim-evidence".*?</span></span>', "", html, flags=re.DOTALL)
    return without_tags(html[html.index("<h1") :])


def test_a_figure_shows_as_many_digits_as_its_interval_allows(gallery: Gallery) -> None:
    add(gallery, f"It is :measured:`{SPEEDUP}` as fast.")
    store(gallery, figure())
    build = gallery.build()
    assert build.warnings == ""
    assert "It is 2.7× as fast." in words(build)
    assert 'title="2.6 to 2.9× on 3 machines, in 5 processes"' in build.page("recipes/steps")
    told = "All processes ran on one machine"
    assert told not in build.page("recipes/steps")
    recording = gallery.recording("steps")
    replicates_path(recording.path).unlink()
    published = read_rows(recording.notebook, recording.path)
    rows = [replace(row, value=2.9) for row in published if row.key == SPEEDUP]
    add_replicate(gallery, rows=rows, host=recording.facts["host"])
    page = gallery.build().page("recipes/steps")
    assert told in page
    assert 'title="2.74 to 2.90× in 2 processes on one machine"' in page


@pytest.mark.parametrize(
    ("value", "low", "high", "unit", "shown"),
    [
        (2.744, 2.73, 2.75, "x", "2.74×"),
        (2.744, 2.7439, 2.7441, "x", "2.74×"),  # three digits are enough
        (2.744, 0.0, 90.0, "x", "2.7×"),  # two digits are the least
        (9.96, 4.0, 24.0, "x", "10×"),
        (9.996, 9.9, 10.1, "x", "10.0×"),
        (1.3, 1.2, 1.4, "x", "1.3×"),  # 0.0999... is 0.1
        (0.01424, 0.0141, 0.0143, "s", "14.2\u00a0ms"),
        (0.9996, 0.998, 1.001, "s", "1.00\u00a0s"),
        (0.000_0712, 0.0000708, 0.0000716, "s", "71.2\u00a0µs"),
        (3.2e-9, 3e-9, 3.4e-9, "s", "3.2\u00a0ns"),
        (1234.5, 1200.0, 1270.0, "s", "1,230\u00a0s"),
        (0.6312, 0.62, 0.64, "share", "63%"),
        (9.000_000_000_01, 8.95, 9.05, "", "9"),
        (1234, 1228, 1240, "calls", "1,234"),
        (120506, 46000, 316000, "calls", "120,000"),
        (1234, 1100, 1400, "calls", "1,200"),
        (0, 0, 0, "", "0"),
        (0.0, 0.0, 0.3, "s", "0"),
        (4.1e12, 4e12, 4.2e12, "B/s", "4.1\u00a0TB/s"),
        (16.8e9, 16.8e9, 16.8e9, "B", "16.8\u00a0GB"),
    ],
)
def test_a_figure_is_written_as_readers_expect(
    value: float, low: float, high: float, unit: str, shown: str
) -> None:
    known = figure(quantity="anything", value=value, low=low, high=high, unit=unit)
    assert format_measurement(known, Locale("en")) == shown


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"hosts": 1}, "2.6 to 2.9× in 5 processes on one machine"),
        ({"gpu_bound": True}, "2.6 to 2.9× expected on another machine, from 5 processes on 3"),
        ({"gpu_bound": True, "hosts": 2}, "2.6 to 2.9× on 2 machines, in 5 processes"),
        ({"processes": 1}, "measured in one process"),
        (
            {"value": 9, "low": 8.95, "high": 9.05, "unit": ""},
            "the same in 5 processes on 3 machines",
        ),
        (
            {"value": 0.95e-3, "low": 0.9e-3, "high": 1.1e-3, "unit": "s", "hosts": 1},
            "900 to 1,100\u00a0µs in 5 processes on one machine",
        ),
    ],
)
def test_a_spread_is_in_the_unit_of_its_figure(facts: dict[str, object], said: str) -> None:
    known = figure(**{"quantity": "anything", **facts})
    with patch.dict(translators, clear=True):  # an earlier build may have been in another language
        assert describe_spread(known, Locale("en")) == said


def test_each_language_has_its_own_form_of_a_figure() -> None:
    calls = figure(value=12345.6, low=12300, high=12400, unit="calls")
    german, korean = (find_locale(code) for code in ("de", "ko"))
    assert [format_measurement(calls, each) for each in (german, korean)] == ["12.300", "12,300"]
    assert format_measurement(figure(), german) == "2,7×"


# Each is a page's text, what a further process measured, and what a build has to tell.
WRONG: dict[str, tuple[str, list[Row], str]] = {
    "a figure that there is not": (
        "It is :measured:`adam.100.fusd.speedup`.",
        [],
        "steps.py:5: no measurement is called 'adam.100.fusd.speedup'; "
        "similar: adam.100.fused.speedup",
    ),
    "a figure in a later line of a claim": (
        "Words.\n\nMore words, and\n:claim:`it is\n{no.such} <fused.step < foreach.step>`.",
        [],
        "steps.py:7: no measurement is called 'no.such'",
    ),
    "a claim that compares nothing": (
        "Here :claim:`it wins <fused-wins>`.",
        [],
        "steps.py:5: <fused-wins> compares nothing; write one such as <fused.gpu < foreach.gpu>",
    ),
    "a claim that compares the other way round": (
        "Here :claim:`it wins <foreach.step > fused.step>`.",
        [],
        "steps.py:5: a claim compares from the least to the greatest: turn "
        "<foreach.step > fused.step> round, as <fused.step < foreach.step>",
    ),
    "a claim that a replicate refutes": (
        f"Here\n:claim:`it is {{{SPEEDUP}}}\nas fast <{WINS}>`.",
        steps(0.039),  # as long as without
        f'steps.py:5: the claim "it is 2.7× as fast" ({WINS}) does not hold in '
        "1 of 6 processes: replicate 3 on host 1f2e: 0.039 s against 0.039 s; weaken the",
    ),
    "a brace alone": (
        ":claim:`it { wins <fused.step < foreach.step>`",
        [],
        "steps.py:5: a { without its }; add it, or write {{",
    ),
    "a format in braces": (
        ":claim:`it is {fused.step:.1f} <fused.step < foreach.step>`",
        [],
        "steps.py:5: a measurement in braces has no format; write {fused.step}: the build",
    ),
    "another recipe that there is not": (
        ":measured:`step:adam.100.fused.speedup`",
        [],
        "steps.py:5: no example is called 'step'; similar: steps",
    ),
}


@pytest.mark.parametrize(("text", "rows", "told"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_told_in_every_build(
    gallery: Gallery, text: str, rows: list[Row], told: str
) -> None:
    add(gallery, text)
    store(gallery, figure())
    if rows:
        add_replicate(gallery, rows=rows)
    first = gallery.build()
    assert told in first.warnings
    assert first.warnings.count("WARNING") == 1, first.warnings
    again = gallery.build()
    assert (again.read, again.warnings) == ([], first.warnings)


def test_where_nothing_is_recorded_the_text_says_so_and_no_more(gallery: Gallery) -> None:
    text = f"It is :measured:`{SPEEDUP}`; :claim:`it wins <{WINS}>`."
    gallery.write("steps", RECIPE.replace("TEXT", text))
    build = gallery.build()
    assert "It is [not measured yet]; it wins." in words(build)
    assert "no measurement" not in build.warnings
    assert "popovertarget" not in build.page("recipes/steps")
    assert "How the numbers in the text were measured" not in build.page("recipes/steps")
    add(gallery, text)
    build = gallery.build()
    assert ("It is 2.7×; it wins." in words(build), build.warnings) == (True, "")
    path = gallery.recipes / "steps.py"
    path.write_text(path.read_text().replace("2.744", "9.744"))
    build = gallery.build()
    assert "It is [not measured yet]; it wins." in words(build)  # it was of other code
    assert build.warnings.count("WARNING") == 1
    assert "stale recording" in build.warnings


def test_a_cpu_may_lack_what_only_a_gpu_publishes_and_nothing_else(gallery: Gallery) -> None:
    gallery.configure(recorded_gallery_gpu_figures=True)
    claims = f":claim:`it wins <{WINS}>`, :claim:`so <adam.100.fused.gpu < adam.100.fused.time>`"
    figures = ":measured:`adam.100.fused.gpu` and :measured:`adam.100.fused.memory`"
    add(gallery, f"It takes {figures}; {claims}.")
    build = gallery.build()
    nothing = "[not measured here]"
    assert f"It takes {nothing} and {nothing}; it wins, so." in words(build)
    assert build.warnings == ""
    wrong = ("100.fused.wall", "10.fused.time", "adam.10.fused.gpu", "adam.fusd.kernels")
    keys = [*wrong, "nadm.10.fused.gpu"]
    text = "\n\n".join(f":measured:`{key}`" for key in keys)
    gallery.write("steps", RECIPE.replace("TEXT", text))
    told = gallery.build().warnings
    for line, key in enumerate(keys):
        assert f"steps.py:{5 + 2 * line}: no measurement is called '{key}'" in told
    assert "'adam.fusd.kernels'; similar: adam.fused.kernels, " in told  # which only a GPU has


def test_a_word_of_the_code_is_no_measurement_on_a_cpu(gallery: Gallery) -> None:
    gallery.configure(recorded_gallery_gpu_figures=True)
    keys = ("display.step", "rows.gpu", "fused.stop")  # each word stands in the code
    text = "\n\n".join(f":measured:`{key}`" for key in keys)
    add(gallery, f"{text}\n\n:claim:`so <value.step < foreach.step>`")
    told = gallery.build().warnings
    for key in (*keys, "value.step"):
        assert f"no measurement is called '{key}'" in told
    assert told.count("WARNING") == 4


def test_a_cpu_may_lack_what_a_gpu_has_measured_with_the_same_code(gallery: Gallery) -> None:
    gallery.configure(recorded_gallery_gpu_figures=True)
    add(gallery, "It takes :measured:`graphs.time`; :claim:`so <graphs.time < foreach.step>`.")
    assert "no measurement is called 'graphs.time'" in gallery.build().warnings
    of_gpu = Row(case="Adam", variant="graphs", size=1, quantity="time", value=1.0, unit="s")
    add_replicate(gallery, rows=[of_gpu, *steps()], device={"gpu": "Some GPU", "cpu": "CPU"})
    build = gallery.build()
    assert build.warnings == ""
    assert "It takes [not measured here]; so." in words(build)


def test_a_claim_compares_like_with_like(gallery: Gallery) -> None:
    add(gallery, "It :claim:`is so <fused.time < kernels>`.")
    told = gallery.build().warnings
    assert (
        "steps.py:5: the claim <fused.time < kernels> compares adam.100.fused.time in 's' with "
        "adam.fused.kernels in no unit (a count); compare values of the same unit"
    ) in told


def test_a_refuted_claim_carries_no_mark_whatever_ran_it(gallery: Gallery) -> None:
    gallery.configure(recorded_gallery_gpu_figures=True)
    add(gallery, f"See :claim:`it wins <{WINS}>`.")
    notebook = gallery.recording("steps").notebook
    for row in notebook.cells[0].outputs[0].data[MIME]["rows"]:
        if row["variant"] == "foreach":
            row["value"] = 0.013
    write_recording(gallery.recordings / "steps.ipynb", nbformat.writes(notebook))
    add_replicate(gallery, rows=steps(0.04))
    build = gallery.build()
    assert "does not hold in 2 of 2 processes" in build.warnings
    assert "See it wins." in words(build)
    assert "popovertarget" not in build.page("recipes/steps")


def test_only_pages_that_show_figures_of_a_recipe_are_read_again_when_one_changes(
    gallery: Gallery,
) -> None:
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\nIt is :measured:`steps:{SPEEDUP}`, as on every page.\n")
    assert "index.rst:8: no example is called 'steps'" in gallery.build().warnings
    add(gallery, f"It is :measured:`{SPEEDUP}`.")
    add(gallery, "It has :measured:`adam.fused.kernels` kernels.", "others")
    kernels = figure("adam.fused.kernels", value=9, low=9, high=9, unit="")
    store(gallery, figure(), kernels)
    store(gallery, kernels, name="others")
    assert "It is 2.7×, as" in words(gallery.build(), "index")
    store(gallery, figure(value=2.8), kernels)
    build = gallery.build()
    assert sorted(build.read) == ["index", "recipes/steps"]
    assert ("It is 2.8×, as" in words(build, "index"), build.warnings) == (True, "")
    store(gallery, figure("adam.fused.kernels", value=8, low=8, high=8, unit=""), name="others")
    assert gallery.build().read == ["recipes/others"]
    index.write_text(index.read_text().replace("steps:", ""))
    told = f"index.rst:8: '{SPEEDUP}' names no example; write it as NAME:{SPEEDUP}"
    assert told in gallery.build().warnings


def test_notebook_and_script_have_plain_words(gallery: Gallery) -> None:
    time = ":measured:`adam.100.fused.time`"
    add(gallery, f"It takes {time}, :claim:`{{{SPEEDUP}}} {{{{as}}}} fast <{WINS}>`.")
    out = gallery.build().out / "recipes"
    cells = json.loads((out / "steps.ipynb").read_text())["cells"]
    assert "It takes 14\u00a0ms, 2.7× {as} fast." in "".join(cells[0]["source"])
    assert "# It takes 14\u00a0ms, 2.7× {as} fast." in (out / "steps.py").read_text()


@pytest.mark.parametrize(
    ("builder", "suffix"),
    [
        ("text", ".txt"),
        ("latex", ".tex"),
        ("man", ".1"),
        ("texinfo", ".texi"),
        ("singlehtml", ".html"),
        ("epub", ".xhtml"),
    ],
)
def test_other_formats_have_the_words_alone(gallery: Gallery, builder: str, suffix: str) -> None:
    add(gallery, f"Here :claim:`it is {{{SPEEDUP}}} as fast <{WINS}>`.")
    store(gallery, figure())
    gallery.configure(man_pages=[("recipes/steps", "steps", "Steps", [], 1)])
    build = gallery.build(builder)
    assert "unknown node" not in build.warnings
    text = "\n".join(path.read_text() for path in build.out.rglob(f"*{suffix}"))
    assert re.search(r"it is (<[^>]*>)?2.7(×|\\texttimes\{\})(</span>)? as fast", text), text
    assert ("popovertarget" in text) == (builder == "singlehtml")


def sums(*seconds: float) -> list[Row]:
    """Return what one process measured at the sizes 2, 4 and so on, and of another variant."""
    known = {"case": "Sums", "quantity": "first_call", "unit": "s"}
    rows = [
        Row(**known, variant="one step", size=2**n, value=value)
        for n, value in enumerate(seconds, 1)
    ]
    return [*rows, Row(**known, variant="eager", size=2, value=0.5)]


COMPARED = "It takes :claim:`longer with each <one-step.first_call: 2 < 4 < 8>`."


def test_a_comparison_is_tested_in_every_process(gallery: Gallery) -> None:
    add(gallery, COMPARED)
    for host in "ab":
        add_replicate(gallery, rows=sums(1.0, 2.0, 3.0), host=host)
    add_replicate(gallery, rows=steps(), host="c")  # measured nothing of it
    build = gallery.build()
    assert build.warnings == ""
    html = build.page("recipes/steps")
    assert "Holds in 2 of 2 processes on 2 machines:" in html
    shown = without_tags(html[html.index("claim-measured") :]).partition("\n")[0]
    assert "1.00\u00a0s (2) &lt; 2.00\u00a0s (4) &lt; 3.00\u00a0s (8)" in shown
    add_replicate(gallery, rows=sums(1.0, 5.0, 3.0), host="d", replicate=7)
    told = "in 1 of 3 processes: replicate 7 on host d: 1 s against 5 s against 3 s"
    assert told in gallery.build().warnings


@pytest.mark.parametrize(
    ("compared", "evidence"),
    [
        (
            "sums.eager.first_call < 2.one-step.first_call",
            "500\u00a0ms (eager) &lt; 1.00\u00a0s (one step)",
        ),
        ("1.5 * eager.first_call < 2.one-step.first_call", "1.5 × 500\u00a0ms (eager) &lt; "),
        ("3 * eager.first_call < 2.one-step.first_call", "does not hold in 2 of 2 processes"),
        (
            "one-step.first_call < eager.first_call",
            "is ambiguous: it may be sums.2.one-step.first_call, ",
        ),
        ("one-step.first_call: 2 < 16", "no measurement is called 'one-step.first_call' of "),
    ],
)
def test_a_comparison_has_factors_and_leaves_out_what_there_is_once(
    gallery: Gallery, compared: str, evidence: str
) -> None:
    add(gallery, f"It :claim:`is so <{compared}>`.")
    for host in "ab":
        add_replicate(gallery, rows=sums(1.0, 2.0), host=host)
    build = gallery.build()
    if "\u00a0ms" in evidence:
        assert build.warnings == ""
        assert evidence in without_tags(build.page("recipes/steps"))
    else:
        assert evidence in build.warnings


def test_counts_that_are_compared_say_what_they_count_and_sizes_stand_in_parentheses(
    gallery: Gallery,
) -> None:
    add(gallery, "More :claim:`breaks, more graphs <compiled.compilations: 0 < 3>`.")
    known = {"case": "Breaks", "variant": "compiled", "quantity": "compilations", "unit": ""}
    counts = [
        Row(**known, size_name="breaks", size=size, value=value) for size, value in ((0, 1), (3, 4))
    ]
    add_replicate(gallery, rows=counts, host="a")
    build = gallery.build()
    assert build.warnings == ""
    shown = without_tags(build.page("recipes/steps"))
    assert "compilations: 1 (breaks: 0) &lt; 4 (breaks: 3)" in shown


KO = {
    f"It is :measured:`{SPEEDUP}` as fast.": f"속도는 :measured:`{SPEEDUP}`입니다.",
    "Then :claim:`it takes {adam.100.fused.time} <fused.step < foreach.step>`.": (
        "그래서 :claim:`{adam.100.fused.time}가 걸립니다 <fused.step < foreach.step>`."
    ),
}
TEXT = "\n\n".join(KO)


@pytest.fixture
def korean(gallery: Gallery) -> Gallery:
    gallery.set_languages("ko")
    return gallery


def test_a_translation_has_the_figures_in_its_own_form(korean: Gallery) -> None:
    add(korean, TEXT)
    time = figure("adam.100.fused.time", value=0.01424, low=0.0141, high=0.0143, unit="s")
    store(korean, figure(), time)
    korean.translate("recipes/steps", KO | {"Steps": "단계"})
    build = korean.build(language="ko")
    assert "속도는 2.7×입니다." in words(build)
    assert "그래서 14.2\u00a0ms가 걸립니다." in words(build)
    html = build.page("recipes/steps")
    assert 'title="컴퓨터 3대에서 나온 범위 2.6~2.9×, 프로세스 5개"' in html
    assert "컴퓨터 3대, 프로세스 5개 중 5개에서 확인했습니다." in html
    assert not re.search(r"steps\.(py|po)", build.warnings)


def test_names_in_rows_are_messages_of_the_page_that_its_catalog_translates(
    korean: Gallery,
) -> None:
    add(korean, f":measured:`{SPEEDUP}`")
    template = korean.build("gettext").out / "recipes/steps.pot"
    entries = {each.msgid: each for each in polib.pofile(str(template))}
    assert entries["Adam"].comment.startswith("Name of a case, a variant or a size")
    assert entries["fused"].occurrences == [("../../recordings/steps.ipynb", "0")]
    assert f":measured:`{SPEEDUP}`" in entries  # as it was written
    assert not {"100", "speedup", "None"} & entries.keys()
    shutil.rmtree(korean.root / "out/doctrees")  # the builder of templates has its own
    korean.translate("recipes/steps", {"fused": "융합", "Adam": "Adam"})
    build = korean.build(language="ko")
    english = f'<span class="{DATA_CLASS}" lang="en">'
    page = build.page("recipes/steps")
    assert "융합 · 속도 향상" in page.replace("</span>", "").replace(english, "")
    assert f"{english}Adam</span>" in page
    assert "the page does not have this message" not in build.warnings


def test_what_is_wrong_is_told_at_the_recipes_line_in_translated_builds(korean: Gallery) -> None:
    add(korean, f"First.\n\n{TEXT}".replace("fused.time", "fusd.time"))
    add_replicate(korean, rows=steps(0.04))
    wrong = [text.replace("fused.time", "fusd.time") for pair in KO.items() for text in pair]
    korean.translate("recipes/steps", dict(zip(wrong[::2], wrong[1::2], strict=True)))
    build = korean.build(language="ko")
    assert "steps.py:9: no measurement is called 'adam.100.fusd.time'" in build.warnings
    assert (
        'steps.py:9: the claim "[아직 측정하지 않음]가 걸립니다" (fused.step < foreach.step)'
        in build.warnings
    )


def test_evidence_is_in_the_readers_language_where_its_sentence_is_not(korean: Gallery) -> None:
    add(korean, f"So :claim:`fused wins <{WINS}>`.")
    store(korean, figure())
    korean.translate("recipes/steps", {"Steps": "단계"})
    html = korean.build(language="ko").page("recipes/steps")
    assert 'lang="ko" aria-label="근거" aria-labelledby=' in html
    assert 'lang="ko" role="note" popover>' in html


def test_a_heading_has_figures_and_no_mark(gallery: Gallery) -> None:
    heading = f":claim:`It is {{{SPEEDUP}}} <{WINS}>`"
    add(gallery, f"{heading}\n{'-' * len(heading)}\n\nWords.")
    index = gallery.root / "index.rst"
    index.write_text(index.read_text().replace("recipes/index", "recipes/index\n   recipes/steps"))
    build = gallery.build()
    assert "It is 2.7×" in words(build)
    assert "It is 2.7×" in words(build, "index")  # in its table of contents
    assert "popovertarget" not in build.page("recipes/steps") + build.page("index")
