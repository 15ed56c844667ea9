"""A recipe finds a kernel that knows nothing of the user, and that prints as a script does.

What breaks, crashes or fills a run is in tests/faults.
"""

import ast
import json
import os
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode

from recipe_gallery.errors import GalleryError

RunCells = Callable[..., NotebookNode]


def text_of(cell: NotebookNode, name: str = "stdout") -> str:
    return "".join(each.text for each in cell.outputs if each.get("name") == name)


@pytest.mark.fast
def test_a_kernel_has_the_variables_and_the_folder_of_its_run_alone(run: RunCells) -> None:
    code = """
        import json, os, sys
        own = {name for name in os.environ if name in GIVEN or name.startswith(STARTS)}
        print(json.dumps({name: os.environ[name] for name in sorted(own)}, indent=1))
        print(sys.argv, os.getcwd(), os.getsid(0) == os.getpid(), os.listdir(), sys.flags.safe_path)
        print(sorted(os.listdir("..")))
        print(os.read(0, 1), __file__)
        import importlib.util
        print([importlib.util.find_spec(name) for name in ("kernel_process", "clean_up", "kernel")])
        print([name for name in sys.modules if name.startswith("recipe_gallery")])
    """
    named = "GIVEN = ['A', 'TMPDIR']\nSTARTS = ('IPY', 'JUPYTER')\n"
    environment = {"PATH": os.environ["PATH"], "A": "b"}
    (cell,) = run(named + textwrap.dedent(code), environment=environment).cells
    variables, _, others = text_of(cell).partition("}\n")
    assert json.loads(variables + "}") == {
        "A": "b",
        "IPYTHONDIR": "ipython",  # of the folder of the run, which outputs leave out
        "JUPYTER_RUNTIME_DIR": "jupyter",
        "TMPDIR": "/tmp",
    }
    started, beside, typed, found, loaded = others.splitlines()
    assert started == "['recipe.py'] work True [] False"  # and no file
    assert {"kernel.json", "kernel.log", "tmp", "work"} <= set(ast.literal_eval(beside))
    assert typed == "b'' recipe.py"  # nobody types
    assert (found, loaded) == ("[None, None, None]", "[]")


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
