"""Faults by which a wrong recording could pass for a good one."""

import contextlib
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import psutil

from .bench import Bench, Done
from .case import Case, contains, lacks, prints, stream

PUBLISH = """
from IPython.display import display
row = {"case": "a", "variant": "b", "size": None, "quantity": "time", "value": 2.0, "unit": "s"}
display({"application/vnd.recorded-gallery.rows+json": {"rows": [row]}}, raw=True)
"""
SPANS = """
from IPython.display import display
spans = {"case": "a", "unit": "s", "lanes": {"GPU": [[2, 1]]}}
display({"application/vnd.recorded-gallery.spans+json": spans}, raw=True)
"""
LOG = """
import logging, sys
logging.basicConfig(stream=sys.stdout, format="%(message)s", level=logging.INFO, force=True)
for number in range({lines}):
    logging.info("line %06d", number)
"""


def all_lines(count: int, headline: bool = True) -> Any:
    """Ask for each of the numbered lines, and the figure that was published after them."""

    def holds(notebook: Any) -> Iterator[str]:
        found = stream(notebook).splitlines()
        wanted = [f"line {number:06d}" for number in range(count)]
        if found != wanted:
            yield f"{len(set(wanted) - set(found)):,} of {count:,} lines are lost or out of order"
        if headline and "rows+json" not in repr(notebook.cells[0].outputs[-1:]):
            yield "the headline figure is lost"

    return holds


def stop_recorder(bench: Bench, process: subprocess.Popen[bytes]) -> None:
    """Keep the recorder from running for 2 s once the recipe has begun, as a busy machine does."""
    until = time.monotonic() + 30
    while not (bench.root / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)
    with contextlib.suppress(psutil.Error):  # it has ended
        recorder = psutil.Process(process.pid)
        recorder.suspend()
        time.sleep(2)
        recorder.resume()


def commit_is_told(bench: Bench, done: Done) -> Iterator[str]:
    """Either the recording names the commit, or somebody is told that it does not."""
    text = (bench.recordings / "faulty.ipynb").read_text()
    known = subprocess.run(
        ["git", "-c", f"safe.directory={bench.site}", "-C", bench.site, "rev-parse", "HEAD"],
        capture_output=True,
        text=True,
    ).stdout.strip()
    if not (known and known in text) and not ("git" in done.err or "commit" in done.err):
        yield "the commit is unknown, and nobody is told"


def make_repository(bench: Bench) -> None:
    """Commit the gallery."""
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    git = ["git", *who, "-C", str(bench.site)]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "all"]):
        subprocess.run([*git, *words], check=True)


def make_repository_elsewhere(bench: Bench) -> None:
    """Commit the gallery, and hide git."""
    make_repository(bench)
    (bench.root / "empty").mkdir()
    bench.environment["PATH"] = str(bench.root / "empty")


def small_memory(bench: Bench, done: Done) -> Iterator[str]:
    """Ask for a recorder that needs less than 1.5 GB."""
    if done.memory > 1500:
        yield f"the recorder took {done.memory:,.0f} MB"


RAW = "from IPython.display import display\n"
PROFILE = "c = get_config()\nc.PlainTextFormatter.float_precision = '%.2f'\n"
LOST = [
    Case(
        name="20000-log-lines",
        kind="A1",
        injects="20,000 lines by logging, then a headline figure",
        ends="recorded",
        code=LOG.format(lines=20000) + PUBLISH,
        holds=all_lines(20000),
    ),
    Case(
        name="20000-flushed-prints",
        kind="A1",
        injects="print(flush=True) 20,000 times, then a headline figure",
        ends="recorded",
        code="for i in range(20000):\n    print(f'line {i:06d}', flush=True)\n" + PUBLISH,
        holds=all_lines(20000),
    ),
    Case(
        name="stopped-recorder",
        kind="A1",
        injects="recorder stopped for 2 s during 4,000 log lines and a headline figure",
        ends="recorded",
        code="import pathlib\npathlib.Path('ROOT/begun').touch()\n"
        + LOG.format(lines=4000)
        + PUBLISH,
        during=stop_recorder,
        holds=all_lines(4000),
        leaves=("begun",),
    ),
    Case(
        name="4000-displays",
        kind="A1",
        injects="display() 4,000 times",
        ends="recorded",
        code=RAW + "for i in range(4000):\n    display(i)",
        holds=lambda notebook: (
            []
            if len(notebook.cells[0].outputs) == 4000
            else [f"{4000 - len(notebook.cells[0].outputs):,} of 4,000 displays are lost"]
        ),
    ),
    Case(
        name="late-thread",
        kind="A1",
        injects="a thread that prints after its cell has ended, before the recorder begins the next",
        ends="recorded",
        code="""
            import pathlib, threading, time
            pathlib.Path('ROOT/begun').touch()
            def late():
                for number in range(5):
                    time.sleep(0.1)
                    print("late", number, flush=True)
            thread = threading.Thread(target=late)
            thread.start()

            # %%

            thread.join()
            """,
        during=stop_recorder,
        holds=contains(*(f"late {number}" for number in range(5))),
        leaves=("begun",),
    ),
    Case(
        name="last-words",
        kind="A1",
        injects="2,000 lines without a flush as the last act of the last cell",
        ends="recorded",
        code="import sys\nsys.stdout.write(''.join(f'line {i:06d}\\n' for i in range(2000)))\nNone",
        holds=all_lines(2000, headline=False),
    ),
    Case(
        name="figures-by-the-thousand",
        kind="A1",
        injects="1,500 small pictures in one cell",
        ends="recorded",
        code=RAW
        + "import base64\nfrom IPython.display import Image\n"
        + "PNG = base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAA"
        + "AgAB4iG8MwAAAABJRU5ErkJggg==')\n"
        + "for i in range(1500):\n    display(Image(PNG))\n",
        holds=lambda notebook: (
            []
            if len(notebook.cells[0].outputs) == 1500
            else [f"{1500 - len(notebook.cells[0].outputs):,} of 1,500 pictures are lost"]
        ),
    ),
]
UNDRAWN = [
    Case(
        name="bad-mathtext",
        kind="A2",
        injects="a title of a figure with a formula that cannot be drawn",
        ends="refused",
        code="import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.title(r'$\\frac{1$')\nplt.show()",
        leaves=(r"home/\.(cache|config)(/.*)?",),
    ),
    Case(
        name="no-latex",
        kind="A2",
        injects="text.usetex without LaTeX",
        ends="refused",
        code="import matplotlib.pyplot as plt\nplt.rcParams['text.usetex'] = True\n"
        "plt.plot([1, 2])\nplt.title('no')\nplt.show()",
        leaves=(r"home/\.(cache|config)(/.*)?",),
    ),
    Case(
        name="figure-drawn-at-end-of-cell",
        kind="A2",
        injects="a figure that cannot be drawn, left open at the end of a cell; another cell follows",
        ends="refused",
        code="import matplotlib.pyplot as plt\n_ = plt.plot([1, 2])\n_ = plt.title(r'$\\frac{1$')\n\n"
        "# %%\n\nprint('on')",
        leaves=(r"home/\.(cache|config)(/.*)?",),
    ),
    Case(
        name="repr-raises",
        kind="A2",
        injects="an object whose _repr_html_ raises",
        ends="refused",
        code="class Bad:\n    def _repr_html_(self):\n        raise KeyError('inside')\n\n\nBad()",
    ),
]
PATHS = [
    Case(
        name="home-is-root",
        kind="A3",
        injects="HOME=/ and text with //",
        ends="recorded",
        environment={"HOME": "/"},
        code="print('https://example.org', 7 // 2, '7 // 2')",
        holds=prints("https://example.org 3 7 // 2\n"),
    ),
    Case(
        name="home-inside-paths",
        kind="A3",
        injects="HOME=/root and other paths that hold /root/",
        ends="recorded",
        environment={"HOME": "/root"},
        code="print('s3://bucket/root/y /data/root/file')",
        holds=prints("s3://bucket/root/y /data/root/file\n"),
    ),
    Case(
        name="home-in-a-table",
        kind="A3",
        injects="HOME=/h and HTML with links to /h/",
        ends="recorded",
        environment={"HOME": "/h"},
        code="from IPython.display import HTML\nHTML('<p><a href=\"https://a.org/h/x\">x</a></p>')",
        holds=contains("https://a.org/h/x"),
    ),
]
FRESH = [
    Case(
        name="profile",
        kind="A4",
        injects="a profile of the user that prints 3.14 for pi",
        ends="recorded",
        code="import math\nmath.pi",
        prepare=lambda bench: _home(bench, ".ipython/profile_default/ipython_config.py", PROFILE),
        holds=contains("3.141592653589793"),
    ),
    Case(
        name="kernel-profile",
        kind="A4",
        injects="a kernel profile that defines names before the recipe",
        ends="refused",
        code="print(defined_outside)",
        prepare=lambda bench: _home(
            bench,
            ".ipython/profile_default/ipython_kernel_config.py",
            "get_config().IPKernelApp.exec_lines = ['defined_outside = 1']\n",
        ),
    ),
    Case(
        name="startup-file",
        kind="A4",
        injects="startup/00.py in the user's profile that defines a name the recipe lacks",
        ends="refused",
        code="print(defined_outside)",
        prepare=lambda bench: _home(
            bench, ".ipython/profile_default/startup/00.py", "defined_outside = 1\n"
        ),
    ),
    Case(
        name="pythonstartup",
        kind="A4",
        injects="PYTHONSTARTUP that defines a name the recipe lacks",
        ends="refused",
        code="print(defined_outside)",
        environment={"PYTHONSTARTUP": "ROOT/home/start.py"},
        prepare=lambda bench: _home(bench, "start.py", "defined_outside = 1\n"),
    ),
    Case(
        name="ipythondir",
        kind="A4",
        injects="IPYTHONDIR with a profile that prints 3.14 for pi",
        ends="recorded",
        code="import math\nmath.pi",
        environment={"IPYTHONDIR": "ROOT/home/other"},
        prepare=lambda bench: _home(bench, "other/profile_default/ipython_config.py", PROFILE),
        holds=contains("3.141592653589793"),
    ),
    Case(
        name="jupyter-config",
        kind="A4",
        injects="a Jupyter configuration of the user that starts another kernel",
        ends="recorded",
        prepare=lambda bench: _home(
            bench,
            ".local/share/jupyter/kernels/python3/kernel.json",
            '{"argv": ["/bin/false", "{connection_file}"], "display_name": "no", "language": "x"}',
        ),
        holds=prints("fine\n"),
    ),
    Case(
        name="optimized",
        kind="A4",
        injects="PYTHONOPTIMIZE=1 and a recipe whose assert is false",
        ends="refused",
        code="assert 1 == 2",
        environment={"PYTHONOPTIMIZE": "1"},
    ),
    Case(
        name="warnings-as-errors",
        kind="A4",
        injects="PYTHONWARNINGS=error of the user",
        ends="recorded",
        environment={"PYTHONWARNINGS": "error"},
        holds=prints("fine\n"),
        noise=True,
    ),
    Case(
        name="python-of-the-user",
        kind="A4",
        injects="PYTHONDEVMODE, PYTHONSAFEPATH and PYTHONHASHSEED of the user",
        ends="recorded",
        environment={"PYTHONDEVMODE": "1", "PYTHONSAFEPATH": "1", "PYTHONHASHSEED": "0"},
        holds=prints("fine\n"),
        noise=True,
    ),
    Case(
        name="backend-of-the-user",
        kind="A4",
        injects="MPLBACKEND=svg of the user and a figure",
        ends="recorded",
        code="import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()",
        environment={"MPLBACKEND": "svg"},
        holds=contains("image/png"),
        leaves=(r"home/\.(cache|config)(/.*)?",),
    ),
]
EXITS = [
    Case(
        name="exit",
        kind="A5",
        injects="exit() in the first of two cells",
        ends="refused",
        code="print('one')\nexit()\nprint('two')\n\n# %%\n\nprint('three')",
    ),
    Case(
        name="quit",
        kind="A5",
        injects="quit() inside of a function",
        ends="refused",
        code="def stop():\n    quit()\n\n\nstop()\n\n# %%\n\nprint('three')",
    ),
    Case(
        name="exit-in-except",
        kind="A5",
        injects="exit() under `except Exception: pass`, which does not hold it",
        ends="refused",
        code="try:\n    exit(0)\nexcept Exception:\n    pass\n\n# %%\n\nprint('on')",
    ),
    Case(
        name="ask-exit",
        kind="A5",
        injects="get_ipython().ask_exit()",
        ends="either",
        code="get_ipython().ask_exit()\nprint('one')\n\n# %%\n\nprint('two')",
        holds=contains("two"),
    ),
]
TEXTS = [
    Case(
        name="surrogate-in-print",
        kind="A6",
        injects="print() of a lone surrogate between two lines",
        ends="either",
        code="print('before')\nprint('a\\udcffb')\nprint('after')",
        holds=lambda notebook: (
            [*contains("before", "after")(notebook), *lacks("Traceback", "UnicodeEncode")(notebook)]
        ),
    ),
    Case(
        name="surrogate-as-result",
        kind="A6",
        injects="a lone surrogate in _repr_html_",
        ends="either",
        code="class Odd:\n    def _repr_html_(self):\n        return '<p>x\\ud800y</p>'\n\n\nOdd()",
        holds=lacks("Traceback"),
        pages=True,
    ),
    Case(
        name="surrogate-in-error",
        kind="A6",
        injects="an exception with a lone surrogate",
        ends="refused",
        code="raise ValueError('file \\udcff')",
    ),
    Case(
        name="surrogate-in-json",
        kind="A6",
        injects="a lone surrogate in published JSON",
        ends="either",
        code=RAW + "display({'application/x+json': {'a': '\\udcff'}}, raw=True)",
        holds=contains("application/x+json"),
    ),
]
COMMITS = [
    Case(
        name="checkout-of-another-owner",
        kind="A7",
        injects="a checkout that git takes for somebody else's",
        ends="recorded",
        environment={"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"},
        prepare=make_repository,
        look=commit_is_told,
    ),
    Case(
        name="no-git",
        kind="A7",
        injects="a checkout on a machine without git",
        ends="recorded",
        prepare=make_repository_elsewhere,
        look=commit_is_told,
    ),
    Case(
        name="git-hangs",
        kind="A7",
        injects="a git that never answers",
        ends="either",
        prepare=lambda bench: _program(bench, "git", "#!/bin/sh\nexec sleep 600\n"),
        files={"recipes_source/recording.toml": "[limits]\ncell_timeout = 5\n"},
        seconds=90,
    ),
]
SIZES = [
    Case(
        name="150-mb-printed",
        kind="A8",
        injects="150 MB printed",
        ends="either",
        code="for _ in range(150):\n    print('x' * 1_000_000)",
        look=small_memory,
        seconds=120,
    ),
    Case(
        name="one-line-of-120-mb",
        kind="A8",
        injects="120 MB printed in one line, without an end",
        ends="either",
        code="import sys\n_ = sys.stdout.write('y' * 120_000_000)",
        look=small_memory,
        seconds=120,
    ),
    Case(
        name="endless-print",
        kind="A8",
        injects="printing without end under cell_timeout = 5",
        ends="refused",
        code="# sphinx_gallery_cell_timeout = 5\nwhile True:\n    print('z' * 10_000)",
        look=small_memory,
        seconds=90,
    ),
    Case(
        name="picture-of-110-mb",
        kind="A8",
        injects="a picture of 82 MB, 110 MB as text",
        ends="either",
        code=RAW + "import base64, os\ndata = base64.b64encode(os.urandom(82_000_000)).decode()\n"
        "display({'image/png': data}, raw=True)",
        look=small_memory,
        seconds=120,
    ),
    Case(
        name="table-of-30-mb",
        kind="A8",
        injects="HTML of 30 MB",
        ends="either",
        code="from IPython.display import HTML\nHTML('<p>cell</p>' * 2_500_000)",
        look=small_memory,
        seconds=120,
    ),
]
SETTINGS = [
    Case(
        name="deadline-5-s",
        kind="A9",
        injects="# sphinx_gallery_deadline = 5 s",
        ends="refused",
        code="# sphinx_gallery_deadline = 5 s\nprint(1)",
        says=r"faulty\.py:\d+: .*deadline",
    ),
    Case(
        name="inputs-over-two-lines",
        kind="A9",
        injects="a list of inputs over two lines",
        ends="refused",
        code='# sphinx_gallery_inputs = ["a.txt",\n# "b.txt"]\nprint(1)',
        files={"recipes_source/a.txt": "a", "recipes_source/b.txt": "b"},
        says=r"faulty\.py:\d+: .*inputs",
    ),
    Case(
        name="inputs-twice",
        kind="A9",
        injects="two lines of inputs",
        ends="either",
        code='# sphinx_gallery_inputs = ["a.txt"]\n# sphinx_gallery_inputs = ["b.txt"]\n'
        "print(open('a.txt').read() + open('b.txt').read())",
        files={"recipes_source/a.txt": "a", "recipes_source/b.txt": "b"},
        says=r"faulty\.py:\d+: .*inputs",
        holds=prints("ab\n"),
    ),
    Case(
        name="headline-true",
        kind="A9",
        injects="a headline figure that is True",
        ends="refused",
        code=PUBLISH.replace("2.0", "True"),
        says="published invalid rows",
    ),
    Case(
        name="headline-1e300",
        kind="C5",
        injects="a headline figure of 1e300",
        ends="refused",
        code=PUBLISH.replace("2.0", "1e300"),
        says="published invalid rows",
    ),
    Case(
        name="headline-nan",
        kind="A9",
        injects="a headline figure that is not a number",
        ends="refused",
        code=PUBLISH.replace("2.0", "float('nan')"),
        says="published invalid rows",
    ),
    Case(
        name="spans-backwards",
        kind="A9",
        injects="a span that ends before it begins",
        ends="refused",
        code=SPANS,
        says="published invalid spans: lane GPU, span 1: it ends at 1, before 2",
    ),
    Case(
        name="deadline-1e300",
        kind="A9",
        injects="deadline and cell_timeout of 1e300 s",
        ends="either",
        code="# sphinx_gallery_deadline = 1e300\n# sphinx_gallery_cell_timeout = 1e300\nprint('x')",
        holds=prints("x\n"),
    ),
]
SECRETS = [
    Case(
        name="token-printed",
        kind="A10",
        injects="HF_TOKEN and AWS_SECRET_ACCESS_KEY in the environment, printed by the recipe",
        ends="either",
        environment={"HF_TOKEN": "hf_abcSECRETabc", "AWS_SECRET_ACCESS_KEY": "awsSECRETaws"},
        code="import os\nprint(dict(os.environ))",
        holds=lacks("hf_abcSECRETabc", "awsSECRETaws"),
    ),
    Case(
        name="token-of-another-name",
        kind="A10",
        injects="MY_DATABASE=postgres://user:password@host, printed by the recipe",
        ends="either",
        environment={"MY_DATABASE": "postgres://user:passwordSECRET@host"},
        code="import os\nprint(os.environ.get('MY_DATABASE'))",
        holds=lacks("passwordSECRET"),
    ),
    Case(
        name="named-variable",
        kind="A10",
        injects="a variable that recording.toml names, read by the recipe",
        ends="recorded",
        files={"recipes_source/recording.toml": '[environment]\nMY_SIZE = "17"\n'},
        code="import os\nprint(os.environ['MY_SIZE'])",
        holds=prints("17\n"),
    ),
    Case(
        name="home-without-slash",
        kind="A10",
        injects="print(Path.home()), sys.argv, sys.path and the working folder",
        ends="recorded",
        code="import os, sys\nfrom pathlib import Path\nprint(Path.home(), sys.argv, os.getcwd())",
        holds=lambda notebook: lacks("/faults-", "token")(notebook),
        leaves=(),
    ),
]


def _home(bench: Bench, name: str, content: str) -> None:
    path = bench.root / "home" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


def _program(bench: Bench, name: str, content: str) -> None:
    """Put a program in front of all others."""
    folder = bench.root / "bin"
    folder.mkdir()
    (folder / name).write_text(content)
    (folder / name).chmod(0o755)
    bench.environment["PATH"] = f"{folder}:{bench.environment['PATH']}"


CASES = [*LOST, *UNDRAWN, *PATHS, *FRESH, *EXITS, *TEXTS, *COMMITS, *SIZES, *SETTINGS, *SECRETS]
