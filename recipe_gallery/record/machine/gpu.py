"""One GPU, and the variables that let libraries see it alone, or none."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import GalleryError, suggest
from ..programs import ask

ANSWER = 60  # seconds in which a vendor's tool has to answer
NVIDIA, AMD = "NVIDIA", "AMD"
# What tells libraries which GPUs they may use; recording sets it to one GPU, or to none. The last
# two are of AMD's alone: what ROCR_... lets through is counted anew, and HIP_... chooses of that.
CUDA, HIP, ROCR = VISIBLE = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES")


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """A GPU to record on."""

    identity: str  # its UUID; the name of a part (MIG); for some AMD GPUs only a number
    facts: dict[str, str]  # gpu (its name), driver, memory
    vendor: str = NVIDIA

    @property
    def lock(self) -> Path:
        """The file that whoever records on it holds, for all folders and users of the machine."""
        name = self.identity.replace("/", "-")  # MIG-GPU-.../1/0, as parts were called once
        return Path(tempfile.gettempdir(), f"recipe-gallery-{name}.lock")


def show_only(gpu: Gpu | None) -> dict[str, str]:
    """Return the variables with which libraries see one GPU alone, or none."""
    if gpu is None:
        return {CUDA: "", HIP: "-1"}  # to HIP, nothing would be all
    if gpu.vendor == AMD:  # where there is HIP_..., CUDA_... is not read
        return {ROCR: gpu.identity, HIP: "0", CUDA: ""}
    return {CUDA: gpu.identity}


def choose(gpus: Sequence[Gpu], visible: str | None) -> list[Gpu]:
    """Return the GPUs that one of the variables names, in its order; all where it is not set.

    It lists numbers, UUIDs or beginnings of UUIDs; as libraries read it, it ends at the first that
    names no GPU.
    """
    if visible is None:
        return list(gpus)
    chosen: list[Gpu] = []
    for name in map(str.strip, visible.split(",")):
        found = [gpu for gpu in gpus if name and gpu.identity.startswith(name)]
        if name.isdecimal():
            found = list(gpus[int(name) : int(name) + 1])
        if len(found) != 1:
            break
        chosen += [each for each in found if each not in chosen]
    return chosen


def ask_tool(tool: str, *options: str) -> str:
    """Return what a vendor's tool prints; nothing if it fails or is not there."""
    try:
        done = ask([tool, *options], seconds=ANSWER)
    except TimeoutError as error:
        remedy = f"its driver may hang; to run on the CPU: {suggest('record', '', '--device cpu')}"
        raise GalleryError(f"{tool}: {error}", remedy=remedy) from None
    except OSError:
        return ""
    return "" if done.returncode else done.stdout
