"""What a person sees while recipes run."""

import io

import pytest

from recipe_gallery.record import progress
from recipe_gallery.record.progress import Forecast, Progress, State, Summary


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_elsewhere_each_cell_is_a_line_with_the_time(clock: list[float]) -> None:
    stream = io.StringIO()
    shown = Progress(stream)
    clock[0] = 102.6
    shown.show_cell("adding (1 of 2)", 3, 8, shown.seconds)
    shown.say("adding: recorded in 4 s")
    assert stream.getvalue() == "adding (1 of 2): cell 3 of 8, 3 s\nadding: recorded in 4 s\n"


def test_on_a_terminal_a_bar_moves_and_lines_take_its_place() -> None:
    stream = Terminal()
    shown = Progress(stream)
    shown.show_cell("a", 1, 2, 0)
    shown.show_cell("a", 2, 2, 0)
    shown.say("done")
    assert stream.getvalue() == (
        f"\r\x1b[Ka [{'.' * 20}] cell 1 of 2, 0 s"
        f"\r\x1b[Ka [{'#' * 10}{'.' * 10}] cell 2 of 2, 0 s"
        "\r\x1b[Kdone\n"
    )


def test_a_bar_never_fills_a_line_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Progress(stream).show_cell("a" * 50, 1, 2, 0)
    assert stream.getvalue() == "\r\x1b[K" + "a" * 19


def test_a_terminal_that_was_closed_stops_nothing() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    Progress(Closed()).say("anything")


def test_one_page_run_has_no_summary() -> None:
    summary = Summary(names=["a"])
    summary.note("a", State.FAILED, "a: no")
    assert summary.lines() == []
    assert summary.failed == ["a"]


def test_a_summary_counts_what_became_of_each_recipe_and_ends_with_the_errors() -> None:
    summary = Summary(names=["a", "b", "c", "d", "e"])
    assert summary.lines() == [
        "0 of 5 recorded: none",
        "5 not recorded yet: a, b, c, d, e; the same command goes on with them",
    ]
    summary.note("a", State.RECORDED, "3 s")
    summary.note("b", State.RECORDED, "4 s")
    summary.note("c", State.CURRENT, "a GPU")
    summary.note("d", State.FAILED, "d: no\n    what it printed")
    assert summary.lines() == [
        "2 of 5 recorded: a, b",
        "1 current already",
        "1 not recorded yet: e; the same command goes on with them",
        "1 failed: d",
        "error: d: no",
    ]
    summary.forced = True  # the same command would begin anew
    assert "1 not recorded yet: e; name them to go on" in summary.lines()


def test_two_recipes_have_a_summary_and_so_has_one_with_replicates() -> None:
    two = Summary(names=["a", "b"])
    two.note("a", State.CURRENT, "a GPU")
    two.note("b", State.CURRENT, "a GPU")
    assert two.lines() == ["0 of 2 recorded: none", "2 current already"]
    one = Summary(names=["a"])
    one.note("a", State.CURRENT, "a GPU")
    one.plan("a", 2)
    one.note_replicate("a")
    one.note_replicate("a")
    assert one.lines()[2:] == ["2 of 2 replicates made: a 2"]


def test_a_summary_tells_which_replicates_are_missing() -> None:
    summary = Summary(names=["a", "b"])
    summary.plan("a", 2)
    summary.plan("b", 1)
    summary.note_replicate("a")
    again = "; the same command goes on with the others"
    assert f"1 of 3 replicates made: a 1, b 0{again}" in summary.lines()
    summary.note("a replicate 2", State.FAILED, "a replicate 2: no")
    assert f"1 of 3 replicates made: a 1, b 0{again}" in summary.lines()
    summary.note(
        "b replicate 1", State.FAILED, "b replicate 1: no"
    )  # nothing is left to go on with
    assert "1 of 3 replicates made: a 1, b 0" in summary.lines()


def test_a_page_run_that_failed_is_no_replicate() -> None:
    summary = Summary(names=["a", "b"])
    summary.note("b", State.FAILED, "b: no")
    summary.plan("a", 1)
    told = "0 of 1 replicates made: a 0"
    assert f"{told}; the same command goes on with the others" in summary.lines()
    summary.forced = True  # it would make further ones
    assert told in summary.lines()


@pytest.mark.parametrize(
    ("waiting", "places", "ran", "told"),
    [
        (1, 1, 0, "about 10 min"),
        (1, 1, 120, "about 8 min"),
        (4, 2, 0, "about 15 min"),
        (0, 1, 210, "about 2 min"),
        (0, 1, 211, "about a minute"),
        (0, 1, 900, "about a minute"),  # longer than any before
    ],
)
def test_what_is_left_is_told_by_how_long_tasks_took(
    waiting: int, places: int, ran: float, told: str
) -> None:
    forecast = Forecast()
    assert forecast.describe(waiting, places, ran) == ""
    forecast.learn(200.0)
    forecast.learn(400.0)
    assert forecast.describe(waiting, places, ran) == f", {told} left"


def test_a_summary_names_recipes_in_the_order_asked_for() -> None:
    summary = Summary(names=["a", "b"])
    for name in ("b", "a"):
        summary.note(name, State.RECORDED, "1 s")
        summary.plan(name, 1)
    summary.note_replicate("b")
    assert summary.lines() == [
        "2 of 2 recorded: a, b",
        "1 of 2 replicates made: a 0, b 1; the same command goes on with the others",
    ]
