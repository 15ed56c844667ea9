"""Faults that a message has to explain, limits that have to hold, and what reaches readers."""

import json
import re
import time
from collections.abc import Iterator

from .bench import Bench, Done
from .case import Case, build, contains, prints, read_page

HTML = "from IPython.display import HTML\n"


def _dies(name: str, code: str, injects: str, says: str, **others: object) -> Case:
    return Case(
        name=name,
        kind="F1",
        injects=injects,
        ends="refused",
        code=code,
        says=says,
        **others,  # type: ignore[arg-type]
    )


DEATHS = [
    _dies("os-exit-0", "import os\nos._exit(0)", "os._exit(0)", "(status|code) 0|_exit"),
    _dies("os-exit-3", "import os\nos._exit(3)", "os._exit(3)", "(status|code) 3"),
    _dies(
        "segfault",
        "import ctypes\nctypes.string_at(0)",
        "a segmentation fault",
        "SIGSEGV|signal 11",
    ),
    _dies("abort", "import os\nos.abort()", "os.abort()", "SIGABRT|signal 6"),
    _dies(
        "terminates-itself",
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)",
        "SIGTERM to itself",
        "SIGTERM|signal 15",
    ),
    _dies(
        "kills-itself",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "SIGKILL to itself, as when memory runs out",
        "SIGKILL|killed|memory",
    ),
    _dies(
        "out-of-memory",
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (3 << 30,) * 2)\n"
        "x = bytearray(8 << 30)",
        "more memory than there is",
        "MemoryError",
    ),
    _dies(
        "recursion",
        "def f(n):\n    return f(n + 1)\n\n\nf(0)",
        "endless recursion",
        "RecursionError",
    ),
    _dies(
        "message-of-two-lines",
        "raise ValueError('one\\nerror: neighbour.py:3: two; three')",
        "an exception whose text looks like another error",
        "ValueError: one",
    ),
    _dies(
        "message-with-escapes",
        "raise ValueError('\\x1b[31mred\\x1b]0;title\\x07 \\x9b2J')",
        "an exception with escape sequences",
        "ValueError",
    ),
    _dies(
        "message-of-10-mb",
        "raise ValueError('m' * 10_000_000)",
        "an exception of 10 MB",
        "ValueError|output_limit",
        look=lambda bench, done: _bounded(done),
    ),
    _dies(
        "exception-that-cannot-be-told",
        "class Odd(Exception):\n    def __str__(self):\n        raise KeyError('inside')\n\n\nraise Odd()",
        "an exception whose __str__ raises",
        "Odd|KeyError",
    ),
    _dies(
        "bare-base-exception",
        "class Out(BaseException):\n    pass\n\n\nraise Out('x')",
        "an exception that is only a BaseException",
        "Out",
    ),
    _dies(
        "interrupts-itself",
        "import _thread\n_thread.interrupt_main()\nimport time\ntime.sleep(5)",
        "interrupt_main()",
        "KeyboardInterrupt",
    ),
    _dies("asks", "input('name? ')", "input()", "input|StdinNotImplementedError"),
]


def _bounded(done: Done) -> Iterator[str]:
    if len(done.err) > 100_000:
        yield f"{len(done.err):,} characters of messages"


ECHOES = [
    Case(
        name="child-with-escapes",
        kind="F2",
        injects="a child process that prints escape sequences",
        ends="recorded",
        code="import subprocess\n_ = subprocess.run(['printf', '\\\\033]0;title\\\\007\\\\033[2Jdone\\\\n'])",
    ),
    Case(
        name="child-of-50-mb",
        kind="F2",
        injects="a child process that prints 50 MB",
        ends="either",
        code="import subprocess\n_ = subprocess.run(['head', '-c', '50000000', '/dev/zero'])",
        seconds=120,
    ),
    Case(
        name="child-on-stderr",
        kind="F2",
        injects="a child process and C code that write a Traceback to descriptor 2",
        ends="recorded",
        code="import os, subprocess\n_ = os.write(2, b'Traceback (most recent call last):\\n')\n"
        "_ = subprocess.run(['sh', '-c', 'echo error: neighbour.py: false; nothing >&2'])",
    ),
]
SLOW = """
import sys, time
if any("kernel" in word or "kernel_process" in word for word in sys.orig_argv):
    time.sleep(60)
"""
LIMITS = [
    Case(
        name="probe-hangs",
        kind="F3",
        injects="a probe that never ends",
        ends="stopped",
        files={
            "recipes_source/recording.toml": "[limits]\ncell_timeout = 5\n"
            "[provenance]\nprobe = 'import time; time.sleep(600)'\n"
        },
        says="probe",
        seconds=45,
    ),
    Case(
        name="slow-start",
        kind="F3",
        injects="a kernel that does not start within the deadline of 8 s",
        ends="any",
        files={
            "recipes_source/recording.toml": '[limits]\ndeadline = 8\n[environment]\nPYTHONPATH = "ROOT/slow"\n',
            "../slow/sitecustomize.py": SLOW,
        },
        look=lambda bench, done: (
            [] if len(done.errors) == 2 else [f"not one line a recipe: {done.err[-200:]}"]
        ),
        neighbour=False,
        seconds=60,
    ),
    Case(
        name="second-try",
        kind="F3",
        injects="a kernel that dies after 6 s of a deadline of 8 s, twice",
        ends="refused",
        code="# sphinx_gallery_deadline = 8\nimport os, time\ntime.sleep(6)\nos.kill(os.getpid(), 9)",
        says="faulty",
        look=lambda bench, done: (
            [f"took {done.seconds:.0f} s with a deadline of 8 s"] if done.seconds > 25 else []
        ),
    ),
    Case(
        name="slow-to-clean",
        kind="F3",
        injects="560 kB of <style scoped> that is never closed, under a deadline of 10 s",
        ends="either",
        code=HTML + "# sphinx_gallery_deadline = 10\nHTML('<style scoped>' * 40_000)",
        seconds=40,
    ),
    Case(
        name="slow-pattern",
        kind="F3",
        injects="a pattern to drop lines that has many stars, and a line that nearly fits it",
        ends="recorded",
        code="# sphinx_gallery_deadline = 10\nprint('a' * 4000 + 'b')",
        files={"recipes_source/recording.toml": "[output]\ndrop = ['*a*a*a*a*a*a*a*a*a*c']\n"},
        holds=prints("a" * 4000 + "b\n"),
        seconds=60,
    ),
    Case(
        name="holds-the-interpreter",
        kind="F3",
        injects="a regular expression that never ends, under cell_timeout = 3",
        ends="refused",
        code="# sphinx_gallery_cell_timeout = 3\nimport re\nre.match('(a+)+$', 'a' * 60 + 'b')",
        says=r"faulty\.py:\d+: .*cell_timeout",
        seconds=45,
    ),
    Case(
        name="slow-module",
        kind="F3",
        injects="an inlined module that takes too long, under cell_timeout = 3",
        ends="refused",
        code="# sphinx_gallery_cell_timeout = 3\nfrom _slow import time",
        files={"recipes_source/_slow.py": "import time\n\ntime.sleep(60)\n"},
        says=r"faulty\.py:\d+: .*cell_timeout",
        seconds=45,
    ),
    Case(
        name="ignores-interrupts",
        kind="F3",
        injects="a cell that ignores SIGINT and catches everything, under deadline = 4",
        ends="refused",
        code="# sphinx_gallery_deadline = 4\nimport signal, time\nsignal.signal(2, signal.SIG_IGN)\n"
        "while True:\n    try:\n        time.sleep(60)\n    except BaseException:\n        pass",
        says=r"faulty\.py:\d+: .*deadline",
        seconds=45,
    ),
    Case(
        name="atexit-hangs",
        kind="F3",
        injects="an atexit function that sleeps and a thread that never ends",
        ends="recorded",
        code="import atexit, threading, time\n_ = atexit.register(time.sleep, 600)\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\nprint('fine')",
        holds=prints("fine\n"),
        seconds=45,
    ),
    Case(
        name="stops-the-loop",
        kind="F3",
        injects="a cell that stops the kernel's own loop, under cell_timeout = 4",
        ends="either",
        code="# sphinx_gallery_cell_timeout = 4\nget_ipython().kernel.io_loop.stop()\nprint('fine')",
        holds=contains("fine"),
        seconds=60,
    ),
]


def summary(bench: Bench, done: Done) -> Iterator[str]:
    """Ask the end of what is told for the recipes that failed."""
    last = "\n".join(done.err.strip().splitlines()[-3:])
    if not all(name in last for name in ("faulty", "fails2")) or not re.search(r"\b2\b", last):
        yield f"no summary at the end: {last[-200:]!r}"


def open_in_jupyter(bench: Bench) -> None:
    """Leave what Jupyter leaves beside a recording."""
    folder = bench.recordings / ".ipynb_checkpoints"
    folder.mkdir()
    old = (bench.recordings / "faulty.ipynb").read_bytes()
    (folder / "faulty-checkpoint.ipynb").write_bytes(old)
    (bench.recordings / "Untitled.ipynb").write_text('{"cells": [], "metadata": {}}')


TEXTS = [
    Case(
        name="summary",
        kind="F4",
        injects="two of six recipes fail",
        ends="any",
        code="1 / 0",
        files={
            "recipes_source/fails2.py": '"""\nF\n====\n"""\n\n1 / 0\n',
            **{f"recipes_source/m{n}.py": f'"""\nM\n====\n"""\n\nprint({n})\n' for n in range(3)},
        },
        look=summary,
    ),
    Case(
        name="failed-after-prints",
        kind="F4",
        injects="a cell that fails after it has printed several times",
        ends="refused",
        code="import time\nfor n in range(3):\n    print(n, flush=True)\n    time.sleep(0.2)\n1 / 0",
        says=r"faulty\.py:\d+: cell 1 of 1 failed: ZeroDivisionError",
    ),
    Case(
        name="jupyter-beside",
        kind="F5",
        injects="recordings/.ipynb_checkpoints/ and Untitled.ipynb",
        ends="recorded",
        prepare=open_in_jupyter,
        look=lambda bench, done: (
            line for line in bench.run("check").out.splitlines() if "checkpoint" in line
        ),
    ),
    *[
        Case(
            name=f"terminal-{name}",
            kind="F6",
            injects=injects,
            ends="recorded",
            code=f"print({text!r})",
            holds=prints(f"{shown}\n"),
        )
        for name, injects, text, shown in (
            ("backspace", "backspaces", "abcX\bd", "abcd"),
            ("charset", "ESC ( B", "\x1b(Babc\x1b)0", "abc"),
            ("8-bit", "8-bit CSI and DCS", "\x9b31mabc\x90x\x9c", "abc"),
            ("overwritten", "12345 \\r 67", "12345\r67", "67345"),
            ("dcs", "ESC P ... ESC \\", "a\x1bP1;2|data\x1b\\b", "ab"),
        )
    ],
    Case(
        name="markup-in-a-name",
        kind="F6",
        injects="a recipe called [bold].py",
        ends="recorded",
        files={"recipes_source/[bold].py": '"""\nBold\n====\n"""\n\nprint(1)\n'},
        look=lambda bench, done: (
            [] if "[bold]: recorded" in done.err else ["the name is not told as it is"]
        ),
    ),
    Case(
        name="byte-order-mark",
        kind="F6",
        injects="a recipe with a byte order mark",
        ends="either",
        source=b'\xef\xbb\xbf"""\nFaulty\n======\n"""\n\nprint("fine")\n',
        holds=prints("fine\n"),
        pages=True,
    ),
    Case(
        name="latin-1",
        kind="F6",
        injects="a recipe in declared Latin-1",
        ends="either",
        source='# -*- coding: latin-1 -*-\n"""\nFäulty\n======\n"""\n\nprint("fäne")\n'.encode(
            "latin-1"
        ),
        holds=prints("fäne\n"),
        pages=True,
    ),
    Case(
        name="tabs",
        kind="F6",
        injects="tabs in the code",
        ends="either",
        code="if True:\n\tprint('fine')",
        holds=prints("fine\n"),
        pages=True,
    ),
    Case(
        name="crlf",
        kind="F6",
        injects="a recipe with CR LF",
        ends="recorded",
        source=b'"""\r\nFaulty\r\n======\r\n"""\r\n\r\nprint("fine")\r\n',
        holds=prints("fine\n"),
        pages=True,
    ),
]


def harmless(*patterns: str) -> object:
    """Ask for pages and notebooks without what a recipe displayed to do harm."""

    def look(bench: Bench, done: Done) -> Iterator[str]:
        if done.status:
            return
        built = build(bench)
        page = read_page(bench)
        # up to the code, which the page shows below
        shown = page.partition('class="recorded-output')[2].partition('<div class="highlight')[0]
        if not built.status and not shown:
            yield "the page shows no output"
        for pattern in patterns:
            if re.search(pattern, shown):
                yield f"the page has {pattern!r}"
        notebook = read_page(bench, "faulty", ".ipynb")
        cells = json.loads(notebook)["cells"] if notebook else []
        outputs = json.dumps([cell.get("outputs") for cell in cells])
        yield from (f"the notebook has {p!r}" for p in patterns if re.search(p, outputs))

    return look


# Recordings that may come from strangers: what they show does nothing else.
STRICT = {"recorded_gallery_trust_outputs": False}


def _html(name: str, text: str, pattern: str) -> Case:
    return Case(
        name=f"html-{name}",
        kind="F7",
        injects=f"an output with {text}",
        ends="either",
        code=f"{HTML}HTML({'<p>before</p>' + text!r})",
        settings=STRICT,
        look=harmless(pattern),  # type: ignore[arg-type]
    )


ACTIVE = [
    _html(
        "refresh", '<meta http-equiv="refresh" content="0;url=https://example.com">', "http-equiv"
    ),
    _html("script", "<script>alert(1)</script>", r"<script>alert"),
    _html("onerror", '<img src="x" onerror="alert(1)">', "onerror"),
    _html("javascript", '<a href="javascript:alert(1)">x</a>', "javascript:"),
    _html("iframe", '<iframe srcdoc="<script>1</script>"></iframe>', "<iframe"),
    _html("canonical", '<link rel="canonical" href="https://example.com">', "canonical"),
    _html("layout", "</div></main></body>", r"before</p>\s*</div></main></body>"),
    _html("base", '<base href="https://example.com/">', "<base"),
    _html("foreign-picture", '<img src="https://example.com/p.png">', r"example\.com/p\.png"),
    _html("form", '<form action="https://example.com"><input name="a"></form>', "<form"),
    Case(
        name="javascript-output",
        kind="F7",
        injects="an output of JavaScript",
        ends="either",
        code="from IPython.display import Javascript\nJavascript('alert(1)')",
        settings=STRICT,
        look=harmless(r"<script>alert"),  # type: ignore[arg-type]
    ),
]


def changed(old: str, new: str) -> object:
    """Change a byte of the finished recording; `check` has to name the file, html as well."""

    def look(bench: Bench, done: Done) -> Iterator[str]:
        path = bench.recordings / "faulty.ipynb"
        text = path.read_text()
        if old not in text:
            yield f"the recording lacks {old!r}"
            return
        time.sleep(0.02)
        path.write_text(text.replace(old, new, 1))
        checked, built = bench.run("check"), build(bench)
        for name, done in (("check", checked), ("html", built)):
            if done.status != 1:
                yield f"{name} ended with {done.status}"
            elif "faulty.ipynb" not in done.out + done.err:
                yield f"{name} does not name the file"
        path.write_text(text)

    return look


def _changed(name: str, code: str, old: str, new: str, injects: str) -> Case:
    return Case(
        name=f"changed-{name}",
        kind="F8",
        injects=injects,
        ends="recorded",
        code=code,
        look=changed(old, new),  # type: ignore[arg-type]
        pages=True,
    )


PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVQI12NgAAAAAgAB4iG8MwAAAABJRU5ErkJggg=="
CHANGES = [
    _changed("text", "print('speedup 1.5')", "1.5\\\\n"[:3], "9.5", "a digit of what was printed"),
    _changed(
        "picture",
        f"from IPython.display import display\ndisplay({{'image/png': '{PNG}'}}, raw=True)",
        "NgAAAAAgAB4iG8MwAAAAB",
        "NgAAAAAgAB4iG8MwAAAAC",
        "a letter of a picture",
    ),
    _changed(
        "table",
        HTML + "HTML('<table><tr><td>cell 17</td></tr></table>')",
        "cell 17",
        "cell 71",
        "a digit of a table",
    ),
    _changed(
        "published",
        "from IPython.display import display\ndisplay({'application/x+json': {'value': 123.5}}, raw=True)",
        "123.5",
        "923.5",
        "a digit of a published figure",
    ),
]
CASES = [*DEATHS, *ECHOES, *LIMITS, *TEXTS, *ACTIVE, *CHANGES]
