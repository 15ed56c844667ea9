"""What a person sees while recipes run."""

import io

import pytest

from recipe_gallery.record import progress
from recipe_gallery.record.progress import Progress


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


def test_a_terminal_that_was_closed_stops_nothing() -> None:
    class Closed(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    Progress(Closed()).say("anything")
