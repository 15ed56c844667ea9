"""Run modules as ``python -m`` does, in processes that need not load the libraries first.

Starting Python and importing Sphinx takes ten times as long as rendering a small site. Here each
process is forked from one that has imported what others wrote, and nothing of this repository.
"""

import io
import multiprocessing
import os
import runpy
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]
LIBRARIES = """
    pytest filelock polib tabulate jupytext nbformat.v4 nbclient
    babel.messages babel.dates sphinx.cmd.build sphinx.builders.html sphinx.builders.gettext
    sphinx.builders.latex sphinx.ext.mathjax sphinx.search.en
    sphinx_gallery.gen_gallery pydata_sphinx_theme pygments.lexers.python
""".split()  # noqa: SIM905

_processes = multiprocessing.get_context("forkserver")


def run_module(
    name: str, *arguments: str, cwd: Path, env: Mapping[str, str] = os.environ
) -> subprocess.CompletedProcess[str]:
    """Run ``python -m name arguments`` in a folder; return its exit status and what it printed."""
    _processes.set_forkserver_preload(LIBRARIES)
    command = [name, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        files = (f"{folder}/out", f"{folder}/err")
        process = _processes.Process(target=_run, args=(command, str(cwd), dict(env), files))
        process.start()
        process.join()
        out, err = (Path(file).read_text(encoding="utf-8") for file in files)
    return subprocess.CompletedProcess(command, process.exitcode, out, err)


def _run(command: list[str], cwd: str, env: dict[str, str], files: tuple[str, str]) -> None:
    for number, file in enumerate(files, 1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), number)
    sys.stdout, sys.stderr = (
        io.TextIOWrapper(io.FileIO(number, "w"), encoding="utf-8", line_buffering=True)
        for number in (1, 2)
    )
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    ours = {"", str(ROOT), str(ROOT / "tests")}
    others = [each for each in sys.path if each not in ours]
    sys.path[:] = [cwd, *filter(None, env.get("PYTHONPATH", "").split(os.pathsep)), *others]
    sys.argv[1:] = command[1:]
    runpy.run_module(command[0], run_name="__main__", alter_sys=True)
