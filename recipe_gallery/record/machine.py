"""The machine of a recording: its GPU (as nvidia-smi tells), processor, packages and commit."""

import contextlib
import os
import platform
import re
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ..errors import GalleryError, suggest
from .environment import describe, find_secrets, pass_on
from .programs import ask, last_line, read_json
from .recording_toml import FILE_NAME, Settings, load_settings
from .run.remains import MARK, run_folder

# The variable that tells libraries which GPUs they may use; recording sets it to one, or to none.
VISIBLE = "CUDA_VISIBLE_DEVICES"
OPEN_FILES = 256  # a kernel's sockets, its libraries, and pipes of what recipes start
START = 15  # seconds in which a Python without anything to do should have started and ended
ANSWER = 60  # seconds in which nvidia-smi and git have to answer


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """The GPU to record on."""

    identity: str  # for VISIBLE
    facts: dict[str, str]  # gpu (its name), driver, memory


def find_gpu() -> Gpu | None:
    """Return the first GPU that ``CUDA_VISIBLE_DEVICES`` admits, as nvidia-smi tells it, or None.

    This and ``VISIBLE`` are all that is known here of a vendor. Raises ``GalleryError`` if
    nvidia-smi does not answer.
    """
    visible = os.environ.get(VISIBLE)
    if visible == "" or not shutil.which("nvidia-smi"):
        return None
    query = "--query-gpu=name,driver_version,memory.total,uuid"
    command = ["nvidia-smi", "--format=csv,noheader", query]
    if visible:
        command += ["--id", visible.split(",")[0]]
    try:
        done = ask(command, seconds=ANSWER)
    except TimeoutError as error:
        remedy = f"its driver may hang; to run on the CPU: {suggest('record', '', '--device cpu')}"
        raise GalleryError(f"nvidia-smi: {error}", remedy=remedy) from None
    fields = done.stdout.partition("\n")[0].split(",")
    if done.returncode != 0 or len(fields) != 4:
        return None
    name, driver, memory, identity = map(str.strip, fields)
    return Gpu(identity=identity, facts={"gpu": name, "driver": driver, "memory": memory})


def require_gpu() -> Gpu:
    """Return the GPU to record on; raise ``GalleryError`` if there is none."""
    gpu = find_gpu()
    if gpu is None:
        remedy = f"to run on the CPU instead: {suggest('record', '', '--device cpu')}"
        raise GalleryError("no GPU found (nvidia-smi shows none)", remedy=remedy)
    return gpu


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under what the recipes of one gallery run."""

    settings: Settings
    gallery: Path
    environment: dict[str, str]  # what is passed on of this process's, and which GPU is used
    facts: dict[str, Any] = field(default_factory=dict)  # for the recording

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no output may show."""
        return find_secrets(self.environment)

    def kernel_environment(self, scratch: Path) -> dict[str, str]:
        """Return all variables for one run, with folders filled in where settings name them."""
        variables = dict(self.environment)
        for name, value in self.settings.environment.items():
            value = value.replace("{scratch}", str(scratch))
            variables[name] = value.replace("{recipes}", str(self.gallery.resolve()))
        return variables

    def withholds(self, name: str) -> bool:
        """Tell whether a variable that is set here is kept from recipes."""
        known = self.environment.keys() | self.settings.environment.keys()
        return name in os.environ and name not in known


def require_open_files() -> None:
    """Raise ``GalleryError`` unless enough files may be open at once; ask the system for more."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if 0 <= soft < OPEN_FILES:
        if 0 <= hard < OPEN_FILES:
            text = f"only {hard} files may be open at once, recording needs {OPEN_FILES}"
            raise GalleryError(text, remedy=f"run: ulimit -n {OPEN_FILES}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))


def prepare(gallery: Path, gpu: Gpu | None, say: Callable[[str], None]) -> Conditions:
    """Return under what the recipes of a gallery run; ``say`` tells what a person should know."""
    settings = load_settings(gallery)
    if VISIBLE in settings.environment:
        text = f"[environment] {VISIBLE}: recordings name the GPU that makes them"
        remedy = "remove it, and set it for the command instead"
        raise GalleryError(text, path=gallery / FILE_NAME, remedy=remedy)
    passed = pass_on(os.environ, settings.inherit) | {VISIBLE: gpu.identity if gpu else ""}
    conditions = Conditions(settings=settings, gallery=gallery, environment=passed)
    with run_folder() as folder:
        variables = conditions.kernel_environment(folder) | {MARK: str(folder)}
        probed = run_probe(settings.probe, variables, settings.cell_timeout)
        runtime = describe(variables, START)
    if gpu and probed.get("gpu") is False:
        raise GalleryError(
            f"{gpu.facts['gpu']} is here but the installed libraries cannot use it",
            remedy=f"install their GPU builds or use: {suggest('record', '', '--device cpu')}",
        )
    commit, note = describe_commit(gallery)
    if note:
        say(f"note: {note}")
    facts = {
        "device": (gpu.facts if gpu else {}) | describe_host(),
        "versions": package_versions(settings.packages)
        | {name: version for name, version in probed.get("versions", {}).items() if version},
        "environment": runtime,
        **commit,
    }
    return replace(conditions, facts=facts)


def describe_host() -> dict[str, Any]:
    """Return the processor's name and the number of cores this process may use."""
    name = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):  # only Linux tells the model
        models = re.findall(
            r"^model name\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        name = models[0].strip() if models else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": name, "cores": cores}


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return Python's version and those of the packages that are installed."""
    versions = {"python": platform.python_version()}
    for name in packages:
        # ValueError: a name that none can have
        with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
            versions[name] = metadata.version(name)
    return versions


def run_probe(program: str, environment: dict[str, str], seconds: float) -> dict[str, Any]:
    """Run the settings' probe in a Python of its own and return the JSON object it prints.

    Raises ``GalleryError`` if it fails, or has not ended after ``seconds``.
    """
    if not program:
        return {}
    text, remedy = "the probe in recording.toml", "install what recipes need"
    try:
        done = ask([sys.executable, "-P", "-c", program], seconds=seconds, environment=environment)
    except TimeoutError as error:
        remedy = "see whether the GPU's driver hangs, or raise cell_timeout in recording.toml"
        raise GalleryError(f"{text} gave {error}", remedy=remedy) from None
    result = read_json(done)
    if result is None:
        raise GalleryError(f"{text} failed: {last_line(done)}", remedy=remedy)
    versions = result.setdefault("versions", {})
    told = list(versions.values()) if isinstance(versions, dict) else [versions]
    if not all(each is None or isinstance(each, str) for each in told):
        raise GalleryError(
            f"{text} prints versions that are not strings by name",
            remedy='print an object such as {"gpu": true, "versions": {"CUDA": "13.0"}}',
        )
    return result


def describe_commit(path: Path) -> tuple[dict[str, Any], str]:
    """Return the commit checked out around ``path`` and whether files below it differ from it.

    Where no commit is known, ``commit_unknown`` says why. The second value is what to tell the
    person who records, if anything.
    """
    git = ["git", "-C", str(path)]
    # Of the repository around the path, also where hooks of git name another.
    elsewhere = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")
    variables = {name: value for name, value in os.environ.items() if name not in elsewhere}
    answers = []
    try:
        for question in (
            ["rev-parse", "HEAD"],
            ["status", "--porcelain", "--untracked-files=normal", "--", "."],
            ["ls-files", "--", "."],
        ):
            done = ask([*git, *question], seconds=ANSWER, environment=variables | {"LC_ALL": "C"})
            if done.returncode:
                return _no_commit(done.stderr)
            answers.append(done.stdout)
    except FileNotFoundError:
        return _no_commit("git is not installed")
    except (OSError, TimeoutError) as error:
        return _no_commit(str(error))
    commit, changes, files = answers
    if not (changes or files):  # the commit of whatever lies around it
        return _no_commit("git ignores it")
    note = f"{path} has uncommitted changes; the recordings will say so" if changes else ""
    return {"commit": commit.strip(), "modified": bool(changes)}, note


def _no_commit(answer: str) -> tuple[dict[str, Any], str]:
    """Return what is told instead of a commit, by what git said."""
    reasons = {
        "not a git repository": "no git repository",
        "ambiguous argument 'HEAD'": "no commit yet",
        "git is not installed": "git is not installed",
        "git ignores it": "git ignores it",
    }
    why = next((why for said, why in reasons.items() if said in answer), "git refuses")
    note = f"the recordings will name no commit: {why}"
    if why == "git refuses":
        note += f": {(answer.strip() or 'no answer').splitlines()[0].removeprefix('fatal: ')}"
        if remedy := re.search(r"git config --global --add safe\.directory .+", answer):
            note += f"; if you trust it, run: {remedy[0].strip()}"
    return {"commit": None, "modified": False, "commit_unknown": why}, note
