"""Under what recipes run, and what their recordings tell of it."""

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from ..recipes.recording import name_device
from ..recipes.recording_toml import Settings, load_settings
from ..recipes.releases import find_release
from .cleanup import run_folder
from .environment_variables import pass_on
from .gpu_facts import VISIBLE, Gpu, NoGpuError, list_all
from .run_program import ask

_MACHINE_ID = Path("/etc/machine-id")  # of the installation; only Linux has it


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under what the recipes of one gallery run."""

    settings: Settings
    gallery: Path
    environment: dict[str, str]  # what is passed on of this process's, and which GPU is used
    facts: dict[str, Any] = field(default_factory=dict)  # for the recording
    gpu: Gpu | None = None

    @property
    def place(self) -> tuple[str, str, str]:
        """Host, as a hash, name of the GPU, or else of the CPU, and release of what is measured."""
        release = find_release(self.facts["versions"], self.settings.release)
        return self.facts["host"], name_device(self.facts["device"]), release

    def kernel_environment(self, scratch: Path) -> dict[str, str]:
        """Return all variables for one run, with folders filled in where settings name them."""
        variables = dict(self.environment)
        for name, value in self.settings.environment.items():
            value = value.replace("{scratch}", str(scratch))
            variables[name] = value.replace("{recipes}", str(self.gallery.resolve()))
        return variables


def prepare(gallery: Path, gpu: Gpu | None, say: Callable[[str], None]) -> Conditions:
    """Return under what the recipes of a gallery run; ``say`` tells what a person should know."""
    settings = load_settings(gallery)
    passed = pass_on(os.environ, settings.inherit) | {VISIBLE: gpu.identity if gpu else ""}
    conditions = Conditions(settings=settings, gallery=gallery, environment=passed, gpu=gpu)
    with run_folder() as folder:
        variables = conditions.kernel_environment(folder)
        probed = run_probe(settings.probe, variables, settings.cell_timeout)
    if gpu and probed.get("gpu") is False:
        name = gpu.facts["gpu"]
        raise NoGpuError(f"{name} is here but the installed libraries are built without GPUs")
    commit, note = describe_commit(gallery)
    if note:
        say(f"note: {note}")
    facts = {
        "host": host_hash(),
        "device": (gpu.facts if gpu else {}) | describe_host(),
        "versions": package_versions(filter(None, (*settings.packages, settings.release)))
        | {name: version for name, version in probed.get("versions", {}).items() if version},
        **commit,
    }
    return replace(conditions, facts=facts)


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return Python's version and those of the packages that are installed."""
    versions = {"python": platform.python_version()}
    for name in packages:
        # ValueError: a name that none can have
        with suppress(metadata.PackageNotFoundError, ValueError):
            versions[name] = metadata.version(name)
    return versions


def run_probe(program: str, environment: dict[str, str], seconds: float) -> dict[str, Any]:
    """Run the settings' probe in a Python of its own and return the JSON object it prints.

    Raises ``GalleryError`` if it fails, or has not ended after ``seconds``.
    """
    if not program:
        return {}
    try:
        done = ask([sys.executable, "-P", "-c", program], seconds=seconds, environment=environment)
        said = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1][:300]
        result = json.loads(done.stdout)
        told = [*result.get("versions", {}).values()]
        if not done.returncode and all(isinstance(each, str | None) for each in told):
            return dict(result)
    except TimeoutError as error:
        said = f"{error}, as of a GPU's driver that hangs"
    except (ValueError, AttributeError, RecursionError):
        pass  # what it has said is told
    remedy = 'install what recipes need; it prints one object, as {"gpu": true, "versions": {}}'
    raise GalleryError(f"the probe in recording.toml failed: {said}", remedy=remedy)


def host_hash() -> str:
    """Return 12 hexadecimal digits that are the same for all recordings of one host.

    They are of SHA-256 over the system's machine-id and the UUIDs of all its GPUs, also of those
    that may not be used; where there is neither, over the host's name and its processor. None of
    these can be read from it. Two virtual machines are two hosts, and so are two containers that
    are given different GPUs.
    """
    known = []
    with suppress(OSError, UnicodeDecodeError):
        known = [_MACHINE_ID.read_text().strip()]
    with suppress(GalleryError):  # a tool that hangs is told where a GPU is needed
        known += sorted(gpu.identity for gpu in list_all())
    if not any(known):
        known = [platform.node(), str(describe_host()["cpu"])]
    # machine-id(5): it is for nobody else, unless hashed with what is the program's own
    return hashlib.sha256("\n".join(["recorded-gallery host", *known]).encode()).hexdigest()[:12]


def describe_host() -> dict[str, Any]:
    """Return the processor's name and the number of cores this process may use."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):  # only Linux tells the model
        models = re.findall(
            r"^model name\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE
        )
        name = models[0].strip() if models else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": name, "cores": cores}


def describe_commit(path: Path) -> tuple[dict[str, Any], str]:
    """Return the commit checked out around ``path`` and whether files below it differ from it.

    The second value is what to tell the person who records, if anything.
    """

    def git(*question: str) -> str:
        done = ask(["git", "-C", str(path), *question], environment=os.environ | {"LC_ALL": "C"})
        if done.returncode:
            raise OSError(0, " ".join(done.stderr.split()) or "no answer")
        return done.stdout.strip()

    try:
        commit = git("log", "-1", "--format=%H")
        changes = git("status", "--porcelain", "--untracked-files=normal", ".")
        if not git("ls-files", "."):  # the commit of whatever lies around it
            raise OSError(0, "git ignores it")
    except OSError as error:  # no git, or no answer in time
        note = f"the recordings will name no commit: {error.strerror or error}"
        return {"commit": None, "modified": False}, note
    note = f"{path} has uncommitted changes; the recordings will say so" if changes else ""
    return {"commit": commit, "modified": bool(changes)}, note
