"""The machine of a recording: its GPU (as nvidia-smi tells), processor, packages and commit."""

import contextlib
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..errors import GalleryError, suggest
from .recording_toml import Settings, load_settings

# The variable that tells libraries which GPUs they may use; recording sets it to one, or to none.
VISIBLE = "CUDA_VISIBLE_DEVICES"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """The GPU to record on."""

    identity: str  # for VISIBLE
    facts: dict[str, str]  # gpu (its name), driver, memory


def find_gpu() -> Gpu | None:
    """Return the first GPU that ``CUDA_VISIBLE_DEVICES`` admits, as nvidia-smi tells it, or None.

    This and ``VISIBLE`` are all that is known here of a vendor.
    """
    visible = os.environ.get(VISIBLE)
    if visible == "":
        return None
    query = "--query-gpu=name,driver_version,memory.total,uuid"
    command = ["nvidia-smi", "--format=csv,noheader", query]
    if visible:
        command += ["--id", visible.split(",")[0]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0 or not done.stdout.strip():
        return None
    name, driver, memory, identity = map(str.strip, done.stdout.splitlines()[0].split(","))
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
    environment: dict[str, str]  # of this process, and which GPU is used
    facts: dict[str, Any]  # for the recording

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
    environment = {**os.environ, VISIBLE: gpu.identity if gpu else ""}
    probed = run_probe(settings.probe, environment)
    if gpu and probed.get("gpu") is False:
        raise GalleryError(
            f"{gpu.facts['gpu']} is here but the installed libraries cannot use it",
            remedy=f"install their GPU builds or use: {suggest('record', '', '--device cpu')}",
        )
    commit, modified = describe_commit(gallery)
    if modified:
        say(f"note: {gallery} has uncommitted changes; the recordings will say so")
    versions = {name: version for name, version in probed.get("versions", {}).items() if version}
    facts = {
        "device": (gpu.facts if gpu else {}) | describe_host(),
        "versions": package_versions(settings.packages) | versions,
        "commit": commit,
        "modified": modified,
    }
    return Conditions(settings=settings, gallery=gallery, environment=environment, facts=facts)


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
        with contextlib.suppress(metadata.PackageNotFoundError):
            versions[name] = metadata.version(name)
    return versions


def run_probe(program: str, environment: dict[str, str]) -> dict[str, Any]:
    """Run the settings' probe in a Python of its own and return the JSON object it prints."""
    if not program:
        return {}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    with contextlib.suppress(json.JSONDecodeError):
        result = json.loads(done.stdout)
        if done.returncode == 0 and isinstance(result, dict):
            return result
    reason = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
    text = f"the probe in recording.toml failed: {reason}"
    raise GalleryError(text, remedy="install what recipes need")


def describe_commit(path: Path) -> tuple[str | None, bool]:
    """Return the commit checked out around ``path`` and whether files below it differ from it."""
    git = ["git", "-C", str(path)]
    commands = ([*git, "rev-parse", "HEAD"], [*git, "status", "--porcelain", "--", "."])
    try:
        commit, changes = (
            subprocess.check_output(each, stderr=subprocess.DEVNULL, text=True) for each in commands
        )
    except (OSError, subprocess.CalledProcessError):
        return None, False
    return commit.strip(), bool(changes)
