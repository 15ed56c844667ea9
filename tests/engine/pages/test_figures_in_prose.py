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

from gallery import Build, Gallery, write_recording
from measured import RECIPE, SPEEDUP, WINS, add, add_replicate, figure, steps, store
from recipe_gallery.cell_numbers import DATA_CLASS
from recipe_gallery.languages import find_locale
from recipe_gallery.pages.measurements.digits import describe_spread, format_measurement
from recipe_gallery.recipes.ranges import Measurement
from recipe_gallery.recipes.replicates import replicates_path
from recipe_gallery.recipes.rows import MIME, Row, read_rows


def words(build: Build, page: str = "recipes/steps") -> str:
    """The text of a page as it is read, without what is opened only on demand."""
    html = build.page(page)
    html = re.sub(r'<span class="claim-evidence".*?</span></span>', "", html, flags=re.DOTALL)
    return re.sub(r"<[^>]+>", "", html[html.index("<h1") :])


def published(gallery: Gallery) -> tuple[Row, ...]:
    recording = gallery.recording("steps")
    return read_rows(recording.notebook, recording.path)


def test_a_figure_shows_as_many_digits_as_its_interval_allows(gallery: Gallery) -> None:
    add(gallery, f"It is :measured:`{SPEEDUP}` as fast.")
    store(gallery, figure())
    build = gallery.build()
    assert build.warnings == ""
    assert "It is 2.7× as fast." in words(build)
    assert 'title="2.6 to 2.9× on 3 machines, in 5 processes"' in build.page("recipes/steps")
    told = "All processes ran on one machine"
    assert told not in build.page("recipes/steps")
    replicates_path(gallery.recordings / "steps.ipynb").unlink()
    rows = [replace(row, value=2.9) for row in published(gallery) if row.key == SPEEDUP]
    add_replicate(gallery, rows=rows, host=gallery.recording("steps").facts["host"])
    page = gallery.build().page("recipes/steps")
    assert told in page
    assert 'title="2.74 to 2.90× in 2 processes on one machine"' in page


def test_a_claim_opens_its_evidence(gallery: Gallery) -> None:
    add(gallery, f"So :claim:`fused is {{{SPEEDUP}}} {{{{as}}}} fast <{WINS}>`.")
    store(gallery, figure())
    build = gallery.build()
    assert build.warnings == ""
    assert "So fused is 2.7× {as} fast." in words(build)
    html = build.page("recipes/steps")
    target = re.search(r'popovertarget="([\w-]+)" aria-label="Evidence"', html)
    assert target
    assert f'id="{target[1]}" role="note" popover>' in html
    assert "Holds in 5 of 5 processes on 3 machines:" in html
    assert "fused 14.0\u00a0ms &lt; foreach 39.0\u00a0ms" in re.sub(r"<[^>]+>", "", html)


@pytest.mark.parametrize(
    ("facts", "shown"),
    [
        ({"value": 2.744, "low": 2.73, "high": 2.75}, "2.74×"),
        ({"value": 2.744, "low": 2.7439, "high": 2.7441}, "2.74×"),  # three digits are enough
        ({"value": 2.744, "low": 0.0, "high": 90.0}, "2.7×"),  # two digits are the least
        ({"value": 9.96, "low": 4.0, "high": 24.0}, "10×"),
        ({"value": 9.996, "low": 9.9, "high": 10.1}, "10.0×"),
        ({"value": 1.3, "low": 1.2, "high": 1.4}, "1.3×"),  # 0.0999... is 0.1
        ({"value": 0.01424, "low": 0.0141, "high": 0.0143, "unit": "s"}, "14.2\u00a0ms"),
        ({"value": 0.9996, "low": 0.998, "high": 1.001, "unit": "s"}, "1.00\u00a0s"),
        ({"value": 0.000_0712, "low": 0.0000708, "high": 0.0000716, "unit": "s"}, "71.2\u00a0µs"),
        ({"value": 3.2e-9, "low": 3e-9, "high": 3.4e-9, "unit": "s"}, "3.2\u00a0ns"),
        ({"value": 1234.5, "low": 1200.0, "high": 1270.0, "unit": "s"}, "1,230\u00a0s"),
        ({"value": 0.6312, "low": 0.62, "high": 0.64, "unit": "share"}, "63%"),
        ({"value": 9.000_000_000_01, "low": 8.95, "high": 9.05, "unit": ""}, "9"),
        ({"value": 1234, "low": 1228, "high": 1240, "unit": "calls"}, "1,234"),
        ({"value": 120506, "low": 46000, "high": 316000, "unit": "calls"}, "120,000"),
        ({"value": 137, "processes": 1, "unit": ""}, "137"),
        ({"value": 1234, "low": 1100, "high": 1400, "unit": "calls"}, "1,200"),
        ({"value": 0, "low": 0, "high": 0, "unit": ""}, "0"),
        ({"value": 0.0, "low": 0.0, "high": 0.3, "unit": "s"}, "0\u00a0ms"),
        ({"value": 4.1e12, "low": 4e12, "high": 4.2e12, "unit": "B/s"}, "4.1\u00a0TB/s"),
        ({"value": 16.8e9, "low": 16.8e9, "high": 16.8e9, "unit": "B"}, "16.8\u00a0GB"),
    ],
)
def test_a_figure_is_written_as_readers_expect(facts: dict[str, object], shown: str) -> None:
    known = figure(**{"quantity": "anything", **facts})
    assert format_measurement(known, Locale("en")) == shown


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({}, "2.6 to 2.9× on 3 machines, in 5 processes"),
        ({"hosts": 1}, "2.6 to 2.9× in 5 processes on one machine"),
        (
            {"gpu_bound": True},
            "2.6 to 2.9× expected of a further machine, after 5 processes on 3",
        ),
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


GERMAN, KOREAN = (find_locale(code) for code in ("de", "ko"))


def test_each_language_has_its_own_form_of_a_figure() -> None:
    calls = figure(value=12345.6, low=12300, high=12400, unit="calls")
    assert [format_measurement(calls, each) for each in (GERMAN, KOREAN)] == ["12.300", "12,300"]
    assert format_measurement(figure(), GERMAN) == "2,7×"


# Each is a page's text, what its recording holds, and what a build has to tell.
WRONG = {
    "a figure that there is not": (
        "It is :measured:`adam.100.fusd.speedup`.",
        [figure()],
        "steps.py:5: no measurement is called 'adam.100.fusd.speedup'; "
        "near it: adam.100.fused.speedup",
    ),
    "a figure in a later line of a claim": (
        "Words.\n\nMore words, and\n:claim:`it is\n{no.such} <fused.step < foreach.step>`.",
        [figure()],
        "steps.py:9: no measurement is called 'no.such'",
    ),
    "a claim that compares nothing": (
        "Here :claim:`it wins <fused-wins>`.",
        [],
        "steps.py:5: <fused-wins> compares nothing; write one such as <fused.gpu < foreach.gpu>",
    ),
    "a claim that a replicate refutes": (
        f"Here\n:claim:`it is {{{SPEEDUP}}}\nas fast <{WINS}>`.",
        [figure(), *steps(0.04)],
        f'steps.py:6: the claim "it is 2.7× as fast" ({WINS}) does not hold in '
        "1 of 6 processes: replicate 3 on host 1f2e: 0.04 s against 0.039 s; say it with more care",
    ),
    "a brace alone": (
        ":claim:`it { wins <fused.step < foreach.step>`",
        [],
        "steps.py:5: a { alone; write {{",
    ),
    "another recipe that there is not": (
        ":measured:`step:adam.100.fused.speedup`",
        [figure()],
        "steps.py:5: no recipe is called 'step'; near it: steps",
    ),
}


@pytest.mark.parametrize(("text", "records", "told"), WRONG.values(), ids=list(WRONG))
def test_what_is_wrong_is_told_in_every_build(
    gallery: Gallery, text: str, records: list[Row], told: str
) -> None:
    add(gallery, text)
    store(gallery, *(each for each in records if isinstance(each, Measurement)))
    if rows := [each for each in records if not isinstance(each, Measurement)]:
        add_replicate(gallery, rows=rows)
    first = gallery.build()
    assert told in first.warnings
    assert first.warnings.count("WARNING") == 1, first.warnings
    again = gallery.build()
    assert (again.read, again.warnings) == ([], first.warnings)


def test_where_nothing_is_recorded_the_text_says_so_and_no_more(gallery: Gallery) -> None:
    gallery.write(
        "steps",
        RECIPE.replace("TEXT", f"It is :measured:`{SPEEDUP}`; :claim:`it wins <{WINS}>`."),
    )
    build = gallery.build()
    assert "It is [not measured yet]; it wins." in words(build)
    assert "no measurement" not in build.warnings
    assert "popovertarget" not in build.page("recipes/steps")
    assert "How the figures in the text were measured" not in build.page("recipes/steps")
    add(gallery, f"It is :measured:`{SPEEDUP}`.")
    build = gallery.build()
    assert ("It is 2.7×." in words(build), build.warnings) == (True, "")


def test_a_cpu_may_lack_what_only_a_gpu_publishes_and_nothing_else(gallery: Gallery) -> None:
    gallery.configure(recipe_gallery_gpu_figures=True)
    claims = ":claim:`so <adam.100.fused.gpu < adam.100.fused.time>`"
    add(
        gallery,
        "It takes :measured:`adam.100.fused.gpu` and :measured:`adam.100.fused.memory`; "
        f":claim:`it wins <{WINS}>`, {claims}.",
    )
    build = gallery.build()
    nothing = "[not measured here]"
    assert f"It takes {nothing} and {nothing}; it wins, so." in words(build)
    assert build.warnings == ""
    keys = (
        "100.fused.wall",
        "10.fused.time",
        "adam.10.fused.gpu",
        "adam.fusd.kernels",
        "nadm.10.fused.gpu",
    )
    for key in keys:
        gallery.write("steps", RECIPE.replace("TEXT", f":measured:`{key}`"))
        told = gallery.build().warnings
        assert f"steps.py:5: no measurement is called '{key}'" in told


def test_a_refuted_claim_carries_no_mark_whatever_ran_it(gallery: Gallery) -> None:
    gallery.configure(recipe_gallery_gpu_figures=True)
    add(gallery, "See :claim:`it wins <fused.step < foreach.step>`.")
    path = gallery.recordings / "steps.ipynb"
    notebook = gallery.recording("steps").notebook
    for row in notebook.cells[0].outputs[0].data[MIME]["rows"]:
        if row["variant"] == "foreach":
            row["value"] = 0.013
    write_recording(path, nbformat.writes(notebook))
    add_replicate(gallery, rows=steps(0.04))
    build = gallery.build()
    assert "does not hold in 2 of 2 processes" in build.warnings
    assert "See it wins." in words(build)
    assert "popovertarget" not in build.page("recipes/steps")


def test_figures_of_other_code_are_not_shown(gallery: Gallery) -> None:
    add(gallery, f"It is :measured:`{SPEEDUP}`; :claim:`it loses <{WINS}>`.")
    path = gallery.recipes / "steps.py"
    path.write_text(path.read_text().replace("2.744", "9.744"))
    build = gallery.build()
    assert "It is [not measured yet]; it loses." in words(build)
    assert build.warnings.count("WARNING") == 1
    assert "stale recording" in build.warnings


def test_damaged_lines_are_told_once(gallery: Gallery) -> None:
    role = f":measured:`{SPEEDUP}`"
    add(
        gallery,
        f"{role} :measured:`adam.100.fused.time`\n\nThen {role}\n\nor :claim:`so <so < so>`.",
    )
    store(gallery, figure())
    path = gallery.recordings / "steps.jsonl"
    path.write_text(path.read_text().replace("2.61", "1.61"))
    build = gallery.build()
    assert build.warnings.count("WARNING") == 1
    assert "steps.jsonl:3: was changed after it was recorded" in build.warnings


def test_only_pages_that_show_figures_of_a_recipe_are_read_again_when_one_changes(
    gallery: Gallery,
) -> None:
    add(gallery, f"It is :measured:`{SPEEDUP}`.")
    add(gallery, "It has :measured:`adam.fused.kernels` kernels.", "others")
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\nIt is :measured:`steps:{SPEEDUP}`, as on every page.\n")
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
    assert f"index.rst:8: '{SPEEDUP}' names no recipe; write it as recipe:{SPEEDUP}" in (
        gallery.build().warnings
    )


def test_a_page_may_name_a_recipe_before_there_is_one(gallery: Gallery) -> None:
    index = gallery.root / "index.rst"
    index.write_text(f"{index.read_text()}\nIt is :measured:`steps:{SPEEDUP}` as fast.\n")
    assert "index.rst:8: no recipe is called 'steps'" in gallery.build().warnings
    add(gallery, "Text.")
    build = gallery.build()
    assert ("It is 2.7× as fast." in words(build, "index"), build.warnings) == (True, "")


def test_notebook_and_script_have_plain_words(gallery: Gallery) -> None:
    add(
        gallery,
        f"It takes :measured:`adam.100.fused.time`, :claim:`{{{SPEEDUP}}} as fast <{WINS}>`.",
    )
    gallery.build()
    out = gallery.root / "out" / "html" / "recipes"
    cells = json.loads((out / "steps.ipynb").read_text())["cells"]
    assert "It takes 14\u00a0ms, 2.7× as fast." in "".join(cells[0]["source"])
    assert "# It takes 14\u00a0ms, 2.7× as fast." in (out / "steps.py").read_text()


@pytest.mark.parametrize(
    "builder", ["text", "latex", "man", "texinfo", "singlehtml", "epub", "gettext"]
)
def test_other_formats_have_the_words_alone(gallery: Gallery, builder: str) -> None:
    add(gallery, f"Here :claim:`it is {{{SPEEDUP}}} as fast <{WINS}>`.")
    store(gallery, figure())
    gallery.configure(man_pages=[("recipes/steps", "steps", "Steps", [], 1)])
    build = gallery.build(builder)
    assert [line for line in build.warnings.splitlines() if "unknown node" in line] == []
    found = [path.read_text() for path in build.out.rglob("*") if path.suffix in SUFFIXES]
    text = "\n".join(found)
    if builder == "gettext":
        assert f":claim:`it is {{{SPEEDUP}}} as fast <{WINS}>`." in text
    else:
        assert re.search(r"it is (<[^>]*>)?2.7(×|\\texttimes\{\})(</span>)? as fast", text), text
    assert ("popovertarget" in text) == (builder == "singlehtml")


SUFFIXES = {".txt", ".tex", ".1", ".texi", ".html", ".xhtml", ".pot"}


def sums(*seconds: float, quantity: str = "first_call") -> list[Row]:
    """Return what one process measured at the sizes 2, 4 and so on, and of another variant."""
    known = {"case": "Sums", "quantity": quantity, "unit": "s"}
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
    shown = re.sub(r"<[^>]+>", "", html[html.index("claim-measured") :]).partition("\n")[0]
    assert "2: 1.00\u00a0s &lt; 4: 2.00\u00a0s &lt; 8: 3.00\u00a0s" in shown
    add_replicate(gallery, rows=sums(1.0, 5.0, 3.0), host="d", replicate=7)
    build = gallery.build()
    assert (
        'steps.py:5: the claim "longer with each" (one-step.first_call: 2 < 4 < 8) does not hold '
        "in 1 of 3 processes: replicate 7 on host d: 1 s against 5 s against 3 s"
    ) in build.warnings
    assert "popovertarget" not in build.page("recipes/steps")


@pytest.mark.parametrize(
    ("compared", "evidence"),
    [
        ("sums.eager.first_call < 2.one-step.first_call", "eager 500\u00a0ms &lt; one step 1.00"),
        ("1.5 * eager.first_call < 2.one-step.first_call", "1.5 × eager 500\u00a0ms &lt; "),
        ("3 * eager.first_call < 2.one-step.first_call", "does not hold in 2 of 2 processes"),
        ("one-step.first_call < eager.first_call", "may be each of sums.2.one-step.first_call, "),
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
        assert evidence in re.sub(r"<[^>]+>", "", build.page("recipes/steps"))
    else:
        assert evidence in build.warnings


KO = {
    f"It is :measured:`{SPEEDUP}` as fast.": f"속도는 :measured:`{SPEEDUP}`입니다.",
    "Then :claim:`it takes {adam.100.fused.time} <fused.step < foreach.step>`.": (
        "그래서 :claim:`{adam.100.fused.time}가 걸립니다 <fused.step < foreach.step>`."
    ),
}
TEXT = "\n\n".join(KO)


def test_a_translation_has_the_figures_in_its_own_form(gallery: Gallery) -> None:
    gallery.set_languages("ko")
    gallery.configure(gettext_compact=False)
    add(gallery, TEXT)
    store(
        gallery,
        figure(),
        figure("adam.100.fused.time", value=0.01424, low=0.0141, high=0.0143, unit="s"),
    )
    gallery.translate("recipes/steps", KO | {"Steps": "단계"})
    gallery.translate("index", {})
    build = gallery.build(language="ko")
    assert "속도는 2.7×입니다." in words(build)
    assert "그래서 14.2\u00a0ms가 걸립니다." in words(build)
    html = build.page("recipes/steps")
    assert 'title="컴퓨터 3대에서 나온 범위 2.6~2.9×, 프로세스 5개"' in html
    assert "컴퓨터 3대의 프로세스 5개 가운데 5개에서 성립합니다." in html
    assert not re.search(r"steps\.(py|po)", build.warnings)


def test_names_in_rows_are_messages_of_the_page_that_its_catalog_translates(
    gallery: Gallery,
) -> None:
    add(gallery, f":measured:`{SPEEDUP}`")
    gallery.configure(gettext_compact=False)
    gallery.build("gettext")
    template = gallery.root / "out/gettext/recipes/steps.pot"
    entries = {each.msgid: each for each in polib.pofile(str(template))}
    assert entries["Adam"].comment.startswith("Name of a case, a variant or a size")
    assert entries["fused"].occurrences == [("../../recordings/steps.ipynb", "0")]
    assert not {"100", "speedup", "None"} & entries.keys()
    shutil.rmtree(gallery.root / "out/doctrees")  # the builder of templates has its own
    gallery.set_languages("ko")
    gallery.translate("recipes/steps", {"fused": "융합", "Adam": "Adam"})
    build = gallery.build(language="ko")
    assert "융합 · speedup" in build.page("recipes/steps").replace("</span>", "").replace(
        f'<span class="{DATA_CLASS}" lang="en">', ""
    )
    assert f'<span class="{DATA_CLASS}" lang="en">Adam</span>' in build.page("recipes/steps")
    assert "the page does not have this message" not in build.warnings


def test_what_is_wrong_is_told_at_the_recipes_line_in_translated_builds(gallery: Gallery) -> None:
    gallery.set_languages("ko")
    gallery.configure(gettext_compact=False)
    add(gallery, f"First.\n\n{TEXT}".replace("fused.time", "fusd.time"))
    add_replicate(gallery, rows=steps(0.04))
    wrong = {text: each.replace("fused.time", "fusd.time") for text, each in KO.items()}
    messages = {text.replace("fused.time", "fusd.time"): each for text, each in wrong.items()}
    gallery.translate("recipes/steps", messages)
    build = gallery.build(language="ko")
    assert "steps.py:9: no measurement is called 'adam.100.fusd.time'" in build.warnings
    assert (
        'steps.py:9: the claim "[아직 측정하지 않음]가 걸립니다" (fused.step < foreach.step)'
        in build.warnings
    )


def test_evidence_is_in_the_readers_language_where_its_sentence_is_not(gallery: Gallery) -> None:
    gallery.set_languages("ko")
    gallery.configure(gettext_compact=False)
    add(gallery, "So :claim:`fused wins <fused.step < foreach.step>`.")
    store(gallery, figure())
    gallery.translate("recipes/steps", {"Steps": "단계"})
    html = gallery.build(language="ko").page("recipes/steps")
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
