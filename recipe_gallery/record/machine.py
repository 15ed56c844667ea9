"""Facts about the machine a recipe is recorded on, for its provenance."""

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..project import GalleryError, suggest

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
    name, driver, memory, identity = (
        field.strip() for field in done.stdout.splitlines()[0].split(",")
    )
    return Gpu(identity=identity, facts={"gpu": name, "driver": driver, "memory": memory})


def require_gpu() -> Gpu:
    """Return the GPU to record on; raise ``GalleryError`` if there is none."""
    gpu = find_gpu()
    if gpu is None:
        remedy = f"to run on the CPU instead: {suggest('record', '', '--device cpu')}"
        raise GalleryError("no GPU found (nvidia-smi shows none)", remedy=remedy)
    return gpu


def describe_host() -> dict[str, Any]:
    """Return the processor's name and the number of cores this process may use."""
    name = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                name = line.partition(":")[2].strip()
                break
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": name, "cores": cores}


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return Python's version and those of the packages that are installed."""
    versions = {"python": platform.python_version()}
    for name in packages:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return versions


def run_probe(program: str, environment: dict[str, str]) -> dict[str, Any]:
    """Run the settings' probe in a Python of its own and return the JSON object it prints."""
    if not program:
        return {}
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    if done.returncode == 0:
        try:
            result = json.loads(done.stdout)
        except json.JSONDecodeError:
            result = None
        if isinstance(result, dict):
            return result
    reason = (done.stderr.strip() or done.stdout.strip() or "no output").splitlines()[-1]
    raise GalleryError(
        f"the probe in recording.toml failed: {reason}", remedy="install what recipes need"
    )


def describe_commit(path: Path) -> tuple[str | None, bool]:
    """Return the commit checked out around ``path`` and whether files below it differ from it."""
    try:
        commit = _git(path, "rev-parse", "HEAD")
        changes = _git(path, "status", "--porcelain", "--", ".")
    except (OSError, subprocess.CalledProcessError):
        return None, False
    return commit, bool(changes)


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
