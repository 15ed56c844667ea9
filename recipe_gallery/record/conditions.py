"""Under what the recipes of a gallery run: settings, variables, machine, versions, commit."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..project import GalleryError, suggest
from . import machine
from .settings import Settings, load_settings


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under what the recipes of one gallery run."""

    settings: Settings
    environment: dict[str, str]
    facts: dict[str, Any]  # for the recording


def prepare(gallery: Path, gpu: machine.Gpu | None, say: Callable[[str], None]) -> Conditions:
    """Return under what the recipes of a gallery run; ``say`` tells what a person should know."""
    settings = load_settings(gallery)
    visible = {machine.VISIBLE: gpu.identity if gpu else ""}
    environment = dict(os.environ) | visible
    probed = machine.run_probe(settings.probe, environment)
    if gpu and probed.get("gpu") is False:
        raise GalleryError(
            f"{gpu.facts['gpu']} is here but the installed libraries cannot use it",
            remedy=f"install their GPU builds or use: {suggest('record', '', '--device cpu')}",
        )
    commit, modified = machine.describe_commit(gallery)
    if modified:
        say(f"note: {gallery} has uncommitted changes; the recordings will say so")
    versions = {name: version for name, version in probed.get("versions", {}).items() if version}
    facts = {
        "device": (gpu.facts if gpu else {}) | machine.describe_host(),
        "versions": machine.package_versions(settings.packages) | versions,
        "commit": commit,
        "modified": modified,
    }
    return Conditions(settings=settings, environment=environment, facts=facts)
