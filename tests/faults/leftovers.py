"""Faults that leave processes and files behind, also of a recorder that was killed."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator

from .bench import Bench, Done
from .case import Case, NotRunError, contains, left_behind, prints
from .runs import may, when_running
from .storms import find_process

CLEAN = """
import os, subprocess, sys
code = "import time; time.sleep(600)"
"""
CHILD = f"""{CLEAN}
kept = subprocess.Popen([sys.executable, "-c", code, "TOKEN"])
clean = subprocess.Popen([sys.executable, "-c", code, "TOKEN"], env={{}}, start_new_session=True)
print("started")
"""


def kill_recorder(bench: Bench, process: subprocess.Popen[bytes], number: int) -> None:
    """End the recorder, without a chance to clean up, while the recipe runs."""
    when_running(bench)
    time.sleep(0.5)
    os.kill(process.pid, number)


def kill_early(bench: Bench, process: subprocess.Popen[bytes]) -> None:
    """Kill the recorder while the kernel's process is Python that starts at first."""
    find_process(process.pid, "guard")
    process.kill()


def interrupt(number: int, times: int = 1) -> Callable[[Bench, subprocess.Popen[bytes]], None]:
    """Send a signal to the recorder while the recipe runs."""

    def send(bench: Bench, process: subprocess.Popen[bytes]) -> None:
        when_running(bench)
        for _ in range(times):
            time.sleep(0.3)
            if process.poll() is None:
                os.kill(process.pid, number)

    return send


def next_run_cleans(bench: Bench, done: Done) -> Iterator[str]:
    """After a recorder that was killed the next one has to work, and to clean up behind both."""
    bench.write("recipes_source/faulty.py", (bench.recipes / "neighbour.py").read_text())
    again = bench.run("record", "--device", "cpu")
    if again.status != 0:
        yield f"the next run ended with {again.status}: {again.err[-200:]}"
    yield from (f"after the next run: {each}" for each in left_behind(bench, ("begun",)))


def _child(name: str, injects: str, popen: str, **others: object) -> Case:
    return Case(
        name=name,
        kind="E2",
        injects=injects,
        ends=str(others.pop("ends", "recorded")),
        code=CLEAN + popen + "\nprint('started')",
        holds=contains("started"),
        **others,  # type: ignore[arg-type]
    )


CHILDREN = [
    _child(
        "clean-child",
        "a child with an empty environment",
        'child = subprocess.Popen([sys.executable, "-c", code, "TOKEN"], env={})',
    ),
    _child(
        "clean-child-own-session",
        "a child with an empty environment in its own session",
        'child = subprocess.Popen([sys.executable, "-c", code, "TOKEN"], env={}, start_new_session=True)',
    ),
    _child(
        "env-i-setsid",
        "env -i setsid: an orphan with an empty environment in its own session",
        'subprocess.run(["sh", "-c", f"env -i setsid {sys.executable} -c \'{code}\' TOKEN &"])\n'
        "import time\ntime.sleep(0.5)",
    ),
    _child(
        "double-fork",
        "a daemon: double fork, own session, cwd /, closed descriptors, empty environment",
        """
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.chdir("/")
    os.closerange(0, 256)
    os.execve(sys.executable, [sys.executable, "-c", code, "TOKEN"], {})
os.wait()
import time
time.sleep(0.5)
""",
    ),
    _child(
        "ignores-signals",
        "a child that ignores TERM, INT and HUP",
        'code = "import signal, time; [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; time.sleep(600)"\n'
        'child = subprocess.Popen([sys.executable, "-c", code, "TOKEN"], start_new_session=True)',
    ),
    _child(
        "respawner",
        "a child that starts another one when it is ended",
        """
code = (
    "import os, subprocess, sys, time\\n"
    "while True:\\n"
    "    p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', 'TOKEN'])\\n"
    "    p.wait()\\n"
)
child = subprocess.Popen([sys.executable, "-c", code, "TOKEN"], env={}, start_new_session=True)
""",
    ),
    _child(
        "kernel-dies-with-clean-child",
        "a kernel that is killed, its orphan with an empty environment",
        'subprocess.run(["sh", "-c", f"env -i setsid {sys.executable} -c \'{code}\' TOKEN &"])\n'
        "import time\ntime.sleep(0.5)\nos.kill(os.getpid(), 9)",
        ends="refused",
    ),
    _child(
        "stopped-child",
        "a child that is stopped by SIGSTOP",
        'child = subprocess.Popen([sys.executable, "-c", code, "TOKEN"])\nimport time\n'
        "time.sleep(0.3)\nos.kill(child.pid, 19)",
    ),
    _child(
        "fork-without-exec",
        "a forked child that goes on with the recipe and sleeps",
        "if os.fork() == 0:\n    import time\n    time.sleep(600)\n    os._exit(0)",
    ),
    _child(
        "multiprocessing-pool",
        "a pool of worker processes that is never closed",
        "import multiprocessing\npool = multiprocessing.get_context('fork').Pool(2)\nprint(pool.map(abs, [-1]))",
    ),
]
FILES = [
    Case(
        name="fifty-files",
        kind="E1",
        injects="50 files by tempfile, and one in the working folder",
        ends="recorded",
        code="import tempfile\nfor _ in range(50):\n    tempfile.mkstemp()\n_ = tempfile.mkdtemp()\n"
        "open('left', 'w').close()\nprint('fine')",
        holds=prints("fine\n"),
    ),
    Case(
        name="shared-memory",
        kind="E1",
        injects="shared memory that is never unlinked",
        ends="recorded",
        code="from multiprocessing.shared_memory import SharedMemory\n"
        "memory = SharedMemory('TOKEN', create=True, size=100)\nprint('fine')",
        holds=prints("fine\n"),
    ),
    Case(
        name="folder-without-rights",
        kind="E1",
        injects="folders of mode 0 in the working folder, by a user who is not root",
        ends="recorded",
        code="import os\nos.makedirs('a/b')\nopen('a/b/c', 'w').close()\nos.chmod('a/b', 0)\n"
        "os.chmod('a', 0)\nprint('fine')",
        prepare=lambda bench: _need_user(),
        wrap=("unshare", "--map-user=54321", "--"),
        holds=prints("fine\n"),
    ),
    Case(
        name="busy-writer",
        kind="E1",
        injects="a child that keeps writing files into the working folder",
        ends="recorded",
        code="import subprocess, sys\n"
        'code = \'import itertools, time\\nfor n in itertools.count():\\n open(f"f{n % 1000}", "w"); time.sleep(.001)\'\n'
        "child = subprocess.Popen([sys.executable, '-c', code, 'TOKEN'])\nprint('fine')",
        holds=prints("fine\n"),
    ),
]


def _need_user() -> None:
    if not may("unshare", "--map-user=54321", "--", "true"):
        raise NotRunError("no user namespaces")


def _signal(name: str, number: int, times: int = 1) -> Case:
    return Case(
        name=name,
        kind="E4",
        injects=f"{signal.Signals(number).name} to the recorder, {times} time(s), children running",
        ends="interrupted",
        code="import pathlib, time\n"
        + CHILD
        + "\npathlib.Path('ROOT/begun').touch()\ntime.sleep(600)",
        during=interrupt(number, times),
        leaves=("begun",),
    )


SIGNALS = [
    _signal("interrupted", signal.SIGINT),
    _signal("interrupted-five-times", signal.SIGINT, 5),
    _signal("terminated", signal.SIGTERM),
    _signal("hung-up", signal.SIGHUP),
]


def _killed(name: str, number: int, injects: str, code: str) -> Case:
    return Case(
        name=name,
        kind="E3",
        injects=f"{injects}; then another run",
        ends="killed",
        code=code,
        during=lambda bench, process: kill_recorder(bench, process, number),
        look=next_run_cleans,
    )


BEGUN = "\nimport pathlib, re, time\npathlib.Path('ROOT/begun').touch()\n"
ORPHAN = 'subprocess.run(["sh", "-c", f"env -i setsid {sys.executable} -c \'{code}\' TOKEN &"])\n'
KILLED = [
    _killed(
        "recorder-killed",
        signal.SIGKILL,
        "SIGKILL to the recorder while children run",
        CHILD + BEGUN + "time.sleep(600)",
    ),
    _killed(
        "recorder-killed-orphan",
        signal.SIGKILL,
        "SIGKILL to the recorder while an orphan with an empty environment runs",
        CLEAN + ORPHAN + BEGUN + "time.sleep(600)",
    ),
    _killed(
        "recorder-killed-busy",
        signal.SIGKILL,
        "SIGKILL to the recorder while a regular expression holds the interpreter",
        BEGUN + "re.match('(a+)+$', 'a' * 60 + 'b')",
    ),
    _killed(
        "recorder-quits",
        signal.SIGQUIT,
        "SIGQUIT to the recorder while children run",
        CHILD + BEGUN + "time.sleep(600)",
    ),
    Case(
        name="recorder-killed-early",
        kind="E3",
        injects="SIGKILL to the recorder as soon as there is a kernel's process; then another run",
        ends="killed",
        during=kill_early,
        look=next_run_cleans,
    ),
]
CASES = [*FILES, *CHILDREN, *KILLED, *SIGNALS]
