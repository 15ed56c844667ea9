"""Printed text reads as in a terminal that shows no colours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipe_gallery.record.run.outputs.terminal import render

CASES = {
    "plain": ("a\tb \n\nc\n", "a\tb \n\nc\n"),
    "carriage return": ("12345\r67", "67345"),
    "progress": ("10%\r50%\r100%\n", "100%\n"),
    "line ends of Windows": ("done\r\nnext\r\r\n", "done\nnext\n"),
    "nothing after it": ("done\r", "done"),
    "a shorter state": ("100 of 100\rdone\x1b[K\n", "done\n"),
    "backspace": ("abc\b\bX", "aXc"),
    "backspace at the start": ("\b\ba", "a"),
    "underlined by backspace": ("_\ba_\bb", "ab"),
    "spinner": ("|\b/\b-\b\\\b \n", " \n"),
    "colours": ("\x1b[1;31mred\x1b[0m \x1b[38;5;9mx\x1b[m", "red x"),
    "charset": ("\x1b(Btext\x1b(0", "text"),
    "title": ("\x1b]0;title\x07text", "text"),
    "link": ("\x1b]8;;https://x.org\x1b\\text\x1b]8;;\x1b\\", "text"),
    "device control": ("\x1bPq#0;2;0\x1b\\text", "text"),
    "8-bit colours": ("\x9b31mred\x9b0m", "red"),
    "8-bit device control": ("\x90q...\x9ctext", "text"),
    "8-bit title": ("\x9d0;title\x9ctext", "text"),
    "keypad and cursor": ("\x1b=\x1b7a\x1b8\x1bcb", "ab"),
    "not ended": ("\x1b]0;title\ntext\x1b[12", "0;title\ntext12"),
    "erase line": ("abc\x1b[2Kd", "   d"),
    "erase before": ("abc\x1b[1Kd", "   d"),
    "move back": ("abc\x1b[2Dx", "axc"),
    "move on": ("a\x1b[2Cb", "a  b"),
    "to a column": ("abc\x1b[2Gx", "axc"),
    "far away": ("a\x1b[99999999999Cb\x1b[9999Gc", "a" + 499 * " " + "bc"),
    "line above": ("one\ntwo\x1b[A\rONE\n", "ONE\ntwo"),
    "two bars": ("a 1\nb 1\x1b[A\ra 2\n\rb 2\n", "a 2\nb 2\n"),
    "one line above": ("one\ntwo\nthree\x1b[A\rTWO", "one\nTWO\nthree"),
    "start of a line above": ("one\ntwo\nthree\x1b[2Fx", "xne\ntwo\nthree"),
    "line below": ("one\ntwo\x1b[Ax\x1b[By", "onex\ntwo y"),
    "start of the line below": ("one\ntwo\nthree\x1b[2A\x1b[Ex", "one\nxwo\nthree"),
    "below the last": ("one\ntwo\x1b[9Bx\x1b[9Ey", "one\nywox"),
    "before the first column": ("abc\x1b[9Dx", "xbc"),
    "no move": ("one\ntwo\x1b[2X\x1b[2Jx", "one\ntwox"),
    "above the first": ("a\x1b[5A\rb", "b"),
    "tqdm's second bar": ("\r0%\n\r10%\x1b[A\r5%\n\r20%\x1b[A\n", "5%\n20%"),
    "wide": ("한글\rab\n", "ab글\n"),
    "half of a wide one": ("한글\ra\n", "a 글\n"),
    "the other half of a wide one": ("한글\x1b[2Gx", " x글"),
    "an accent on a wide one": ("가\u0301b\r\x1b[2Cc", "가\u0301c"),
    "an accent that stays": ("e\u0301f\x1b[1Dg", "e\u0301g"),
    "erase up to the cursor": ("abcd\x1b[2D\x1b[1KX", "  Xd"),
    "erase all around the cursor": ("abcd\x1b[2D\x1b[2KX", "  X"),
    "erase all and leave": ("abc\x1b[2K\nd\x1b[1K\ne", "\n\ne"),
    "combined": ("e\u0301x\rab", "ab"),
    "controls": ("a\x00b\x07c\x7f\x84d", "abcd"),
    "form feed": ("a\x0cb\x0bc", "abc"),
}


@pytest.mark.parametrize(("printed", "shown"), CASES.values(), ids=CASES)
def test_text_reads_as_in_a_terminal(printed: str, shown: str) -> None:
    assert render(printed) == shown


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t")))
def test_what_controls_nothing_stays(text: str) -> None:
    assert render(text) == text


PIECES = ["ab", "\n", "\r", "\b", "\t", "한", "\x1b[A", "\x1b[2B", "\x1b[K", "\x1b[1K", "\x1b[3C"]


@given(st.lists(st.sampled_from([*PIECES, "\x1b", "[", "\x9b", "\x1b[5G", "\x1b]", "\x07"])))
def test_no_control_is_left_and_nothing_is_rendered_twice(pieces: list[str]) -> None:
    once = render("".join(pieces))
    assert not any(char < " " and char not in "\n\t" for char in once)
    assert render(once) == once
