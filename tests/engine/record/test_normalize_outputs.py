import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbformat.v4 import new_output

from sphinx_recorded_gallery.record.normalize_outputs import (
    OutputNormalizer,
    drop_lines,
    join_streams,
    render,
)

SCRATCH = Path("/tmp/recipe-abc")
CLEANER = OutputNormalizer(hidden=[SCRATCH])


def make(
    home: str = "/home/ann",
    prefix: str = "/opt/env",
    temporary: str = "/tmp",
    secrets: tuple[str, ...] = (),
    python_path: str = "",
) -> OutputNormalizer:
    """Return a normalizer on a machine where all this is so."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", home)
        patch.setattr(sys, "prefix", prefix)
        patch.setattr("tempfile.tempdir", temporary)
        return OutputNormalizer(hidden=[SCRATCH], secrets=secrets, python_path=python_path)


@pytest.mark.parametrize(
    "piece",
    ["(", "/", "\x1b]", "\x9d", "\x1b[", "\r", "\b", "a\r", "/tmp/recipe-abc", "<style scoped>"],
    ids=repr,
)
def test_no_text_takes_more_than_linear_time(piece: str) -> None:
    # 600 kB each: quadratic work would take minutes.
    text = piece * (600_000 // len(piece)) + "x\r\n"
    began = time.process_time()
    CLEANER.clean_text(text)
    CLEANER.clean_outputs([new_output("display_data", {"text/html": text})])
    assert time.process_time() - began < 10


HOMES = [
    # at the end of a sentence, in quotes, in lists, as an option, as an address
    ("/root", "It is '/root/x' and in /root.", "It is '~/x' and in ~."),
    ("/home/ann", "--dir=/home/ann/x:/home/ann/y -I/home/ann/z", "--dir=~/x:~/y -I~/z"),
    ("/home/ann", "file:///home/ann/x", "file://~/x"),
    ("/home/ann", "http://example.org/home/ann/x", "http://example.org/home/ann/x"),
    ("/home/ann", "/home/anna/x /home/ann-b", "/home/anna/x /home/ann-b"),
    ("/home/Ann Lee", "in /home/Ann Lee/x", "in ~/x"),
]


@pytest.mark.parametrize(("home", "printed", "shown"), HOMES)
def test_home_is_a_tilde_and_nothing_else_is(home: str, printed: str, shown: str) -> None:
    assert make(home=home).clean_text(printed) == shown


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("/opt/env/bin/python -m x", ".../bin/python -m x"),
        ("/opt/env/lib/python3.12/site-packages/torch/a.py:1: W", "torch/a.py:1: W"),
        ("<td>/usr/lib/python3/dist-packages/torch/a.py</td>", "<td>torch/a.py</td>"),
        ("g++ -I/opt/env/lib/python3.12/site-packages/torch/include", "g++ -Itorch/include"),
        ("/usr/lib/python3.12/json/decoder.py:355", "json/decoder.py:355"),
        ("/data/lib/python3.12x /x/site-packages", "/data/lib/python3.12x /x/site-packages"),
        ("argv: /tmp/recipe-abc/work/a.py", "argv: work/a.py"),
        ("/tmp/ipykernel_123/456.py:3: UserWarning", "<cell>:3: UserWarning"),
        ("<object at 0x7f12ab34cd56>", "<object at 0x...>"),
    ],
)
def test_places_of_this_machine_are_left_out(printed: str, shown: str) -> None:
    assert make().clean_text(printed) == shown


@pytest.mark.parametrize(
    ("python_path", "printed", "shown"),
    [
        ("/srv/lib", "/srv/lib/small/box.py:3: UserWarning", "small/box.py:3: UserWarning"),
        ("/a::relative:/srv/lib/", "['/srv/lib', '/a/b', '/b']", "['.', 'b', '/b']"),
        # as Python calls modules, and as the variable was written
        ("/p/recipes/../src", "/p/src/small.py /p/recipes/../src", "small.py ."),
        ("/home/ann/src:/home/ann", "/home/ann/src/a.py /home/ann/x", "a.py ~/x"),
        ("/usr:/tmp", "/usr/bin/gcc /tmp/x", "/usr/bin/gcc /tmp/x"),
    ],
)
def test_folders_of_pythonpath_are_left_out(python_path: str, printed: str, shown: str) -> None:
    assert make(python_path=python_path).clean_text(printed) == shown


def test_secrets_are_stars_wherever_they_stand() -> None:
    cleaner = OutputNormalizer(hidden=[], secrets=["hf_abcdefgh", "hf_abcdefghij", "short", ""])
    data = {
        "text/html": "<b>hf_abcdefgh</b>",
        "image/svg+xml": "<svg>hf_abcdefgh</svg>",
        "image/png": "AAAA/0xabcdef12/tmp",  # base64 looks like anything
        "application/x+json": {"hf_abcdefgh": ["x hf_abcdefghij", 1, None]},
    }
    error = new_output("error", ename="E", evalue="hf_abcdefgh", traceback=["hf_abcdefgh"])
    printed, shown, raised = cleaner.clean_outputs(
        [stream("a hf_abcdefgh short"), new_output("display_data", data), error]
    )[0:3]
    assert printed.text == "a *** short"
    assert shown.data == {
        "text/html": "<b>***</b>",
        "image/svg+xml": "<svg>***</svg>",
        "image/png": "AAAA/0xabcdef12/tmp",
        "application/x+json": {"***": ["x ***", 1, None]},
    }
    assert (raised.evalue, raised.traceback) == ("***", ["***"])


def test_a_folder_is_known_by_the_place_that_a_link_leads_to(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "home").symlink_to(tmp_path / "disk")
    cleaner = make(home=str(tmp_path / "home"))
    assert cleaner.clean_text(f"{tmp_path}/disk/a {tmp_path}/home/b") == "~/a ~/b"
    assert make(home="").clean_text(str(Path.cwd())) == str(Path.cwd())


def test_html_is_no_terminal_and_holds_no_secret() -> None:
    style = "<style scoped>\n td { color: red }\n</style>\n"  # of pandas' tables
    printed = f"\x1b\x07{style}<p>a\r\nb\rc\td hf_&lt;secret</p>"
    cleaner = make(secrets=("hf_<secret",))
    (output,) = cleaner.clean_outputs([new_output("display_data", {"text/html": printed})])
    assert output.data["text/html"] == "<p>a\r\nb\rc\td ***</p>"


def stream(text: str, name: str = "stdout") -> object:
    return new_output("stream", name=name, text=text)


def test_lines_that_fit_a_pattern_are_dropped_and_others_kept() -> None:
    chatter = "W0102 x.py] chatter\n"
    outputs = [stream(chatter, "stderr"), stream(f"one\n{chatter}\n two W0102 x.py] a\n")]
    kept = drop_lines(outputs, ["W[0-9][0-9]* *] *"])
    assert [each.text for each in kept] == ["one\n\n two W0102 x.py] a\n"]


TERMINAL = {
    "plain": ("a\tb  \n\nc\n", "a\tb  \n\nc\n"),
    "a shorter state": ("100 of 100\rdone\x1b[K\n", "done\n"),
    "backspace at the start": ("\b\ba", "a"),
    "spinner": ("|\b/\b-\b\\\b \n", " \n"),
    "colours": ("\x1b[1;31mred\x1b[0m \x1b[38;5;9mx\x1b[m", "red x"),
}


@pytest.mark.parametrize(("printed", "shown"), TERMINAL.values(), ids=TERMINAL)
def test_text_reads_as_in_a_terminal(printed: str, shown: str) -> None:
    assert render(printed) == shown


PIECES = ["ab", *"\n\r\b\t한\x1b[\x9b\x07", "\x1b[K", "\x1b[3C", "\x1b]"]


@given(st.lists(st.sampled_from(PIECES)))
def test_no_control_is_left_and_nothing_is_rendered_twice(pieces: list[str]) -> None:
    once = render("".join(pieces))
    assert not any(char < " " and char not in "\n\t" for char in once)
    assert render(once) == once


def test_a_bar_between_printed_lines_stands_once() -> None:
    pairs = [
        ("stderr", "warning\n  0%"),
        ("stdout", "one\n"),
        ("stderr", "\r 50%"),
        ("stdout", "two\n"),
        ("stderr", "\r100%\n"),
        ("stderr", "\rnew"),
    ]
    outputs = [new_output("stream", name=name, text=text) for name, text in pairs]
    joined = [(output.name, output.text) for output in join_streams(outputs)]
    assert joined == [
        ("stderr", "warning\n"),
        ("stdout", "one\ntwo\n"),
        ("stderr", "\r100%\n\rnew"),
    ]
