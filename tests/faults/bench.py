"""A scratch gallery, the commands that people call on it, and what those leave behind."""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[2]
TITLE = '"""\n{name}\n======================\n\nText.\n"""\n\n'
HEADER = "Recipes\n=======\n\nAll.\n"
CONF: dict[str, object] = {
    "extensions": ["sphinx_recorded_gallery"],
    "html_baseurl": "https://example.org/site/",
    "exclude_patterns": ["recipes_source", "_build"],
    "sphinx_gallery_conf": {"examples_dirs": "recipes_source", "gallery_dirs": "recipes"},
}
MARK = "FAULTS_OF"  # in the environment of all that a bench starts
# What a recorder may say without an indent, besides errors. Other lines are told as surprises.
SURPRISE = re.compile(
    r"Traceback \(most recent|Exception ignored|Task exception|Fatal Python error|\w*Warning: "
    r"|Sphinx-gallery option|.*please report it|.*\bWarning: |\[\w+\] [A-Z]+ |(DEBUG|INFO|WARNING|ERROR):|\w+(\.\w+)*(Error|Exception): |Segmentation"
    r"|.*[\x00-\x08\x0b-\x1f\x7f\x9b]"
)


@dataclass(frozen=True, kw_only=True)
class Done:
    """What became of one command."""

    status: int | None  # None if it had to be killed
    out: str
    err: str
    seconds: float
    memory: float = 0.0  # largest of the command's own process, MB

    @property
    def errors(self) -> list[str]:
        """The lines that tell of trouble; a summary at the end repeats them."""
        lines = [line for line in self.err.splitlines() if line.startswith("error: ")]
        return list(dict.fromkeys(lines))

    @property
    def surprises(self) -> list[str]:
        """Lines of a crash, or such as spoil a terminal; a recipe's own are indented."""
        lines = self.out.split("\n") + self.err.split("\n")
        return [line[:160] for line in lines if SURPRISE.match(line.rstrip("\r"))]


@dataclass(kw_only=True)
class Bench:
    """One gallery below ``root``, with a home and a folder for temporary files of its own."""

    root: Path
    token: str = field(default_factory=lambda: f"token{secrets.token_hex(8)}")
    environment: dict[str, str] = field(default_factory=dict)
    wrap: Sequence[str] = ()  # put in front of the command
    before: set[str] = field(default_factory=set)

    @property
    def site(self) -> Path:
        """Folder of conf.py."""
        return self.root / "site"

    @property
    def recipes(self) -> Path:
        """Folder of the recipes."""
        return self.site / "recipes_source"

    @property
    def recordings(self) -> Path:
        """Folder of the recordings."""
        return self.site / "recordings"

    @property
    def temporary(self) -> Path:
        """Where programs put temporary files."""
        return self.root / "tmp"

    def fill(self, settings: Mapping[str, object] | None = None) -> None:
        """Write an empty gallery; ``settings`` are those of conf.py."""
        for folder in (self.recipes, self.recordings, self.temporary, self.root / "home"):
            folder.mkdir(parents=True)
        self.write("recipes_source/GALLERY_HEADER.rst", HEADER)
        self.write("index.rst", "Site\n====\n\n.. toctree::\n\n   recipes/index\n")
        lines = [f"{name} = {value!r}\n" for name, value in {**CONF, **(settings or {})}.items()]
        self.write("conf.py", "".join(lines))
        self.environment = {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.temporary),
            "PYTHONPATH": str(ROOT),
            "PYTHONDONTWRITEBYTECODE": "1",
            MARK: self.token,
        }

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file of the gallery; ``TOKEN`` and ``ROOT`` in it are the bench's own."""
        path = self.site / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = content.replace("TOKEN", self.token).replace("ROOT", str(self.root))
            content = content.encode("utf-8", "surrogatepass")
        path.write_bytes(content)
        return path

    def add(self, name: str, code: str) -> Path:
        """Write a recipe with a title."""
        return self.write(
            f"recipes_source/{name}.py",
            TITLE.format(name=name) + textwrap.dedent(code).strip("\n") + "\n",
        )

    def command(self, *arguments: str) -> list[str]:
        """Return the words of a command of the command line."""
        return [*self.wrap, sys.executable, "-m", "sphinx_recorded_gallery", *arguments]

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[bytes]:
        """Start a command in the gallery's folder, its streams in files beside the gallery."""
        with (self.root / "out").open("wb") as out, (self.root / "err").open("wb") as err:
            streams = {"stdout": out, "stderr": err, "stdin": subprocess.DEVNULL, **options}
            return subprocess.Popen(
                self.command(*arguments),
                cwd=self.site,
                env=self.environment,
                start_new_session=True,
                preexec_fn=hear_signals,
                **streams,  # type: ignore[call-overload]
            )

    def run(
        self,
        *arguments: str,
        seconds: float = 60,
        during: Callable[[Bench, subprocess.Popen[bytes]], object] | None = None,
        **options: object,
    ) -> Done:
        """Run a command for at most ``seconds``; ``during`` is called while it runs."""
        began = time.monotonic()
        process = self.start(*arguments, **options)
        if during:
            during(self, process)
        memory, status = 0.0, None
        watched = psutil.Process(process.pid) if process.poll() is None else None
        while time.monotonic() - began < seconds:
            with contextlib.suppress(psutil.Error):
                memory = max(memory, watched.memory_info().rss / 1e6 if watched else 0.0)
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = process.wait(0.2)
                break
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        out, err = (
            (self.root / name).read_text(encoding="utf-8", errors="replace")
            for name in ("out", "err")
        )
        took = time.monotonic() - began
        return Done(status=status, out=out, err=err, seconds=took, memory=memory)

    def files(self) -> set[str]:
        """Return the files and folders below the bench but those that builds make."""
        found = set()
        for folder, names, files in os.walk(self.root):
            names[:] = [name for name in names if name not in ("_build", "__pycache__")]
            inside = Path(folder).relative_to(self.root)
            found |= {(inside / name).as_posix() for name in (*names, *files)}
        return found

    def left_files(self, allowed: Sequence[str] = ()) -> list[str]:
        """Tell what is new since ``before`` besides recordings and what is allowed."""
        own = (r"site/recordings(/.*)?\.ipynb", r"site/recordings/\.lock", r"out|err", *allowed)
        own = (*own, r"site/recipes(/.*)?", r"site/sg_execution_times\.rst")  # made by builds
        new = sorted(self.files() - self.before)
        shared = [path.name for path in Path("/dev/shm").glob(f"*{self.token}*")]
        return [name for name in new if not any(re.fullmatch(each, name) for each in own)] + shared

    def left_processes(self, patience: float = 3.0) -> list[psutil.Process]:
        """Return what still runs of what the bench started, after ``patience`` seconds."""
        until = time.monotonic() + patience
        while (found := list(self._processes())) and time.monotonic() < until:
            time.sleep(0.2)
        return found

    def _processes(self) -> Iterator[psutil.Process]:
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if process.pid == os.getpid() or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                if self._owns(process):
                    yield process

    def _owns(self, process: psutil.Process) -> bool:
        with contextlib.suppress(psutil.Error, OSError):
            if any(self.token in word for word in process.cmdline()):
                return True
            if process.environ().get(MARK) == self.token:
                return True
            return Path(process.cwd()).is_relative_to(self.root)
        return False

    def end(self) -> None:
        """End what is left of the bench's own processes, and what they shared."""
        for process in self.left_processes(0):
            with contextlib.suppress(psutil.Error):
                process.kill()
        for path in Path("/dev/shm").glob(f"*{self.token}*"):
            path.unlink()


def hear_signals() -> None:
    """Ignore no signal that the tests themselves ignore, as in the background or under nohup."""
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def role(process: psutil.Process) -> str:
    """Return what a process below the recorder is: kernel, its guard, child of a recipe, or other."""
    if any("token" in word for word in process.cmdline()):
        return "child"
    if not any("kernel_process.py" in word for word in process.cmdline()):
        return "other"
    above = process.parent()
    guarded = above and any("kernel_process.py" in word for word in above.cmdline())
    return "kernel" if guarded else "guard"


@contextlib.contextmanager
def make_bench(settings: Mapping[str, object] | None = None, below: str = "b") -> Iterator[Bench]:
    """Make a bench in a temporary folder, in ``below``; end its processes and remove it."""
    with tempfile.TemporaryDirectory(prefix="faults-", ignore_cleanup_errors=True) as folder:
        bench = Bench(root=Path(folder, below))
        bench.fill(settings)
        try:
            yield bench
        finally:
            bench.end()
            shutil.rmtree(folder, ignore_errors=True)


@cache
def old_recording() -> bytes:
    """Return the recording of an earlier version of the recipe ``faulty``."""
    with make_bench() as bench:
        bench.add("faulty", "print('an earlier version')")
        done = bench.run("record", "--device", "cpu", "faulty")
        assert done.status == 0, done.err
        return (bench.recordings / "faulty.ipynb").read_bytes()
