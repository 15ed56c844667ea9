"""NVIDIA's GPUs: which there are, and what one does while a recipe runs."""

import contextlib
import math
import os
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import GalleryError, suggest
from .run_program import ask

TOOL = "nvidia-smi"
VISIBLE = "CUDA_VISIBLE_DEVICES"  # what tells libraries which GPUs they may use
_SAMPLED = {"sm_mhz": "clocks.sm", "power_w": "power.draw", "temperature_c": "temperature.gpu"}


class NoGpuError(GalleryError):
    """There is no GPU that recipes could use; the remedy is the CPU.

    ``offer`` puts into the remedy what the person has asked for.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.offer(suggest("record", "", "--device cpu"))

    def offer(self, command: str) -> None:
        """Name the command that does the same on the CPU."""
        self.remedy = f"to run on the CPU instead: {command}"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU to record on."""

    identity: str  # its UUID
    facts: dict[str, str]  # gpu (its name), driver, memory

    @property
    def lock(self) -> Path:
        """The file that whoever records on it holds, in any folder: others distort the times."""
        return Path(tempfile.gettempdir(), f"recorded-gallery-{self.identity}.lock")


def list_all() -> list[Gpu]:
    """Return all GPUs of this machine; raise ``NoGpuError`` if nvidia-smi does not answer."""
    query = "--query-gpu=name,driver_version,memory.total,uuid"
    try:
        done = ask([TOOL, "--format=csv,noheader", query])
    except TimeoutError as error:
        raise NoGpuError(f"{TOOL}: {error}; its driver may hang") from None
    except OSError:
        return []
    gpus = []
    for line in [] if done.returncode else done.stdout.splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 4:
            facts = dict(zip(("gpu", "driver", "memory"), fields, strict=False))
            gpus.append(Gpu(identity=fields[3], facts=facts))
    return gpus


def require_gpus() -> list[Gpu]:
    """Return the GPUs that ``CUDA_VISIBLE_DEVICES`` names, in its order; all where it is not set.

    It lists numbers, UUIDs or beginnings of UUIDs; as libraries read it, it ends at the first that
    names no GPU. Raises ``NoGpuError`` if there is none.
    """
    gpus = list_all()
    visible = os.environ.get(VISIBLE)
    if visible is not None:
        chosen: list[Gpu] = []
        for name in map(str.strip, visible.split(",")):
            found = [gpu for gpu in gpus if name and gpu.identity.startswith(name)]
            if name.isdecimal():
                found = gpus[int(name) : int(name) + 1]
            if len(found) != 1:
                break
            chosen += [each for each in found if each not in chosen]
        gpus = chosen
    if not gpus:
        raise NoGpuError(f"no GPU found ({TOOL} shows none)")
    return gpus


@contextlib.contextmanager
def watch_clocks(gpu: Gpu | None) -> Iterator[dict[str, Any]]:
    """Sample a GPU once a second as long as this is open; what is yielded tells it afterwards.

    It asks the driver for a few values and takes no part of the GPU's memory. Nothing that
    nvidia-smi does, or does not, is an error. It ends by itself if this process is killed: nobody
    reads it any more.
    """
    clocks: dict[str, Any] = {}
    process = None
    if gpu:
        query = f"--query-gpu={','.join(_SAMPLED.values())},utilization.gpu"
        command = [TOOL, query, "--format=csv,noheader,nounits", "--id", gpu.identity]
        with contextlib.suppress(OSError):
            process = subprocess.Popen(
                [*command, "--loop-ms=1000"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                errors="replace",
            )
    try:
        yield clocks
    finally:
        if process:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # what hangs in a driver stays
                clocks |= summarize(process.communicate(timeout=1)[0])


def summarize(text: str) -> dict[str, Any]:
    """Return what samples say, one a line: how many, and medians of those in which it was busy."""
    lines = text.rpartition("\n")[0].splitlines()  # the last may be half of one
    samples = [[*map(_read, line.split(","))] for line in lines]
    samples = [each for each in samples if len(each) == len(_SAMPLED) + 1]
    busy = [each for each in samples if each[-1] > 0]
    told: dict[str, Any] = {"samples": len(samples), "busy": len(busy)}
    for name, values in zip(_SAMPLED, zip(*busy, strict=True), strict=False):
        if known := [*filter(math.isfinite, values)]:
            told[name] = {"median": statistics.median(known)}
    return told


def _read(value: str) -> float:
    """Return a number, NaN for what the GPU does not tell: [N/A], [Not Supported]."""
    try:
        return float(value)
    except ValueError:
        return math.nan
