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
    clock[0] = 110.0
    shown.start()
    clock[0] = 112.6
    shown.show_cell("adding (1 of 2)", 3, 8)
    shown.say("adding: recorded in 4 s")
    assert stream.getvalue() == "adding (1 of 2): cell 3 of 8, 3 s\nadding: recorded in 4 s\n"


def test_on_a_terminal_a_bar_moves_and_lines_take_its_place() -> None:
    stream = Terminal()
    shown = Progress(stream)
    shown.show_cell("a", 1, 2)
    shown.show_cell("a", 2, 2)
    shown.say("done")
    assert stream.getvalue() == (
        f"\r\x1b[Ka [{'.' * 20}] cell 1 of 2, 0 s"
        f"\r\x1b[Ka [{'#' * 10}{'.' * 10}] cell 2 of 2, 0 s"
        "\r\x1b[Kdone\n"
    )


def test_a_bar_never_fills_a_line_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    stream = Terminal()
    Progress(stream).show_cell("a" * 50, 1, 2)
    assert stream.getvalue() == "\r\x1b[K" + "a" * 19


def test_a_bar_is_at_its_end_before_the_last_cell_is_done() -> None:
    stream = Terminal()
    Progress(stream).show_cell("a", 60, 60)
    assert f"[{'#' * 19}.]" in stream.getvalue()


def test_each_of_several_lines_is_written_at_once() -> None:
    flushed = []

    class Stream(io.StringIO):
        def flush(self) -> None:
            flushed.append(self.getvalue())

    Progress(Stream()).say_lines(["one", "two"])
    assert flushed == ["one\n", "one\ntwo\n"]


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


def test_replicates_that_are_all_there_are_not_counted() -> None:
    summary = Summary(names=["a"])
    summary.note("a", State.CURRENT, "a GPU")
    summary.plan("a", 0)
    assert summary.lines() == ["0 of 1 recorded: none", "1 current already"]


PAGE, REPLICATE, OTHER = ("a", False), ("a", True), ("b", False)


@pytest.mark.parametrize(
    ("waiting", "running", "told"),
    [
        ([PAGE], [], "about 5 min"),
        ([PAGE, PAGE], [], "about 10 min"),
        ([PAGE], [(PAGE, 120.0)], "about 8 min"),
        ([REPLICATE], [], "about 5 min"),  # as long as the page run
        ([OTHER], [], "about 5 min"),  # of which nothing is known
        ([], [(PAGE, 60.0), (PAGE, 120.0)], "about 4 min"),  # they run at the same time
        ([PAGE], [(PAGE, 900.0)], "about a minute"),  # longer than any before
        ([], [(PAGE, 210.0)], "about 2 min"),
        ([], [(PAGE, 211.0)], "about a minute"),
        ([], [], "about a minute"),
    ],
)
def test_what_is_left_is_told_by_how_long_the_same_took(
    waiting: list[tuple[str, bool]], running: list[tuple[tuple[str, bool], float]], told: str
) -> None:
    forecast = Forecast()
    assert forecast.describe(waiting, running) == ""
    forecast.learn(PAGE, 200.0)
    forecast.learn(PAGE, 400.0)
    assert forecast.describe(waiting, running) == f", {told} left"


def test_each_kind_of_task_has_its_own_time_and_places_share_what_waits() -> None:
    forecast = Forecast()
    forecast.learn(PAGE, 1200.0)
    forecast.learn(REPLICATE, 600.0)
    assert forecast.describe([PAGE, REPLICATE], []) == ", about 30 min left"
    assert forecast.describe([PAGE, REPLICATE], [], places=2) == ", about 15 min left"
    assert forecast.describe([OTHER], []) == ", about 15 min left"  # the mean of all


def test_how_long_is_left_is_told_by_what_the_same_took() -> None:
    forecast = Forecast()
    assert forecast.describe([("a", False)], []) == ""  # nothing is known yet
    forecast.learn(("a", True), 60)
    forecast.learn(("a", True), 120)
    assert forecast.describe([("a", True)] * 4, [(("a", True), 30)]) == ", about 7 min left"
    assert forecast.describe([("a", True)] * 4, [], places=2) == ", about 3 min left"
    assert forecast.describe([("b", False)], []) == ", about 2 min left"  # as all others
    assert forecast.describe([], [(("a", True), 500)]) == ", about a minute left"


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
