"""Measurements of a recording, as `check` tells of them."""

import sys
from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import pytest

from sphinx_recorded_gallery.measurements.replicates import replicates_path
from sphinx_recorded_gallery.measurements.rows import Row, read_rows
from tests.helpers.gallery import Gallery
from tests.helpers.measured_recipe import add_replicate

Check = Callable[[], tuple[int, str]]
MEASURING = '''
"""
Measuring
=========

:claim:`It is faster, {adam.10.compiled.time} <compiled.time < eager.time>`.
"""

from IPython.display import display

names = {"case": "Adam", "unit": "ms", "quantity": "time"}
rows = [
    {**names, "variant": "eager", "size": 10, "value": 4.0},
    {**names, "variant": "compiled", "size": 10, "value": 2.0},
]
display({"application/vnd.recorded-gallery.rows+json": {"rows": rows}}, raw=True)
'''


@pytest.fixture
def measured(gallery: Gallery) -> Gallery:
    gallery.add("measuring", MEASURING)
    return gallery


def add_replicates(
    gallery: Gallery, *factors: float, host: str = "other", **changes: object
) -> None:
    """Append replicates that measured so many times what the page shows."""
    recording = gallery.recording("measuring")
    published = read_rows(recording.notebook, recording.path)
    for number, factor in enumerate(factors, 1):
        rows = [replace(row, value=row.value * factor) for row in published]
        facts = {"rows": rows, "replicate": number, "host": host, **changes}
        add_replicate(gallery, name="measuring", **facts)


def test_check_lists_what_is_left_to_a_gpu(gallery: Gallery, check: Check) -> None:
    gallery.configure(recorded_gallery_gpu_figures=True)
    gallery.add("measuring", MEASURING)
    text = MEASURING.replace("{adam.10", "{compiled.gpu} and\n{adam.10")
    text = text.replace(
        "from IPython", "# %%\n# Words.\n# :measured:`eager.kernels`\n\nfrom IPython"
    )
    gallery.write("measuring", text)
    status, told = check()
    assert status == 0
    assert "  left to a GPU: compiled.gpu (line 5), eager.kernels (line 11)\n" in told


def test_check_lists_what_directives_leave_to_a_gpu(
    gallery: Gallery, check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [(0, "gpu"), (0, "adam.10.kernels"), (0, "compiled.time")]
    module = ModuleType("own_keys")
    module.find = lambda text: keys if "Words." in text else []  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "own_keys", module)
    gallery.configure(
        recorded_gallery_gpu_figures=True, recorded_gallery_shown_keys="own_keys:find"
    )
    gallery.add("measuring", MEASURING)
    gallery.write("measuring", MEASURING.replace("from IPython", "# %%\n# Words.\n\nfrom IPython"))
    status, told = check()
    assert status == 0
    assert "  left to a GPU: gpu (line 9), adam.10.kernels (line 9)\n" in told


@pytest.mark.usefixtures("_run_here")
def test_an_unknown_quantity_gets_a_hint(gallery: Gallery, check: Check) -> None:
    for name, quantity in [("near", "spedup"), ("far", "frobs"), ("known", "compilations")]:
        recipe = MEASURING.replace('"quantity": "time"', f'"quantity": "{quantity}"')
        recipe = recipe.replace("time}", f"{quantity}}}").replace("time <", f"{quantity} <")
        recipe = recipe.replace("eager.time", f"eager.{quantity}")
        gallery.write(name, recipe.replace('"ms"', '""'))
    assert gallery.record()
    remedy = (
        "correct it, or add it with its label and unit to recorded_gallery_quantities in conf.py"
    )
    hints = [
        "near.py:10: no quantity is named 'spedup', so readers see this word; similar: speedup; "
        f"{remedy}",
        f"far.py:10: no quantity is named 'frobs', so readers see this word; {remedy}",
    ]
    status, told = check()
    assert status == 0
    for text in (gallery.messages, told):
        assert text.count("no quantity is named") == len(hints)
        for hint in hints:
            assert text.count(hint) == 1


PUBLISHING = '''
"""
Publishing
==========
"""

import IPython.display as shown


def publish(quantity):
    row = {"case": "Adam", "variant": "eager", "size": 10, "quantity": quantity, "value": 4.0}
    rows = [{**row, "unit": ""}]
    shown.display({"application/vnd.recorded-gallery.rows+json": {"rows": rows}}, raw=True)


def publish_first():
    publish("ABOVE")


# %%

first = 1
CALL
'''


@pytest.mark.parametrize(
    ("above", "call", "line"),
    [
        ("frobs", 'publish("frobs")', 22),
        ("frobs", "publish_first()", 16),
        ("other", 'publish("fro" + "bs")', 21),  # the line of the cell
    ],
)
@pytest.mark.usefixtures("_run_here")
def test_a_hint_names_the_line_of_the_quantity(
    gallery: Gallery, above: str, call: str, line: int
) -> None:
    gallery.write("recipe", PUBLISHING.replace("ABOVE", above).replace("CALL", call))
    assert gallery.record()
    assert gallery.messages.count(f"recipe.py:{line}: no quantity is named 'frobs'") == 1


@pytest.mark.usefixtures("_run_here")
def test_a_share_in_percent_gets_a_hint(gallery: Gallery, check: Check) -> None:
    shares = MEASURING.replace("time", "share").replace('"ms"', '"share"')
    gallery.write("percent", shares.replace("4.0", "63").replace("2.0", "0.1"))
    gallery.write("part", shares.replace("4.0", "0.63").replace("2.0", "0.1"))
    assert gallery.record("percent", "part")
    hint = (
        "percent.py:10: adam.10.eager.share is 63 of the whole, which readers see as 6300%; "
        "publish a share as a number from 0 to 1: 0.63 for 63%"
    )
    assert gallery.messages.count("of the whole") == gallery.messages.count(hint) == 1
    status, told = check()
    assert status == 0
    assert told.count("of the whole") == told.count(hint) == 1


@pytest.mark.usefixtures("_run_here")
def test_a_quantity_with_another_unit_is_to_be_corrected(gallery: Gallery, check: Check) -> None:
    gallery.write("measuring", MEASURING.replace("time", "wall"))
    gallery.write("other", MEASURING.replace("time", "wall").replace('"ms"', '"s"'))
    assert gallery.record("measuring", "other")
    hint = (
        "measuring.py:10: adam.10.eager.wall is published with the unit 'ms'; that of wall is 's'; "
        "publish it with this unit, or correct the quantity in "
        "recorded_gallery_quantities in conf.py"
    )
    assert gallery.messages.count(hint) == 1
    status, told = check()
    assert status == 1
    assert told.count("with the unit") == told.count(hint) == 1


def test_check_tells_of_processes_hosts_and_claims(measured: Gallery, check: Check) -> None:
    alone = "measurements of 1 process on 1 host (how hosts differ is not known)\n"
    assert alone in check()[1]
    add_replicates(measured, 1.01, 2.0, 3.0)
    status, text = check()
    assert status == 0
    assert "measurements of 4 processes on 2 hosts\n" in text
    path = replicates_path(measured.recordings / "measuring.ipynb")
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    assert check() == (status, text)


def test_stale_replicates_and_those_of_another_device_do_not_count(
    measured: Gallery, check: Check
) -> None:
    add_replicates(measured, 5.0, fingerprint="of other code")
    add_replicates(measured, 5.0, device={"gpu": "Another GPU", "cpu": "x", "cores": 1})
    add_replicates(measured, 1.0)
    status, text = check()
    assert status == 0
    told = "measurements of 2 processes on 2 hosts; 1 replicate of another device ignored; "
    assert f"  {told}1 replicate of other code ignored\n" in text


def test_one_process_in_another_unit_is_told(measured: Gallery, check: Check) -> None:
    measured.configure(recorded_gallery_device="cpu")
    row = Row(case="Adam", variant="eager", size=10, quantity="time", value=1, unit="s")
    add_replicates(measured, 1.0, rows=[row])
    status, text = check()
    assert status == 1
    assert (
        "measuring.jsonl: adam.10.eager.time is in 'ms' and, in replicate 1, in 's'; "
        "publish one unit, then run: recorded-gallery record measuring "
        f"--root {measured.root}\n"
    ) in text


def test_the_page_in_another_unit_than_newer_replicates_is_told(
    measured: Gallery, check: Check
) -> None:
    toml = '[provenance]\nrelease = "python"\n'
    measured.recipes.joinpath("recording.toml").write_text(toml)
    row = Row(case="Adam", variant="eager", size=10, quantity="time", value=1, unit="s")
    add_replicates(measured, 1.0, rows=[row], versions={"python": "9.1.0"})
    status, text = check()
    assert status == 1
    assert (
        "measuring.ipynb: adam.10.eager.time is in 's' and, in the page's run, in 'ms'; "
        "publish one unit, then run: recorded-gallery record measuring "
    ) in text


def test_check_tells_claims_and_keys_that_do_not_hold(measured: Gallery, check: Check) -> None:
    measured.configure(recorded_gallery_device="cpu")
    assert check()[0] == 0
    page = """
Words
=====

:claim:`It is slower <measuring:eager.time < compiled.time>`, by
:measured:`measuring:eager.space`, or :measured:`no-recipe:eager.time`, not
``:measured:`measuring:only.words```, and as here::

   :measured:`measuring:example.time`
"""
    (measured.root / "words.rst").write_text(page)
    add_replicates(measured, 1.0)
    rows = read_rows(measured.recording("measuring").notebook, measured.root)
    slower = [replace(row, value=9.0) for row in rows if row.variant == "compiled"]
    kept = [row for row in rows if row.variant != "compiled"]
    add_replicate(measured, name="measuring", rows=[*kept, *slower], replicate=2, host="other")
    status, text = check()
    assert status == 1
    slower_here = "replicate 2 on host other: 9 ms against 4 ms; weaken the sentence"
    assert (
        "measuring.py:5: the claim <compiled.time < eager.time> does not hold in 1 of 3 processes: "
        f"{slower_here}"
    ) in text
    told = "words.rst:5: the claim <measuring:eager.time < compiled.time> does not hold in 2 of 3 "
    assert told in text
    assert "words.rst:6: no measurement is called 'eager.space'; similar: adam.10.eager" in text
    assert "words.rst:6: no example is called 'no-recipe'; choose among: measuring\n" in text
    assert text.endswith("\n4 texts to correct\n")


def test_a_key_of_another_recipe_is_told_with_its_name(measured: Gallery, check: Check) -> None:
    measured.add("adding")
    path = measured.recipes / "adding.py"
    path.write_text(f"{path.read_text()}\n# %%\n# :measured:`eager.time`\n")
    status, text = check()
    assert status == 1
    told = "no measurement is called 'eager.time'; or of another example: measuring:eager.time"
    assert told in text


def test_check_tells_nothing_of_claims_without_a_current_recording(
    measured: Gallery, check: Check
) -> None:
    measured.write("measuring", MEASURING.replace("4.0", "1.0").replace("compiled.time <", "x <"))
    status, text = check()
    assert status == 1
    assert "measuring  stale" in text
    assert "to correct" not in text


def test_check_counts_one_text_as_one(measured: Gallery, check: Check) -> None:
    (measured.root / "words.rst").write_text("Words\n=====\n\n:measured:`no:eager.time`\n")
    status, text = check()
    assert status == 1
    assert text.endswith("\n1 text to correct\n")
