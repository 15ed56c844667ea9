"""What a person is told of a whole session, line by line, and which replicates are made."""

import re
import textwrap

import pytest

from sphinx_recorded_gallery.errors import GalleryError
from sphinx_recorded_gallery.measurements.replicates import Replicate, read_replicates
from sphinx_recorded_gallery.recipes.recipe import load_recipe
from tests.helpers.gallery import Gallery

TITLE = '"""\nTitle\n=====\n\nText.\n"""\n\n'
PUBLISHES = """
import os
from IPython.display import display

number = int(os.environ["RECIPE_REPLICATE"])
row = {"case": "Adam", "variant": "compiled", "size": 10, "quantity": "speedup", "unit": "x"}
kind = "application/vnd.recorded-gallery.rows+json"
display({kind: {"rows": [row | {"value": 1.5 + number / 100}]}}, raw=True)
"""
ONCE = "\n# %%\n\n# sphinx_gallery_once = True\n"
here = pytest.mark.usefixtures("_run_here")


def write(gallery: Gallery, name: str = "a", code: str = PUBLISHES) -> None:
    gallery.write(name, TITLE + textwrap.dedent(code).lstrip())


def record(gallery: Gallery, *names: str, **options: object) -> tuple[bool, list[str]]:
    """Record; return whether that went well, and what was told, but of the machine."""
    done = gallery.record(*names, **options)
    text = gallery.messages.replace(f"{gallery.root}/", "")
    text = re.sub(r"(?m)^(\S+: current \()CPU: .*\)$", r"\1CPU)", text)
    text = re.sub(r"\d+ s\b", "N s", text)
    return done, [line for line in text.splitlines() if not line.startswith("note: the recordings")]


def replicates(gallery: Gallery, name: str = "a") -> tuple[Replicate, ...]:
    recipe = load_recipe(gallery.recipes / f"{name}.py")
    path = gallery.recordings / f"{name}.jsonl"
    return read_replicates(path, recipe.replicate_fingerprint)[0]


def numbers(gallery: Gallery) -> list[int]:
    return [each.replicate for each in replicates(gallery)]


@pytest.fixture
def recipes(gallery: Gallery) -> Gallery:
    """One that publishes, one that does not, one that fails, and one that is none."""
    write(gallery)
    write(gallery, "b", "x = 1\n\n# %%\n\ny = 2\n")
    write(gallery, "c", "1 / 0\n")
    gallery.write("d", "no title")
    return gallery


NO_RECIPE = "error: recipes_source/d.py:1: syntax error: invalid syntax; mend the code"
FAILED = (
    "error: recipes_source/c.py:8: cell 1 of 1 failed: ZeroDivisionError: division by zero; "
    "mend the example"
)


@here
def test_a_session_tells_each_cell_each_result_and_what_became_of_all(recipes: Gallery) -> None:
    assert record(recipes, replicates=2) == (
        False,
        [
            NO_RECIPE,
            "a: begins (1 of 3)",
            "a: cell 1 of 1, N s",
            "a: recorded in N s",
            "b: begins (2 of 5)",
            "b: cell 1 of 2, N s",
            "b: cell 2 of 2, N s",
            "b: recorded in N s",
            "b: publishes no rows, so it has no replicates",
            "c: begins (3 of 5)",
            "c: cell 1 of 1, N s",
            FAILED,
            "    the traceback",
            "a replicate 1: begins (4 of 5)",
            "a replicate 1: cell 1 of 1, N s",
            "a replicate 1: recorded in N s",
            "a replicate 2: begins (5 of 5)",
            "a replicate 2: cell 1 of 1, N s",
            "a replicate 2: recorded in N s",
            "2 of 4 recorded: a, b",
            "2 of 2 replicates made",
            "2 failed: d, c",
            NO_RECIPE,
            FAILED,
        ],
    )
    assert record(recipes, replicates=2) == (
        False,
        [
            "a: current (CPU)",
            "b: current (CPU)",
            NO_RECIPE,
            "a: its 2 replicates exist already",
            "b: publishes no rows, so it has no replicates",
            "c: begins (1 of 1)",
            "c: cell 1 of 1, N s",
            FAILED,
            "    the traceback",
            "0 of 4 recorded: none",
            "2 current already: a, b",
            "2 failed: d, c",
            NO_RECIPE,
            FAILED,
        ],
    )
    assert record(recipes, "b") == (True, ["b: current (CPU)"])
    assert record(recipes, "a", force=True, replicates=1)[1][-3:] == [
        "a replicate 3: recorded in N s",
        "1 of 1 recorded: a",
        "1 of 1 replicates made",
    ]


@pytest.mark.slow
def test_each_replicate_is_a_line_that_says_what_its_process_published(gallery: Gallery) -> None:
    write(gallery)
    assert gallery.record(replicates=2)
    made = replicates(gallery)
    values = [(each.replicate, each.rows[0].value) for each in made]
    assert values == [(1, 1.51), (2, 1.52)]
    recording = gallery.recording("a")
    assert {each.host for each in made} == {recording.facts["host"]}
    assert {each.device_name for each in made} == {recording.device_name}
    assert made[0].versions == recording.facts["versions"]


@here
def test_what_is_missing_is_made_of_this_code_on_this_host(
    gallery: Gallery, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(gallery)
    assert gallery.record(replicates=3, force=True)
    path = gallery.recordings / "a.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[2])
    assert gallery.record(replicates=3)
    assert numbers(gallery) == [1, 3, 2]
    write(gallery, code=PUBLISHES + "\nprint('changed')")
    assert gallery.record(replicates=1)
    assert numbers(gallery) == [1]
    assert len(path.read_text().splitlines()) == 4
    monkeypatch.setattr(
        "sphinx_recorded_gallery.record.run_environment.host_hash", lambda: "another"
    )
    assert gallery.record(replicates=1)
    assert [each.host == "another" for each in replicates(gallery)] == [False, True]


@here
@pytest.mark.parametrize(
    ("code", "made", "told"),
    [
        (f"{PUBLISHES}\nassert number != 2, 'two'", [1, 3], "AssertionError: two; mend"),
        (
            PUBLISHES.replace("display({", "number or display({"),
            [],
            "a.py: replicate 3 published no rows, though the page's run did; publish them in a "
            "cell that is not '# sphinx_gallery_once'",
        ),
        (
            f"{ONCE}x = 1\n\n# %%\n\nx{PUBLISHES}",
            [],
            "NameError: name 'x' is not defined; a replicate leaves out cells with "
            "'# sphinx_gallery_once': if one defines the name, unmark it, or mend the example",
        ),
    ],
)
def test_a_failed_replicate_is_told_and_does_not_stop_others(
    gallery: Gallery, code: str, made: list[int], told: str
) -> None:
    write(gallery, code=code)
    done, lines = record(gallery, replicates=3)
    assert not done
    assert numbers(gallery) == made
    assert told in lines[-1]


@here
def test_a_damaged_line_of_replicates_is_told_and_other_recipes_go_on(recipes: Gallery) -> None:
    assert record(recipes, "a", replicates=1)[0]
    (recipes.recordings / "a.jsonl").write_text("{}\n")
    done, lines = record(recipes, "a", "b", replicates=2)
    assert not done
    assert lines[1].startswith("error: recordings/a.jsonl:1: ")
    assert "b: recorded in N s" in lines
    assert lines[-2:] == ["1 failed: a", lines[1]]


@pytest.mark.slow
def test_a_kernel_tells_a_name_that_a_replicate_lacks(gallery: Gallery) -> None:
    write(gallery, code=f"{ONCE}x = 1\n\n# %%\n\nx{PUBLISHES}")
    _done, lines = record(gallery, replicates=1)
    assert "NameError: name 'x' is not defined; a replicate leaves out cells with" in lines[-1]


def test_wrong_settings_are_told_also_where_all_is_current(gallery: Gallery) -> None:
    gallery.add("a")
    assert gallery.record()
    gallery.recipes.joinpath("recording.toml").write_text("[limits]\ncel_timeout = 3\n")
    with pytest.raises(GalleryError, match="has no setting cel_timeout"):
        gallery.record()


@here
def test_a_printed_path_that_readers_lack_gets_a_note(gallery: Gallery) -> None:
    code = """
    print("https://example.org/a/b, /usr/bin/env, /dev/null, /proc/cpuinfo, 3 /s, and/or/not")

    # %%
    # Words.

    print("saved to /tmp/xyz/model.pt")
    """
    write(gallery, code=code)
    done, told = record(gallery, "a")
    assert done
    notes = [line for line in told if "absolute path" in line]
    assert len(notes) == 1
    assert notes[0].endswith(
        "a.py:13: cell 2 prints an absolute path, which readers do not have: /tmp/xyz/model.pt"
    )


@here
def test_a_file_that_an_example_ran_without_gets_a_note(gallery: Gallery) -> None:
    """Some code takes a missing file for an empty one."""
    for name in ("mail.mbox", "declared.txt"):
        gallery.recipes.joinpath(name).write_text("From a@example.org\n\n")
    code = """
    # sphinx_gallery_inputs = ["declared.txt"]
    import mailbox

    print(len(mailbox.mbox("mail.mbox")), "a.py", "declared.txt", "nothing.txt")
    """
    write(gallery, code=code)
    done, told = record(gallery, "a")
    assert done
    [note] = [line for line in told if line.startswith("note: ") and "mbox" in line]
    assert note.endswith(
        "a.py: its code names mail.mbox, and ran without it; if it reads that, add a line to the "
        'example: # sphinx_gallery_inputs = ["mail.mbox"]'
    )


MODULE = '''"""How it is measured."""

from IPython.display import display


def publish(value):
    """Publish a number."""
    row = {"case": "a", "variant": "b", "size": None, "quantity": "wall", "unit": "s"}
    row["value"] = value if isinstance(value, complex) else float(value)
    display({"application/vnd.recorded-gallery.rows+json": {"rows": [row]}}, raw=True)


def refuse(value):
    """Refuse a value."""
    raise ValueError(value)


def call(function):
    """Call a function."""
    function()
'''


@pytest.mark.slow
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            "publish(None)",
            r"TypeError: float\(\) argument must be .* \(raised in _bench\.py:9, which it calls\); "
            "mend the example",
        ),
        (
            "publish(1j)",
            r"ValueError: .* JSON: 1j \(raised in _bench\.py:10, which it calls\); "
            r"publish numbers and texts of Python: \.item\(\) makes a number of a tensor",
        ),
        ("refuse(3)", "ValueError: 3; mend the example"),
        (
            "call(1)",
            r"TypeError: 'int' object is not callable \(raised in _bench\.py:20, which it calls\); "
            r"a function is meant, not what it returns: lambda: step\(x\) in place of step\(x\)",
        ),
    ],
)
def test_a_value_that_a_module_cannot_use_is_told_in_the_line_of_the_recipe(
    gallery: Gallery, call: str, told: str
) -> None:
    gallery.write("_bench", MODULE)
    write(gallery, "a", f"from _bench import call, publish, refuse\n\n# %%\n\nx = 1\n{call}\n")
    has_succeeded, lines = record(gallery, "a")
    assert not has_succeeded
    place = r"error: recipes_source/a\.py:13: cell 2 of 2 failed: "
    assert any(re.fullmatch(f"{place}{told}", line) for line in lines), lines
