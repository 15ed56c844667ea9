import re
from pathlib import Path

import pytest
from nbformat.v4 import new_output

from recipe_gallery.record.run.outputs import Cleaner

SCRATCH = Path("/tmp/recipe-abc")
CLEANER = Cleaner(hidden=[SCRATCH], drop=[re.compile(r"W\d{4} .*\] ")])


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("10%\r50%\r100%\n", "100%\n"),
        ("done\r\nnext\r\n", "done\nnext\n"),
        ("/tmp/ipykernel_123/456.py:3: UserWarning", "<cell>:3: UserWarning"),
        ("<object at 0x7f12ab34cd56>", "<object at 0x...>"),
        ("/opt/x/lib/python3.12/site-packages/torch/a.py:1: W", "torch/a.py:1: W"),
        ("wrote /tmp/recipe-abc/work/file", "wrote work/file"),
        ("a\x00b\x08c", "abc"),
        ("tabs\tand spaces  stay", "tabs\tand spaces  stay"),
    ],
)
def test_text_reads_like_a_terminal_without_colours(printed: str, shown: str) -> None:
    assert CLEANER.clean_text(printed) == shown


def test_long_lines_are_cleaned_too() -> None:
    # Quadratic patterns would take hours here.
    text = "/QmFzZTY0" * 200_000
    assert CLEANER.clean_text(text) == text
    assert CLEANER.clean_text(text + "\rend ipykernel_ site-packages") == (
        "end ipykernel_ site-packages"
    )


def stream(text: str, name: str = "stdout") -> object:
    return new_output("stream", name=name, text=text)


def test_neighbouring_writes_are_merged_but_not_across_a_figure() -> None:
    figure = new_output("display_data", {"image/png": "AAAA"})
    outputs = CLEANER.clean_outputs([stream("a"), stream("b"), figure, stream("c")])
    assert [output.get("text") for output in outputs] == ["ab", None, "c"]


def test_dropped_lines_and_empty_writes_disappear() -> None:
    outputs = CLEANER.clean_outputs([stream("W0102 x.py] chatter\n", "stderr"), stream(" \n")])
    assert outputs == []


def test_other_lines_are_kept_as_they_are() -> None:
    (output,) = CLEANER.clean_outputs([stream("one\nW0102 x.py] chatter\n\n two\n")])
    assert output.text == "one\n\n two\n"


def test_a_table_loses_the_style_of_its_own() -> None:
    html = "<div>\n<style scoped>\n td { color: red }\n</style>\n<table></table></div>"
    (output,) = CLEANER.clean_outputs([new_output("display_data", {"text/html": html})])
    assert output.data["text/html"] == "<div>\n<table></table></div>"
