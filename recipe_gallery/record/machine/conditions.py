"""Under what recipes run, and what their recordings tell of it."""

import os
import platform
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from ...errors import GalleryError, suggest
from ...recipes.recording import name_device
from ..environment import describe, find_secrets, pass_on
from ..programs import ask, last_line, read_json
from ..recording_toml import FILE_NAME, Settings, load_settings
from ..run.remains import MARK, run_folder
from .clocks import find_command
from .commit import describe_commit
from .gpu import VISIBLE, Gpu, show_only
from .host import describe_host, host_hash

START = 15  # seconds in which a Python without anything to do should have started and ended


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under what the recipes of one gallery run."""

    settings: Settings
    gallery: Path
    environment: dict[str, str]  # what is passed on of this process's, and which GPU is used
    facts: dict[str, Any] = field(default_factory=dict)  # for the recording
    sampling: tuple[str, ...] = ()  # the command that samples the GPU's clock, see clocks.py

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no output may show."""
        return find_secrets(self.environment)

    @property
    def place(self) -> tuple[str, str]:
        """Where recipes run: the host, as a hash, and the name of the GPU, or else of the CPU."""
        return self.facts["host"], name_device(self.facts["device"])

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


def prepare(gallery: Path, gpu: Gpu | None, say: Callable[[str], None]) -> Conditions:
    """Return under what the recipes of a gallery run; ``say`` tells what a person should know."""
    settings = load_settings(gallery)
    if chosen := settings.environment.keys() & VISIBLE:
        text = f"[environment] {min(chosen)}: recordings name the GPU that makes them"
        remedy = "remove it, and set it for the command instead"
        raise GalleryError(text, path=gallery / FILE_NAME, remedy=remedy)
    passed = pass_on(os.environ, settings.inherit) | show_only(gpu)
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
        "host": host_hash(),
        "device": (gpu.facts if gpu else {}) | describe_host(),
        "versions": package_versions(settings.packages)
        | {name: version for name, version in probed.get("versions", {}).items() if version},
        "environment": runtime,
        **commit,
    }
    return replace(conditions, facts=facts, sampling=find_command(gpu))


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
