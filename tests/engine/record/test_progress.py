"""What a person sees while recipes run."""

import io

import pytest

from recipe_gallery.record.progress import Progress, Summary, forecast


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_elsewhere_each_cell_is_a_line_with_the_time() -> None:
    stream = io.StringIO()
    shown = Progress(stream)
    shown.show_cell("adding (1 of 2)", 3, 8, 2.6)
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
    assert Summary(names=["a"], failed={"a": "a: no"}).lines() == []


def test_a_summary_counts_what_became_of_each_recipe_and_ends_with_the_errors() -> None:
    summary = Summary(names=["a", "b", "c", "d", "e"])
    assert summary.lines() == [
        "0 of 5 recorded: none",
        "5 not recorded yet: a, b, c, d, e; the same command goes on with them",
    ]
    summary.recorded |= {"b", "a"}
    summary.current.add("c")
    summary.failed["d"] = "d: no\n    what it printed"
    assert summary.lines() == [
        "2 of 5 recorded: a, b",
        "1 current already",
        "1 not recorded yet: e; the same command goes on with them",
        "1 failed: d",
        "error: d: no",
    ]
    summary.forced = True  # the same command would begin anew
    assert "1 not recorded yet: e; name them to go on" in summary.lines()


def test_a_summary_tells_which_replicates_are_missing() -> None:
    summary = Summary(names=["a", "b"], planned={"b": 1, "a": 2})
    summary.made["a"] += 1
    again = "; the same command goes on with the others"
    assert f"1 of 3 replicates made: a 1, b 0{again}" in summary.lines()
    summary.failed["a replicate 2"] = "a replicate 2: no"
    assert f"1 of 3 replicates made: a 1, b 0{again}" in summary.lines()
    summary.failed["b replicate 1"] = "b replicate 1: no"  # nothing is left to go on with
    assert "1 of 3 replicates made: a 1, b 0" in summary.lines()
    one = Summary(names=["a"], current={"a"}, planned={"a": 2})
    one.made["a"] += 2
    assert one.lines()[2:] == ["2 of 2 replicates made: a 2"]
    one = Summary(names=["a"], planned={"a": 2}, forced=True)  # it would make further ones
    assert one.lines()[-1] == "0 of 2 replicates made: a 0"


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
    assert forecast([], waiting, places, ran) == ""
    assert forecast([200.0, 400.0], waiting, places, ran) == f", {told} left"
