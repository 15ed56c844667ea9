"""What is told of figures that were computed: which are wide, partial or refuted."""

from pathlib import Path

import pytest

from recipe_gallery.recipes.measurements import ClaimRecord, Figure, Refutation
from recipe_gallery.recipes.replicates import Replicate, Replicates
from recipe_gallery.recipes.rows import Published, Row
from recipe_gallery.recipes.sources import Process, Sources
from recipe_gallery.record.replicates.report import (
    FiguresReport,
    count,
    describe,
    describe_partial,
    describe_refuted,
    describe_wide,
)


def figure(name: str, reach: float = 1.0, processes: int = 3) -> Figure:
    """Return a figure whose interval reaches from its value up to ``reach`` times as much."""
    return Figure(
        **{"key": f"a.{name}.c", "case": "a", "arm": name, "size": None, "quantity": "c"},
        **{"unit": "s", "spread_class": "c", "value": 1.0, "low": 1.0, "high": reach},
        processes=processes,
        hosts=1,
    )


def sources(hosts: str, *, page: str = "", others: int = 0) -> Sources:
    """Return a replicate of each letter of ``hosts``, and of so many others of another device."""
    row = Row(case="a", arm="p", size=None, quantity="c", value=1.0, unit="s", spread_class="c")
    known = {"clocks": {}, "versions": {}, "commit": None, "modified": False, "recorded": ""}
    current = [
        Replicate(fingerprint="f", replicate=n, host=host, device={"cpu": cpu}, seconds=1, **known)
        for cpu, letters in (("A", hosts), ("B", "z" * others))
        for n, host in enumerate(letters, 1)
    ]
    own = Process(number=0, host=page, published=Published(rows=(row,))) if page else None
    return Sources(
        path=Path("a.ipynb"), replicates=Replicates(current=tuple(current)), device="A", page=own
    )


def test_wide_intervals_are_counted_and_the_worst_named() -> None:
    assert describe_wide([figure("a"), figure("b", 1.09)]) == []
    assert describe_wide([figure("b", 1.12), figure("a", 1.5), figure("c", 1.02)]) == [
        "2 intervals wider than ±10%: a.a.c (±50%), a.b.c (±12%)"
    ]
    wide = [figure(*each) for each in (("a", 1.2), ("b", 11.5), ("c", 10.9), ("d", 1.3))]
    worst = "a.b.c (±1000% or more), a.c.c (±990%), a.d.c (±30%)"
    assert describe_wide(wide) == [f"4 intervals wider than ±10%: {worst}, ..."]
    assert describe_wide(wide[1:]) == [f"3 intervals wider than ±10%: {worst}"]
    assert describe_wide(wide[3:]) == ["1 interval wider than ±10%: a.d.c (±30%)"]


def test_figures_that_some_processes_lack_are_counted_and_the_first_named() -> None:
    three = sources("xy", page="x")
    all_of_them, two, one = figure("a"), figure("b", processes=2), figure("o", processes=1)
    alone = figure("p", processes=1)  # the page has it, and no replicate
    assert describe_partial([all_of_them, alone], three) == []
    assert describe_partial([all_of_them, two], three) == [
        "1 figure not of all processes: a.b.c (of 2)"
    ]
    assert describe_partial([one, alone, two], three) == [
        "2 figures not of all processes: a.o.c (of 1), ..."
    ]
    # without a page, what one replicate has alone is lacking
    assert describe_partial([alone, two], sources("xy")) == [
        "1 figure not of all processes: a.p.c (of 1)"
    ]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (sources("", page="x"), "1 process on 1 host (how hosts differ is supposed)"),
        (sources("x"), "1 process on 1 host (how hosts differ is supposed)"),
        (sources("xx", page="y"), "3 processes on 2 hosts"),
        (
            sources("xy", others=1),
            "2 processes on 2 hosts (1 replicate of another device left out)",
        ),
        (
            sources("xy", others=2),
            "2 processes on 2 hosts (2 replicates of another device left out)",
        ),
    ],
)
def test_figures_are_of_processes_and_hosts(made: Sources, told: str) -> None:
    assert describe(made) == told


def test_of_a_refuted_claim_the_first_process_is_named() -> None:
    def claim(*refuted: Refutation) -> ClaimRecord:
        return ClaimRecord(key="faster", held=4, of=6, evidence="1 < 2", refuted=refuted)

    page = Refutation(replicate=0, host="", evidence="3 > 2")
    other = Refutation(replicate=2, host="h", evidence="4 > 2")
    said = "claim faster held in 4 of 6 processes"
    assert describe_refuted([claim(), claim(page, other), claim(other)]) == [
        f"{said}; the page refutes it: 3 > 2",
        f"{said}; replicate 2 on host h refutes it: 4 > 2",
    ]


def test_of_a_trial_what_is_refuted_is_a_note() -> None:
    report = FiguresReport(notes=("a note",), wrong=("wrong",), refuted=("refuted",))
    assert report.lines == ("a note", "error: wrong", "error: refuted")
    assert report.as_trial.lines == ("a note", "refuted", "error: wrong")


def test_a_number_has_its_noun() -> None:
    counts = [count(number, "process", "es") for number in (0, 1, 2)]
    assert counts == ["0 processes", "1 process", "2 processes"]
    assert count(2, "host") == "2 hosts"


def test_replicates_of_one_device_count_in_the_order_of_hosts() -> None:
    made = sources("yx", page="p", others=1)
    assert [(each.number, each.host) for each in made.processes] == [(0, "p"), (2, "x"), (1, "y")]
    assert made.digest != sources("yx", page="q").digest  # another host of the page
    assert made.digest == sources("yx", page="p").digest
