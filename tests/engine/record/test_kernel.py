"""A recipe's kernel prints as a script does, and says why where it cannot start.

What breaks, crashes or fills a run is in tests/faults.
"""

import pytest
from nbformat import NotebookNode

from tests.helpers.gallery import Gallery

pytestmark = pytest.mark.slow
TITLE = '"""\nTitle\n=====\n"""\n'


def run(gallery: Gallery, *cells: str) -> list[str]:
    """Record a recipe; return what each of its cells printed."""
    gallery.write("recipe", TITLE + "\n\n# %%\n\n".join(cells))
    assert gallery.record("recipe"), gallery.messages
    recorded: list[NotebookNode] = gallery.recording("recipe").notebook.cells
    return ["".join(each.get("text", "") for each in cell.outputs) for cell in recorded]


def test_bytes_and_what_child_processes_print_are_recorded_in_their_cell(
    gallery: Gallery, capfd: pytest.CaptureFixture[str]
) -> None:
    child = "subprocess.run(['echo', 'child']);"
    given = "subprocess.run(['echo', 'é'], stdout=sys.stdout);"
    *others, odd, long = run(
        gallery,
        *[f"import subprocess, sys\n{child}\n{given}"] * 3,
        r"subprocess.run(['printf', r'a\377b\n']);",
        "subprocess.run(['sh', '-c', 'printf x; yes é | head -c 300000']);",
    )
    assert others == ["child\né\n"] * 3
    assert odd == "a\ufffdb\n"  # bytes that are no text
    assert long == "x" + "é\n" * 100_000  # read in parts
    assert capfd.readouterr() == ("", "")  # the terminal sees nothing of it


def test_what_child_processes_and_c_libraries_print_keeps_its_place(gallery: Gallery) -> None:
    in_turn = "for number in range(20):\n    {}\n    print('Python', number)"
    child, c, end = run(
        gallery,
        "import subprocess\n" + in_turn.format("subprocess.run(['echo', 'other'])"),
        "import ctypes\nc = ctypes.CDLL(None)\n" + in_turn.format("c.puts(b'other')"),
        "c.printf(b'no end of line');",
    )
    lines = "".join(f"other\nPython {number}\n" for number in range(20))
    assert (child, c, end) == (lines, lines, "no end of line")


def test_a_recording_does_not_show_where_a_machine_keeps_packages(gallery: Gallery) -> None:
    packages = gallery.root / "packages"
    packages.mkdir()
    (packages / "small.py").touch()
    settings = '[environment]\nPYTHONPATH = "{recipes}/../packages"\n'
    (gallery.recipes / "recording.toml").write_text(settings)
    gallery.write("recipe", f"{TITLE}import small\n\nprint(small.__file__)\n")
    assert gallery.record("recipe"), gallery.messages
    (output,) = gallery.recording("recipe").notebook.cells[0].outputs
    assert output.text == "small.py\n"


def test_bytes_written_to_a_stream_keep_their_place(gallery: Gallery) -> None:
    printed, wrapped = run(
        gallery,
        """import sys
print("text")
sys.stdout.buffer.write(b"\\xc3")
sys.stdout.buffer.flush()
sys.stdout.buffer.write(b"\\xa9\\xff\\n")
print("more text")""",
        """import io
print("wrapped", file=io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8"))
print("not closed")""",
    )
    assert printed == "text\né\ufffd\nmore text\n"
    assert wrapped == "wrapped\nnot closed\n"


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize(
    "taken",
    [
        "sys.{name} = None",
        "sys.{name} = open('file', 'w'); sys.{name}.close()",
        "sys.{name} = type('Stream', (), {{'write': lambda stream, text: len(text)}})()",
    ],
)
def test_a_stream_that_a_recipe_takes_away_ends_no_recipe(
    gallery: Gallery, name: str, taken: str
) -> None:
    other = "stderr" if name == "stdout" else "stdout"
    cells = run(
        gallery,
        f"import sys\n{taken.format(name=name)}\nprint('a', file=sys.{other})",
        f"print('b', file=sys.{other})\n1 + 1",
        f"sys.{name} = sys.__{name}__\nprint('c', file=sys.{name})",
    )
    assert cells == ["a\n", "b\n", "c\n"]


def test_a_value_behind_a_stream_that_is_none_tells_what_to_do(gallery: Gallery) -> None:
    gallery.write("recipe", f"{TITLE}import sys\nsys.stdout = None\n1 + 1\n")
    assert not gallery.record("recipe")
    assert "has no attribute 'flush'; sys.stdout and sys.stderr are needed" in gallery.messages


def test_who_closes_the_files_of_the_kernel_is_told_so(gallery: Gallery) -> None:
    gallery.write("recipe", f"{TITLE}import os\nos.closerange(3, 256)\n")
    assert not gallery.record("recipe")
    assert "(Aborted); close only files that the example opened: " in gallery.messages


def start_with(gallery: Gallery, code: str) -> bool:
    """Record a recipe whose kernel runs code before it starts."""
    early = gallery.root / "early"
    early.mkdir()
    (early / "sitecustomize.py").write_text(f"import os, signal, sys\n{code}\n")
    settings = f'[environment]\nPYTHONPATH = "{early}"\n[limits]\ndeadline = 20\n'
    (gallery.recipes / "recording.toml").write_text(settings)
    gallery.write("recipe", f"{TITLE}x = 1\n")
    return gallery.record("recipe")


@pytest.mark.parametrize(
    ("code", "end", "remedy"),
    [
        (
            "os.write(2, b'no!')\nos._exit(3)",
            "with exit status 3",
            "mend the error below\n    no!",
        ),
        ("os._exit(3)", "with exit status 3", "try again\n"),
        ("os.abort()", "by signal 6 (Aborted)", "try again\n"),
        (
            "os.write(2, b'ImportError: a.so: failed to map segment')\nos._exit(1)",
            "with exit status 1",
            "free memory\n",
        ),
        (
            "sys.modules['ipykernel'] = None",
            "with exit status 1",
            "install the packages that examples need where they run (",
        ),
        (
            "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (36, 36))",
            "",
            "allow more open files, for example: ulimit -n 1024\n",
        ),
    ],
)
def test_a_kernel_that_cannot_start_says_why(
    gallery: Gallery, code: str, end: str, remedy: str
) -> None:
    assert not start_with(gallery, code)
    told = f"the kernel did not start: the kernel's process ended {end}"
    assert told in gallery.messages
    assert f"; {remedy}" in gallery.messages
    assert "trying once more" not in gallery.messages


def test_a_kernel_that_is_killed_before_it_starts_is_started_again(gallery: Gallery) -> None:
    mark = gallery.root / "killed"
    once = f"if not os.path.exists({str(mark)!r}):\n    open({str(mark)!r}, 'w').close()\n"
    assert start_with(gallery, f"{once}    os.kill(os.getpid(), signal.SIGKILL)")
    told = "the kernel did not start: it was killed or ran out of memory; free memory"
    assert f"{told}\ntrying once more\n" in gallery.messages
