"""AMD's GPUs, as amd-smi or the older rocm-smi tells them.

Written by the documented output of both, and not tried on a real machine. Their clocks are not
watched: each call of these tools starts a Python and takes too much beside a measurement.
"""

import json
import os
import shutil
from contextlib import suppress
from typing import Any

from .gpu import AMD, CUDA, HIP, ROCR, Gpu, ask_tool, choose

_TOOLS = {
    "amd-smi": ("static", "--asic", "--vram", "--driver", "--json"),
    "rocm-smi": (
        *("--showproductname", "--showuniqueid", "--showmeminfo", "vram"),
        *("--showdriverversion", "--json"),
    ),
}


def list_visible() -> list[Gpu]:
    """Return the GPUs that the variables of ROCm admit, in their order; all where none is set.

    ``ROCR_VISIBLE_DEVICES`` counts all GPUs; of what it leaves, ``HIP_VISIBLE_DEVICES`` chooses, or
    ``CUDA_VISIBLE_DEVICES`` where that is not set. Raises ``GalleryError`` if no tool answers.
    """
    chosen = os.environ.get(HIP, os.environ.get(CUDA))
    if chosen == "":
        return []
    return choose(choose(list_all(), os.environ.get(ROCR)), chosen)


def list_all() -> list[Gpu]:
    """Return all GPUs of this machine that the first tool knows that tells any."""
    for tool, options in _TOOLS.items():
        if shutil.which(tool):
            told = _ask(tool, *options)
            gpus = _read_amd_smi(told) if tool == "amd-smi" else _read_rocm_smi(told)
            if gpus:
                return gpus
    return []


def _read_amd_smi(told: Any) -> list[Gpu]:
    """Return the GPUs of ``[{"gpu": 0, "asic": {...}, ...}, ...]``, since ROCm 7 a ``gpu_data``."""
    entries = told.get("gpu_data") if isinstance(told, dict) else told
    gpus = []
    for entry in entries if isinstance(entries, list) else []:
        with suppress(AttributeError, KeyError, TypeError):
            asic, size = entry["asic"], entry["vram"]["size"]
            memory = f"{size['value']} {size['unit']}" if isinstance(size, dict) else str(size)
            name, driver = asic["market_name"], entry["driver"]["version"]
            gpus.append(_describe(entry["gpu"], asic.get("asic_serial"), name, driver, memory))
    return gpus


def _read_rocm_smi(told: Any) -> list[Gpu]:
    """Return the GPUs of ``{"card0": {...}, ..., "system": {...}}``; keys changed their case."""
    if not isinstance(told, dict):
        return []
    told = {
        name: {key.lower(): value for key, value in entry.items()}
        for name, entry in told.items()
        if isinstance(entry, dict)
    }
    driver = told.get("system", {}).get("driver version", "")
    cards = {
        int(name.removeprefix("card")): entry
        for name, entry in told.items()
        if name.startswith("card") and name.removeprefix("card").isdecimal()
    }
    gpus = []
    for number, entry in sorted(cards.items()):
        name = entry.get("card series") or entry.get("device name") or "AMD GPU"
        size = str(entry.get("vram total memory (b)", ""))
        memory = f"{int(size) // 2**20} MiB" if size.isdecimal() else ""
        gpus.append(_describe(number, entry.get("unique id"), name, driver, memory))
    return gpus


def _describe(number: int, serial: object, name: object, driver: object, memory: str) -> Gpu:
    """Return a GPU; the runtime's UUID of it is ``GPU-`` and its serial number in hexadecimals."""
    identity = str(number)
    with suppress(TypeError, ValueError):  # N/A: not every GPU has one
        identity = f"GPU-{int(str(serial), 16):016x}"
    facts = {"gpu": str(name), "driver": str(driver), "memory": memory}
    return Gpu(identity=identity, facts=facts, vendor=AMD)


def _ask(tool: str, *options: str) -> Any:
    """Return the JSON that a tool prints, behind warnings that it may begin with; None without."""
    lines = ask_tool(tool, *options).splitlines()
    while lines and not lines[0].startswith(("[", "{")):
        del lines[0]
    with suppress(ValueError, RecursionError):
        return json.loads("".join(lines))
    return None
