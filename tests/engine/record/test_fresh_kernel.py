"""A recipe finds a kernel that knows nothing of the user, and that prints as a script does."""

import ast
import json
import os
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from nbformat import NotebookNode

from recipe_gallery.errors import GalleryError
from recipe_gallery.record.run.supervise import CellToRun, KernelDiedError

RunCells = Callable[..., NotebookNode]


def text_of(cell: NotebookNode, name: str = "stdout") -> str:
    return "".join(each.text for each in cell.outputs if each.get("name") == name)


def fail(run: RunCells, *cells: str, **changes: object) -> GalleryError:
    """Return the error of cells that fail; it is one line, with output below it."""
    with pytest.raises(GalleryError) as caught:
        run(*cells, **changes)
    assert not isinstance(caught.value, KernelDiedError)
    assert "\n" not in caught.value.text
    assert "/ipykernel/" not in str(caught.value)
    return caught.value


@pytest.mark.fast
def test_nothing_of_the_user_reaches_a_kernel(run: RunCells, tmp_path: Path) -> None:
    profile = tmp_path / "home" / ".ipython" / "profile_default"
    (profile / "startup").mkdir(parents=True)
    (profile / "startup" / "00.py").write_text("started = 'profile'\n")
    (profile / "ipython_config.py").write_text("c.PlainTextFormatter.float_precision = '%.2f'\n")
    (tmp_path / "startup.py").write_text("started = 'PYTHONSTARTUP'\n")
    environment = {
        **os.environ,
        "HOME": str(tmp_path / "home"),
        "IPYTHONDIR": str(tmp_path / "home" / ".ipython"),
        "PYTHONSTARTUP": str(tmp_path / "startup.py"),
    }
    before = sorted((tmp_path / "home").rglob("*"))
    shown, found = run(
        "2 / 3", "print('started' in globals(), __file__)", environment=environment
    ).cells
    assert shown.outputs[0].data["text/plain"] == repr(2 / 3)
    assert text_of(found) == "False recipe.py\n"
    assert sorted((tmp_path / "home").rglob("*")) == before  # no history, no profile


def test_a_kernel_has_the_variables_and_the_folder_of_its_run_alone(run: RunCells) -> None:
    code = """
        import json, os, sys
        own = {name for name in os.environ if name in GIVEN or name.startswith(STARTS)}
        print(json.dumps({name: os.environ[name] for name in sorted(own)}, indent=1))
        print(sys.argv, os.getcwd(), os.getsid(0) == os.getpid(), os.listdir())
        print(int(os.environ["JPY_PARENT_PID"]) == os.getppid(), sys.flags.safe_path)
        print(sorted(os.listdir("..")))
        print(os.read(0, 1))
    """
    named = "GIVEN = ['A', 'TMPDIR']\nSTARTS = ('IPY', 'JUPYTER', 'RECIPE')\n"
    environment = {"PATH": os.environ["PATH"], "A": "b"}
    (cell,) = run(named + textwrap.dedent(code), environment=environment).cells
    variables, _, others = text_of(cell).partition("}\n")
    assert json.loads(variables + "}") == {
        "A": "b",
        "IPYTHONDIR": "ipython",  # of the folder of the run, which outputs leave out
        "JUPYTER_RUNTIME_DIR": "jupyter",
        "RECIPE_GALLERY_RUN": ".",
        "TMPDIR": "/tmp",
    }
    started, ends_with_parent, beside, typed = others.splitlines()
    assert started == "[''] work True []"  # arguments, place, a session of its own, no file
    assert ends_with_parent == "True False"
    assert {"kernel.json", "kernel.log", "tmp", "work"} <= set(ast.literal_eval(beside))
    assert typed == "b''"  # nobody types


@pytest.mark.parametrize("code", ["exit(3)", "quit(3)", "import sys\nsys.exit(3)"])
def test_whatever_ends_a_script_is_refused(run: RunCells, code: str) -> None:
    error = fail(run, "x = 1", f"{code}\nprint('on')", "print('later')")
    assert error.text == "cell 2 of 3 ended with SystemExit(3)"
    assert error.line == 20
    assert "on" not in error.remedy.split()


def test_what_is_no_unicode_fails_where_it_is_printed(run: RunCells) -> None:
    error = fail(run, "print('before')\nprint('\\udcff')")
    assert error.text.startswith("cell 1 of 1 failed: UnicodeEncodeError: 'utf-8' codec can't")
    assert "\n    before\n" in error.remedy
    assert f"\n    File {Path.cwd()}" not in error.remedy


def test_on_stderr_and_in_tracebacks_it_is_escaped_as_in_a_script(run: RunCells) -> None:
    code = "import sys\nprint('a\\udcff', file=sys.stderr)"
    raising = CellToRun(number=2, line=2, code="raise ValueError('b\\udcff')", raises="ValueError")
    first = CellToRun(number=1, line=1, code=code, raises=None)
    printed, raised = run(cells=(first, raising)).cells
    assert text_of(printed, "stderr") == "a\\udcff\n"
    assert raised.outputs[0].evalue == "b\\udcff"


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        ("{'text/html': 'a\\udcff'}", "shows text that is no Unicode: '\\udcff'"),
        ("{'application/json': {'a': ['\\udcff']}}", "shows text that is no Unicode: '\\udcff'"),
        ("{'text/html': 5}", "shows what no notebook can hold: text/html of data: 5 is not"),
        ("{'image/png': {'a': 1}}", "shows what no notebook can hold: image/png of data: {'a': 1}"),
    ],
)
def test_what_no_notebook_can_hold_names_its_cell(run: RunCells, shown: str, text: str) -> None:
    code = f"from IPython.display import display\ndisplay({shown}, raw=True)"
    assert fail(run, "x = 1", code).text.startswith(f"cell 2 of 2 {text}")


def test_an_updated_display_that_no_notebook_can_hold_is_refused(run: RunCells) -> None:
    code = "from IPython.display import display\nhandle = display('a', display_id=True)"
    update = "display({'text/html': 5}, raw=True, update=True, display_id=handle.display_id)"
    assert "cell 2 of 2 shows what no notebook can hold" in fail(run, code, update).text


def test_a_figure_that_cannot_be_drawn_is_a_failure(run: RunCells) -> None:
    code = (
        "from IPython import get_ipython\n"
        "def draw():\n"
        "    get_ipython().showtraceback((ValueError, ValueError('no LaTeX'), None))\n"
        "get_ipython().events.register('post_execute', draw)"
    )
    error = fail(run, code)
    assert (error.text, error.line) == ("cell 1 of 1 showed an error: ValueError: no LaTeX", 10)


ENDLESS = """
while True:
    try:
        {}
    except BaseException:
        pass
"""


@pytest.mark.parametrize(
    "code",
    [
        "print('x' * 10**9)",
        ENDLESS.format("print('x' * 1000)"),
        ENDLESS.format("print('', flush=True)"),
        ENDLESS.format("os.write(1, b'x' * 1000)"),
        ENDLESS.format("display('x' * 10**6)"),
        ENDLESS.format("subprocess.run(['head', '-c', '4000000', '/dev/zero'])"),
    ],
)
def test_what_a_recipe_prints_and_shows_is_bounded(run: RunCells, code: str) -> None:
    head = "import os, subprocess\nfrom IPython.display import display\nprint('so far', flush=True)"
    error = fail(run, "x = 1", f"{head}\n{code}", output_limit=0.5)
    expected = "cell 2 of 2 printed and showed more than 0.5 MB (output_limit in recording.toml)"
    assert error.text == expected
    assert len(error.remedy) < 40_000


def test_what_is_within_the_bound_is_counted_once(run: RunCells) -> None:
    shown = "from IPython.display import display\ndisplay('x' * 200_000)"
    others = "import os\nos.write(1, b'x' * 200_000)\nprint('é' * 100_000)"
    run(shown, others, "print('x' * 300_000, flush=True)", output_limit=1)


def test_the_bound_is_for_all_cells_together_and_holds_for_forked_children(run: RunCells) -> None:
    half = "print('x' * 600_000)"
    assert fail(run, half, half, output_limit=1).text.startswith("cell 2 of 2 printed and showed")
    fork = (
        "import multiprocessing, time\n"
        f"def work():\n    while True:\n        {half}\n"
        "multiprocessing.get_context('fork').Process(target=work).start()\ntime.sleep(60)"
    )
    assert fail(run, fork, output_limit=1).text.startswith("cell 1 of 1 printed and showed")


def test_bytes_and_what_child_processes_print_are_recorded_in_their_cell(run: RunCells) -> None:
    child = "subprocess.run(['echo', 'child'])"
    given = "subprocess.run(['echo', 'é'], stdout=sys.stdout)"
    first, *others, odd = run(
        "import subprocess, sys\nsys.stdout.buffer.write('bytes: é\\n'.encode())",
        *[f"{child}\n{given}"] * 5,
        "subprocess.run(['printf', r'a\\377b\\n']); sys.stdout.buffer.write(b'c\\xffd\\n')",
    ).cells
    assert text_of(first) == "bytes: é\n"
    assert [text_of(each) for each in others] == ["child\né\n"] * 5
    assert text_of(odd) == "a\ufffdb\nc\ufffdd\n"  # bytes that are no text


def test_what_child_processes_and_c_libraries_print_keeps_its_place(run: RunCells) -> None:
    in_turn = "for number in range(20):\n    {}\n    print('Python', number)"
    child, c, end = run(
        "import subprocess\n" + in_turn.format("subprocess.run(['echo', 'other'])"),
        "import ctypes\nc = ctypes.CDLL(None)\n" + in_turn.format("c.puts(b'other')"),
        "c.printf(b'no end of line');",
    ).cells
    lines = "".join(f"other\nPython {number}\n" for number in range(20))
    assert (text_of(child), text_of(c), text_of(end)) == (lines, lines, "no end of line")


def test_the_terminal_sees_nothing_of_it(run: RunCells, capfd: pytest.CaptureFixture[str]) -> None:
    run("import os\nos.system('echo child; echo error >&2')\nprint('printed')")
    assert capfd.readouterr() == ("", "")


def test_a_signal_may_print_while_something_is_printed(run: RunCells) -> None:
    code = """
        import signal
        signal.signal(signal.SIGALRM, lambda *_: print("signal"))
        signal.setitimer(signal.ITIMER_REAL, 0.01, 0.0001)
        for number in range(20_000):
            print("line")
        signal.setitimer(signal.ITIMER_REAL, 0)
    """
    text = text_of(run(textwrap.dedent(code)).cells[0])
    assert text.count("line") == 20_000
    assert "signal" in text


def test_a_recipe_may_use_processes(run: RunCells, tmp_path: Path) -> None:
    code = (
        "import multiprocessing\n"
        "def square(x):\n    return x * x\n"
        "if __name__ == '__main__':\n"
        "    with multiprocessing.get_context('spawn').Pool(2) as pool:\n"
        "        print(pool.map(square, [1, 2, 3]))"
    )
    (tmp_path / "recipe.py").write_text(code)
    assert text_of(run(code).cells[0]) == "[1, 4, 9]\n"


@pytest.mark.parametrize("settings", [{}, {"PYTHONSAFEPATH": "1", "PYTHONPATH": "/first"}])
def test_a_recipe_finds_no_module_of_the_recorder_or_a_debugger(
    run: RunCells, settings: dict[str, str]
) -> None:
    code = "import importlib.util, sys\nprint([importlib.util.find_spec(name) for name in {}])"
    names = ["launcher", "collector", "remains", "supervise"]
    strange = ("recipe_gallery", "debugpy", "_pydevd")
    loaded = f"print([name for name in sys.modules if name.startswith({strange})])"
    environment = {name: os.environ[name] for name in ("PATH", "HOME")} | settings
    found, imported, path = run(
        code.format(names), loaded, "print('/first' in sys.path)", environment=environment
    ).cells
    assert text_of(found) == "[None, None, None, None]\n"
    assert text_of(imported) == "[]\n"
    assert text_of(path) == f"{'PYTHONPATH' in settings}\n"


def test_its_temporary_files_are_its_own(run: RunCells) -> None:
    code = "import tempfile\nprint(tempfile.mkdtemp(), tempfile.gettempdir())"
    before = set(Path("/tmp").iterdir())
    made, folder = text_of(run(code).cells[0]).split()
    assert made.startswith("/tmp/tmp")
    assert folder == "/tmp"
    assert {each for each in Path("/tmp").iterdir() if each.name == Path(made).name} <= before


def test_a_folder_with_the_name_of_a_variable_is_no_variable(
    run: RunCells, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "100%s $HOME"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    assert text_of(run("print(1)", deadline=20.0).cells[0]) == "1\n"


def test_what_goes_to_a_pager_is_recorded(run: RunCells) -> None:
    cell = run("from IPython.core import page\npage.page('paged text')").cells[0]
    assert "paged text" in repr(cell.outputs)


def test_where_a_kernel_crashed_is_told(run: RunCells) -> None:
    error = fail(run, "x = 1", "import ctypes\nctypes.string_at(0)")
    told = "ended early: the kernel's process ended by signal SIGSEGV (Segmentation fault)"
    if sys.platform == "linux":
        assert error.text == f"cell 2 of 2 {told}"
    assert 'File "<cell>", line 2 in <module>' in error.remedy


def test_a_process_that_ends_itself_is_told_with_its_status(run: RunCells) -> None:
    error = fail(run, "import os\nos._exit(7)")
    told = "the kernel's process ended with exit status 7"
    assert error.text == f"cell 1 of 1 ended early: {told}"
