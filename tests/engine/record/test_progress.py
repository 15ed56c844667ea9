"""What a person sees while recipes run."""

import io

import pytest

from recipe_gallery.record.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_a_bar_moves_and_lines_take_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    stream = Terminal()
    shown = Progress(stream)
    shown.show_cell("a", 2, 2, 0)
    shown.say("done")
    shown.show_cell("b" * 90, 1, 2, 0)
    assert stream.getvalue() == (
        f"\r\x1b[Ka [{'#' * 10}{'.' * 10}] cell 2 of 2, 0 s\r\x1b[Kdone\n\r\x1b[K{'b' * 49}"
    )
