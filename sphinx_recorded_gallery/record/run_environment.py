"""Find out the conditions under which recipes run; recordings state them."""

import hashlib
import json
import os
import platform
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from ..errors import GalleryError
from ..recipes.recording import name_device
from ..recipes.recording_toml import RECIPES, SCRATCH, Settings, fill_folders, load_settings
from ..recipes.releases import find_release
from .cleanup import run_folder
from .environment_variables import pass_on
from .gpu_facts import VISIBLE, Gpu, NoGpuError, list_all
from .missing_modules import suggest_installation
from .run_program import run_git, run_program

_MACHINE_ID = Path("/etc/machine-id")  # made when the system is installed; only Linux has it


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """The conditions under which the recipes of one gallery run."""

    settings: Settings
    gallery: Path
    environment: dict[str, str]  # variables passed on from this process, and the GPU to use
    facts: dict[str, Any]  # for the recording
    gpu: Gpu | None

    @property
    def recording_group(self) -> tuple[str, str, str]:
        """Host (a hash), name of the GPU or else of the CPU, and the measured release."""
        release = find_release(self.facts["versions"], self.settings.release)
        return self.facts["host"], name_device(self.facts["device"]), release


def kernel_environment(
    settings: Settings, gallery: Path, passed_on: Mapping[str, str], scratch: Path
) -> dict[str, str]:
    """Return all variables for one run: those ``passed_on``, and those of the settings.

    In values from the settings, names of folders in braces become their paths.
    """
    folders = {SCRATCH: scratch, RECIPES: gallery.resolve()}
    variables = dict(passed_on)
    for name, value in settings.environment.items():
        variables[name] = fill_folders(value, folders)
    return variables


def prepare(gallery: Path, gpu: Gpu | None, say: Callable[[str], None]) -> Conditions:
    """Return the conditions for the recipes of a gallery, on a GPU or else on the CPU.

    ``say`` gets lines for the person who records. Raises ``NoGpuError`` if the installed libraries
    cannot use the GPU, ``GalleryError`` if the settings or their probe fail.
    """
    settings = load_settings(gallery)
    environment = pass_on(os.environ, settings.inherit)
    environment[VISIBLE] = gpu.identity if gpu else ""
    with run_folder() as folder:
        variables = kernel_environment(settings, gallery, environment, folder)
        probed = run_probe(settings.probe, variables, settings.cell_timeout)
    if gpu and probed.get("gpu") is False:
        name = gpu.facts["gpu"]
        raise NoGpuError(f"{name} is installed, but the libraries are built without GPUs")

    packages = [*settings.packages]
    if settings.release:
        packages.append(settings.release)
    versions = package_versions(packages)
    for name, version in probed.get("versions", {}).items():
        if version:
            versions[name] = version

    device: dict[str, Any] = {}
    if gpu:
        device |= gpu.facts
    device |= describe_host()

    commit, note = describe_commit(gallery)
    if note:
        say(f"note: {note}")
    facts = {"host": host_hash(), "device": device, "versions": versions, **commit}
    return Conditions(
        settings=settings, gallery=gallery, environment=environment, facts=facts, gpu=gpu
    )


def package_versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of those packages that are installed, by name."""
    versions = {"python": platform.python_version()}
    for name in packages:
        # ValueError: a name that no package can have
        with suppress(metadata.PackageNotFoundError, ValueError):
            versions[name] = metadata.version(name)
    return versions


def run_probe(program: str, environment: dict[str, str], seconds: float) -> dict[str, Any]:
    """Run the settings' probe in a Python of its own and return the JSON object it prints.

    Return an empty one if there is no program. Raises ``GalleryError`` if it fails, prints anything
    else, or has not ended after ``seconds``.
    """
    if not program:
        return {}
    command = [sys.executable, "-P", "-c", program]
    try:
        done = run_program(command, seconds=seconds, environment=environment)
    except TimeoutError as error:
        raise _probe_error(f"{error}; the driver of a GPU may hang") from None
    result = _parse_probe(done.stdout)
    if result is None or done.returncode:
        output = done.stderr.strip() or done.stdout.strip() or "no output"
        raise _probe_error(output.splitlines()[-1][:300])
    return result


def _parse_probe(output: str) -> dict[str, Any] | None:
    """Return the object that a probe printed; None if it is invalid."""
    try:
        result = json.loads(output)
    except (ValueError, RecursionError):
        return None
    if not isinstance(result, dict):
        return None
    versions = result.get("versions", {})
    if not isinstance(versions, dict):
        return None
    if not all(isinstance(version, str | None) for version in versions.values()):
        return None
    return result


def _probe_error(reason: str) -> GalleryError:
    return GalleryError(
        f"the probe in recording.toml failed: {reason}",
        remedy=f"{suggest_installation()}; the probe has to print one object, "
        'such as {"gpu": true, "versions": {}}',
    )


def host_hash() -> str:
    """Return 12 hexadecimal digits that are the same for all recordings of one host.

    They are the start of a SHA-256 digest of the system's machine-id and the UUIDs of all its GPUs,
    also of those that this process may not use. Without both, the host's name and its processor are
    hashed. None of these can be read from the digits. Two virtual machines are two hosts, and so
    are two containers that are given different GPUs.
    """
    identifiers = []
    with suppress(OSError, UnicodeDecodeError):
        identifiers.append(_MACHINE_ID.read_text().strip())
    with suppress(GalleryError):  # a tool that hangs is reported where a GPU is needed
        identifiers += sorted(gpu.identity for gpu in list_all())
    if not any(identifiers):
        identifiers = [platform.node(), str(describe_host()["cpu"])]
    # machine-id(5) asks programs not to reveal the id, unless hashed with a text of their own.
    text = "\n".join(["recorded-gallery host", *identifiers])
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def describe_host() -> dict[str, Any]:
    """Return the processor's name and the number of cores this process may use."""
    name = platform.processor() or platform.machine()
    with suppress(OSError):  # only Linux has this file, which names the model
        text = Path("/proc/cpuinfo").read_text()
        model = re.search(r"^model name\s*:(.*)$", text, re.MULTILINE)
        if model:
            name = model[1].strip()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": name, "cores": cores}


def describe_commit(path: Path) -> tuple[dict[str, Any], str]:
    """Return the commit checked out around ``path`` and whether files below it differ from it.

    The second value is a note for the person who records, or "".
    """
    try:
        commit = _ask_git(path, "log", "-1", "--format=%H")
        changes = _ask_git(path, "status", "--porcelain", "--untracked-files=normal", ".")
        files = _ask_git(path, "ls-files", ".")
    except OSError as error:  # git is not installed, refuses, or gives no answer in time
        return _no_commit(error.strerror or str(error))
    if not files:  # the commit belongs to a repository around it
        return _no_commit("git ignores it")
    note = ""
    if changes:
        note = f"{path} has uncommitted changes; the recordings will say so"
    return {"commit": commit, "modified": bool(changes)}, note


def _no_commit(reason: str) -> tuple[dict[str, Any], str]:
    note = f"the recordings will name no commit: {reason}"
    return {"commit": None, "modified": False}, note


def _ask_git(path: Path, *arguments: str) -> str:
    """Return what git prints about the repository around ``path``.

    Raises ``OSError`` with git's message if it refuses, or if git cannot be started.
    """
    done = run_git(path, *arguments)
    if done.returncode:
        raise OSError(0, " ".join(done.stderr.split()) or "no answer")
    return done.stdout.strip()
