"""Faults of one recipe or of files that must not end the run, nor lose other recipes."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator

from .bench import Bench, Done
from .case import Case, NotRunError, contains, prints

# A command in front: a user that may not write what root owns and has no entry of its own, and
# file systems of its own; both need no rights where user namespaces are allowed.
ANOTHER_USER = ("unshare", "--map-user=54321", "--")
MOUNT = ("unshare", "-rm", "--", "sh", "-c")


def may(*command: str) -> bool:
    """Tell whether this machine lets a command in front work."""
    try:
        return subprocess.run([*command], capture_output=True).returncode == 0
    except OSError:
        return False


def as_another_user(bench: Bench) -> None:
    """Skip where there are no user namespaces."""
    if not may(*ANOTHER_USER, "true"):
        raise NotRunError("no user namespaces")


def with_mounts(bench: Bench) -> None:
    """Skip where nothing can be mounted."""
    if not may("unshare", "-rm", "--", "sh", "-c", "mount -t tmpfs tmpfs /mnt"):
        raise NotRunError("nothing can be mounted")


def read_only(bench: Bench) -> None:
    """Let nobody but root write recordings."""
    as_another_user(bench)
    bench.recordings.chmod(0o555)


def recordings_file(bench: Bench) -> None:
    """Put a file in the place of the folder of recordings."""
    shutil.rmtree(bench.recordings)
    bench.recordings.write_text("a file")


def recordings_link(bench: Bench) -> None:
    """Put a link that leads nowhere in the place of the folder of recordings."""
    shutil.rmtree(bench.recordings)
    bench.recordings.symlink_to(bench.root / "gone" / "away")


def when_running(bench: Bench) -> None:
    """Wait until the faulty recipe runs its cell."""
    until = time.monotonic() + 30
    while not (bench.root / "begun").exists() and time.monotonic() < until:
        time.sleep(0.02)


BEGIN = "import pathlib, time\npathlib.Path('ROOT/begun').touch()\n"
WAIT = BEGIN + "time.sleep(2)\nprint('fine')"
FULL = (*MOUNT, 'mount -t tmpfs -o size=8k tmpfs "$0" && exec "$@"', "ROOT/site/recordings")
LONG = "long" * 30


def _mime(name: str, returned: str) -> Case:
    return Case(
        name=f"mimebundle-{name}",
        kind="B1",
        injects=f"an object whose _repr_mimebundle_ returns {returned}",
        ends="either",
        code=f"class Odd:\n    def _repr_mimebundle_(self, **_):\n        return {returned}\n\n\nOdd()",
        pages=name == "number",
    )


BUNDLES = [
    _mime("number", "{'text/html': 17, 'text/plain': 'x'}"),
    _mime("none", "{'text/html': None, 'text/plain': 'x'}"),
    _mime("dict", "{'text/html': {'a': 1}, 'text/plain': {'b': 2}}"),
    _mime("list", "{'text/plain': [1, 2]}"),
    _mime("metadata", "({'text/plain': 'x'}, {'text/plain': {1: object}})"),
    Case(
        name="html-is-a-dict",
        kind="B1",
        injects="a _repr_html_ that returns a dict",
        ends="either",
        code="class Odd:\n    def _repr_html_(self):\n        return {'a': 1}\n\n\nOdd()",
    ),
    Case(
        name="raw-numbers",
        kind="B1",
        injects="display(raw=True) of numbers as text and None as picture",
        ends="either",
        code="from IPython.display import display\n"
        "display({'text/plain': 5}, raw=True)\ndisplay({'image/png': None}, raw=True)",
        pages=True,
    ),
    Case(
        name="json-that-is-none",
        kind="B1",
        injects="published JSON with infinity, NaN and numbers as keys",
        ends="either",
        code="from IPython.display import display\n"
        "display({'application/x+json': {'a': float('inf'), 'b': float('nan'), 1: 2}}, raw=True)",
    ),
]
FILES = [
    Case(
        name="disk-full",
        kind="B2",
        injects="a disk of 8 kB for the recordings",
        ends="refused",
        code="print('q' * 100_000)",
        prepare=with_mounts,
        wrap=FULL,
        # what was mounted hides the old recordings for the command alone
        neighbour=False,
        says="No space left on device|ENOSPC",
        leaves=(r"site/recordings(/.*)?",),
    ),
    Case(
        name="file-size-limit",
        kind="B2",
        injects="a limit of 20 kB on files of the recorder",
        ends="either",
        code="for n in range(400):\n    print('q' * 100)",
        wrap=("prlimit", "--fsize=20480", "--"),
        neighbour=False,
        says="faulty|recordings",
    ),
    Case(
        name="recordings-read-only",
        kind="B2",
        injects="a folder of recordings that the user may not write",
        ends="stopped",
        prepare=read_only,
        wrap=ANOTHER_USER,
        says="recordings",
    ),
    Case(
        name="recordings-a-file",
        kind="B2",
        injects="a file in the place of the folder of recordings",
        ends="stopped",
        prepare=recordings_file,
        says="recordings",
    ),
    Case(
        name="recordings-a-dangling-link",
        kind="B2",
        injects="a link to nowhere in the place of the folder of recordings",
        ends="any",
        prepare=recordings_link,
        neighbour=False,
        says="recordings",
        leaves=("gone(/.*)?",),
    ),
    Case(
        name="recording-a-folder",
        kind="B2",
        injects="a folder in the place of faulty.ipynb",
        ends="refused",
        prepare=lambda bench: (
            (
                (bench.recordings / "faulty.ipynb").unlink(),
                (bench.recordings / "faulty.ipynb/inside").mkdir(parents=True),
            ),
        ),
        says="faulty",
    ),
    Case(
        name="lock-a-folder",
        kind="B2",
        injects="a folder in the place of the lock",
        ends="stopped",
        prepare=lambda bench: (bench.recordings / ".lock").mkdir(),
        says="lock",
    ),
    Case(
        name="toml-a-folder",
        kind="B2",
        injects="a folder in the place of recording.toml",
        ends="stopped",
        prepare=lambda bench: (bench.recipes / "recording.toml").mkdir(),
        says=r"recording\.toml",
    ),
    Case(
        name="toml-not-utf-8",
        kind="B2",
        injects="recording.toml in another encoding",
        ends="stopped",
        files={"recipes_source/recording.toml": b'[environment]\nA = "\xff\xfe"\n'},
        says=r"recording\.toml",
    ),
    Case(
        name="input-unreadable",
        kind="B2",
        injects="an input that the user may not read",
        ends="refused",
        code='# sphinx_gallery_inputs = ["a.txt"]\nprint(1)',
        files={"recipes_source/a.txt": "a"},
        prepare=lambda bench: ((as_another_user(bench), (bench.recipes / "a.txt").chmod(0)),),
        wrap=ANOTHER_USER,
        says=r"a\.txt",
    ),
    Case(
        name="input-name-too-long",
        kind="B2",
        injects="an input with a name of 300 characters",
        ends="refused",
        code=f'# sphinx_gallery_inputs = ["{"n" * 300}.txt"]\nprint(1)',
        says="faulty",
    ),
    Case(
        name="input-vanishes",
        kind="B2",
        injects="inputs and recipes that are removed while another recipe runs",
        ends="any",
        code=WAIT,
        files={
            "recipes_source/later.py": '"""\nLater\n=====\n"""\n\n'
            '# sphinx_gallery_inputs = ["a.txt"]\nprint(open("a.txt").read())\n',
            "recipes_source/a.txt": "a",
        },
        during=lambda bench, process: ((when_running(bench), (bench.recipes / "a.txt").unlink())),
        leaves=("begun",),
        look=lambda bench, done: (
            [] if "later.py" in " ".join(done.errors) else ["the input is not missed"]
        ),
        neighbour=True,
    ),
    Case(
        name="recordings-removed",
        kind="B2",
        injects="the folder of recordings removed while a recipe runs",
        ends="recorded",
        code=WAIT,
        during=lambda bench, process: ((when_running(bench), shutil.rmtree(bench.recordings))),
        leaves=("begun",),
    ),
    Case(
        name="no-home",
        kind="B2",
        injects="a user without an entry, and no HOME",
        ends="recorded",
        prepare=lambda bench: (as_another_user(bench), bench.environment.pop("HOME")),
        wrap=ANOTHER_USER,
        holds=prints("fine\n"),
    ),
    Case(
        name="home-not-writable",
        kind="B2",
        injects="a HOME that cannot be written",
        ends="recorded",
        prepare=lambda bench: (as_another_user(bench), (bench.root / "home").chmod(0o555)),
        wrap=ANOTHER_USER,
        holds=prints("fine\n"),
    ),
    Case(
        name="no-tmpdir",
        kind="B2",
        injects="a TMPDIR that does not exist",
        ends="either",
        environment={"TMPDIR": "ROOT/nowhere"},
    ),
    Case(
        name="tmpdir-removed",
        kind="B2",
        injects="all of TMPDIR removed while a recipe runs",
        ends="either",
        code=WAIT,
        during=lambda bench, process: (
            (when_running(bench), shutil.rmtree(bench.temporary), bench.temporary.mkdir()),
        ),
        leaves=("begun",),
    ),
    Case(
        name="tmpdir-full",
        kind="B2",
        injects="a TMPDIR of 4 kB",
        ends="stopped",
        code="open('file', 'w').write('w' * 100_000)",
        prepare=with_mounts,
        wrap=(*MOUNT, 'mount -t tmpfs -o size=4k tmpfs "$0" && exec "$@"', "ROOT/tmp"),
        neighbour=False,
        says="temporary files",
    ),
    *[
        Case(
            name=f"tmpdir-of-{length}",
            kind="B3",
            injects=f"a TMPDIR with a path of {length} characters",
            ends="recorded",
            prepare=lambda bench, length=length: _long_temporary(bench, length),
            holds=prints("fine\n"),
            leaves=(r"[Lx]+(/[Lx]+)*",),
        )
        for length in (90, 200, 900)
    ],
]


def _long_temporary(bench: Bench, length: int) -> None:
    folder = bench.root
    while len(str(folder)) < length - 101:
        folder = folder / ("L" * 100)
    folder = folder / ("x" * max(1, length - len(str(folder)) - 1))
    folder.mkdir(parents=True)
    bench.environment["TMPDIR"] = str(folder)


RECIPES = [
    Case(
        name="ignored-head",
        kind="B4",
        injects="start_ignore ... end_ignore at the head of a cell",
        ends="recorded",
        code="x = 1\n\n# %%\n\n# sphinx_gallery_start_ignore\ny = 2\n# sphinx_gallery_end_ignore\n"
        "print(x + y)",
        holds=prints("3\n", cell=2),
        pages=True,
    ),
    Case(
        name="ignored-whole",
        kind="B4",
        injects="ignored code in the middle, at the end, and a whole cell of it",
        ends="recorded",
        code="x = 1\n# sphinx_gallery_start_ignore\ny = 2\n# sphinx_gallery_end_ignore\n\n# %%\n\n"
        "# sphinx_gallery_start_ignore\nz = 3\n# sphinx_gallery_end_ignore\n\n# %%\n\nprint(x + y + z)",
        holds=contains("6\\n"),
        pages=True,
    ),
    Case(
        name="ignored-without-end",
        kind="B4",
        injects="start_ignore without an end",
        ends="refused",
        code="x = 1\n# sphinx_gallery_start_ignore\ny = 2",
        says=r"faulty\.py:\d+: ",
        pages=True,
    ),
    Case(
        name="nul-in-input",
        kind="B5",
        injects="NUL in the name of an input",
        ends="refused",
        code='# sphinx_gallery_inputs = ["a\\0b"]\nprint(1)',
        says="faulty",
    ),
    Case(
        name="variable-without-a-name",
        kind="B5",
        injects="names of variables in recording.toml that no environment can have",
        ends="stopped",
        files={"recipes_source/recording.toml": '[environment]\n"A=B" = "x"\n"" = "y"\n'},
        says=r"recording\.toml",
    ),
    Case(
        name="nul-in-a-variable",
        kind="B5",
        injects="NUL in a variable of recording.toml",
        ends="stopped",
        files={"recipes_source/recording.toml": '[environment]\nA = "x\\u0000y"\n'},
        says=r"recording\.toml",
    ),
    Case(
        name="100000-operators",
        kind="B5",
        injects="an expression of 100,000 nested operators",
        ends="refused",
        code="x = " + "-" * 100_000 + "1",
        says="faulty",
        pages=True,
    ),
    Case(
        name="deep-brackets",
        kind="B5",
        injects="300 nested brackets",
        ends="refused",
        code="x = " + "[" * 300 + "]" * 300,
        says="faulty",
    ),
    Case(
        name="recipe-is-fifo",
        kind="B5",
        injects="a recipe that is a FIFO",
        ends="refused",
        prepare=lambda bench: (
            ((bench.recipes / "faulty.py").unlink(), os.mkfifo(bench.recipes / "faulty.py")),
        ),
        says="",
        seconds=30,
    ),
    Case(
        name="recipe-is-folder",
        kind="B5",
        injects="a recipe that is a folder",
        ends="refused",
        prepare=lambda bench: (
            ((bench.recipes / "faulty.py").unlink(), (bench.recipes / "faulty.py").mkdir()),
        ),
        says="faulty",
    ),
    Case(
        name="recipe-leads-nowhere",
        kind="B5",
        injects="a recipe that is a link to nowhere",
        ends="refused",
        prepare=lambda bench: (
            (
                (bench.recipes / "faulty.py").unlink(),
                (bench.recipes / "faulty.py").symlink_to("gone.py"),
            ),
        ),
        says="faulty",
        pages=True,
    ),
    Case(
        name="recipe-is-binary",
        kind="B5",
        injects="a recipe of random bytes",
        ends="refused",
        source=bytes(range(256)) * 20,
        says="faulty",
        pages=True,
    ),
    Case(
        name="recipe-is-empty",
        kind="B5",
        injects="a recipe of 0 bytes",
        ends="refused",
        source=b"",
        says="faulty",
        pages=True,
    ),
    Case(
        name="nul-in-recipe",
        kind="B5",
        injects="NUL in the code of a recipe",
        ends="refused",
        code="print('a\0b')",
        says="faulty",
        pages=True,
    ),
]


def _toml(name: str, text: str, injects: str, ends: str = "stopped", **others: object) -> Case:
    return Case(
        name=name,
        kind="B6",
        injects=injects,
        ends=ends,
        files={"recipes_source/recording.toml": text},
        says=r"recording\.toml" if ends == "stopped" else "",
        **others,  # type: ignore[arg-type]
    )


TOML = [
    _toml("probe-fails", "[provenance]\nprobe = '1/0'\n", "a probe that raises"),
    _toml("probe-no-json", "[provenance]\nprobe = 'print(17)'\n", "a probe that prints no object"),
    _toml(
        "probe-versions-a-list",
        "[provenance]\nprobe = '''print('{\"versions\": [1, 2]}')'''\n",
        "a probe whose versions are a list",
    ),
    _toml(
        "probe-versions-numbers",
        "[provenance]\nprobe = '''print('{\"versions\": {\"CUDA\": {\"a\": 1}}}')'''\n",
        "a probe whose version is an object",
    ),
    _toml(
        "probe-prints-1-mb",
        "[provenance]\nprobe = '''import sys; sys.stderr.write(\"e\" * 1000000); sys.exit(3)'''\n",
        "a probe that fails with 1 MB in one line",
        look=lambda bench, done: ["the message is too long"] if len(done.err) > 5000 else [],
    ),
    _toml("environment-a-list", "environment = [1]\n", "an environment that is a list"),
    _toml("unknown-limit", "[limits]\nnonsense = 3\n", "a limit that does not exist"),
    _toml("unknown-table", "[limit]\ndeadline = 3\n", "a table that does not exist"),
    _toml("negative-limit", "[limits]\ndeadline = -3\n", "a limit below 0"),
    _toml(
        "packages-of-nothing",
        "[provenance]\npackages = ['', '../x', 'a b']\n",
        "packages with names that none can have",
        "either",
    ),
]


def told_once(bench: Bench, done: Done) -> Iterator[str]:
    """Ask for one line, whatever it says."""
    if len(done.err.strip().splitlines()) > 3:
        yield f"{len(done.err.strip().splitlines())} lines instead of 1"


def _conf(name: str, text: str, injects: str, says: str = r"conf\.py") -> Case:
    return Case(
        name=name,
        kind="B7",
        injects=injects,
        ends="stopped",
        prepare=lambda bench: (
            (bench.site / "conf.py").write_text((bench.site / "conf.py").read_text() + text),
        ),
        says=says,
        look=told_once,
    )


CONFS = [
    _conf("conf-syntax", "x = (\n", "a syntax error in conf.py"),
    _conf("conf-raises", "1 / 0\n", "an error in conf.py"),
    _conf("conf-exits", "import sys\nsys.exit(0)\n", "sys.exit(0) in conf.py"),
    _conf("conf-prints-surrogate", "raise ValueError('a\\nb\\udcff')\n", "an error of two lines"),
    _conf(
        "conf-recordings-number", "recorded_gallery_recordings = 5\n", "a folder that is a number"
    ),
    _conf("conf-recordings-nul", "recorded_gallery_recordings = 'a\\0b'\n", "a folder with NUL"),
    _conf("conf-gallery-a-list", "sphinx_gallery_conf = []\n", "sphinx_gallery_conf = []"),
    Case(
        name="option-folder-is-file",
        kind="B7",
        injects="--recordings-folder conf.py",
        ends="stopped",
        arguments=("record", "--device", "cpu", "--recordings-folder", "conf.py"),
        says=r"conf\.py",
    ),
    Case(
        name="unknown-recipe",
        kind="B7",
        injects="a recipe that does not exist",
        ends="stopped",
        arguments=("record", "--device", "cpu", "nosuch"),
        says="no example named nosuch",
    ),
    Case(
        name="root-is-nowhere",
        kind="B7",
        injects="--root nowhere",
        ends="stopped",
        arguments=("record", "--device", "cpu", "--root", "nowhere"),
        says="nowhere",
    ),
]
CASES = [*BUNDLES, *FILES, *RECIPES, *TOML, *CONFS]
