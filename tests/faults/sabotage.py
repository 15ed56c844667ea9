"""Recipes that turn on their kernel, their files and their folders, and odd surroundings."""

import os
import subprocess
from collections.abc import Iterator

from .bench import Bench, Done
from .case import Case, NotRunError, contains, prints, read_page, stream
from .leftovers import next_run_cleans
from .runs import may, when_running

DISPLAY = "from IPython.display import display\n"


def _case(name: str, injects: str, code: str, ends: str = "recorded", **others: object) -> Case:
    return Case(name=name, kind="X1", injects=injects, ends=ends, code=code, **others)  # type: ignore[arg-type]


KERNELS = [
    _case(
        "closes-stdout",
        "os.close(1) and os.close(2), then printing",
        "import os\nos.close(1)\nos.close(2)\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _case(
        "replaces-stdout",
        "sys.stdout replaced and put back",
        "import io, sys\nbefore, sys.stdout = sys.stdout, io.StringIO()\nprint('hidden')\n"
        "sys.stdout = before\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _case(
        "fork-and-both-print",
        "os.fork(): both print, the child ends by os._exit",
        "import os, sys\nchild = os.fork()\nif child == 0:\n    print('child', flush=True)\n"
        "    os._exit(0)\n_ = os.waitpid(child, 0)\nprint('parent')",
        "either",
        holds=contains("parent"),
    ),
    _case(
        "fork-and-both-go-on",
        "os.fork(): the child leaves the cell as the parent does",
        "import os\nchild = os.fork()\nprint('fine')\n\n# %%\n\nprint('still fine')",
        "either",
        holds=contains("still fine"),
        seconds=90,
    ),
    _case(
        "signal-handlers",
        "handlers of all signals changed",
        "import signal\nfor number in range(1, 32):\n    try:\n        "
        "signal.signal(number, signal.SIG_IGN)\n    except (OSError, ValueError):\n        pass\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _case(
        "few-files",
        "a limit of open files of what is open already",
        "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))\nprint('fine')\n\n# %%\n\nprint('on')",
        "either",
        holds=contains("fine", "on"),
        seconds=90,
    ),
    _case(
        "no-file-may-grow",
        "a limit of 0 bytes on files",
        "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nprint('fine')",
        "either",
        holds=prints("fine\n"),
    ),
    _case(
        "closes-its-sockets",
        "the kernel's socket for outputs closed, under cell_timeout = 5",
        "# sphinx_gallery_cell_timeout = 5\nget_ipython().kernel.iopub_socket.close()\nprint('lost?')\n\n# %%\n\nprint('two')",
        "either",
        holds=contains("lost?", "two"),
        seconds=60,
    ),
    _case(
        "closes-all-descriptors",
        "os.closerange(3, 200), under cell_timeout = 5",
        "# sphinx_gallery_cell_timeout = 5\nimport os\nos.closerange(3, 200)\nprint('lost?')\n\n# %%\n\nprint('two')",
        "either",
        holds=contains("lost?", "two"),
        seconds=60,
    ),
    _case(
        "resets-the-shell",
        "get_ipython().reset() and del of builtins' print",
        "get_ipython().reset()\nprint('fine')",
        "either",
        holds=prints("fine\n"),
    ),
    _case(
        "clears-output",
        "clear_output() and clear_output(wait=True) between prints",
        "from IPython.display import clear_output\nprint('one')\nclear_output()\nprint('two')\n"
        "clear_output(wait=True)\nprint('three')",
        holds=prints("three\n"),
    ),
    _case(
        "updates-displays",
        "a display updated 200 times",
        DISPLAY
        + "handle = display('start', display_id=True)\nfor n in range(200):\n    handle.update(n)",
        holds=lambda notebook: (
            []
            if [o.data["text/plain"] for o in notebook.cells[0].outputs] == ["199"]
            else [f"{len(notebook.cells[0].outputs)} outputs instead of the last state"]
        ),
    ),
    _case(
        "opens-a-comm",
        "a comm of a widget that no page can show",
        "import comm\nc = comm.create_comm(target_name='jupyter.widget', data={'a': 1})\n"
        "c.send({'b': 2})\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _case(
        "pages-its-help",
        "text that IPython hands to a pager",
        "from IPython.core import page\npage.page('paged text')",
        "either",
        holds=contains("paged text"),
    ),
    _case(
        "prints-at-exit",
        "print() in atexit and faulthandler on",
        "import atexit, faulthandler\nfaulthandler.enable()\n_ = atexit.register(print, 'late')\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _case(
        "warnings-of-c",
        "os.write to descriptors 1 and 2",
        "import os\n_ = os.write(1, b'to one\\n')\n_ = os.write(2, b'to two\\n')\nprint('fine')",
        holds=contains("to one", "to two", "fine"),
    ),
    _case(
        "changes-priority",
        "os.nice(10) and another umask",
        "import os\n_ = os.nice(10)\n_ = os.umask(0o777)\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _case(
        "chroot",
        "os.chroot of the kernel into an empty folder",
        "import os\nos.mkdir('r')\nos.chroot('r')\nos.chdir('/')\nprint('fine')",
        "either",
        holds=contains("fine"),
        prepare=lambda bench: _root(),
    ),
    _case(
        "patched-clocks",
        "time.time, monotonic and sleep replaced, under cell_timeout = 5",
        "# sphinx_gallery_cell_timeout = 5\nimport time\ntime.time = time.monotonic = lambda: -1e9\ntime.sleep = None\nprint('fine')",
        "either",
        holds=prints("fine\n"),
    ),
    _case(
        "kills-its-parent",
        "the kernel's parent killed by the recipe",
        "import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(3)\nprint('fine')",
        "either",
        holds=contains("fine"),
    ),
    _case(
        "kills-all-above",
        "the whole recorder killed by its recipe; then another run",
        "import os, psutil, time\nfor each in psutil.Process().parents():\n"
        "    if 'sphinx_recorded_gallery' in ' '.join(each.cmdline()) and each.pid != os.getpid():\n"
        "        each.kill()\ntime.sleep(3)\nprint('fine')",
        "killed",
        look=next_run_cleans,
    ),
    _case(
        "signals-its-group",
        "SIGTERM to the kernel's whole process group",
        "import os\nos.killpg(0, 15)",
        "refused",
        says="faulty",
    ),
    _case(
        "asyncio-leftovers",
        "tasks of asyncio that never end",
        "import asyncio\nloop = asyncio.get_event_loop()\n"
        "tasks = [loop.create_task(asyncio.sleep(600)) for _ in range(3)]\nprint('fine')",
        "either",
        holds=prints("fine\n"),
    ),
    _case(
        "python-exits-in-thread",
        "sys.exit() and os.kill(INT) in a thread",
        "import os, sys, threading\nthread = threading.Thread(target=sys.exit)\nthread.start()\nthread.join()\nprint('fine')",
        holds=contains("fine"),
    ),
    _case(
        "bytes-on-stdout",
        "invalid UTF-8, NUL and half a character through sys.stdout.buffer or os.write",
        "import os\n_ = os.write(1, b'a\\xff\\x00b\\xe2\\x82')\nprint('fine')",
        "either",
        holds=contains("fine"),
    ),
    _case(
        "pip-and-magics",
        "a magic of IPython that runs a shell",
        "get_ipython().system('echo from the shell')\nprint('fine')",
        holds=contains("from the shell", "fine"),
    ),
    _case(
        "1000-warnings",
        "1,000 different warnings",
        "import warnings\nfor n in range(1000):\n    warnings.warn(f'number {n}')",
        "either",
        holds=contains("number 999"),
    ),
    _case(
        "figure-of-30000-px",
        "a figure of 30,000 pixels",
        "import matplotlib.pyplot as plt\n_ = plt.figure(figsize=(300, 1), dpi=100)\nplt.plot([1, 2])\nplt.show()",
        "either",
        holds=contains("image/png"),
        pages=True,
        seconds=120,
        leaves=(r"home/\.(cache|config)(/.*)?",),
    ),
    _case(
        "1500-cells",
        "a recipe of 300 cells",
        "\n\n# %%\n\n".join(f"print({n})" for n in range(300)),
        holds=lambda notebook: (
            [] if stream(notebook, 300) == "299\n" else ["the last cell is wrong"]
        ),
        seconds=120,
    ),
]


def _files(name: str, injects: str, code: str, ends: str = "recorded", **others: object) -> Case:
    return Case(name=name, kind="X2", injects=injects, ends=ends, code=code, **others)  # type: ignore[arg-type]


def stale(bench: Bench, done: Done) -> Iterator[str]:
    """Ask for a stale recording, or none, of a recipe that was changed while it ran."""
    checked = bench.run("check")
    line = next((line for line in checked.out.splitlines() if line.startswith("faulty")), "")
    if "current" in line.split():
        yield "check calls the recording of other code current"


FILES = [
    _files(
        "writes-its-own-source",
        "a recipe that changes its own file while it runs",
        "import pathlib\npath = pathlib.Path('ROOT/site/recipes_source/faulty.py')\n"
        "_ = path.write_text(path.read_text().replace('fine', 'changed'))\nprint('fine')",
        "either",
        look=stale,
        says="",
        holds=prints("fine\n"),
    ),
    _files(
        "writes-its-own-recording",
        "a recipe that writes its recording",
        "import pathlib\n_ = pathlib.Path('ROOT/site/recordings/faulty.ipynb').write_text('{}')\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _files(
        "deletes-its-recordings",
        "a recipe that deletes the recordings",
        "import shutil\nshutil.rmtree('ROOT/site/recordings')\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _files(
        "deletes-its-folder",
        "a recipe that deletes its working folder",
        "import os, shutil\nshutil.rmtree(os.getcwd())\nprint('fine')",
        holds=prints("fine\n"),
    ),
    _files(
        "deletes-its-source",
        "a recipe that deletes itself",
        "import pathlib\npathlib.Path('ROOT/site/recipes_source/faulty.py').unlink()\nprint('fine')",
        "either",
        holds=prints("fine\n"),
    ),
    _files(
        "changes-its-input",
        "a recipe that changes its input where it lies",
        '# sphinx_gallery_inputs = ["a.txt"]\nimport pathlib\n'
        "_ = pathlib.Path('ROOT/site/recipes_source/a.txt').write_text('changed')\nprint('fine')",
        "either",
        files={"recipes_source/a.txt": "a"},
        look=stale,
        says="",
    ),
    _files(
        "input-is-huge-link",
        "an input that is a link to /dev/zero",
        '# sphinx_gallery_inputs = ["zero"]\nprint(1)',
        "refused",
        prepare=lambda bench: (bench.recipes / "zero").symlink_to("/dev/zero"),
        seconds=30,
        says="faulty",
    ),
    _files(
        "input-is-fifo",
        "an input that is a FIFO",
        '# sphinx_gallery_inputs = ["pipe"]\nprint(1)',
        "refused",
        prepare=lambda bench: os.mkfifo(bench.recipes / "pipe"),
        seconds=30,
        says="faulty",
    ),
    _files(
        "recording-is-fifo",
        "a FIFO in the place of the recording",
        "print('fine')",
        "stopped",
        prepare=lambda bench: (
            (
                (bench.recordings / "faulty.ipynb").unlink(),
                os.mkfifo(bench.recordings / "faulty.ipynb"),
            ),
        ),
        seconds=30,
        arguments=("record", "--device", "cpu", "--replace-gpu"),
        says="faulty",
    ),
    _files(
        "recording-of-1-gb",
        "a recording of 300 MB of nothing",
        "print('fine')",
        "recorded",
        prepare=lambda bench: os.truncate(bench.recordings / "faulty.ipynb", 300_000_000),
        arguments=("record", "--device", "cpu", "--replace-gpu"),
    ),
    _files(
        "recordings-linked",
        "recordings/ that is a link to another folder, as a pull request may hold",
        "print('fine')",
        "stopped",
        prepare=lambda bench: _linked(bench),
        says="is a link; name the folder that it leads to",
        leaves=(r"elsewhere(/.*)?",),
    ),
    _files(
        "recipe-linked",
        "a recipe that is a link to a file elsewhere",
        "print('fine')",
        prepare=lambda bench: _linked_recipe(bench),
        pages=True,
    ),
    _files(
        "named-like-a-module",
        "recipes called json.py and code.py beside the others",
        "import json\nprint(json.dumps([1]))",
        "either",
        files={
            f"recipes_source/{name}.py": f'"""\n{name}\n======\n"""\n\nprint("{name}")\n'
            for name in ("code", "queue", "zmq")
        },
        holds=prints("[1]\n"),
    ),
    _files(
        "stale-unfinished",
        "a half-written file that an earlier run left",
        "print('fine')",
        prepare=lambda bench: (bench.recordings / ".faulty.ipynb.new").write_text("{"),
        look=lambda bench, done: (
            ["the half-written file is left"]
            if (bench.recordings / ".faulty.ipynb.new").exists()
            else []
        ),
    ),
]


def _linked(bench: Bench) -> None:
    bench.recordings.rename(bench.root / "elsewhere")
    bench.recordings.symlink_to(bench.root / "elsewhere")


def _linked_recipe(bench: Bench) -> None:
    path = bench.recipes / "faulty.py"
    path.rename(bench.root / "real.py")
    path.symlink_to(bench.root / "real.py")


def _root() -> None:
    if os.geteuid():
        raise NotRunError("chroot needs root")


def _around(name: str, injects: str, **others: object) -> Case:
    values: dict[str, object] = {
        "ends": "recorded",
        "code": "print('fine ä')",
        "holds": prints("fine ä\n"),
    }
    return Case(name=name, kind="X3", injects=injects, **{**values, **others})  # type: ignore[arg-type]


def page_is_built(bench: Bench, done: Done) -> Iterator[str]:
    """Ask for the page; Sphinx-Gallery warns of a path with spaces, which is no fault here."""
    built = bench.run("html", "--", "-q", seconds=120)
    if built.status != 0 or "fine ä" not in read_page(bench):
        yield f"html ended with {built.status}: {built.err[-200:]}"
    yield from built.surprises[:1]


SURROUNDINGS = [
    *[
        _around(
            f"path-with-{name}",
            f"a gallery in a folder called {folder!r}",
            below=folder,
            look=page_is_built,
        )
        for name, folder in (
            ("spaces", "my own gallery"),
            ("brackets", "a[b]*?"),
            ("percent", "100%s $HOME"),
            ("letters", "Ünïcode-한국어"),
            ("quotes", 'it\'s "quoted"'),
            ("colon", "a:b#c"),
            ("newline", "new\nline"),
            ("dash", "-rf"),
        )
    ],
    _around(
        "locale-c",
        "LC_ALL=C, PYTHONUTF8=0 and no coercion of the locale",
        below="Ünïcode",
        environment={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ),
    _around(
        "other-encoding", "PYTHONIOENCODING=latin-1", environment={"PYTHONIOENCODING": "latin-1"}
    ),
    _around(
        "ascii-only-messages",
        "PYTHONIOENCODING=ascii and an error that holds letters",
        ends="refused",
        code="raise ValueError('ä한국어')",
        holds=None,
        says="ValueError",
        environment={"PYTHONIOENCODING": "ascii"},
    ),
    _around(
        "umask-777",
        "umask 777 of the recorder, by a user who is not root",
        ends="any",
        prepare=lambda bench: _need_user(),
        neighbour=False,
        wrap=("unshare", "--map-user=54321", "--", "sh", "-c", 'umask 777; exec "$@"', "sh"),
    ),
    _around("umask-0", "umask 0 of the recorder", wrap=("sh", "-c", 'umask 0; exec "$@"', "sh")),
    _around("stdin-closed", "no standard input", wrap=("sh", "-c", 'exec "$@" <&-', "sh")),
    _around("stdout-closed", "no standard output", wrap=("sh", "-c", 'exec "$@" >&-', "sh")),
    _around(
        "streams-closed",
        "no standard streams at all",
        ends="any",
        wrap=("sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"),
    ),
    _around(
        "stdout-full",
        "check > /dev/full",
        arguments=("check",),
        ends="stopped",
        holds=None,
        wrap=("sh", "-c", 'exec "$@" > /dev/full', "sh"),
        says="No space left",
    ),
    _around(
        "stderr-full",
        "messages to a full disk",
        wrap=("sh", "-c", 'exec "$@" 2> /dev/full', "sh"),
        ends="any",
        neighbour=False,
    ),
    _around(
        "reader-gone",
        "record 2>&1 | head -1",
        ends="any",
        wrap=("bash", "-c", '"$@" 2>&1 | head -1; exit ${PIPESTATUS[0]}', "bash"),
        neighbour=False,
    ),
    _around(
        "few-descriptors",
        "a limit of 40 open files",
        wrap=("prlimit", "--nofile=40", "--"),
        ends="any",
        neighbour=False,
    ),
    _around(
        "24-descriptors",
        "a limit of 24 open files, which once hung",
        ends="any",
        wrap=("prlimit", "--nofile=24", "--"),
        neighbour=False,
        seconds=60,
    ),
    _around(
        "few-processes",
        "a limit of processes that is reached, by a user who is not root",
        ends="any",
        prepare=lambda bench: _need_user(),
        neighbour=False,
        wrap=("prlimit", "--nproc=1", "--", "unshare", "--map-user=54321", "--"),
    ),
    _around(
        "little-memory",
        "900 MB of address space",
        wrap=("prlimit", "--as=900000000", "--"),
        ends="any",
        neighbour=False,
    ),
    _around(
        "no-dev-shm",
        "no /dev/shm and an empty /tmp",
        prepare=lambda bench: _need_mount(),
        wrap=(
            "unshare",
            "-rm",
            "--",
            "sh",
            "-c",
            'mount -t tmpfs -o ro tmpfs /dev/shm; exec "$@"',
            "sh",
        ),
    ),
    _around(
        "two-recorders",
        "a second recorder while the first one runs",
        during=lambda b, p: _second(b, p),
        code="import pathlib, time\npathlib.Path('ROOT/begun').touch()\ntime.sleep(3)\nprint('fine ä')",
        leaves=("begun", "second"),
    ),
]


def _second(bench: Bench, process: subprocess.Popen[bytes]) -> None:
    when_running(bench)
    done = subprocess.run(
        bench.command("record", "--device", "cpu"),
        cwd=bench.site,
        env=bench.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    told = done.stderr.strip().splitlines()
    if done.returncode != 1 or len(told) != 1 or "another recording" not in told[0]:
        (bench.root / "second recorder said too much").write_text(done.stderr)


def _need_user() -> None:
    if not may("unshare", "--map-user=54321", "--", "true"):
        raise NotRunError("no user namespaces")


def _need_mount() -> None:
    if not may("unshare", "-rm", "--", "sh", "-c", "mount -t tmpfs tmpfs /mnt"):
        raise NotRunError("nothing can be mounted")


CASES = [*KERNELS, *FILES, *SURROUNDINGS]
