"""What has to be the same on all machines: the engine, the recipe and the packages."""

import hashlib
import socket
from pathlib import Path

from ...project import code_digest
from ..machine.conditions import package_versions
from ..recording_toml import load_settings
from ..tasks.task import Task

_ENGINE = ("nbclient", "ipykernel", "nbformat", "distributed")


def describe_code(task: Task) -> dict[str, str]:
    """Return what a task's result depends on besides the machine, by name.

    Files beside the recipes that are no recipes (recording.toml, matplotlibrc) count, too.
    """
    recipe, gallery = task.recipe, task.file.gallery
    parts = [[cell.fingerprint for cell in recipe.cells], recipe.inputs, recipe.settings]
    beside = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(gallery.iterdir())
        if path.is_file() and path.suffix not in (".py", ".rst", ".md", ".txt")
    }
    return {
        "the code of recipe_gallery": code_digest().hex(),
        f"the recipe {task.file.name}": hashlib.sha256(repr(parts).encode()).hexdigest(),
        **beside,
        **package_versions((*load_settings(gallery).packages, *_ENGINE)),
    }


def find_difference(wanted: dict[str, str], found: dict[str, str]) -> str:
    """Return the first thing that is not the same, in words, or an empty text."""
    for name in {**wanted, **found}:
        here, there = wanted.get(name, "none"), found.get(name, "none")
        if here != there:
            is_hash = max(len(here), len(there)) == hashlib.sha256().digest_size * 2
            return f"{name} is another" if is_hash else f"{name} is {there}, here it is {here}"
    return ""


def describe_machine(root: Path) -> str:
    """Return where a worker is, for a person."""
    return f"{socket.gethostname()}:{root}"
