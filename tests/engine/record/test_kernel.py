"""A recipe finds a kernel that knows nothing of the user, and that prints as a script does.

What breaks, crashes or fills a run is in tests/faults.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode

from recipe_gallery.errors import GalleryError

RunCells = Callable[..., NotebookNode]


def text_of(cell: NotebookNode, name: str = "stdout") -> str:
    return "".join(each.text for each in cell.outputs if each.get("name") == name)


def test_bytes_and_what_child_processes_print_are_recorded_in_their_cell(
    run: RunCells, capfd: pytest.CaptureFixture[str]
) -> None:
    child = "subprocess.run(['echo', 'child'])"
    given = "subprocess.run(['echo', 'é'], stdout=sys.stdout)"
    *others, odd, long = run(
        *[f"import subprocess, sys\n{child}\n{given}"] * 3,
        "subprocess.run(['printf', r'a\\377b\\n'])",
        "subprocess.run(['sh', '-c', 'printf x; yes é | head -c 300000'])",
    ).cells
    assert [text_of(each) for each in others] == ["child\né\n"] * 3
    assert text_of(odd) == "a\ufffdb\n"  # bytes that are no text
    assert text_of(long) == "x" + "é\n" * 100_000  # read in parts
    assert capfd.readouterr() == ("", "")  # the terminal sees nothing of it


def test_what_child_processes_and_c_libraries_print_keeps_its_place(run: RunCells) -> None:
    in_turn = "for number in range(20):\n    {}\n    print('Python', number)"
    child, c, end = run(
        "import subprocess\n" + in_turn.format("subprocess.run(['echo', 'other'])"),
        "import ctypes\nc = ctypes.CDLL(None)\n" + in_turn.format("c.puts(b'other')"),
        "c.printf(b'no end of line');",
    ).cells
    lines = "".join(f"other\nPython {number}\n" for number in range(20))
    assert (text_of(child), text_of(c), text_of(end)) == (lines, lines, "no end of line")


def test_a_kernel_that_cannot_start_says_why(run: RunCells, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import os\nos.write(2, b'no!')\nos._exit(3)\n")
    with pytest.raises(GalleryError) as caught:
        run("x = 1", environment={"PYTHONPATH": str(tmp_path)})
    expected = "the kernel did not start: the kernel's process ended with exit status 3"
    assert caught.value.text == expected
    assert caught.value.remedy == "install what recipes need\n    no!"
